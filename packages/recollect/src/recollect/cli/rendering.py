"""The result of a command, and the one place that prints it: as JSON or as text."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from functools import cache
from shutil import get_terminal_size
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import click

from recollect.domain.lazy_dataclass import dataclass
from recollect.text.phrases import one_line, visible

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from recollect.stores.port import Progress

_ENVIRON: Mapping[str, str] = os.environ  # noqa: TID251  # a convention of all programs, not a setting of Recollect

Mark = Literal["ok", "note", "problem"]


class Check(NamedTuple):
    """The result of one check, and what to do about it."""

    mark: Mark
    what: str
    said: str
    remedy: str = ""


Role = Literal[
    "", "muted", "strong", "name", "entity", "speaker", "match", "good", "changed", "bad", "struck"
]
"""The meaning of a piece of text, which decides its style."""


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


@dataclass(frozen=True, slots=True)
class Column:
    title: str = ""
    role: Role = ""
    wrap: Literal["fold", "whole", "cut"] = "fold"
    """Long texts: `fold` breaks them into lines, `whole` never does, `cut` shows one line."""
    right: bool = False
    fill: bool = False
    """Whether the column takes the width that the others leave."""
    width: int | None = None
    max_width: int | None = None


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A sentence or a heading."""

    words: Words = ""
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """A sentence about the result of the command, with details."""

    text: str
    details: Sequence[str] = ()
    mark: Mark = "ok"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under titles. A title given as a text makes a column with the default style."""

    columns: Sequence[Column | str]
    rows: Sequence[Sequence[Cell]]
    grid: bool = False
    """Whether to leave out titles and rules."""
    indent: int = 0
    most: int | None = None
    """Maximum number of rows to show; the others are counted."""
    total: int = 0
    """The number of all rows, if `rows` has only some of them."""


@dataclass(frozen=True, slots=True)
class Card:
    """Blocks under a title and a subtitle."""

    title: Words
    subtitle: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Text to copy or to pipe; its lines are not wrapped."""

    text: str


Block: TypeAlias = "Paragraph | Message | Table | Card | Verbatim"


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a command, as data and as text."""

    data: Any
    """The value that `--json` prints; it may hold dataclasses, times and mappings."""
    view: Iterable[Block] = ()
    warnings: Sequence[str] = ()
    """Printed to standard error, also with `--json`."""
    hints: Sequence[str] = ()
    """Printed to standard error, but not with `--json`."""
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
        """Return a table with a footer that suggests the next command."""
        return cls(data, [*([Table(columns, rows)] if rows else []), *muted(footer)])


def stacked(*lines: Words) -> Words:
    """Join lines into one cell; skip empty lines."""
    pieces: list[str | Styled] = []
    for line in lines:
        words = [line] if isinstance(line, str | Styled) else [*line]
        if any(each if isinstance(each, str) else each.text for each in words):
            pieces += ["\n", *words] if pieces else words
    return tuple(pieces)


def muted(*lines: str) -> list[Paragraph]:
    return [Paragraph(Styled(line, "muted")) for line in lines if line]


def titled(title: str, role: Role = "strong") -> Paragraph:
    return Paragraph(Styled(title, role))


def right_aligned(*titles: str) -> list[Column]:
    """Return right-aligned columns, for numbers."""
    return [Column(title, right=True) for title in titles]


def fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass, with unconverted values."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def picked(value: object, *names: str) -> dict[str, Any]:
    """Return these attributes of a value, in this order."""
    return {name: getattr(value, name) for name in names}


def render(result: Result, *, as_json: bool, color: bool | None) -> None:
    """Print a result. `color` is the option; None leaves it to the environment and the terminal."""
    if as_json:
        import json  # not loaded for --help

        click.echo(visible(json.dumps(result.data, ensure_ascii=False, indent=2, default=_plain)))
    else:
        from recollect.cli.terminal import draw  # not loaded for --help

        painted = wants_color(color, sys.stdout)
        for line in draw(result.view, width=get_terminal_size().columns, color=painted):
            click.echo(line, color=painted)
        for hint in filter(None, result.hints):
            tell(one_line(hint), color, dim=True)
    for warning in result.warnings:
        if as_json and result.exit_code:
            fail("refused", warning, "", as_json=True)
        else:
            warn(warning, color)


def wants_color(option: bool | None, stream: IO[str]) -> bool:
    """Whether to use colours: by the option, else NO_COLOR, else FORCE_COLOR, else if it is a terminal."""
    if option is not None:
        return option
    if _ENVIRON.get("NO_COLOR"):
        return False
    return bool(_ENVIRON.get("FORCE_COLOR")) or (stream.isatty() and _ENVIRON.get("TERM") != "dumb")


def warn(text: str, color: bool | None = None) -> None:
    """Print a warning to standard error."""
    tell(f"recollect: {one_line(text)}", color)


def fail(kind: str, message: str, hint: str, *, as_json: bool) -> None:
    """Print an error to standard error, for a person or for a program."""
    if not as_json:
        warn(f"{message} {hint}")
        return
    import json

    told = {"error": kind, "message": one_line(message), **({"hint": hint} if hint else {})}
    click.echo(json.dumps(told, ensure_ascii=False), err=True)


def tell(text: str, color: bool | None, *, dim: bool = False) -> None:
    """Print to standard error: wrapped in a terminal, on one line in a log."""
    painted, lines = wants_color(color, sys.stderr), [text]
    if painted or sys.stderr.isatty():
        from recollect.cli.terminal import wrap_text  # not loaded for --help

        lines = wrap_text(text, get_terminal_size().columns)
    for line in lines:
        click.echo(click.style(line, dim=True) if dim else line, err=True, color=painted)


def _plain(value: object) -> Any:
    """Convert a value that `json.dumps` does not accept."""
    if is_dataclass(value) and not isinstance(value, type):
        return fields_of(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"A value of type {type(value).__name__} cannot be written as JSON")


# The progress of long work, shown on standard error if it is a terminal


@contextmanager
def progress(*titles: str) -> Iterator[tuple[Progress | None, ...]]:
    """Show a progress bar for each stage of the work; yield None without a terminal.

    A bar appears at its first step, because some stages are rarely needed.
    """
    if not sys.stderr.isatty():
        yield (None,) * len(titles)
        return
    with ExitStack() as stack:
        bars = cache(lambda: stack.enter_context(_bars()))
        yield tuple(_stage(bars, title) for title in titles)


def _stage(bars: Callable[[], Bars], title: str) -> Progress:
    task = cache(lambda: bars().add_task(title, total=None))
    return lambda done, total: bars().update(task(), completed=done, total=total)


@contextmanager
def steps(*names: str) -> Iterator[Progress | None]:
    """Show one bar for work in steps, with the name of the current step."""
    if not sys.stderr.isatty():
        yield None
        return
    widest = max(map(len, names))
    with _bars() as bars:
        task = bars.add_task(names[0].ljust(widest), total=len(names))

        def advance(done: int, _: int | None) -> None:
            name = names[min(done, len(names) - 1)]
            bars.update(task, completed=done, description=name.ljust(widest))

        yield advance


def _bars() -> Bars:
    from rich import progress as rich_progress  # few commands draw a bar
    from rich.console import Console
    from rich.text import Text

    class Count(rich_progress.ProgressColumn):
        """Shows `1,200 of 5,000 · 310/s · 12 s left`, without the unknown parts."""

        def render(self, task: rich_progress.Task) -> Text:
            known = [f"{task.completed:,.0f}" + (f" of {task.total:,.0f}" if task.total else "")]
            known += [f"{task.speed:,.{0 if task.speed >= 10 else 1}f}/s"] if task.speed else []
            left = task.time_remaining
            known += [f"{timedelta(seconds=int(left))} left"] if left and task.total else []
            return Text(" · ".join(known))

    columns = (rich_progress.TextColumn("{task.description}"), rich_progress.BarColumn(20), Count())
    return rich_progress.Progress(*columns, console=Console(stderr=True), transient=True)
