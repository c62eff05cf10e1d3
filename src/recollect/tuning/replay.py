"""Ranks logged answers again, many at once, to see where their feedback would stand.

Ranking ten thousand answers one by one with each of many sets of numbers takes minutes, and nearly all of it
is the cost of small arrays. So the candidates of many answers are laid end to end, and a profile's own steps
run on all of them together. What the steps before the first other number make of them is worked out once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.query import Query
from recollect.ranking.candidates import (
    ALWAYS,
    NEVER,
    Candidates,
    Contradictions,
    Cooccurrences,
    Facts,
    Source,
)
from recollect.ranking.steps.finish import Cut, Order, best_first

if TYPE_CHECKING:
    from recollect.ranking.candidates import Ints
    from recollect.ranking.pipeline import Profile, Step
    from recollect.tuning.events import Event
    from recollect.tuning.judged import JudgedEvents

_TIMES = ("created_at", "updated_at", "happened_at", "last_access")
_NOWHERE = np.iinfo(np.int64).max


class Replay:
    """Where the feedback of these events stands, for any profile; quickest for those that begin alike."""

    def __init__(self, data: JudgedEvents, profile: Profile) -> None:
        self._candidates, self._context = join_events(data.events)
        self._feedback, self._row, self._is_itself = _stand_ins(data)
        self._count = len(data.memory)
        self._steps = _steps(profile)
        self._stages = [self._candidates]
        for step in self._steps:
            self._stages.append(self._after(step, self._stages[-1]))

    def places(self, profile: Profile) -> Ints:
        """For each row of feedback, its place among all candidates, from 1; 0 where a step took it out.

        Where another memory stands in for it that says the same, the place of that one.
        """
        ranked = self._ranked(_steps(profile))
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

    def _ranked(self, steps: Sequence[Step]) -> Candidates:
        pairs = enumerate(zip(steps, self._steps, strict=False))
        alike = next(
            (place for place, (one, other) in pairs if one != other), min(len(steps), len(self._steps))
        )
        candidates = self._stages[alike]
        for step in steps[alike:]:
            candidates = self._after(step, candidates)
        return candidates

    def _after(self, step: Step, candidates: Candidates) -> Candidates:
        # What steps did and removed is told to people alone; without it, the rows stay light.
        return replace(step(candidates, self._context), score_changes=(), removals=())


def join_events(events: Sequence[Event]) -> tuple[Candidates, Query]:
    """The candidates of all events as one value, with rows for ids, and what steps ask of the queries.

    Times are shifted so that all were asked at one moment: an age is what it was.
    """
    gathered = [event.candidates for event in events]
    counts = np.array([len(each) for each in gathered], np.int64)
    starts = np.cumsum(counts) - counts
    query = np.repeat(np.arange(len(events)), counts)
    now = max((event.context.now for event in events), default=0)
    later = [now - event.context.now for event in events]
    columns = {name: _joined([getattr(each.facts, name) for each in gathered]) for name in Facts.__slots__}
    shift = np.repeat(np.array(later, np.int64), counts)
    columns |= {name: _shifted(columns[name], shift) for name in _TIMES}
    columns["origin"] = _origin_rows(columns["ids"], columns["origin"], query)
    columns["ids"] = np.arange(len(query))
    columns["content"] = _numbered(query, columns["content"])
    columns["session"] = np.where(columns["session"] == 0, 0, 1 + _numbered(query, columns["session"]))
    names = dict.fromkeys(name for each in gathered for name in each.sources)
    sources = {
        name: Source(
            _joined([each.source(name).rank for each in gathered]),
            _joined([each.source(name).score for each in gathered]),
        )
        for name in names
    }
    candidates = Candidates(
        Facts(**columns),
        sources,
        _joined([each.score for each in gathered]),
        query=query,
        cooccurrences=_joined_pairs([each.cooccurrences for each in gathered], starts, later),
        contradictions=_joined_contradictions([each.contradictions for each in gathered], starts, later),
    )
    return candidates, Query(
        text="",
        now=now,
        limit=0,
        parts=tuple(
            replace(event.context, span=_shifted_span(event.context.span, by))
            for event, by in zip(events, later, strict=True)
        ),
    )


def _joined_pairs(pairs: Sequence[Cooccurrences], starts: Ints, later: Sequence[int]) -> Cooccurrences:
    counts = [len(each.first) for each in pairs]
    start, shift = np.repeat(starts, counts), np.repeat(np.array(later, np.int64), counts)
    return Cooccurrences(
        _joined([each.first for each in pairs]) + start,
        _joined([each.second for each in pairs]) + start,
        _joined([each.count for each in pairs]),
        _shifted(_joined([each.last for each in pairs]), shift),
    )


def _joined_contradictions(
    pairs: Sequence[Contradictions], starts: Ints, later: Sequence[int]
) -> Contradictions:
    counts = [len(each.older) for each in pairs]
    start, shift = np.repeat(starts, counts), np.repeat(np.array(later, np.int64), counts)
    return Contradictions(
        _joined([each.older for each in pairs]) + start,
        _joined([each.newer for each in pairs]) + start,
        _joined([each.since for each in pairs]) + shift,
        _joined([each.asked for each in pairs]).astype(np.bool_),
    )


def _shifted(times: Ints, by: Ints) -> Ints:
    return np.where(times == NEVER, NEVER, times + by)


def _shifted_span(span: tuple[int, int] | None, by: int) -> tuple[int, int] | None:
    if span is None:
        return None
    start, end = span
    return start if start == NEVER else start + by, end if end == ALWAYS else end + by


def _origin_rows(ids: Ints, origin: Ints, query: Ints) -> Ints:
    """The row of the message that a note was drawn from, where it is a candidate of the same query, too."""
    rows = np.arange(len(ids))
    row_of = {pair: row for row, pair in enumerate(zip(query.tolist(), ids.tolist(), strict=True))}
    for row in np.flatnonzero(origin != ids).tolist():
        rows[row] = row_of.get((int(query[row]), int(origin[row])), row)
    return rows


def _numbered(query: Ints, values: Ints) -> Ints:
    """A number for each value of each query: no two queries share one."""
    order = np.lexsort((values, query))
    is_new = (np.diff(values[order], prepend=0) != 0) | (np.diff(query[order], prepend=-1) != 0)
    numbers = np.empty(len(values), np.int64)
    numbers[order] = np.cumsum(is_new)
    return numbers


def _stand_ins(data: JudgedEvents) -> tuple[Ints, Ints, Any]:
    """Rows of what has feedback and of what says the same, each with whose it is, and whether it is itself.

    The same say equal texts, a note's message, and the notes drawn from a message.
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
    """Without sorting and cutting: all places are asked for."""
    if profile.steps[-2:] != (Order(), Cut()):
        raise ValueError("a profile ends with order and cut")
    return profile.steps[:-2]


def _joined(columns: Sequence[Any]) -> Any:
    return np.concatenate(columns) if columns else np.zeros(0, np.int64)
