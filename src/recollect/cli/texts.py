"""Notes, messages, talks and timelines, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import ROUNDED
from rich.cells import cell_len
from rich.console import Group
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from recollect.cli.dates import clock, long_day, moment
from recollect.cli.headings import fields, heading, retired, who
from recollect.cli.visible import one_line, visible
from recollect.cli.wording import counted, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import tzinfo

    from rich.console import RenderableType

    from recollect.cli.replies import Links, OpenedText
    from recollect.engine.results import History
    from recollect.records import Memory

# What ends something is red, what begins something green, what changes something yellow.
_STYLES = {
    "created": "green",
    "noted": "green",
    "said": "green",
    "observed": "green",
    "related": "green",
    "updated": "yellow",
    "supersedes": "yellow",
    "superseded": "red",
    "forgotten": "red",
    "removed": "red",
    "ended": "red",
    "unrelated": "red",
}


def text_card(text: OpenedText, zone: tzinfo | None) -> Panel:
    memory = text.memory
    gone = memory.deleted_at is not None or memory.superseded_at is not None
    inside: list[RenderableType] = [Text(visible(memory.text or memory.name), "dim" if gone else "")]
    known = [*fields(memory, zone)]
    if text.mentions:
        known.append(("speaks of", ", ".join(each.name for each in text.mentions)))
    known += linked(text.links)
    if known:
        inside += ["", pairs(known)]
    if len(text.around) > 1:
        inside += ["", _around(text)]
    return Panel(
        Padding(Group(*inside), (0, 1)),
        box=ROUNDED,
        title=Text(one_line(who(memory) or memory.kind), "bold magenta"),
        title_align="left",
        subtitle=Text(f"{memory.kind} · #{memory.id}", "dim"),
        subtitle_align="right",
        border_style="dim",
    )


def talk(turns: Sequence[Memory], zone: tzinfo | None) -> Iterator[RenderableType]:
    """Turns in order, under the days on which they were said."""
    widest = min(16, max((cell_len(one_line(who(turn))) for turn in turns), default=0))
    day = None
    for turn in turns:
        today = "undated" if turn.undated else long_day(turn.created_at, zone)
        if today != day:
            yield Rule(Text(today, "dim"), style="dim", align="left")
            day = today
        yield _turn(turn, zone, widest)


def timeline(history: History, zone: tzinfo | None) -> Iterator[RenderableType]:
    yield heading(history.memory, zone)
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for event in history.events:
        what = Text.assemble(("● ", _STYLES.get(event.what, "")), event.what)
        grid.add_row(moment(event.at, zone), what, Text(visible(event.detail)))
    yield grid


def linked(links: Links) -> Iterator[tuple[str, str]]:
    """What keeps coming up together with a memory, the most often first."""
    for place, (other, weight) in enumerate(links):
        said = shortened(other.name or other.text, 100)
        yield "" if place else "comes up with", f"{said}  #{other.id}, {counted(weight, 'answer')}"


def pairs(known: Sequence[tuple[str, str]]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in known:
        grid.add_row(name, Text(visible(value)))
    return grid


def _around(text: OpenedText) -> Table:
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=1)
    grid.add_column(no_wrap=True)
    grid.add_column()
    for turn in text.around:
        here = turn.id == text.memory.id
        style = "bold" if here else "dim"
        said = Text(shortened(visible(turn.text), 120), style)
        grid.add_row(Text("▸" if here else "", "magenta"), Text(one_line(who(turn)), style), said)
    return grid


def _turn(turn: Memory, zone: tzinfo | None, widest: int) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0), expand=True)
    grid.add_column(width=5, style="dim")
    grid.add_column(width=widest, overflow="ellipsis", no_wrap=True)
    grid.add_column(ratio=1, overflow="fold")
    grid.add_column(justify="right", style="dim", no_wrap=True)
    at = "" if turn.undated else clock(turn.created_at, zone)
    said = Text(visible(turn.text), "dim" if turn.superseded_at is not None else "")
    if turn.superseded_at is not None:
        said.append(f"  {retired(turn)}", "red")
    style = "bold cyan" if turn.role == "assistant" else "bold magenta"
    grid.add_row(at, Text(one_line(who(turn)), style), said, f"#{turn.id}")
    return grid
