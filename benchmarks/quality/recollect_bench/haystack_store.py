"""A haystack in a store of its own: conversations as messages, other texts as notes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.engine.engine import Engine
from recollect.engine.repository import Repository
from recollect.engine.services import Services
from recollect.engine.usage import UsageRecorder
from recollect.errors import InvalidInput, ModelUnavailable
from recollect.extractors.choose import extractor_named
from recollect.records import Scope
from recollect.stores.sqlite.store import SqliteStore
from recollect_bench.caches import CachedReranker
from recollect_bench.datasets import Document, Haystack

if TYPE_CHECKING:
    from recollect.ports import Embedder, Progress, Reranker

_AT_ONCE = 256
_ROLES = frozenset({"user", "assistant", "system"})


@dataclass(frozen=True, slots=True)
class StoredHaystack:
    engine: Engine
    document_of: Mapping[int, str]
    """The document that each memory holds; for a note drawn from a turn, the turn."""


@contextmanager
def open_haystack(
    haystack: Haystack,
    embedder: Embedder,
    *,
    extract: bool = False,
    reranker: Reranker | None = None,
    progress: Progress | None = None,
) -> Iterator[StoredHaystack]:
    """A new store with the haystack, in a temporary folder; its clock stands at the moment of the questions.

    With `extract`, rules draw notes out of the turns.
    """
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        store = Repository(SqliteStore(Path(folder) / "memory.db"))
        services = Services(
            store=store,
            clock=lambda: haystack.asked_at,
            embedder_named=lambda _: embedder,
            preferred_model=embedder.model.name,
            scope=Scope(),
            usage=UsageRecorder(store, "bench"),
            extractor=partial(extractor_named, "rules" if extract else "none"),
        )
        if reranker is not None:
            cached = CachedReranker(reranker)
            services = replace(services, reranker=lambda: cached)
        with Engine(services) as engine:
            yield StoredHaystack(engine, _fill(engine, haystack, extract, progress))


def _fill(engine: Engine, haystack: Haystack, extract: bool, progress: Progress | None) -> dict[int, str]:
    document_of: dict[int, str] = {}
    total = len(haystack.documents)
    for session, documents in groupby(haystack.documents, key=lambda document: document.session):
        rows = list(documents)
        for start in range(0, len(rows), _AT_ONCE):
            batch = rows[start : start + _AT_ONCE]
            try:
                if session is None:
                    document_of |= _add_notes(engine, batch)
                else:
                    document_of |= _add_messages(engine, session, batch, extract)
            except InvalidInput as error:
                raise InvalidInput(f"{haystack.name}, from document {batch[0].id!r} on: {error}") from error
            if progress is not None:
                progress(min(len(document_of), total), total)
    if engine.counts().due:
        # Long texts have several passages, and a write embeds so many at once.
        engine.reindex()
    return document_of


def _add_notes(engine: Engine, documents: Sequence[Document]) -> dict[int, str]:
    batch = engine.remember_many([document.text for document in documents])
    _check(batch.note)
    document_of = {note.id: document.id for note, document in zip(batch.notes, documents, strict=True)}
    if len(document_of) < len(documents):
        raise InvalidInput("Several documents say the same; each text may stand once.")
    return document_of


def _add_messages(
    engine: Engine, session: str, documents: Sequence[Document], extract: bool
) -> dict[int, str]:
    batch = engine.add_messages(session, [_message(document) for document in documents], extract=extract)
    _check(batch.note)
    document_of = dict(zip(batch.ids, (document.id for document in documents), strict=True))
    for note in batch.notes:
        memory = engine.get(note.id)
        if memory is not None and memory.drawn_from is not None:
            document_of[note.id] = document_of[memory.drawn_from]
    return document_of


def _message(document: Document) -> dict[str, object]:
    who = "role" if document.speaker in _ROLES else "speaker"
    return {"content": document.text, "at": document.at, who: document.speaker}


def _check(note: str | None) -> None:
    """A store that lacks vectors would be measured as if its model were worse than it is."""
    if note is not None:
        raise ModelUnavailable(f"The texts could not be embedded: {note}")
