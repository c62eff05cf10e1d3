"""Salience: what is often used and well connected matters more.

    importance = access_norm * (1 + beta_deg * degree_norm) * (1 + alpha_cons * consolidation)
    access_norm   = log2(1 + access_count) / log2(1 + max_access), 0 where nothing was ever accessed
    degree_norm   = min(degree, d_max) / d_max
    consolidation = log2(1 + access_days) / log2(1 + max_access_days)
    factor        = 1 + beta_sal * importance

Consolidation is neutral (a factor of 1) while no candidate was accessed on more than one day. The factor
reaches 1 + 0.5 * 1.15 * 1.2 = 1.69, not the 1.5 that the MCP Memory v2 pages state; nothing is clamped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from recollect.factors.candidates import Candidates, Floats, Ints, Moment

BETA_SAL = 0.5
BETA_DEG = 0.15
D_MAX = 15
ALPHA_CONS = 0.2


@dataclass(frozen=True, slots=True)
class Salience:
    beta_sal: float = BETA_SAL
    beta_deg: float = BETA_DEG
    d_max: float = D_MAX
    alpha_cons: float = ALPHA_CONS

    part_name: ClassVar = "importance"

    def importance(
        self, access_count: Ints, max_access: int, degree: Ints, access_days: Ints, max_access_days: int
    ) -> Floats:
        if max_access <= 0:
            return np.zeros(len(access_count))
        access_norm = np.log2(1.0 + access_count) / np.log2(1.0 + max_access)
        degree_norm = np.minimum(degree, self.d_max) / self.d_max
        if max_access_days > 1:
            consolidation = np.log2(1.0 + access_days) / np.log2(1.0 + max_access_days)
        else:
            consolidation = np.zeros(len(access_count))
        importance: Floats = (
            access_norm * (1 + self.beta_deg * degree_norm) * (1 + self.alpha_cons * consolidation)
        )
        return importance

    def __call__(self, candidates: Candidates, moment: Moment) -> Floats:
        return self.whole(self.part(candidates, moment))

    def whole(self, part: Floats) -> Floats:
        return 1 + self.beta_sal * part

    def part(self, candidates: Candidates, moment: Moment) -> Floats:  # noqa: ARG002  # every factor's form
        facts = candidates.facts
        return self.importance(
            facts.access_count,
            int(facts.access_count.max(initial=0)),
            facts.degree,
            facts.access_days,
            int(facts.access_days.max(initial=0)),
        )
