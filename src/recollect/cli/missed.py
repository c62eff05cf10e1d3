"""Why a memory was not returned, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recollect.cli.headings import heading
from recollect.cli.visible import visible
from recollect.cli.waterfall import figure, longest, waterfall
from recollect.cli.wording import shortened, with_remedy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import tzinfo

    from rich.console import RenderableType

    from recollect.engine.whynot import Branch, WhyNot
    from recollect.rank.whynot import Standing

# What the score of each search is.
_MEASURES = {"meaning": "cosine", "words": "BM25", "nearby": "weight", "linked": "share"}


def missed(why: WhyNot, zone: tzinfo | None) -> Iterator[RenderableType]:
    yield heading(why.memory, zone)
    if why.memory.text:
        yield Text(shortened(visible(why.memory.text), 160))
    yield Text(visible(why.verdict), "bold")
    if why.branches:
        yield _searches(why.branches)
    if why.standing is not None and why.standing.place is not None:
        found = any(branch.reached for branch in why.branches)
        yield _place(why.standing, why.standing.place, found=found)
        full = max(longest([why.standing.reasons]), why.standing.needed or 0.0)
        yield Padding(waterfall(why.standing.reasons, full, why.standing.costs), (0, 0, 0, 2))
        yield ""
    for advice in why.advice:
        yield _pointed(advice)


def _searches(branches: Sequence[Branch]) -> Table:
    table = Table(box=SIMPLE_HEAD, header_style="bold", padding=(0, 1))
    table.add_column("Search", style="cyan")
    table.add_column("Rank", justify="right")
    table.add_column("Score")
    table.add_column("Taken")
    table.add_column("")
    for branch in branches:
        score = "–" if branch.score is None else f"{_MEASURES[branch.name]} {branch.score:.2f}"
        table.add_row(
            branch.name,
            "–" if branch.rank is None else f"{branch.rank:,}",
            score,
            f"the first {branch.taken:,}",
            _outcome(branch),
        )
    return table


def _outcome(branch: Branch) -> Text:
    if branch.reached:
        return Text("✓ a candidate", "green")
    return Text("✗ not found" if branch.rank is None else "✗ too far down", "red")


def _place(standing: Standing, place: int, *, found: bool) -> Text:
    begins = "It stands" if found else "Taken in all the same, it would stand"
    list_ = (
        "the list is not full"
        if standing.needed is None
        else f"the last on the list has {figure(standing.needed)}"
    )
    return Text(f"{begins} at place {place:,} with {figure(standing.score)}; {list_}.")


def _pointed(advice: str) -> Table:
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_row(Text("→", "yellow"), Text(visible(with_remedy(advice))))
    return grid
