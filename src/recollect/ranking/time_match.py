"""How well a memory's times match the time that a query asks about."""

from __future__ import annotations

from collections.abc import Iterable
from math import exp
from typing import TypeAlias

from recollect.lazy_dataclass import dataclass
from recollect.ranking.candidates import ALWAYS, DAY, NEVER

Span: TypeAlias = "tuple[int, int]"
"""Microseconds since 1970, half-open; from NEVER or until ALWAYS where it is open."""

UNKNOWN = 0.25
"""Of a memory without any time: below what lies in the asked one, above what surely does not."""
INSIDE = 0.5
"""The least of what lies in the asked time, if only in part; anything outside stays below."""
_OUTSIDE = 0.4
# Memory looks back: where the last and the next may be meant, the next counts somewhat less.
_NEXT = 0.9
_SHORTEST_TAU = 1 * DAY
_OPEN_TAU = 30 * DAY
# Plans of the next months are part of the talk in which they were made; next year's holiday hardly is.
_TOLD_TAU = 180 * DAY


@dataclass(frozen=True, slots=True)
class StatementTimes:
    """The times of one text: of what it speaks, and when it was told."""

    told: int
    """NEVER: nobody knows."""
    happened: int = NEVER
    """As whoever stored it has said."""
    named: tuple[Span, ...] = ()
    """By its own words."""
    next: tuple[Span, ...] = ()
    """Of days and months without a year, which are named as the last that began: the ones to come."""

    @property
    def events(self) -> tuple[Span, ...]:
        """What it speaks of, as far as it is settled."""
        return self.named if self.happened == NEVER else (*self.named, (self.happened, self.happened))


@dataclass(frozen=True, slots=True)
class AskedTime:
    span: Span
    next: Span | None = None
    """Where a month or a weekday comes round again: the one to come."""
    said: bool = False
    """What was said is asked for, so that when it was told counts, whatever it speaks of."""


def time_match(asked: AskedTime, statements: Iterable[StatementTimes]) -> float:
    """0 to 1: the best of what a memory states."""
    return max((_statement_match(asked, each) for each in statements), default=UNKNOWN)


def _statement_match(asked: AskedTime, times: StatementTimes) -> float:
    """What a text speaks of counts; when it was told counts the less, the farther away that is.

    A text about yesterday belongs to today's talk as well; one about 2016 was only told today.
    """
    events = times.events
    told = UNKNOWN if times.told == NEVER else _asked_match(asked, (times.told, times.told))
    if not events:
        return told
    spoken = max(_asked_match(asked, event) for event in events)
    spoken = max([spoken, *(_NEXT * _asked_match(asked, event) for event in times.next)])
    if times.told == NEVER:
        return spoken
    away = min(_distance((times.told, times.told), event) for event in (*events, *times.next))
    return max(spoken, told * (1.0 if asked.said else exp(-away / _TOLD_TAU)))


def _asked_match(asked: AskedTime, named: Span) -> float:
    match = span_match(asked.span, named)
    return match if asked.next is None else max(match, _NEXT * span_match(asked.next, named))


def span_match(asked: Span, named: Span) -> float:
    """1 inside the asked span; from 0.5 up, by the share that lies inside; outside, 0.4 exp(-distance / tau).

    tau is the asked span's length, a day at least, and 30 days where it is open on a side. A wider span never
    matches worse.
    """
    start, stop = asked
    if start <= named[0] and named[1] <= stop and (named[0] < stop or named[0] < named[1]):
        return 1.0
    distance = _distance(asked, named)
    if distance == 0 and max(start, named[0]) < min(stop, max(named[1], named[0] + 1)):
        return INSIDE + (1 - INSIDE) * _share_inside(asked, named)
    is_open = start == NEVER or stop == ALWAYS
    tau = _OPEN_TAU if is_open else max(stop - start, _SHORTEST_TAU)
    return _OUTSIDE * exp(-distance / tau)


def _share_inside(asked: Span, named: Span) -> float:
    """Of the named span; none of one that is open, as its end is nowhere."""
    if named[0] == NEVER or named[1] == ALWAYS:
        return 0.0
    return (min(asked[1], named[1]) - max(asked[0], named[0])) / (named[1] - named[0])


def _distance(one: Span, other: Span) -> int:
    """From the end of the earlier to the start of the later; 0 where they touch."""
    return max(0, one[0] - other[1], other[0] - one[1])
