"""Days and times as a person reads them, where that person's days begin."""

from __future__ import annotations

from datetime import datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.text.time_phrases import TimePhrase

_INSTANT = timedelta(microseconds=1)


def day(when: datetime, zone: tzinfo | None = None) -> str:
    """`2024-05-06`. Without a zone, this machine's."""
    return when.astimezone(zone).date().isoformat()


def moment(when: datetime, zone: tzinfo | None = None) -> str:
    """`2024-05-06 10:32`."""
    return f"{when.astimezone(zone):%Y-%m-%d %H:%M}"


def day_or_moment(when: datetime, zone: tzinfo | None = None) -> str:
    """Midnight is what a day is kept as."""
    here = when.astimezone(zone)
    return day(when, zone) if here.time() == time.min else moment(when, zone)


def clock(when: datetime, zone: tzinfo | None = None) -> str:
    """`10:32`."""
    return f"{when.astimezone(zone):%H:%M}"


def long_day(when: datetime, zone: tzinfo | None = None) -> str:
    """`Monday, 6 May 2024`."""
    here = when.astimezone(zone)
    return f"{here:%A}, {here.day} {here:%B %Y}"


def span(phrase: TimePhrase) -> str:
    """`6 May – 12 May 2024`: the stretch that a phrase speaks of, its last day included."""
    first, last = phrase.start, None if phrase.stop is None else phrase.stop - _INSTANT
    if first is None or last is None:
        return f"until {_short(last)}" if last else f"from {_short(first)}" if first else ""
    if first.date() == last.date():
        whole = phrase.stop is not None and phrase.stop - first >= timedelta(hours=23)
        return _short(first) if whole else f"{_short(first)}, {first:%H:%M} – {phrase.stop:%H:%M}"
    begins = f"{first.day} {first:%B}" if first.year == last.year else _short(first)
    return f"{begins} – {_short(last)}"


def _short(when: datetime) -> str:
    return f"{when.day} {when:%B %Y}"
