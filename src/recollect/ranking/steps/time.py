"""Steps of time: what lies in the time that a query names, and what tells a time where it asks for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.lazy_dataclass import dataclass
from recollect.ranking.candidates import known_or_zero
from recollect.ranking.steps.fuse import stretched_cosine

if TYPE_CHECKING:
    from recollect.query import Query
    from recollect.ranking.candidates import Candidates

_MARGIN = 0.1


@dataclass(frozen=True, slots=True)
class TimeScore:
    """Add what a memory's times say to the time that the query asks about.

    weight  times how well they match it
    related times how well they match it times the stretched cosine: of all that lies in a year, what the
            query is about
    tells   for what tells a time, where the question asks when and names no time itself
    stated  times how late before a year that the query names its text says that something began: of many
            texts about one thing, each of its own time, one held then; the fit is 1 / (1 + years / 5)
    """

    weight: float = 0.5
    related: float = 0.0
    tells: float = 0.15
    stated: float = 0.0

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        for name, source, weight in (
            ("time", "time", self.weight),
            ("time and topic", "time", self.related),
            ("when", "when", self.tells),
            ("stated", "stated", self.stated),
        ):
            if source not in candidates.sources:
                continue
            score = candidates.source(source).score
            if np.isfinite(score).any():
                share = weight * stretched_cosine(candidates) if name == "time and topic" else weight
                candidates = candidates.with_change(name, "plus", share * known_or_zero(score))
        return candidates


@dataclass(frozen=True, slots=True)
class TimeFirst:
    """Put what lies in the asked time above all else, where the question asks for whatever happened then.

    Adds the distance from the lowest score to the highest and a tenth, so that the order inside and outside
    stays, and none of these is level with any of those.
    """

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        inside = candidates.source("then").score > 0
        if not inside.any():
            return candidates
        reach = np.subtract(candidates.highest(candidates.score), candidates.lowest(candidates.score))
        return candidates.with_change("then", "plus", np.where(inside, reach + _MARGIN, 0.0))
