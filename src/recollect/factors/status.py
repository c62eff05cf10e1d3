"""Status: what the user set aside steps back.

active 1, paused 0.85, completed 0.70, archived 0.50
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recollect.factors.candidates import Candidates, Floats, Moment


@dataclass(frozen=True, slots=True)
class StatusWeight:
    active: float = 1.0
    paused: float = 0.85
    completed: float = 0.70
    archived: float = 0.50

    def __call__(self, candidates: Candidates, moment: Moment) -> Floats:  # noqa: ARG002  # every factor's form
        weights = np.array([self.active, self.paused, self.completed, self.archived])
        return weights[candidates.facts.status]
