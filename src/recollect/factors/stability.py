"""Stability: what was recalled with growing pauses is forgotten more slowly.

    R = 1 / (1 + days since last access / (9 S))       the share still retrievable, as in FSRS
    g = S ** 0.2, within [0.5, 2]
    factor = 1 + (g - 1) * R          for S >= 1
             1 - (1 - g) * (1 - R)    for S < 1

It is 1 at S = 1 for every age, never rises with age, and stays within [0.5, 2].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recollect.factors.ages import age, last_seen
from recollect.factors.candidates import DAY

if TYPE_CHECKING:
    from recollect.factors.candidates import Candidates, Floats, Moment


@dataclass(frozen=True, slots=True)
class Stability:
    exponent: float = 0.2
    low: float = 0.5
    high: float = 2.0
    slowness: float = 9.0

    def __call__(self, candidates: Candidates, moment: Moment) -> Floats:
        stability = candidates.facts.stability
        days = age(last_seen(candidates.facts), moment.now, DAY, unknown=0.0)
        retrievable = 1.0 / (1.0 + days / (self.slowness * stability))
        with np.errstate(over="ignore"):  # what is beyond numbers is beyond `high`
            gain = np.clip(stability**self.exponent, self.low, self.high)
        kept = np.where(stability >= 1.0, 1 + (gain - 1) * retrievable, 1 - (1 - gain) * (1 - retrievable))
        return kept**candidates.facts.temper
