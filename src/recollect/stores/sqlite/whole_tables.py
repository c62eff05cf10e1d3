"""Whole tables of an SQLite store, to carry them to another store or to take them from one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import apsw

    from recollect.tables import Row, Table


class SqliteCopySource:
    """Reads every row as it is stored."""

    connection: apsw.Connection

    def stored_columns(self, table: Table) -> Sequence[str]:
        # Hidden ones are computed.
        rows = self.connection.execute(
            "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid", (table,)
        )
        return [str(name) for (name,) in rows]

    def page_key(self, table: Table) -> tuple[str, ...]:
        return TABLES[table].key

    def page(self, table: Table, columns: Sequence[str], after: Row | None, limit: int) -> list[Row]:
        key = self.page_key(table)
        by = ", ".join(f"r.{column}" for column in key)
        condition = "1" if after is None else f"({by}) > ({', '.join('?' * len(key))})"
        listed = [f"r.{column}" for column in (*key, *columns)]
        return self.connection.execute(
            f"SELECT {', '.join(listed)} FROM {table} AS r WHERE {condition} ORDER BY {by} LIMIT ?",
            (*(after or ()), limit),
        ).fetchall()

    def last_ids(self) -> Mapping[Table, int]:
        given: dict[str, int] = dict(self.connection.execute("SELECT name, seq FROM sqlite_sequence"))
        numbered: list[Table] = [table for table, form in TABLES.items() if form.key == ("id",)]
        return {
            table: max(
                given.get(table, 0), self.connection.execute(f"SELECT coalesce(max(id), 0) FROM {table}").get
            )
            for table in numbered
        }


class SqliteCopyTarget(SqliteCopySource):
    """Takes rows with their ids."""

    def fill(self, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        self.connection.executemany(
            f"INSERT INTO {table}({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})", rows
        )

    def refill(self, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        width = len(self.page_key(table))
        found = " AND ".join(f"{column} = ?" for column in columns[:width])
        setting = ", ".join(f"{column} = ?" for column in columns[width:])
        self.connection.executemany(
            f"UPDATE {table} SET {setting} WHERE {found}", [(*row[width:], *row[:width]) for row in rows]
        )

    def finish_copy(self, last_ids: Mapping[Table, int]) -> None:
        # Nothing else keeps SQLite from giving again the id of a row that was the newest and is gone.
        for table, last in last_ids.items():
            self.connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
            if last:
                self.connection.execute("INSERT INTO sqlite_sequence(name, seq) VALUES (?, ?)", (table, last))
