"""Moments: what a phrase means, before one knows when it was said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

from recollect.text.when import spans
from recollect.text.when.spans import DAY, WEEK, Closed, Span

At = Callable[[datetime], Span]
Exact = Callable[[datetime], Closed]
InYear = Callable[[datetime, int], Closed]

SURE, PLAIN, BARE, AMBIGUOUS, VAGUE = 1.0, 0.9, 0.7, 0.6, 0.5
_YEAR = timedelta(days=366)
# The 29th of February may be eight years away.
_FARTHEST = 9


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


# What comes round every year


def yearly(in_year: InYear, side: int | None = None) -> Moment:
    """-1 the last complete one, 1 the first to begin, 0 the one under way or this year's, None the last begun."""

    def at(reference: datetime) -> Span:
        year = reference.year
        years = range(year - 1, year + _FARTHEST) if side == 1 else range(year + 1, year - _FARTHEST, -1)
        for each in years:
            span = _in(in_year, reference, each)
            if span is None:
                continue
            fits = {
                None: span.start <= reference,
                -1: span.stop <= reference,
                0: span.start <= reference < span.stop,
                1: span.start > reference,
            }
            if fits[side]:
                return Span(*span)
        return Span(*in_year(reference, year))

    if side is None:
        return Moment(at, BARE, in_year, _YEAR)
    return Moment(at, PLAIN)


def in_that_year(moment: Moment, year: int | Moment) -> Moment | None:
    """March, of 2024 or of last year."""
    in_year = moment.in_year
    if in_year is None:
        return None
    if isinstance(year, int):
        return exact(lambda reference: in_year(reference, year), SURE)
    return exact(lambda reference: in_year(reference, closed(year, reference).start.year), year.confidence)


def month(number: int, count: int = 1) -> InYear:
    return lambda reference, year: spans.months(reference, year, number, count)


def date_of(number: int, first: int, last: int | None = None) -> InYear:
    """Days of a month, the last included."""

    def in_year(reference: datetime, year: int) -> Closed:
        start, end = date(year, number, first), date(year, number, last or first)
        return spans.days(reference, start, (end - start).days + 1)

    return in_year


def around(day_of: Callable[[int], date], first: int = 0, count: int = 1) -> InYear:
    """Days counted from a feast that moves."""
    return lambda reference, year: spans.days(reference, day_of(year) + first * DAY, count)


def year_span(year: int, confidence: float = SURE, count: int = 1) -> Moment:
    return exact(lambda reference: spans.months(reference, year, 1, 12 * count), confidence)


def third(moment: Moment, which: int) -> Moment:
    """Days 1 to 10, 11 to 20 and 21 to the end of a month; of anything longer, a third of its months."""

    def of(span: Closed, reference: datetime) -> Closed:
        start, stop = span
        length = (stop.year - start.year) * 12 + stop.month - start.month
        if length == 1:
            firsts = [start.replace(day=day) for day in (1, 11, 21)]
        elif length % 3 == 0:
            step = length // 3
            firsts = [
                spans.months(reference, start.year, start.month + step * index).start for index in range(3)
            ]
        else:
            raise ValueError("only months, seasons and years have an early, a middle and a late part")
        return Closed(*[*firsts, stop][which : which + 2])

    in_year = moment.in_year
    if in_year is not None:
        return yearly(lambda reference, year: of(in_year(reference, year), reference))
    return exact(lambda reference: of(closed(moment, reference), reference), moment.confidence)


def piece(moment: Moment, first_day: int, count: int) -> Moment:
    """So many days of it; from its end where the first is negative."""

    def of(span: Closed, reference: datetime) -> Closed:
        origin = span.start if first_day >= 0 else span.stop
        return spans.days(reference, origin.date() + first_day * DAY, count)

    in_year = moment.in_year
    if in_year is not None:
        return yearly(lambda reference, year: of(in_year(reference, year), reference))
    return exact(lambda reference: of(closed(moment, reference), reference), moment.confidence)


def day_in(number: int, month_span: Moment) -> Moment:
    """The 5th of last month."""

    def at(reference: datetime) -> Closed:
        return spans.days(reference, closed(month_span, reference).start.date().replace(day=number))

    return exact(at, month_span.confidence)


def day_of_month(number: int) -> Moment:
    """The 5th: the last that began."""

    def at(reference: datetime) -> Closed:
        first = reference.date().replace(day=1)
        for _ in range(3):
            there = _day(first, number)
            if there is not None and there <= reference.date():
                return spans.days(reference, there)
            first = (first - DAY).replace(day=1)
        raise ValueError("no month has such a day")

    return exact(at, BARE)


# Within a day


def part(moment: Moment, first: int, past: int) -> Moment:
    def at(reference: datetime) -> Closed:
        return spans.hours(reference, closed(moment, reference).start.date(), first, past)

    return replace(exact(at, moment.confidence), period=moment.period)


def at_clock(moment: Moment, hour: int, minute: int | None) -> Moment:
    def at(reference: datetime) -> Closed:
        return spans.clock(reference, closed(moment, reference).start.date(), hour, minute)

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


# Ranges


def since(moment: Moment) -> Moment:
    def at(reference: datetime) -> Span:
        return _up_to(moment.at(reference).start, reference)

    return Moment(at, moment.confidence)


def after(moment: Moment) -> Moment:
    def at(reference: datetime) -> Span:
        return _up_to(moment.at(reference).stop, reference)

    return Moment(at, moment.confidence)


def until(moment: Moment) -> Moment:
    return Moment(lambda reference: Span(None, closed(moment, reference).stop), moment.confidence)


def before(moment: Moment) -> Moment:
    return Moment(lambda reference: Span(None, closed(moment, reference).start), moment.confidence)


def between(first: Moment, last: Moment) -> Moment:
    """From the start of one to the end of the other.

    One that comes round again is the one next to its neighbour: in "between November and February 2024",
    November is the last before that February.
    """

    def at(reference: datetime) -> Span:
        if first.period is None and last.period is not None:
            begun = closed(first, reference)
            ended = closed(last, begun.start + last.period - DAY)
        else:
            ended = closed(last, reference)
            begun = closed(first, reference if first.period is None else ended.start)
        return Span(min(begun.start, ended.start), max(begun.stop, ended.stop))

    if first.period is not None and last.period is None:
        return Moment(at, last.confidence)
    both_float = first.period is not None and last.period is not None
    return Moment(at, min(first.confidence, last.confidence), period=last.period if both_float else None)


def _up_to(start: datetime | None, reference: datetime) -> Span:
    if start is None:
        raise ValueError("an open span has no such end")
    return Span(start, reference if start < reference else None)


def _in(in_year: InYear, reference: datetime, year: int) -> Closed | None:
    try:
        return in_year(reference, year)
    except (ValueError, OverflowError):  # That year has no such day, or lies outside the calendar.
        return None


def _day(first: date, number: int) -> date | None:
    try:
        return first.replace(day=number)
    except ValueError:  # A shorter month.
        return None
