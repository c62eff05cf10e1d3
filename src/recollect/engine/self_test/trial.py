"""Asking a self-test's questions: each embedded once, searched by every profile, timed, without a trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from datetime import datetime

from recollect.engine.embedding import embed_documents, embed_query, token_embedder
from recollect.engine.limits import DEFAULT_LIMIT
from recollect.engine.recall import open_search, query_of
from recollect.engine.self_test.sample import Survey
from recollect.engine.services import Services
from recollect.lazy_dataclass import dataclass
from recollect.ports import Embedder, Vector, Vectors
from recollect.ranking.pipeline import Profile, run
from recollect.ranking.why_not import standing
from recollect.records import Model
from recollect.retrieval.gather import Gathered, gather
from recollect.text.self_questions import OWN_WORDS, SelfQuestion

Timer = Callable[[], float]
"""Seconds from some moment on."""


@dataclass(frozen=True, slots=True)
class MissedQuestion:
    """A question that asked in vain for a memory by its own words."""

    question: SelfQuestion
    hits: tuple[int, ...]
    """What stood there instead, best first."""
    place: int | None
    """Where the memory stands; None: no search brought it up, or a step dropped it."""
    dropped: str | None
    """The step that did."""
    why: str


@dataclass(slots=True)
class CachedEmbedder:
    """An embedder that reads each question once, and knows how long that took."""

    embedder: Embedder
    timer: Timer
    known: dict[str, tuple[Vector, Vectors | None, float]] = field(default_factory=dict)
    saved: float = 0.0
    """Seconds that asking again would have taken."""

    @property
    def model(self) -> Model:
        return self.embedder.model

    def documents(self, texts: Sequence[str]) -> Vectors:
        return self.embedder.documents(texts)

    @property
    def gives_tokens(self) -> bool:
        return token_embedder(self.embedder) is not None

    def documents_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[bytes]]:
        return embed_documents(self.embedder, texts)

    def query(self, text: str) -> Vector:
        return self.query_with_tokens(text)[0]

    def query_with_tokens(self, text: str) -> tuple[Vector, Vectors | None]:
        if text in self.known:
            vector, tokens, seconds = self.known[text]
            self.saved += seconds
            return vector, tokens
        began = self.timer()
        vector, tokens = embed_query(self.embedder, text)
        self.known[text] = vector, tokens, self.timer() - began
        return vector, tokens


@dataclass(slots=True)
class Trial:
    """What comes out while questions are asked."""

    services: Services
    survey: Survey
    now: datetime
    limit: int
    default: str
    """The profile whose misses are looked into."""
    timer: Timer
    ranks: dict[str, list[int]] = field(default_factory=dict)
    """By profile: the place of the first right hit for each question, 0 where there is none."""
    seconds: dict[str, list[float]] = field(default_factory=dict)
    missed: list[MissedQuestion] = field(default_factory=list)
    note: str | None = None
    """What hinders the search."""
    _embedders: dict[str, CachedEmbedder | None] = field(default_factory=dict)

    def ask(self, question: SelfQuestion, name: str, profile: Profile) -> None:
        began, saved = self.timer(), self._saved
        gathered, hits = self._search(question, profile)
        seconds = self.timer() - began + self._saved - saved
        right = (place for place, id_ in enumerate(hits, 1) if self._is_right(question, id_))
        rank = next(right, 0)
        self.ranks.setdefault(name, []).append(rank)
        self.seconds.setdefault(name, []).append(seconds)
        if name == self.default and question.asks in OWN_WORDS and not 0 < rank <= self.limit:
            self.missed.append(self._missed(question, profile, gathered, hits))

    def warm(self, question: SelfQuestion, profile: Profile) -> None:
        """The first search of all loads the model and the vectors, which is nobody's latency."""
        self._search(question, profile)

    def _search(self, question: SelfQuestion, profile: Profile) -> tuple[Gathered, list[int]]:
        """As a caller asks who names no limit, unless more hits count than one gets then."""
        limit = None if self.limit <= DEFAULT_LIMIT else self.limit
        services = replace(self.services, embedder_named=self._embedder_named)
        asked = query_of(
            services, question.query, profile, now=self.now, limit=limit, record=False, across=True
        )
        with open_search(services, asked, profile) as (search, query, note):
            gathered = gather(search, profile, query)
            ranked = run(profile, gathered.candidates, query)
        self.note = self.note or note
        return gathered, ranked.ids.tolist()

    def _embedder_named(self, name: str) -> Embedder | None:
        if name not in self._embedders:
            embedder = self.services.embedder_named(name)
            self._embedders[name] = None if embedder is None else CachedEmbedder(embedder, self.timer)
        return self._embedders[name]

    @property
    def _saved(self) -> float:
        return sum(once.saved for once in self._embedders.values() if once is not None)

    def _is_right(self, question: SelfQuestion, id_: int) -> bool:
        return id_ in question.wanted or (bool(question.words) and self.survey.holds(id_, question.words))

    def _missed(
        self, question: SelfQuestion, profile: Profile, gathered: Gathered, hits: list[int]
    ) -> MissedQuestion:
        if question.memory not in gathered.candidates.ids:
            return MissedQuestion(question, tuple(hits), None, None, "no search brought it up")
        stands = standing(profile, gathered.candidates, gathered.query, question.memory)
        if stands.dropped is not None:
            why = f"the step {stands.dropped.step!r} dropped it: {stands.dropped.reason}"
            return MissedQuestion(question, tuple(hits), None, stands.dropped.step, why)
        return MissedQuestion(question, tuple(hits), stands.place, None, f"it stands at place {stands.place}")
