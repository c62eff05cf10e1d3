"""Co-occurrence: what was often seen together with the other candidates belongs here too.

    cooc_boost(e) = sum over the other candidates r of log2(1 + co_count(e, r)) * decay(last_co(e, r))
    decay         = max(floor, exp(-lambda_hourly * hours since they were last seen together))
    factor        = 1 + gamma * cooc_boost

There is no upper bound: the "~1.05" of the MCP Memory v2 pages is an example.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recollect.factors.ages import age
from recollect.factors.candidates import HOUR
from recollect.factors.forgetting import LAMBDA_HOURLY, Forgetting

if TYPE_CHECKING:
    from recollect.factors.candidates import Candidates, Floats, Moment

GAMMA = 0.01
COOC_TEMPORAL_FLOOR = 0.1


@dataclass(frozen=True, slots=True)
class Cooccurrence:
    gamma: float = GAMMA
    lambda_hourly: float = LAMBDA_HOURLY
    floor: float = COOC_TEMPORAL_FLOOR

    part_name: ClassVar = "cooc_boost"

    def part(self, candidates: Candidates, moment: Moment) -> Floats:
        pairs = moment.together
        hours = age(pairs.last, moment.now, HOUR, unknown=0.0)
        shares = np.log2(1.0 + pairs.count) * Forgetting(self.lambda_hourly, self.floor).decay(hours)
        first, second = candidates.rows_of(pairs.first), candidates.rows_of(pairs.second)
        here = (first >= 0) & (second >= 0)
        boosts = np.zeros(len(candidates))
        # Each sum by ascending id of the other, so that the same store gives the same to the last bit:
        # pairs are in that order, and those where one is second hold the lower ids.
        np.add.at(boosts, second[here], shares[here])
        np.add.at(boosts, first[here], shares[here])
        return boosts

    def __call__(self, candidates: Candidates, moment: Moment) -> Floats:
        return self.whole(self.part(candidates, moment))

    def whole(self, part: Floats) -> Floats:
        return 1 + self.gamma * part
