"""Whole tables of a PostgreSQL store, to carry them to another store or to take them from one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from recollect.stores.postgres.sql import STORE_WIDE
from recollect.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from psycopg import Connection

    from recollect.stores.postgres.columns import Columns
    from recollect.tables import Row, Table

_OWN = {"scope": frozenset({"change", "last_vector", "last_life"})}
"""What the store notes for itself."""
_NUMBERED: tuple[Table, ...] = tuple(table for table, form in TABLES.items() if form.key == ("id",))


class PostgresCopySource:
    """Reads every row as it is stored, scope by scope, as the primary keys go."""

    connection: Connection[Row]
    columns: Columns
    schema: str

    def stored_columns(self, table: Table) -> Sequence[str]:
        own = _OWN.get(table, frozenset())
        return [column for column in self.columns.stored(table) if column not in own]

    def page_key(self, table: Table) -> tuple[str, ...]:
        return self.columns.key(table)

    def page(self, table: Table, columns: Sequence[str], after: Row | None, limit: int) -> list[Row]:
        key = self.page_key(table)
        by = ", ".join(f"r.{column}" for column in key)
        later = "" if after is None else f"WHERE ({by}) > ({', '.join(['%s'] * len(key))}) "
        listed = ", ".join(f"r.{column}" for column in (*key, *columns))
        return self.connection.execute(
            f"SELECT {listed} FROM {self.schema}.{table} AS r {later}ORDER BY {by} LIMIT %s",
            (*(after or ()), limit),
            binary=True,
        ).fetchall()

    def last_ids(self) -> Mapping[Table, int]:
        # A sequence that never gave a number has its first one as its last.
        each = " UNION ALL ".join(
            f"SELECT '{table}', CASE WHEN is_called THEN last_value ELSE 0 END "
            f"FROM {self.schema}.{table}_id_seq"
            for table in _NUMBERED
        )
        given: dict[str, int] = dict(self.connection.execute(each).fetchall())
        return {table: given[table] for table in _NUMBERED}


class PostgresCopyTarget(PostgresCopySource, ABC):
    """Takes rows with their ids: in arrays, since row-level security refuses COPY."""

    @abstractmethod
    def hold(self, scopes: Collection[int] | None) -> None: ...

    @abstractmethod
    def change(self, text: str, bindings: Sequence[Any] = ()) -> int: ...

    @abstractmethod
    def _insert(self, table: Table, values: dict[str, list[Any]], *, keep: bool = False) -> None: ...

    def fill(self, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        if not rows:
            return
        values = dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))
        self._insert(table, values)
        if table not in STORE_WIDE:
            self._mark_with(values["scope_id"])

    def refill(self, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        if not rows:
            return
        width = len(self.page_key(table))
        found = " AND ".join(f"r.{column} = v.{column}" for column in columns[:width])
        setting = ", ".join(f"{column} = v.{column}" for column in columns[width:])
        arrays = ", ".join(f"%b::{self.columns.type(table, column)}[]" for column in columns)
        self.change(
            f"UPDATE {self.schema}.{table} AS r SET {setting} FROM unnest({arrays}) "
            f"AS v({', '.join(columns)}) WHERE {found}",
            [list(values) for values in zip(*rows, strict=True)],
        )
        self._mark_with([row[columns.index("scope_id")] for row in rows])

    def _mark_with(self, scopes: Sequence[int]) -> None:
        """Hold one of the scopes: by its mark, a commit that nobody acknowledged can be asked after."""
        self.hold({min(scopes)})

    def finish_copy(self, last_ids: Mapping[Table, int]) -> None:
        for table, last in last_ids.items():
            self.change(
                f"SELECT setval('{self.schema}.{table}_id_seq', greatest(%s::bigint, 1), %s)",
                (last, last > 0),
            )
        self.change(
            f"UPDATE {self.schema}.scope AS s SET last_vector = coalesce((SELECT max(v.id) "
            f"FROM {self.schema}.vector AS v WHERE v.scope_id = s.id), 0)"
        )
        # Until the server looks by itself, its planner would take full tables for empty ones.
        for table in TABLES:
            self.change(f"ANALYZE {self.schema}.{table}")
