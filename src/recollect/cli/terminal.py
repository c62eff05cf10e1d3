"""Blocks of a result, drawn for a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich import table as rich_table
from rich.box import ROUNDED, SIMPLE_HEAD
from rich.console import Console, Group
from rich.measure import Measurement
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from recollect.cli.phrases import one_line, visible
from recollect.cli.results import SIGNS, Bar, Card, Column, Message, Paragraph, Styled, Table, Verbatim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import ConsoleOptions, RenderableType

    from recollect.cli.results import Block, Cell, Role, Words


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
_EIGHTHS = " ▏▎▍▌▋▊▉"
_NARROWEST_BAR, _WIDEST_BAR = 8, 32


def print_blocks(blocks: Iterable[Block], *, color: bool | None) -> None:
    """`color`: False for tables without it, True for a terminal's look even where there is none."""
    console = Console(
        highlight=False,
        soft_wrap=False,
        force_terminal=True if color else None,
        no_color=True if color is False else None,
    )
    for block in blocks:
        if isinstance(block, Verbatim):  # never folded
            console.print(Text(visible(block.text)), soft_wrap=True)
        else:
            console.print(_drawn(block))


def _drawn(block: Block) -> RenderableType:
    match block:
        case Paragraph(words, indent):
            return Padding(_styled(words), (0, 0, 0, indent)) if indent else _styled(words)
        case Message(text, details, mark):
            lines = [Text(visible(text)), *(Text(visible(line), "dim") for line in details)]
            grid = rich_table.Table.grid(padding=(0, 1))
            grid.add_row(_styled(SIGNS[mark]), Group(*lines))
            return grid
        case Table():
            drawn = _table(block)
            return Padding(drawn, (0, 0, 0, block.indent)) if block.indent else drawn
        case Card(title, subtitle, blocks):
            return Panel(
                Padding(Group(*map(_drawn, blocks)), (0, 1)),
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
    if block.grid:
        drawn = rich_table.Table.grid(padding=(0, 2, 0, 0))
    else:
        titled = any(column.title for column in columns)
        drawn = rich_table.Table(box=SIMPLE_HEAD, show_header=titled, header_style="bold", padding=(0, 1))
    drawn.expand = any(column.fill for column in columns)
    for column in columns:
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
    for row in block.rows:
        drawn.add_row(*(_cell(cell, column) for cell, column in zip(row, columns, strict=True)))
    return drawn


def _column(place: int, given: Column | str, *, is_number: bool) -> Column:
    """A title alone: the first column names things, in one piece."""
    if isinstance(given, Column):
        return given
    return Column(given, "name", "whole") if place == 0 else Column(given, right=is_number)


def _cell(cell: Cell, column: Column) -> RenderableType:
    if isinstance(cell, Bar):
        return _DrawnBar(cell)
    text = _styled(f"{cell:,}" if isinstance(cell, int) else cell)
    if column.wrap == "cut" and "\n" in text.plain:
        text = Text(one_line(text.plain))
    return text


def _styled(words: Words) -> Text:
    match words:
        case str():
            return Text(visible(words))
        case Styled(text, role):
            return Text(visible(text), _STYLES[role])
        case _:
            return Text.assemble(*map(_styled, words))


@dataclass(frozen=True, slots=True)
class _DrawnBar:
    """As long as the score after a step; what the step added is green, what it took is red."""

    bar: Bar

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        width = min(options.max_width, _WIDEST_BAR)
        before, after = self._eighths(self.bar.before, width), self._eighths(self.bar.after, width)
        if after >= before:
            whole = before // 8
            kept, changed = "█" * whole, _blocks(after - 8 * whole)
            yield Text.assemble((kept, "blue"), (changed, "green" if after > before else "blue"))
        else:
            kept = _blocks(after)
            yield Text.assemble((kept, "blue"), ("░" * (round(before / 8) - len(kept)), "red"))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(_NARROWEST_BAR, _WIDEST_BAR).with_maximum(options.max_width)

    def _eighths(self, score: float, width: int) -> int:
        if score <= 0 or self.bar.full <= 0:
            return 0
        return max(1, round(8 * width * score / self.bar.full))


def _blocks(eighths: int) -> str:
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
