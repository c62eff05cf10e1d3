"""Search for better parameters: choose them on older questions, and judge them on newer ones.

The best of many sets of values looks too good on the questions that chose it. The newer questions took no
part in the choice, so a test on them needs no correction for the number of sets. All answers to a question
are in the same part, so that the test does not repeat questions of the choice.

A run applies one tenth of the way to the best values, under two conditions on the test part: the best values
gain significantly, and the step itself loses nothing. A step this small rarely gains significantly by itself.
Each run tests both conditions again on newer answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import numpy as np

from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.numbers import lift
from recollect.domain.records import Arm, Query
from recollect.ranking.candidates import (
    ALWAYS,
    NEVER,
    Candidates,
    Contradictions,
    Cooccurrences,
    Facts,
    Source,
)
from recollect.ranking.steps import Cut, Order, best_first
from recollect.tuning.events import Event, normalized_query
from recollect.tuning.judging import (
    Bias,
    Gain,
    JudgedEvents,
    above_worst,
    bias_in,
    dcg_scale,
    gain_between,
    judged_events,
    mean_ndcg,
)
from recollect.tuning.knobs import Point, eased, knobs_of, points_for, with_knobs

if TYPE_CHECKING:
    from recollect.ranking.candidates import Ints, Profile, Step


# Replay: rank many logged answers again, all at once, and find the new places of memories with feedback.

_Pairs = TypeVar("_Pairs", Cooccurrences, Contradictions)
_TIMES = ("created_at", "updated_at", "happened_at", "last_access")
_NOWHERE = np.iinfo(np.int64).max


class Replay:
    """A ranking of these events by any profile. It is fast for profiles that begin with the same steps."""

    def __init__(self, data: JudgedEvents, profile: Profile) -> None:
        self._candidates, self._context = join_events(data.events)
        self._feedback, self._row, self._is_itself = _stand_ins(data)
        self._count = len(data.memory)
        self._steps = _steps(profile)
        self._stages = [self._candidates]
        for step in self._steps:
            self._stages.append(self._after(step, self._stages[-1]))

    def places(self, profile: Profile) -> Ints:
        """Return the new place of each memory with feedback among all candidates, from 1.

        If a step removed the memory, the best place of an equivalent one counts, or else 0.
        """
        steps = _steps(profile)
        pairs = enumerate(zip(steps, self._steps, strict=False))
        shared = next(
            (place for place, (one, other) in pairs if one != other), min(len(steps), len(self._steps))
        )
        ranked = self._stages[shared]
        for step in steps[shared:]:
            ranked = self._after(step, ranked)
        order = best_first(ranked)
        query = ranked.query[order] if ranked.query is not None else np.zeros(len(order), np.int64)
        place_of = np.full(len(self._candidates), _NOWHERE)
        place_of[ranked.ids[order]] = np.arange(1, len(order) + 1) - np.searchsorted(query, query)
        place = place_of[self._row]
        own, other = np.full(self._count, _NOWHERE), np.full(self._count, _NOWHERE)
        own[self._feedback[self._is_itself]] = place[self._is_itself]
        np.minimum.at(other, self._feedback[~self._is_itself], place[~self._is_itself])
        found = np.where(own == _NOWHERE, other, own)
        return np.where(found == _NOWHERE, 0, found)

    def _after(self, step: Step, candidates: Candidates) -> Candidates:
        # Drop the explanations of steps: nothing here reads them, and they are large.
        return replace(step(candidates, self._context), score_changes=(), removals=())


def join_events(events: Sequence[Event]) -> tuple[Candidates, Query]:
    """Join the candidates of all events, with row numbers as ids, and their queries.

    Times are shifted as if all questions had been asked at the same moment. Ages stay the same.
    """
    gathered = [event.candidates for event in events]
    counts = np.array([len(each) for each in gathered], np.int64)
    starts = np.cumsum(counts) - counts
    query = np.repeat(np.arange(len(events)), counts)
    now = max((event.context.now for event in events), default=0)
    later = [now - event.context.now for event in events]
    columns = {
        name: _join_columns([getattr(each.facts, name) for each in gathered]) for name in Facts.__slots__
    }
    shift = np.repeat(np.array(later, np.int64), counts)
    columns |= {name: _shift(columns[name], shift) for name in _TIMES}
    columns["origin"] = _origin_rows(columns["ids"], columns["origin"], query)
    columns["ids"] = np.arange(len(query))
    columns["content"] = _number_by_query(query, columns["content"])
    columns["session"] = np.where(columns["session"] == 0, 0, 1 + _number_by_query(query, columns["session"]))
    names = dict.fromkeys(name for each in gathered for name in each.sources)
    sources = {
        name: Source(
            _join_columns([each.source(name).rank for each in gathered]),
            _join_columns([each.source(name).score for each in gathered]),
        )
        for name in names
    }
    candidates = Candidates(
        Facts(**columns),
        sources,
        _join_columns([each.score for each in gathered]),
        query=query,
        cooccurrences=_join_pairs(
            Cooccurrences, "last", [each.cooccurrences for each in gathered], starts, later
        ),
        contradictions=_join_pairs(
            Contradictions, "since", [each.contradictions for each in gathered], starts, later
        ),
    )
    return candidates, Query(
        text="",
        now=now,
        limit=0,
        parts=tuple(
            replace(event.context, span=_shift_span(event.context.span, by))
            for event, by in zip(events, later, strict=True)
        ),
    )


def _join_pairs(
    kind: type[_Pairs], time: str, pairs: Sequence[_Pairs], starts: Ints, later: Sequence[int]
) -> _Pairs:
    """Join pairs of rows. The first two columns hold row numbers; `time` names the column to shift."""
    names = [each.name for each in fields(kind)]
    counts = [len(getattr(each, names[0])) for each in pairs]
    columns = {name: _join_columns([getattr(each, name) for each in pairs]) for name in names}
    columns |= {name: columns[name] + np.repeat(starts, counts) for name in names[:2]}
    columns[time] = _shift(columns[time], np.repeat(np.array(later, np.int64), counts))
    return kind(**columns)


def _shift(times: Ints, by: Ints) -> Ints:
    return np.where(times == NEVER, NEVER, times + by)


def _shift_span(span: tuple[int, int] | None, by: int) -> tuple[int, int] | None:
    if span is None:
        return None
    start, end = span
    return start if start == NEVER else start + by, end if end == ALWAYS else end + by


def _origin_rows(ids: Ints, origin: Ints, query: Ints) -> Ints:
    """Return, for each note, the row of its source message if the query found it, or else its own row."""
    rows = np.arange(len(ids))
    row_of = {pair: row for row, pair in enumerate(zip(query.tolist(), ids.tolist(), strict=True))}
    for row in np.flatnonzero(origin != ids).tolist():
        rows[row] = row_of.get((int(query[row]), int(origin[row])), row)
    return rows


def _number_by_query(query: Ints, values: Ints) -> Ints:
    """Number the values so that no two queries share a number."""
    order = np.lexsort((values, query))
    is_new = (np.diff(values[order], prepend=0) != 0) | (np.diff(query[order], prepend=-1) != 0)
    numbers = np.empty(len(values), np.int64)
    numbers[order] = np.cumsum(is_new)
    return numbers


def _stand_ins(data: JudgedEvents) -> tuple[Ints, Ints, Any]:
    """Return columns: the feedback, a candidate that counts for it, and whether that is the memory itself.

    Equal texts count for each other, and so do a message and the notes extracted from it.
    """
    starts = np.cumsum([0, *(len(event.candidates) for event in data.events)])
    feedback, rows, itself = [], [], []
    for number, (owner, memory) in enumerate(zip(data.owner.tolist(), data.memory.tolist(), strict=True)):
        facts = data.events[owner].candidates.facts
        (at,) = np.flatnonzero(facts.ids == memory)
        same = (facts.ids == memory) | (facts.content == facts.content[at])
        same |= (facts.ids == facts.origin[at]) | (facts.origin == memory)
        for row in np.flatnonzero(same).tolist():
            feedback.append(number)
            rows.append(int(starts[owner]) + row)
            itself.append(row == at)
    return np.array(feedback, np.int64), np.array(rows, np.int64), np.array(itself, np.bool_)


def _steps(profile: Profile) -> tuple[Step, ...]:
    """Return the steps without the last two, which sort and cut: a replay needs all places."""
    if profile.steps[-2:] != (Order(), Cut()):
        raise ValueError("a profile ends with order and cut")
    return profile.steps[:-2]


def _join_columns(columns: Sequence[Any]) -> Any:
    return np.concatenate(columns) if columns else np.zeros(0, np.int64)


LEAST_TREATED = 50
LEAST_JUDGED = 20
"""Minimum number of events with feedback; with fewer, no gain is significant."""
LEAST_QUESTIONS = 6
"""Minimum number of questions in the test part. Five have only 32 sign flips, and one is more than 2.5 %."""
TRAIN_SHARE = 0.7
K = 10
_BATCH_SIZE = 500
"""Number of events that are ranked at once. It limits the use of RAM."""


@dataclass(frozen=True, slots=True)
class MovedFeedback:
    query: str
    event: int
    memory: int
    grade: float
    before: int
    """Place among all candidates with the present values, from 1; 0 if a step removed it."""
    after: int
    """Place with the new values."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """The result of a search. If the verdict is `proposed`, apply `eased`."""

    verdict: Literal["too few", "no gain", "proposed"]
    says: str
    """The verdict in words."""
    profile: str
    treated: int
    train: int = 0
    """Number of events with feedback on which the values were chosen."""
    test: int = 0
    """Number of events with newer questions, on which the choice was tested."""
    points: int = 0
    """Number of sets of values that were tried, including the present values."""
    bias: Bias = field(default_factory=Bias)
    now: Mapping[str, float] = field(default_factory=dict)
    """Present values of the parameters that `best` would change."""
    best: Mapping[str, float] = field(default_factory=dict)
    """The best values on the training part; empty if the present ones are the best."""
    eased: Mapping[str, float] = field(default_factory=dict)
    """One tenth of the way from `now` to `best`."""
    ndcg_now: float = 0.0
    """NDCG@10 on the test part, corrected for position bias."""
    ndcg_best: float = 0.0
    gain: Gain | None = None
    """Gain of `best` on the test part."""
    gain_eased: Gain | None = None
    """Gain of `eased` on the test part."""
    gain_at_ends: tuple[float, float] | None = None
    """Gain of `best` at the weakest and the strongest plausible position bias."""
    better: tuple[MovedFeedback, ...] = ()
    """Feedback of the test part with a better place under `best`, the largest change first."""
    worse: tuple[MovedFeedback, ...] = ()


def propose_numbers(
    events: Sequence[Event], profile: Profile, ranges: Mapping[str, Sequence[float]] | None = None
) -> Proposal:
    """Propose better values for a profile's parameters if its events show that they are better.

    `profile` has its present values. Events of other profiles are skipped. The same events give the same
    proposal.
    """
    points = points_for(profile, ranges)  # before anything else, to report invalid ranges
    mine = [event for event in events if event.profile == profile.name]
    treated = sum(event.treated for event in mine)
    data = judged_events(mine)
    with_feedback = sum(event.treated for event in data.events)
    shortage = ""
    if treated < LEAST_TREATED:
        shortage = f"{profile.name} ranked {treated} logged answers; a search needs at least {LEAST_TREATED}."
    elif with_feedback < LEAST_JUDGED:
        shortage = (
            f"{with_feedback} of {treated} logged answers have feedback; a search needs {LEAST_JUDGED}."
        )
    if shortage:
        return Proposal("too few", shortage, profile.name, treated, bias=bias_in(mine))
    older, newer = _split_by_time(data)
    later = {normalized_query(event.query) for event in newer.events}
    bias = bias_in(event for event in mine if normalized_query(event.query) not in later)
    if len(later) < LEAST_QUESTIONS:
        shortage = (
            f"Only {len(later)} newer questions are left to test new numbers on; a search needs at least "
            f"{LEAST_QUESTIONS}. Ask more questions, give feedback on the answers, and try again."
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
    return _judge_proposal(outcome, newer, profile) if best else outcome


def _split_by_time(data: JudgedEvents) -> tuple[JudgedEvents, JudgedEvents]:
    """Split events into an older and a newer part by the first time that their question was asked."""
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
    """Return the values with the highest NDCG@10. Of equal ones, return those nearest to the present."""
    profiles = [with_knobs(profile, point) for point in points]
    sums, total = np.zeros(len(points)), 0.0
    for start in range(0, len(data), _BATCH_SIZE):
        some = judged_events(data.events[start : start + _BATCH_SIZE])
        replay, scale = Replay(some, profile), dcg_scale(some, eta, K)
        sums += [above_worst(some, scale, replay.places(each), K).sum() for each in profiles]
        total += scale.span.sum()
    # Rounded, so that the order of summation makes no difference.
    worth = np.round(sums / total, 9).tolist()
    present = points[0]

    def distance(point: Point) -> float:
        """Return the relative distance from the present values."""
        return sum(
            abs(value - present[name]) / max(abs(value), abs(present[name]))
            for name, value in point.items()
            if value != present[name]
        )

    return points[min(range(len(points)), key=lambda place: (-worth[place], distance(points[place])))]


def _judge_proposal(found: Proposal, data: JudgedEvents, profile: Profile) -> Proposal:
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
    better, worse = _moved_feedback(data, before, after)
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
    """Return a verdict and its reason. `least` is the smaller gain at the two ends of the position bias."""
    measured = (
        f"NDCG@10 {gain.mean:+.4f} ({gain.low:+.4f} to {gain.high:+.4f}) "
        f"on {count} answers to later questions"
    )
    if not gain.significant:
        return (
            "no gain",
            f"The best numbers on older questions are not significantly better on newer ones: {measured}.",
        )
    if least <= 0:
        return (
            "no gain",
            f"The gain depends on the strength of the position bias, which is unknown: {measured}.",
        )
    if gain_eased.mean < 0:
        return "no gain", f"The best numbers are better, but the step towards them is worse: {measured}."
    return "proposed", f"Better on answers that took no part in the choice: {measured}."


def _moved_feedback(
    data: JudgedEvents, before: Ints, after: Ints
) -> tuple[tuple[MovedFeedback, ...], tuple[MovedFeedback, ...]]:
    """Return feedback that would move to better, and to worse, places. Wrong memories should move down."""
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


# Analysis: a profile against the baseline on the logged answers.


@dataclass(frozen=True, slots=True)
class RankingMeasures:
    """Quality of a ranking on the events with feedback, corrected for position bias."""

    events: int
    ndcg_5: float
    ndcg_10: float
    lift_5: float
    lift_10: float


@dataclass(frozen=True, slots=True)
class Compared:
    """The quality of a profile with its present values, and of the baseline, on the same candidates."""

    ours: RankingMeasures
    baseline: RankingMeasures
    JSON_PROPERTIES = ("gain",)

    @property
    def gain(self) -> float:
        """NDCG@10 of the profile minus that of the baseline."""
        return self.ours.ndcg_10 - self.baseline.ndcg_10


@dataclass(frozen=True, slots=True)
class Analysis:
    profile: str
    against: str
    """The baseline."""
    events: int
    treated: int
    with_feedback: int
    """Events with feedback."""
    by_arm: Mapping[Arm, int]
    bias: Bias
    overall: Compared | None
    """The comparison over all arms; None without feedback."""
    arms: Mapping[Arm, Compared]
    """Results by arm; arms without feedback are left out."""
    other_baselines: int
    """Number of answers that are not counted because they had another baseline."""
    knobs: Mapping[str, float]
    """The present values of the profile's parameters."""


def analyze(events: Sequence[Event], profile: Profile, against: Profile) -> Analysis:
    """Compare a profile, with its present values, with a baseline. Events of other profiles are skipped.

    Both rank every answer again, so answers by the profile alone serve for any baseline. Answers that include
    hits of another baseline do not count.
    """
    all_mine = [event for event in events if event.profile == profile.name]
    mine = [event for event in all_mine if event.arm == "ours" or event.against == against.name]
    data = judged_events(mine)
    bias = bias_in(all_mine)
    # Rank again with both, and cut at the caller's limit. The logged ranking does not suffice: a budget may
    # have cut it, and it lacks equivalent memories.
    limits = np.array([event.context.limit for event in data.events], np.int64)[data.owner]
    replay = Replay(data, profile)
    ours, baseline = (
        np.where(places <= limits, places, 0) for places in (replay.places(profile), replay.places(against))
    )
    arms: dict[Arm, Compared] = {}
    for arm in get_args(Arm):
        part = judged_events(event for event in data.events if event.arm == arm)
        if len(part):
            rows = np.array([event.arm == arm for event in data.events])[data.owner]
            arms[arm] = _compare(part, ours[rows], baseline[rows], bias.eta)
    return Analysis(
        profile.name,
        against.name,
        len(mine),
        sum(event.treated for event in mine),
        len(data),
        {arm: sum(event.arm == arm for event in mine) for arm in get_args(Arm)},
        bias,
        _compare(data, ours, baseline, bias.eta) if len(data) else None,
        arms,
        len(all_mine) - len(mine),
        knobs_of(profile),
    )


def _compare(data: JudgedEvents, ours: Ints, baseline: Ints, eta: float) -> Compared:
    return Compared(_measures(data, ours, eta), _measures(data, baseline, eta))


def _measures(data: JudgedEvents, places: Ints, eta: float) -> RankingMeasures:
    ndcg = (mean_ndcg(data, dcg_scale(data, eta, k), places, k) for k in (5, 10))
    return RankingMeasures(len(data), *ndcg, *(_mean_lift(data, places, eta, k) for k in (5, 10)))


def _mean_lift(data: JudgedEvents, places: Ints, eta: float, k: int) -> float:
    """Return the mean Lift@K of the events, weighted by their relevant memories; 0 without any."""
    relevant = data.grade > 0
    among = np.array([len(event.candidates) for event in data.events], np.float64)
    limits = np.array([event.context.limit for event in data.events], np.float64)
    found = np.bincount(data.owner, relevant & (places >= 1) & (places <= k), len(data))
    known = np.bincount(data.owner, relevant, len(data))
    counts = np.bincount(data.owner, np.where(relevant, data.gains(eta), 0.0), len(data))
    lifts = lift(found, np.minimum(np.minimum(k, limits), among), known, among)
    total = counts.sum()
    return float((lifts * counts).sum() / total) if total > 0 else 0.0
