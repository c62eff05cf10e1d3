"""Metadata: an entity that is mostly file listings and settings dumps steps back.

0.7 where more than half of its observations are of the kind `metadata`, else 1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recollect.factors.candidates import Candidates, Floats, Moment


@dataclass(frozen=True, slots=True)
class MetadataWeight:
    weight: float = 0.7
    above: float = 0.5

    def __call__(self, candidates: Candidates, moment: Moment) -> Floats:  # noqa: ARG002  # every factor's form
        return np.where(candidates.facts.metadata_share > self.above, self.weight, 1.0)
