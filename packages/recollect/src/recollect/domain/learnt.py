"""Rows of an export with results of learning from use. They refer to memories by id."""

from __future__ import annotations

from dataclasses import field
from datetime import date, datetime  # dataclass fields: read at run time by typing.get_type_hints
from typing import Literal, TypeAlias

from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Arm, Scope


@dataclass(frozen=True, slots=True)
class LearntPair:
    """Another memory with a higher id that appeared in the same answers."""

    memory: int
    count: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class LinkedMemory:
    """Another memory with a higher id that dreams linked to this one."""

    memory: int
    weight: int


@dataclass(frozen=True, slots=True)
class LearntUsage:
    memory: int
    count: int = 0
    last_at: datetime | None = None
    days: tuple[date, ...] = ()
    together: tuple[LearntPair, ...] = ()
    links: tuple[LinkedMemory, ...] = ()


@dataclass(frozen=True, slots=True)
class LearntCalibration:
    model: str
    at: datetime
    memories: int
    value: str


@dataclass(frozen=True, slots=True)
class LearntDismissal:
    """A review item that a person dismissed."""

    key: str
    at: str


@dataclass(frozen=True, slots=True)
class LearntScope:
    scope: Scope
    temper: float = 1.0
    calibrations: tuple[LearntCalibration, ...] = ()
    dismissed: tuple[LearntDismissal, ...] = ()


@dataclass(frozen=True, slots=True)
class LearntNumbers:
    """Tuned numbers, which replace the published numbers of a profile."""

    id: int
    scope: Scope
    profile: str
    at: datetime
    knobs: str
    why: Literal["run", "set", "reset", "rollback"]
    report: str


@dataclass(frozen=True, slots=True)
class LearntRecall:
    """The hits of an answer, for dreams to replay."""

    id: int
    scope: Scope
    at: datetime
    session: str
    ordinal: int
    query: str | None = None
    profile: str | None = None
    memories: tuple[int, ...] = ()
    places: tuple[int, ...] = ()
    """The place of each memory in the answer; empty: 1, 2, 3 and so on."""


@dataclass(frozen=True, slots=True)
class LearntFeedback:
    """A rating of a memory in an answer, and its origin."""

    id: int
    memory: int
    at: datetime
    kind: Literal["opened", "recalled", "said"]
    grade: float


@dataclass(frozen=True, slots=True)
class LearntAnswer:
    """An answer in the log, with the input of its ranking."""

    id: int
    scope: Scope
    at: datetime
    ordinal: int
    size: int
    before: int
    handle: str
    session: str
    query: str
    profile: str
    arm: Arm
    against: str
    shown: tuple[int, ...]
    ranked: tuple[int, ...]
    baseline: tuple[int, ...]
    candidates: bytes = field(repr=False)
    version: int = 0
    feedback: tuple[LearntFeedback, ...] = ()


@dataclass(frozen=True, slots=True)
class LearntDream:
    """A dream, with the journal that is needed to undo it."""

    id: int
    scope: Scope
    at: datetime
    through: int
    phases: str
    report: str
    journal: bytes = field(repr=False)
    undone_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class LearntSetting:
    """A stored value about learning: the seed of trials, or the number of unrecorded answers."""

    name: Literal["trial_seed", "unnoted"]
    value: str


Learnt: TypeAlias = (
    LearntScope | LearntUsage | LearntNumbers | LearntRecall | LearntAnswer | LearntDream | LearntSetting
)
LearntPart = Literal["scope", "usage", "tuned", "recall", "answer", "dream", "setting"]
LEARNT_PARTS: dict[LearntPart, type[Learnt]] = {
    "scope": LearntScope,
    "usage": LearntUsage,
    "tuned": LearntNumbers,
    "recall": LearntRecall,
    "answer": LearntAnswer,
    "dream": LearntDream,
    "setting": LearntSetting,
}
"""In the order of an export: a value comes after the values that it refers to."""
