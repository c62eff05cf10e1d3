"""What a dream has decided so far: each phase takes a draft and gives a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recollect.dreams.snapshot import DreamState, Life, Said
    from recollect.ranking.candidates import Flags


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
    temper: float = 1.0
    """The power to which rankings take the traces."""
    pruned: tuple[int, ...] = ()
    """Ids."""
    echoed_by: Mapping[int, int] = field(default_factory=dict)
    """Those of them that another memory says, and which."""
    unique: tuple[int, ...] = ()
    """Ids of what would have been pruned, if anything else said it."""
    merges: tuple[Merge, ...] = ()
    corrections: tuple[Correction, ...] = ()
    links: tuple[Link, ...] = ()

    @classmethod
    def of(cls, snapshot: DreamState) -> Draft:
        """Nothing decided yet."""
        return cls(snapshot.life, np.zeros(len(snapshot.ids), bool), temper=snapshot.temper)

    @property
    def gone(self) -> dict[int, int | None]:
        """Memories that recall would not find any more, each with the one that speaks for it, if any."""
        gone: dict[int, int | None] = {
            **{id_: self.echoed_by.get(id_) for id_ in self.pruned},
            **{one.gone.memory: one.into.memory for one in self.merges if one.gone.observation is None},
            **{one.gone.memory: one.by for one in self.corrections if one.gone.observation is None},
        }
        return {id_: _last(gone, id_) for id_ in gone}


def _last(gone: Mapping[int, int | None], id_: int) -> int | None:
    """Who lives on at the end: what one was merged into may itself be merged into another."""
    by: int | None = id_
    while by is not None and by in gone:
        by = gone[by]
    return by
