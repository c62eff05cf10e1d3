"""Times as people type and read them."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from recollect.text.time_phrases import TimePhrase

_AGE = re.compile(r"(\d{1,6})d")
_ISO_WEEK = re.compile(r"\d{4}-?W\d{2}")
_INSTANT = timedelta(microseconds=1)


# Reading what was typed


def parse_time(text: str) -> datetime:
    """An ISO date or time; without a zone, the local one."""
    try:
        return datetime.fromisoformat(text.strip()).astimezone()
    except (ValueError, OverflowError):
        raise click.BadParameter(
            f"{text!r} is no time; write it like 2026-03-01 or 2026-03-01T14:30."
        ) from None


def parse_time_or_age(text: str) -> datetime | timedelta:
    """An ISO date or time, or a number of days before now, as in `30d`."""
    days = _AGE.fullmatch(text.strip())
    return timedelta(days=int(days[1])) if days else parse_time(text)


def start_of(text: str, now: datetime, option: str) -> datetime:
    """An ISO date or time, or the start of the time that a phrase names: `last tuesday`.

    Days are those of `now`'s zone.
    """
    exact = _iso_time(text, now)
    start = _phrase(text, now, option).start if exact is None else exact
    if start is None:
        raise click.BadParameter(f"{text!r} has no beginning; name a day or a time.", param_hint=option)
    return start


def end_of(text: str, now: datetime, option: str) -> datetime:
    """The same, but the last moment of a day or a longer span; an open span ends now."""
    exact = _iso_time(text, now)
    if exact is None:
        stop = _phrase(text, now, option).stop
        return now if stop is None else stop - _INSTANT
    try:
        date.fromisoformat(text.strip())
    except ValueError:  # it names a time
        return exact
    days = 7 if _ISO_WEEK.fullmatch(text.strip()) else 1
    try:
        return exact + timedelta(days=days) - _INSTANT
    except OverflowError:  # the last day that there is
        return datetime.max.replace(tzinfo=exact.tzinfo)


def _iso_time(text: str, now: datetime) -> datetime | None:
    try:
        read = datetime.fromisoformat(text.strip())
        return read.replace(tzinfo=now.tzinfo) if read.tzinfo is None else read.astimezone(now.tzinfo)
    except (ValueError, OverflowError):
        return None


def _phrase(text: str, now: datetime, option: str) -> TimePhrase:
    from recollect.text.time_phrases import TimePhrase, time_of
    from recollect.text.tokens import content_words  # --help needs no grammar of times

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


# Showing; without a zone, in this machine's


def iso_day(when: datetime, zone: tzinfo | None = None) -> str:
    """`2024-05-06`."""
    return when.astimezone(zone).date().isoformat()


def iso_minute(when: datetime, zone: tzinfo | None = None) -> str:
    """`2024-05-06 10:32`."""
    return f"{when.astimezone(zone):%Y-%m-%d %H:%M}"


def iso_second(when: datetime, zone: tzinfo | None = None) -> str:
    """`2024-05-06T10:32:00+02:00`, as programs read it."""
    return when.astimezone(zone).isoformat(timespec="seconds")


def iso_day_or_minute(when: datetime, zone: tzinfo | None = None) -> str:
    """A day alone where it is midnight, which is how a day is stored."""
    is_day = when.astimezone(zone).time() == time.min
    return iso_day(when, zone) if is_day else iso_minute(when, zone)


def long_day(when: datetime) -> str:
    """`6 May 2024`."""
    return f"{when.day} {when:%B %Y}"


def span_text(phrase: TimePhrase) -> str:
    """`6 May – 12 May 2024`: the span that a phrase names, its last day included."""
    first, last = phrase.start, None if phrase.stop is None else phrase.stop - _INSTANT
    if first is None or last is None:
        return f"until {long_day(last)}" if last else f"from {long_day(first)}" if first else ""
    if first.date() == last.date():
        whole = phrase.stop is not None and phrase.stop - first >= timedelta(hours=23)
        hours = "" if whole else f", {first:%H:%M} – {phrase.stop:%H:%M}"
        return f"{long_day(first)}{hours}"
    begins = f"{first.day} {first:%B}" if first.year == last.year else long_day(first)
    return f"{begins} – {long_day(last)}"
