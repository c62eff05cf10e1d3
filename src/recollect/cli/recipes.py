"""Profiles for a terminal: one in full, or two side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from recollect.cli.recipe import parts, said
from recollect.cli.visible import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from rich.console import RenderableType

    from recollect.cli.recipe import Difference, Part
    from recollect.engine.tuning import Numbers
    from recollect.rank.pipeline import Profile


def profiled(profile: Profile, numbers: Numbers | None = None) -> Iterator[RenderableType]:
    yield Text.assemble((one_line(profile.name), "bold cyan"), "  ", one_line(profile.about))
    listed = parts(profile)
    yield Text("\nSearches", "bold")
    yield _numbered([part for part in listed if part.where == "retrieve"])
    yield Text("\nSteps", "bold")
    yield _numbered([part for part in listed if part.where == "steps"])
    if numbers is not None:
        yield from _tuned(numbers)


def _tuned(numbers: Numbers) -> Iterator[RenderableType]:
    yield Text(f"\nTuned, version {numbers.version}", "bold")
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="cyan", no_wrap=True)
    grid.add_column(justify="right")
    grid.add_column(style="dim")
    for name, value in numbers.tuned.items():
        grid.add_row(name, f"{value:.6g}", f"published {numbers.published[name]:.6g}")
    yield grid if numbers.tuned else Text("as published", "dim")
    if numbers.note:
        yield Text(one_line(numbers.note), "yellow")


def compared(first: Profile, second: Profile, differences: Sequence[Difference]) -> Iterator[RenderableType]:
    if not differences:
        yield Text(f"{one_line(first.name)} and {one_line(second.name)} rank alike.", "green")
        return
    table = Table(box=SIMPLE_HEAD, header_style="bold", padding=(0, 1))
    table.add_column("", style="cyan", no_wrap=True)
    table.add_column(Text(one_line(first.name)), ratio=1)
    table.add_column(Text(one_line(second.name)), ratio=1)
    for each in differences:
        name = f"by {each.name}" if each.where == "retrieve" else each.name
        table.add_row(Text(name), _side(each.first), _side(each.second))
    yield table


def _numbered(listed: Sequence[Part]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=3, justify="right", style="dim")
    grid.add_column(style="cyan", no_wrap=True)
    grid.add_column()
    for number, part in enumerate(listed, start=1):
        lines = [Text(part.said)] if part.said else []
        grid.add_row(str(number), Text(part.name), Group(*lines, Text(part.about, "dim")))
    return grid


def _side(numbers: Mapping[str, Any] | None) -> Text:
    if numbers is None:
        return Text("–", "dim")
    return Text(said(numbers) or "✓")
