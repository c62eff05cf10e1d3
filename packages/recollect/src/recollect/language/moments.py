"""Compute the spans of time phrases relative to a reference time. Rules of the grammar call these functions.

Days and longer units follow the wall clock, so a day may have 23 or 25 hours. Hours and shorter units are
real time. Invalid dates raise ValueError or OverflowError.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Concatenate, NamedTuple, ParamSpec

from recollect.domain.lazy_dataclass import dataclass
from recollect.language.time_tokens import full_year

SURE, PLAIN, BARE, AMBIGUOUS, VAGUE = 1.0, 0.9, 0.7, 0.6, 0.5
NIGHT = (18, 30)
START, STOP = 0, 1
_DAY = timedelta(days=1)
_WEEK = timedelta(weeks=1)
_YEAR = timedelta(days=366)
# Units that are multiples of another unit.
_MULTIPLES = {"fortnight": (2, "week"), "decade": (10, "year"), "century": (100, "year")}
_SHORT_UNITS = {"second": timedelta(seconds=1), "minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_MONTHS_IN = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
_KINDS = {"day": "DAY", "week": "WEEK_SPAN", "month": "MONTH_SPAN", "year": "YEAR_SPAN"}
# The next 29 February may be eight years away.
_FARTHEST_YEARS = 9


class Span(NamedTuple):
    start: datetime
    stop: datetime


InYear = Callable[[datetime, int], Span]
"""Returns the span of a yearly event in a given year, in the reference's time zone."""
_P = ParamSpec("_P")


@dataclass(frozen=True, slots=True)
class Moment:
    """A span of time relative to a reference."""

    at: Callable[[datetime], tuple[datetime | None, datetime | None]]
    """Returns a half-open span for a reference; None is an open end."""
    confidence: float
    kind: str = "SPAN"
    """The name of its kind in the grammar."""
    in_year: InYear | None = None
    """Set if a year may follow, as after March or Christmas."""
    period: timedelta | None = None
    """The time between two occurrences, if the phrase does not say which one is meant: March, Tuesday."""

    def span(self, reference: datetime) -> Span:
        start, stop = self.at(reference)
        if start is None or stop is None:
            raise ValueError("an open span has no such end")
        return Span(start, stop)

    def first_day(self, reference: datetime) -> date:
        return self.span(reference).start.date()


def _relative(span: Callable[Concatenate[datetime, _P], Span]) -> Callable[_P, Moment]:
    """Turn a function that returns a span for a reference into one that returns a moment."""

    def moment(*arguments: _P.args, **named: _P.kwargs) -> Moment:
        sure = [each.confidence for each in arguments if isinstance(each, Moment)]
        return Moment(lambda reference: span(reference, *arguments, **named), sure[0] if sure else PLAIN)

    return moment


def with_confidence(moment: Moment, confidence: float) -> Moment:
    return replace(moment, confidence=confidence)


# Calendar arithmetic


def _midnight(reference: datetime, day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=reference.tzinfo)


def _days(reference: datetime, first: date, count: int = 1) -> Span:
    return Span(_midnight(reference, first), _midnight(reference, first + count * _DAY))


def _months(reference: datetime, year_: int, month_: int, count: int = 1) -> Span:
    """Return a span of months; months above 12 or below 1 belong to other years."""
    first, past = _first_of_month(year_, month_), _first_of_month(year_, month_ + count)
    return Span(_midnight(reference, first), _midnight(reference, past))


def _first_of_month(year_: int, month_: int) -> date:
    years, months_past = divmod(month_ - 1, 12)
    return date(year_ + years, months_past + 1, 1)


def _monday(day: date) -> date:
    return day - day.weekday() * _DAY


def _later(moment: datetime, by: timedelta) -> datetime:
    """Add real time, regardless of clock changes in between."""
    return (moment.astimezone(UTC) + by).astimezone(moment.tzinfo)


def _unit(reference: datetime, name: str, offset: int = 0) -> Span:
    """Return the calendar day, week, month … that is `offset` units from the reference's."""
    today = reference.date()
    if name in _SHORT_UNITS:
        at = _later(reference, offset * _SHORT_UNITS[name])
        minute, second = at.minute * (name != "hour"), at.second * (name == "second")
        start = at.replace(minute=minute, second=second, microsecond=0)
        return Span(start, _later(start, _SHORT_UNITS[name]))
    if name == "day":
        return _days(reference, today + offset * _DAY)
    if name == "week":
        return _days(reference, _monday(today) + offset * _WEEK, 7)
    if name == "weekend":
        return _days(reference, _monday(today) + 5 * _DAY + offset * _WEEK, 2)
    length = _MONTHS_IN[name]
    index = (today.year * 12 + today.month - 1) // length + offset
    return _months(reference, 0, index * length + 1, length)


def _shift(reference: datetime, name: str, count: int) -> datetime:
    """Shift by some units, keeping the clock time; the 31st becomes the last day of a shorter month."""
    times, plain = _MULTIPLES.get(name, (1, name))
    by = count * times
    if plain in _SHORT_UNITS:
        return _later(reference, by * _SHORT_UNITS[plain])
    if plain in {"day", "week", "weekend"}:
        return reference + by * (_DAY if plain == "day" else _WEEK)
    first = _first_of_month(reference.year, reference.month + by * _MONTHS_IN[plain])
    day = min(reference.day, monthrange(first.year, first.month)[1])
    return reference.replace(year=first.year, month=first.month, day=day)


def easter_sunday(year_: int) -> date:
    """Return Easter Sunday in the Gregorian calendar (Meeus/Jones/Butcher)."""
    golden, century, rest = year_ % 19, year_ // 100, year_ % 100
    epact = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    sunday = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    shift = (golden + 11 * epact + 22 * sunday) // 451
    month_, day = divmod(epact + sunday - 7 * shift + 114, 31)
    return date(year_, month_, day + 1)


def thanksgiving(year_: int) -> date:
    """Return the fourth Thursday of November."""
    first = date(year_, 11, 1)
    return first + ((3 - first.weekday()) % 7 + 21) * _DAY


# Units and days


def unit(name: str, offset: int) -> Moment:
    """Return the calendar unit that is `offset` units from the reference's."""
    return Moment(lambda reference: _unit(reference, name, offset), PLAIN, _KINDS.get(name, "SPAN"))


def ago(name: str, count: int) -> Moment:
    """Return the calendar unit `count` units before the reference, or after it if `count` is negative."""
    times, plain = _MULTIPLES.get(name, (1, name))
    return unit(plain, -count * times)


@_relative
def few_ago(reference: datetime, name: str, direction: int) -> Span:
    """Return the span from two to five units before the reference, or after it."""
    near, far = (ago(name, direction * count).span(reference) for count in (2, 5))
    return Span(min(far.start, near.start), max(far.stop, near.stop))


@_relative
def rolling(reference: datetime, name: str, count: int) -> Span:
    """Return the last `count` units up to the reference, or the next ones if `count` is negative."""
    other = _shift(reference, name, -count)
    return Span(other, reference) if count > 0 else Span(reference, other)


@_relative
def up_to_now(reference: datetime, name: str, edge: int) -> Span:
    """Return the part of the current calendar unit before the reference, or after it."""
    start, stop = _unit(reference, name)
    return Span(start, reference) if edge == START else Span(reference, stop)


@_relative
def days_back(reference: datetime, far: int, near: int) -> Span:
    """Return the calendar days from `far` to `near` days back, both included."""
    return _days(reference, reference.date() - far * _DAY, far - near + 1)


def the_weekend() -> Moment:
    """Return the last weekend that has begun: on Saturday and Sunday, this week's."""
    return Moment(lambda at: _unit(at, "weekend", 0 if at.weekday() >= 5 else -1), BARE, period=_WEEK)


def weekday(place: int, side: int | None = None) -> Moment:
    """Return a weekday: the last (-1), the next (1), this week's (0), or the last that has begun (None)."""

    def at(reference: datetime) -> Span:
        today = reference.date()
        back = (today.weekday() - place) % 7
        offsets = {None: -back, -1: -(back or 7), 0: place - today.weekday(), 1: 7 - back}
        return _days(reference, today + offsets[side] * _DAY)

    return Moment(at, BARE, period=_WEEK) if side is None else Moment(at, PLAIN)


@_relative
def weekday_in(reference: datetime, week: Moment, any_week: Moment) -> Span:
    """Return the last such weekday until the Sunday of a week."""
    return any_week.span(week.span(reference).start + 6 * _DAY)


@_relative
def week_of(reference: datetime, moment: Moment) -> Span:
    return _days(reference, _monday(moment.first_day(reference)), 7)


@_relative
def day_in(reference: datetime, month_span: Moment, number: int) -> Span:
    """Return a day of a given month: `the 5th of last month`."""
    return _days(reference, month_span.first_day(reference).replace(day=number))


@_relative
def day_of_month(reference: datetime, number: int) -> Span:
    """Return the last day with this number that has begun: `the 5th`."""
    today = reference.date()
    for back in range(3):
        first = _first_of_month(today.year, today.month - back)
        there = first + (number - 1) * _DAY
        if there.month == first.month and there <= today:
            return _days(reference, there)
    raise ValueError("no month has such a day")


def part_of_day(moment: Moment, part: tuple[int, int]) -> Moment:
    """Return a part of a day, in wall-clock hours; hours above 24 belong to the next day."""

    def at(reference: datetime) -> Span:
        day = moment.first_day(reference)
        return Span(*(_midnight(reference, day + hour // 24 * _DAY).replace(hour=hour % 24) for hour in part))

    return Moment(at, moment.confidence, period=moment.period)


def at_clock(
    moment: Moment, time: int | tuple[int, int | None], part: tuple[int, int] | None = None
) -> Moment | None:
    """Return a clock time: 15:00 means the whole hour, 15:20 the minute."""
    hour, minute = (time, None) if isinstance(time, int) else time
    if part is not None and hour < 12 <= part[0]:
        hour += 12
    if hour > 23 or (minute or 0) > 59:
        return None

    def at(reference: datetime) -> Span:
        start = _midnight(reference, moment.first_day(reference)).replace(hour=hour, minute=minute or 0)
        return Span(start, _later(start, _SHORT_UNITS["minute" if minute else "hour"]))

    return Moment(at, moment.confidence)


@_relative
def clock_range(reference: datetime, moment: Moment, *bounds: tuple[int, int | None]) -> Span:
    """Return the span between two clock times of a day: `from nine to five`."""
    day = _midnight(reference, moment.first_day(reference))
    return Span(*(day.replace(hour=hour, minute=minute or 0) for hour, minute in bounds))


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
        # Without an offset, the time is in the reference's time zone.
        here = whole.replace(tzinfo=reference.tzinfo) if whole.tzinfo is None else whole.astimezone(UTC)
        start = here.astimezone(reference.tzinfo) if whole.tzinfo else here
        return Span(start, _later(start, grain))

    return Moment(at, SURE)


def slashed_date(text: str, *, day_first: bool) -> Moment | None:
    """Read a date such as 5/3/2024. The day comes first if above 12, with dots, or with `day_first`."""
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
        first = date(year_, month_, day)
    except ValueError:
        return None
    return Moment(lambda reference: _days(reference, first), confidence) if year_ < 9999 else None


# Yearly events


def dates(side: int | None, month_: int, first: int, last: int | None = None) -> Moment | None:
    """Return days of a month in every year, the last included."""
    if last is not None and last < first:
        return None

    def place(reference: datetime, year_: int) -> Span:
        start, end = date(year_, month_, first), date(year_, month_, last or first)
        return _days(reference, start, (end - start).days + 1)

    return yearly(place, side)


def dates_in(year_: int, month_: int, first: int, last: int | None = None) -> Moment | None:
    whole = dates(None, month_, first, last)
    return None if whole is None else in_year(whole, year_)


def feast(side: int | None, day: Callable[[int], date], first: int, count: int = 1) -> Moment:
    """Return days relative to a movable feast, such as Easter Sunday."""
    return yearly(lambda at, year_: _days(at, day(year_) + first * _DAY, count), side)


def month(place: int, side: int | None = None, count: int = 1) -> Moment:
    """Return a month, season, quarter or half: `count` months from `place` on."""
    return yearly(lambda at, year_: _months(at, year_, place, count), side)


def year_month(text: str) -> Moment | None:
    year_, place = (int(part) for part in text.split("-"))
    return in_year(month(place), year_) if 1 <= place <= 12 else None


def yearly(place: InYear, side: int | None = None) -> Moment:
    """Return a yearly event: the last complete (-1), next (1), this year's (0), or last begun (None)."""

    def at(reference: datetime) -> Span:
        now = reference.year
        ahead, back = range(now - 1, now + _FARTHEST_YEARS), range(now + 1, now - _FARTHEST_YEARS, -1)
        for each in ahead if side == 1 else back:
            try:
                span = place(reference, each)
            except (ValueError, OverflowError):  # that year has no such day, or lies outside the calendar
                continue
            begun, over = span.start <= reference, span.stop <= reference
            if {None: begun, -1: over, 0: begun and not over, 1: not begun}[side]:
                return span
        return place(reference, now)

    return Moment(at, BARE, in_year=place, period=_YEAR) if side is None else Moment(at, PLAIN)


def in_year(moment: Moment, year_: int | Moment) -> Moment | None:
    """Return a yearly event of one year: March of 2024, or of last year."""
    place = moment.in_year
    if place is None:
        return None
    if isinstance(year_, int):
        return Moment(lambda reference: place(reference, year_), SURE)
    return Moment(lambda reference: place(reference, year_.span(reference).start.year), year_.confidence)


def year(number: int) -> Moment:
    return Moment(lambda reference: _months(reference, number, 1, 12), SURE)


@_relative
def decade(reference: datetime, first: int) -> Span:
    return _months(reference, first, 1, 120)


def decade_named(number: int) -> Moment | None:
    """Return a decade: `los años 90`, `los noventa`, `la década de 1990`."""
    if number % 10 or not (20 <= number <= 90 or 1500 <= number <= 2190):
        return None
    return decade(number if number > 99 else full_year(number))


# Parts of months and years


def third(moment: Moment, which: int) -> Moment:
    """Return a third of a month (from day 1, 11 or 21 on), or a third of the months of a longer span."""

    def part(span: Span, reference: datetime) -> Span:
        start, stop = span
        length = (stop.year - start.year) * 12 + stop.month - start.month
        if length == 1:
            firsts = [start.replace(day=day) for day in (1, 11, 21)]
        elif length >= 3 and length % 3 == 0:
            steps = range(start.month, start.month + length, length // 3)
            firsts = [_months(reference, start.year, step).start for step in steps]
        else:
            raise ValueError("only months, seasons and years have an early, a middle and a late part")
        return Span(*[*firsts, stop][which : which + 2])

    return _part_of(moment, part)


def days_in(moment: Moment, first: int, count: int) -> Moment:
    """Return some days of a moment, counted from its end if `first` is negative."""

    def part(span: Span, reference: datetime) -> Span:
        origin = span.start if first >= 0 else span.stop
        return _days(reference, origin.date() + first * _DAY, count)

    return _part_of(moment, part)


def _part_of(moment: Moment, part: Callable[[Span, datetime], Span]) -> Moment:
    place = moment.in_year
    if place is not None:
        return yearly(lambda reference, year_: part(place(reference, year_), reference))
    return Moment(lambda reference: part(moment.span(reference), reference), moment.confidence)


# Ranges; a bound may be a year number


def after(bound: Moment | int, edge: int) -> Moment:
    """Return the span from an edge of the bound to the reference; open-ended if the reference is earlier."""
    moment = _moment(bound)

    def at(reference: datetime) -> tuple[datetime, datetime | None]:
        start = moment.at(reference)[edge]
        if start is None:
            raise ValueError("an open span has no such end")
        return start, reference if start < reference else None

    return Moment(at, moment.confidence)


def before(bound: Moment | int, edge: int) -> Moment:
    moment = _moment(bound)
    return Moment(
        lambda reference: (None, moment.span(reference)[edge]), moment.confidence, period=moment.period
    )


def between(one: Moment | int, other: Moment | int) -> Moment:
    """Return the span from the start of one bound to the end of the other.

    A recurring bound is read next to the other bound: in "between November and February 2024", November
    is the last before that February.
    """
    first, last = _moment(one), _moment(other)

    def at(reference: datetime) -> Span:
        if first.period is None and last.period is not None:
            begun = first.span(reference)
            ended = last.span(begun.start + last.period - _DAY)
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
