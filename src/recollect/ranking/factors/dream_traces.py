"""Factors of what dreams leave on a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.lazy_dataclass import dataclass
from recollect.ranking.candidates import DAY, Candidates, Floats
from recollect.ranking.factors.recency import age, last_seen

if TYPE_CHECKING:
    from recollect.query import Query
    from recollect.ranking.factors.catalogue import Factor


@dataclass(frozen=True, slots=True)
class Strength:
    """Synaptic strength, raised by replay and lowered by downscaling in dreams; 1 until the first."""

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        return candidates.facts.strength


@dataclass(frozen=True, slots=True)
class DepthWeight:
    """What has become general knowledge counts for more than a single episode."""

    episodic: float = 0.8
    intermediate: float = 1.0
    semantic: float = 1.2

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        weights = np.array([self.episodic, self.intermediate, self.semantic])
        weight: Floats = weights[candidates.facts.depth - 1]
        return weight


@dataclass(frozen=True, slots=True)
class Spread:
    """What came up in many sessions counts for more.

    ln(1 + spread) / ln 2, which is 1 for the one session that everything starts with
    """

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        spread: Floats = np.log(1.0 + candidates.facts.spread) / np.log(2.0)
        return spread


@dataclass(frozen=True, slots=True)
class Stability:
    """What was recalled with growing pauses is forgotten more slowly.

        R = 1 / (1 + days since last access / (9 S))       the share still retrievable, as in FSRS
        g = S ** 0.2, within [0.5, 2]
        factor = 1 + (g - 1) * R          for S >= 1
                 1 - (1 - g) * (1 - R)    for S < 1

    It is 1 at S = 1 for every age, never rises with age, and stays within [0.5, 2].
    """

    exponent: float = 0.2
    low: float = 0.5
    high: float = 2.0
    slowness: float = 9.0

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        stability = candidates.facts.stability
        days = age(last_seen(candidates.facts), query.now, DAY, unknown=0.0)
        retrievable = 1.0 / (1.0 + days / (self.slowness * stability))
        with np.errstate(over="ignore"):  # what is beyond numbers is beyond `high`
            gain = np.clip(stability**self.exponent, self.low, self.high)
        return np.where(stability >= 1.0, 1 + (gain - 1) * retrievable, 1 - (1 - gain) * (1 - retrievable))


@dataclass(frozen=True, slots=True)
class Tempered:
    """Another factor, to the power that the last dream's `balance` found; to the first until then.

    No published profile has it. One of your own that multiplies by what dreams write may: see docs/dreams.md.
    """

    of: Factor = Strength()

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        values: Floats = self.of(candidates, query) ** candidates.facts.temper
        return values
