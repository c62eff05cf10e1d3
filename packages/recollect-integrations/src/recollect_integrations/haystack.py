"""Haystack: a document store that keeps each document as a note, and a retriever that recalls documents.

The note's text is the document's content, which `recall` searches. The note's metadata has the rest (meta,
embedding, blob), unchanged. Deleting a document forgets its note.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from recollect import Engine, InvalidInput, Memory, bootstrap
from recollect.aio import AsyncEngine
from recollect.domain.limits import DEFAULT_PROFILE, MOST_HITS, QUERY_LIMIT, clean_name
from recollect.domain.records import RecallOptions
from recollect.plugin import needs_extra
from recollect_integrations.adapter import in_thread, own_scope_of, searchable_text, text_as_written
from recollect_integrations.keyed_notes import KeyedNote, KeyedNotes

with needs_extra("The adapter for Haystack", "haystack"):
    from haystack import Document, component, default_from_dict, default_to_dict
    from haystack.dataclasses import ByteStream, SparseEmbedding
    from haystack.document_stores.errors import DuplicateDocumentError
    from haystack.document_stores.types import DuplicatePolicy, FilterPolicy, apply_filter_policy
    from haystack.utils import Secret
    from haystack.utils.filters import document_matches_filter

Filters = dict[str, Any]
# Fields of a document in the note's metadata. The content is added if the note's text differs from it.
_STORED_FIELDS = ("meta", "score", "embedding", "sparse_embedding", "blob")


class RecollectDocumentStore:
    """A document store whose documents are notes of a memory. Threads and programs can share it."""

    def __init__(
        self,
        store: Engine | Secret | Path | str | None = None,
        *,
        collection: str = "documents",
        owner: str | None = None,
        agent: str | None = None,
        model: str | None = None,
    ) -> None:
        """Use an open memory, or let the first call open one, with the arguments of `recollect.open`.
        Collections are separate.
        """
        self._given = store
        self._collection = collection
        self._owner, self._agent, self._model = owner, agent, model
        self._program = clean_name(f"haystack:{collection}", "collection")
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._async_engine: AsyncEngine | None = None
        if ":" in collection:
            raise InvalidInput(f"The collection {collection!r} has a colon in its name; choose another name.")
        if isinstance(store, Engine) and any((owner, agent, model)):
            raise InvalidInput("An open memory already has its owner, agent and model; leave them out.")

    @property
    def engine(self) -> Engine:
        """The memory of the documents, for features that Haystack lacks."""
        with self._lock:
            if self._engine is None:
                if isinstance(self._given, Engine):
                    memory = self._given
                else:
                    given = self._given
                    location = given.resolve_value() if isinstance(given, Secret) else given
                    memory = bootstrap.open(location, owner=self._owner, agent=self._agent, model=self._model)
                self._engine = own_scope_of(memory)
            return self._engine

    def close(self) -> None:
        """Close the memory, unless the caller opened it."""
        with self._lock:
            if self._engine is not None and not isinstance(self._given, Engine):
                self._engine.close()
                self._engine = self._async_engine = None

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

    # Methods of every document store

    def count_documents(self) -> int:
        return sum(1 for _ in self._notes.newest_first())

    def filter_documents(self, filters: Filters | None = None) -> list[Document]:
        """Return the matching documents, oldest first."""
        return [document for document, _ in self._matching(filters)]

    def write_documents(
        self, documents: Sequence[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE
    ) -> int:
        """Write all documents or none, and return their number. The default policy is `FAIL`."""
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
        """Forget documents; unknown ids are ignored. The memory's `restore` restores them."""
        self._notes.delete(document_ids)

    # Further methods that pipelines use

    def delete_all_documents(self) -> None:
        self._forget([note.id for note in self._notes.newest_first()])

    def delete_by_filter(self, filters: Filters) -> int:
        return self._forget([note.id for _, note in self._matching(filters)])

    def update_by_filter(self, filters: Filters, meta: dict[str, Any]) -> int:
        """Set these meta keys on every matching document, and return the number of documents."""
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
        """Count the distinct values of each field among the matching documents."""
        metas = [document.meta for document, _ in self._matching(filters)]
        return {field: len(_distinct(metas, field)) for field in metadata_fields}

    def get_metadata_fields_info(self) -> dict[str, dict[str, str]]:
        """Return the type of each meta field: keyword, int, float or boolean."""
        names = {bool: "boolean", int: "int", float: "float"}
        return {
            field: {"type": names.get(type(value), "keyword")}
            for document in self.filter_documents()
            for field, value in document.meta.items()
            if value is not None
        }

    def get_metadata_field_min_max(self, metadata_field: str) -> dict[str, Any]:
        """Return the minimum and the maximum; None for both if there are no comparable values."""
        metas = (document.meta for document in self.filter_documents())
        values = [value for value in _distinct(metas, metadata_field) if isinstance(value, int | float | str)]
        try:
            return {"min": min(values, default=None), "max": max(values, default=None)}
        except TypeError:  # a text and a number do not compare
            return {"min": None, "max": None}

    def get_metadata_field_unique_values(
        self,
        metadata_field: str,
        search_term: str | None = None,
        from_: int = 0,
        size: int = 10,
        filters: Filters | None = None,
    ) -> tuple[list[Any], int]:
        """Return a page of a field's values, sorted, and the number of all. `search_term` ignores case."""
        metas = (document.meta for document, _ in self._matching(filters))
        term = (search_term or "").lower()
        found = [value for value in _distinct(metas, metadata_field) if term in str(value).lower()]
        found.sort(key=lambda value: (str(value), type(value).__name__))
        return found[from_ : from_ + size], len(found)

    # The same for `async` code, each in a thread

    count_documents_async = in_thread(count_documents)
    filter_documents_async = in_thread(filter_documents)
    write_documents_async = in_thread(write_documents)
    delete_documents_async = in_thread(delete_documents)
    delete_all_documents_async = in_thread(delete_all_documents)
    delete_by_filter_async = in_thread(delete_by_filter)
    update_by_filter_async = in_thread(update_by_filter)
    count_documents_by_filter_async = in_thread(count_documents_by_filter)
    count_unique_metadata_by_filter_async = in_thread(count_unique_metadata_by_filter)
    get_metadata_fields_info_async = in_thread(get_metadata_fields_info)
    get_metadata_field_min_max_async = in_thread(get_metadata_field_min_max)
    get_metadata_field_unique_values_async = in_thread(get_metadata_field_unique_values)

    @property
    def _calls(self) -> AsyncEngine:
        if self._async_engine is None:
            self._async_engine = AsyncEngine(self.engine)
        return self._async_engine

    # Documents and notes

    @property
    def category(self) -> str:
        """The category of the collection's notes."""
        return self._program

    def document_of(self, note: Memory) -> Document | None:
        """Return a note's document; None if the note belongs elsewhere."""
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
    kept = {name: plain[name] for name in _STORED_FIELDS if plain[name] is not None}
    # Make a document without text, such as a picture, searchable by its meta.
    fallback = json.dumps(document.meta, ensure_ascii=False, default=str) if document.meta else document.id
    text = searchable_text(document.content or "", fallback)
    if text != document.content:
        kept["content"] = document.content
    return KeyedNote(document.id, text, kept)


def _distinct(metas: Iterable[dict[str, Any]], field: str) -> list[Any]:
    """Return the distinct values of a field: 1, 1.0, true and "1" differ."""
    key = field.removeprefix("meta.")
    values = (meta.get(key) for meta in metas)
    return list({json.dumps(value, sort_keys=True): value for value in values if value is not None}.values())


@component
class RecollectDocumentRetriever:
    """A retriever of the best documents for a query, each with its score, best first."""

    def __init__(
        self,
        document_store: RecollectDocumentStore,
        *,
        filters: Filters | None = None,
        top_k: int = 10,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        profile: str = DEFAULT_PROFILE,
        min_confidence: float | None = None,
        abstain: bool = True,
    ) -> None:
        """`min_confidence` drops documents below it. `abstain` returns none if the store seems to have
        no answer. `profile` ranks them, as in `recollect.open(…).recall`.
        """
        if not isinstance(document_store, RecollectDocumentStore):
            raise TypeError(
                f"The retriever needs a RecollectDocumentStore, not {type(document_store).__name__}."
            )
        self.document_store = document_store
        self.filters = filters
        self.top_k = _check_top_k(top_k)
        self.filter_policy = FilterPolicy.from_str(str(filter_policy))
        self.profile = profile
        self.min_confidence = min_confidence
        self.abstain = abstain

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(
            self,
            document_store=self.document_store,
            filters=self.filters,
            top_k=self.top_k,
            filter_policy=self.filter_policy.value,
            profile=self.profile,
            min_confidence=self.min_confidence,
            abstain=self.abstain,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        return default_from_dict(cls, data)

    @component.output_types(documents=list[Document], confidence=float | None)
    def run(self, query: str, filters: Filters | None = None, top_k: int | None = None) -> dict[str, Any]:
        """Return documents, and the `confidence` from 0 to 1 that the store has an answer; None if unknown.

        Filters apply to the best 1,000 documents only.
        """
        wanted = self.top_k if top_k is None else _check_top_k(top_k)
        active_filters = apply_filter_policy(self.filter_policy, self.filters, filters)
        answer = self.document_store.engine.recall(
            query[:QUERY_LIMIT],
            limit=MOST_HITS if active_filters else wanted,
            profile=self.profile,
            kinds=("note",),
            options=RecallOptions(
                category=self.document_store.category,
                min_confidence=self.min_confidence,
                abstain=self.abstain,
                defer_recording=True,
            ),
        )
        found = [
            (document, hit)
            for hit in answer.hits
            if (document := self.document_store.document_of(hit.memory)) is not None
            and (not active_filters or document_matches_filter(active_filters, document))
        ][:wanted]
        # With a filter, the documents may not be the first hits of the answer: record only their usage.
        self.document_store.engine.record_shown(
            [hit.memory.id for _, hit in found], None if active_filters else answer
        )
        return {
            "documents": [replace(document, score=hit.score) for document, hit in found],
            "confidence": answer.confidence,
        }

    @component.output_types(documents=list[Document], confidence=float | None)
    async def run_async(
        self, query: str, filters: Filters | None = None, top_k: int | None = None
    ) -> dict[str, Any]:
        calls = self.document_store._calls  # noqa: SLF001  # both classes are in this file
        return await calls.run(lambda _: self.run(query, filters, top_k))


def _check_top_k(top_k: int) -> int:
    if not 1 <= top_k <= MOST_HITS:
        raise InvalidInput(f"`top_k` must be from 1 to {MOST_HITS:,}, not {top_k}.")
    return top_k
