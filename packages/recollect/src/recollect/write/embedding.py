"""Choose the model for a store's languages, and compute the vectors of pending passages."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, cast

import numpy as np

from recollect.domain.changes import NewText, PutVectors, TellOnce, TextVectors, UseModel
from recollect.domain.errors import Conflict, ModelUnavailable, RecollectError
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.numbers import pack_vector
from recollect.domain.records import Model, Passage, Scope
from recollect.domain.results import EmbedResult, ModelProposal, ReindexResult
from recollect.domain.tables import IN_FORCE, Equals
from recollect.language.questions import language_of
from recollect.search.rows import memories_by_id
from recollect.search.texts import (
    MODEL_CHOICE,
    model_in_use,
    model_row,
    passages_of,
    passages_without_tokens,
    pending_passages,
    store_counts,
    store_setting,
    topic_setting,
    vectors_of,
)
from recollect.services import EmbeddedText, LanguageModels, Services, attempt_follow_up, retry_after_failover
from recollect.stores.port import Embedder, Progress, TokenEmbedder, Vector, Vectors
from recollect.text.passages import passage_texts
from recollect.write.repository import Priority

if TYPE_CHECKING:
    import threading

    from recollect.domain.records import Memory
    from recollect.stores.port import Snapshot

_log = logging.getLogger(__name__)


# The model for the languages of a store depends on its first texts. Later ones may propose another.

# From this share of texts in other languages on, an English model does not suffice.
_FOREIGN_SHARE = 0.25
_SAMPLE = 200
# Numbers of passages that take about a second, and about a minute, to embed again.
_FEW = 100
_MANY = 5_000


def first_model(services: Services, view: Snapshot) -> str:
    """Return the model for a new store: the one that the user named, or one for its texts."""
    models, preferred = services.language_models, services.preferred_model
    if models is None or not models.may_choose or not models.reads_only_english(preferred):
        return preferred
    ids = [id_ for (id_,) in view.rows("memory", ("id",), IN_FORCE)]
    counted = _many_foreign(_texts(view, ids[:: -(-len(ids) // _SAMPLE) or 1]))
    return preferred if counted is None else models.multilingual


def is_foreign(texts: Iterable[str]) -> bool:
    """Whether one of the texts is not in English."""
    return any(language_of(text) == "other" for text in texts)


def model_proposal(services: Services) -> ModelProposal | None:
    """Propose the multilingual model if the one in use does not read many of the newest texts."""
    models = services.language_models
    with services.read_everything() as view:
        model = model_in_use(view)
        if models is None or model is None or not models.reads_only_english(model.name):
            return None
        counted = _many_foreign(newest_texts(view))
    if counted is None:
        return None
    known, other = counted
    which = f"{other} of the newest {known} texts are" if known > 1 else "The text is"
    return _proposal(models, model.name, which)


def model_to_change_to(services: Services, *, in_background: bool = False) -> str | None:
    """Return the model to switch to now. None if the user named a model, or if the store is large.

    In the background, a larger store may be switched than at once.
    """
    models = services.language_models
    if models is None or not models.may_choose or (in_background and not models.in_background):
        return None
    most = _MANY if in_background else _FEW
    with services.read_everything() as view:
        if view.count("passage", (Equals("live", 1),))[None] > most:
            return None
        return models.multilingual if store_setting(view, MODEL_CHOICE) else None


def change_note(name: str, changed_to: str, which: str) -> str:
    return f"{_unread_text(name, which)[:-1]}, so this memory now uses the model {changed_to}."


def text_note(services: Services, name: str) -> str | None:
    """Return a note that the model in use cannot read a text: once for one text, and once for many."""
    models = services.language_models
    if models is None:
        return None
    proposal, topic = model_proposal(services), f"many texts that {name} does not read"
    if proposal is None and models.install is not None:
        # One text is reason enough to install a model, but not to embed all other texts again.
        proposal, topic = _proposal(models, name, "This text is"), f"a text that {name} does not read"
    return proposal.text if proposal is not None and _is_first_time(services, topic) else None


def _is_first_time(services: Services, topic: str) -> bool:
    with services.read() as view:
        if store_setting(view, topic_setting(topic)) is not None:
            return False
    # If two processes come here at the same time, only one of them creates the row.
    return services.write([TellOnce(topic)])[0].created


def _proposal(models: LanguageModels, name: str, which: str) -> ModelProposal:
    commands = filter(None, (models.install, f"recollect reindex --model {models.multilingual}"))
    return ModelProposal(models.multilingual, _unread_text(name, which), tuple(commands))


def _unread_text(name: str, which: str) -> str:
    return f"{which} not in English, the only language that {name.partition('@')[0]} reads."


def newest_texts(view: Snapshot) -> list[str]:
    """Return the newest texts of all scopes."""
    ids = view.rows("memory", ("id",), IN_FORCE, descending=True, limit=_SAMPLE)
    return _texts(view, [id_ for (id_,) in ids])


def spoken_text(memory: Memory) -> str:
    """Return a memory's text without names and types, which have no language."""
    return memory.text or " ".join(seen.content for seen in memory.in_force)


def _texts(view: Snapshot, ids: Sequence[int]) -> list[str]:
    return [spoken_text(memory) for memory in memories_by_id(view, ids).values()]


def _many_foreign(texts: Iterable[str]) -> tuple[int, int] | None:
    """Return how many texts have a known language, and how many are not English; None if those are few."""
    guesses = [guess for text in texts if (guess := language_of(text)) is not None]
    other = guesses.count("other")
    return (len(guesses), other) if other > 0 and other >= _FOREIGN_SHARE * len(guesses) else None


WORDS_ALONE = "none"
"""The setting for no model: search by words alone, even in a store with vectors."""
EMBED_BATCH = 64
_READ_BATCH = 8 * EMBED_BATCH
"""Passages that are read and sorted by scope at a time, so that most batches have one scope."""
GIVE_WAY_SECONDS = 1.0
"""Seconds that a background job waits before it starts, so that other work comes first."""


@retry_after_failover
def embedder_of(services: Services) -> Embedder:
    """Return the embedder of the model in use, or of the model that a store without one would choose."""
    with services.read() as view:
        model = model_in_use(view)
        first = first_model(services, view) if model is None else None
    return embedder_for(services, model, first)


def embedder_or_reason(services: Services) -> tuple[Embedder | None, str | None]:
    """Return the embedder, or the reason why it cannot be used."""
    try:
        return embedder_of(services), None
    except ModelUnavailable as error:
        return None, str(error)


def embedder_for(services: Services, model: Model | None, first: str | None = None) -> Embedder:
    """Return the embedder of a model; without one, that of `first` or of the preferred model.

    Raise `ModelUnavailable` if the preferred model is `none`, which means word search only.
    """
    words_alone = services.preferred_model == WORDS_ALONE
    name = (first or services.preferred_model) if model is None or words_alone else model.name
    embedder = services.embedder_named(name)
    if embedder is None:
        raise ModelUnavailable(
            "No model is set, so searches go by words alone; `recollect doctor` lists models."
        )
    return UntilShutdown(embedder, services.shutdown)


@dataclass(frozen=True, slots=True)
class UntilShutdown:
    """An embedder that stops between batches on shutdown.

    It then raises the error of a missing model: rows are stored, and their texts stay in the queue.
    """

    embedder: Embedder
    shutdown: threading.Event

    @property
    def model(self) -> Model:
        return self.embedder.model

    @property
    def gives_tokens(self) -> bool:
        return token_embedder(self.embedder) is not None

    def documents(self, texts: Sequence[str]) -> Vectors:
        return np.concatenate([self.embedder.documents(batch) for batch in self._batches(texts)])

    def documents_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[bytes]]:
        parts = [embed_documents(self.embedder, batch) for batch in self._batches(texts)]
        return np.concatenate([rows for rows, _ in parts]), [sign for _, signs in parts for sign in signs]

    def _batches(self, texts: Sequence[str]) -> Iterator[Sequence[str]]:
        for start in range(0, max(1, len(texts)), EMBED_BATCH):
            if self.shutdown.is_set():
                raise ModelUnavailable(
                    "The memory is being closed; the next program that opens it embeds the waiting texts."
                )
            yield texts[start : start + EMBED_BATCH]

    def query(self, text: str) -> Vector:
        return self.embedder.query(text)

    def query_with_tokens(self, text: str) -> tuple[Vector, Vectors | None]:
        return embed_query(self.embedder, text)


def token_embedder(embedder: Embedder) -> TokenEmbedder | None:
    """Return the embedder if it gives token vectors."""
    # Not `isinstance`: it would check every method of the protocol, for every query.
    return cast("TokenEmbedder", embedder) if getattr(embedder, "gives_tokens", False) else None


def embed_query(embedder: Embedder, text: str) -> tuple[Vector, Vectors | None]:
    """Return the vector of a query, and its token vectors if the embedder gives them."""
    giving = token_embedder(embedder)
    return (embedder.query(text), None) if giving is None else giving.query_with_tokens(text)


def embed_documents(embedder: Embedder, texts: Sequence[str]) -> tuple[Vectors, Sequence[bytes]]:
    """Return the vectors of texts, and the signs of their token vectors if the embedder gives them."""
    giving = token_embedder(embedder)
    return (embedder.documents(texts), ()) if giving is None else giving.documents_with_tokens(texts)


def embedded_texts(services: Services, embedder: Embedder, texts: Iterable[str]) -> dict[str, EmbeddedText]:
    """Return the vectors of texts. Those that are not cached are embedded in one call."""
    # Embed a text that repeats in a conversation ("Thanks!") only once.
    wanted = list(dict.fromkeys(texts))
    name = embedder.model.name
    known = services.recent_texts.lookup(name, wanted)
    new = [text for text in wanted if text not in known]
    if new:
        rows, signs = embed_documents(embedder, new)
        each_signs: Sequence[bytes | None] = signs or [None] * len(new)
        embedded = dict(zip(new, map(EmbeddedText, map(pack_vector, rows), each_signs), strict=True))
        services.recent_texts.keep(name, embedded)
        known |= embedded
    return known


def text_vectors(services: Services, model: Model | None, new: NewText) -> TextVectors | None:
    """Embed a text with the model in use, to be stored with it.

    Return None if the model is not chosen yet or not available, or if the text may call for another one.
    """
    if model is None or (services.language_models is not None and is_foreign([new.text])):
        return None
    texts = passage_texts(new.text, new.speaker)
    try:
        known = embedded_texts(services, embedder_for(services, model), texts)
    except ModelUnavailable:
        return None
    each = [known[text] for text in texts]
    return TextVectors(model.name, tuple(one.vector for one in each), tuple(one.signs for one in each))


def embed_pending(
    services: Services,
    embedder: Embedder,
    *,
    at_most: int | None = None,
    past: bool = False,
    tokens: bool = False,
    progress: Progress | None = None,
) -> int:
    """Embed passages that lack a vector of this model, and return how many. Each batch is committed.

    With `past`, also embed former texts, which only queries about the past find. With `tokens`, instead add
    token vectors to passages that were embedded before the store kept token vectors.
    """
    done = after = 0
    while at_most is None or done < at_most:
        with services.read_everything() as view:
            used = model_in_use(view)
            most = _READ_BATCH if at_most is None else min(_READ_BATCH, at_most - done)
            if tokens:
                passages = passages_without_tokens(view, embedder.model, after, most)
            else:
                passages = pending_passages(view, embedder.model, after, most, past=past)
        if not passages:
            break
        searched = tokens or used is None or used.name == embedder.model.name
        in_order = [passage for own in _by_scope(passages).values() for passage in own]
        for start in range(0, len(in_order), EMBED_BATCH):
            batch = in_order[start : start + EMBED_BATCH]
            embed_batch(services, embedder, batch, searched=searched)
            done += len(batch)
            if progress is not None:
                progress(done, None)
        after = passages[-1].id
    return done


def _by_scope(passages: Iterable[Passage]) -> dict[Scope, list[Passage]]:
    found: dict[Scope, list[Passage]] = {}
    for passage in passages:
        found.setdefault(passage.scope, []).append(passage)
    return found


def embed_batch(
    services: Services,
    embedder: Embedder,
    passages: Sequence[Passage],
    *,
    searched: bool,
    also: Sequence[str] = (),
) -> None:
    """Embed passages and store their vectors. If `searched`, raise `Conflict` if another model is in use.

    The model is called once. Each scope has its own write, so that scopes do not block each other.
    The texts of `also` are embedded in the same call, and cached.
    """
    known = embedded_texts(services, embedder, [*(passage.text for passage in passages), *also])
    automatic = services.language_models is not None and services.language_models.automatic
    for scope, own in _by_scope(passages).items():
        vectors = tuple((passage.id, known[passage.text].vector) for passage in own)
        tokens = tuple(
            (passage.id, signs) for passage in own if (signs := known[passage.text].signs) is not None
        )
        services.write([PutVectors(embedder.model, vectors, searched, automatic, tokens, scope)])


class StoppedEmbedding(Exception):
    """An error that stops an embedding when the memory is closed. Pending passages stay in the queue."""


def _stop_on_close(services: Services) -> Progress:
    """Return a progress callback that stops a background embedding when the memory is closed."""

    def check(done: int, of: int | None) -> None:  # noqa: ARG001  # a Progress
        if services.worker.stopping.is_set():
            raise StoppedEmbedding

    return check


def reindex(services: Services, model: str | None, progress: Progress | None = None) -> ReindexResult:
    """Embed everything with this model, then put it in use. Calling it again resumes an interrupted call.

    Without a model, a store switches from a former default model to its successor. Until the model is in
    use, searches use the old vectors.
    """
    with services.read_everything() as view:
        before, total = model_in_use(view), store_counts(view).passages
        automatic = model is None and store_setting(view, MODEL_CHOICE) is not None
    if model is None and before is not None:
        model = _successor(services, before.name)
    embedder: Embedder | None
    try:
        embedder = embedder_of(services) if model is None else services.embedder_named(model)
    except ModelUnavailable:
        # Another revision of the store's model may be installed.
        embedder = None
        if model is None and before is not None:
            embedder = services.embedder_named(before.name.partition("@")[0])
        if embedder is None:
            raise
    if embedder is None:
        raise ModelUnavailable("'none' is not a model; name one that `recollect doctor` lists as ready.")

    def report(done: int, _: int | None) -> None:
        if progress is not None:
            progress(min(done, total), total)

    switched = before is not None and before.name != embedder.model.name
    # Also if the store has no model but one was named: otherwise it would take the preferred one.
    if switched or (before is None and model is not None):
        embedded = switch_model(services, embedder, report, automatic=automatic)
    else:
        embedded = embed_pending(services, embedder, progress=report)
    if token_embedder(embedder) is not None:
        embedded += embed_pending(services, embedder, tokens=True, progress=report)
    return ReindexResult(embedder.model, embedded, switched)


def switch_model(
    services: Services, embedder: Embedder, progress: Progress | None = None, *, automatic: bool = False
) -> int:
    """Embed everything with this model, put it in use, and return how many passages were embedded."""
    embedded = embed_pending(services, embedder, progress=progress)
    services.write([UseModel(embedder.model, automatic)])
    # Embed passages that were written during the last batch.
    return embedded + embed_pending(services, embedder)


# Switching the model for other languages


def switch_model_for_texts(services: Services, texts: Sequence[str]) -> str | None:
    """Switch the model if the one in use cannot read these texts, or propose to. Return a note on it."""
    name = _english_model(services, texts)
    if name is None:
        return None
    changed = _switch_small_store(services, name) if model_proposal(services) is not None else None
    return text_note(services, name) if changed is None else change_note(name, changed, "Some texts are")


def switch_model_if_needed(services: Services, question: str) -> str | None:
    """Switch the model for the language of a query, or propose to. A failure is logged, not raised."""
    try:
        name = _english_model(services, [question])
        if name is None:
            return None
        if (changed := _switch_small_store(services, name)) is not None:
            return change_note(name, changed, "A question is")
        if (other := model_to_change_to(services, in_background=True)) is not None:
            _change_in_background(services, name, other)
            topic, unread = f"a change from {name}", _unread_text(name, "The question is")
            note = f"{unread[:-1]}, so this memory changes to the model {other} in the background."
        else:
            models = cast("LanguageModels", services.language_models)
            topic, note = (
                f"a question that {name} does not read",
                _proposal(models, name, "The question is").text,
            )
        return note if _is_first_time(services, topic) else None
    except RecollectError as error:
        _log.info("The language of a question could not be checked: %s", error)
        return None


# Leaving a model that is not installed


def replace_missing_model(services: Services) -> str | None:
    """Switch a small store from a former default model to its successor, if the former is not installed.

    Return a note on the switch. A larger store is switched in the background, where the process lives long
    enough for that. A failure is logged, not raised.
    """
    try:
        name = used_model_name(services)
        other = None if name is None else _successor(services, name)
        if name is None or other is None or _is_available(services, name):
            return None
        with services.read_everything() as view:
            passages = view.count("passage", (Equals("live", 1),))[None]
            chosen = store_setting(view, MODEL_CHOICE) is not None
        if chosen and passages <= _FEW and (embedder := services.embedder_named(other)) is not None:
            switch_model(services, embedder, automatic=True)
            gone = name.partition("@")[0]
            return f"The model {gone} is not installed, so this memory now uses the model {other}."
        models = services.language_models
        if chosen and passages <= _MANY and models is not None and models.in_background:
            _change_in_background(services, name, other)
    except RecollectError as error:
        _log.info("The memory keeps its model: %s", error)
    return None


def _successor(services: Services, name: str) -> str | None:
    """Return the successor of a former default model, unless the user named a model."""
    models = services.language_models
    return models.successor_of(name) if models is not None and models.automatic else None


def _is_available(services: Services, name: str) -> bool:
    try:
        services.embedder_named(name)
    except ModelUnavailable:
        return False
    return True


def _english_model(services: Services, texts: Sequence[str]) -> str | None:
    """Return the model in use, if it reads only English and one of the texts is in another language."""
    models = services.language_models
    if models is None or not is_foreign(texts):
        return None
    name = used_model_name(services)
    return name if name is not None and models.reads_only_english(name) else None


def used_model_name(services: Services) -> str | None:
    with services.read() as view:
        model = model_in_use(view)
    return None if model is None else model.name


def _switch_small_store(services: Services, name: str) -> str | None:
    """Switch the model at once if the store is small. Return the new model, or None."""
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
    """Switch the model in the background. If interrupted, the next query in another language resumes it."""

    def change() -> None:
        try:
            embedder = services.embedder_named(other)
            is_closed = services.worker.stopping.wait(GIVE_WAY_SECONDS)
            # Another process may have switched the model by now.
            if embedder is not None and not is_closed and used_model_name(services) == name:
                switch_model(services, embedder, _stop_on_close(services), automatic=True)
                _log.info("The memory uses the model %s now instead of %s.", other, name)
        except StoppedEmbedding:
            _log.info("The memory was closed before every text had a vector of %s.", other)
        except RecollectError as error:
            _log.warning("The memory keeps the model %s: %s", name, error)
        finally:
            services.store.changing_model = False

    if not services.store.changing_model:
        services.store.changing_model = True
        services.worker.submit(Priority.VECTORS, change)


# Most passages that a write embeds before it returns: its own, and other pending ones.
_MOST_OWN = 512
_MOST_OTHERS = 16


@retry_after_failover
def catch_up(
    services: Services,
    ids: Sequence[int] = (),
    progress: Progress | None = None,
    memories: Mapping[int, Memory] | None = None,
    also: Callable[[], Sequence[str]] = tuple,
) -> EmbedResult:
    """Embed pending passages, those of these memories first. A failure is reported in the result.

    It follows a commit and never raises: the rows are stored, words find them, and passages stay in the
    queue. Pass `memories` if they are loaded already. The texts of `also` are embedded in the same call.
    """

    def embed() -> EmbedResult:
        known = memories
        if services.language_models is not None and ids and known is None:
            with services.read() as view:
                known = memories_by_id(view, sorted(set(ids)))
        texts = [spoken_text(memory) for memory in islice((known or {}).values(), EMBED_BATCH)]
        return _embed_in_language(services, texts, lambda: _embed_first(services, ids, progress, known, also))

    done, problem = attempt_follow_up(embed)
    return done or EmbedResult(problem=problem)


def _embed_first(
    services: Services,
    ids: Sequence[int],
    progress: Progress | None,
    memories: Mapping[int, Memory] | None,
    also: Callable[[], Sequence[str]],
) -> int:
    """Embed the passages of these memories, then some others that are pending. Return how many."""
    with services.read() as view:
        row = model_row(view)
        own = passages_of(view, sorted(set(ids)), memories)[:_MOST_OWN] if ids else []
        own_ids = [passage.id for passage in own]
        known = vectors_of(view, own_ids, row) if own and row is not None else {}
        pending = view.rows("pending_vector", ("passage_id",), limit=len(own) + 1)
        used = None if row is None else row[1]
        first = first_model(services, view) if used is None else None
    embedder = embedder_for(services, used, first)
    if used is not None and used.name != embedder.model.name:
        own, others_wait = [], True
    else:
        others_wait = not {id_ for (id_,) in pending}.issubset(own_ids)
    lacking = [passage for passage in own if passage.id not in known]
    for start in range(0, len(lacking), EMBED_BATCH):
        batch = lacking[start : start + EMBED_BATCH]
        embed_batch(services, embedder, batch, searched=True, also=() if start else also())
        if progress is not None:
            progress(min(start + EMBED_BATCH, len(lacking)), len(lacking))
    done = len(lacking)
    if others_wait:
        # Only a few: a write of one note must not wait for the thousands of an import.
        done += embed_pending(services, embedder, at_most=_MOST_OTHERS if ids else _MOST_OWN)
    return done


def _embed_in_language(services: Services, texts: Sequence[str], embed: Callable[[], int]) -> EmbedResult:
    """Embed with a model that reads the languages of the texts, unless the user named one."""
    note = None
    try:
        is_first = used_model_name(services) is None
        note = None if is_first else switch_model_for_texts(services, texts)
        try:
            done = embed()
        except Conflict:
            # Another process has switched the model. Use that one.
            done = embed()
        except ModelUnavailable:
            note = replace_missing_model(services) or note
            # If the model was not replaced, this fails again with the reason.
            done = embed()
        if is_first:
            note = _first_model_note(services, used_model_name(services)) or switch_model_for_texts(
                services, texts
            )
    except (ModelUnavailable, Conflict) as error:
        return EmbedResult(problem=str(error), model_note=note)
    return EmbedResult(done, model_note=note)


def _first_model_note(services: Services, used: str | None) -> str | None:
    """Return a note if a new store took a model other than the preferred one. Later calls return None."""
    models, preferred = services.language_models, services.preferred_model
    name = (used or "").partition("@")[0]
    if models is None or not models.automatic or name != models.multilingual or name == preferred:
        return None
    if not _is_first_time(services, "the first model"):
        return None
    return (
        f"Texts are not in English, so this memory uses the model {name}. For English alone, run: "
        f"recollect reindex --model {preferred}"
    )


def embed_all_pending(
    services: Services, progress: Progress | None = None, *, past: bool = False
) -> EmbedResult:
    """Embed all pending passages; with `past`, also former texts. The result has the reason for a failure."""
    with services.read_everything() as view:
        pending = store_counts(view).due
        texts = newest_texts(view) if pending else ()
    if not pending:
        return EmbedResult()

    def report(done: int, _: int | None) -> None:
        if progress is not None:
            progress(done, max(done, pending))

    return _embed_in_language(
        services, texts, lambda: embed_pending(services, embedder_of(services), past=past, progress=report)
    )


def embed_in_background(services: Services) -> None:
    """Embed pending passages in the background. Closing the memory stops it; opening it resumes it."""

    def embed() -> None:
        if services.worker.stopping.wait(GIVE_WAY_SECONDS):
            return
        try:
            done = embed_all_pending(services, _stop_on_close(services))
        except StoppedEmbedding:
            _log.info("The memory was closed before every text had its vector.")
        except RecollectError as error:
            _log.warning("Texts still wait for their vectors: %s", error)
        else:
            _log.info("%d passages got their vectors. %s", done.embedded, done.model_note or "")

    services.worker.submit(Priority.VECTORS, embed)
