"""The result of a command, and the one place that prints it: as JSON, in a terminal, or in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import click

from recollect.domain.lazy_dataclass import dataclass
from recollect.text.phrases import one_line, visible

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from recollect.stores.port import Progress


Mark = Literal["ok", "note", "problem"]


class Check(NamedTuple):
    """One thing that was looked at, and what to do about it."""

    mark: Mark
    what: str
    said: str
    remedy: str = ""


Role = Literal[
    "", "muted", "strong", "name", "entity", "speaker", "match", "good", "changed", "bad", "struck"
]
"""The role of a piece of text, from which the terminal's style follows."""
Place = Literal["", "pipe", "terminal"]
"""Where a column or a table is shown; empty: in both."""


class Styled(NamedTuple):
    text: str
    role: Role


SIGNS: dict[Mark, Styled] = {
    "ok": Styled("✓", "good"),
    "note": Styled("●", "changed"),
    "problem": Styled("✗", "bad"),
}
Words: TypeAlias = str | Styled | tuple[str | Styled, ...]
Cell: TypeAlias = Words | int | float | datetime | None
"""A pipe gets every digit and second; a terminal gets four decimals and minutes."""


@dataclass(frozen=True, slots=True)
class Column:
    title: str = ""
    role: Role = ""
    wrap: Literal["fold", "whole", "cut"] = "fold"
    """Fold long texts, never fold them, or cut them to one line."""
    right: bool = False
    fill: bool = False
    """Takes the width that the others leave."""
    width: int | None = None
    max_width: int | None = None
    only: Place = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A sentence or a heading, for a terminal only."""

    words: Words = ""
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """A sentence about what was done, with details."""

    text: str
    details: Sequence[str] = ()
    mark: Mark = "ok"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under titles; a title alone is a column with the usual looks."""

    columns: Sequence[Column | str]
    rows: Sequence[Sequence[Cell]]
    word: str = ""
    """The first field of each line in a pipe."""
    grid: bool = False
    """Without titles and rules."""
    indent: int = 0
    most: int | None = None
    """Rows that a terminal shows; it counts the rest."""
    total: int = 0
    """How many there are, where the rows are not all."""
    only: Place = ""


@dataclass(frozen=True, slots=True)
class Card:
    """A frame with a title and a subtitle, for a terminal only."""

    title: Words
    subtitle: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Text to copy or to pipe on; its lines stay as they are."""

    text: str


Block: TypeAlias = "Paragraph | Message | Table | Card | Verbatim"


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a command, in every form in which it is printed."""

    data: Any
    """What `--json` prints: dataclasses, times and mappings may be in it."""
    view: Iterable[Block] = ()
    lines: Iterable[Sequence[str]] | None = None
    """The fields of each line in a pipe; None: the messages and the tables' rows of the view."""
    warnings: Sequence[str] = ()
    """Go to standard error, in every form."""
    hints: Sequence[str] = ()
    """Go to standard error, but not beside JSON."""
    exit_code: int = 0

    @classmethod
    def message(
        cls,
        text: str,
        data: Any,
        details: Sequence[str] = (),
        mark: Mark = "ok",
        warnings: Sequence[str] = (),
        exit_code: int = 0,
    ) -> Result:
        return cls(data, [Message(text, details, mark)], warnings=warnings, exit_code=exit_code)

    @classmethod
    def table(
        cls, data: Any, columns: Sequence[Column | str], rows: Sequence[Sequence[Cell]], footer: str = ""
    ) -> Result:
        """A table alone; the footer says what to do next."""
        return cls(data, [*([Table(columns, rows)] if rows else []), *muted(footer)])


def stacked(*lines: Words) -> Words:
    """Several lines in one cell; empty ones are left out."""
    pieces: list[str | Styled] = []
    for line in lines:
        words = [line] if isinstance(line, str | Styled) else [*line]
        if any(_text(each) for each in words):
            pieces += ["\n", *words] if pieces else words
    return tuple(pieces)


def muted(*lines: str) -> list[Paragraph]:
    return [Paragraph(Styled(line, "muted")) for line in lines if line]


def titled(title: str, role: Role = "strong") -> Paragraph:
    return Paragraph(Styled(title, role))


def right_aligned(*titles: str) -> list[Column]:
    """Columns of numbers."""
    return [Column(title, right=True) for title in titles]


def fields_of(value: Any) -> dict[str, Any]:
    """A dataclass as it is; what is in it stays."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def picked(value: object, *names: str) -> dict[str, Any]:
    """These attributes, in this order."""
    return {name: getattr(value, name) for name in names}


def render(result: Result, *, as_json: bool, terminal: bool, color: bool | None) -> None:
    if as_json:
        import json  # --help needs none

        click.echo(visible(json.dumps(result.data, ensure_ascii=False, indent=2, default=_plain)))
    elif terminal:
        from recollect.cli.terminal import print_blocks  # loads rich

        print_blocks(result.view, color=color)
    else:
        for line in pipe_lines(result):
            click.echo(line)
    for hint in () if as_json else result.hints:
        click.secho(one_line(hint), err=True, dim=True, color=color)
    for warning in result.warnings:
        warn(warning)


def warn(text: str) -> None:
    """Tell something beside the answer, on one line of standard error."""
    click.echo(f"recollect: {one_line(text)}", err=True)


def pipe_lines(result: Result) -> Iterator[str]:
    """One thing on a line, its fields with tabs between."""
    if result.lines is not None:
        yield from ("\t".join(map(one_line, line)) for line in result.lines)
        return
    for block in result.view:
        match block:
            case Message(text, details):
                yield one_line(text)
                yield from (f"  {one_line(detail)}" for detail in details)
            case Table() if block.only != "terminal":
                yield from _table_lines(block)
            case Verbatim(text):
                yield visible(text)


def _table_lines(table: Table) -> Iterator[str]:
    first = [table.word] if table.word else []
    hidden = [isinstance(each, Column) and each.only == "terminal" for each in table.columns]
    for row in table.rows:
        cells = [cell for cell, is_hidden in zip(row, hidden, strict=True) if not is_hidden]
        yield "\t".join(one_line(each) for each in (*first, *map(_text, cells)))


def _text(cell: Cell) -> str:
    match cell:
        case str():
            return cell
        case int():
            return f"{cell:,}"
        case float():
            return repr(cell)
        case datetime():
            return cell.isoformat(timespec="seconds")
        case Styled(text, _):
            return text
        case _:
            return "".join(map(_text, cell or ()))


def _plain(value: object) -> Any:
    """Convert a value that JSON has no form for."""
    if is_dataclass(value) and not isinstance(value, type):
        return fields_of(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


# How far long work has come: on standard error, and only where a person watches


@contextmanager
def progress(*titles: str) -> Iterator[tuple[Progress | None, ...]]:
    """A bar for each stage of the work, gone when all is done; None where no terminal shows them.

    Bars are made when there is something to show, since some work is seldom needed.
    """
    if not sys.stderr.isatty():
        yield (None,) * len(titles)
        return
    with ExitStack() as stack:
        bars = cache(lambda: stack.enter_context(_bars()))
        yield tuple(_stage(bars, title) for title in titles)


def _stage(bars: Callable[[], Bars], title: str) -> Progress:
    task = cache(lambda: bars().add_task(title, total=None, count=""))

    def advance(done: int, total: int | None) -> None:
        bars().update(task(), completed=done, total=total, count="" if total else f"{done:,}")

    return advance


@contextmanager
def steps(*names: str) -> Iterator[Progress | None]:
    """One bar for work in steps, with the name of the current step."""
    if not sys.stderr.isatty():
        yield None
        return
    widest = max(map(len, names))
    with _bars() as bars:
        task = bars.add_task(names[0].ljust(widest), total=len(names), count="")

        def advance(done: int, _: int | None) -> None:
            name = names[min(done, len(names) - 1)]
            bars.update(task, completed=done, description=name.ljust(widest))

        yield advance


def _bars() -> Bars:
    from rich import progress as rich_progress  # only where there is a bar to draw
    from rich.console import Console

    columns = (
        rich_progress.TextColumn("{task.description}"),
        rich_progress.BarColumn(),
        # The share done, or the count where the total is unknown.
        rich_progress.TextColumn("{task.fields[count]}"),
        rich_progress.TaskProgressColumn(),
        rich_progress.TimeElapsedColumn(),
    )
    return rich_progress.Progress(*columns, console=Console(stderr=True), transient=True)
