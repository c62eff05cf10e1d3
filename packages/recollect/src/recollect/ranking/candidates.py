"""Candidates in columns, and profiles: the searches and steps that rank them.

Candidates are columns rather than one object per hit, so a step is a few array operations. Ranking hundreds
of candidates costs less than a tenth of embedding the query. Steps never change a column; they add new ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from math import ceil
from operator import attrgetter
from pkgutil import get_data
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar, dataclass_transform, get_args

import numpy as np

from recollect.domain.errors import InvalidInput
from recollect.domain.json_values import Record
from recollect.domain.lazy_dataclass import dataclass
from recollect.text.phrases import decimals, signed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recollect.domain.records import Query

Floats: TypeAlias = "NDArray[np.float64]"
Ints: TypeAlias = "NDArray[np.int64]"
Flags: TypeAlias = "NDArray[np.bool_]"
Rows: TypeAlias = "Ints | Flags | slice"

NEVER = int(np.iinfo(np.int64).min)
"""An unknown time in a column of times."""
ALWAYS = int(np.iinfo(np.int64).max)
"""The end of a span that has no end."""
NOBODY, USER, ASSISTANT, SPEAKER = range(4)
"""The values of `Facts.role`. A `SPEAKER` is neither user nor assistant, such as a friend in a group."""
HOUR = 3_600_000_000
DAY = 24 * HOUR
SECOND = 1_000_000
_POSITION_BITS = 40
_NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Facts:
    """Stored facts of each candidate, by ascending id. Times are microseconds since 1970, UTC."""

    ids: Ints
    created_at: Ints
    updated_at: Ints
    happened_at: Ints
    last_access: Ints
    access_count: Ints
    access_days: Ints
    degree: Ints
    """Number of current relations to current entities."""
    status: Ints
    """Place in `tuple(Status)`."""
    importance: Floats
    strength: Floats
    depth: Ints
    spread: Ints
    stability: Floats
    metadata_share: Floats
    """The share of an entity's current observations that have the kind `metadata`."""
    content: Ints
    """A hash of the text. Texts share it if they differ only in case, accents, spaces or punctuation at their
    ends; for a profile that ignores marks, also if they differ in punctuation between words."""
    echo: Flags
    """Whether the candidate is a message of the current session that equals the query."""
    origin: Ints
    """The message that a note was extracted from; for all others, the memory's own id."""
    session: Ints
    """The number of a message's conversation; 0 without one, or if it has only this message."""
    position: Ints
    """A message's place in its conversation, from 1; 0 without one."""
    named: Flags
    """Whether the query names the speaker or, for a text without a speaker, a person named in the text."""
    asks: Flags
    """Whether the text ends with a question."""
    kind: Ints
    """Place in `tuple(Kind)`."""
    role: Ints
    """The speaker of a message: `USER`, `ASSISTANT` or `SPEAKER`; `NOBODY` for notes and entities."""
    informativeness: Floats
    """How much a message says by itself, from 0 to 1; 1 for notes and entities."""
    length: Ints
    """Number of characters; 0 for an entity."""

    def at(self, rows: Rows) -> Facts:
        return Facts(*[column[rows] for column in _columns_of(self)])


_columns_of = attrgetter(*Facts.__slots__)


@dataclass(frozen=True, slots=True)
class Source:
    """The ranks and scores that one search gave; rank 0 and score NaN for candidates that it did not find."""

    rank: Ints
    score: Floats

    def at(self, rows: Rows) -> Source:
        return Source(self.rank[rows], self.score[rows])

    @property
    def found(self) -> Flags:
        return self.rank > 0


Effect = Literal["plus", "times", "set", "rescale", "mix", "note"]


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """The value that a step computed for each candidate, and its effect on the score.

    plus: score + value; times: score * value; set: value; note: nothing
    rescale: (score - low) / (high - low), or 1 if low equals high; `numbers` has low and high
    mix: weight * value + (1 - weight) * score; `numbers` has the weight
    """

    step: str
    effect: Effect
    values: Floats
    numbers: tuple[float | Floats, ...] = ()
    """Parameters of the effect: for all candidates, or by row if several queries are ranked at once."""

    def at(self, rows: Rows) -> ScoreChange:
        return ScoreChange(self.step, self.effect, self.values[rows], self.numbers)


@dataclass(frozen=True, slots=True)
class DroppedCandidate:
    """A candidate that a step removed, with the reason."""

    id: int
    step: str
    reason: str
    score: float


@dataclass(frozen=True, slots=True)
class Removal:
    """The candidates that one step removed. The reasons are seldom read, so they are computed on demand."""

    step: str
    ids: Ints
    scores: Floats
    why: Callable[[], Sequence[str]]
    """Return the reasons, in the order of the ids."""


@dataclass(frozen=True, slots=True)
class Cooccurrences:
    """How often pairs were shown together, by row among all gathered candidates; never a self-pair."""

    first: Ints
    second: Ints
    count: Ints
    last: Ints

    @classmethod
    def none(cls) -> Cooccurrences:
        return cls(_NOTHING, _NOTHING, _NOTHING, _NOTHING)


@dataclass(frozen=True, slots=True)
class Contradictions:
    """Pairs of contradicting candidates, by row among all gathered candidates."""

    older: Ints
    newer: Ints
    since: Ints
    """When the newer fact began: a date in its text, or else its time."""
    chance: Floats
    """The probability that the newer one makes the older one untrue."""

    @classmethod
    def none(cls) -> Contradictions:
        return cls(_NOTHING, _NOTHING, _NOTHING, np.zeros(0))


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of one query. Rows are by ascending id until `order` sorts them.

    The tuner ranks many queries at once. Then the rows of each query are adjacent, and a step that compares
    the candidates of one query uses `lowest` and `highest`.
    """

    facts: Facts
    sources: Mapping[str, Source]
    score: Floats
    score_changes: tuple[ScoreChange, ...] = ()
    removals: tuple[Removal, ...] = ()
    named_values: Mapping[str, Floats] = field(default_factory=dict)
    """Values that a later step or the answer reads by name, such as `limbic_score`."""
    places: Ints | None = None
    """Each candidate's row among all gathered candidates; None while no row was dropped or moved."""
    query: Ints | None = None
    """The query that each row belongs to, ascending; None if there is only one query."""
    # Both keep the pairs of all gathered candidates, including dropped ones.
    cooccurrences: Cooccurrences = field(default_factory=Cooccurrences.none)
    contradictions: Contradictions = field(default_factory=Contradictions.none)

    def __len__(self) -> int:
        return len(self.facts.ids)

    @property
    def ids(self) -> Ints:
        return self.facts.ids

    def source(self, name: str) -> Source:
        """Return the ranks and scores of a search. A search that did not run found no candidate."""
        if name in self.sources:
            return self.sources[name]
        return Source(np.zeros(len(self), np.int64), np.full(len(self), np.nan))

    def lowest(self, values: Floats) -> Floats | float:
        """Return the lowest value of each query: a number if there is one query, otherwise by row."""
        return self._reduce(np.minimum, values, np.inf)

    def highest(self, values: Floats | Ints, at_least: float = -np.inf) -> Floats | float:
        return self._reduce(np.maximum, values, at_least)

    def by_query(self, numbers: Sequence[float]) -> Floats | float:
        """Spread one number per query over its rows; return a single number if there is one query."""
        return numbers[0] if self.query is None else np.array(numbers, np.float64)[self.query]

    def _reduce(self, kind: np.ufunc, values: NDArray[Any], start: float) -> Floats | float:
        if self.query is None:
            return float(kind.reduce(values, initial=start))
        starts = np.flatnonzero(np.diff(self.query, prepend=-1))
        by_query = kind(kind.reduceat(values, starts), start) if len(values) else np.zeros(0)
        rows: Floats = np.repeat(by_query, np.diff(starts, append=len(values)))
        return rows

    @property
    def dropped(self) -> tuple[DroppedCandidate, ...]:
        return tuple(
            DroppedCandidate(id_, each.step, reason, score)
            for each in self.removals
            for id_, reason, score in zip(each.ids.tolist(), each.why(), each.scores.tolist(), strict=True)
        )

    def with_change(self, step: str, effect: Effect, values: Floats, *numbers: float | Floats) -> Candidates:
        """Add the values of a step and apply their effect to the score."""
        change = ScoreChange(step, effect, values, numbers)
        score = apply_change(self.score, change)
        return replace(self, score=score, score_changes=(*self.score_changes, change))

    def with_values(self, name: str, values: Floats) -> Candidates:
        return replace(self, named_values={**self.named_values, name: values})

    def at(self, rows: Rows, *removals: Removal) -> Candidates:
        """Keep some of the rows, in the given order; record the removal of others by a step."""
        return Candidates(
            facts=self.facts.at(rows),
            sources={name: source.at(rows) for name, source in self.sources.items()},
            score=self.score[rows],
            score_changes=tuple([change.at(rows) for change in self.score_changes]),
            removals=(*self.removals, *removals),
            named_values={name: score[rows] for name, score in self.named_values.items()},
            places=(np.arange(len(self)) if self.places is None else self.places)[rows],
            query=None if self.query is None else self.query[rows],
            cooccurrences=self.cooccurrences,
            contradictions=self.contradictions,
        )

    def rows_of(self, places: Ints) -> Ints:
        """Return the present rows of candidates by their gathered rows; -1 for dropped ones."""
        if self.places is None:
            return places
        rows = np.full(1 + max(self.places.max(initial=-1), places.max(initial=-1)), -1)
        rows[self.places] = np.arange(len(self))
        return rows[places]

    def without(self, gone: Flags, step: str, why: Callable[[], Sequence[str]]) -> Candidates:
        """Drop the flagged rows; `why` returns their reasons, in order."""
        if not gone.any():
            return self
        return self.split(np.flatnonzero(~gone), np.flatnonzero(gone), step, why)

    def split(self, stay: Rows, go: Rows, step: str, why: Callable[[], Sequence[str]]) -> Candidates:
        return self.at(stay, Removal(step, self.ids[go], self.score[go], why))


def apply_change(score: Floats, change: ScoreChange) -> Floats:
    """Return the score after a change. Every effect is defined here."""
    match change.effect:
        case "plus":
            return score + change.values
        case "times":
            return score * change.values
        case "set":
            return change.values
        case "note":
            return score
        case "rescale":
            return rescale(score, *change.numbers)
        case "mix":
            (weight,) = change.numbers
            return weight * change.values + (1 - weight) * score


def rescale(values: Floats, low: Floats | float, high: Floats | float) -> Floats:
    """Return (value - low) / (high - low), or 1 where low equals high."""
    same = np.equal(low, high)
    return np.where(same, 1.0, (values - low) / np.where(same, 1.0, np.subtract(high, low)))


def known_or_zero(score: Floats) -> Floats:
    """Replace NaN (the search did not find the candidate) by 0. Four times as fast as `nan_to_num`."""
    return np.where(np.isnan(score), 0.0, score)


@dataclass(frozen=True, slots=True)
class ConversationContext:
    """The share of the query's words around each message: in its neighbours, and in its conversation.

    Rarer words weigh more. Messages are sorted by conversation, then by position.
    """

    session: Ints
    position: Ints
    near: Floats
    sessions: Ints
    whole: Floats

    @classmethod
    def empty(cls) -> ConversationContext:
        return cls(_NOTHING, _NOTHING, np.zeros(0), _NOTHING, np.zeros(0))

    def for_candidates(self, facts: Facts) -> tuple[Floats, Floats]:
        """Return the shares in the neighbours and in the conversation of each candidate, or 0."""
        if not len(self.sessions):
            return np.zeros(len(facts.ids)), np.zeros(len(facts.ids))
        order = np.argsort(self.sessions)
        number, known = _places_in(self.sessions[order], facts.session)
        whole = np.where(known, self.whole[order][number], 0.0)
        # Number the conversations, since their own codes leave no bits for a position.
        spoken, _ = _places_in(self.sessions[order], self.session)
        keys, wanted = (spoken << _POSITION_BITS) + self.position, (number << _POSITION_BITS) + facts.position
        by_key = np.argsort(keys)
        place, there = _places_in(keys[by_key], wanted)
        return np.where(there & known, self.near[by_key][place], 0.0), whole


def _places_in(ascending: Ints, wanted: Ints) -> tuple[Ints, Flags]:
    """Return the place of each value, and whether it is present."""
    places = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    return places, ascending[places] == wanted


# Profiles: which searches run, and which steps rank their results.


class Step(Protocol):
    """A frozen, callable value that can be compared and serialised."""

    def __call__(self, candidates: Candidates, query: Query) -> Candidates: ...


_Kind = TypeVar("_Kind")
FactGroup = Literal["usage", "degree", "metadata", "cooccurrence"]
"""Groups of facts that are not in a memory's own row."""
EVERY_GROUP: frozenset[FactGroup] = frozenset(get_args(FactGroup))
READS: dict[type[Any], frozenset[FactGroup]] = {}
"""The groups that each step and factor reads. A step that applies a factor reads the factor's groups."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def register_as(
    known: dict[str, type[Any]], name: str, *, reads: tuple[FactGroup, ...]
) -> Callable[[type[_Kind]], type[_Kind]]:
    """Make a class a frozen dataclass and register it under the name that profiles use.

    `reads` lists the groups of facts that its formula uses. Other groups may be zeros.
    """

    def register(kind: type[_Kind]) -> type[_Kind]:
        known[name] = made = dataclass(frozen=True, slots=True)(kind)
        READS[made] = frozenset(reads)
        return made

    return register


RETRIEVERS: dict[str, type[Retriever]] = {}


class _ScaledSearch:
    """A search that returns `times` the limit, and at least `least`."""

    __slots__ = ()
    times: float
    least: int

    def take(self, limit: int) -> int:
        return max(self.least, ceil(self.times * limit))


@register_as(RETRIEVERS, "meaning", reads=())
class ByMeaning(_ScaledSearch):
    """Search for the nearest vectors: `times` the limit, and at least `least`.

    With a `shortlist_size`, the search has two stages: a third of each vector's width selects a shortlist
    of that size, then the whole width ranks it. With `then`, a query that names a time also searches for the
    nearest texts of that time. With `tokens`, the best hits are also compared token by token.
    """

    times: float = 3.0
    least: int = 0
    shortlist_size: int | None = None
    then: bool = False
    tokens: bool = False


@register_as(RETRIEVERS, "words", reads=())
class ByWords(_ScaledSearch):
    """Search by BM25: `times` the limit, and at least `least`; `then` adds the texts of a named time.

    With `held`, also compute which share of the query each candidate of any search contains.
    """

    index: Literal["plain", "stemmed"] = "plain"
    times: float = 3.0
    least: int = 0
    then: bool = False
    held: bool = False


@register_as(RETRIEVERS, "context", reads=())
class ByContext(_ScaledSearch):
    """Search for messages whose neighbours contain the query's words, and for replies to similar questions.

    Neighbours are up to `within` places away; `times` and `least` as in `ByMeaning`.
    """

    times: float = 3.0
    least: int = 0
    within: int = 2


@register_as(RETRIEVERS, "links", reads=())
class ByLinks:
    """Search for entities related to one that the query names; `most` is their maximum number."""

    most: int = 50

    def take(self, limit: int) -> int:
        return self.most


Retriever = ByMeaning | ByWords | ByContext | ByLinks


@dataclass(frozen=True, slots=True)
class Profile:
    """A way to rank: which searches run, and which steps rank their hits."""

    name: str
    about: str
    retrieve: tuple[Retriever, ...]
    steps: tuple[Step, ...]

    def __hash__(self) -> int:
        # Every recall uses the profile as a cache key several times, and hashing all steps is slow.
        return hash(self.name)


def profile_named(name: str, known: Mapping[str, Profile]) -> Profile:
    if name not in known:
        raise InvalidInput(f"No profile named {str(name)[:40]!r}; there are: {', '.join(known)}.")
    return known[name]


def run(profile: Profile, candidates: Candidates, query: Query) -> Candidates:
    """Run all steps. The result is sorted, cut to the limit, and has the changes of every step."""
    for step in profile.steps:
        candidates = step(candidates, query)
    return candidates


# Reasons for a candidate's place: each step, its value, and the score after it.


@dataclass(frozen=True, slots=True)
class Reason(Record):
    """The value of one step for one candidate, and the score after it."""

    step: str
    effect: Effect
    value: float
    numbers: tuple[float, ...]
    score: float

    def __cells__(self) -> dict[str, Any]:
        return {"step": self.step, "effect": effect_text(self), "score": self.score}


def reasons(candidates: Candidates) -> list[tuple[Reason, ...]]:
    """Return the reasons of each candidate, in the order of the steps."""
    score = np.zeros(len(candidates))
    by_candidate: list[list[Reason]] = [[] for _ in range(len(candidates))]
    for change in candidates.score_changes:
        score = apply_change(score, change)
        for listed, value, after in zip(by_candidate, change.values.tolist(), score.tolist(), strict=True):
            listed.append(Reason(change.step, change.effect, value, tuple(map(float, change.numbers)), after))
    return [tuple(listed) for listed in by_candidate]


def recompute_score(listed: Iterable[Reason]) -> float:
    """Compute the score from the reasons alone. It equals the ranked score to the last bit."""
    score = np.zeros(1)
    for reason in listed:
        value = np.array([reason.value])
        score = apply_change(score, ScoreChange(reason.step, reason.effect, value, reason.numbers))
    return float(score[0])


def effect_text(reason: Reason) -> str:
    """Write the effect of a step as arithmetic: `+0.12`, `×0.9`."""
    match reason.effect:
        case "plus":
            return signed(reason.value)
        case "times":
            return f"×{decimals(reason.value)}"
        case "set":
            return f"→{decimals(reason.value)}"
        case "rescale":
            low, high = reason.numbers
            return f"from {decimals(low)}…{decimals(high)}"
        case "mix":
            (weight,) = reason.numbers
            return f"{100 * (1 - weight):.0f}/{100 * weight:.0f} with {decimals(reason.value)}"
        case "note":
            return decimals(reason.value)


def step_text(step: str) -> str:
    """Return a description of a ranking step; empty for a user's own step."""
    # Fused searches are named after their fusion, as in `rrf: meaning`.
    before, _, last = step.partition(": ")
    routed = "the kind of question, as classified by the router" if before == "routing" else ""
    return str(_step_texts().get(step) or routed or _step_texts().get(last, ""))


@cache
def _step_texts() -> Any:
    return json.loads(get_data(__package__, "step_texts.json") or b"")
