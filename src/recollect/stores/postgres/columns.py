"""What the server's catalogue says of our columns: read once, so that no type is written down twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.stores.postgres.sql import STORE_WIDE
from recollect.tables import TABLES

if TYPE_CHECKING:
    from psycopg import Connection

    from recollect.tables import Row, Table


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
        self._nullable = {(table, column) for table, column, _, never_null, _ in rows if not never_null}
        self._stored: dict[str, list[str]] = {}
        for table, column, _, _, generated in rows:
            if not generated:
                self._stored.setdefault(table, []).append(column)

    def type(self, table: Table, column: str) -> str:
        return self._types[table, column]

    def may_be_null(self, table: Table, column: str) -> bool:
        return (table, column) in self._nullable

    def stored(self, table: Table) -> list[str]:
        """All columns that are given a value."""
        return self._stored[table]

    def key(self, table: Table) -> tuple[str, ...]:
        """The primary key: that of every store, with the scope before it."""
        key = TABLES[table].key
        return key if table in STORE_WIDE or "scope_id" in key else ("scope_id", *key)
