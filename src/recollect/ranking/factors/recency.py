"""Factors of time: how long ago, in three published shapes, and how near to the time of the query."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from recollect.lazy_dataclass import dataclass
from recollect.ranking.candidates import ALWAYS, DAY, HOUR, NEVER, SECOND, Candidates, Facts, Floats, Ints

if TYPE_CHECKING:
    from recollect.query import Query

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(time: datetime) -> int:
    """Whole microseconds since 1970, exactly."""
    return (time - EPOCH) // _MICROSECOND


def age(times: Ints, now: int, unit: int, unknown: float) -> Floats:
    """Ages in units, 0 for the future; `unknown` where there is no time.

    Without a time there is no effect of time: what rewards the new passes infinity, what takes from the old
    passes 0.
    """
    known = times != NEVER
    ages = (now - np.where(known, times, now)) / unit
    return np.where(known, np.maximum(ages, 0.0), unknown)


def last_seen(facts: Facts) -> Ints:
    """The last access, or the creation of what was never accessed."""
    return np.where(facts.last_access == NEVER, facts.created_at, facts.last_access)


# Each tau is an e-folding time (after it, 1/e = 0.37 is left), though two of the sources call it a half-life.
# Ages are from creation, but Reverie's from the last update. What has no time is not new.


@dataclass(frozen=True, slots=True)
class MnemosyneRecency:
    """What is old keeps most of its score; what is new keeps all (Mnemosyne).

    floor + share * exp(-age_hours / tau_hours), which is 0.7 + 0.3 * exp(-age / 168 h)
    """

    floor: float = 0.7
    share: float = 0.3
    tau_hours: float = 168.0

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        hours = age(candidates.facts.created_at, query.now, HOUR, unknown=np.inf)
        return self.floor + self.share * np.exp(-hours / self.tau_hours)


@dataclass(frozen=True, slots=True)
class ReverieRecency:
    """What was updated lately gains; what is old loses nothing (Reverie).

    1 + boost * exp(-age_days / tau_days), which is 1 + 0.3 * exp(-age / 30 d)
    """

    boost: float = 0.3
    tau_days: float = 30.0

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        days = age(candidates.facts.updated_at, query.now, DAY, unknown=np.inf)
        return 1.0 + self.boost * np.exp(-days / self.tau_days)


@dataclass(frozen=True, slots=True)
class CognisRecency:
    """What was said in the last minutes gains (Cognis).

    weight * exp(-age_seconds / tau_seconds), which is 0.25 * exp(-age / 120 s), to be added
    """

    recency_boost_weight: float = 0.25
    recency_half_life_seconds: float = 120.0
    """Cognis's name for it; the time after which 1/e is left."""

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        seconds = age(candidates.facts.created_at, query.now, SECOND, unknown=np.inf)
        return self.recency_boost_weight * np.exp(-seconds / self.recency_half_life_seconds)


@dataclass(frozen=True, slots=True)
class TemporalRelevance:
    """How near a memory lies to the time that the query speaks of.

    1 inside the span; outside, exp(-distance / tau), where tau is the span's own length, a day at least, and
    30 days for a span that is open on one side; 0.5 where nothing is known of the memory's time.
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
