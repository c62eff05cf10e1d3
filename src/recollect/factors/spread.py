"""Spread: what came up in many sessions counts for more.

ln(1 + spread) / ln 2, which is 1 for the one session that everything starts with
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recollect.factors.candidates import Candidates, Floats, Moment


@dataclass(frozen=True, slots=True)
class Spread:
    def __call__(self, candidates: Candidates, moment: Moment) -> Floats:  # noqa: ARG002  # every factor's form
        spread: Floats = np.log(1.0 + candidates.facts.spread) / np.log(2.0)
        return spread**candidates.facts.temper
