"""Conditions as PostgreSQL's SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from recollect.conditions import AnyOf, BelongsTo, Compares, Contains, Equals, HasRow, KeyIn, Not, OneOf

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from recollect.conditions import Column, Condition, Where
    from recollect.tables import Table

STORE_WIDE: frozenset[Table] = frozenset({"applied", "lease", "model", "rotation", "scope", "setting"})
"""Tables whose rows are of no scope. All others have the scope first in their key."""

# Compared as constants, so that the planner sees that a partial index will do.
_CONSTANTS = frozenset({"kind", "in_use", "live", "merged", "pair"})
# Texts that may be longer than an entry of an index may be: their hashes are indexed.
_HASHED = frozenset({"stem", "name", "folded_name", "first_word", "ref", "session", "source"})

_LONGEST_PATTERN = 50_000  # bytes, as in SQLite

Binding = Any


class Conditions:
    """Conditions on the row `row` of a table, as one expression with its bindings.

    `scopes` are those that may be seen, where the conditions name none themselves; None: all of them.
    """

    def __init__(self, schema: str) -> None:
        self.schema = schema
        self.bindings: list[Binding] = []

    def of(self, table: Table, where: Where, row: str, scopes: Collection[int] | None = None) -> str:
        parts = []
        if table not in STORE_WIDE and not names_scope(where):
            parts.append(self._within(row, scopes))
        return " AND ".join([*parts, self.each(where, table, row)])

    def each(self, where: Where, table: Table, row: str) -> str:
        """The conditions alone, whatever the scope."""
        return " AND ".join(self._one(condition, table, row) for condition in where) or "true"

    def of_each(self, each: OneOf, row: str, value: str) -> str:
        """The row has this value, an expression, in the column of `each`."""
        same = f"{column_expression(each.column, row)} = {value}"
        return (
            f"md5({column_expression(each.column, row)}) = md5({value}) AND {same}"
            if each.column in _HASHED
            else same
        )

    def _within(self, row: str, scopes: Collection[int] | None) -> str:
        if scopes is None:
            # All of them, and yet by the key, which begins with the scope.
            return f"{row}.scope_id = ANY (ARRAY(SELECT id FROM {self.schema}.scope))"
        if len(scopes) == 1:
            self.bindings.extend(scopes)
            return f"{row}.scope_id = %s"
        self.bindings.append(list(scopes))
        return f"{row}.scope_id = ANY (%s::bigint[])"

    def _one(  # noqa: PLR0911, PLR0912  # one branch per shape
        self, condition: Condition, table: Table, row: str
    ) -> str:
        match condition:
            case Equals(column, None):
                return f"{column_expression(column, row)} IS NULL"
            case Equals(column, value):
                return self._equals(column, value, row)
            case OneOf(column, values):
                return self._one_of(column, values, row)
            case Compares(column, operator, value):
                if not storable(value):
                    value = str(value).encode("utf-8", "replace").decode().replace("\0", "")
                self.bindings.append(value)
                return f"{column_expression(column, row)} {operator} %s"
            case KeyIn(columns, keys):
                return self._key_in(columns, keys, row)
            case HasRow(other, column, where):
                return self._has_row(other, column, where, table, row)
            case BelongsTo(column, other, where):
                inner = self.each(where, other, f"{row}y")
                return (
                    f"EXISTS (SELECT 1 FROM {self.schema}.{other} AS {row}y WHERE "
                    f"{row}y.scope_id = {row}.scope_id AND {row}y.id = {row}.{column} AND {inner})"
                )
            case Contains(column, text):
                found = contained_pattern(text)
                if found is None:
                    return "false"
                self.bindings.append(found[1])
                return f"{row}.{column} {found[0]}"
            case Not(Equals(column, None)):
                return f"{column_expression(column, row)} IS NOT NULL"
            case Not(Equals(column, value)):
                if not storable(value):
                    return "true"
                self.bindings.append(value)
                return f"{column_expression(column, row)} IS DISTINCT FROM %s"
            case Not(inner):
                return f"NOT ({self._one(inner, table, row)})"
            case AnyOf(groups):
                either = " OR ".join(
                    f"({' AND '.join(self._one(each, table, row) for each in group) or 'true'})"
                    for group in groups
                )
                return f"({either or 'false'})"
            case _:
                assert_never(condition)

    def _equals(self, column: Column, value: object, row: str) -> str:
        if column in _CONSTANTS:
            return f"{column_expression(column, row)} = {_constant(value)}"
        if not storable(value):
            return "false"
        self.bindings.append(value)
        same = f"{column_expression(column, row)} = %s"
        if column not in _HASHED:
            return same
        self.bindings.append(value)
        return f"md5({column_expression(column, row)}) = md5(%s) AND {same}"

    def _one_of(self, column: Column, values: Collection[object], row: str) -> str:
        if not values:
            return "false"
        if column in _CONSTANTS:
            return (
                f"{column_expression(column, row)} IN ({', '.join(map(_constant, sorted(values, key=str)))})"
            )
        given = [value for value in values if storable(value)]
        if not given:
            return "false"
        kind = array_type(given)
        self.bindings.append(given)
        if column not in _HASHED:
            return f"{column_expression(column, row)} = ANY (%s::{kind})"
        self.bindings.append(given)
        value = column_expression(column, row)
        return (
            f"md5({value}) = ANY (ARRAY(SELECT md5(g) FROM unnest(%s::{kind}) AS g)) "
            f"AND {value} = ANY (%s::{kind})"
        )

    def _key_in(self, columns: tuple[str, ...], keys: Iterable[tuple[object, ...]], row: str) -> str:
        given = [key for key in dict.fromkeys(keys) if all(map(storable, key))]
        if not given:
            return "false"
        # Column by column first, by which an index finds them; then whole.
        lists = [list(values) for values in zip(*given, strict=True)]
        single = [
            self._one_of(column, list(dict.fromkeys(values)), row)
            for column, values in zip(columns, lists, strict=True)
        ]
        casts = ", ".join(f"%s::{array_type(values)}" for values in lists)
        self.bindings.extend(lists)
        listed = ", ".join(f"{row}.{column}" for column in columns)
        whole = f"({listed}) IN (SELECT * FROM unnest({casts}) AS k)"
        return " AND ".join((*single, whole))

    def _has_row(self, other: Table, column: str, where: Where, table: Table, row: str) -> str:
        inner_row = f"{row}x"
        if other in STORE_WIDE or table in STORE_WIDE:
            inner = self.of(other, where, inner_row)
            return (
                f"{row}.id IN (SELECT {inner_row}.{column} FROM {self.schema}.{other} AS {inner_row} "
                f"WHERE {inner})"
            )
        inner = self.each(where, other, inner_row)
        return (
            f"EXISTS (SELECT 1 FROM {self.schema}.{other} AS {inner_row} WHERE "
            f"{inner_row}.scope_id = {row}.scope_id AND {inner_row}.{column} = {row}.id AND {inner})"
        )


def names_scope(where: Where) -> bool:
    return any(isinstance(each, (Equals, OneOf)) and each.column == "scope_id" for each in where)


def storable(value: object) -> bool:
    """Whether a text could be in a table at all: without a NUL, and made of whole characters."""
    if not isinstance(value, str):
        return True
    return "\0" not in value and (value.isascii() or not any("\ud800" <= each <= "\udfff" for each in value))


def array_type(values: Collection[object]) -> str:
    return "text[]" if isinstance(next(iter(values)), str) else "bigint[]"


def column_expression(column: Column, row: str) -> str:
    if isinstance(column, str):
        return f"{row}.{column}"
    return f"coalesce({', '.join(f'{row}.{each}' for each in column)})"


def _constant(value: object) -> str:
    if isinstance(value, str) and value.isalpha():
        return f"'{value}'"
    if isinstance(value, int):
        return str(int(value))
    raise ValueError(f"not a constant of ours: {value!r}")


def contained_pattern(text: str) -> tuple[str, str] | None:
    """What compares a column with a text that it may contain, and what to bind; None: no column could."""
    if not storable(text):
        return None
    # Where texts compare byte by byte, ILIKE knows the case of ASCII letters alone.
    compare, pattern = ("ILIKE %s", _like(text)) if text.isascii() else ("~ %s", _either_case(text))
    return None if len(pattern.encode()) > _LONGEST_PATTERN else (compare, pattern)


def _like(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _either_case(text: str) -> str:
    """A pattern of the letters in either case, as far as the other one is one letter."""
    return "".join(map(_letter_forms, text))


def _letter_forms(letter: str) -> str:
    forms = sorted({form for form in (letter, letter.lower(), letter.upper()) if len(form) == 1})
    if len(forms) > 1:
        return f"[{''.join(forms)}]"
    return letter if letter.isalnum() else f"\\{letter}"
