"""Keeping vectors in step with texts: what was just written first, and what waits besides."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from recollect.domain.errors import Conflict, ModelUnavailable, RecollectError
from recollect.domain.records import Memory
from recollect.domain.results import EmbedResult
from recollect.search.rows import memories_by_id
from recollect.search.texts import model_in_use, model_row, passages_of, store_counts, vectors_of
from recollect.services import Services, attempt_follow_up, retry_after_failover
from recollect.stores.port import Progress
from recollect.write import embedding
from recollect.write.embedding import (
    EMBED_BATCH,
    StoppedEmbedding,
    background_note,
    change_note,
    embed_batch,
    embed_pending,
    embedder_for,
    embedder_of,
    first_model,
    first_model_note,
    is_foreign,
    model_proposal,
    model_to_change_to,
    newest_texts,
    question_note,
    spoken_text,
    switch_model,
    text_note,
    until_stopping,
)
from recollect.write.repository import Priority

# Changing the model of a store, or proposing to, for texts and questions that it does not read.

_log = logging.getLogger(__name__)


def suit_texts(services: Services, texts: Sequence[str]) -> str | None:
    """Change the model, or propose to, where the one in use does not read these texts; what to say of it."""
    name = _english_model(services, texts)
    if name is None:
        return None
    changed = _changed_model(services, name) if model_proposal(services) is not None else None
    return text_note(services, name) if changed is None else change_note(name, changed, "Some texts are")


def switch_model_if_needed(services: Services, question: str) -> str | None:
    """The same for a question. Whatever comes of it, the question is answered."""
    try:
        name = _english_model(services, [question])
        if name is None:
            return None
        if (changed := _changed_model(services, name)) is not None:
            return change_note(name, changed, "A question is")
        if (other := model_to_change_to(services, in_background=True)) is not None:
            _change_in_background(services, name, other)
            return background_note(services, name, other)
        return question_note(services, name)
    except RecollectError as error:
        _log.info("Nothing was said of the language of a question: %s", error)
        return None


def _english_model(services: Services, texts: Sequence[str]) -> str | None:
    """The model in use, where it reads only English and one of the texts is in another language."""
    models = services.language_models
    if models is None or not is_foreign(texts):
        return None
    name = used_model_name(services)
    return name if name is not None and models.reads_only_english(name) else None


def used_model_name(services: Services) -> str | None:
    with services.read() as view:
        model = model_in_use(view)
    return None if model is None else model.name


def _changed_model(services: Services, name: str) -> str | None:
    """The model that the store has now instead of this one, if it could be changed at once."""
    other = model_to_change_to(services)
    try:
        embedder = None if other is None else services.embedder_named(other)
        if embedder is None:
            return None
        switch_model(services, embedder, automatic=True)
    except (ModelUnavailable, Conflict) as error:
        _log.info("The memory keeps the model %s: %s", name, error)
        return None
    _log.info("The memory uses the model %s now instead of %s, for its languages.", other, name)
    return other


def _change_in_background(services: Services, name: str, other: str) -> None:
    if not services.store.changing_model:
        services.store.changing_model = True
        services.worker.submit(Priority.VECTORS, lambda: _change_until_closed(services, name, other))


def _change_until_closed(services: Services, name: str, other: str) -> None:
    """Stopped midway, the next question in another language goes on where it was."""
    try:
        embedder = services.embedder_named(other)
        is_closed = services.worker.stopping.wait(embedding.GIVE_WAY_SECONDS)
        # Another process may have changed it by now.
        if embedder is not None and not is_closed and used_model_name(services) == name:
            switch_model(services, embedder, until_stopping(services), automatic=True)
            _log.info("The memory uses the model %s now instead of %s, for its languages.", other, name)
    except StoppedEmbedding:
        _log.info("The memory was closed before every text had a vector of %s.", other)
    except RecollectError as error:
        _log.warning("The memory keeps the model %s: %s", name, error)
    finally:
        services.store.changing_model = False


# The passages that a write embeds before it returns; the rest waits for the next one, or for `reindex`.
_AT_ONCE = 512
_OF_OTHERS = 16


@retry_after_failover
def catch_up(
    services: Services,
    ids: Sequence[int] = (),
    progress: Progress | None = None,
    memories: Mapping[int, Memory] | None = None,
    also: Callable[[], Sequence[str]] = tuple,
) -> EmbedResult:
    """Embed waiting passages, first those of these memories; report why not, if so.

    It follows a commit and never raises: the rows are stored, words find them, and passages stay in the
    queue. Pass the memories if they are known. The texts of `also` are embedded in the same call.
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
    """Embed with a model for the languages of the texts, unless the user named one."""
    note = None
    try:
        is_first = used_model_name(services) is None
        note = None if is_first else suit_texts(services, texts)
        try:
            done = embed()
        except Conflict:
            # Another process changed the model: keep its choice.
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

    def report(done: int, _: int | None) -> None:
        if progress is not None:
            progress(done, max(done, due))

    return _embed_in_language(
        services, texts, lambda: embed_pending(services, embedder_of(services), past=past, progress=report)
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
