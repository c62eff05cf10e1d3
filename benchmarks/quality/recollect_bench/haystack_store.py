"""A haystack in a store of its own: conversations as messages, other texts as notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.engine.engine import Engine
from recollect.engine.parts import Parts
from recollect.engine.signals import Signals
from recollect.errors import InvalidInput, ModelUnavailable
from recollect.extractors.choose import extractor_named
from recollect.records import Scope
from recollect.stores.sqlite.store import SqliteStore
from recollect_bench.cached_store import AskedOnce
from recollect_bench.datasets import Document, Haystack

if TYPE_CHECKING:
    from recollect.ports import Embedder, Progress, Reranker, Store

_AT_ONCE = 256
_ROLES = frozenset({"user", "assistant", "system"})


@contextmanager
def open_haystack(
    haystack: Haystack,
    embedder: Embedder,
    folder: Path,
    *,
    extract: bool = False,
    reranker: Reranker | None = None,
    progress: Progress | None = None,
) -> Iterator[tuple[Engine, Mapping[int, str]]]:
    """An engine on a new store in this folder that holds the haystack, and the document of each memory.

    Its clock stands at the moment of the questions. What is asked twice is read once, until something is
    written. With `extract`, notes are drawn out of the turns by rules, and each stands for its turn.
    """
    store = SqliteStore(folder / "memory.db")
    with _engine(AskedOnce(store), haystack, embedder, reranker, extract=extract) as engine:
        yield engine, _stored(engine, haystack, extract=extract, progress=progress)


def unaided(engine: Engine) -> Engine:
    """The same memory, each question read anew: for measuring how long an answer takes."""
    parts = engine.parts
    store = parts.store.store if isinstance(parts.store, AskedOnce) else parts.store
    return Engine(replace(parts, store=store, signals=Signals(store, "bench")))


def _engine(
    store: Store, haystack: Haystack, embedder: Embedder, reranker: Reranker | None, *, extract: bool
) -> Engine:
    parts = Parts(
        store=store,
        clock=lambda: haystack.asked_at,
        embedder_named=lambda _: embedder,
        preferred_model=embedder.model.name,
        scope=Scope(),
        signals=Signals(store, "bench"),
        extractor=partial(extractor_named, "rules" if extract else "none"),
    )
    return Engine(parts if reranker is None else replace(parts, reranker=lambda: reranker))


def _stored(
    engine: Engine, haystack: Haystack, *, extract: bool, progress: Progress | None
) -> dict[int, str]:
    document_of: dict[int, str] = {}
    total = len(haystack.documents)
    for session, documents in groupby(haystack.documents, key=lambda document: document.session):
        given = list(documents)
        for start in range(0, len(given), _AT_ONCE):
            batch = given[start : start + _AT_ONCE]
            try:
                if session is None:
                    document_of |= _noted(engine, batch)
                else:
                    document_of |= _told(engine, session, batch, extract=extract)
            except InvalidInput as error:
                raise InvalidInput(f"{haystack.name}, from document {batch[0].id!r} on: {error}") from error
            if progress is not None:
                progress(min(len(document_of), total), total)
    if engine.counts().due:
        # Long texts have several passages, and a write embeds so many at once.
        engine.reindex()
    return document_of


def _noted(engine: Engine, documents: Sequence[Document]) -> dict[int, str]:
    batch = engine.remember_many([document.text for document in documents])
    _check(batch.note)
    stored = {note.id: document.id for note, document in zip(batch.notes, documents, strict=True)}
    if len(stored) < len(documents):
        raise InvalidInput("Several documents say the same; each text may stand once.")
    return stored


def _told(engine: Engine, session: str, documents: Sequence[Document], *, extract: bool) -> dict[int, str]:
    told = engine.add_messages(session, [_message(document) for document in documents], extract=extract)
    _check(told.note)
    stored = dict(zip(told.ids, (document.id for document in documents), strict=True))
    for note in told.notes:
        memory = engine.get(note.id)
        if memory is not None and memory.drawn_from is not None:
            stored[note.id] = stored[memory.drawn_from]
    return stored


def _message(document: Document) -> dict[str, object]:
    who = "role" if document.speaker in _ROLES else "speaker"
    return {"content": document.text, "at": document.at, who: document.speaker}


def _check(note: str | None) -> None:
    """A store that lacks vectors would be measured as if its model were worse than it is."""
    if note is not None:
        raise ModelUnavailable(f"The texts could not be embedded: {note}")
