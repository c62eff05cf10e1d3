"""How a profile fares in the log: counts, and measures against the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, get_args

import numpy as np

from recollect.lazy_dataclass import dataclass
from recollect.records import Arm
from recollect.statistics import lift
from recollect.tuning.bias import Bias, bias_in
from recollect.tuning.events import Event
from recollect.tuning.judged import JudgedEvents, dcg_scale, judged_events, mean_ndcg
from recollect.tuning.knobs import knobs_of
from recollect.tuning.replay import Replay

if TYPE_CHECKING:
    from recollect.ranking.candidates import Ints
    from recollect.ranking.pipeline import Profile


@dataclass(frozen=True, slots=True)
class RankingMeasures:
    """How well a ranking put what proved good; over the events with feedback, corrected for position bias."""

    events: int
    ndcg_5: float
    ndcg_10: float
    lift_5: float
    lift_10: float


@dataclass(frozen=True, slots=True)
class Compared:
    """The profile with its present numbers beside what it is compared with, both ranked again alike."""

    ours: RankingMeasures
    baseline: RankingMeasures

    @property
    def gain(self) -> float:
        """NDCG@10 of ours less that of the baseline."""
        return self.ours.ndcg_10 - self.baseline.ndcg_10


@dataclass(frozen=True, slots=True)
class Draws:
    """Always so: answers that showed both rankings in one list are no longer made, nor weighed up."""

    wins: int = 0
    losses: int = 0
    ties: int = 0
    p: float = 1.0


@dataclass(frozen=True, slots=True)
class Analysis:
    profile: str
    against: str
    """What it is compared with."""
    events: int
    treated: int
    with_feedback: int
    """Events in which something was used or judged."""
    by_arm: Mapping[Arm, int]
    bias: Bias
    overall: Compared | None
    """None without feedback."""
    arms: Mapping[Arm, Compared]
    """The same by what was shown; arms without feedback are left out."""
    other_baselines: int
    """Answers that showed another baseline than this one; they count nowhere here."""
    knobs: Mapping[str, float]
    """The profile's present numbers."""
    interleaved: Draws = Draws()
    drafted_before: int = 0


def analyze(events: Sequence[Event], profile: Profile, against: Profile) -> Analysis:
    """Events of other profiles are passed over. `profile` has its present numbers.

    What showed the profile alone is compared with any baseline, since both are ranked again; what another
    baseline had a part in says nothing about this one.
    """
    all_mine = [event for event in events if event.profile == profile.name]
    mine = [event for event in all_mine if event.arm == "ours" or event.against == against.name]
    data = judged_events(mine)
    bias = bias_in(all_mine)
    ours, baseline = _places(data, profile, against)
    arms: dict[Arm, Compared] = {}
    for arm in get_args(Arm):
        part = judged_events(event for event in data.events if event.arm == arm)
        if len(part):
            rows = np.array([event.arm == arm for event in data.events])[data.owner]
            arms[arm] = _compared(part, ours[rows], baseline[rows], bias.eta)
    return Analysis(
        profile.name,
        against.name,
        len(mine),
        sum(event.treated for event in mine),
        len(data),
        {arm: sum(event.arm == arm for event in mine) for arm in get_args(Arm)},
        bias,
        _compared(data, ours, baseline, bias.eta) if len(data) else None,
        arms,
        len(all_mine) - len(mine),
        knobs_of(profile),
    )


def _compared(data: JudgedEvents, ours: Ints, baseline: Ints, eta: float) -> Compared:
    return Compared(_measures(data, ours, eta), _measures(data, baseline, eta))


def _places(data: JudgedEvents, profile: Profile, against: Profile) -> tuple[Ints, Ints]:
    """Where the feedback stands by the one and by the other; 0 beyond what the caller asked for.

    Both are ranked again and cut alike. What was logged is no measure of either: a budget may have cut it,
    and it does not say where something stood that says the same.
    """
    limits = np.array([event.context.limit for event in data.events], np.int64)[data.owner]
    replay = Replay(data, profile)
    ours, baseline = replay.places(profile), replay.places(against)
    return np.where(ours <= limits, ours, 0), np.where(baseline <= limits, baseline, 0)


def _measures(data: JudgedEvents, places: Ints, eta: float) -> RankingMeasures:
    return RankingMeasures(
        len(data),
        mean_ndcg(data, dcg_scale(data, eta, 5), places, 5),
        mean_ndcg(data, dcg_scale(data, eta, 10), places, 10),
        _mean_lift(data, places, eta, 5),
        _mean_lift(data, places, eta, 10),
    )


def _mean_lift(data: JudgedEvents, places: Ints, eta: float, k: int) -> float:
    """Lift@K, each event counting for as much as its relevant memories do; 0 where none is relevant."""
    relevant = data.grade > 0
    among = np.array([len(event.candidates) for event in data.events], np.float64)
    limits = np.array([event.context.limit for event in data.events], np.float64)
    found = np.bincount(data.owner, relevant & (places >= 1) & (places <= k), len(data))
    known = np.bincount(data.owner, relevant, len(data))
    counts = np.bincount(data.owner, np.where(relevant, data.gains(eta), 0.0), len(data))
    lifts = lift(found, np.minimum(np.minimum(k, limits), among), known, among)
    total = counts.sum()
    return float((lifts * counts).sum() / total) if total > 0 else 0.0
