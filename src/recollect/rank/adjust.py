"""Multiplying or adding a factor, and saying so on the candidate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.factors.candidates import Mark
from recollect.factors.catalogue import Composed, name_of

if TYPE_CHECKING:
    from recollect.factors.candidates import Candidates, Moment
    from recollect.factors.catalogue import Factor


@dataclass(frozen=True, slots=True)
class Times:
    """Multiply the score by a factor, while it is switched on.

    The number that a published factor is made of is kept under its own name, such as `importance`.
    """

    factor: Factor
    on: bool = True

    def __call__(self, candidates: Candidates, moment: Moment) -> Candidates:
        if not self.on:
            return candidates
        if isinstance(self.factor, Composed):
            part = self.factor.part(candidates, moment)
            candidates, values = candidates.named(self.factor.part_name, part), self.factor.whole(part)
        else:
            values = self.factor(candidates, moment)
        return candidates.marked(Mark(name_of(self.factor), "times", values))


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
