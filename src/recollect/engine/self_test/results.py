"""What a self-test found out about a store."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from recollect.lazy_dataclass import dataclass
from recollect.records import Kind
from recollect.text.self_questions import QuestionKind


class Cause(StrEnum):
    """Why a memory was not found by its own words; the first that holds."""

    NO_VECTOR = "no vector"
    """It waits for one, so only words find it."""
    SET_ASIDE = "set aside"
    """It is paused, completed or archived, which weighs it down."""
    REPEATED = "repeated"
    """Another one that says it was shown in its place."""
    LITTLE = "says little"
    """It has hardly a word that tells something, or only such that many others have."""
    CROWDED = "crowded out"
    """What stands before it says nearly the same."""
    COMMON = "common words"
    """The part that was asked with has only words that many others have."""
    LANGUAGE = "language"
    """It is in a language that the model does not know."""
    LONG = "long"
    """What was asked for is a small part of it."""
    OUTRANKED = "outranked"
    """Others fit the question better, or no search brought it up."""


@dataclass(frozen=True, slots=True)
class FoundShare:
    """How many questions were answered among the first hits."""

    asked: int
    found: int
    low: float
    high: float
    """The 95 % interval of the recall."""
    mrr: float
    """The mean of 1/rank of the first right hit, 0 where there is none."""

    @property
    def recall(self) -> float:
        return self.found / self.asked if self.asked else 0.0


@dataclass(frozen=True, slots=True)
class ProfileResult:
    """How a profile did."""

    name: str
    overall: FoundShare
    by_kind: Mapping[QuestionKind, FoundShare]


@dataclass(frozen=True, slots=True)
class ProfileComparison:
    """A profile beside the default one, memory by memory."""

    name: str
    better: int
    """Memories of whose questions it answered more."""
    worse: int
    p: float
    """How likely that is by chance, as many profiles as were compared taken into account."""

    @property
    def is_better(self) -> bool:
        return self.better > self.worse and self.p < 0.05


@dataclass(frozen=True, slots=True)
class MissedMemory:
    """A memory that the default profile did not find by its own words."""

    id: int
    kind: Kind
    text: str
    """How it begins."""
    query: str
    first: int | None
    """What stood first instead; None: nothing was found."""
    first_text: str
    place: int | None
    """Where it stands; None: no search brought it up, or a step dropped it."""
    cause: Cause
    why: str


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do about what was found."""

    said: str
    command: str = ""
    """What to type, where there is something."""


@dataclass(frozen=True, slots=True)
class Latency:
    """How long an answer takes, the embedding of the question included."""

    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class SelfTest:
    """How well a store is found by questions made of itself.

    All but `latency` is the same for the same store, seed and moment.
    """

    seed: int
    at: datetime
    """The moment at which all was asked."""
    limit: int
    """Hits that count."""
    model: str | None
    note: str | None
    """What hinders the search, such as a model that is not there."""
    memories: int
    """In force, in this scope."""
    sampled: int
    questions: Mapping[QuestionKind, int]
    default: str
    """The profile that the others are compared with, and that misses are told of."""
    profiles: tuple[ProfileResult, ...]
    compared: tuple[ProfileComparison, ...]
    missed: tuple[MissedMemory, ...]
    advice: tuple[Advice, ...]
    latency: Mapping[str, Latency]

    @property
    def causes(self) -> Mapping[Cause, int]:
        """How many were missed for each cause, as far as there are."""
        counts = {cause: sum(miss.cause is cause for miss in self.missed) for cause in Cause}
        return {cause: count for cause, count in counts.items() if count}
