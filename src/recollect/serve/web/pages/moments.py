"""A moment to look at the memory from: a slider over the days since its first memory."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.serve.web.templating import as_of, kept_url

if TYPE_CHECKING:
    from starlette.requests import Request

    from recollect.engine.engine import Engine

_DAY = "day"
_FIRST = "first"


@dataclass(frozen=True, slots=True)
class DaySlider:
    """The days from the first memory to the last day that may be chosen, which is now."""

    first: date
    days: int
    chosen: int
    """Which of the days is looked at; `days` is now."""


def day_slider(memory: Engine, request: Request, begin: date) -> DaySlider:
    today = memory.upkeep.now().astimezone(memory.zone).date()
    begin = min(begin, today)
    days = max((today - begin).days, 0)
    then = as_of(request)
    chosen = days if then is None else (then.astimezone(memory.zone).date() - begin).days
    return DaySlider(begin, days, min(max(chosen, 0), days))


def chosen_day(memory: Engine, request: Request, path: str) -> str | None:
    """Where a request goes that moved the slider: the same page at the end of that day, or now."""
    day, first = (request.query_params.get(name, "") for name in (_DAY, _FIRST))
    if not day:
        return None
    try:
        moved = date.fromisoformat(first) + timedelta(days=int(day[:6]))
    except (ValueError, OverflowError):
        raise InvalidInput("The day that was chosen is none; choose another.") from None
    if moved >= memory.upkeep.now().astimezone(memory.zone).date():
        return kept_url(request, path, as_of=None)
    return kept_url(request, path, as_of=datetime.combine(moved, time(23, 59, 59), memory.zone).isoformat())
