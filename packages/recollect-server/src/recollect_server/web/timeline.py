"""Timeline: how many memories happened and were stored, by day, week or month."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from recollect import Engine
from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.results import Bucket
from recollect.plugin import BrowseFilter, Internals, TimeOf, Unit, coarser
from recollect_server.web.drawings import CountScale, count_scale, place_between, time_ticks
from recollect_server.web.templating import SECURITY_HEADERS, Screen, parsed_time

# The slider over the days


@dataclass(frozen=True, slots=True)
class DaySlider:
    """The days from the first memory until now."""

    first: date
    days: int
    chosen: int
    """Number of the chosen day; equal to `days` for now."""


def day_slider(memory: Engine, then: datetime | None, begin: date) -> DaySlider:
    today = Internals(memory).now().astimezone(memory.zone).date()
    begin = min(begin, today)
    days = max((today - begin).days, 0)
    chosen = days if then is None else (then.astimezone(memory.zone).date() - begin).days
    return DaySlider(begin, days, min(max(chosen, 0), days))


async def redirect_to_day(screen: Screen, path: str) -> Response | None:
    """If the slider was moved, redirect to the same page at the end of that day, or now."""
    moved_by, first = (screen.params.get(name, "") for name in ("day", "first"))
    if not moved_by:
        return None
    try:
        moved = date.fromisoformat(first) + timedelta(days=int(moved_by[:6]))
    except (ValueError, OverflowError):
        raise InvalidInput("That is not a valid date; choose another.") from None
    now = await screen.run(lambda memory: Internals(memory).now().astimezone(memory.zone))
    day = moved.isoformat() if moved < now.date() else None
    return RedirectResponse(screen.url(path, as_of=day), 303, SECURITY_HEADERS)


# The screen

_UNITS: dict[str, timedelta] = {
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=30),
}
_MAX_BARS = 120
_BARS_AHEAD = 20
_ROWS = 30
_TIMES: dict[TimeOf, tuple[str, str]] = {
    "happened": ("Happened", "when it took place"),
    "stored": ("Stored", "when this memory learned it"),
}


class Bar(NamedTuple):
    bucket: Bucket
    x: float
    width: float
    height: float


async def timeline_screen(screen: Screen) -> Response:
    params = screen.params
    unit = f"?{urlencode({'unit': params['unit']})}" if "unit" in params else ""
    moved = await redirect_to_day(screen, f"/timeline{unit}")
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
        last=until and until - timedelta(days=1),
        chosen_start=params.get("since"),
    )


def _view(memory: Engine, screen: Screen, chosen: BrowseFilter) -> dict[str, Any] | None:
    """Return the data of the drawing; None if there is no memory."""
    then = screen.as_of
    # Leave out memories stored later; keep those about the future.
    days: dict[TimeOf, Sequence[Bucket]] = {
        "happened": memory.browse.timeline(BrowseFilter(time="happened", stored_before=then), "day"),
        "stored": memory.browse.timeline(BrowseFilter(time="stored", until=then), "day"),
    }
    if not days["stored"]:
        return None
    starts = sorted(bucket.start for buckets in days.values() for bucket in buckets)
    # Leave out the earliest days, a twentieth at most, if they would leave most of the drawing empty.
    middle = starts[0] + (starts[-1] - starts[0]) / 2
    first = next((start for start in starts[1 : len(starts) // 20 + 1] if start > middle), starts[0])
    unit = _unit(screen.params.get("unit"), [start for start in starts if start >= first])
    counted = {name: coarser(buckets, unit, memory.zone) for name, buckets in days.items()}
    every = [bucket for buckets in counted.values() for bucket in buckets]
    begin, end = max(each.start for each in every if each.start <= first), max(each.stop for each in every)
    present, most = then or Internals(memory).now(), _MAX_BARS * _UNITS[unit]
    if end - begin > most:
        # Show mostly the past, since a memory may be about a distant future.
        end = min(end, max(present, begin) + _BARS_AHEAD * _UNITS[unit])
        begin = max(begin, end - most)
    page = None
    if chosen.since is not None and chosen.until is not None:
        after = screen.params.get("cursor")
        page = memory.browse.page(chosen, order="oldest", limit=_ROWS, after=after)
    return {
        "unit": unit,
        "span": (begin, end),
        "rows": {name: _bars(buckets, begin, end) for name, buckets in counted.items()},
        "ticks": time_ticks(begin, end, memory.zone),
        "now": place_between(present, begin, end),
        "total": sum(bucket.count for bucket in counted["stored"]),
        "every": counted,
        "chosen": page,
        "slider": day_slider(memory, then, days["stored"][0].start.date()),
    }


def _bars(buckets: Sequence[Bucket], begin: datetime, end: datetime) -> tuple[list[Bar], CountScale]:
    drawn = [bucket for bucket in buckets if begin <= bucket.start < end]
    scale, bars = count_scale([bucket.count for bucket in drawn]), []
    for bucket in drawn:
        x, stop = (place_between(at, begin, end) for at in (bucket.start, bucket.stop))
        bars.append(Bar(bucket, x, round(max(stop - x - 0.1, 0.2), 3), scale.height(bucket.count)))
    return bars, scale


def _unit(given: str | None, starts: Sequence[datetime]) -> Unit:
    """Return the requested unit, or the finest one that fits the drawing."""
    if given:
        if given not in _UNITS:
            raise InvalidInput(f"unit: choose {', '.join(_UNITS)}.")
        return given  # type: ignore[return-value]  # it is one of them
    span = max(starts) - min(starts)
    fits: tuple[Unit, ...] = ("day", "week")
    return next((unit for unit in fits if span <= _MAX_BARS * _UNITS[unit]), "month")
