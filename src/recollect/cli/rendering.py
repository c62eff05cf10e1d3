"""The one place that prints results: as JSON, as tables in a terminal, or as plain lines in a pipe."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.phrases import one_line, visible
from recollect.cli.results import Bar, Block, Cell, Message, Result, Styled, Table, Verbatim
from recollect.cli.shapes import fields_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def render(result: Result, *, as_json: bool, terminal: bool, color: bool | None) -> None:
    if as_json:
        click.echo(json.dumps(result.data, ensure_ascii=False, indent=2, default=_plain))
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
        yield from map(_tabbed, result.lines)
        return
    for block in result.view:
        yield from _block_lines(block)


def _block_lines(block: Block) -> Iterator[str]:
    match block:
        case Message(text, details):
            yield one_line(text)
            yield from (f"  {one_line(detail)}" for detail in details)
        case Table(_, rows, word):
            first = [word] if word else []
            yield from (_tabbed([*first, *map(_text, row)]) for row in rows)
        case Verbatim(text):
            yield visible(text)
        case _:
            pass


def _tabbed(cells: Iterable[str]) -> str:
    return "\t".join(map(one_line, cells))


def _text(cell: Cell) -> str:
    match cell:
        case str():
            return cell
        case int():
            return f"{cell:,}"
        case Styled(text, _):
            return text
        case Bar():
            return ""
        case _:
            return "".join(map(_text, cell))


def _plain(value: object) -> Any:
    """What JSON has no form for."""
    if is_dataclass(value) and not isinstance(value, type):
        return fields_of(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
