"""Multiplying or adding a factor, and saying so on the candidate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.factors.candidates import Mark
from recollect.factors.catalogue import name_of

if TYPE_CHECKING:
    from recollect.factors.candidates import Candidates, Moment
    from recollect.factors.catalogue import Factor


@dataclass(frozen=True, slots=True)
class Times:
    """Multiply the score by a factor, while it is switched on."""

    factor: Factor
    on: bool = True

    def __call__(self, candidates: Candidates, moment: Moment) -> Candidates:
        if not self.on:
            return candidates
        return candidates.marked(Mark(name_of(self.factor), "times", self.factor(candidates, moment)))


@dataclass(frozen=True, slots=True)
class Plus:
    """Add weight * factor to the score, while it is switched on."""

    factor: Factor
    weight: float = 1.0
    on: bool = True

    def __call__(self, candidates: Candidates, moment: Moment) -> Candidates:
        if not self.on:
            return candidates
        values = self.weight * self.factor(candidates, moment)
        return candidates.marked(Mark(name_of(self.factor), "plus", values))
