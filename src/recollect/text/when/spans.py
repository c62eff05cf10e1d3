"""Calendar arithmetic: days, weeks, months and hours around a reference, in its own time zone.

Days and longer are counted on the wall clock, so that a day may have 23 or 25 hours; hours and shorter
are counted in real time. Dates that no calendar has raise ValueError or OverflowError.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

DAY = timedelta(days=1)
WEEK = timedelta(weeks=1)
_SHORT = {"second": timedelta(seconds=1), "minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_MONTHS_IN = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
# Units that are so many of another.
_MADE_OF = {"fortnight": (2, "week"), "decade": (10, "year"), "century": (100, "year")}


class Span(NamedTuple):
    """Half-open; None is an open end."""

    start: datetime | None
    stop: datetime | None


class Closed(NamedTuple):
    """Half-open, and both ends are known."""

    start: datetime
    stop: datetime


def midnight(reference: datetime, day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=reference.tzinfo)


def days(reference: datetime, first: date, count: int = 1) -> Closed:
    return Closed(midnight(reference, first), midnight(reference, first + count * DAY))


def months(reference: datetime, year: int, month: int, count: int = 1) -> Closed:
    """From the first of a month; months beyond 12 or below 1 are those of other years."""
    return Closed(
        midnight(reference, _first_of(year, month)), midnight(reference, _first_of(year, month + count))
    )


def hours(reference: datetime, day: date, first: int, past: int) -> Closed:
    """Hours of the wall clock; beyond 24 they are the next day's."""
    return Closed(_at_hour(reference, day, first), _at_hour(reference, day, past))


def later(moment: datetime, by: timedelta) -> datetime:
    """So much real time later, whatever the clocks on the wall did in between."""
    return (moment.astimezone(UTC) + by).astimezone(moment.tzinfo)


def clock(reference: datetime, day: date, hour: int, minute: int | None) -> Closed:
    """That hour or, where the minute is named, that minute."""
    start = midnight(reference, day).replace(hour=hour, minute=minute or 0)
    return Closed(start, later(start, _SHORT["hour" if minute is None else "minute"]))


def unit(reference: datetime, name: str, offset: int = 0) -> Closed:
    """The calendar's own day, week, month … that lies `offset` of them from the reference's."""
    today = reference.date()
    if name in _SHORT:
        at = later(reference, offset * _SHORT[name])
        minute, second = at.minute * (name != "hour"), at.second * (name == "second")
        start = at.replace(minute=minute, second=second, microsecond=0)
        return Closed(start, later(start, _SHORT[name]))
    if name == "day":
        return days(reference, today + offset * DAY)
    if name == "week":
        return days(reference, monday(today) + offset * WEEK, 7)
    if name == "weekend":
        return days(reference, monday(today) + 5 * DAY + offset * WEEK, 2)
    length = _MONTHS_IN[name]
    index = (today.year * 12 + today.month - 1) // length + offset
    return months(reference, 0, index * length + 1, length)


def ago(reference: datetime, name: str, count: int) -> Closed:
    """The calendar unit that lies `count` units back; a negative count lies ahead."""
    times, plain = _MADE_OF.get(name, (1, name))
    return unit(reference, plain, -count * times)


def moved(reference: datetime, name: str, count: int) -> datetime:
    """The same clock time so many units away; the 31st becomes the last of a shorter month."""
    times, plain = _MADE_OF.get(name, (1, name))
    by = count * times
    if plain in _SHORT:
        return later(reference, by * _SHORT[plain])
    if plain in {"day", "week", "weekend"}:
        return reference + by * (DAY if plain == "day" else WEEK)
    first = _first_of(reference.year, reference.month + by * _MONTHS_IN[plain])
    day = min(reference.day, monthrange(first.year, first.month)[1])
    return reference.replace(year=first.year, month=first.month, day=day)


def monday(day: date) -> date:
    return day - day.weekday() * DAY


def easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar (Meeus/Jones/Butcher)."""
    golden, century, rest = year % 19, year // 100, year % 100
    epact = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    sunday = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    shift = (golden + 11 * epact + 22 * sunday) // 451
    month, day = divmod(epact + sunday - 7 * shift + 114, 31)
    return date(year, month, day + 1)


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    first = date(year, month, 1)
    return first + ((weekday - first.weekday()) % 7 + 7 * (nth - 1)) * DAY


def _first_of(year: int, month: int) -> date:
    years, months_past = divmod(month - 1, 12)
    return date(year + years, months_past + 1, 1)


def _at_hour(reference: datetime, day: date, hour: int) -> datetime:
    return midnight(reference, day + (hour // 24) * DAY).replace(hour=hour % 24)
