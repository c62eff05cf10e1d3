"""What comes round every year, and the years, months and days that are counted in it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta

from recollect.text.when import spans
from recollect.text.when.moments import BARE, PLAIN, SURE, InYear, Moment, closed, exact
from recollect.text.when.spans import DAY, Closed, Span

_YEAR = timedelta(days=366)
# The 29th of February may be eight years away.
_FARTHEST = 9


def yearly(in_year: InYear, side: int | None = None) -> Moment:
    """-1 the last complete one, 1 the next, 0 the one under way or this year's, None the last begun."""

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
        elif length >= 3 and length % 3 == 0:
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
