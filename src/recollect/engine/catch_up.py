"""Keeping vectors in step with texts: what was just written first, and what waits besides."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from recollect.engine import embedding
from recollect.engine.after_commit import attempt_follow_up
from recollect.engine.embedding import (
    EMBED_BATCH,
    StoppedEmbedding,
    embed_batch,
    embed_pending,
    embedder_for,
    embedder_of,
    until_stopping,
)
from recollect.engine.language_choice import first_model, first_model_note, newest_texts, spoken_text
from recollect.engine.model_change import suit_texts, used_model_name
from recollect.engine.results import EmbedResult
from recollect.engine.services import Services, asks_again
from recollect.engine.worker import Priority
from recollect.errors import Conflict, ModelUnavailable, RecollectError
from recollect.ports import Progress
from recollect.records import Memory
from recollect.retrieval.contents import store_counts
from recollect.retrieval.passages import model_row, passages_of, vectors_of
from recollect.retrieval.records import memories_by_id

# What a write embeds before it returns; the rest waits for the next one, or for `reindex`.
_AT_ONCE = 512
_OF_OTHERS = 16
_log = logging.getLogger(__name__)


@asks_again
def catch_up(
    services: Services,
    ids: Sequence[int] = (),
    progress: Progress | None = None,
    memories: Mapping[int, Memory] | None = None,
    also: Callable[[], Sequence[str]] = tuple,
) -> EmbedResult:
    """Embed what waits for a vector, first what these memories say; tells why it could not be, if so.

    It follows a commit, and never raises: the rows are stored, words find them, and the passages stay in the
    queue. Who has read the memories gives them along; who compares texts afterwards says by `also` which,
    and they are embedded in the same call of the model.
    """
    done, problem = attempt_follow_up(lambda: _catch_up(services, ids, progress, memories, also))
    return done or EmbedResult(problem=problem)


def _catch_up(
    services: Services,
    ids: Sequence[int],
    progress: Progress | None,
    memories: Mapping[int, Memory] | None,
    also: Callable[[], Sequence[str]],
) -> EmbedResult:
    if services.language_models is not None and ids and memories is None:
        with services.read() as view:
            memories = memories_by_id(view, sorted(set(ids)))
    texts = [spoken_text(memory) for memory in islice((memories or {}).values(), EMBED_BATCH)]
    return _embed_in_language(services, texts, lambda: _embed_first(services, ids, progress, memories, also))


def _embed_first(
    services: Services,
    ids: Sequence[int],
    progress: Progress | None,
    memories: Mapping[int, Memory] | None,
    also: Callable[[], Sequence[str]],
) -> int:
    """Embed what these memories say, and then some of what waits beside it."""
    with services.read() as view:
        row = model_row(view)
        own = passages_of(view, sorted(set(ids)), memories)[:_AT_ONCE] if ids else []
        own_ids = [passage.id for passage in own]
        known = vectors_of(view, own_ids, row) if own and row is not None else {}
        due = view.rows("due", ("passage_id",), limit=len(own) + 1)
        used = None if row is None else row[1]
        first = first_model(services, view) if used is None else None
    embedder = embedder_for(services, used, first)
    if used is not None and used.name != embedder.model.name:
        own, others_wait = [], True
    else:
        others_wait = not {id_ for (id_,) in due}.issubset(own_ids)
    lacking = [passage for passage in own if passage.id not in known]
    for start in range(0, len(lacking), EMBED_BATCH):
        batch = lacking[start : start + EMBED_BATCH]
        embed_batch(services, embedder, batch, searched=True, also=() if start else also())
        if progress is not None:
            progress(min(start + EMBED_BATCH, len(lacking)), len(lacking))
    done = len(lacking)
    if others_wait:
        # Of these a little: who writes one note must not wait for an import's thousands.
        done += embed_pending(services, embedder, at_most=_OF_OTHERS if ids else _AT_ONCE)
    return done


def _embed_in_language(services: Services, texts: Sequence[str], embed: Callable[[], int]) -> EmbedResult:
    """Embed by a model that suits the languages of the texts, where nobody named one."""
    note = None
    try:
        is_first = used_model_name(services) is None
        note = None if is_first else suit_texts(services, texts)
        try:
            done = embed()
        except Conflict:
            # Another process chose or changed the model meanwhile, and its choice stands.
            done = embed()
        if is_first:
            note = first_model_note(services) or suit_texts(services, texts)
    except (ModelUnavailable, Conflict) as error:
        return EmbedResult(problem=str(error), model_note=note)
    return EmbedResult(done, model_note=note)


def embed_all_pending(
    services: Services, progress: Progress | None = None, *, past: bool = False
) -> EmbedResult:
    """Give vectors to all that waits for one; without a model, say why that must wait.

    With `past`, also to what was said before.
    """
    with services.read_everything() as view:
        due = store_counts(view).due
        texts = newest_texts(view) if due else ()
    if not due:
        return EmbedResult()

    def told(done: int, _: int | None) -> None:
        if progress is not None:
            progress(done, max(done, due))

    return _embed_in_language(
        services, texts, lambda: embed_pending(services, embedder_of(services), past=past, progress=told)
    )


def embed_in_background(services: Services) -> None:
    """Embed what waits for a vector while others ask; closing ends it, and the next opening goes on."""
    services.worker.submit(Priority.VECTORS, lambda: _embed_until_closed(services))


def _embed_until_closed(services: Services) -> None:
    if services.worker.stopping.wait(embedding.GIVE_WAY_SECONDS):
        return
    try:
        done = embed_all_pending(services, until_stopping(services))
    except StoppedEmbedding:
        _log.info("The memory was closed before every text had its vector.")
    except RecollectError as error:
        _log.warning("Texts go on waiting for their vectors: %s", error)
    else:
        _log.info("%d texts got their vectors. %s", done.embedded, done.model_note or "")
