"""Depth: what has become general knowledge counts for more than a single episode.

episodic (1) 0.8, intermediate (2) 1.0, semantic (3) 1.2
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recollect.factors.candidates import Candidates, Floats, Moment


@dataclass(frozen=True, slots=True)
class DepthWeight:
    episodic: float = 0.8
    intermediate: float = 1.0
    semantic: float = 1.2

    def __call__(self, candidates: Candidates, moment: Moment) -> Floats:  # noqa: ARG002  # every factor's form
        weights = np.array([self.episodic, self.intermediate, self.semantic])
        weight: Floats = weights[candidates.facts.depth - 1] ** candidates.facts.temper
        return weight
