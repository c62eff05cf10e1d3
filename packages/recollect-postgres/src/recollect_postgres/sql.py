"""Conditions as PostgreSQL's SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.domain.tables import TABLES, Compares, Equals, Not, OneOf
from recollect.stores.sql import Conditions, column_sql, escaped_like, letter_forms

if TYPE_CHECKING:
    from collections.abc import Collection

    from psycopg import Connection

    from recollect.domain.tables import BelongsTo, Column, Condition, HasRow, KeyIn, Row, Table, Value, Where

STORE_WIDE: frozenset[Table] = frozenset({"applied", "lease", "model", "rotation", "scope", "setting"})
"""Tables whose rows are of no scope. All others have the scope first in their key."""

# Texts that may be longer than an entry of an index may be: their hashes are indexed.
_HASHED = frozenset({"stem", "name", "folded_name", "first_word", "ref", "session", "source"})


class PostgresConditions(Conditions):
    """Conditions in PostgreSQL's SQL. Each key begins with the scope."""

    mark = "%s"
    always, never = "true", "false"
    constants = frozenset({"kind", "in_use", "live", "merged", "pair"})

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def of(self, table: Table, where: Where, row: str, scopes: Collection[int] | None = None) -> str:
        named = any(isinstance(each, (Equals, OneOf)) and each.column == "scope_id" for each in where)
        if table in STORE_WIDE or named:
            return self.all_of(where, table, row)
        return f"{self._within(row, scopes)} AND {self.all_of(where, table, row)}"

    def of_each(self, each: OneOf, row: str, value: str) -> str:
        """The row has this value, an expression, in the column of `each`."""
        column = column_sql(each.column, row)
        same = f"{column} = {value}"
        return f"md5({column}) = md5({value}) AND {same}" if each.column in _HASHED else same

    def _within(self, row: str, scopes: Collection[int] | None) -> str:
        if scopes is None:
            # All of them, and yet by the key, which begins with the scope.
            return f"{row}.scope_id = ANY (ARRAY(SELECT id FROM {self._prefix}scope))"
        if len(scopes) == 1:
            return f"{row}.scope_id = {self.bind(next(iter(scopes)))}"
        return f"{row}.scope_id = ANY ({self.bind(list(scopes))}::bigint[])"

    def expression(self, condition: Condition, table: Table, row: str) -> str:
        match condition:
            case Equals(_, value) if not storable(value):
                return self.never
            case Not(Equals(_, value)) if not storable(value):
                return self.always
            case Compares(column, operator, value) if not storable(value):
                value = str(value).encode("utf-8", "replace").decode().replace("\0", "")
                condition = Compares(column, operator, value)
        return super().expression(condition, table, row)

    def equals(self, column: Column, value: Value, row: str) -> str:
        found = column_sql(column, row)
        hashed = f"md5({found}) = md5({self.bind(value)}) AND " if column in _HASHED else ""
        return f"{hashed}{found} = {self.bind(value)}"

    def one_of(self, column: Column, values: Collection[Any], row: str) -> str:
        given = [value for value in values if storable(value)]
        if not given:
            return self.never
        kind, found, hashed = array_type(given), column_sql(column, row), ""
        if column in _HASHED:
            listed = f"SELECT md5(g) FROM unnest({self.bind(given)}::{kind}) AS g"
            hashed = f"md5({found}) = ANY (ARRAY({listed})) AND "
        return f"{hashed}{found} = ANY ({self.bind(given)}::{kind})"

    def key_in(self, keys: KeyIn, row: str) -> str:
        given = [key for key in dict.fromkeys(keys.keys) if all(map(storable, key))]
        if not given:
            return self.never
        # Column by column first, by which an index finds them; then whole.
        lists = [list(values) for values in zip(*given, strict=True)]
        single = [
            self.expression(OneOf(column, list(dict.fromkeys(values))), "memory", row)
            for column, values in zip(keys.columns, lists, strict=True)
        ]
        casts = ", ".join(f"{self.bind(values)}::{array_type(values)}" for values in lists)
        listed = ", ".join(f"{row}.{column}" for column in keys.columns)
        return " AND ".join((*single, f"({listed}) IN (SELECT * FROM unnest({casts}) AS k)"))

    def has_row(self, condition: HasRow, table: Table, row: str) -> str:
        other, column, inner_row = condition.table, condition.column, f"{row}x"
        source = f"FROM {self._prefix}{other} AS {inner_row} WHERE"
        if other in STORE_WIDE or table in STORE_WIDE:
            inner = self.of(other, condition.where, inner_row)
            return f"{row}.id IN (SELECT {inner_row}.{column} {source} {inner})"
        inner = self.all_of(condition.where, other, inner_row)
        same = f"{inner_row}.scope_id = {row}.scope_id AND {inner_row}.{column} = {row}.id"
        return f"EXISTS (SELECT 1 {source} {same} AND {inner})"

    def belongs_to(self, condition: BelongsTo, row: str) -> str:
        other, owner = condition.table, f"{row}y"
        inner = self.all_of(condition.where, other, owner)
        same = f"{owner}.scope_id = {row}.scope_id AND {owner}.id = {row}.{condition.column}"
        return f"EXISTS (SELECT 1 FROM {self._prefix}{other} AS {owner} WHERE {same} AND {inner})"

    def contains(self, text: str) -> str | None:
        return super().contains(text) if storable(text) else None

    def like(self, text: str) -> tuple[str, str]:
        # Where texts compare byte by byte, ILIKE knows the case of ASCII letters alone.
        if text.isascii():
            return "ILIKE %s", escaped_like(text)
        return "~ %s", "".join(map(_either_case, text))


def storable(value: object) -> bool:
    """Whether a text could be in a table at all: without a NUL, and made of whole characters."""
    if not isinstance(value, str):
        return True
    return "\0" not in value and (value.isascii() or not any("\ud800" <= each <= "\udfff" for each in value))


def array_type(values: Collection[object]) -> str:
    return "text[]" if isinstance(next(iter(values)), str) else "bigint[]"


def _either_case(letter: str) -> str:
    forms = letter_forms(letter)
    if len(forms) > 1:
        return f"[{forms}]"
    return letter if letter.isalnum() else f"\\{letter}"


class Columns:
    """The columns of the tables of one schema."""

    def __init__(self, connection: Connection[Row], schema: str) -> None:
        self.schema = schema
        rows = connection.execute(
            "SELECT c.relname, a.attname, format_type(a.atttypid, NULL), a.attnotnull, a.attgenerated <> '' "
            "FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid "
            "WHERE c.relnamespace = %s::regnamespace AND c.relkind = 'r' "
            "AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attnum",
            (schema,),
        ).fetchall()
        self._types: dict[tuple[str, str], str] = {
            (table, column): kind for table, column, kind, _, _ in rows
        }
        self.nullable = {(table, column) for table, column, _, never_null, _ in rows if not never_null}
        self.stored: dict[str, list[str]] = {}
        """All columns of each table that are given a value."""
        for table, column, _, _, generated in rows:
            if not generated:
                self.stored.setdefault(table, []).append(column)

    def type(self, table: Table, column: str) -> str:
        return self._types[table, column]

    def key(self, table: Table) -> tuple[str, ...]:
        """The primary key: that of every store, with the scope before it."""
        key = TABLES[table].key
        return key if table in STORE_WIDE or "scope_id" in key else ("scope_id", *key)
