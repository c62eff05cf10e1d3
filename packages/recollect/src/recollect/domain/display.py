"""How results look in Python: `repr`, `print`, tables in notebooks, and plain values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar, overload

from recollect.domain.json_values import is_inline, to_json

_Row = TypeVar("_Row")
_Cells = dict[str, Any]

_MOST_LETTERS = 60
_MOST_NESTED_LETTERS = 30
_MOST_QUERY_LETTERS = 40
_MOST_ROWS_IN_REPR = 2
_MOST_ITEMS_IN_REPR = 5
_MOST_ROWS = 50
"""Rows that a printed table shows, so that a long page does not flood a terminal or a notebook."""


class Record:
    """A result. It prints in one line, is a table in a notebook, and turns into plain values."""

    __slots__ = ()

    def __repr__(self) -> str:
        return _short(self)

    def _repr_html_(self) -> str:
        return _html_table((), [self.__cells__()])

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values for `json.dumps` or pandas; times become ISO 8601 texts."""
        return _plain_fields(self)

    def __cells__(self) -> _Cells:
        """Return the fields to show: those that differ from their default."""
        return {name: value for name, value, default in _shown_fields(self) if value != default}


class Rows(Record, Generic[_Row]):
    """A result that holds a sequence: it has a length, can be iterated, indexed and sliced."""

    __slots__ = ()
    __rows__: ClassVar[str]
    """The name of the field that holds the sequence."""

    def __iter__(self) -> Iterator[_Row]:
        return iter(self._items())

    def __len__(self) -> int:
        return len(self._items())

    @overload
    def __getitem__(self, place: int) -> _Row: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[_Row, ...]: ...
    def __getitem__(self, place: int | slice) -> _Row | tuple[_Row, ...]:
        return self._items()[place]

    def __str__(self) -> str:
        return _text_table(_summary(self), list(map(_cells_of, self)))

    def _repr_html_(self) -> str:
        return _html_table(_summary(self), list(map(_cells_of, self)))

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dictionary of plain values for each row, for `json.dumps` or `pandas.DataFrame`."""
        return [_plain(each) for each in self]

    def _items(self) -> tuple[_Row, ...]:
        items: tuple[_Row, ...] = getattr(self, self.__rows__)
        return items

    def __cells__(self) -> _Cells:
        shown = _shown_fields(self)
        return {name: value for name, value, default in shown if name != self.__rows__ and value != default}


def _shown_fields(record: Any) -> Iterator[tuple[str, Any, Any]]:
    for each in fields(record):
        if each.repr:
            default = None if each.default is MISSING else each.default
            yield each.name, getattr(record, each.name), default


def _cells_of(row: object) -> _Cells:
    return row.__cells__() if isinstance(row, Record) else {"": row}


def _says_something(value: object) -> bool:
    return value is not None and not (isinstance(value, tuple | Mapping) and not value)


# Plain values


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if is_dataclass(value):
        return _plain_fields(value)
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, list | tuple | frozenset):
        return list(map(_plain, value))
    return str(value) if isinstance(value, str) else to_json(value)


def _plain_fields(record: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for each in fields(record):
        if is_inline(each):
            plain |= _plain_fields(getattr(record, each.name))
        elif each.repr:
            plain[each.name] = _plain(getattr(record, each.name))
    for name in getattr(record, "__merged__", ()):
        plain |= plain.pop(name)
    return plain


# One line


def _short(value: object, letters: int = _MOST_LETTERS) -> str:
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
        case tuple() if len(value) > 1 and not isinstance(value[0], str | int | float):
            shown = f"[{len(value)} × {type(value[0]).__name__}]"
        case tuple():
            shown = _short_list(value, _MOST_ITEMS_IN_REPR)
        case _:
            shown = _cut(repr(value), letters)
    return shown


def _short_record(record: Record, letters: int) -> str:
    cells = record.__cells__().items()
    letters = min(letters, _MOST_QUERY_LETTERS) if isinstance(record, Rows) else letters
    shown = [f"{name}={_short(each, letters)}" for name, each in cells if _says_something(each)]
    if isinstance(record, Rows):
        shown.append(f"{record.__rows__}={_short_list(record[:], _MOST_ROWS_IN_REPR)}")
    return f"{type(record).__qualname__}({', '.join(shown)})"


def _short_list(items: Sequence[object], most: int) -> str:
    shown = [_short(each, _MOST_NESTED_LETTERS) for each in items[:most]]
    more = len(items) - len(shown)
    return f"[{', '.join([*shown, *([f'… {more} more'] if more else [])])}]"


def _cut(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1].rstrip()}…"


def _time(when: datetime, letters: int) -> str:
    """Return the minute; the day alone for midnight, which is how a day is stored, or where room is short."""
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
    return _short(value)


def _summary(rows: Rows[Any]) -> Iterable[str]:
    for name, value in rows.__cells__().items():
        if _says_something(value):
            yield f"{name.replace('_', ' ')}: {_cell(value)}"
    yield f"{rows.__rows__.replace('_', ' ')}: {len(rows)}"


def _table(rows: Sequence[_Cells]) -> tuple[list[str], list[list[str]]]:
    """Return the columns that any row has, and the cells of each row."""
    columns = list(dict.fromkeys(name for row in rows for name, value in row.items() if value is not None))
    return columns, [[_cell(row.get(name)) for name in columns] for row in rows]


def _text_table(summary: Iterable[str], rows: Sequence[_Cells]) -> str:
    columns, cells = _table(rows[:_MOST_ROWS])
    lines = [columns, *([_cut(each, _MOST_LETTERS) for each in row] for row in cells)] if cells else []
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = (
        "  ".join(each.ljust(width) for each, width in zip(line, widths, strict=True)) for line in lines
    )
    more = [f"… {len(rows) - _MOST_ROWS} more"] if len(rows) > _MOST_ROWS else []
    return "\n".join((", ".join(summary), *(line.rstrip() for line in padded), *more))


def _html_table(summary: Iterable[str], rows: Sequence[_Cells]) -> str:
    from html import escape  # noqa: PLC0415  # only notebooks need it

    columns, cells = _table(rows[:_MOST_ROWS])
    more = [f"… {len(rows) - _MOST_ROWS} more"] if len(rows) > _MOST_ROWS else []
    caption = escape(", ".join((*summary, *more)))
    left = ' style="text-align: left; vertical-align: top"'
    head = "".join(f"<th{left}>{escape(each.replace('_', ' '))}</th>" for each in columns)
    body = "".join(f"<tr>{''.join(f'<td{left}>{escape(each)}</td>' for each in row)}</tr>" for row in cells)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if cells else ""
    return f"<div><p>{caption}</p>{table}</div>" if caption else f"<div>{table}</div>"
