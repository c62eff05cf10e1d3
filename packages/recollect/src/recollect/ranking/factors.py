"""Factors: each computes a number per candidate. Profiles use the name in its decorator."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from recollect.ranking.candidates import ALWAYS, DAY, HOUR, NEVER, SECOND, Candidates, register_as

if TYPE_CHECKING:
    from recollect.domain.records import Query
    from recollect.ranking.candidates import Facts, Floats, Ints


class Factor(Protocol):
    """A frozen, callable value that computes a number for each candidate."""

    def __call__(self, candidates: Candidates, query: Query) -> Floats: ...


FACTORS: dict[str, type[Factor]] = {}
"""Factors by name. Stored profiles and answers use the names, so only the classes may be renamed."""

# Factors of content: the writer's importance, and the speaker.


@register_as(FACTORS, "importance", reads=())
class Importance:
    """The importance that the writer gave, from 0 to 1."""

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        return candidates.facts.importance


@register_as(FACTORS, "named", reads=())
class NamedSpeaker:
    """1 for messages of a speaker that the query names, else 0.

    A note or an entity has no speaker; it gets 1 if it names that person.
    """

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        return candidates.facts.named.astype(np.float64)


# Factors of time: age, in three published formulas, and distance from the time that the query names.

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(time: datetime) -> int:
    """Return the exact number of whole microseconds since 1970."""
    return (time - EPOCH) // _MICROSECOND


def age(times: Ints, now: int, unit: int, unknown: float) -> Floats:
    """Return ages in units: 0 for future times, `unknown` for missing times.

    A missing time must have no effect: a reward for new memories passes infinity, a penalty for old ones
    passes 0.
    """
    known = times != NEVER
    ages = (now - np.where(known, times, now)) / unit
    return np.where(known, np.maximum(ages, 0.0), unknown)


def last_seen(facts: Facts) -> Ints:
    """Return the last access, or the creation of a memory that was never accessed."""
    return np.where(facts.last_access == NEVER, facts.created_at, facts.last_access)


# Each tau is an e-folding time (after it, 1/e = 0.37 is left), though two of the sources call it a half-life.
# Ages count from creation, Reverie's from the last update. A memory without a time gets no reward.


@register_as(FACTORS, "fading", reads=())
class MnemosyneRecency:
    """Old memories keep most of their score, new ones all of it (Mnemosyne).

    floor + share * exp(-age_hours / tau_hours), which is 0.7 + 0.3 * exp(-age / 168 h)
    """

    floor: float = 0.7
    share: float = 0.3
    tau_hours: float = 168.0

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        hours = age(candidates.facts.created_at, query.now, HOUR, unknown=np.inf)
        return self.floor + self.share * np.exp(-hours / self.tau_hours)


@register_as(FACTORS, "fresh", reads=())
class ReverieRecency:
    """Recently updated memories gain; old ones lose nothing (Reverie).

    1 + boost * exp(-age_days / tau_days), which is 1 + 0.3 * exp(-age / 30 d)
    """

    boost: float = 0.3
    tau_days: float = 30.0

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        days = age(candidates.facts.updated_at, query.now, DAY, unknown=np.inf)
        return 1.0 + self.boost * np.exp(-days / self.tau_days)


@register_as(FACTORS, "just", reads=())
class CognisRecency:
    """Memories of the last minutes gain (Cognis).

    weight * exp(-age_seconds / tau_seconds), which is 0.25 * exp(-age / 120 s), to be added
    """

    recency_boost_weight: float = 0.25
    recency_half_life_seconds: float = 120.0
    """Named as in Cognis, though it is the time after which 1/e is left."""

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        seconds = age(candidates.facts.created_at, query.now, SECOND, unknown=np.inf)
        return self.recency_boost_weight * np.exp(-seconds / self.recency_half_life_seconds)


@register_as(FACTORS, "temporal", reads=())
class TemporalRelevance:
    """How near a memory's time is to the time that the query names.

    1 inside the span; outside, exp(-distance / tau). tau is the length of the span, at least a day, and
    30 days for a span that is open on one side. 0.5 where the memory's time is unknown.
    """

    unknown: float = 0.5
    shortest_tau_days: float = 1.0
    open_tau_days: float = 30.0

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        spans = [each.span or (NEVER, ALWAYS) for each in query.queries]
        has_span = candidates.by_query([float(each.span is not None) for each in query.queries])
        start = candidates.by_query([float(span[0]) for span in spans])
        end = candidates.by_query([float(span[1]) for span in spans])
        tau = candidates.by_query([self._tau(*span) for span in spans])
        facts = candidates.facts
        times = np.where(facts.happened_at != NEVER, facts.happened_at, facts.created_at)
        known = (times != NEVER) & np.greater(has_span, 0)
        at = np.where(known, times, 0).astype(np.float64)
        distance = np.maximum(0.0, np.maximum(start - at, at - end))
        return np.where(known, np.exp(-distance / tau), self.unknown)

    def _tau(self, start: int, end: int) -> float:
        is_open = start == NEVER or end == ALWAYS
        length = self.open_tau_days * DAY if is_open else float(end - start)
        return max(length, self.shortest_tau_days * DAY)


# Factors based on values that dreams write.


@register_as(FACTORS, "strength", reads=())
class Strength:
    """Synaptic strength: dreams raise it by replay and lower it by downscaling; 1 before the first dream."""

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        return candidates.facts.strength


@register_as(FACTORS, "depth", reads=())
class DepthWeight:
    """General knowledge counts for more than a single episode."""

    episodic: float = 0.8
    intermediate: float = 1.0
    semantic: float = 1.2

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        weights = np.array([self.episodic, self.intermediate, self.semantic])
        weight: Floats = weights[candidates.facts.depth - 1]
        return weight


@register_as(FACTORS, "spread", reads=())
class Spread:
    """Memories that were used in many sessions count for more.

    ln(1 + spread) / ln 2, which is 1 for the single session of a new memory
    """

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        spread: Floats = np.log(1.0 + candidates.facts.spread) / np.log(2.0)
        return spread


@register_as(FACTORS, "stability", reads=("usage",))
class Stability:
    """Memories recalled at growing intervals fade more slowly.

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
        with np.errstate(over="ignore"):  # an overflow is clipped to `high`
            gain = np.clip(stability**self.exponent, self.low, self.high)
        return np.where(stability >= 1.0, 1 + (gain - 1) * retrievable, 1 - (1 - gain) * (1 - retrievable))


# Factors of MCP Memory v2: salience, forgetting, co-occurrence, status and metadata.


class ComposedFactor:
    """A factor computed from a published, named number: factor = whole(part)."""

    __slots__ = ()
    part_name: ClassVar[str]

    def part(self, candidates: Candidates, query: Query) -> Floats:
        raise NotImplementedError

    def whole(self, part: Floats) -> Floats:
        return part

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        return self.whole(self.part(candidates, query))


@register_as(FACTORS, "salience", reads=("usage", "degree"))
class Salience(ComposedFactor):
    """Often used and well connected memories matter more.

        importance = access_norm * (1 + beta_deg * degree_norm) * (1 + alpha_cons * consolidation)
        access_norm   = log2(1 + access_count) / log2(1 + max_access), 0 where nothing was ever accessed
        degree_norm   = min(degree, d_max) / d_max
        consolidation = log2(1 + access_days) / log2(1 + max_access_days)
        factor        = 1 + beta_sal * importance

    Consolidation is neutral (a factor of 1) while no candidate was accessed on more than one day. The factor
    reaches 1 + 0.5 * 1.15 * 1.2 = 1.69, not the 1.5 that the MCP Memory v2 pages state; nothing is clamped.
    """

    beta_sal: float = 0.5
    beta_deg: float = 0.15
    d_max: float = 15
    alpha_cons: float = 0.2

    part_name: ClassVar[str] = "importance"

    def part(self, candidates: Candidates, query: Query) -> Floats:
        facts = candidates.facts
        max_access = candidates.highest(facts.access_count, at_least=0)
        max_access_days = candidates.highest(facts.access_days, at_least=0)
        # If nothing was accessed, the numerators are 0; keep the denominators above 0.
        access_norm = np.log2(1.0 + facts.access_count) / np.log2(1.0 + np.maximum(max_access, 1))
        degree_norm = np.minimum(facts.degree, self.d_max) / self.d_max
        days_norm = np.log2(1.0 + facts.access_days) / np.log2(1.0 + np.maximum(max_access_days, 1))
        consolidation = np.where(np.greater(max_access_days, 1), days_norm, 0.0)
        importance: Floats = (
            access_norm * (1 + self.beta_deg * degree_norm) * (1 + self.alpha_cons * consolidation)
        )
        return importance

    def whole(self, part: Floats) -> Floats:
        return 1 + self.beta_sal * part


@register_as(FACTORS, "forgetting", reads=("usage",))
class Forgetting(ComposedFactor):
    """Unused memories fade, but never below the floor.

        temporal_factor = max(floor, exp(-lambda_hourly * hours since last access, else creation))

    With 0.0001 an hour, half is left after ln 2 / 0.0001 = 6,931 hours = 289 days, and the floor of 0.1 is
    reached after 2.63 years.
    """

    lambda_hourly: float = 0.0001
    floor: float = 0.1

    part_name: ClassVar[str] = "temporal_factor"

    def decay(self, hours: Floats) -> Floats:
        return np.maximum(self.floor, np.exp(-self.lambda_hourly * hours))

    def part(self, candidates: Candidates, query: Query) -> Floats:
        return self.decay(age(last_seen(candidates.facts), query.now, HOUR, unknown=0.0))


@register_as(FACTORS, "cooccurrence", reads=("cooccurrence",))
class Cooccurrence(ComposedFactor):
    """Memories often seen together with other candidates gain.

        cooc_boost(e) = sum over the other candidates r of log2(1 + co_count(e, r)) * decay(last_co(e, r))
        decay         = max(floor, exp(-lambda_hourly * hours since they were last seen together))
        factor        = 1 + gamma * cooc_boost

    There is no upper bound: the "~1.05" of the MCP Memory v2 pages is an example.
    """

    gamma: float = 0.01
    lambda_hourly: float = 0.0001
    floor: float = 0.1

    part_name: ClassVar[str] = "cooc_boost"

    def part(self, candidates: Candidates, query: Query) -> Floats:
        pairs = candidates.cooccurrences
        hours = age(pairs.last, query.now, HOUR, unknown=0.0)
        shares = np.log2(1.0 + pairs.count) * Forgetting(self.lambda_hourly, self.floor).decay(hours)
        first, second = candidates.rows_of(pairs.first), candidates.rows_of(pairs.second)
        here = (first >= 0) & (second >= 0)
        boosts = np.zeros(len(candidates))
        # Add in the order of the other memory's id, so that sums are the same to the bit: pairs are sorted,
        # and the first of a pair has the lower id, so boosts of the second are added first.
        np.add.at(boosts, second[here], shares[here])
        np.add.at(boosts, first[here], shares[here])
        return boosts

    def whole(self, part: Floats) -> Floats:
        return 1 + self.gamma * part


@register_as(FACTORS, "status", reads=())
class StatusWeight:
    """Paused, completed and archived memories count for less."""

    active: float = 1.0
    paused: float = 0.85
    completed: float = 0.70
    archived: float = 0.50

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        weights = np.array([self.active, self.paused, self.completed, self.archived])
        return weights[candidates.facts.status]


@register_as(FACTORS, "metadata", reads=("metadata",))
class MetadataWeight:
    """Entities that are mostly file listings and settings dumps count for less.

    0.7 if more than half of the observations are of the kind `metadata`, otherwise 1
    """

    weight: float = 0.7
    above: float = 0.5

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        return np.where(candidates.facts.metadata_share > self.above, self.weight, 1.0)


def factor_name(factor: Factor) -> str:
    return next(name for name, kind in FACTORS.items() if kind is type(factor))
