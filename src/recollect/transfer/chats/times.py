"""Moments as files write them. One that names no zone is read as UTC."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# As seconds, these lie after the year 5000: nobody has written then, but programs do count milliseconds.
_MILLISECONDS = 1e11
# Who writes a date puts it near the start.
_STAMP_LIMIT = 200
_DATE = r"(?P<date>\d{4}-\d{2}-\d{2})"
_CLOCK = (
    r"(?P<clock>\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?)"
    r"\s*(?P<half>[ap]\.?m\b\.?)?\s*(?P<zone>Z\b|UTC\b|[+-]\d{2}:?\d{2}\b)?"
)
_MOMENT = re.compile(rf"(?:\b{_DATE})?(?:(?:^|\b|T)[T,\s]{{0,3}}{_CLOCK})?", re.IGNORECASE)


def of_seconds(value: object) -> datetime | None:
    """Seconds since 1970; None if it is no number, or of no year that there is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return _EPOCH + timedelta(seconds=value / 1000 if abs(value) > _MILLISECONDS else value)
    except (OverflowError, ValueError):
        return None


def of_iso(value: object) -> datetime | None:
    """ISO 8601, with or without a time of day."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def of_words(text: str, day: date | None = None) -> datetime | None:
    """The first date, or time of `day`, in a heading or a stamp: 2024-05-06, 2024-05-06 14:30, 2:30 PM.

    A date of figures in another order is not read, since 05/06 is two days.
    """
    for found in _MOMENT.finditer(text[:_STAMP_LIMIT]):
        if not found[0].strip():
            continue
        try:
            on = date.fromisoformat(found["date"]) if found["date"] else day
            if on is not None:
                return of_iso(f"{on.isoformat()}T{_clock(found)}")
        except ValueError:
            continue
    return None


def _clock(found: re.Match[str]) -> str:
    if not found["clock"]:
        return "00:00"
    hour, _, rest = found["clock"].partition(":")
    of_day = int(hour)
    if half := found["half"]:
        of_day = of_day % 12 + (12 if half[0] in "pP" else 0)
    zone = (found["zone"] or "").upper().replace("UTC", "Z")
    told = f"{of_day:02d}:{rest}"
    time.fromisoformat(told)
    return told + zone
