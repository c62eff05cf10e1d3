"""Calendar arithmetic: the spans of time that phrases mean, at the time at which they were said.

Days and longer units are counted on the wall clock, so that a day may have 23 or 25 hours; hours and shorter
ones are counted in real time. Dates that no calendar has raise ValueError or OverflowError.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

SURE, PLAIN, BARE, AMBIGUOUS, VAGUE = 1.0, 0.9, 0.7, 0.6, 0.5
DAY = timedelta(days=1)
WEEK = timedelta(weeks=1)
# Units that are so many of another.
MULTIPLES = {"fortnight": (2, "week"), "decade": (10, "year"), "century": (100, "year")}
_SHORT_UNITS = {"second": timedelta(seconds=1), "minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_MONTHS_IN = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
_FEW = (2, 5)


class Span(NamedTuple):
    """Half-open."""

    start: datetime
    stop: datetime


class OpenSpan(NamedTuple):
    """Half-open; None is an open end."""

    start: datetime | None
    stop: datetime | None


InYear = Callable[[datetime, int], Span]
"""What comes round every year: where it lies in a year, in the reference's time zone."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A span of time relative to a reference."""

    at: Callable[[datetime], Span | OpenSpan]
    confidence: float
    kind: str = "SPAN"
    """As the grammar calls it."""
    in_year: InYear | None = None
    """Where a year may be added: March, Christmas."""
    period: timedelta | None = None
    """Where the phrase comes round again and does not say which one is meant: March, Tuesday."""

    def span(self, reference: datetime) -> Span:
        start, stop = self.at(reference)
        if start is None or stop is None:
            raise ValueError("an open span has no such end")
        return Span(start, stop)

    def first_day(self, reference: datetime) -> date:
        return self.span(reference).start.date()


def midnight(reference: datetime, day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=reference.tzinfo)


def days(reference: datetime, first: date, count: int = 1) -> Span:
    return Span(midnight(reference, first), midnight(reference, first + count * DAY))


def months(reference: datetime, year: int, month: int, count: int = 1) -> Span:
    """From the first of a month; months beyond 12 or below 1 are those of other years."""
    first, past = first_of_month(year, month), first_of_month(year, month + count)
    return Span(midnight(reference, first), midnight(reference, past))


def later(moment: datetime, by: timedelta) -> datetime:
    """So much real time later, whatever the clocks on the wall did in between."""
    return (moment.astimezone(UTC) + by).astimezone(moment.tzinfo)


def clock(reference: datetime, day: date, hour: int, minute: int | None) -> Span:
    """That hour or, where the minute is named, that minute."""
    start = midnight(reference, day).replace(hour=hour, minute=minute or 0)
    return Span(start, later(start, _SHORT_UNITS["hour" if minute is None else "minute"]))


def clock_range(
    reference: datetime, moment: Moment, first: tuple[int, int | None], past: tuple[int, int | None]
) -> Span:
    """From nine to five of a day."""
    day = moment.first_day(reference)
    return Span(clock(reference, day, *first).start, clock(reference, day, *past).start)


def hours(reference: datetime, day: date, first: int, past: int) -> Span:
    """Hours of the wall clock; beyond 24 they are the next day's."""
    start, stop = (
        midnight(reference, day + (hour // 24) * DAY).replace(hour=hour % 24) for hour in (first, past)
    )
    return Span(start, stop)


def calendar_unit(reference: datetime, name: str, offset: int = 0) -> Span:
    """The calendar's own day, week, month … that lies `offset` of them from the reference's."""
    today = reference.date()
    if name in _SHORT_UNITS:
        at = later(reference, offset * _SHORT_UNITS[name])
        minute, second = at.minute * (name != "hour"), at.second * (name == "second")
        start = at.replace(minute=minute, second=second, microsecond=0)
        return Span(start, later(start, _SHORT_UNITS[name]))
    if name == "day":
        return days(reference, today + offset * DAY)
    if name == "week":
        return days(reference, monday(today) + offset * WEEK, 7)
    if name == "weekend":
        return days(reference, monday(today) + 5 * DAY + offset * WEEK, 2)
    length = _MONTHS_IN[name]
    index = (today.year * 12 + today.month - 1) // length + offset
    return months(reference, 0, index * length + 1, length)


def few_ago(reference: datetime, name: str, direction: int) -> Span:
    """Two to five units back, or ahead."""
    times, plain = MULTIPLES.get(name, (1, name))
    near, far = (calendar_unit(reference, plain, -direction * count * times) for count in _FEW)
    return Span(min(far.start, near.start), max(far.stop, near.stop))


def rolling(reference: datetime, name: str, count: int) -> Span:
    """From so many units before the reference to the reference; a negative count looks ahead."""
    other = _moved(reference, name, -count)
    return Span(other, reference) if count > 0 else Span(reference, other)


def so_far(reference: datetime, name: str) -> Span:
    return Span(calendar_unit(reference, name).start, reference)


def from_now(reference: datetime, name: str) -> Span:
    return Span(reference, calendar_unit(reference, name).stop)


def days_back(reference: datetime, far: int, near: int) -> Span:
    """The calendar days from the farther to the nearer, both included."""
    return days(reference, reference.date() - far * DAY, far - near + 1)


def weekday_in(reference: datetime, week: Moment, bare: Moment) -> Span:
    """The one that had last begun by that week's Sunday."""
    return bare.span(week.span(reference).start + 6 * DAY)


def week_of(reference: datetime, moment: Moment) -> Span:
    return days(reference, monday(moment.first_day(reference)), 7)


def day_in(reference: datetime, month_span: Moment, number: int) -> Span:
    """The 5th of last month."""
    return days(reference, month_span.first_day(reference).replace(day=number))


def day_of_month(reference: datetime, number: int) -> Span:
    """The 5th: the last that began."""
    today = reference.date()
    for back in range(3):
        first = first_of_month(today.year, today.month - back)
        there = first + (number - 1) * DAY
        if there.month == first.month and there <= today:
            return days(reference, there)
    raise ValueError("no month has such a day")


def easter_sunday(year: int) -> date:
    """Of the Gregorian calendar (Meeus/Jones/Butcher)."""
    golden, century, rest = year % 19, year // 100, year % 100
    epact = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    sunday = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    shift = (golden + 11 * epact + 22 * sunday) // 451
    month, day = divmod(epact + sunday - 7 * shift + 114, 31)
    return date(year, month, day + 1)


def thanksgiving_day(year: int) -> date:
    """The fourth Thursday of November."""
    first = date(year, 11, 1)
    return first + ((3 - first.weekday()) % 7 + 21) * DAY


def monday(day: date) -> date:
    return day - day.weekday() * DAY


def first_of_month(year: int, month: int) -> date:
    years, months_past = divmod(month - 1, 12)
    return date(year + years, months_past + 1, 1)


def _moved(reference: datetime, name: str, count: int) -> datetime:
    """The same clock time so many units away; the 31st becomes the last of a shorter month."""
    times, plain = MULTIPLES.get(name, (1, name))
    by = count * times
    if plain in _SHORT_UNITS:
        return later(reference, by * _SHORT_UNITS[plain])
    if plain in {"day", "week", "weekend"}:
        return reference + by * (DAY if plain == "day" else WEEK)
    first = first_of_month(reference.year, reference.month + by * _MONTHS_IN[plain])
    day = min(reference.day, monthrange(first.year, first.month)[1])
    return reference.replace(year=first.year, month=first.month, day=day)
