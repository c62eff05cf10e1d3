"""What a dream looks at: the memories of a scope, column by column, and what happened since the last one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recollect.dreams.gate import Asked
    from recollect.ranking.candidates import Flags, Floats, Ints

FIELDS = ("consolidation", "strength", "depth", "spread", "stability")
"""What dreams write on a memory."""


@dataclass(frozen=True, slots=True)
class Life:
    """What dreams write, a column each."""

    consolidation: Ints
    """Place in `tuple(Consolidation)`."""
    strength: Floats
    depth: Ints
    spread: Ints
    stability: Floats


@dataclass(frozen=True, slots=True)
class Replay:
    """One answer that was given since the last dream, and what it showed."""

    at: int
    rows: tuple[int, ...]
    """Places in the snapshot, best first."""


@dataclass(frozen=True, slots=True)
class Echo:
    """Another memory that says nearly the same."""

    memory: int
    cosine: float


@dataclass(frozen=True, slots=True)
class Said:
    """A note, or an observation of an entity, as far as repeats are concerned."""

    memory: int
    """The note, or the entity."""
    text: str
    observation: int | None = None
    accesses: int = 0
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Twins:
    """Two texts in force of which one was found to nearly repeat the other."""

    older: Said
    newer: Said
    similarity: float


@dataclass(frozen=True, slots=True)
class Copy:
    """A text in force that may repeat an error which was corrected."""

    place: Said
    said: str
    """With who or what it is about."""
    wrong: str
    right: str
    by: int
    """The memory that corrects it."""
    cosine: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Two memories that were shown in one answer, the lower id first."""

    first: int
    second: int
    count: int


@dataclass(frozen=True, slots=True)
class DreamState:
    """Times are microseconds since 1970, days are days since 1970, both UTC."""

    at: int
    dreamt_at: Mapping[str, int]
    """When each phase was last dreamt; those that never were are not named."""
    through: int
    """The newest answer that is in it. The next dream begins after it."""
    ids: Ints
    """Ascending: what is in force in this scope."""
    kind: Ints
    """Place in `tuple(Kind)`."""
    created_at: Ints
    changed_at: Ints
    """The later of creation and update."""
    touched_at: Ints
    """The latest of creation, update and access."""
    accesses: Ints
    revisions: Ints
    kept: Flags
    """Pinned, or marked as important: it resists forgetting."""
    sessions: Ints
    """Sessions that it came up in, as far as the log goes."""
    life: Life
    temper: float = 1.0
    """The power to which rankings take these traces now."""
    used: frozenset[int] | None = None
    """Places of what was shown since the last promotion; None: what the replays show."""
    replays: tuple[Replay, ...] = ()
    used_on: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Places, each with the days since the last dream on which it was seen, ascending."""
    seen_before: Mapping[int, int] = field(default_factory=dict)
    """Of those places, the last day before, where there is one."""
    echoes: Mapping[int, tuple[Echo, ...]] = field(default_factory=dict)
    """Places, each with the memories nearest to it in meaning. What is not named has none."""
    twins: tuple[Twins, ...] = ()
    copies: tuple[Copy, ...] = ()
    together: tuple[Pair, ...] = ()
    trials: tuple[Asked, ...] = ()
    """Questions of which the answer is known, by the rankings that people use and that read these traces."""
    linked: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """Pairs that are linked already, and how firmly."""

    @property
    def last_at(self) -> int | None:
        """When the last dream was; None: this is the first."""
        return max(self.dreamt_at.values(), default=None)

    def place(self, id_: int) -> int | None:
        """Where a memory stands in the columns."""
        found = int(np.searchsorted(self.ids, id_))
        return found if found < len(self.ids) and self.ids[found] == id_ else None

    def knowing(
        self,
        *,
        echoes: Mapping[int, tuple[Echo, ...]] | None = None,
        copies: tuple[Copy, ...] | None = None,
        trials: tuple[Asked, ...] | None = None,
    ) -> DreamState:
        """With what only a search could tell."""
        return replace(
            self,
            echoes=self.echoes if echoes is None else echoes,
            copies=self.copies if copies is None else copies,
            trials=self.trials if trials is None else trials,
        )
