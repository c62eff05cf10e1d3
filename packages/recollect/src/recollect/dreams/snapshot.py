"""The state that a dream reads, as columns, and the draft that its phases change."""

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
    """Index in `tuple(Consolidation)`."""
    strength: Floats
    depth: Ints
    spread: Ints
    stability: Floats


@dataclass(frozen=True, slots=True)
class ReplayedAnswer:
    """An answer since the last dream, and the memories that it showed."""

    at: int
    rows: tuple[int, ...]
    """Rows of the state, best hit first."""


@dataclass(frozen=True, slots=True)
class Echo:
    memory: int
    cosine: float


@dataclass(frozen=True, slots=True)
class DreamText:
    """A text that may repeat another: a note, or an observation of an entity."""

    memory: int
    text: str
    observation: int | None = None
    accesses: int = 0
    kept: bool = False


@dataclass(frozen=True, slots=True)
class SimilarTexts:
    """Two current texts; the newer was flagged as similar to the older."""

    older: DreamText
    newer: DreamText
    similarity: float


@dataclass(frozen=True, slots=True)
class Copy:
    """A current text that may repeat a corrected error."""

    place: DreamText
    said: str
    """The text with the name of its entity or speaker."""
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
    """The state of a scope that a dream reads.

    Times are microseconds since 1970, days are days since 1970, both UTC.
    """

    at: int
    dreamt_at: Mapping[str, int]
    """When each phase last ran; a phase that never ran is absent."""
    through: int
    """The newest answer that was read. The next dream begins after it."""
    ids: Ints
    """Ids of the current memories of this scope, ascending."""
    kind: Ints
    """Index in `tuple(Kind)`."""
    created_at: Ints
    changed_at: Ints
    """The later of creation and update."""
    touched_at: Ints
    """The latest of creation, update and access."""
    accesses: Ints
    revisions: Ints
    kept: Flags
    """Whether it never fades: pinned, marked as important, or owned by a program."""
    sessions: Ints
    """Number of sessions in the log whose answers showed it."""
    life: Life
    used: frozenset[int] | None = None
    """Rows shown since the last promotion. None: the rows of `replays`."""
    replays: tuple[ReplayedAnswer, ...] = ()
    used_on: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """For each row, the days since the last dream on which it was shown, ascending."""
    seen_before: Mapping[int, int] = field(default_factory=dict)
    """For each of those rows, the last day on which it was shown before those days, if any."""
    echoes: Mapping[int, tuple[Echo, ...]] = field(default_factory=dict)
    """For each row, the memories that say the same, nearest first."""
    twins: tuple[SimilarTexts, ...] = ()
    copies: tuple[Copy, ...] = ()
    together: tuple[Pair, ...] = ()
    linked: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """Weights of the existing links."""

    @property
    def last_at(self) -> int | None:
        """The time of the last dream; None before the first."""
        return max(self.dreamt_at.values(), default=None)

    def place(self, id_: int) -> int | None:
        found = int(np.searchsorted(self.ids, id_))
        return found if found < len(self.ids) and self.ids[found] == id_ else None


@dataclass(frozen=True, slots=True)
class Merge:
    """A text to merge into another one that says the same."""

    gone: DreamText
    into: DreamText
    similarity: float


@dataclass(frozen=True, slots=True)
class Correction:
    """A text that repeats an error, and the memory that corrects it."""

    gone: DreamText
    by: int


@dataclass(frozen=True, slots=True)
class Link:
    """Two linked memories, the lower id first; `before` is the old weight, 0 for a new link."""

    first: int
    second: int
    weight: int
    before: int = 0


@dataclass(frozen=True, slots=True)
class Draft:
    life: Life
    replayed: Flags
    """Rows strengthened in this dream."""
    interleaved: tuple[tuple[int, int], ...] = ()
    """Rows: a new memory, and the old one that was replayed with it."""
    pruned: tuple[int, ...] = ()
    echoed_by: Mapping[int, int] = field(default_factory=dict)
    """For pruned memories, the memory that says the same."""
    unique: tuple[int, ...] = ()
    """Memories that are not pruned only because no other memory says the same."""
    merges: tuple[Merge, ...] = ()
    corrections: tuple[Correction, ...] = ()
    links: tuple[Link, ...] = ()

    @classmethod
    def of(cls, snapshot: DreamState) -> Draft:
        return cls(snapshot.life, np.zeros(len(snapshot.ids), bool))

    @property
    def gone(self) -> dict[int, int | None]:
        """Memories that recall would no longer find, each with its survivor, if any."""
        gone: dict[int, int | None] = {
            **{id_: self.echoed_by.get(id_) for id_ in self.pruned},
            **dict(self.merged_notes),
            **{one.gone.memory: one.by for one in self.corrections if one.gone.observation is None},
        }
        for id_, by in gone.items():
            # The survivor of a merge may itself be merged.
            while by is not None and by in gone:
                by = gone[by]  # noqa: PLW2901  # follow the chain to its end
            gone[id_] = by
        return gone

    @property
    def merged_notes(self) -> tuple[tuple[int, int], ...]:
        """Notes, each with its survivor."""
        return tuple(
            (one.gone.memory, one.into.memory) for one in self.merges if one.gone.observation is None
        )
