"""Forgetting: what was not used for long fades, and is never quite gone.

    temporal_factor = max(floor, exp(-lambda_hourly * hours since last access, else creation))

With 0.0001 an hour, half is left after ln 2 / 0.0001 = 6,931 hours = 289 days, and the floor of 0.1 is
reached after 2.63 years.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recollect.factors.ages import age, last_seen
from recollect.factors.candidates import HOUR

if TYPE_CHECKING:
    from recollect.factors.candidates import Candidates, Floats, Moment

LAMBDA_HOURLY = 0.0001
TEMPORAL_FLOOR = 0.1


@dataclass(frozen=True, slots=True)
class Forgetting:
    lambda_hourly: float = LAMBDA_HOURLY
    floor: float = TEMPORAL_FLOOR

    part_name: ClassVar = "temporal_factor"

    def decay(self, hours: Floats) -> Floats:
        return np.maximum(self.floor, np.exp(-self.lambda_hourly * hours))

    def __call__(self, candidates: Candidates, moment: Moment) -> Floats:
        return self.whole(self.part(candidates, moment))

    def whole(self, part: Floats) -> Floats:
        return part

    def part(self, candidates: Candidates, moment: Moment) -> Floats:
        return self.decay(age(last_seen(candidates.facts), moment.now, HOUR, unknown=0.0))
