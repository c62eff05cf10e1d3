"""A forecast for a terminal: a table, a curve, and what fades first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from recollect.cli.dates import day
from recollect.cli.visible import one_line
from recollect.cli.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime, tzinfo

    from rich.console import Console, ConsoleOptions, RenderableType

    from recollect.cli.outlook import Outlook

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_NARROWEST, _WIDEST = 20, 72
_AXIS = 6
"""Letters of the numbers beside a curve."""


def foretold(told: Outlook, at: datetime, zone: tzinfo | None) -> Iterator[RenderableType]:
    if not told.memories:
        yield Text("Nothing to foretell: the memory is empty.", "yellow")
        return
    kept = f"; {told.kept:,} pinned or marked, which do not fade" if told.kept else ""
    memories = counted(told.memories, "memory", "memories")
    yield Text.assemble(("If nobody uses them any more", "bold"), (f"  {memories}{kept}", "dim"))
    yield _table(told)
    ends = (day(at, zone), day(at + timedelta(days=told.days), zone))
    yield Text("Mean strength", "bold")
    yield Curve(told.mean_strength, 1.0, "blue", "1.00", *ends)
    top = max(told.faded[-1], told.archived[-1])
    if top:
        yield Text.assemble(("\nPrunable", "bold"), ("  weak, stale, of no use", "dim"))
        yield Curve(told.faded, float(told.memories), "red", f"{told.memories:,}", *ends)
        yield ""
        yield _soonest(told, at, zone)
        yield Text("Pruned is only what another memory says, too. What is archived is still found.", "dim")
    else:
        yield Text(f"\nNothing falls below recall within {counted(told.days, 'day')}.", "green")


def _table(told: Outlook) -> Table:
    table = Table(box=SIMPLE_HEAD, header_style="bold", padding=(0, 1))
    table.add_column("", style="cyan", no_wrap=True)
    table.add_column("today", justify="right")
    for days in told.horizons:
        for what in ("prunable", "archived"):
            table.add_column(f"{what}\nin {counted(days, 'day')}", justify="right")
    by_kind = {(each.kind, each.days): each for each in told.counts}
    kinds = list(dict.fromkeys(each.kind for each in told.counts))
    for kind in kinds:
        cells = [by_kind[kind, days] for days in told.horizons]
        table.add_row(
            kind,
            f"{cells[0].total:,}",
            *(number for cell in cells for number in (f"{cell.faded:,}", f"{cell.archived:,}")),
        )
    if len(kinds) > 1:
        sums = []
        for days in told.horizons:
            cells = [by_kind[kind, days] for kind in kinds]
            sums += [sum(cell.faded for cell in cells), sum(cell.archived for cell in cells)]
        table.add_section()
        table.add_row("all", f"{told.memories:,}", *(f"{number:,}" for number in sums))
    return table


def _soonest(told: Outlook, at: datetime, zone: tzinfo | None) -> Table:
    table = Table(box=SIMPLE_HEAD, header_style="bold", padding=(0, 1), expand=True)
    table.add_column("Prunable", no_wrap=True)
    table.add_column("Archived", no_wrap=True)
    table.add_column("First to go", ratio=1, overflow="ellipsis", no_wrap=True)
    table.add_column("", style="dim", justify="right", no_wrap=True)

    def date(days: int | None) -> str:
        return "" if days is None else day(at + timedelta(days=days), zone)

    for each in told.soonest:
        table.add_row(date(each.fades_on), date(each.archived_on), Text(one_line(each.text)), f"#{each.id}")
    if told.more:
        table.add_row("", "", Text(f"and {told.more:,} more", "dim"), "")
    return table


@dataclass(frozen=True, slots=True)
class Curve:
    """Values over time, filled from the ground, with a scale at its left and the two ends below."""

    values: Sequence[float]
    full: float
    style: str
    top: str
    first: str
    last: str
    height: int = 5

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        width = max(_NARROWEST, min(options.max_width, _WIDEST) - _AXIS - 2)
        rows = drawn(self.values, self.full, width, self.height)
        for place, row in enumerate(rows):
            scale = self.top if place == 0 else "0" if place == len(rows) - 1 else ""
            yield Text.assemble(
                (f"{scale:>{_AXIS}} ┤" if scale else f"{'':>{_AXIS}} │", "dim"), (row, self.style)
            )
        gap = max(1, width - len(self.first) - len(self.last))
        yield Text(f"{'':>{_AXIS + 2}}{self.first}{'':{gap}}{self.last}", "dim")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(_NARROWEST + _AXIS + 2, _WIDEST).with_maximum(options.max_width)


def drawn(values: Sequence[float], full: float, width: int, height: int) -> list[str]:
    """Rows of block characters, the highest first; each column is the value at its place in time."""
    last = len(values) - 1
    columns = [values[round(place * last / max(width - 1, 1))] for place in range(width)]
    # Whatever is there at all is seen.
    eighths = [max(round(8 * height * value / full), 1 if value > 0 else 0) for value in columns]
    return [
        "".join(_EIGHTHS[min(max(each - 8 * row, 0), 8)] for each in eighths)
        for row in reversed(range(height))
    ]
