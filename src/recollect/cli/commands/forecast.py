"""`recollect forecast`: which memories fade if nobody uses them."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import command
from recollect.cli.memory_view import label
from recollect.cli.options import limit_option
from recollect.cli.phrases import memories_text, quantity
from recollect.cli.rendering import Block, Column, Paragraph, Result, Styled, Table, muted, titled
from recollect.cli.times import iso_day

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recollect.cli.call import Call
    from recollect.dreams.forecast import Forecast
    from recollect.records import Memory

_MONTH = 30
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
    a month and within a year; a dream prunes it only if another memory says the same. Nothing is written.

    In a pipe, each line begins with what it is: `within`, days, kind, how many there are, prunable, archived;
    `memory`, id, the day when it is prunable, the day when it is archived, text; `day`, date, mean strength,
    prunable, archived.
    """
    memory = call.memory()
    at = call.now()
    found = memory.dreams.forecast(days)
    reached = {
        row: [day for day in crossed if day >= 0]
        for row, crossed in enumerate(zip(found.fades_on.tolist(), found.archived_on.tolist(), strict=True))
    }
    # What falls below a threshold, the first ones first.
    rows = sorted(
        (row for row, crossed in reached.items() if crossed),
        key=lambda row: (min(reached[row]), float(found.strength[row]), row),
    )
    named = memory.get_many([int(found.ids[row]) for row in rows[:limit]])
    dates = [iso_day(at + timedelta(days=day), call.zone) for day in range(days + 1)]
    data = _forecast_data(found, rows, named, dates)
    return Result(data, _view(data))


def _forecast_data(
    found: Forecast, rows: Sequence[int], named: Mapping[int, Memory], dates: Sequence[str]
) -> dict[str, Any]:
    """`dates` are those of today and each day after it."""
    named_rows = [row for row in rows if int(found.ids[row]) in named]
    # How many by the end of each day, today first; -1 stands for never.
    prunable, archived = (
        list(accumulate(new[day] for day in range(found.days + 1)))
        for new in (Counter(found.fades_on.tolist()), Counter(found.archived_on.tolist()))
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


def _view(data: Mapping[str, Any]) -> Iterator[Block]:
    if not data["memories"]:
        yield titled("Nothing to predict: the memory is empty.", "changed")
    else:
        kept = f"; {data['kept']:,} pinned or marked, which do not fade" if data["kept"] else ""
        about = Styled(f"  {memories_text(data['memories'])}{kept}", "muted")
        yield Paragraph((Styled("If nobody uses them any more", "strong"), about))
    counts = [
        (str(each["days"]), each["kind"], *(str(each[name]) for name in ("total", "prunable", "archived")))
        for each in data["by_then"]
    ]
    yield Table(("In days", "Kind", "Today", "Prunable", "Archived"), counts, "within")
    if data["soonest"] or data["more"]:
        columns = (
            Column("id", "muted", "whole", right=True),
            Column("Prunable", wrap="whole"),
            Column("Archived", wrap="whole"),
            Column("First to go", wrap="cut", fill=True),
        )
        named = [
            (str(each["id"]), each["prunable_on"], each["archived_on"], each["text"])
            for each in data["soonest"]
        ]
        yield Table(columns, named, "memory", total=len(named) + data["more"])
        yield from muted("Pruned is only what another memory says, too. What is archived is still found.")
    elif data["memories"]:
        yield titled(f"Nothing falls below recall within {quantity(data['days'], 'day')}.", "good")
    by_day = [
        (each["date"], f"{each['mean_strength']:.6g}", str(each["prunable"]), str(each["archived"]))
        for each in data["by_day"]
    ]
    yield Table(("", "", "", ""), by_day, "day", only="pipe")
