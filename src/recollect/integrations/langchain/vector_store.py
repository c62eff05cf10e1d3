"""A vector store of documents, each a note under its id, with exactly the metadata that was given."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from recollect.aio import AsyncEngine
from recollect.engine.engine import Engine
from recollect.engine.results import Hit
from recollect.errors import InvalidInput
from recollect.extras import needs_extra
from recollect.integrations.json_filters import check_filter, matches_filter
from recollect.integrations.keyed_notes import KeyedNote, KeyedNotes
from recollect.integrations.opening import opened_memory
from recollect.integrations.searched_text import searched_text, text_as_written
from recollect.records import Memory

with needs_extra("The adapter for LangChain", "langchain"):
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import VectorStore

PROGRAM = "langchain"
_BLANK = "(a document without text)"

DocumentFilter = Mapping[str, Any] | Callable[[Document], bool]
"""What the metadata must hold, with operators such as `{"year": {"$gte": 2020}}`; or a function."""


class RecollectVectorStore(VectorStore):
    """Documents in a collection of a memory. The memory embeds them itself, and ranks by words as well."""

    def __init__(self, memory: Engine | str | Path, collection: str = "documents") -> None:
        """On an open memory, or on the one at a path. A collection is an agent of the memory's owner."""
        self.memory = opened_memory(memory)
        if not collection:
            raise InvalidInput("The name of a collection must not be empty.")
        self._notes = KeyedNotes(self.memory.scoped(self.memory.scope.owner, collection), PROGRAM)
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
        """A store on a memory, with these texts added. No `embedding` is used: the memory has its model."""
        _warn_of(embedding)
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
        _warn_of(embedding)
        store = cls(memory, collection)
        await store.aadd_texts(texts, metadatas, ids=ids)
        return store

    # Writing

    def add_texts(
        self,
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

    async def aadd_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        listed = list(texts)
        return await self._calls.run(lambda _: self.add_texts(listed, metadatas, ids=ids, **kwargs))

    def add_documents(
        self, documents: list[Document], *, ids: list[str] | None = None, **kwargs: Any
    ) -> list[str]:
        """All of them or none; one whose id is there takes the place of the former."""
        if kwargs:
            raise InvalidInput(f"`add_documents` takes only `ids`, not {', '.join(kwargs)}.")
        if ids is not None and len(ids) != len(documents):
            raise InvalidInput(f"There are {len(documents)} documents and {len(ids)} ids; give one for each.")
        given: Sequence[str | None] = ids or [document.id for document in documents]
        named = [str(uuid.uuid4()) if id_ is None else str(id_) for id_ in given]
        self._notes.put(_note(id_, document) for id_, document in zip(named, documents, strict=True))
        return named

    async def aadd_documents(
        self, documents: list[Document], *, ids: list[str] | None = None, **kwargs: Any
    ) -> list[str]:
        return await self._calls.run(lambda _: self.add_documents(documents, ids=ids, **kwargs))

    def delete(self, ids: list[str] | None = None, **_: Any) -> bool | None:
        """Forget documents, so that the memory can bring them back; without ids, all of the collection."""
        if ids is None:
            ids = [self._notes.key(note) for note in self._notes.newest_first()]
        self._notes.delete(ids)
        return True

    async def adelete(self, ids: list[str] | None = None, **_: Any) -> bool | None:
        return await self._calls.run(lambda _: self.delete(ids))

    # Reading

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Those that are there, in the order asked for."""
        found = self._notes.get(ids)
        return [self._document(found[id_]) for id_ in ids if id_ in found]

    async def aget_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        return await self._calls.run(lambda _: self.get_by_ids(ids))

    def similarity_search(self, query: str, k: int = 4, **how: Any) -> list[Document]:
        """The best `k`; `filter` is a `DocumentFilter`."""
        return [self._document(note) for note, _ in self._search(query, k, **how)]

    async def asimilarity_search(self, query: str, k: int = 4, **how: Any) -> list[Document]:
        return await self._calls.run(lambda _: self.similarity_search(query, k, **how))

    def similarity_search_with_score(
        self, query: str, k: int = 4, **how: Any
    ) -> list[tuple[Document, float]]:
        """With the scores of the ranking, the higher the better; 0 for what no search found."""
        found = self._search(query, k, **how)
        return [(self._document(note), 0.0 if hit is None else hit.score) for note, hit in found]

    async def asimilarity_search_with_score(
        self, query: str, k: int = 4, **how: Any
    ) -> list[tuple[Document, float]]:
        return await self._calls.run(lambda _: self.similarity_search_with_score(query, k, **how))

    def _similarity_search_with_relevance_scores(
        self, query: str, k: int = 4, **how: Any
    ) -> list[tuple[Document, float]]:
        """With the confidence: how likely each is what was asked for, from 0 to 1."""
        found = self._search(query, k, **how)
        return [(self._document(note), 0.0 if hit is None else hit.confidence or 0.0) for note, hit in found]

    async def _asimilarity_search_with_relevance_scores(
        self, query: str, k: int = 4, **how: Any
    ) -> list[tuple[Document, float]]:
        return await self._calls.run(lambda _: self._similarity_search_with_relevance_scores(query, k, **how))

    def _search(
        self,
        query: str,
        k: int,
        filter: DocumentFilter | None = None,  # noqa: A002  # LangChain's name
    ) -> Sequence[tuple[Memory, Hit | None]]:
        is_wanted = self._test(filter) if filter else None

        def others() -> Iterator[Memory]:
            return (note for note in self._notes.newest_first() if is_wanted is None or is_wanted(note))

        return self._notes.search(query, is_wanted, others, k)

    def _test(self, wanted: DocumentFilter) -> Callable[[Memory], bool]:
        if not isinstance(wanted, Mapping):
            return lambda note: wanted(self._document(note))
        check_filter(wanted)
        return lambda note: matches_filter(self._document(note).metadata, wanted)

    def _document(self, note: Memory) -> Document:
        kept = dict(note.metadata or {})
        text = text_as_written(kept.get("text", note.text), note.text)
        return Document(id=self._notes.key(note), page_content=text, metadata=kept.get("metadata", {}))


def _note(id_: str, document: Document) -> KeyedNote:
    metadata: dict[str, Any] = {"metadata": document.metadata}
    text = searched_text(document.page_content, _BLANK)
    if text != document.page_content:
        metadata["text"] = document.page_content
    return KeyedNote(id_, text, metadata)


def _warn_of(embedding: Embeddings | None) -> None:
    if embedding is not None:
        warnings.warn(
            "Recollect embeds with the memory's own model, so this embedding is not used; pass None."
            " `recollect.open(…, model=…)` chooses the model.",
            stacklevel=3,
        )
