"""LangChain on a Recollect memory: a retriever, a vector store, a key-value store and chat histories."""

from __future__ import annotations

import json
import uuid
import warnings
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from recollect import Engine, Hit, InvalidInput, Kind, Memory
from recollect.aio import AsyncEngine
from recollect.domain.limits import QUERY_LIMIT
from recollect.domain.records import is_assistant, recall_arguments
from recollect.plugin import effect_text, memory_text, needs_extra
from recollect_integrations.adapter import (
    ensure_open,
    in_thread,
    own_scope_of,
    searchable_text,
    text_as_written,
)
from recollect_integrations.keyed_notes import KeyedNote, KeyedNotes, check_filter, matches_filter

with needs_extra("The adapter for LangChain", "langchain"):
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.messages import (
        AIMessage,
        BaseMessage,
        ChatMessage,
        HumanMessage,
        SystemMessage,
        message_to_dict,
        messages_from_dict,
    )
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.stores import ByteStore
    from langchain_core.vectorstores import VectorStore
    from pydantic import ConfigDict


class RecollectRetriever(BaseRetriever):
    """A retriever of memories as documents, best first.

    Each field is an argument of `Engine.recall`, and may also be passed to `invoke`. Without `k`, the
    relevant documents are returned, one to ten.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, ignored_types=(cached_property,))

    memory: Engine
    k: int | None = None
    kinds: Sequence[str] = tuple(Kind)
    profile: str | None = None
    session: str | None = None
    category: str | None = None
    memory_tags: Sequence[str] = ()
    """The tags that memories must have; `tags` are for LangChain's traces."""
    as_of: datetime | None = None
    min_confidence: float | None = None
    abstain: bool = True
    """Return no documents if nothing seems to answer."""
    explain: bool = False
    """Explain each score in the metadata, under `why`."""

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # from LangChain
        **options: Any,
    ) -> list[Document]:
        return _recall_documents(self.memory, query, self._arguments(options))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # from LangChain
        **options: Any,
    ) -> list[Document]:
        return await self._calls.run(_recall_documents, query, self._arguments(options))

    @cached_property
    def _calls(self) -> AsyncEngine:
        return AsyncEngine(self.memory)

    def _arguments(self, options: dict[str, Any]) -> dict[str, Any]:
        arguments = {
            "limit": self.k,
            "kinds": self.kinds,
            "session": self.session,
            "category": self.category,
            "tags": self.memory_tags,
            "as_of": self.as_of,
            "min_confidence": self.min_confidence,
            "abstain": self.abstain,
            "explain": self.explain,
        }
        if self.profile is not None:
            arguments["profile"] = self.profile
        names = {"k": "limit", "memory_tags": "tags"}
        return recall_arguments(arguments | {names.get(name, name): value for name, value in options.items()})


def _recall_documents(memory: Engine, query: str, arguments: dict[str, Any]) -> list[Document]:
    return [_recalled_document(hit) for hit in memory.recall(query[:QUERY_LIMIT], **arguments).hits]


def _recalled_document(hit: Hit) -> Document:
    """Convert a hit to a document. The memory's metadata is under `metadata`."""
    memory = hit.memory
    about = {
        "score": hit.score,
        "confidence": hit.confidence,
        "kind": memory.kind.value,
        "created_at": memory.created_at.isoformat(),
        "happened_at": None if memory.happened_at is None else memory.happened_at.isoformat(),
        "category": memory.category,
        "tags": list(memory.tags) or None,
        "source": memory.source,
        "session": memory.session,
        "role": memory.role,
        "speaker": memory.speaker,
        "metadata": None if memory.metadata is None else dict(memory.metadata),
        "outdated_by": None if hit.outdated_by is None else hit.outdated_by.text,
        "why": [f"{reason.step} {effect_text(reason)}" for reason in hit.reasons] or None,
    }
    known = {name: value for name, value in about.items() if value is not None}
    return Document(id=str(memory.id), page_content=memory_text(memory), metadata=known)


PROGRAM = "langchain"
_BLANK = "(a document without text)"

DocumentFilter = Mapping[str, Any] | Callable[[Document], bool]
"""Required metadata, with operators such as `{"year": {"$gte": 2020}}`; or a function."""


class RecollectVectorStore(VectorStore):
    """Documents in a collection of a memory. The memory embeds them itself, and ranks by words as well."""

    def __init__(self, memory: Engine | str | Path, collection: str = "documents") -> None:
        """Use an open memory, or open the one at a path. A collection is an agent of the memory's owner."""
        self.memory = ensure_open(memory)
        self._notes = _collection(self.memory, collection, PROGRAM)
        self._calls = AsyncEngine(self.memory)

    @classmethod
    def from_texts(  # type: ignore[override]  # needs a memory
        cls,
        texts: list[str],
        embedding: Embeddings | None = None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        memory: Engine | str | Path,
        collection: str = "documents",
    ) -> RecollectVectorStore:
        """Create a store on a memory and add texts. `embedding` is not used: the memory has its own model."""
        _warn_about(embedding)
        store = cls(memory, collection)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    @classmethod
    async def afrom_texts(  # type: ignore[override]  # needs a memory
        cls,
        texts: list[str],
        embedding: Embeddings | None = None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        memory: Engine | str | Path,
        collection: str = "documents",
    ) -> RecollectVectorStore:
        _warn_about(embedding)
        store = cls(memory, collection)
        await store.aadd_texts(texts, metadatas, ids=ids)
        return store

    # Writing

    def add_texts(
        self,
        /,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        listed = list(texts)
        for given, what in ((metadatas, "metadatas"), (ids, "ids")):
            if given is not None and len(given) != len(listed):
                raise InvalidInput(
                    f"There are {len(listed)} texts and {len(given)} {what}; give one for each."
                )
        documents = [
            Document(page_content=text, metadata=metadata)
            for text, metadata in zip(listed, metadatas or [{} for _ in listed], strict=True)
        ]
        return self.add_documents(documents, ids=ids, **kwargs)

    aadd_texts = in_thread(add_texts)

    def add_documents(
        self, /, documents: list[Document], *, ids: list[str] | None = None, **kwargs: Any
    ) -> list[str]:
        """Add all documents or none. A document with a known id replaces the former one."""
        if kwargs:
            raise InvalidInput(f"`add_documents` takes only `ids`, not {', '.join(kwargs)}.")
        if ids is not None and len(ids) != len(documents):
            raise InvalidInput(f"There are {len(documents)} documents and {len(ids)} ids; give one for each.")
        given: Sequence[str | None] = ids or [document.id for document in documents]
        named = [str(uuid.uuid4()) if id_ is None else str(id_) for id_ in given]
        self._notes.put(_document_note(id_, document) for id_, document in zip(named, documents, strict=True))
        return named

    aadd_documents = in_thread(add_documents)

    def delete(self, /, ids: list[str] | None = None, **_: Any) -> bool | None:
        """Forget documents, or all of the collection without ids. The memory's `restore` restores them."""
        if ids is None:
            ids = [self._notes.key(note) for note in self._notes.newest_first()]
        self._notes.delete(ids)
        return True

    adelete = in_thread(delete)

    # Reading

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the existing documents, in the order of the ids."""
        found = self._notes.get(ids)
        return [self._document(found[id_]) for id_ in ids if id_ in found]

    aget_by_ids = in_thread(get_by_ids)

    def similarity_search(self, /, query: str, k: int = 4, **options: Any) -> list[Document]:
        """Return the best `k` documents; `filter` is a `DocumentFilter`."""
        return [self._document(note) for note, _ in self._search(query, k, **options)]

    asimilarity_search = in_thread(similarity_search)

    def similarity_search_with_score(
        self, /, query: str, k: int = 4, **options: Any
    ) -> list[tuple[Document, float]]:
        """Return each document with its ranking score, higher is better; 0 if the search did not find it."""
        found = self._search(query, k, **options)
        return [(self._document(note), 0.0 if hit is None else hit.score) for note, hit in found]

    asimilarity_search_with_score = in_thread(similarity_search_with_score)

    def _similarity_search_with_relevance_scores(
        self, /, query: str, k: int = 4, **options: Any
    ) -> list[tuple[Document, float]]:
        """Return documents with their confidence, from 0 to 1."""
        found = self._search(query, k, **options)
        return [(self._document(note), 0.0 if hit is None else hit.confidence or 0.0) for note, hit in found]

    _asimilarity_search_with_relevance_scores = in_thread(_similarity_search_with_relevance_scores)

    def _search(
        self,
        query: str,
        k: int,
        filter: DocumentFilter | None = None,  # noqa: A002  # LangChain's name
    ) -> Sequence[tuple[Memory, Hit | None]]:
        is_wanted = self._matcher(filter) if filter else None

        def others() -> Iterator[Memory]:
            return (note for note in self._notes.newest_first() if is_wanted is None or is_wanted(note))

        return self._notes.search(query, is_wanted, others, k)

    def _matcher(self, wanted: DocumentFilter) -> Callable[[Memory], bool]:
        if not isinstance(wanted, Mapping):
            return lambda note: wanted(self._document(note))
        check_filter(wanted)
        return lambda note: matches_filter(self._document(note).metadata, wanted)

    def _document(self, note: Memory) -> Document:
        kept = dict(note.metadata or {})
        text = text_as_written(kept.get("text", note.text), note.text)
        return Document(id=self._notes.key(note), page_content=text, metadata=kept.get("metadata", {}))


def _collection(memory: Engine, name: str, program: str) -> KeyedNotes:
    if not name:
        raise InvalidInput("The name of a collection must not be empty.")
    return KeyedNotes(memory.scoped(memory.scope.owner, name), program)


def _document_note(id_: str, document: Document) -> KeyedNote:
    metadata: dict[str, Any] = {"metadata": document.metadata}
    text = searchable_text(document.page_content, _BLANK)
    if text != document.page_content:
        metadata["text"] = document.page_content
    return KeyedNote(id_, text, metadata)


def _warn_about(embedding: Embeddings | None) -> None:
    if embedding is not None:
        warnings.warn(
            "Recollect embeds with the memory's own model, so this embedding is not used; pass None."
            " `recollect.open(…, model=…)` chooses the model.",
            stacklevel=3,
        )


VALUES = "langchain value"


class RecollectByteStore(ByteStore):
    """Bytes by key, in a collection of a memory."""

    def __init__(self, memory: Engine | str | Path, collection: str = "values") -> None:
        """Use an open memory, or open the one at a path. A collection is an agent of the memory's owner."""
        self.memory = ensure_open(memory)
        self._notes = _collection(self.memory, collection, VALUES)
        self._calls = AsyncEngine(self.memory)

    def mget(self, keys: Sequence[str]) -> list[bytes | None]:
        found = self._notes.get(keys)
        return [
            b64decode((note.metadata or {})["base64"]) if (note := found.get(key)) is not None else None
            for key in keys
        ]

    amget = in_thread(mget)

    def mset(self, key_value_pairs: Sequence[tuple[str, bytes]]) -> None:
        """Store all values or none."""
        self._notes.put(_value_note(key, value) for key, value in key_value_pairs)

    amset = in_thread(mset)

    def mdelete(self, keys: Sequence[str]) -> None:
        self._notes.delete(keys)

    amdelete = in_thread(mdelete)

    def yield_keys(self, *, prefix: str | None = None) -> Iterator[str]:
        """Yield the keys, newest first."""
        for note in self._notes.newest_first():
            key = self._notes.key(note)
            if key.startswith(prefix or ""):
                yield key

    async def ayield_keys(self, *, prefix: str | None = None) -> AsyncIterator[str]:
        for key in await self._calls.run(lambda _: list(self.yield_keys(prefix=prefix))):
            yield key


def _value_note(key: str, value: bytes) -> KeyedNote:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise InvalidInput(f"The value of {key!r} must be bytes, not {type(value).__name__}.")
    return KeyedNote(key, f"{VALUES} {key}", {"base64": b64encode(value).decode("ascii")})


_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant", "HumanMessageChunk": "user"}


class RecollectChatMessageHistory(BaseChatMessageHistory):
    """The messages of one conversation, in order, including those of other clients."""

    def __init__(self, memory: Engine | str | Path, session_id: str, *, extract: bool = True) -> None:
        """Open a history. With `extract`, facts in the messages also become notes."""
        self.memory = own_scope_of(ensure_open(memory))
        self.session_id = session_id
        self._extract = extract
        self._calls = AsyncEngine(self.memory)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # LangChain's is an attribute
        return [_message(turn) for turn in self.memory.sessions.turns(self.session_id)]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Store all messages or none."""
        if messages:
            turns = [_turn(message) for message in messages]
            self.memory.add_messages(self.session_id, turns, extract=self._extract)

    aadd_messages = in_thread(add_messages)

    def clear(self) -> None:
        """Forget the messages; the memory's `restore` restores them. Notes extracted from them stay."""
        self.memory.forget([turn.id for turn in self.memory.sessions.turns(self.session_id)])

    aclear = in_thread(clear)


def _turn(message: BaseMessage) -> dict[str, Any]:
    return {
        "content": _text(message),
        "role": message.role if isinstance(message, ChatMessage) else _ROLES.get(message.type, message.type),
        "metadata": {PROGRAM: message_to_dict(message)},
    }


def _text(message: BaseMessage) -> str:
    """Return the searchable text: the message's text, or else its tool calls."""
    calls = [
        f"{call['name']}({json.dumps(call['args'], ensure_ascii=False, default=str)})"
        for call in getattr(message, "tool_calls", ())
    ]
    fallback = f"(calls {', '.join(calls)})" if calls else f"({message.type} without text)"
    return searchable_text(message.text, fallback)


def _message(turn: Memory) -> BaseMessage:
    kept = (turn.metadata or {}).get(PROGRAM)
    if kept is not None:
        return messages_from_dict([kept])[0]
    # Another client added the message.
    if is_assistant(turn.role):
        return AIMessage(turn.text, name=turn.speaker)
    if turn.role == "system":
        return SystemMessage(turn.text, name=turn.speaker)
    return HumanMessage(turn.text, name=turn.speaker)
