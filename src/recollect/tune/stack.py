"""The candidates of many answers, end to end: their scores by the steps that can run on all at once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.factors.candidates import Cooccurrences, QueryContext
from recollect.rank.adjust import Keep, Plus, Rescale, TemporalBlend, Times
from recollect.rank.conversation import LinkScore, NeighbourScore, ReplyScore, neighbours_share
from recollect.rank.finish import DropEcho, DropRepeats
from recollect.rank.fuse import Blend, Linear, MatchedShare, Rrf, WeightedRrf
from recollect.rank.route import Route, strategy_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from recollect.factors.candidates import Candidates, Effect, Flags, Floats, Ints, ScoreChange
    from recollect.rank.pipeline import Step
    from recollect.tune.judged import Judged

    Answer = tuple[Candidates, QueryContext]

ALONE = (Times, Plus, Rrf, WeightedRrf, Linear, Blend, TemporalBlend, ReplyScore, LinkScore, MatchedShare)
"""What these do to a score is known without any score."""
TOGETHER = (Keep, Rescale, Route, NeighbourScore)
DROPS = (DropEcho, DropRepeats)
_NONE = np.zeros(0, np.int64)
_NO_MOMENT = QueryContext(0, "", 0, False, Cooccurrences(_NONE, _NONE, _NONE, _NONE))
"""For a step that does not look at it."""
_NEUTRAL = {"plus": 0.0, "times": 1.0, "mix": 0.0}


@dataclass(frozen=True, slots=True)
class Layer:
    """One mark of a step, on the rows of all answers."""

    effect: Effect
    values: Floats
    share: Floats
    """By row, the weight of a mix."""

    def applied(self, score: Floats) -> Floats:
        """As `candidates.applied`, to the last bit."""
        match self.effect:
            case "plus":
                return score + self.values
            case "times":
                return score * self.values
            case _:
                return self.share * self.values + (1 - self.share) * score


@dataclass(frozen=True, slots=True)
class Targets:
    """Rows whose places are asked for, each with all rows of its answer."""

    item: Ints
    """Which row of feedback a target stands for."""
    row: Ints
    itself: Flags
    """It is the memory that has the feedback, not one that says the same."""
    rivals: Ints
    """The rows of each target's answer, end to end."""
    lower: Flags
    """Rivals with a lower id than the target: they win a tie."""
    starts: Ints
    counts: Ints


@dataclass(frozen=True, slots=True)
class Stack:
    answers: tuple[Answer, ...]
    """All, those without candidates too."""
    full: tuple[Answer, ...]
    """Those with candidates, whose rows these are."""
    starts: Ints
    counts: Ints
    score: Floats
    base: Floats | None
    echo: Flags
    targets: Targets
    items: int
    """Rows of feedback."""
    layers: dict[Step, tuple[Layer, ...]] = field(default_factory=dict)
    """What steps were found to do; a step is asked once."""
    routes: dict[Route, Floats] = field(default_factory=dict)
    around: list[tuple[Flags, Floats]] = field(default_factory=list)
    """Once it was asked for: what stands nearby, and in the conversation, and where anything does at all."""
    repeats: list[tuple[tuple[Ints, Candidates], ...]] = field(default_factory=list)
    """Once it was asked for: for each answer that holds repeats, those rows and their candidates."""

    @classmethod
    def of(cls, data: Judged, answers: tuple[Answer, ...], like: Stack | None = None) -> Stack:
        """`like` is a stack of the same answers: where all rows are the same, what it knows holds here."""
        full = tuple(answer for answer in answers if len(answer[0]))
        if like is not None and all(
            one.facts is other.facts and one.sources is other.sources
            for (one, _), (other, _) in zip(answers, like.answers, strict=True)
        ):
            return replace(like, answers=answers, full=full, score=_score(full), base=_base(full))
        all_counts = np.array([len(candidates) for candidates, _ in answers], np.int64)
        all_starts = np.cumsum(all_counts) - all_counts
        starts = all_starts[all_counts > 0]
        return cls(
            answers,
            full,
            starts,
            all_counts[all_counts > 0],
            _score(full),
            _base(full),
            _joined([candidates.facts.echo for candidates, _ in full], np.bool_),
            _targets(data, [candidates for candidates, _ in answers], all_starts.tolist()),
            len(data.memory),
        )

    def scores(self, steps: Sequence[Step]) -> Floats:
        """After these steps, all of them `ALONE` or `TOGETHER`."""
        score, base = self.score, self.base
        for step in steps:
            match step:
                case Keep():
                    base = score if step.name == "base" else base
                case Rescale() | Route():
                    if step.on and len(score):
                        score = self._rescaled(score)
                    if isinstance(step, Route) and step.on and base is not None:
                        weight = self._weights(step)
                        score = weight * base + (1 - weight) * score
                case NeighbourScore():
                    score = self._with_surroundings(step, score)
                case _:
                    for layer in self._layers(step):
                        score = layer.applied(score)
        return score

    def places(self, score: Floats, drops: Sequence[Step]) -> Ints:
        """By row of feedback, the place from 1; 0 where it is gone and nothing stands in for it."""
        alive = np.ones(len(score), np.bool_)
        for step in drops:
            if isinstance(step, DropEcho):
                alive &= ~self.echo
            else:
                self._drop_repeats(score, alive)
        targets = self.targets
        nowhere = np.iinfo(np.int64).max
        found = np.full(self.items, nowhere)
        if len(targets.row):
            theirs, own = score[targets.rivals], np.repeat(score[targets.row], targets.counts)
            ahead = alive[targets.rivals] & ((theirs > own) | ((theirs == own) & targets.lower))
            place = 1 + np.add.reduceat(ahead, targets.starts, dtype=np.int64)
            place[~alive[targets.row]] = nowhere
            found[targets.item[targets.itself]] = place[targets.itself]
            other = ~targets.itself & (found[targets.item] == nowhere)
            np.minimum.at(found, targets.item[other], place[other])
        return np.where(found == nowhere, 0, found)

    def _rescaled(self, score: Floats) -> Floats:
        low = np.repeat(np.minimum.reduceat(score, self.starts), self.counts)
        high = np.repeat(np.maximum.reduceat(score, self.starts), self.counts)
        same = low == high
        return np.where(same, 1.0, (score - low) / np.where(same, 1.0, high - low))

    def _with_surroundings(self, step: NeighbourScore, own: Floats) -> Floats:
        if not self.around:
            self.around.extend(self._told(name) for name in ("nearby", "conversation"))
        spoken = _joined([candidates.facts.session != 0 for candidates, _ in self.full], np.bool_)
        score = own
        for (told, share), weight in zip(self.around, (step.nearby, step.conversation), strict=True):
            score = np.where(told, score + weight * np.where(spoken, share, own), score)
        return score

    def _told(self, name: str) -> tuple[Flags, Floats]:
        each = [neighbours_share(candidates, name) for candidates, _ in self.full]
        told = np.repeat(np.array([share is not None for share in each], np.bool_), self.counts)
        lengths = zip(each, self.counts.tolist(), strict=True)
        return told, _joined(
            [np.zeros(count) if share is None else share for share, count in lengths], np.float64
        )

    def _weights(self, step: Route) -> Floats:
        """By row, how much similarity says: by the kind of question of each answer."""
        if step not in self.routes:
            asked = ((moment.query, moment.limit if moment.limit_given else None) for _, moment in self.full)
            shares = [float(getattr(step, strategy_for(query, limit))) for query, limit in asked]
            self.routes[step] = np.repeat(np.array(shares, np.float64), self.counts)
        return self.routes[step]

    def _layers(self, step: Step) -> tuple[Layer, ...]:
        if step not in self.layers:
            self.layers[step] = tuple(self._asked(step))
        return self.layers[step]

    def _asked(self, step: Step) -> Iterator[Layer]:
        """What a step does to the score of every answer."""
        if isinstance(step, Times | Plus):
            # What the step would mark, without what it keeps for people: half the time of the whole search.
            if step.on and self.full:
                factors = _joined([step.factor(*answer) for answer in self.full], np.float64)
                effect: Effect = "times" if isinstance(step, Times) else "plus"
                yield Layer(effect, step.weight * factors if isinstance(step, Plus) else factors, factors)
            return
        marks = [step(candidates, moment).score_changes for candidates, moment in self.full]
        for place in range(max(map(len, marks), default=0)):
            yield self._layer([each[place] if place < len(each) else None for each in marks])

    def _layer(self, marks: Sequence[ScoreChange | None]) -> Layer:
        """One mark of each answer; a step may leave an answer as it is, and then nothing is added."""
        effect = next(mark.effect for mark in marks if mark is not None)
        values = np.full(len(self.score), _NEUTRAL[effect])
        share = np.zeros(len(self.score)) if effect == "mix" else values
        for mark, start, count in zip(marks, self.starts.tolist(), self.counts.tolist(), strict=True):
            if mark is not None:
                values[start : start + count] = mark.values
                if effect == "mix":
                    share[start : start + count] = mark.numbers[0]
        return Layer(effect, values, share)

    def _drop_repeats(self, score: Floats, alive: Flags) -> None:
        """Only among what repeats or is repeated: the rest stays whatever its score."""
        if not self.repeats:
            answers = [candidates for candidates, _ in self.full]
            self.repeats.append(tuple(_repeats(answers, self.starts.tolist())))
        for rows, candidates in self.repeats[0]:
            here = alive[rows]
            some = replace(candidates, score=score[rows])
            left = DropRepeats()(some if here.all() else some.at(here), _NO_MOMENT)
            alive[rows] = np.isin(candidates.ids, left.ids)


def _score(answers: Sequence[Answer]) -> Floats:
    return _joined([candidates.score for candidates, _ in answers], np.float64)


def _base(answers: Sequence[Answer]) -> Floats | None:
    bases = [
        candidates.named_values["base"] for candidates, _ in answers if "base" in candidates.named_values
    ]
    return _joined(bases, np.float64) if len(bases) == len(answers) else None


def _repeats(answers: Sequence[Candidates], starts: Sequence[int]) -> Iterator[tuple[Ints, Candidates]]:
    for candidates, start in zip(answers, starts, strict=True):
        ids, content, origin = candidates.ids, candidates.facts.content, candidates.facts.origin
        _, back, often = np.unique(content, return_inverse=True, return_counts=True)
        drawn = (origin != ids) & np.isin(origin, ids)
        rows = np.flatnonzero((often[back] > 1) | drawn | np.isin(ids, origin[drawn]))
        if len(rows):
            yield start + rows, candidates.at(rows)


def _targets(data: Judged, answers: Sequence[Candidates], starts: Sequence[int]) -> Targets:
    item, row, itself, rivals, lower = [], [], [], [], []
    for each, (owner, memory) in enumerate(zip(data.owner.tolist(), data.memory.tolist(), strict=True)):
        candidates, start = answers[owner], starts[owner]
        ids, span = candidates.ids, np.arange(start, start + len(candidates))
        for place in _stand_ins(data.events[owner].candidates, candidates, memory):
            item.append(each)
            row.append(start + place)
            itself.append(bool(ids[place] == memory))
            rivals.append(span)
            lower.append(ids < ids[place])
    counts = np.array([len(span) for span in rivals], np.int64)
    return Targets(
        np.array(item, np.int64),
        np.array(row, np.int64),
        np.array(itself, np.bool_),
        _joined(rivals, np.int64),
        _joined(lower, np.bool_),
        np.cumsum(counts) - counts,
        counts,
    )


def _stand_ins(gathered: Candidates, candidates: Candidates, memory: int) -> list[int]:
    """Rows of the memory itself and of those that say the same: equal texts, its message, notes from it."""
    before, after = gathered.facts, candidates.facts
    (was,) = np.flatnonzero(before.ids == memory)
    same = (after.ids == memory) | (after.content == before.content[was])
    same |= (after.ids == before.origin[was]) | (after.origin == memory)
    return [int(place) for place in np.flatnonzero(same)]


def _joined(parts: Sequence[NDArray[Any]], kind: type[Any]) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, kind)
