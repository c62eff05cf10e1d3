"""Keeping vectors in step with texts, and changing the model."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recollect.changes import PutVectors, UseModel
from recollect.engine.results import ReindexResult
from recollect.engine.services import Services
from recollect.engine.worker import Priority
from recollect.errors import ModelUnavailable, RecollectError
from recollect.ports import Embedder, Progress, Vector, Vectors
from recollect.records import Memory, Model, Passage
from recollect.retrieval.contents import store_counts
from recollect.retrieval.passages import model_in_use, model_row, passages_of, pending_passages, vectors_of
from recollect.vectors import pack_vector

if TYPE_CHECKING:
    import threading

WORDS_ALONE = "none"
"""The name of having no model; asked for, it holds also for a store that has vectors."""
_BATCH = 64
# What a write embeds before it returns; the rest waits for the next one, or for `reindex`.
_AT_ONCE = 512
_OF_OTHERS = 16
_GIVE_WAY_SECONDS = 1.0
_log = logging.getLogger(__name__)


def embedder_of(services: Services) -> Embedder:
    """The embedder whose vectors the store holds; for a store without any, the preferred one."""
    with services.store.read() as view:
        model = model_in_use(view)
    return embedder_for(services, model)


def embedder_or_reason(services: Services) -> tuple[Embedder | None, str | None]:
    """The same; or none, and why there is none."""
    try:
        return embedder_of(services), None
    except ModelUnavailable as error:
        return None, str(error)


def embedder_for(services: Services, model: Model | None) -> Embedder:
    """The embedder of the model that the store uses, unless searches are to go by words alone."""
    words_alone = services.preferred_model == WORDS_ALONE
    name = services.preferred_model if model is None or words_alone else model.name
    embedder = services.embedder_named(name)
    if embedder is None:
        raise ModelUnavailable(
            "No model is set, so searches go by words alone; `recollect doctor` names some."
        )
    return UntilShutdown(embedder, services.shutdown)


@dataclass(frozen=True, slots=True)
class UntilShutdown:
    """An embedder that stops between batches once nobody waits for what it does.

    As a model that cannot be had: whatever is written stands, and its texts stay in the queue.
    """

    embedder: Embedder
    shutdown: threading.Event

    @property
    def model(self) -> Model:
        return self.embedder.model

    def documents(self, texts: Sequence[str]) -> Vectors:
        if len(texts) <= _BATCH:
            return self._batch(texts)
        starts = range(0, len(texts), _BATCH)
        return np.concatenate([self._batch(texts[start : start + _BATCH]) for start in starts])

    def _batch(self, texts: Sequence[str]) -> Vectors:
        if self.shutdown.is_set():
            raise ModelUnavailable("The memory is being closed; the next one to open it embeds what waits.")
        return self.embedder.documents(texts)

    def query(self, text: str) -> Vector:
        return self.embedder.query(text)


def catch_up(
    services: Services,
    ids: Sequence[int] = (),
    progress: Progress | None = None,
    memories: Mapping[int, Memory] | None = None,
) -> str | None:
    """Embed what waits for a vector, first what these memories say; returns why it could not be, if so.

    Never a reason to fail a write: the rows are stored, words find them, and the passages stay in the queue.
    Who has read the memories gives them along.
    """
    with services.store.read() as view:
        row = model_row(view)
        own = passages_of(view, sorted(set(ids)), memories)[:_AT_ONCE] if ids else []
        own_ids = [passage.id for passage in own]
        known = vectors_of(view, own_ids, row) if own and row is not None else {}
        due = view.rows("due", ("passage_id",), limit=len(own) + 1)
    used = None if row is None else row[1]
    try:
        embedder = embedder_for(services, used)
        if used is not None and used.name != embedder.model.name:
            own, others_wait = [], True
        else:
            others_wait = not {id_ for (id_,) in due}.issubset(own_ids)
        lacking = [passage for passage in own if passage.id not in known]
        for start in range(0, len(lacking), _BATCH):
            _embed(services, embedder, lacking[start : start + _BATCH])
            if progress is not None:
                progress(min(start + _BATCH, len(lacking)), len(lacking))
        if others_wait:
            # Of these a little: who writes one note must not wait for an import's thousands.
            embed_pending(services, embedder, at_most=_OF_OTHERS if ids else _AT_ONCE)
    except ModelUnavailable as error:
        return str(error)
    return None


def embed_pending(
    services: Services, embedder: Embedder, *, at_most: int | None = None, progress: Progress | None = None
) -> int:
    """Give vectors to passages that lack one of this model, in batches that each survive a crash."""
    done = after = 0
    while at_most is None or done < at_most:
        with services.store.read() as view:
            passages = pending_passages(view, embedder.model, after, _BATCH)
        if not passages:
            break
        _embed(services, embedder, passages)
        done += len(passages)
        after = passages[-1].id
        if progress is not None:
            progress(done, None)
    return done


def embed_all_pending(services: Services, progress: Progress | None = None) -> tuple[int, str | None]:
    """Give vectors to all that waits for one; without a model, say why that must wait."""
    with services.store.read() as view:
        due = store_counts(view).due
    if not due:
        return 0, None

    def told(done: int, _: int | None) -> None:
        if progress is not None:
            progress(done, max(done, due))

    try:
        return embed_pending(services, embedder_of(services), progress=told), None
    except ModelUnavailable as error:
        return 0, str(error)


def embed_in_background(services: Services) -> None:
    """Embed what waits for a vector while others ask; closing ends it, and the next opening goes on."""
    services.worker.submit(Priority.VECTORS, lambda: _embed_until_closed(services))


def _embed_until_closed(services: Services) -> None:
    stopping = services.worker.stopping

    def go_on(done: int, of: int | None) -> None:  # noqa: ARG001  # a Progress
        if stopping.is_set():
            raise _Stopped

    # Whoever asks first has the processor.
    if stopping.wait(_GIVE_WAY_SECONDS):
        return
    try:
        embedded, _ = embed_all_pending(services, go_on)
    except _Stopped:
        _log.info("The memory was closed before every text had its vector.")
    except RecollectError as error:
        _log.warning("Texts go on waiting for their vectors: %s", error)
    else:
        _log.info("%d texts got their vectors.", embedded)


class _Stopped(Exception):
    """The memory is being closed; the store knows what still waits."""


def _embed(services: Services, embedder: Embedder, passages: Sequence[Passage]) -> None:
    # What is said again and again in a conversation ("Thanks!") is embedded once.
    texts = list(dict.fromkeys(passage.text for passage in passages))
    packed = dict(zip(texts, map(pack_vector, embedder.documents(texts)), strict=True))
    vectors = tuple((passage.id, packed[passage.text]) for passage in passages)
    services.write([PutVectors(embedder.model, vectors)])


def _installed(services: Services) -> Embedder:
    """The store's own model, in whichever revision is installed now."""
    try:
        return embedder_of(services)
    except ModelUnavailable:
        with services.store.read() as view:
            model = model_in_use(view)
        embedder = None if model is None else services.embedder_named(model.name.partition("@")[0])
        if embedder is None:
            raise
        return embedder


def reindex(services: Services, model: str | None, progress: Progress | None = None) -> ReindexResult:
    """Embed everything with this model, then search by it. Stopped midway, it goes on where it was.

    Until the switch, searches use the old vectors.
    """
    embedder = services.embedder_named(model) if model is not None else _installed(services)
    if embedder is None:
        raise ModelUnavailable("'none' is not a model; name one that `recollect doctor` lists as ready.")
    with services.store.read() as view:
        before, total = model_in_use(view), store_counts(view).passages

    def told(done: int, _: int | None) -> None:
        if progress is not None:
            progress(min(done, total), total)

    embedded = embed_pending(services, embedder, progress=told)
    switched = before is not None and before.name != embedder.model.name
    # A store without any vector would take the preferred model at its first one, not the one named here.
    if switched or (before is None and model is not None):
        services.write([UseModel(embedder.model)])
        # What others wrote while the last batch was embedded.
        embedded += embed_pending(services, embedder)
    return ReindexResult(embedder.model, embedded, switched)
