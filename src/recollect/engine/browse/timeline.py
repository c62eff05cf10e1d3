"""How much happened or was stored in each day, week or month."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Literal

from recollect.conditions import OneOf
from recollect.engine.browse.pages import BrowseFilter, filter_conditions, time_column
from recollect.engine.browse.results import Bucket
from recollect.engine.services import Services
from recollect.ranking.candidates import DAY
from recollect.ranking.factors.recency import microseconds
from recollect.retrieval.records import moment

Unit = Literal["day", "week", "month"]
# No zone's days begin elsewhere than at a quarter of an hour, so that the store need not know of zones.
_QUARTER_HOUR = 15 * 60 * 1_000_000
_DECEMBER = 12


def timeline(services: Services, wanted: BrowseFilter, unit: Unit) -> list[Bucket]:
    """Those stretches of the user's days that hold something, in order.

    The store counts by the quarter of an hour, or by the day where those are UTC's: no memory is read here.
    """
    per = DAY if services.zone is UTC else _QUARTER_HOUR
    column = time_column(wanted.time)
    now = microseconds(services.clock())
    with services.read() as view:
        own = (OneOf("scope_id", services.scope_ids(view)), OneOf("kind", wanted.kinds))
        counted = view.count("memory", (*own, *filter_conditions(wanted, now)), by=column, per=per)
    return _buckets(
        ((moment(int(str(at)) * per), count) for at, count in counted.items()), unit, services.zone
    )


def coarser(days: Iterable[Bucket], unit: Unit, zone: tzinfo) -> list[Bucket]:
    """The same by week or month, without asking the store again."""
    return _buckets(((each.start, each.count) for each in days), unit, zone)


def _buckets(counted: Iterable[tuple[datetime, int]], unit: Unit, zone: tzinfo) -> list[Bucket]:
    counts: Counter[datetime] = Counter()
    for at, count in counted:
        counts[_start(at.astimezone(zone), unit)] += count
    return [Bucket(start, _next(start, unit, zone), count) for start, count in sorted(counts.items())]


def _start(at: datetime, unit: Unit) -> datetime:
    day = at.date()
    if unit == "week":
        day -= timedelta(days=day.weekday())
    elif unit == "month":
        day = day.replace(day=1)
    return datetime.combine(day, time(), at.tzinfo)


def _next(start: datetime, unit: Unit, zone: tzinfo) -> datetime:
    day = start.date()
    if unit == "month":
        year, month = (day.year + 1, 1) if day.month == _DECEMBER else (day.year, day.month + 1)
        return datetime(year, month, 1, tzinfo=zone)
    return datetime.combine(day + timedelta(days=1 if unit == "day" else 7), time(), zone)
