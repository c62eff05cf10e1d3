"""Factors of MCP Memory v2: salience, forgetting, co-occurrence, status and metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recollect.lazy_dataclass import dataclass
from recollect.ranking.candidates import HOUR, Candidates, Floats, Ints
from recollect.ranking.factors.recency import age, last_seen

if TYPE_CHECKING:
    from recollect.query import Query

BETA_SAL = 0.5
BETA_DEG = 0.15
D_MAX = 15
ALPHA_CONS = 0.2
LAMBDA_HOURLY = 0.0001
TEMPORAL_FLOOR = 0.1
GAMMA = 0.01
COOC_TEMPORAL_FLOOR = 0.1


class ComposedFactor:
    """A factor made of a number that has a name of its own where it was published: factor = whole(part)."""

    __slots__ = ()
    part_name: ClassVar[str]

    def part(self, candidates: Candidates, query: Query) -> Floats:
        raise NotImplementedError

    def whole(self, part: Floats) -> Floats:
        return part

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        return self.whole(self.part(candidates, query))


@dataclass(frozen=True, slots=True)
class Salience(ComposedFactor):
    """What is often used and well connected matters more.

        importance = access_norm * (1 + beta_deg * degree_norm) * (1 + alpha_cons * consolidation)
        access_norm   = log2(1 + access_count) / log2(1 + max_access), 0 where nothing was ever accessed
        degree_norm   = min(degree, d_max) / d_max
        consolidation = log2(1 + access_days) / log2(1 + max_access_days)
        factor        = 1 + beta_sal * importance

    Consolidation is neutral (a factor of 1) while no candidate was accessed on more than one day. The factor
    reaches 1 + 0.5 * 1.15 * 1.2 = 1.69, not the 1.5 that the MCP Memory v2 pages state; nothing is clamped.
    """

    beta_sal: float = BETA_SAL
    beta_deg: float = BETA_DEG
    d_max: float = D_MAX
    alpha_cons: float = ALPHA_CONS

    part_name: ClassVar = "importance"

    def importance(
        self,
        access_count: Ints,
        max_access: Floats | float,
        degree: Ints,
        access_days: Ints,
        max_access_days: Floats | float,
    ) -> Floats:
        # Where nothing was accessed, each logarithm above is 0; the one below must not be.
        access_norm = np.log2(1.0 + access_count) / np.log2(1.0 + np.maximum(max_access, 1))
        degree_norm = np.minimum(degree, self.d_max) / self.d_max
        days_norm = np.log2(1.0 + access_days) / np.log2(1.0 + np.maximum(max_access_days, 1))
        consolidation = np.where(np.greater(max_access_days, 1), days_norm, 0.0)
        importance: Floats = (
            access_norm * (1 + self.beta_deg * degree_norm) * (1 + self.alpha_cons * consolidation)
        )
        return importance

    def part(self, candidates: Candidates, query: Query) -> Floats:
        facts = candidates.facts
        return self.importance(
            facts.access_count,
            candidates.highest(facts.access_count, at_least=0),
            facts.degree,
            facts.access_days,
            candidates.highest(facts.access_days, at_least=0),
        )

    def whole(self, part: Floats) -> Floats:
        return 1 + self.beta_sal * part


@dataclass(frozen=True, slots=True)
class Forgetting(ComposedFactor):
    """What was not used for long fades, and is never quite gone.

        temporal_factor = max(floor, exp(-lambda_hourly * hours since last access, else creation))

    With 0.0001 an hour, half is left after ln 2 / 0.0001 = 6,931 hours = 289 days, and the floor of 0.1 is
    reached after 2.63 years.
    """

    lambda_hourly: float = LAMBDA_HOURLY
    floor: float = TEMPORAL_FLOOR

    part_name: ClassVar = "temporal_factor"

    def decay(self, hours: Floats) -> Floats:
        return np.maximum(self.floor, np.exp(-self.lambda_hourly * hours))

    def part(self, candidates: Candidates, query: Query) -> Floats:
        return self.decay(age(last_seen(candidates.facts), query.now, HOUR, unknown=0.0))


@dataclass(frozen=True, slots=True)
class Cooccurrence(ComposedFactor):
    """What was often seen together with the other candidates belongs here too.

        cooc_boost(e) = sum over the other candidates r of log2(1 + co_count(e, r)) * decay(last_co(e, r))
        decay         = max(floor, exp(-lambda_hourly * hours since they were last seen together))
        factor        = 1 + gamma * cooc_boost

    There is no upper bound: the "~1.05" of the MCP Memory v2 pages is an example.
    """

    gamma: float = GAMMA
    lambda_hourly: float = LAMBDA_HOURLY
    floor: float = COOC_TEMPORAL_FLOOR

    part_name: ClassVar = "cooc_boost"

    def part(self, candidates: Candidates, query: Query) -> Floats:
        pairs = candidates.cooccurrences
        hours = age(pairs.last, query.now, HOUR, unknown=0.0)
        shares = np.log2(1.0 + pairs.count) * Forgetting(self.lambda_hourly, self.floor).decay(hours)
        first, second = candidates.rows_of(pairs.first), candidates.rows_of(pairs.second)
        here = (first >= 0) & (second >= 0)
        boosts = np.zeros(len(candidates))
        # Each sum by ascending id of the other, so that the same store gives the same to the last bit:
        # pairs are in that order, and those where one is second hold the lower ids.
        np.add.at(boosts, second[here], shares[here])
        np.add.at(boosts, first[here], shares[here])
        return boosts

    def whole(self, part: Floats) -> Floats:
        return 1 + self.gamma * part


@dataclass(frozen=True, slots=True)
class StatusWeight:
    """What the user set aside steps back."""

    active: float = 1.0
    paused: float = 0.85
    completed: float = 0.70
    archived: float = 0.50

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        weights = np.array([self.active, self.paused, self.completed, self.archived])
        return weights[candidates.facts.status]


@dataclass(frozen=True, slots=True)
class MetadataWeight:
    """An entity that is mostly file listings and settings dumps steps back.

    0.7 where more than half of its observations are of the kind `metadata`, else 1
    """

    weight: float = 0.7
    above: float = 0.5

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        return np.where(candidates.facts.metadata_share > self.above, self.weight, 1.0)
