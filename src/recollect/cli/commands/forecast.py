"""`recollect forecast`: which memories fade if nobody uses them."""

from __future__ import annotations

from datetime import timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import command
from recollect.cli.memory_view import label
from recollect.cli.options import limit_option
from recollect.cli.phrases import quantity
from recollect.cli.results import Block, Column, Paragraph, Result, Styled, Table, muted, right_aligned
from recollect.cli.times import iso_day

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recollect.cli.call import Call
    from recollect.dreams.forecast import Forecast
    from recollect.records import Memory

_MONTH = 30
_SHOWN_DAYS = (0, 7, 30, 90, 180, 365, 730, 1825, 3650)
# In the order of `recollect.records.Kind`.
_KINDS = ("entities", "notes", "messages")


@command(
    "forecast", "recollect forecast", "recollect forecast --days 30 --limit 50", "recollect forecast --json"
)
@click.option(
    "--days", type=click.IntRange(1, 3650), default=365, show_default=True, help="How far to look ahead."
)
@limit_option(10, "Memories to name, those that fade first.", least=0)
def forecast_command(call: Call, days: int, limit: int) -> Result:
    """Predict which memories fade if nobody uses them.

    Counts what nightly dreams would archive, and what would become weak and stale enough to be pruned, within
    a month and within a year; a dream prunes it only if another memory says the same. With it come the mean
    strength and how many have faded by then. Nothing is written.

    In a pipe, each line begins with what it is: `within`, days, kind, how many there are, prunable, archived;
    `memory`, id, the day when it is prunable, the day when it is archived, text; `day`, date, mean strength,
    prunable, archived.
    """
    memory = call.memory()
    at = call.now()
    found = memory.dreams.forecast(days)
    rows = _soonest_rows(found)
    named = memory.get_many([int(found.ids[row]) for row in rows[:limit]])
    dates = [iso_day(at + timedelta(days=day), call.zone) for day in range(days + 1)]
    data = _forecast_data(found, rows, named, dates)
    return Result(data, _view(data), _lines(data))


def _forecast_data(
    found: Forecast, rows: Sequence[int], named: Mapping[int, Memory], dates: Sequence[str]
) -> dict[str, Any]:
    """`dates` are those of today and each day after it."""
    named_rows = [row for row in rows if int(found.ids[row]) in named]
    prunable, archived = (
        _cumulated(days.tolist(), found.days) for days in (found.fades_on, found.archived_on)
    )
    return {
        "days": found.days,
        "memories": len(found.ids),
        "kept": int(found.kept.sum()),
        "by_then": list(_counts(found, dates)),
        "soonest": [_fading(found, row, named[int(found.ids[row])], dates) for row in named_rows],
        "more": len(rows) - len(named_rows),
        "by_day": [
            {"date": date, "mean_strength": mean, "prunable": faded, "archived": gone}
            for date, mean, faded, gone in zip(dates, found.mean_strength, prunable, archived, strict=True)
        ],
    }


def _soonest_rows(found: Forecast) -> list[int]:
    """Rows of what falls below a threshold, the first ones first."""
    days = {
        row: min(reached)
        for row, crossed in enumerate(zip(found.fades_on.tolist(), found.archived_on.tolist(), strict=True))
        if (reached := [day for day in crossed if day >= 0])
    }
    return sorted(days, key=lambda row: (days[row], float(found.strength[row]), row))


def _counts(found: Forecast, dates: Sequence[str]) -> Iterator[dict[str, Any]]:
    for days in [_MONTH, found.days] if found.days > _MONTH else [found.days]:
        prunable = (found.fades_on >= 0) & (found.fades_on <= days)
        archived = (found.archived_on >= 0) & (found.archived_on <= days)
        for place, kind in enumerate(_KINDS):
            of_kind = found.kind == place
            if of_kind.any():
                yield {
                    "days": days,
                    "date": dates[days],
                    "kind": kind,
                    "total": int(of_kind.sum()),
                    "prunable": int((prunable & of_kind).sum()),
                    "archived": int((archived & of_kind).sum()),
                }


def _fading(found: Forecast, row: int, memory: Memory, dates: Sequence[str]) -> dict[str, Any]:
    fades_on, archived_on = (
        day if day >= 0 else None for day in (int(found.fades_on[row]), int(found.archived_on[row]))
    )
    return {
        "id": memory.id,
        "kind": memory.kind,
        "text": label(memory),
        "prunable_on": None if fades_on is None else dates[fades_on],
        "prunable_in_days": fades_on,
        "archived_on": None if archived_on is None else dates[archived_on],
        "archived_in_days": archived_on,
        "strength_at_the_end": float(found.strength[row]),
        "retrievable_at_the_end": float(found.retrievable[row]),
    }


def _cumulated(days: Sequence[int], last: int) -> list[int]:
    """How many by the end of each day, today first; below 0: never."""
    new = [0] * (last + 1)
    for day in days:
        if day >= 0:
            new[day] += 1
    return list(accumulate(new))


def _view(data: Mapping[str, Any]) -> Iterator[Block]:
    if not data["memories"]:
        yield Paragraph(Styled("Nothing to predict: the memory is empty.", "changed"))
        return
    kept = f"; {data['kept']:,} pinned or marked, which do not fade" if data["kept"] else ""
    memories = quantity(data["memories"], "memory", "memories")
    yield Paragraph(
        (Styled("If nobody uses them any more", "strong"), Styled(f"  {memories}{kept}", "muted"))
    )
    rows = [
        (f"in {quantity(each['days'], 'day')}", each["kind"], *_values(each, "total", "prunable", "archived"))
        for each in data["by_then"]
    ]
    yield Table(("By then", "Kind", "Today", "Prunable", "Archived"), rows)
    if not (data["soonest"] or data["more"]):
        yield Paragraph(Styled(f"Nothing falls below recall within {quantity(data['days'], 'day')}.", "good"))
        return
    shown = [day for day in _SHOWN_DAYS if day < data["days"]]
    rows = [
        (f"{day:,}", each["date"], f"{each['mean_strength']:.2f}", *_values(each, "prunable", "archived"))
        for day in [*shown, data["days"]]
        for each in [data["by_day"][day]]
    ]
    yield Table(("Day", "Date", *right_aligned("Mean strength"), "Prunable", "Archived"), rows)
    titles = (
        Column("Prunable", wrap="whole"),
        Column("Archived", wrap="whole"),
        Column("First to go", wrap="cut", fill=True),
        Column("", "muted", "whole", right=True),
    )
    named = [
        (each["prunable_on"] or "", each["archived_on"] or "", each["text"], f"#{each['id']}")
        for each in data["soonest"]
    ]
    if data["more"]:
        named.append(("", "", f"and {data['more']:,} more", ""))
    yield Table(titles, named)
    yield from muted("Pruned is only what another memory says, too. What is archived is still found.")


def _values(row: Mapping[str, Any], *names: str) -> list[int]:
    return [row[name] for name in names]


def _lines(data: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for each in data["by_then"]:
        counts = (str(each[name]) for name in ("total", "prunable", "archived"))
        yield "within", str(each["days"]), each["kind"], *counts
    for each in data["soonest"]:
        days = (each["prunable_on"] or "", each["archived_on"] or "")
        yield "memory", str(each["id"]), *days, each["text"]
    for each in data["by_day"]:
        counts = (str(each[name]) for name in ("prunable", "archived"))
        yield "day", each["date"], f"{each['mean_strength']:.6g}", *counts
