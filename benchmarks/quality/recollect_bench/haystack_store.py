"""A store for one haystack, filled and queried as a user's program would."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect import bootstrap
from recollect.domain.errors import InvalidInput, ModelUnavailable
from recollect.domain.records import Kind
from recollect.engine import Engine
from recollect.settings import Settings
from recollect_bench.caches import CachedReranker
from recollect_bench.datasets import ORIGIN, Document, Haystack, Question

if TYPE_CHECKING:
    from recollect.domain.records import Memory
    from recollect.stores.port import Progress, Reranker
    from recollect_bench.models import Models

_AT_ONCE = 128
_DAY = timedelta(days=1)


@dataclass(slots=True)
class BenchClock:
    """A clock that is set to the time of each document and question."""

    now: datetime = ORIGIN

    def __call__(self) -> datetime:
        return self.now


@dataclass(slots=True)
class StoredHaystack:
    """A store that fills up as its questions are asked, and knows which memory holds which document.

    A document has one canonical id: that of the first with the same note, and of an entity all its
    observations together. A note drawn from a message counts as the message.
    """

    engine: Engine
    models: Models
    haystack: Haystack
    clock: BenchClock
    extract: bool
    progress: Progress | None = None
    _stored: int = 0
    _latest: datetime = ORIGIN
    _document_of: dict[int, str] = field(default_factory=dict)
    """The document that each memory holds, by its canonical id."""
    _canonical: dict[str, str] = field(default_factory=dict)
    _memory_of: dict[str, int] = field(default_factory=dict)
    """The memory of each canonical id."""
    _drawn: dict[str, list[int]] = field(default_factory=dict)
    """The notes drawn from each message."""

    def advance(self, question: Question) -> None:
        """Store the documents that precede this question, and set the clock to its time."""
        self.fill(self.haystack.asked_after(question))
        self.set_clock(question.at)

    def set_clock(self, at: datetime | None) -> None:
        """Set the clock to a time; None: to the time of the haystack's questions."""
        self.clock.now = at or self.haystack.asked_at or self._latest + _DAY

    def fill(self, count: int | None = None) -> None:
        """Store the documents up to this many, or all."""
        documents = self.haystack.documents
        upto = len(documents) if count is None else min(count, len(documents))
        rows = [each for each in documents[self._stored : upto] if each.text.strip()]
        for _, group in groupby(rows, key=_stored_together):
            together = list(group)
            for start in range(0, len(together), _AT_ONCE):
                self._store(together[start : start + _AT_ONCE])
                if self.progress is not None:
                    self.progress(min(len(self._canonical), len(documents)), len(documents))
        self._stored = max(self._stored, upto)
        if self.engine.counts().due:
            # A write embeds a limited number of passages; embed the rest of long texts now.
            self.engine.reindex()
            if due := self.engine.counts().due:
                # Missing vectors would make the model look worse.
                raise ModelUnavailable(f"{due} texts of {self.haystack.name} could not be embedded.")

    @property
    def model(self) -> str:
        """The name of the model that the store embeds with."""
        model = self.engine.model
        return self.models.preferred if model is None else model.name

    def embed_query(self, text: str) -> None:
        """Embed a query in advance, so that its time is not part of the measured recalls."""
        embedder = self.models.embedder_named(self.model)
        if embedder is not None:
            embedder.query(text)

    def canonical(self, ids: Iterable[str]) -> frozenset[str]:
        return frozenset(self._canonical.get(id_, id_) for id_ in ids)

    def document(self, memory: Memory) -> str:
        """Return the canonical id of a memory's document."""
        if memory.id in self._document_of:
            return self._document_of[memory.id]
        if memory.kind is Kind.ENTITY:
            return _entity_id(memory.name)
        if memory.drawn_from in self._document_of:
            return self._document_of[memory.drawn_from]
        return f"?{memory.id}"

    def documents(self, memories: Iterable[Memory]) -> tuple[str, ...]:
        """Return the documents of these memories in their order, without duplicates."""
        return tuple(dict.fromkeys(map(self.document, memories)))

    @contextmanager
    def without(self, ids: Iterable[str]) -> Iterator[None]:
        """Hide these documents, and the notes extracted from them, for a while."""
        wanted = [
            memory
            for id_ in sorted(ids)
            if id_ in self._memory_of
            for memory in (self._memory_of[id_], *self._drawn.get(id_, ()))
        ]
        forgotten = self.engine.forget(wanted)
        yield
        for id_ in sorted(forgotten):
            self.engine.restore(id_)

    def _store(self, documents: Sequence[Document]) -> None:
        first = documents[0]
        self._latest = max(documents[-1].at or self._latest, self._latest)
        self.clock.now = documents[-1].at or self._latest
        try:
            match first.kind:
                case "message":
                    self._add_messages(documents)
                case "note" if first.supersedes is not None:
                    self._supersede(first)
                case "note":
                    self._remember(documents)
                case "entity-observation":
                    self._observe(documents)
        except InvalidInput as error:
            raise InvalidInput(f"{self.haystack.name}, from document {first.id!r} on: {error}") from error

    def _add_messages(self, documents: Sequence[Document]) -> None:
        batch = self.engine.add_messages(
            documents[0].session or "session", [_message(each) for each in documents], extract=self.extract
        )
        for id_, document in zip(batch.ids, documents, strict=True):
            self._learn(id_, document.id)
        for memory in self.engine.get_many(note.id for note in batch.notes).values():
            if memory.drawn_from in self._document_of:
                self._drawn.setdefault(self._document_of[memory.drawn_from], []).append(memory.id)

    def _remember(self, documents: Sequence[Document]) -> None:
        batch = self.engine.remember_many([_note(document) for document in documents])
        for note, document in zip(batch.notes, documents, strict=True):
            self._learn(note.id, document.id)

    def _supersede(self, document: Document) -> None:
        old = self._canonical.get(document.supersedes or "")
        if old is None:
            raise InvalidInput(f"It supersedes {document.supersedes!r}, which does not stand before it.")
        done = self.engine.supersede(self._memory_of[old], _note(document))
        self._learn(done.by.id, document.id)

    def _observe(self, documents: Sequence[Document]) -> None:
        name = documents[0].entity
        if name is None:
            raise InvalidInput("An observation names its 'entity'.")
        batch = self.engine.create_entities(
            [
                {
                    "name": name,
                    "type": documents[0].entity_type,
                    "observations": [each.text for each in documents],
                }
            ]
        )
        for document in documents:
            self._canonical[document.id] = _entity_id(name)
        self._memory_of[_entity_id(name)] = batch.entities[0].id

    def _learn(self, memory: int, document: str) -> None:
        canonical = self._document_of.setdefault(memory, document)
        self._canonical[document] = canonical
        self._memory_of[canonical] = memory


@contextmanager
def open_haystack(
    haystack: Haystack,
    models: Models,
    *,
    extract: bool = True,
    reranker: Reranker | None = None,
    progress: Progress | None = None,
) -> Iterator[StoredHaystack]:
    """Yield a new, empty store for the haystack in a temporary folder, with the default settings.

    With `extract`, notes are extracted from messages, as they are by default.
    """
    clock = BenchClock()
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        # The days of a repeatable run begin at the same time on every machine.
        settings = Settings(store=Path(folder) / "memory.db", model=models.setting, time_zone="UTC")
        with bootstrap.engine(settings, clock) as opened:
            services = replace(
                opened._services, embedder_named=models.embedder_named, preferred_model=models.preferred
            )
            if reranker is not None:
                cached = CachedReranker(reranker)
                services = replace(services, reranker=lambda: cached)
            yield StoredHaystack(Engine(services), models, haystack, clock, extract, progress)


def _stored_together(document: Document) -> tuple[object, ...]:
    """Group documents by the call that stores them: a session, notes of one moment, an entity."""
    match document.kind:
        case "message":
            return ("message", document.session)
        case "note" if document.supersedes is not None:
            return ("correction", document.id)
        case "note":
            return ("note", document.at)
        case _:
            return ("observation", document.entity)


def _message(document: Document) -> dict[str, Any]:
    given = {"role": document.role, "speaker": document.speaker, "at": document.at}
    return {"content": document.text} | {key: value for key, value in given.items() if value is not None}


def _note(document: Document) -> dict[str, Any]:
    return {"text": document.text, "happened_at": document.happened_at, "tags": document.tags}


def _entity_id(name: str | None) -> str:
    return f"entity:{name}"
