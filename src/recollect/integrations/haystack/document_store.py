"""A Haystack document store on a memory: every document is a note under its id.

The note's text is the document's content, which is what `recall` reads. All else of the document stands in
the note's metadata, and comes back as it was: meta, embedding, blob. To delete a document is to forget its
note.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, Self, TypeVar
from urllib.parse import urlsplit

from recollect import bootstrap
from recollect.aio import AsyncEngine
from recollect.engine.engine import Engine
from recollect.errors import InvalidInput
from recollect.extras import needs_extra
from recollect.integrations.keyed_notes import KeyedNote, KeyedNotes
from recollect.integrations.opening import of_own_scope
from recollect.integrations.searched_text import searched_text, text_as_written
from recollect.records import Memory
from recollect.text.limits import clean_name

with needs_extra("The adapter for Haystack", "haystack"):
    from haystack import Document, default_from_dict, default_to_dict
    from haystack.dataclasses import ByteStream, SparseEmbedding
    from haystack.document_stores.errors import DuplicateDocumentError
    from haystack.document_stores.types import DuplicatePolicy
    from haystack.utils import Secret
    from haystack.utils.filters import document_matches_filter

Filters = dict[str, Any]
_Asked = ParamSpec("_Asked")
_Result = TypeVar("_Result")
# What of a document stands in the note's metadata; its content does only where it is no text.
_KEPT = ("meta", "score", "embedding", "sparse_embedding", "blob")


class RecollectDocumentStore:
    """Documents as notes of a memory; threads can share it, and several programs can open it."""

    def __init__(
        self,
        store: Engine | Secret | Path | str | None = None,
        *,
        collection: str = "documents",
        owner: str | None = None,
        agent: str | None = None,
        model: str | None = None,
    ) -> None:
        """`store` is a memory that is open already, or what `recollect.open` takes, which the first call
        opens; `owner`, `agent` and `model` go with it. The documents of two collections are apart.
        """
        self._given = store
        self._collection = collection
        self._owner, self._agent, self._model = owner, agent, model
        self._program = clean_name(f"haystack:{collection}", "collection")
        self._lock = threading.Lock()
        self._opened: Engine | None = None
        self._calls: AsyncEngine | None = None
        if ":" in collection:
            raise InvalidInput(f"The collection {collection!r} has a colon in its name; choose another name.")
        if isinstance(store, Engine) and any((owner, agent, model)):
            raise InvalidInput("An open memory already has its owner, agent and model; leave them out.")

    @property
    def engine(self) -> Engine:
        """The memory that the documents are in: for what Haystack has no place for."""
        with self._lock:
            if self._opened is None:
                if isinstance(self._given, Engine):
                    memory = self._given
                else:
                    given = self._given
                    place = given.resolve_value() if isinstance(given, Secret) else given
                    memory = bootstrap.open(place, owner=self._owner, agent=self._agent, model=self._model)
                self._opened = of_own_scope(memory)
            return self._opened

    def close(self) -> None:
        """Close the memory, unless whoever made this store opened it."""
        with self._lock:
            if self._opened is not None and not isinstance(self._given, Engine):
                self._opened.close()
                self._opened = self._calls = None

    def to_dict(self) -> dict[str, Any]:
        given = self._given
        if isinstance(given, Engine):
            raise InvalidInput(
                "A document store cannot be saved if it was made from an open memory; make it from the "
                'memory\'s path: RecollectDocumentStore("memory.db").'
            )
        if isinstance(given, str) and "://" in given and urlsplit(given).password:
            raise InvalidInput(
                "The store's URL contains a password, which would be saved in plain text; give the URL as "
                'Secret.from_env_var("…") instead.'
            )
        store = str(given) if isinstance(given, Path) else given
        return default_to_dict(
            self,
            store=store,
            collection=self._collection,
            owner=self._owner,
            agent=self._agent,
            model=self._model,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        return default_from_dict(cls, data)

    # What every document store has

    def count_documents(self) -> int:
        return sum(1 for _ in self._notes.newest_first())

    def filter_documents(self, filters: Filters | None = None) -> list[Document]:
        """The documents that match, in the order in which they came."""
        return [document for document, _ in self._matching(filters)]

    def write_documents(
        self, documents: Sequence[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE
    ) -> int:
        """Write all of them or none; returns how many were written. Without a policy, as with `FAIL`."""
        if not isinstance(documents, list) or not all(isinstance(each, Document) for each in documents):
            raise ValueError("Give a list of Documents, even if there is only one.")
        wanted: dict[str, Document] = {}
        known = self._notes.get(document.id for document in documents)
        for document in documents:
            id_ = document.id
            if policy is not DuplicatePolicy.OVERWRITE and (id_ in known or id_ in wanted):
                if policy is DuplicatePolicy.SKIP:
                    continue
                raise DuplicateDocumentError(f"The document {id_!r} already exists; nothing was written.")
            wanted[id_] = document
        self._notes.put(map(_keyed_note, wanted.values()))
        return len(documents) if policy is DuplicatePolicy.OVERWRITE else len(wanted)

    def delete_documents(self, document_ids: Sequence[str]) -> None:
        """Forget these; ids that no document has are passed over. The memory's `restore` brings one back."""
        self._notes.delete(document_ids)

    # What the pipelines of many stores use beside it

    def delete_all_documents(self) -> None:
        self._forget([note.id for note in self._notes.newest_first()])

    def delete_by_filter(self, filters: Filters) -> int:
        return self._forget([note.id for _, note in self._matching(filters)])

    def update_by_filter(self, filters: Filters, meta: dict[str, Any]) -> int:
        """Set these keys of the meta of every document that matches; returns how many did."""
        found = list(self._matching(filters))
        for document, note in found:
            kept = {**(note.metadata or {}), "meta": {**document.meta, **meta}}
            self.engine.update(note.id, metadata=kept)
        return len(found)

    def count_documents_by_filter(self, filters: Filters) -> int:
        return sum(1 for _ in self._matching(filters))

    def count_unique_metadata_by_filter(
        self, filters: Filters, metadata_fields: Sequence[str]
    ) -> dict[str, int]:
        """Under each field's name as given, how many values it has among the documents that match."""
        metas = [document.meta for document, _ in self._matching(filters)]
        return {field: len(_distinct(metas, field)) for field in metadata_fields}

    def get_metadata_fields_info(self) -> dict[str, dict[str, str]]:
        """Of each field of meta, the type of its values: keyword, int, float or boolean."""
        names = {bool: "boolean", int: "int", float: "float"}
        return {
            field: {"type": names.get(type(value), "keyword")}
            for document in self.filter_documents()
            for field, value in document.meta.items()
            if value is not None
        }

    def get_metadata_field_min_max(self, metadata_field: str) -> dict[str, Any]:
        """The least and the greatest value; None for both where there is none, or they cannot be compared."""
        metas = (document.meta for document in self.filter_documents())
        values = [value for value in _distinct(metas, metadata_field) if isinstance(value, int | float | str)]
        try:
            return {"min": min(values, default=None), "max": max(values, default=None)}
        except TypeError:  # texts and numbers
            return {"min": None, "max": None}

    def get_metadata_field_unique_values(
        self,
        metadata_field: str,
        search_term: str | None = None,
        from_: int = 0,
        size: int = 10,
        filters: Filters | None = None,
    ) -> tuple[list[Any], int]:
        """A page of a field's values, in order, and how many there are. `search_term` in any case."""
        metas = (document.meta for document, _ in self._matching(filters))
        sought = (search_term or "").lower()
        found = [value for value in _distinct(metas, metadata_field) if sought in str(value).lower()]
        found.sort(key=lambda value: (str(value), type(value).__name__))
        return found[from_ : from_ + size], len(found)

    # The same for `async` code, each in a thread

    async def count_documents_async(self) -> int:
        return await self.awaited(self.count_documents)

    async def filter_documents_async(self, filters: Filters | None = None) -> list[Document]:
        return await self.awaited(self.filter_documents, filters)

    async def write_documents_async(
        self, documents: Sequence[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE
    ) -> int:
        return await self.awaited(self.write_documents, documents, policy)

    async def delete_documents_async(self, document_ids: Sequence[str]) -> None:
        return await self.awaited(self.delete_documents, document_ids)

    async def delete_all_documents_async(self) -> None:
        return await self.awaited(self.delete_all_documents)

    async def delete_by_filter_async(self, filters: Filters) -> int:
        return await self.awaited(self.delete_by_filter, filters)

    async def update_by_filter_async(self, filters: Filters, meta: dict[str, Any]) -> int:
        return await self.awaited(self.update_by_filter, filters, meta)

    async def count_documents_by_filter_async(self, filters: Filters) -> int:
        return await self.awaited(self.count_documents_by_filter, filters)

    async def count_unique_metadata_by_filter_async(
        self, filters: Filters, metadata_fields: Sequence[str]
    ) -> dict[str, int]:
        return await self.awaited(self.count_unique_metadata_by_filter, filters, metadata_fields)

    async def get_metadata_fields_info_async(self) -> dict[str, dict[str, str]]:
        return await self.awaited(self.get_metadata_fields_info)

    async def get_metadata_field_min_max_async(self, metadata_field: str) -> dict[str, Any]:
        return await self.awaited(self.get_metadata_field_min_max, metadata_field)

    async def get_metadata_field_unique_values_async(
        self,
        metadata_field: str,
        search_term: str | None = None,
        from_: int = 0,
        size: int = 10,
        filters: Filters | None = None,
    ) -> tuple[list[Any], int]:
        return await self.awaited(
            self.get_metadata_field_unique_values, metadata_field, search_term, from_, size, filters
        )

    async def awaited(
        self, call: Callable[_Asked, _Result], *args: _Asked.args, **options: _Asked.kwargs
    ) -> _Result:
        """Call it in a thread, as all that writes to a memory is: to its end."""
        if self._calls is None:
            self._calls = AsyncEngine(self.engine)
        return await self._calls.run(lambda _: partial(call, *args, **options)())

    # Documents and notes

    @property
    def category(self) -> str:
        """Of the collection's notes, by which a recall finds no others."""
        return self._program

    def document_of(self, note: Memory) -> Document | None:
        """The document that a note is; None where it is none of this collection."""
        if note.category != self._program or not self._notes.is_own(note):
            return None
        kept = note.metadata or {}
        content = kept.get("content", note.text)
        blob, sparse = kept.get("blob"), kept.get("sparse_embedding")
        return Document(
            id=self._notes.key(note),
            content=None if content is None else text_as_written(content, note.text),
            meta=kept.get("meta", {}),
            score=kept.get("score"),
            embedding=kept.get("embedding"),
            blob=None if blob is None else ByteStream.from_dict(blob),
            sparse_embedding=None if sparse is None else SparseEmbedding.from_dict(sparse),
        )

    @property
    def _notes(self) -> KeyedNotes:
        return KeyedNotes(self.engine, self._program)

    def _matching(self, filters: Filters | None) -> Iterator[tuple[Document, Memory]]:
        for note in reversed(list(self._notes.newest_first())):
            document = self.document_of(note)
            if document is not None and (not filters or document_matches_filter(filters, document)):
                yield document, note

    def _forget(self, ids: Sequence[int]) -> int:
        return len(self.engine.forget(ids)) if ids else 0


def _keyed_note(document: Document) -> KeyedNote:
    plain = document.to_dict(flatten=False)
    kept = {name: plain[name] for name in _KEPT if plain[name] is not None}
    # A document without text, such as a picture, is found by what is known about it.
    known = json.dumps(document.meta, ensure_ascii=False, default=str) if document.meta else document.id
    text = searched_text(document.content or "", known)
    if text != document.content:
        kept["content"] = document.content
    return KeyedNote(document.id, text, kept)


def _distinct(metas: Iterable[dict[str, Any]], field: str) -> list[Any]:
    """The values of a field, each once: 1, 1.0, true and "1" are four of them."""
    key = field.removeprefix("meta.")
    values = (meta.get(key) for meta in metas)
    return list({json.dumps(value, sort_keys=True): value for value in values if value is not None}.values())
