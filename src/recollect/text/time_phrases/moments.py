"""Moments: what phrases mean, before one knows when they were said. The functions that rules name."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from recollect.text.time_phrases.calendar import (
    AMBIGUOUS,
    BARE,
    DAY,
    MULTIPLES,
    PLAIN,
    SURE,
    VAGUE,
    WEEK,
    InYear,
    Moment,
    OpenSpan,
    Span,
    calendar_unit,
    clock,
    days,
    easter_sunday,
    hours,
    later,
    months,
    thanksgiving_day,
)
from recollect.text.time_phrases.lexer import full_year

_KINDS = {"day": "DAY", "week": "WEEK_SPAN", "month": "MONTH_SPAN", "year": "YEAR_SPAN"}
_NIGHT = (18, 30)
_YEAR = timedelta(days=366)
# The 29th of February may be eight years away.
_FARTHEST_YEARS = 9


def vague(moment: Moment) -> Moment:
    return replace(moment, confidence=VAGUE)


def bare(moment: Moment) -> Moment:
    return replace(moment, confidence=BARE)


# Units and days


def unit(name: str, offset: int) -> Moment:
    """The calendar's own unit that lies `offset` of them from the reference's."""
    return Moment(lambda reference: calendar_unit(reference, name, offset), PLAIN, _KINDS.get(name, "SPAN"))


def ago(name: str, count: int) -> Moment:
    """The calendar unit that lies `count` units back; a negative count lies ahead."""
    times, plain = MULTIPLES.get(name, (1, name))
    return unit(plain, -count * times)


def the_weekend() -> Moment:
    """The last that began."""

    def at(reference: datetime) -> Span:
        this = calendar_unit(reference, "weekend")
        return this if this.start <= reference else calendar_unit(reference, "weekend", -1)

    return Moment(at, BARE, period=WEEK)


def weekday(place: int, side: int | None = None) -> Moment:
    """-1 the last before the reference's day, 1 the first after, 0 this week's, None the last that began."""

    def at(reference: datetime) -> Span:
        today = reference.date()
        back = (today.weekday() - place) % 7
        offsets = {None: -back, -1: -(back or 7), 0: place - today.weekday(), 1: 7 - back}
        return days(reference, today + offsets[side] * DAY)

    return Moment(at, BARE, period=WEEK) if side is None else Moment(at, PLAIN)


def part_of_day(moment: Moment, part: tuple[int, int]) -> Moment:
    return Moment(
        lambda reference: hours(reference, moment.first_day(reference), *part),
        moment.confidence,
        period=moment.period,
    )


def night(offset: int) -> Moment:
    return part_of_day(unit("day", offset), _NIGHT)


def at_clock(
    moment: Moment, time: int | tuple[int, int | None], part: tuple[int, int] | None = None
) -> Moment | None:
    """A las 3 de la tarde, at 15:00; a full hour names the hour, other minutes the minute."""
    hour, minute = (time, None) if isinstance(time, int) else time
    if part is not None and hour < 12 <= part[0]:
        hour += 12
    if hour > 23 or (minute or 0) > 59:
        return None
    return Moment(
        lambda reference: clock(reference, moment.first_day(reference), hour, minute or None),
        moment.confidence,
    )


def at_noon(moment: Moment, part: tuple[int, int]) -> Moment | None:
    return at_clock(moment, part[0])


# Written dates


def iso_date(text: str) -> Moment | None:
    if len(text) == 10:
        return _whole_date(*(int(part) for part in text.split("-")))
    try:
        when = datetime.fromisoformat(re.sub(r" (?=[+-])", "", text).upper().replace(" ", "T"))
    except ValueError:
        return None
    grain = timedelta(seconds=1 if text[16:17] == ":" else 60 if when.minute else 3600)
    whole = when.replace(microsecond=0)

    def at(reference: datetime) -> Span:
        # Without an offset of its own, it is a time of the reference's clocks.
        here = whole.replace(tzinfo=reference.tzinfo) if whole.tzinfo is None else whole.astimezone(UTC)
        start = here.astimezone(reference.tzinfo) if whole.tzinfo else here
        return Span(start, later(start, grain))

    return Moment(at, SURE)


def slashed_date(text: str, *, day_first: bool) -> Moment | None:
    """5/3/2024: the day first where it can be nothing else, or where the language writes it so."""
    first, second, last = (int(part) for part in re.split("[/.-]", text))
    if first > 31:
        return _whole_date(first, second, last)
    year_ = last if last > 99 else 2000 + last
    sure = first > 12 or second > 12 or "." in text
    swap = first > 12 or "." in text or (day_first and second <= 12)
    month_, day = (second, first) if swap else (first, second)
    return _whole_date(year_, month_, day, AMBIGUOUS if not sure else SURE if last > 99 else PLAIN)


def _whole_date(year_: int, month_: int, day: int, confidence: float = SURE) -> Moment | None:
    try:
        date(year_, month_, day)
    except ValueError:
        return None
    in_year = _days_of_month(month_, day)
    return Moment(lambda reference: in_year(reference, year_), confidence) if year_ < 9999 else None


# What comes round every year


def dates(side: int | None, month_: int, first: int, last: int | None = None) -> Moment | None:
    """Days of a month, the last included, in every year."""
    return yearly(_days_of_month(month_, first, last), side) if last is None or first <= last else None


def dates_in(year_: int, month_: int, first: int, last: int | None = None) -> Moment | None:
    whole = dates(None, month_, first, last)
    return None if whole is None else in_year(whole, year_)


def easter(side: int | None, first: int, count: int = 1) -> Moment:
    """Days counted from Easter Sunday."""
    return yearly(lambda at, year_: days(at, easter_sunday(year_) + first * DAY, count), side)


def thanksgiving(side: int | None, first: int) -> Moment:
    return yearly(lambda at, year_: days(at, thanksgiving_day(year_) + first * DAY), side)


def month(place: int, side: int | None = None) -> Moment:
    return yearly(lambda at, year_: months(at, year_, place), side)


def season(place: int, side: int | None = None) -> Moment:
    return yearly(lambda at, year_: months(at, year_, place, 3), side)


def year_month(text: str) -> Moment | None:
    year_, place = (int(part) for part in text.split("-"))
    return in_year(month(place), year_) if 1 <= place <= 12 else None


def part_of_year(length: int, nth: int) -> Moment:
    """The third quarter, the first half."""
    return yearly(lambda at, year_: months(at, year_, length * (nth - 1) + 1, length))


def yearly(place: InYear, side: int | None = None) -> Moment:
    """-1 the last complete one, 1 the next, 0 the one under way or this year's, None the last begun."""

    def fits(span: Span, reference: datetime) -> bool:
        match side:
            case None:
                return span.start <= reference
            case -1:
                return span.stop <= reference
            case 0:
                return span.start <= reference < span.stop
            case _:
                return span.start > reference

    def at(reference: datetime) -> Span:
        now = reference.year
        ahead, back = range(now - 1, now + _FARTHEST_YEARS), range(now + 1, now - _FARTHEST_YEARS, -1)
        for each in ahead if side == 1 else back:
            try:
                span = place(reference, each)
            except (ValueError, OverflowError):  # that year has no such day, or lies outside the calendar
                continue
            if fits(span, reference):
                return span
        return place(reference, now)

    return Moment(at, BARE, in_year=place, period=_YEAR) if side is None else Moment(at, PLAIN)


def in_year(moment: Moment, year_: int | Moment) -> Moment | None:
    """March, of 2024 or of last year."""
    place = moment.in_year
    if place is None:
        return None
    if isinstance(year_, int):
        return Moment(lambda reference: place(reference, year_), SURE)
    return Moment(lambda reference: place(reference, year_.span(reference).start.year), year_.confidence)


def year(number_: int) -> Moment:
    return Moment(lambda reference: months(reference, number_, 1, 12), SURE)


def decade(first: int) -> Moment:
    return Moment(lambda reference: months(reference, first, 1, 120), PLAIN)


def decade_named(number_: int) -> Moment | None:
    """Los años 90, los noventa, la década de 1990."""
    if number_ % 10 or not (20 <= number_ <= 90 or 1500 <= number_ <= 2190):
        return None
    return decade(number_ if number_ > 99 else full_year(number_))


def _days_of_month(month_: int, first: int, last: int | None = None) -> InYear:
    def place(reference: datetime, year_: int) -> Span:
        start, end = date(year_, month_, first), date(year_, month_, last or first)
        return days(reference, start, (end - start).days + 1)

    return place


# Parts of months and years


def third(moment: Moment, which: int) -> Moment:
    """Days 1 to 10, 11 to 20 and 21 to the end of a month; of anything longer, a third of its months."""

    def part(span: Span, reference: datetime) -> Span:
        start, stop = span
        length = (stop.year - start.year) * 12 + stop.month - start.month
        if length == 1:
            firsts = [start.replace(day=day) for day in (1, 11, 21)]
        elif length >= 3 and length % 3 == 0:
            steps = range(start.month, start.month + length, length // 3)
            firsts = [months(reference, start.year, step).start for step in steps]
        else:
            raise ValueError("only months, seasons and years have an early, a middle and a late part")
        return Span(*[*firsts, stop][which : which + 2])

    return _part_of(moment, part)


def days_in(moment: Moment, first: int, count: int) -> Moment:
    """So many days of it; from its end where the first is negative."""

    def part(span: Span, reference: datetime) -> Span:
        origin = span.start if first >= 0 else span.stop
        return days(reference, origin.date() + first * DAY, count)

    return _part_of(moment, part)


def nth_week(moment: Moment, nth: int) -> Moment | None:
    return days_in(moment, 7 * (nth - 1), 7) if nth <= 4 else None


def _part_of(moment: Moment, part: Callable[[Span, datetime], Span]) -> Moment:
    place = moment.in_year
    if place is not None:
        return yearly(lambda reference, year_: part(place(reference, year_), reference))
    return Moment(lambda reference: part(moment.span(reference), reference), moment.confidence)


# Ranges, of which a bound may be the number of a year


def since(bound: Moment | int) -> Moment:
    moment = _moment(bound)
    return Moment(lambda reference: _up_to(moment.at(reference).start, reference), moment.confidence)


def later_than(bound: Moment | int) -> Moment:
    moment = _moment(bound)
    return Moment(lambda reference: _up_to(moment.at(reference).stop, reference), moment.confidence)


def until(bound: Moment | int) -> Moment:
    moment = _moment(bound)
    return Moment(lambda reference: OpenSpan(None, moment.span(reference).stop), moment.confidence)


def earlier_than(bound: Moment | int) -> Moment:
    moment = _moment(bound)
    return Moment(lambda reference: OpenSpan(None, moment.span(reference).start), moment.confidence)


def between(one: Moment | int, other: Moment | int) -> Moment:
    """From the start of one to the end of the other.

    One that comes round again is the one next to its neighbour: in "between November and February 2024",
    November is the last before that February.
    """
    first, last = _moment(one), _moment(other)

    def at(reference: datetime) -> Span:
        if first.period is None and last.period is not None:
            begun = first.span(reference)
            ended = last.span(begun.start + last.period - DAY)
        else:
            ended = last.span(reference)
            begun = first.span(reference if first.period is None else ended.start)
        return Span(min(begun.start, ended.start), max(begun.stop, ended.stop))

    if first.period is not None and last.period is None:
        return Moment(at, last.confidence)
    period = None if first.period is None else last.period
    return Moment(at, min(first.confidence, last.confidence), period=period)


def _moment(bound: Moment | int) -> Moment:
    return year(bound) if isinstance(bound, int) else bound


def _up_to(start: datetime | None, reference: datetime) -> OpenSpan:
    if start is None:
        raise ValueError("an open span has no such end")
    return OpenSpan(start, reference if start < reference else None)
