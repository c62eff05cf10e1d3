"""Embedders, what they embed in batches, and changing the model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from recollect.changes import NewText, PutVectors, TextVectors, UseModel
from recollect.engine.language_choice import first_model, is_foreign
from recollect.engine.recent_texts import EmbeddedText
from recollect.engine.results import ReindexResult
from recollect.engine.services import Services, asks_again
from recollect.errors import ModelUnavailable
from recollect.lazy_dataclass import dataclass
from recollect.ports import Embedder, Progress, TokenEmbedder, Vector, Vectors
from recollect.records import Model, Passage, Scope
from recollect.retrieval.contents import store_counts
from recollect.retrieval.passages import model_in_use, passages_without_tokens, pending_passages
from recollect.text.passages import passage_texts
from recollect.vectors import pack_vector

if TYPE_CHECKING:
    import threading

WORDS_ALONE = "none"
"""The name of having no model; asked for, it holds also for a store that has vectors."""
EMBED_BATCH = 64
_READ_AT_ONCE = 8 * EMBED_BATCH
"""Passages that are sorted by their scopes, so that few batches are of several."""
GIVE_WAY_SECONDS = 1.0
"""How long a job in the background lets whoever asks first have the processor."""


@asks_again
def embedder_of(services: Services) -> Embedder:
    """The embedder whose vectors the store holds; for a store without any, the preferred one."""
    with services.read() as view:
        model = model_in_use(view)
        first = first_model(services, view) if model is None else None
    return embedder_for(services, model, first)


def embedder_or_reason(services: Services) -> tuple[Embedder | None, str | None]:
    """The same; or none, and why there is none."""
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
    """An embedder that stops between batches once nobody waits for what it does.

    As a model that cannot be had: whatever is written stands, and its texts stay in the queue.
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
    """What the model makes of each text: of all that is not known from just before, in one call of it."""
    # What is said again and again in a conversation ("Thanks!") is embedded once.
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
    """The vectors of a text that is stored next, by the model in use, to be written along with it.

    None where that must wait until it is known by which model, or until the model is there.
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
    """Store vectors of passages; `Conflict` where they are for searches that use another model by now.

    One call of the model, and a write for each scope: on a server, scopes do not wait for one another.
    The texts in `also` are embedded in the same call: whoever asks for them next finds them known.
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
    """Ends an embedding in the background, between two batches, once somebody closes the memory."""

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

    def told(done: int, _: int | None) -> None:
        if progress is not None:
            progress(min(done, total), total)

    switched = before is not None and before.name != embedder.model.name
    # A store without any vector would take the preferred model at its first one, not the one named here.
    if switched or (before is None and model is not None):
        embedded = switch_model(services, embedder, told)
    else:
        embedded = embed_pending(services, embedder, progress=told)
    embedded += embed_missing_tokens(services, embedder, told)
    return ReindexResult(embedder.model, embedded, switched)


def switch_model(
    services: Services, embedder: Embedder, progress: Progress | None = None, *, automatic: bool = False
) -> int:
    """Embed everything with this model, then search by it; how many passages that were."""
    embedded = embed_pending(services, embedder, progress=progress)
    services.write([UseModel(embedder.model, automatic)])
    # What others wrote while the last batch was embedded.
    return embedded + embed_pending(services, embedder)
