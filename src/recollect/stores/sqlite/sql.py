"""Conditions as SQL."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, assert_never

from recollect.conditions import AnyOf, BelongsTo, Compares, Contains, Equals, HasRow, KeyIn, Not, OneOf

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.conditions import Column, Condition, Value, Where

# Compared as constants: only then does the planner see that a partial index will do.
_CONSTANTS = frozenset({"kind", "in_use", "live", "merged"})


_LONGEST_PATTERN = 50_000  # bytes; SQLite compares no longer ones


# Columns that say which few rows are meant; the first one that is compared is how they are found.
_TELLING = ("id", "passage_id")


def condition_sql(where: Where, row: str, found_by: str | None = None) -> tuple[str, list[Value]]:
    """All conditions on a row as one expression, and what to bind to it; "1" where there are none.

    `found_by` is the column by which the rows are found, where the caller knows better than the planner.
    """
    bindings: list[Value] = []
    named = [each.column if isinstance(each, (Equals, OneOf)) else None for each in where]
    key = found_by or next((column for column in _TELLING if column in named), None)
    # The plus: the planner would take any index on a column that is compared for as good as the key.
    parts = [
        _sql(each, row, bindings, "" if key is None or column == key else "+")
        for each, column in zip(where, named, strict=True)
    ]
    return " AND ".join(parts) or "1", bindings


def constrains(where: Where, column: str) -> bool:
    return any(isinstance(each, (Equals, OneOf, Compares)) and each.column == column for each in where)


def json_list(values: Iterable[object]) -> str:
    """Many values as one parameter: `IN (SELECT value FROM json_each(?))`."""
    listed = list(values)
    # Whole numbers are most of it, and Python writes a list of them as JSON does, in a tenth of the time.
    return str(listed) if listed and type(listed[0]) is int else json.dumps(listed)


def _sql(  # noqa: PLR0911, PLR0912  # one branch per shape
    condition: Condition, row: str, bindings: list[Value], plus: str
) -> str:
    match condition:
        case Equals(column, None):
            return f"{plus}{column_sql(column, row)} IS NULL"
        case Equals(column, value):
            if column in _CONSTANTS:
                return f"{plus}{column_sql(column, row)} = {_constant(value)}"
            bindings.append(value)
            return f"{plus}{column_sql(column, row)} = ?"
        case OneOf(column, values):
            if column in _CONSTANTS:
                return f"{plus}{column_sql(column, row)} IN ({', '.join(map(_constant, sorted(values)))})"
            if len(values) == 1 and column != "scope_id":
                bindings.extend(values)
                return f"{plus}{column_sql(column, row)} = ?"
            bindings.append(json_list(values))
            return f"{plus}{column_sql(column, row)} IN (SELECT value FROM json_each(?))"
        case Compares(column, operator, value):
            bindings.append(value)
            return f"{plus}{column_sql(column, row)} {operator} ?"
        case KeyIn(columns, keys):
            bindings.append(json_list(keys))
            listed = ", ".join(f"{row}.{column}" for column in columns)
            values_ = ", ".join(f"value ->> {place}" for place in range(len(columns)))
            return f"({listed}) IN (SELECT {values_} FROM json_each(?))"
        case HasRow(table, column, where):
            inner, more = condition_sql(where, "x")
            bindings.extend(more)
            return f"{plus}{row}.id IN (SELECT x.{column} FROM {table} AS x WHERE {inner})"
        case BelongsTo(column, table, where):
            inner, more = condition_sql(where, "y")
            bindings.extend(more)
            return f"{plus}{row}.{column} IN (SELECT y.id FROM {table} AS y WHERE {inner})"
        case Contains(column, text):
            found = pattern_sql(text)
            if found is None:
                return "0"
            bindings.append(found[1])
            return f"{row}.{column} {found[0]}"
        case Not(Equals(column, None)):
            return f"{plus}{column_sql(column, row)} IS NOT NULL"
        case Not(Equals(column, value)):
            bindings.append(value)
            return f"{plus}{column_sql(column, row)} IS NOT ?"
        case Not(inner_condition):
            return f"NOT ({_sql(inner_condition, row, bindings, plus)})"
        case AnyOf(groups):
            either = " OR ".join(
                f"({' AND '.join(_sql(each, row, bindings, plus) for each in group)})" for group in groups
            )
            return f"({either or '0'})"
        case _:
            assert_never(condition)


def column_sql(column: Column, row: str) -> str:
    if isinstance(column, str):
        return f"{row}.{column}"
    return f"coalesce({', '.join(f'{row}.{each}' for each in column)})"


def _constant(value: object) -> str:
    if isinstance(value, str) and value.isalpha():
        return f"'{value}'"
    if isinstance(value, int):
        return str(int(value))
    raise ValueError(f"not a constant of ours: {value!r}")


def pattern_sql(text: str) -> tuple[str, str] | None:
    """What compares a column with a text that it may contain, and what to bind; None: it is too long."""
    # LIKE knows the case of ASCII letters alone; GLOB knows none, so it is given both.
    compare, pattern = ("LIKE ? ESCAPE '\\'", _like(text)) if text.isascii() else ("GLOB ?", _glob(text))
    return None if len(pattern.encode()) > _LONGEST_PATTERN else (compare, pattern)


def _like(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _glob(text: str) -> str:
    return f"*{''.join(map(_either_case, text))}*"


def _either_case(letter: str) -> str:
    forms = {form for form in (letter, letter.lower(), letter.upper()) if len(form) == 1}
    return f"[{''.join(sorted(forms))}]" if len(forms) > 1 or letter in "*?[" else letter
