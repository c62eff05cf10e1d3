"""Looking for better numbers: chosen on questions that came up first, judged on those that came up later.

The choice among many sets of numbers flatters the best of them; the test part was not there when it was
made, so it is judged there as one, without a correction for how many were tried. A question is in one part
with all of its answers: whoever has learnt what is wanted for it would be asked for it again.

What is applied is one tenth of the way to the best, so two questions are asked. Is there reason to move at
all: does the best gain more than chance would? And does the step that is taken harm: is its own gain on the
test part not below zero? A step so small rarely shows by itself, in 15 answers least of all; but each run
asks both again, on newer answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from recollect.lazy_dataclass import dataclass
from recollect.tuning.bias import Bias, bias_in
from recollect.tuning.events import Event, normalized_query
from recollect.tuning.judged import (
    Gain,
    JudgedEvents,
    above_worst,
    dcg_scale,
    gain_between,
    judged_events,
    mean_ndcg,
)
from recollect.tuning.knobs import Point, eased, points_for, with_knobs
from recollect.tuning.replay import Replay

if TYPE_CHECKING:
    from recollect.ranking.candidates import Ints
    from recollect.ranking.pipeline import Profile

LEAST_TREATED = 50
LEAST_JUDGED = 20
"""Of the treated events, so many must have feedback: with fewer, no gain can be told from chance."""
LEAST_QUESTIONS = 6
"""In the test part: of the ways to flip the signs of five, one alone is more than 2.5 %."""
TRAIN_SHARE = 0.7
K = 10
_AT_ONCE = 500
"""Events ranked together: enough to make arrays long, few enough to keep in mind what steps do to them."""


@dataclass(frozen=True, slots=True)
class MovedFeedback:
    """A question whose feedback would stand elsewhere."""

    query: str
    event: int
    memory: int
    grade: float
    before: int
    """Place among all candidates with the present numbers, from 1; 0: a step took it out."""
    after: int
    """The same with the new ones."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a search found. Where the verdict is `proposed`, `eased` is what to apply."""

    verdict: Literal["too few", "no gain", "proposed"]
    says: str
    """The verdict in words."""
    profile: str
    treated: int
    train: int = 0
    """Events with feedback that the numbers were chosen on."""
    test: int = 0
    """Those of questions that came up later, on which the choice was judged."""
    points: int = 0
    """Sets of numbers that were tried, the present ones included."""
    bias: Bias = field(default_factory=Bias)
    now: Mapping[str, float] = field(default_factory=dict)
    """The present value of each number that the best would change."""
    best: Mapping[str, float] = field(default_factory=dict)
    """The best on the train part; empty where nothing is better than the present numbers."""
    eased: Mapping[str, float] = field(default_factory=dict)
    """One tenth of the way from `now` to `best`."""
    ndcg_now: float = 0.0
    """NDCG@10 on the test part, corrected for position bias."""
    ndcg_best: float = 0.0
    gain: Gain | None = None
    """Of `best`, on the test part."""
    gain_eased: Gain | None = None
    """Of `eased`, on the test part."""
    gain_at_ends: tuple[float, float] | None = None
    """Of `best`, where the position bias is as weak as it may be, and where it is as strong."""
    better: tuple[MovedFeedback, ...] = ()
    """Feedback of the test part that stands better under `best`; the greatest change first."""
    worse: tuple[MovedFeedback, ...] = ()


def propose_numbers(
    events: Sequence[Event],
    profile: Profile,
    ranges: Mapping[str, Sequence[float]] | None = None,
) -> Proposal:
    """Better numbers for the profile, if its events give reason to change them.

    `profile` has its present numbers. Events of other profiles are passed over. The same events give the same
    proposal.
    """
    points = points_for(profile, ranges)  # first, so that what is wrong is told whatever the log holds
    mine = [event for event in events if event.profile == profile.name]
    treated = sum(event.treated for event in mine)
    data = judged_events(mine)
    with_feedback = sum(event.treated for event in data.events)
    shortage = ""
    if treated < LEAST_TREATED:
        shortage = f"Only {treated} treated events; at least {LEAST_TREATED} are needed."
    elif with_feedback < LEAST_JUDGED:
        shortage = (
            f"Only {with_feedback} of {treated} treated events have feedback; {LEAST_JUDGED} are needed."
        )
    if shortage:
        return Proposal("too few", shortage, profile.name, treated, bias=bias_in(mine))
    older, newer = _by_time(data)
    later = {normalized_query(event.query) for event in newer.events}
    bias = bias_in(event for event in mine if normalized_query(event.query) not in later)
    if len(later) < LEAST_QUESTIONS:
        shortage = (
            f"Only {len(later)} questions are left to judge a choice on, which must be others than those it "
            f"was made on; {LEAST_QUESTIONS} are needed."
        )
        return Proposal("too few", shortage, profile.name, treated, len(older), len(newer), bias=bias)
    present = points[0]
    found = _best_on(older, profile, points, bias.eta)
    best = {name: value for name, value in found.items() if value != present[name]}
    now = {name: present[name] for name in best}
    outcome = Proposal(
        "no gain",
        f"None of {len(points)} sets of numbers is better than the present ones on {len(older)} answers.",
        profile.name,
        treated,
        train=len(older),
        test=len(newer),
        points=len(points),
        bias=bias,
        now=now,
        best=best,
    )
    return _judged(outcome, newer, profile) if best else outcome


def _by_time(data: JudgedEvents) -> tuple[JudgedEvents, JudgedEvents]:
    """Questions in the order in which they first came up, each with all its answers: the older, the newer."""
    asked: dict[str, list[Event]] = {}
    for event in data.events:
        asked.setdefault(normalized_query(event.query), []).append(event)
    cut = round(TRAIN_SHARE * len(data))
    older: list[Event] = []
    newer: list[Event] = []
    for answers in asked.values():
        (older if len(older) < cut else newer).extend(answers)
    return judged_events(older), judged_events(newer)


def _best_on(data: JudgedEvents, profile: Profile, points: Sequence[Point], eta: float) -> Point:
    """The highest NDCG@10; of equals, the nearest to the present numbers."""
    profiles = [with_knobs(profile, point) for point in points]
    sums, total = np.zeros(len(points)), 0.0
    for start in range(0, len(data), _AT_ONCE):
        some = judged_events(data.events[start : start + _AT_ONCE])
        replay, scale = Replay(some, profile), dcg_scale(some, eta, K)
        sums += [above_worst(some, scale, replay.places(each), K).sum() for each in profiles]
        total += scale.span.sum()
    # Rounded, so that equals are equal whatever order their sums were made in.
    worth = np.round(sums / total, 9).tolist()
    far = [_distance(points[0], point) for point in points]
    return points[min(range(len(points)), key=lambda place: (-worth[place], far[place]))]


def _distance(present: Point, point: Point) -> float:
    """How far the numbers are from the present ones, each by its own size."""
    return sum(
        abs(value - present[name]) / max(abs(value), abs(present[name]))
        for name, value in point.items()
        if value != present[name]
    )


def _judged(found: Proposal, data: JudgedEvents, profile: Profile) -> Proposal:
    """The verdict of the test part."""
    replay = Replay(data, profile)
    step = eased(found.now, found.best)
    before = replay.places(profile)
    after = replay.places(with_knobs(profile, found.best))
    after_step = replay.places(with_knobs(profile, step))
    gain = gain_between(data, before, after, K, found.bias.eta)
    gain_eased = gain_between(data, before, after_step, K, found.bias.eta)

    def ndcg(places: Ints, eta: float = found.bias.eta) -> float:
        return mean_ndcg(data, dcg_scale(data, eta, K), places, K)

    low, high = (ndcg(after, eta) - ndcg(before, eta) for eta in (found.bias.low, found.bias.high))
    better, worse = _moved(data, before, after)
    verdict, says = verdict_on(gain, gain_eased, min(low, high), len(data))
    return replace(
        found,
        verdict=verdict,
        says=says,
        eased=step,
        ndcg_now=ndcg(before),
        ndcg_best=ndcg(after),
        gain=gain,
        gain_eased=gain_eased,
        gain_at_ends=(low, high),
        better=better,
        worse=worse,
    )


def verdict_on(
    gain: Gain, gain_eased: Gain, least: float, count: int
) -> tuple[Literal["no gain", "proposed"], str]:
    """In a word, and in words. `least` is the gain at the worse end of what the position bias may be."""
    measured = (
        f"NDCG@10 {gain.mean:+.4f} ({gain.low:+.4f} to {gain.high:+.4f}) "
        f"on {count} answers to later questions"
    )
    if not gain.significant:
        return "no gain", f"What was best on older questions is not surely better on newer ones: {measured}."
    if least <= 0:
        return (
            "no gain",
            f"The gain hangs on how strong the position bias is, which is not known: {measured}.",
        )
    if gain_eased.mean < 0:
        return "no gain", f"The best is better, but the step towards it is worse: {measured}."
    return "proposed", f"Better on answers that had no part in the choice: {measured}."


def _moved(
    data: JudgedEvents, before: Ints, after: Ints
) -> tuple[tuple[MovedFeedback, ...], tuple[MovedFeedback, ...]]:
    """What would stand better, and what worse: for what was called wrong, lower is better."""
    far = np.iinfo(np.int64).max
    ups: list[tuple[float, MovedFeedback]] = []
    for row in np.flatnonzero(before != after).tolist():
        event = data.events[int(data.owner[row])]
        was, is_ = int(before[row]), int(after[row])
        moved = MovedFeedback(event.query, event.id, int(data.memory[row]), float(data.grade[row]), was, is_)
        ups.append((moved.grade * (1 / (is_ or far) - 1 / (was or far)), moved))
    ordered = sorted(ups, key=lambda pair: (-abs(pair[0]), pair[1].event, pair[1].memory))
    better = tuple(moved for change, moved in ordered if change > 0)
    return better, tuple(moved for change, moved in ordered if change < 0)
