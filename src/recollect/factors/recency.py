"""Recency: what is new counts for more, in three published shapes.

    Fading   floor + share * exp(-age_hours / tau_hours)     Mnemosyne: 0.7 + 0.3 * exp(-age/168 h)
    Fresh    1 + boost * exp(-age_days / tau_days)           Reverie: 1 + 0.3 * exp(-age/30 d)
    Just     weight * exp(-age_seconds / tau_seconds)        Cognis: 0.25 * exp(-age/120 s), to be added

Each tau is an e-folding time (after it, 1/e = 0.37 is left), though two of the sources call it a half-life.
Ages are from creation, but Reverie's from the last update. A time in the future is of age 0;
what has no time is not new.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recollect.factors.ages import age
from recollect.factors.candidates import DAY, HOUR, SECOND

if TYPE_CHECKING:
    from recollect.factors.candidates import Candidates, Floats, Moment


@dataclass(frozen=True, slots=True)
class Fading:
    """What is old keeps most of its score; what is new keeps all (Mnemosyne)."""

    floor: float = 0.7
    share: float = 0.3
    tau_hours: float = 168.0

    def __call__(self, candidates: Candidates, moment: Moment) -> Floats:
        hours = age(candidates.facts.created_at, moment.now, HOUR, unknown=np.inf)
        return self.floor + self.share * np.exp(-hours / self.tau_hours)


@dataclass(frozen=True, slots=True)
class Fresh:
    """What was updated lately gains; what is old loses nothing (Reverie)."""

    boost: float = 0.3
    tau_days: float = 30.0

    def __call__(self, candidates: Candidates, moment: Moment) -> Floats:
        days = age(candidates.facts.updated_at, moment.now, DAY, unknown=np.inf)
        return 1.0 + self.boost * np.exp(-days / self.tau_days)


@dataclass(frozen=True, slots=True)
class Just:
    """What was said in the last minutes gains (Cognis)."""

    recency_boost_weight: float = 0.25
    recency_half_life_seconds: float = 120.0
    """Cognis's name for it; the time after which 1/e is left."""

    def __call__(self, candidates: Candidates, moment: Moment) -> Floats:
        seconds = age(candidates.facts.created_at, moment.now, SECOND, unknown=np.inf)
        return self.recency_boost_weight * np.exp(-seconds / self.recency_half_life_seconds)
