"""Storage for CrewAI's memory: its records are notes, found by words and meaning.

CrewAI passes a storage the vector of a query, not its text. The storage's own `embedder` remembers the text
of each vector, so that a search can use the words; vectors of another embedder are compared one by one.
"""

from __future__ import annotations

import base64
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any, Self

import numpy as np

from recollect import Engine, InvalidInput, Kind, Memory, bootstrap
from recollect.aio import AsyncEngine
from recollect.domain.limits import MOST_HITS, QUERY_LIMIT, TYPE_LIMIT
from recollect.domain.records import RecallOptions
from recollect.plugin import needs_extra
from recollect.settings import load
from recollect.stores.port import Embedder, Vector
from recollect_integrations.adapter import (
    all_pages,
    ensure_open,
    in_thread,
    in_utc,
    notes_by_ref,
    own_scope_of,
)

with needs_extra("The adapter for CrewAI", "crewai"):
    from crewai import Memory as CrewMemory
    from crewai.memory.storage.backend import EmbeddingDimensionMismatchError
    from crewai.memory.types import MemoryRecord, ScopeInfo

CATEGORY = "crewai memory"
_REF = "crewai:"
_SCOPE = "scope:"
_MOST_TEXTS = 2_000
_GROWTH = 4

Scored = list[tuple[MemoryRecord, float]]


@dataclass(frozen=True, slots=True)
class KnownText:
    """The text of a vector, and the model that made it."""

    text: str
    model: str


class KnownTexts:
    """An embedder for CrewAI that remembers the text of each vector."""

    def __init__(self, memory: Engine) -> None:
        self._memory = memory
        self._known: OrderedDict[bytes, KnownText] = OrderedDict()
        self._lock = Lock()

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """Embed with the memory's model, or with the default model if it has none yet."""
        in_use = self._memory.model
        embedder = _embedder(None if in_use is None else in_use.name)
        vectors = [list(map(float, row)) for row in embedder.documents(list(texts))]
        with self._lock:
            for vector, text in zip(vectors, texts, strict=True):
                self._known[_pack(vector)] = KnownText(text, embedder.model.name)
                self._known.move_to_end(_pack(vector))
            while len(self._known) > _MOST_TEXTS:
                self._known.popitem(last=False)
        return vectors

    def find_text(self, vector: Sequence[float] | None) -> KnownText | None:
        with self._lock:
            return self._known.get(_pack(vector or ()))


def _embedder(model: str | None) -> Embedder:
    settings, _ = load({})
    # A memory without a model is searched by words, but CrewAI needs vectors anyway.
    embedder = bootstrap.embedder(model or bootstrap.model_name(settings), settings)
    embedder = embedder or bootstrap.embedder("hashing", settings)
    assert embedder is not None  # noqa: S101  # the hashing model is always available
    return embedder


class RecollectStorage:
    """A `StorageBackend` for `crewai.Memory`, on an open memory or on the store at a path."""

    def __init__(self, memory: Engine | str | Path) -> None:
        self._is_ours = not isinstance(memory, Engine)
        self.memory = own_scope_of(ensure_open(memory))
        self.embedder = KnownTexts(self.memory)
        self._calls = AsyncEngine(self.memory)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the same storage: a copied crew keeps its memory."""
        return self

    def as_memory(self, **options: Any) -> CrewMemory:
        """Create a `crewai.Memory` on this storage, with its embedder and the options of `crewai.Memory`."""
        return CrewMemory(storage=self, **{"embedder": self.embedder, **options})

    def save(self, records: list[MemoryRecord]) -> None:
        """Store records; one with a known id replaces the stored one."""
        if records:
            texts = [self.embedder.find_text(record.embedding) for record in records]
            self.memory.remember_many(
                [
                    _note(record, None if text is None else text.model)
                    for record, text in zip(records, texts, strict=True)
                ]
            )

    def update(self, record: MemoryRecord) -> None:
        """Update a record; the former text is kept as a revision of the note."""
        self.save([record])

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> Scored:
        """Search, best first. The score is the cosine, or the hit's confidence if that is higher."""
        wanted = _Filter(scope_prefix, categories, metadata_filter)
        known = self.embedder.find_text(query_embedding)
        if limit < 1:
            return []
        if known is None:
            scored = self._nearest(query_embedding, wanted)
        else:
            scored = self._recall(known, query_embedding, wanted, limit)
        best = sorted(scored, key=lambda each: -each[1])[:limit]
        return [(record, score) for record, score in best if score >= min_score]

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Forget the records that match all conditions; `memory.restore` restores a note."""
        wanted = _Filter(scope_prefix, categories, metadata_filter, older_than)
        notes = self._notes() if record_ids is None else self._notes_by_id(record_ids)
        ids = [note.id for note in notes if wanted.allows(_fields_of(note))]
        return sum(len(self.memory.forget(ids[at : at + MOST_HITS])) for at in range(0, len(ids), MOST_HITS))

    def get_record(self, record_id: str) -> MemoryRecord | None:
        return next(map(_record, self._notes_by_id([record_id])), None)

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """List records, newest first by CrewAI's time."""
        if limit < 1 or offset < 0:
            return []
        wanted = _Filter(scope_prefix)
        notes = [note for note in self._notes(scope_prefix) if wanted.allows(_fields_of(note))]
        notes.sort(key=lambda note: _moment(_fields_of(note)["created_at"]), reverse=True)
        return [_record(note) for note in notes[offset : offset + limit]]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        wanted, path = _Filter(scope), _path(scope)
        kept = [each for each in map(_fields_of, self._notes(scope)) if wanted.allows(each)]
        times = sorted((datetime.fromisoformat(each["created_at"]) for each in kept), key=in_utc)
        return ScopeInfo(
            path=path,
            record_count=len(kept),
            categories=sorted({category for each in kept for category in each["categories"]}),
            oldest_record=times[0] if times else None,
            newest_record=times[-1] if times else None,
            child_scopes=_children(path, kept),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        return _children(_path(parent), map(_fields_of, self._notes(parent)))

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        wanted, counts = _Filter(scope_prefix), dict[str, int]()
        for kept in map(_fields_of, self._notes(scope_prefix)):
            for category in kept["categories"] if wanted.allows(kept) else ():
                counts[category] = counts.get(category, 0) + 1
        return counts

    def count(self, scope_prefix: str | None = None) -> int:
        wanted = _Filter(scope_prefix)
        return sum(wanted.allows(_fields_of(note)) for note in self._notes(scope_prefix))

    def reset(self, scope_prefix: str | None = None) -> None:
        """Forget all records of a scope; `memory.restore` restores them."""
        self.delete(scope_prefix=scope_prefix)

    def touch_records(self, record_ids: list[str]) -> None:
        """Record that these were shown to an agent, as a signal for later rankings."""
        self.memory.record_shown([note.id for note in self._notes_by_id(record_ids)])

    asave = in_thread(save)
    asearch = in_thread(search)
    adelete = in_thread(delete)

    def close(self) -> None:
        """Close the memory, unless the caller opened it; `crewai.Memory.close` calls this."""
        if self._is_ours:
            self.memory.close()

    def _recall(self, known: KnownText, vector: Sequence[float], wanted: _Filter, limit: int) -> Scored:
        """Recall by text. Test conditions that tags cannot express on the hits."""
        count, tags = min(limit, MOST_HITS), _scope_tags(wanted.path)[-1:]
        while True:
            hits = self.memory.recall(
                known.text[:QUERY_LIMIT],
                limit=count,
                kinds=(Kind.NOTE,),
                tags=tags,
                record=False,
                options=RecallOptions(category=CATEGORY),
            ).hits
            found = [hit for hit in hits if _is_record(hit.memory) and wanted.allows(_fields_of(hit.memory))]
            if len(found) >= limit or len(hits) < count or count >= MOST_HITS:
                break
            count = min(count * _GROWTH, MOST_HITS)
        texts = [hit.memory.text for hit in found if _vector_model(hit.memory) != known.model]
        vectors = dict(zip(texts, _embedder(known.model).documents(texts), strict=True)) if texts else {}
        scored: Scored = []
        for hit in found:
            record = _record(hit.memory)
            cosine = _cosine(vector, vectors.get(record.content, record.embedding or ()))
            scored.append((record, max(cosine, hit.confidence or 0.0)))
        return scored

    def _nearest(self, vector: Sequence[float], wanted: _Filter) -> Scored:
        """Compare the vector with that of every record. Records without one of this width score 0."""
        records = [_record(note) for note in self._notes(wanted.path) if wanted.allows(_fields_of(note))]
        widths = {len(record.embedding) for record in records if record.embedding}
        if widths and len(vector) not in widths:
            raise EmbeddingDimensionMismatchError(min(widths), len(vector))
        return [(record, _cosine(vector, record.embedding or ())) for record in records]

    def _notes_by_id(self, record_ids: Sequence[str]) -> Iterator[Memory]:
        return notes_by_ref(self.memory, (f"{_REF}{id_}" for id_ in record_ids))

    def _notes(self, scope_prefix: str | None = None) -> Iterator[Memory]:
        """Yield the notes of a scope and below, and of scopes that differ only in case or accents."""
        tags = _scope_tags(_path(scope_prefix))[-1:]
        return filter(_is_record, all_pages(self.memory, category=CATEGORY, tags=tags))


class _Filter:
    def __init__(
        self,
        scope_prefix: str | None = None,
        categories: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        older_than: datetime | None = None,
    ) -> None:
        self.path = _path(scope_prefix)
        self._below = "/" if self.path == "/" else f"{self.path}/"
        self._categories = set(categories or ())
        self._metadata = metadata or {}
        self._older_than = None if older_than is None else in_utc(older_than)

    def allows(self, kept: Mapping[str, Any]) -> bool:
        """Whether a record is in the scope and a category, has all of the metadata, and is old enough."""
        given = kept["metadata"]
        return (
            f"{_path(kept['scope'])}/".startswith(self._below)
            and (not self._categories or not self._categories.isdisjoint(kept["categories"]))
            and all(name in given and given[name] == value for name, value in self._metadata.items())
            and (self._older_than is None or _moment(kept["created_at"]) < self._older_than)
        )


def _path(scope: str | None) -> str:
    return "/" + (scope or "").strip("/")


def _scope_tags(path: str) -> tuple[str, ...]:
    """Return a tag for each enclosing scope, the outermost first; none for the root."""
    parts = path.strip("/").split("/") if path != "/" else []
    tags = tuple(f"{_SCOPE}/{'/'.join(parts[: end + 1])}" for end in range(len(parts)))
    if tags and len(tags[-1]) > TYPE_LIMIT:
        raise InvalidInput(
            f"The scope {path[:80]}… has {len(path)} characters; use at most {TYPE_LIMIT - len(_SCOPE)}."
        )
    return tags


def _children(parent: str, kept: Iterator[Mapping[str, Any]] | Sequence[Mapping[str, Any]]) -> list[str]:
    below = "/" if parent == "/" else f"{parent}/"
    paths = [path for path in (_path(each["scope"]) for each in kept) if path.startswith(below)]
    return sorted({below + path.removeprefix(below).split("/")[0] for path in paths if path != below})


def _note(record: MemoryRecord, model: str | None) -> dict[str, Any]:
    kept = record.model_dump(
        mode="json",
        include={"id", "scope", "categories", "metadata", "created_at", "last_accessed", "source", "private"},
    )
    vector = None if not record.embedding else base64.b64encode(_pack(record.embedding)).decode("ascii")
    shown = [category for category in record.categories if category.strip() and len(category) <= TYPE_LIMIT]
    return {
        "text": record.content,
        "category": CATEGORY,
        "importance": record.importance,
        "happened_at": in_utc(record.created_at),
        "tags": (*_scope_tags(_path(record.scope)), *shown),
        "ref": f"{_REF}{record.id}",
        "metadata": {"record": kept, "embedding": vector, "model": model},
    }


def _is_record(note: Memory) -> bool:
    """Whether a note is a record. A note that superseded a record has its category and tags only."""
    return (note.ref or "").startswith(_REF)


def _fields_of(note: Memory) -> Mapping[str, Any]:
    """Return the record's fields that have no column in notes."""
    kept: Mapping[str, Any] = (note.metadata or {})["record"]
    return kept


def _vector_model(note: Memory) -> str | None:
    """Return the model of the record's vector; None if another embedder made it."""
    return (note.metadata or {}).get("model")


def _record(note: Memory) -> MemoryRecord:
    vector = (note.metadata or {})["embedding"]
    return MemoryRecord(
        **_fields_of(note),
        content=note.text,
        importance=note.importance,
        embedding=None if vector is None else np.frombuffer(base64.b64decode(vector), "<f4").tolist(),
    )


def _pack(vector: Sequence[float]) -> bytes:
    return np.asarray(vector, "<f4").tobytes()


def _cosine(first: Sequence[float], second: Sequence[float] | Vector) -> float:
    """Return the cosine, from 0 to 1; 0 for vectors that cannot be compared."""
    if len(first) != len(second):
        return 0.0
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    length = float(np.linalg.norm(one) * np.linalg.norm(other))
    return min(1.0, max(0.0, float(one @ other) / length)) if length else 0.0


def _moment(written: str) -> datetime:
    return in_utc(datetime.fromisoformat(written))
