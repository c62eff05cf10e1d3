"""Temporal relevance: how near a memory lies to the time that the query speaks of.

1 inside the span; outside, exp(-distance / tau), where tau is the span's own length, a day at least, and 30
days for a span that is open on one side; 0.5 where nothing is known of the memory's time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recollect.factors.candidates import ALWAYS, DAY, NEVER

if TYPE_CHECKING:
    from recollect.factors.candidates import Candidates, Floats, Moment


@dataclass(frozen=True, slots=True)
class TemporalRelevance:
    unknown: float = 0.5
    shortest_tau_days: float = 1.0
    open_tau_days: float = 30.0

    def __call__(self, candidates: Candidates, moment: Moment) -> Floats:
        if moment.span is None:
            return np.full(len(candidates), self.unknown)
        start, end = moment.span
        facts = candidates.facts
        times = np.where(facts.happened_at != NEVER, facts.happened_at, facts.created_at)
        known = times != NEVER
        at = np.where(known, times, start).astype(np.float64)
        distance = np.maximum(0.0, np.maximum(float(start) - at, at - float(end)))
        is_open = start == NEVER or end == ALWAYS
        length = self.open_tau_days * DAY if is_open else float(end - start)
        tau = max(length, self.shortest_tau_days * DAY)
        return np.where(known, np.exp(-distance / tau), self.unknown)
