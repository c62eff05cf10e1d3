"""The meaning of a day: `as_of` with a date alone is the end of that day in the user's time zone."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from recollect.domain.errors import InvalidInput

_ISO_WEEK = re.compile(r"\d{4}-?W\d{2}")

AsOf = datetime | date | str
"""A moment to look back to: a time with a zone, a day, or either as an ISO 8601 text."""


def as_of_time(given: AsOf | None, zone: tzinfo) -> datetime | None:
    """Return the moment that `as_of` names, in UTC.

    A day means its last microsecond in `zone`, and a week such as 2026-W10 that of its Sunday. A text without
    a zone is read in `zone`, but a `datetime` needs one of its own.
    """
    if given is None or isinstance(given, datetime):
        return aware(given, "as_of")
    if isinstance(given, str):
        given = _parsed(given, zone)
    if isinstance(given, datetime):
        return _in_utc(given)
    if not isinstance(given, date):
        raise InvalidInput(f"`as_of` must be a date, a datetime or an ISO text, not {type(given).__name__}.")
    return end_of_day(given, zone)


def end_of_day(day: date, zone: tzinfo) -> datetime:
    """Return the last microsecond of a day in a zone, in UTC."""
    return _in_utc(datetime.combine(day, time.max, zone))


def aware(when: datetime | None, what: str) -> datetime | None:
    """Return the time, or raise if it has no zone."""
    if when is None:
        return None
    if not isinstance(when, datetime):
        raise InvalidInput(f"`{what}` must be a datetime, not {type(when).__name__}.")
    if when.tzinfo is None:
        raise InvalidInput(
            f"`{what}` is {when}, without a time zone; give it one, as in ….replace(tzinfo=UTC)."
        )
    return when


def _parsed(text: str, zone: tzinfo) -> datetime | date:
    with suppress(ValueError, OverflowError):
        day = date.fromisoformat(text)
        return day + timedelta(days=6) if _ISO_WEEK.fullmatch(text) else day
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(
            f"`as_of` is {text[:40]!r}, not a time in ISO 8601; write 2026-03-01 or 2026-03-01T09:00:00Z."
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # the first or the last day that there is
        return moment.replace(tzinfo=UTC)
