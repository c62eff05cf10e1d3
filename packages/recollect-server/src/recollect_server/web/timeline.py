"""Timeline: what happened and what was learnt, by day, week or month."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from recollect import Engine
from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.results import BrowsePage, Bucket
from recollect.plugin import BrowseFilter, Internals, TimeOf, Unit, coarser
from recollect_server.web.templating import SECURITY_HEADERS, Screen, parsed_time

# The slider over the days


@dataclass(frozen=True, slots=True)
class DaySlider:
    """The days from the first memory to the last day that may be chosen, which is now."""

    first: date
    days: int
    chosen: int
    """Which of the days is looked at; `days` is now."""


def day_slider(memory: Engine, then: datetime | None, begin: date) -> DaySlider:
    today = Internals(memory).now().astimezone(memory.zone).date()
    begin = min(begin, today)
    days = max((today - begin).days, 0)
    chosen = days if then is None else (then.astimezone(memory.zone).date() - begin).days
    return DaySlider(begin, days, min(max(chosen, 0), days))


async def chosen_day(screen: Screen, path: str) -> Response | None:
    """Where the slider was moved, redirect to the same page at the end of that day, or now."""
    day, first = (screen.params.get(name, "") for name in ("day", "first"))
    if not day:
        return None
    try:
        moved = date.fromisoformat(first) + timedelta(days=int(day[:6]))
    except (ValueError, OverflowError):
        raise InvalidInput("That is not a valid date; choose another.") from None
    now = await screen.run(lambda memory: Internals(memory).now().astimezone(memory.zone))
    end = datetime.combine(moved, time(23, 59, 59), now.tzinfo).isoformat() if moved < now.date() else None
    return RedirectResponse(screen.url(path, as_of=end), 303, SECURITY_HEADERS)


# The screen

_UNITS: dict[str, timedelta] = {
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=30),
}
_MOST_BARS = 120
_ROWS = 30
_TIMES: dict[TimeOf, str] = {"happened": "Happened", "stored": "Learnt"}


@dataclass(frozen=True, slots=True)
class Bar:
    bucket: Bucket
    x: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class TimelineView:
    unit: Unit
    rows: dict[TimeOf, list[Bar]]
    total: int
    begin: datetime | None
    end: datetime | None
    left_out: int
    """Memories of times before the first that is drawn."""
    chosen: BrowsePage | None
    slider: DaySlider


async def timeline_screen(screen: Screen) -> Response:
    params = screen.params
    unit = f"?{urlencode({'unit': params['unit']})}" if "unit" in params else ""
    moved = await chosen_day(screen, f"/timeline{unit}")
    if moved is not None:
        return moved
    since, until = (parsed_time(params.get(name), name) for name in ("since", "until"))
    time_of: TimeOf = "stored" if params.get("time") == "stored" else "happened"
    chosen = BrowseFilter(time=time_of, since=since, until=until, stored_before=screen.as_of)
    return await screen.page(
        "timeline.html",
        view=await screen.run(lambda memory: _view(memory, screen, chosen)),
        times=_TIMES,
        units=list(_UNITS),
        time_of=time_of,
        since=since,
        until=until,
        chosen_start=params.get("since"),
    )


def _view(memory: Engine, screen: Screen, chosen: BrowseFilter) -> TimelineView:
    then = screen.as_of
    # Leave out what was learnt later, but not what was still to come.
    days: dict[TimeOf, Sequence[Bucket]] = {
        "happened": memory.browse.timeline(BrowseFilter(time="happened", stored_before=then), "day"),
        "stored": memory.browse.timeline(BrowseFilter(time="stored", until=then), "day"),
    }
    unit = _unit(screen.params.get("unit"), [bucket.start for buckets in days.values() for bucket in buckets])
    counted = {name: coarser(buckets, unit, memory.zone) for name, buckets in days.items()}
    stops = [bucket.stop for buckets in counted.values() for bucket in buckets]
    starts = [bucket.start for buckets in counted.values() for bucket in buckets]
    end = max(stops, default=None)
    begin = None if end is None else max(min(starts), end - _MOST_BARS * _UNITS[unit])
    rows = {name: _bars(buckets, begin, end) for name, buckets in counted.items()}
    stored = counted["stored"]
    page = None
    if chosen.since is not None and chosen.until is not None:
        after = screen.params.get("cursor")
        page = memory.browse.page(chosen, order="oldest", limit=_ROWS, after=after)
    return TimelineView(
        unit,
        rows,
        sum(bucket.count for bucket in stored),
        begin,
        end,
        sum(bucket.count for bucket in stored if begin is not None and bucket.start < begin),
        page,
        day_slider(memory, then, min((each.start.date() for each in stored), default=date.max)),
    )


def _bars(buckets: Sequence[Bucket], begin: datetime | None, end: datetime | None) -> list[Bar]:
    if begin is None or end is None:
        return []
    drawn = [bucket for bucket in buckets if bucket.start >= begin]
    span, most = (end - begin).total_seconds(), max((bucket.count for bucket in drawn), default=1)

    def place(at: datetime) -> float:
        return 100 * (at - begin).total_seconds() / span

    return [
        Bar(
            bucket,
            round(place(bucket.start), 3),
            round(max(place(bucket.stop) - place(bucket.start) - 0.08, 0.15), 3),
            # Even one of a thousand is seen.
            round(max(100 * bucket.count / most, 3.0), 2),
        )
        for bucket in drawn
    ]


def _unit(given: str | None, starts: Sequence[datetime]) -> Unit:
    """The unit that was asked for, or the finest that fits the drawing."""
    if given:
        if given not in _UNITS:
            raise InvalidInput(f"unit: choose {', '.join(_UNITS)}.")
        return given  # type: ignore[return-value]  # it is one of them
    if not starts:
        return "day"
    span = max(starts) - min(starts)
    for unit in ("day", "week"):
        if span <= _MOST_BARS * _UNITS[unit]:
            return unit
    return "month"
