"""State of a dream, by column, and the decisions of its phases: each returns a new draft."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from recollect.domain.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from recollect.ranking.candidates import Flags, Floats, Ints


FIELDS = ("consolidation", "strength", "depth", "spread", "stability")
"""Fields that dreams write."""


@dataclass(frozen=True, slots=True)
class Life:
    consolidation: Ints
    """Place in `tuple(Consolidation)`."""
    strength: Floats
    depth: Ints
    spread: Ints
    stability: Floats


@dataclass(frozen=True, slots=True)
class ReplayedAnswer:
    """One answer that was given since the last dream, and what it showed."""

    at: int
    rows: tuple[int, ...]
    """Places in the snapshot, best first."""


@dataclass(frozen=True, slots=True)
class Echo:
    memory: int
    cosine: float


@dataclass(frozen=True, slots=True)
class Said:
    """A note, or an observation of an entity, as far as repeats are concerned."""

    memory: int
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
    """When each phase last ran; absent for a phase that never did."""
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
    used: frozenset[int] | None = None
    """Places of what was shown since the last promotion; None: what the replays show."""
    replays: tuple[ReplayedAnswer, ...] = ()
    used_on: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Places, each with the days since the last dream on which it was seen, ascending."""
    seen_before: Mapping[int, int] = field(default_factory=dict)
    """Of those places, the last day before, where there is one."""
    echoes: Mapping[int, tuple[Echo, ...]] = field(default_factory=dict)
    """Places, each with the memories nearest to it in meaning. What is not named has none."""
    twins: tuple[Twins, ...] = ()
    copies: tuple[Copy, ...] = ()
    together: tuple[Pair, ...] = ()
    linked: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """Pairs that are linked already, and how firmly."""

    @property
    def last_at(self) -> int | None:
        """When the last dream was; None: this is the first."""
        return max(self.dreamt_at.values(), default=None)

    def place(self, id_: int) -> int | None:
        found = int(np.searchsorted(self.ids, id_))
        return found if found < len(self.ids) and self.ids[found] == id_ else None


@dataclass(frozen=True, slots=True)
class Merge:
    """A text that lives on in another one that says the same."""

    gone: Said
    into: Said
    similarity: float


@dataclass(frozen=True, slots=True)
class Correction:
    """A copy of an error, retired in favour of what corrected the error."""

    gone: Said
    by: int


@dataclass(frozen=True, slots=True)
class Link:
    """Two memories that belong together, the lower id first; `before` is 0 where they were not linked."""

    first: int
    second: int
    weight: int
    before: int = 0


@dataclass(frozen=True, slots=True)
class Draft:
    life: Life
    replayed: Flags
    """Strengthened in this dream."""
    interleaved: tuple[tuple[int, int], ...] = ()
    """Places: something new, and the old memory that was replayed beside it."""
    pruned: tuple[int, ...] = ()
    echoed_by: Mapping[int, int] = field(default_factory=dict)
    """Those of them that another memory says, and which."""
    unique: tuple[int, ...] = ()
    """Ids of what would have been pruned, if anything else said it."""
    merges: tuple[Merge, ...] = ()
    corrections: tuple[Correction, ...] = ()
    links: tuple[Link, ...] = ()

    @classmethod
    def of(cls, snapshot: DreamState) -> Draft:
        return cls(snapshot.life, np.zeros(len(snapshot.ids), bool))

    @property
    def gone(self) -> dict[int, int | None]:
        """Memories that recall would not find any more, each with the one that speaks for it, if any."""
        gone: dict[int, int | None] = {
            **{id_: self.echoed_by.get(id_) for id_ in self.pruned},
            **dict(self.merged_notes),
            **{one.gone.memory: one.by for one in self.corrections if one.gone.observation is None},
        }
        for id_, by in gone.items():
            # The survivor of a merge may itself be merged.
            while by is not None and by in gone:
                by = gone[by]  # noqa: PLW2901  # until it is one that lives on
            gone[id_] = by
        return gone

    @property
    def merged_notes(self) -> tuple[tuple[int, int], ...]:
        """Notes, each with the one that it lives on in."""
        return tuple(
            (one.gone.memory, one.into.memory) for one in self.merges if one.gone.observation is None
        )
