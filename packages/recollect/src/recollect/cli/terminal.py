"""Draw the blocks of a result as lines of text, the same in a terminal and in a pipe."""

from __future__ import annotations

import re
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category, east_asian_width

from recollect.cli.rendering import SIGNS, Card, Column, Message, Paragraph, Styled, Table, Verbatim
from recollect.text.phrases import decimals, one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from recollect.cli.rendering import Block, Cell, Role

_CODES: dict[Role, str] = {
    "muted": "2",
    "strong": "1",
    "name": "36",
    "entity": "1;36",
    "speaker": "1;35",
    "match": "1;33",
    "good": "32",
    "changed": "33",
    "bad": "31",
    "struck": "2;9",
}
"""The SGR codes of each style."""
_GAP = "  "
_NARROWEST = 8
"""Minimum width of a narrowed column. A narrower terminal wraps the lines itself."""
_WORD = re.compile(r" *[^ ]+")
_COMMAND = re.compile(r"(?<=: )recollect .*")


class _Run(NamedTuple):
    """A piece of a line in one style."""

    text: str
    role: Role


_Line = list[_Run]


def draw(blocks: Iterable[Block], *, width: int, color: bool) -> Iterator[str]:
    """Yield the lines of the blocks, with one empty line before and after a table with titles."""
    is_empty = True  # also before the first line
    owed = False
    for block in blocks:
        is_headed = isinstance(block, Card) or (isinstance(block, Table) and not block.grid)
        owed |= is_headed
        for line in _lines(block, width):
            text = _painted(line, color=color)
            blank = not text.strip() and not isinstance(block, Verbatim)
            if owed and not blank and not is_empty:
                yield ""
            if not (blank and is_empty):
                yield text.rstrip() if blank else text
            owed, is_empty = False, blank
        owed = is_headed


def wrap_text(text: str, width: int) -> list[str]:
    """Break a text into lines at its spaces, but never a command, which must work when it is pasted."""
    kept = re.sub(r"`[^`]*`", _without_spaces, text)
    return [text[start:end] for start, end in _breaks(kept, width, inside=False)] or [""]


def _without_spaces(found: re.Match[str]) -> str:
    return found[0].replace(" ", "\0")


def _lines(block: Block, width: int) -> Iterator[_Line]:
    match block:
        case Paragraph(words, indent):
            yield from _indented(_wrapped(_runs(words), width - indent), indent)
        case Message(text, details, mark):
            for place, line in enumerate(_wrapped([_Run(visible(text), "")], width - 2)):
                yield [_Run("  ", "") if place else _Run(f"{SIGNS[mark].text} ", SIGNS[mark].role), *line]
            for detail in details:
                pieces = wrap_text(visible(detail), width - 2)
                yield from ([_Run(f"  {piece}", "muted")] for piece in pieces)
        case Table():
            yield from _indented(_table(block, width - block.indent), block.indent)
            more = max(block.total, len(block.rows)) - len(block.rows[: block.most])
            if more > 0:
                yield [_Run(f"{'':{block.indent + 2}}and {more:,} more", "muted")]
        case Card(title, subtitle, inner):
            yield [*_runs(title), _Run(f"{_GAP}{one_line(subtitle)}", "muted")]
            for each in inner:
                yield from _indented(_lines(each, width - 2), 2)
        case Verbatim(text):
            yield from ([_Run(line, "")] for line in visible(text).split("\n"))


def _indented(lines: Iterable[_Line], indent: int) -> Iterator[_Line]:
    return ([_Run(" " * indent, ""), *line] if indent and line else line for line in lines)


def _table(block: Table, width: int) -> Iterator[_Line]:
    rows = [[_runs(cell) for cell in row] for row in block.rows[: block.most]]
    columns = [
        _column(place, each, is_number=all(isinstance(row[place], int) for row in block.rows))
        for place, each in enumerate(block.columns)
    ]
    for place, column in enumerate(columns):
        if column.wrap == "cut":
            for row in rows:
                row[place] = [_Run(" ".join(text.split("\n")), role) for text, role in row[place]]
    titles = [[_Run(column.title, "strong")] for column in columns]
    has_titles = not block.grid and any(column.title for column in columns)
    shown = [titles, *rows] if has_titles else rows
    widths = _column_widths(columns, shown, width)
    for number, row in enumerate(shown):
        cells = [
            _cell_lines(runs, column, size) for runs, column, size in zip(row, columns, widths, strict=True)
        ]
        for place in range(max(map(len, cells))):
            line: _Line = []
            for lines, column, size in zip(cells, columns, widths, strict=True):
                text = lines[place] if place < len(lines) else []
                padding = _Run(" " * max(0, size - sum(_cell_width(run.text) for run in text)), "")
                styled = [
                    _Run(run.text, run.role or ("" if has_titles and not number else column.role))
                    for run in text
                ]
                line += [_Run(_GAP, "")] if line else []
                line += [padding, *styled] if column.right else [*styled, padding]
            while line and not line[-1].text.strip():
                line.pop()
            yield line
        if has_titles and not number:
            yield [_Run("─" * (sum(widths) + len(_GAP) * (len(widths) - 1)), "muted")]


def _column(place: int, given: Column | str, *, is_number: bool) -> Column:
    """Return the column for a title. The first column holds names, which are not folded."""
    if isinstance(given, Column):
        return given
    return Column(given, "name", "whole") if place == 0 else Column(given, right=is_number)


def _column_widths(columns: Sequence[Column], rows: Sequence[Sequence[_Line]], width: int) -> list[int]:
    """Return the width of each column: its widest line, or less if the rows would not fit."""
    widths = []
    for place, column in enumerate(columns):
        texts = ("".join(run.text for run in row[place]) for row in rows)
        widest = max((_cell_width(line) for text in texts for line in text.split("\n")), default=0)
        widths.append(column.width or min(widest, column.max_width or widest))
    room = width - len(_GAP) * (len(columns) - 1)
    folded = [each.wrap != "whole" and each.width is None for each in columns]
    for first in (True, False):  # narrow the other columns only if narrowing these is not enough
        places = [place for place, may_shrink in enumerate(folded) if may_shrink or not first]
        while places and (excess := sum(widths) - room) > 0:
            place = max(places, key=widths.__getitem__)
            if widths[place] <= _NARROWEST:
                break
            second = max((widths[each] for each in places if widths[each] < widths[place]), default=0)
            widths[place] = max(_NARROWEST, widths[place] - excess, second)
    for place, column in enumerate(columns):
        if column.fill and sum(widths) < room:
            widths[place] += room - sum(widths)
    return widths


def _cell_lines(runs: _Line, column: Column, width: int) -> list[_Line]:
    if column.wrap != "cut":
        return _wrapped(runs, width)
    (line, *more) = _wrapped(runs, width - 1) or [[]]
    if more and sum(_cell_width(run.text) for run in runs) > width:
        return [[*line, _Run("…", "")]]
    return [runs]


def _wrapped(runs: _Line, width: int) -> list[_Line]:
    """Break the runs into lines of at most this width, at spaces where possible."""
    text = "".join(run.text for run in runs)
    roles = [role for piece, role in runs for _ in piece]
    lines = []
    for start, end in _breaks(text, width):
        groups = groupby(range(start, end), key=roles.__getitem__)
        lines.append([_Run("".join(text[each] for each in places), role) for role, places in groups])
    return lines


def _breaks(text: str, width: int, *, inside: bool = True) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each line. With `inside`, also break words that are too long."""
    begin, text = 0, _COMMAND.sub(_without_spaces, text)
    for paragraph in text.split("\n"):
        start = end = begin
        for word in _WORD.finditer(text, begin, begin + len(paragraph)):
            if _cell_width(text[start : word.end()]) > width and end > start:
                yield start, end
                start = word.end() - len(word[0].lstrip(" "))
            breaks = inside and width > 0 and "\0" not in word[0]
            while breaks and start + (fitting := _fitting(text, start, width)) < word.end():
                yield start, start + fitting
                start += fitting
            end = word.end()
        yield start, end
        begin += len(paragraph) + 1


def _fitting(text: str, start: int, width: int) -> int:
    """Return how many characters from `start` on fit, at least one."""
    used = 0
    for place in range(start, len(text)):
        used += _cell_width(text[place])
        if used > width:
            return max(1, place - start)
    return max(1, len(text) - start)


def _cell_width(text: str) -> int:
    """Return the width of a text in terminal cells: a wide character has two, a combining one none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if category(sign) in {"Mn", "Me", "Cf"} else 2 if east_asian_width(sign) in "WF" else 1
        for sign in text
    )


def _runs(cell: Cell) -> _Line:
    match cell:
        case str() | None:
            return [_Run("–" if cell is None else visible(cell), "")]
        case Styled(text, role):
            return [_Run(visible(text), role)]
        case int():
            return [_Run(f"{cell:,}", "")]
        case float():
            return [_Run(decimals(cell), "")]
        case datetime():
            return [_Run(f"{cell:%Y-%m-%d %H:%M}", "")]
        case _:
            return [run for each in cell for run in _runs(each)]


def _painted(line: _Line, *, color: bool) -> str:
    if not color:
        return "".join(run.text for run in line)
    return "".join(
        f"\x1b[{_CODES[role]}m{text}\x1b[0m" if text.strip() and role else text for text, role in line
    )
