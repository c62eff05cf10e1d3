"""Blocks of a result, drawn for a terminal."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from rich import table as rich_table
from rich.box import ROUNDED, SIMPLE_HEAD
from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from recollect.cli.rendering import SIGNS, Card, Column, Message, Paragraph, Styled, Table, Verbatim
from recollect.text.phrases import decimals, one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from recollect.cli.rendering import Block, Cell, Role

_STYLES: dict[Role, str] = {
    "": "",
    "muted": "dim",
    "strong": "bold",
    "name": "cyan",
    "entity": "bold cyan",
    "speaker": "bold magenta",
    "match": "bold yellow",
    "good": "green",
    "changed": "yellow",
    "bad": "red",
    "struck": "dim strike",
}


def print_blocks(blocks: Iterable[Block], *, color: bool | None) -> None:
    """`color`: False for tables without it, True for a terminal's look even in a pipe."""
    console = Console(
        highlight=False,
        soft_wrap=False,
        force_terminal=True if color else None,
        no_color=True if color is False else None,
    )
    for block in blocks:
        if isinstance(block, Verbatim):  # never folded
            console.print(Text(visible(block.text)), soft_wrap=True)
        elif not (isinstance(block, Table) and block.only == "pipe"):
            console.print(_renderable(block))


def _renderable(block: Block) -> RenderableType:
    match block:
        case Paragraph(words, indent):
            return Padding(_styled(words), (0, 0, 0, indent)) if indent else _styled(words)
        case Message(text, details, mark):
            lines = [Text(visible(text)), *(Text(visible(line), "dim") for line in details)]
            grid = rich_table.Table.grid(padding=(0, 1))
            grid.add_row(_styled(SIGNS[mark]), Group(*lines))
            return grid
        case Table():
            drawn: RenderableType = _table(block)
            more = max(block.total, len(block.rows)) - len(block.rows[: block.most])
            if more > 0:
                drawn = Group(drawn, Padding(Text(f"and {more:,} more", "dim"), (0, 0, 0, 2)))
            return Padding(drawn, (0, 0, 0, block.indent)) if block.indent else drawn
        case Card(title, subtitle, blocks):
            return Panel(
                Padding(Group(*map(_renderable, blocks)), (0, 1)),
                box=ROUNDED,
                title=_styled(title),
                title_align="left",
                subtitle=Text(one_line(subtitle), "dim"),
                subtitle_align="right",
                border_style="dim",
            )
        case Verbatim(text):
            return Text(visible(text))


def _table(block: Table) -> rich_table.Table:
    columns = [
        _column(place, each, is_number=all(isinstance(row[place], int) for row in block.rows))
        for place, each in enumerate(block.columns)
    ]
    shown = [place for place, column in enumerate(columns) if column.only != "pipe"]
    if block.grid:
        drawn = rich_table.Table.grid(padding=(0, 2, 0, 0))
    else:
        has_titles = any(columns[place].title for place in shown)
        drawn = rich_table.Table(box=SIMPLE_HEAD, show_header=has_titles, header_style="bold", padding=(0, 1))
    drawn.expand = any(columns[place].fill for place in shown)
    for place in shown:
        column = columns[place]
        drawn.add_column(
            Text(visible(column.title)),
            style=_STYLES[column.role],
            justify="right" if column.right else "left",
            no_wrap=column.wrap != "fold",
            overflow="ellipsis" if column.wrap == "cut" else "fold",
            ratio=1 if column.fill else None,
            width=column.width,
            max_width=column.max_width,
        )
    for row in block.rows[: block.most]:
        texts = (_styled(row[place]) for place in shown)
        drawn.add_row(
            *(
                Text(one_line(text.plain)) if columns[place].wrap == "cut" and "\n" in text.plain else text
                for place, text in zip(shown, texts, strict=True)
            )
        )
    return drawn


def _column(place: int, given: Column | str, *, is_number: bool) -> Column:
    """A title alone: the first column names things, in one piece."""
    if isinstance(given, Column):
        return given
    return Column(given, "name", "whole") if place == 0 else Column(given, right=is_number)


def _styled(cell: Cell) -> Text:
    match cell:
        case str() | None:
            return Text("–" if cell is None else visible(cell))
        case Styled(text, role):
            return Text(visible(text), _STYLES[role])
        case int():
            return Text(f"{cell:,}")
        case float():
            return Text(decimals(cell))
        case datetime():
            return Text(f"{cell:%Y-%m-%d %H:%M}")
        case _:
            return Text.assemble(*map(_styled, cell))
