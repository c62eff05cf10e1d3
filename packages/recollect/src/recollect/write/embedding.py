"""Embedders, what they embed in batches, and changing the model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from recollect.domain.changes import NewText, PutVectors, TellOnce, TextVectors, UseModel
from recollect.domain.errors import ModelUnavailable
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.numbers import pack_vector
from recollect.domain.records import Model, Passage, Scope
from recollect.domain.results import ModelProposal, ReindexResult
from recollect.domain.tables import IN_FORCE, Equals
from recollect.language.questions import language_of
from recollect.search.rows import memories_by_id
from recollect.search.texts import (
    MODEL_CHOICE,
    model_in_use,
    passages_without_tokens,
    pending_passages,
    store_counts,
    store_setting,
    was_told,
)
from recollect.services import EmbeddedText, LanguageModels, Services, retry_after_failover
from recollect.stores.port import Embedder, Progress, TokenEmbedder, Vector, Vectors
from recollect.text.passages import passage_texts

if TYPE_CHECKING:
    import threading

    from recollect.domain.records import Memory
    from recollect.stores.port import Snapshot


# Which model suits the languages of a memory: its first texts choose, later texts and questions propose.

# Share of texts in other languages, of those that tell theirs, for which an English model is too little.
_MUCH = 0.25
_SAMPLE = 200
# Passages that can be embedded again in about a second, and in about a minute.
_FEW = 100
_MANY = 5_000


def first_model(services: Services, view: Snapshot) -> str:
    """Choose the model of a new store: by its texts, unless the user named one."""
    models, preferred = services.language_models, services.preferred_model
    if models is None or not models.may_choose or not models.reads_only_english(preferred):
        return preferred
    ids = [id_ for (id_,) in view.rows("memory", ("id",), IN_FORCE)]
    counted = _count_languages(_texts(view, ids[:: -(-len(ids) // _SAMPLE) or 1]))
    return models.multilingual if _is_much(counted) else preferred


def first_model_note(services: Services) -> str | None:
    """Return a note, once, on the model that a store has just taken; None for the usual one."""
    models, preferred = services.language_models, services.preferred_model
    with services.read() as view:
        model = model_in_use(view)
    if models is None or model is None or not models.automatic:
        return None
    name = model.name.partition("@")[0]
    if name != models.multilingual or name == preferred or not _is_first_time(services, "the first model"):
        return None
    return (
        f"Texts are not in English, so this memory uses the model {name}. For English alone, run: "
        f"{_reindex(preferred)}"
    )


def is_foreign(texts: Iterable[str]) -> bool:
    """Whether one of the texts is in another language than English."""
    return any(language_of(text) == "other" for text in texts)


def model_proposal(services: Services) -> ModelProposal | None:
    """The model that suits the newest texts better than the one in use, if there is one."""
    models = services.language_models
    with services.read_everything() as view:
        model = model_in_use(view)
        if models is None or model is None or not models.reads_only_english(model.name):
            return None
        told, other = counted = _count_languages(newest_texts(view))
    if not _is_much(counted):
        return None
    which = f"{other} of the newest {told} texts are" if told > 1 else "The text is"
    return _proposal(models, model.name, which)


def model_to_change_to(services: Services, *, in_background: bool = False) -> str | None:
    """Return the model to switch to now: for a small store, no named model, and another that is ready.

    In the background, a larger store may be switched, too.
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
    """Return a note on a text that the model in use cannot read: once for the first, once for many."""
    models = services.language_models
    if models is None:
        return None
    of_many = model_proposal(services)
    if of_many is not None:
        return _once(services, f"many texts that {name} does not read", of_many)
    # If the other model is installed, one text is no reason to embed all others again.
    of_first = None if models.install is None else _proposal(models, name, "This text is")
    return _once(services, f"a text that {name} does not read", of_first)


def background_note(services: Services, name: str, other: str) -> str | None:
    """Return a note, once, on a store that is being switched for a query."""
    if not _is_first_time(services, f"a change from {name}"):
        return None
    unread = _unread_text(name, "The question is")
    return f"{unread[:-1]}, so this memory changes to the model {other} in the background."


def question_note(services: Services, name: str) -> str | None:
    """Return a note, once, on a query that the model in use cannot read."""
    models = services.language_models
    proposal = None if models is None else _proposal(models, name, "The question is")
    return _once(services, f"a question that {name} does not read", proposal)


def _once(services: Services, topic: str, proposal: ModelProposal | None) -> str | None:
    return proposal.text if proposal is not None and _is_first_time(services, topic) else None


def _is_first_time(services: Services, topic: str) -> bool:
    with services.read() as view:
        if was_told(view, topic):
            return False
    # Of two processes at the same time, one writes it.
    return services.write([TellOnce(topic)])[0].created


def _proposal(models: LanguageModels, name: str, which: str) -> ModelProposal:
    commands = filter(None, (models.install, _reindex(models.multilingual)))
    return ModelProposal(models.multilingual, _unread_text(name, which), tuple(commands))


def _unread_text(name: str, which: str) -> str:
    return f"{which} not in English, the only language that {name.partition('@')[0]} reads."


def _reindex(model: str) -> str:
    return f"recollect reindex --model {model}"


def newest_texts(view: Snapshot) -> list[str]:
    """Return the newest texts of all scopes."""
    ids = view.rows("memory", ("id",), IN_FORCE, newest_first=True, limit=_SAMPLE)
    return _texts(view, [id_ for (id_,) in ids])


def spoken_text(memory: Memory) -> str:
    """Return the sentences of a memory; names and types have no language."""
    return memory.text or " ".join(seen.content for seen in memory.in_force)


def _texts(view: Snapshot, ids: Sequence[int]) -> list[str]:
    return [spoken_text(memory) for memory in memories_by_id(view, ids).values()]


def _count_languages(texts: Iterable[str]) -> tuple[int, int]:
    """How many texts tell their language, and how many of those are not in English."""
    guesses = [guess for text in texts if (guess := language_of(text)) is not None]
    return len(guesses), guesses.count("other")


def _is_much(counted: tuple[int, int]) -> bool:
    told, other = counted
    return other > 0 and other >= _MUCH * told


WORDS_ALONE = "none"
"""The name of having no model; asked for, it holds also for a store that has vectors."""
EMBED_BATCH = 64
_READ_AT_ONCE = 8 * EMBED_BATCH
"""Passages that are sorted by their scopes, so that few batches are of several."""
GIVE_WAY_SECONDS = 1.0
"""How long a background job lets other work go first."""


@retry_after_failover
def embedder_of(services: Services) -> Embedder:
    """The embedder whose vectors the store holds; for a store without any, the preferred one."""
    with services.read() as view:
        model = model_in_use(view)
        first = first_model(services, view) if model is None else None
    return embedder_for(services, model, first)


def embedder_or_reason(services: Services) -> tuple[Embedder | None, str | None]:
    """Return the embedder, or the reason for its absence."""
    try:
        return embedder_of(services), None
    except ModelUnavailable as error:
        return None, str(error)


def embedder_for(services: Services, model: Model | None, first: str | None = None) -> Embedder:
    """The embedder of the model that the store uses, unless searches are to go by words alone.

    A store that uses none yet takes the one of the name `first`, or else the preferred one.
    """
    words_alone = services.preferred_model == WORDS_ALONE
    name = (first or services.preferred_model) if model is None or words_alone else model.name
    embedder = services.embedder_named(name)
    if embedder is None:
        raise ModelUnavailable(
            "No model is set, so searches go by words alone; `recollect doctor` names some."
        )
    return UntilShutdown(embedder, services.shutdown)


@dataclass(frozen=True, slots=True)
class UntilShutdown:
    """An embedder that stops between batches on shutdown.

    It fails like a missing model: rows are stored, and their texts stay in the queue.
    """

    embedder: Embedder
    shutdown: threading.Event

    @property
    def model(self) -> Model:
        return self.embedder.model

    def documents(self, texts: Sequence[str]) -> Vectors:
        if len(texts) <= EMBED_BATCH:
            return self._batch(texts)
        starts = range(0, len(texts), EMBED_BATCH)
        return np.concatenate([self._batch(texts[start : start + EMBED_BATCH]) for start in starts])

    @property
    def gives_tokens(self) -> bool:
        return token_embedder(self.embedder) is not None

    def documents_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[bytes]]:
        if len(texts) <= EMBED_BATCH:
            self._refuse_shutdown()
            return embed_documents(self.embedder, texts)
        starts = range(0, len(texts), EMBED_BATCH)
        parts = [self.documents_with_tokens(texts[start : start + EMBED_BATCH]) for start in starts]
        return np.concatenate([rows for rows, _ in parts]), [sign for _, signs in parts for sign in signs]

    def _batch(self, texts: Sequence[str]) -> Vectors:
        self._refuse_shutdown()
        return self.embedder.documents(texts)

    def _refuse_shutdown(self) -> None:
        if self.shutdown.is_set():
            raise ModelUnavailable("The memory is being closed; the next one to open it embeds what waits.")

    def query(self, text: str) -> Vector:
        return self.embedder.query(text)

    def query_with_tokens(self, text: str) -> tuple[Vector, Vectors | None]:
        return embed_query(self.embedder, text)


def token_embedder(embedder: Embedder) -> TokenEmbedder | None:
    """The embedder, where it gives tokens."""
    # Asking whether it is a TokenEmbedder would look at every method of the port, for every query.
    return cast("TokenEmbedder", embedder) if getattr(embedder, "gives_tokens", False) else None


def embed_query(embedder: Embedder, text: str) -> tuple[Vector, Vectors | None]:
    """The query's vector and those of its tokens, where the embedder gives them, in one run of the model."""
    giving = token_embedder(embedder)
    return (embedder.query(text), None) if giving is None else giving.query_with_tokens(text)


def embed_documents(embedder: Embedder, texts: Sequence[str]) -> tuple[Vectors, Sequence[bytes]]:
    """The vectors of texts, and the signs of their tokens' vectors; none at all where it gives none."""
    giving = token_embedder(embedder)
    return (embedder.documents(texts), ()) if giving is None else giving.documents_with_tokens(texts)


def embedded_texts(services: Services, embedder: Embedder, texts: Iterable[str]) -> dict[str, EmbeddedText]:
    """Embed texts in one call, except those that are cached."""
    # Texts that repeat in a conversation ("Thanks!") are embedded once.
    wanted = list(dict.fromkeys(texts))
    name = embedder.model.name
    known = services.recent_texts.known(name, wanted)
    new = [text for text in wanted if text not in known]
    if new:
        rows, signs = embed_documents(embedder, new)
        each_signs: Sequence[bytes | None] = signs or [None] * len(new)
        made = dict(zip(new, map(EmbeddedText, map(pack_vector, rows), each_signs), strict=True))
        services.recent_texts.keep(name, made)
        known |= made
    return known


def text_vectors(services: Services, model: Model | None, new: NewText) -> TextVectors | None:
    """Embed a text with the model in use, to be stored with it.

    Return None if the model is not chosen yet, or not available.
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
    progress: Progress | None = None,
) -> int:
    """Give vectors to passages that lack one of this model, in batches that each survive a crash.

    With `past`, also to what was said before, which only questions about the past find.
    """
    done = after = 0
    while at_most is None or done < at_most:
        with services.read_everything() as view:
            used = model_in_use(view)
            left = _READ_AT_ONCE if at_most is None else min(_READ_AT_ONCE, at_most - done)
            passages = pending_passages(view, embedder.model, after, left, past=past)
        if not passages:
            break
        searched = used is None or used.name == embedder.model.name
        done = _embed_in_batches(services, embedder, passages, done, progress, searched=searched)
        after = passages[-1].id
    return done


def embed_missing_tokens(services: Services, embedder: Embedder, progress: Progress | None = None) -> int:
    """Give tokens to passages that got their vectors before tokens were kept, in batches as above."""
    if token_embedder(embedder) is None:
        return 0
    done = after = 0
    while True:
        with services.read_everything() as view:
            passages = passages_without_tokens(view, embedder.model, after, _READ_AT_ONCE)
        if not passages:
            return done
        done = _embed_in_batches(services, embedder, passages, done, progress, searched=True)
        after = passages[-1].id


def _embed_in_batches(
    services: Services,
    embedder: Embedder,
    passages: Sequence[Passage],
    done: int,
    progress: Progress | None,
    *,
    searched: bool,
) -> int:
    """Embed passages of any scopes, each scope's together; how many are done now, with those before."""
    together = [passage for own in _by_scope(passages).values() for passage in own]
    for start in range(0, len(together), EMBED_BATCH):
        batch = together[start : start + EMBED_BATCH]
        embed_batch(services, embedder, batch, searched=searched)
        done += len(batch)
        if progress is not None:
            progress(done, None)
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
    """Store vectors of passages; `Conflict` where the store uses another model by now.

    One call of the model, and one write for each scope: on a server, scopes do not block each other. The
    texts of `also` are embedded in the same call and cached.
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
    """The memory is being closed; the store knows what still waits."""


def until_stopping(services: Services) -> Progress:
    """Stop a background embedding between two batches when the memory is closed."""

    def go_on(done: int, of: int | None) -> None:  # noqa: ARG001  # a Progress
        if services.worker.stopping.is_set():
            raise StoppedEmbedding

    return go_on


def _installed(services: Services) -> Embedder:
    """The store's own model, in whichever revision is installed now."""
    try:
        return embedder_of(services)
    except ModelUnavailable:
        with services.read() as view:
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
    with services.read_everything() as view:
        before, total = model_in_use(view), store_counts(view).passages

    def report(done: int, _: int | None) -> None:
        if progress is not None:
            progress(min(done, total), total)

    switched = before is not None and before.name != embedder.model.name
    # A store without any vector would take the preferred model at its first one, not the one named here.
    if switched or (before is None and model is not None):
        embedded = switch_model(services, embedder, report)
    else:
        embedded = embed_pending(services, embedder, progress=report)
    embedded += embed_missing_tokens(services, embedder, report)
    return ReindexResult(embedder.model, embedded, switched)


def switch_model(
    services: Services, embedder: Embedder, progress: Progress | None = None, *, automatic: bool = False
) -> int:
    """Embed everything with this model, then search by it; how many passages that were."""
    embedded = embed_pending(services, embedder, progress=progress)
    services.write([UseModel(embedder.model, automatic)])
    # Passages that were written during the last batch.
    return embedded + embed_pending(services, embedder)
