"""Times as a person types them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import click

_AGO = re.compile(r"(\d{1,6})d")


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
