"""How results look in Python: `repr`, `print`, and tables in notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Any

from recollect.domain.json_values import Record, Rows

_MOST_LETTERS = 60
_MOST_NESTED_LETTERS = 30
_MOST_QUERY_LETTERS = 40
_MOST_ROWS_IN_REPR = 2
_MOST_ITEMS_IN_REPR = 5
_MOST_COLUMNS = 6
_MOST_ROWS = 50
"""Rows that a printed table shows, so that a long page does not flood a terminal or a notebook."""


def _cells_of(row: object) -> dict[str, Any]:
    return row.__cells__() if isinstance(row, Record) else {"": row}


def _says_something(value: object) -> bool:
    return value is not None and not (isinstance(value, tuple | Mapping) and not value)


# One line


def short_text(value: object, letters: int = _MOST_LETTERS) -> str:
    """Return a representation of bounded length."""
    match value:
        case Record():
            shown = _short_record(value, letters)
        case str():
            shown = repr(_cut(str(value), letters))
        case float():
            shown = f"{value:.3g}"
        case datetime():
            shown = _time(value, letters)
        case Mapping():
            shown = f"{{{len(value)} keys}}"
        case (first, _, *_) if len({*map(type, value)}) == 1 and not isinstance(first, str | int | float):
            shown = f"[{len(value)} × {type(first).__name__}]"
        case tuple():
            shown = _short_list(value, _MOST_ITEMS_IN_REPR)
        case _:
            shown = _cut(repr(value), letters)
    return shown


def _short_record(record: Record, letters: int) -> str:
    cells = record.__cells__().items()
    letters = min(letters, _MOST_QUERY_LETTERS) if isinstance(record, Rows) else letters
    shown = [f"{name}={short_text(each, letters)}" for name, each in cells if _says_something(each)]
    if isinstance(record, Rows):
        shown.append(f"{record.__rows__}={_short_list(record[:], _MOST_ROWS_IN_REPR)}")
    return f"{type(record).__qualname__}({', '.join(shown)})"


def _short_list(items: Sequence[object], most: int) -> str:
    shown = [short_text(each, _MOST_NESTED_LETTERS) for each in items[:most]]
    more = len(items) - len(shown)
    return f"[{', '.join([*shown, *([f'… {more} more'] if more else [])])}]"


def _cut(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1].rstrip()}…"


def _time(when: datetime, letters: int) -> str:
    """Return the day and minute; only the day at midnight, which means a whole day, or if space is short."""
    only_day = letters < _MOST_LETTERS or (when.hour, when.minute) == (0, 0)
    return f"{when:%Y-%m-%d}" if only_day else f"{when:%Y-%m-%d %H:%M}"


# Tables


def _cell(value: object) -> str:
    """Return a value on one line, without control characters."""
    match value:
        case None:
            return ""
        case str():
            line = " ".join(str(value).split())
            return "".join(letter if letter.isprintable() else "\ufffd" for letter in line)
    return short_text(value)


def _summary(rows: Rows[Any]) -> Iterable[str]:
    for name, value in rows.__cells__().items():
        if _says_something(value):
            yield f"{name.replace('_', ' ')}: {_cell(value)}"
    yield f"{rows.__rows__.replace('_', ' ')}: {len(rows)}"


def _table(
    rows: Sequence[dict[str, Any]], cell: Callable[[object], str] = _cell
) -> tuple[list[str], list[list[str]]]:
    """Return the columns that any row has, and the cells of each row."""
    columns = list(dict.fromkeys(name for row in rows for name, value in row.items() if value is not None))
    return columns, [[cell(row.get(name)) for name in columns] for row in rows]


def text_table(result: Rows[Any]) -> str:
    """Return a summary, and one line for each row."""
    summary, rows = _summary(result), list(map(_cells_of, result))
    columns, cells = _table(rows[:_MOST_ROWS])
    lines = [columns, *([_cut(each, _MOST_LETTERS) for each in row] for row in cells)] if cells else []
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = (
        "  ".join(each.ljust(width) for each, width in zip(line, widths, strict=True)) for line in lines
    )
    more = [f"… {len(rows) - _MOST_ROWS} more"] if len(rows) > _MOST_ROWS else []
    return "\n".join((", ".join(summary), *(line.rstrip() for line in padded), *more))


def html_table(result: Record) -> str:
    """Return a table for a notebook, with a row for each row of the result or, if many, for each field."""
    if isinstance(result, Rows):
        return _html_rows(list(map(_html_cells, result)), _summary(result))
    if len(fields := _html_cells(result)) <= _MOST_COLUMNS:
        return _html_rows([fields])
    shown = ((name, value) for name, value in fields.items() if _says_something(value))
    return _html_rows([{"": name.replace("_", " "), "value": value} for name, value in shown])


def _html_cells(row: object) -> dict[str, Any]:
    reasons = getattr(row, "reasons", ())
    return {**_cells_of(row), **({"reasons": reasons} if reasons else {})}


def _html_rows(rows: Sequence[dict[str, Any]], caption: Iterable[str] = ()) -> str:
    columns, cells = _table(rows[:_MOST_ROWS], _html_cell)
    more = [f"… {len(rows) - _MOST_ROWS} more"] if len(rows) > _MOST_ROWS else []
    above = escape(", ".join((*caption, *more)))
    left = ' style="text-align: left; vertical-align: top"'
    head = "".join(f"<th{left}>{escape(each.replace('_', ' '))}</th>" for each in columns)
    body = "".join(f"<tr>{''.join(f'<td{left}>{each}</td>' for each in row)}</tr>" for row in cells)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if cells else ""
    return f"<div><p>{above}</p>{table}</div>" if above else f"<div>{table}</div>"


def _html_cell(value: Any) -> str:
    """Return records as nested tables, and other lists with one line for each item."""
    match value:
        case Record():
            return html_table(value)
        case (first, *_) if hasattr(first, "effect"):
            scores = [_cell(each.score) for each in value]
            pairs = zip(value, scores, ["0", *scores], strict=False)
            changed = [each.__cells__() for each, score, before in pairs if score != before]
            unchanged = len(scores) - len(changed)
            return _html_rows(changed, [f"steps that changed nothing: {unchanged}"] if unchanged else ())
        case (Record() as first, *_) if not hasattr(first, "text"):
            return _html_rows(list(map(_html_cells, value)))
        case tuple():
            return "<br>".join(escape(_cell(getattr(each, "text", each))) for each in value[:_MOST_ROWS])
    return escape(_cell(value))
