"""Moments: what a phrase means, before one knows when it was said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from recollect.text.when import spans
from recollect.text.when.spans import DAY, WEEK, Closed, Span

At = Callable[[datetime], Span]
Exact = Callable[[datetime], Closed]
InYear = Callable[[datetime, int], Closed]

SURE, PLAIN, BARE, AMBIGUOUS, VAGUE = 1.0, 0.9, 0.7, 0.6, 0.5


@dataclass(frozen=True, slots=True)
class Moment:
    """A stretch of time relative to a reference.

    `in_year` is there where a year may be added (March, Christmas); `period` where the phrase comes round
    again and does not say which is meant (March, Tuesday).
    """

    at: At
    confidence: float
    in_year: InYear | None = None
    period: timedelta | None = None


def exact(at: Exact, confidence: float) -> Moment:
    return Moment(lambda reference: Span(*at(reference)), confidence)


def closed(moment: Moment, reference: datetime) -> Closed:
    start, stop = moment.at(reference)
    if start is None or stop is None:
        raise ValueError("an open span has no such end")
    return Closed(start, stop)


# Days and calendar units


def day(offset: int) -> Moment:
    return exact(lambda reference: spans.unit(reference, "day", offset), PLAIN)


def calendar(name: str, offset: int, confidence: float = PLAIN) -> Moment:
    return exact(lambda reference: spans.unit(reference, name, offset), confidence)


def the_weekend() -> Moment:
    def at(reference: datetime) -> Closed:
        this = spans.unit(reference, "weekend")
        return this if this.start <= reference else spans.unit(reference, "weekend", -1)

    return Moment(lambda reference: Span(*at(reference)), BARE, period=WEEK)


def ago(name: str, count: int, confidence: float = PLAIN) -> Moment:
    return exact(lambda reference: spans.ago(reference, name, count), confidence)


def few_ago(name: str, direction: int = 1) -> Moment:
    """Two to five units back, or ahead."""

    def at(reference: datetime) -> Closed:
        far, near = (spans.ago(reference, name, direction * count) for count in (5, 2))
        return Closed(min(far.start, near.start), max(far.stop, near.stop))

    return exact(at, VAGUE)


def rolling(name: str, count: int, confidence: float = PLAIN) -> Moment:
    """From so many units before the reference to the reference; a negative count looks ahead."""

    def at(reference: datetime) -> Closed:
        other = spans.moved(reference, name, -count)
        return Closed(other, reference) if count > 0 else Closed(reference, other)

    return exact(at, confidence)


def so_far(name: str) -> Moment:
    return exact(lambda reference: Closed(spans.unit(reference, name).start, reference), PLAIN)


def from_now(name: str) -> Moment:
    return exact(lambda reference: Closed(reference, spans.unit(reference, name).stop), PLAIN)


def days_back(far: int, near: int) -> Moment:
    """The calendar days from the farther to the nearer, both included."""
    return exact(lambda reference: spans.days(reference, reference.date() - far * DAY, far - near + 1), VAGUE)


# Weekdays


def weekday(number: int, side: int | None = None) -> Moment:
    """-1 the last before the reference's day, 1 the first after, 0 this week's, None the last that began."""

    def at(reference: datetime) -> Closed:
        today = reference.date()
        back = (today.weekday() - number) % 7
        match side:
            case None:
                there = today - back * DAY
            case -1:
                there = today - (back or 7) * DAY
            case 0:
                there = spans.monday(today) + number * DAY
            case _:
                there = today + (7 - back) * DAY
        return spans.days(reference, there)

    bare = side is None
    return replace(exact(at, BARE if bare else PLAIN), period=WEEK if bare else None)


def weekday_in(bare: Moment, week: Moment) -> Moment:
    """The one that had last begun by that week's Sunday."""

    def at(reference: datetime) -> Closed:
        return closed(bare, closed(week, reference).start + 6 * DAY)

    return exact(at, week.confidence)


def week_of(moment: Moment) -> Moment:
    def at(reference: datetime) -> Closed:
        return spans.days(reference, spans.monday(closed(moment, reference).start.date()), 7)

    return exact(at, moment.confidence)


# Within a day


def part(moment: Moment, first: int, past: int) -> Moment:
    def at(reference: datetime) -> Closed:
        return spans.hours(reference, closed(moment, reference).start.date(), first, past)

    return replace(exact(at, moment.confidence), period=moment.period)


def at_clock(moment: Moment, hour: int, minute: int | None) -> Moment:
    def at(reference: datetime) -> Closed:
        return spans.clock(reference, closed(moment, reference).start.date(), hour, minute)

    return exact(at, moment.confidence)


def clock_range(moment: Moment, first: tuple[int, int | None], past: tuple[int, int | None]) -> Moment:
    """From nine to five of a day."""

    def at(reference: datetime) -> Closed:
        day_there = closed(moment, reference).start.date()
        ends = [spans.clock(reference, day_there, hour, minute).start for hour, minute in (first, past)]
        return Closed(*ends)

    return exact(at, moment.confidence)


def stamp(when: datetime, length: timedelta) -> Moment:
    """A written time; without an offset of its own, on the reference's clocks."""

    def at(reference: datetime) -> Closed:
        start = (
            when.replace(tzinfo=reference.tzinfo)
            if when.tzinfo is None
            else when.astimezone(UTC).astimezone(reference.tzinfo)
        )
        return Closed(start, spans.later(start, length))

    return exact(at, SURE)
