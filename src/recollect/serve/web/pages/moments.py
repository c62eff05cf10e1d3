"""A moment to look at the memory from: a slider over the days since its first memory."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from recollect.engine.browse.pages import BrowseFilter
from recollect.lazy_dataclass import dataclass
from recollect.serve.web.templating import as_of, kept_url

if TYPE_CHECKING:
    from starlette.requests import Request

    from recollect.engine.engine import Engine

_DAY = "day"


@dataclass(frozen=True, slots=True)
class DaySlider:
    """The days from the first memory to the last day that may be chosen, which is now."""

    first: date
    days: int
    chosen: int
    """Which of the days is looked at; `days` is now."""


def day_slider(memory: Engine, request: Request) -> DaySlider:
    today = memory.browse.now().astimezone(memory.zone).date()
    months = memory.browse.timeline(BrowseFilter(state="all", time="stored"), "month")
    begin = min(months[0].start.date(), today) if months else today
    days = max((today - begin).days, 0)
    then = as_of(request)
    chosen = days if then is None else (then.astimezone(memory.zone).date() - begin).days
    return DaySlider(begin, days, min(max(chosen, 0), days))


def chosen_day(memory: Engine, request: Request, path: str) -> str | None:
    """Where a request goes that moved the slider: the same page at the end of that day, or now."""
    given = request.query_params.get(_DAY)
    if given is None:
        return None
    slider = day_slider(memory, request)
    day = min(int(given[:6]), slider.days) if given.isascii() and given.isdigit() else slider.days
    if day >= slider.days:
        return kept_url(request, path, as_of=None)
    end = datetime.combine(slider.first + timedelta(days=day), time(23, 59, 59), memory.zone)
    return kept_url(request, path, as_of=end.isoformat())
