"""Times as a person types them."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from recollect.text.time_phrases import TimePhrase

_AGO = re.compile(r"(\d{1,6})d")
_WEEK = re.compile(r"\d{4}-?W\d{2}")
_INSTANT = timedelta(microseconds=1)


def when(text: str) -> datetime:
    """An ISO date or time; without a zone, the local one."""
    try:
        return datetime.fromisoformat(text.strip()).astimezone()
    except (ValueError, OverflowError):
        raise click.BadParameter(
            f"{text!r} is no time; write it like 2026-03-01 or 2026-03-01T14:30."
        ) from None


def when_or_age(text: str) -> datetime | timedelta:
    """An ISO date or time, or a number of days before now, as in `30d`."""
    days = _AGO.fullmatch(text.strip())
    return timedelta(days=int(days[1])) if days else when(text)


def start_of(text: str, now: datetime, option: str) -> datetime:
    """An ISO date or time, or where the time that a phrase speaks of begins: `last tuesday`.

    Days are those of `now`'s zone.
    """
    exact = _exact(text, now)
    if exact is not None:
        return exact
    start = _phrase(text, now, option).start
    if start is None:
        raise click.BadParameter(f"{text!r} has no beginning; name a day or a time.", param_hint=option)
    return start


def end_of(text: str, now: datetime, option: str) -> datetime:
    """The same, but of a day or a longer stretch its last moment; what has no end yet ends now."""
    exact = _exact(text, now)
    if exact is not None:
        return _last_moment(exact, _days(text))
    stop = _phrase(text, now, option).stop
    return now if stop is None else stop - _INSTANT


def _exact(text: str, now: datetime) -> datetime | None:
    try:
        read = datetime.fromisoformat(text.strip())
        return read.replace(tzinfo=now.tzinfo) if read.tzinfo is None else read.astimezone(now.tzinfo)
    except (ValueError, OverflowError):
        return None


def _days(text: str) -> int:
    """How many days an ISO text names: one, the seven of a week, or none where it names a time."""
    try:
        date.fromisoformat(text.strip())
    except ValueError:
        return 0
    return 7 if _WEEK.fullmatch(text.strip()) else 1


def _last_moment(start: datetime, days: int) -> datetime:
    try:
        return start + timedelta(days=days) - (_INSTANT if days else timedelta())
    except OverflowError:  # the last day that there is
        return datetime.max.replace(tzinfo=start.tzinfo)


def _phrase(text: str, now: datetime, option: str) -> TimePhrase:
    from recollect.text.time_phrases import TimePhrase, time_of  # noqa: PLC0415
    from recollect.text.tokens import content_words  # noqa: PLC0415  # --help needs no grammar of times

    phrase = time_of(text, now)
    if phrase is None and text.strip().lower() in {"now", "ahora"}:
        return TimePhrase(now, now + _INSTANT, 1.0, text, (0, len(text)))
    if phrase is not None:
        start, stop = phrase.place
        # A word that is left over was meant to say something.
        if not content_words(f"{text[:start]} {text[stop:]}"):
            return phrase
    raise click.BadParameter(
        f"{text!r} is no time that can be read; write it like 2026-03-01, 2026-03-01T14:30, "
        "'last tuesday' or '3 weeks ago'.",
        param_hint=option,
    )
