"""Write rows over one PostgreSQL connection, inside a transaction."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from recollect.domain.errors import StoreDamaged
from recollect.domain.records import Kind
from recollect.domain.tables import TABLES, Equals, OneOf
from recollect.stores.check import with_checksums
from recollect.stores.sql import SqlTransaction
from recollect_postgres.snapshot import STORE_WIDE, PostgresSnapshot
from recollect_postgres.vectors import PgVector, insert_server_vectors

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from psycopg import Connection, Cursor

    from recollect.domain.tables import Row, Swap, Table, Values, Where
    from recollect_postgres.snapshot import Columns, Statement
    from recollect_postgres.vectors import VectorCaches

# Caches that lack more changes than this are rebuilt faster than updated.
_LOG_LIMIT = 50_000
_MOST_RESERVED = 64
"""The maximum number of ids that are reserved in advance. Unused ones are lost."""
_RESERVED_TOGETHER: Mapping[Table, tuple[Table, ...]] = {"memory": ("memory", "passage", "vector")}
"""Ids that are reserved together: most new memories also get a passage and a vector."""
# Columns whose change must change the history stamp; empty for all columns.
_STAMPED_COLUMNS: Mapping[Table, frozenset[str]] = {
    "memory": frozenset(
        {"kind", "scope_id", "created_at", "name", "type", "text", "speaker", "superseded_at", "deleted_at"}
    ),
    "observation": frozenset({"memory_id", "content", "created_at", "superseded_at", "deleted_at"}),
    "revision": frozenset(),
    "absence": frozenset(),
    "passage": frozenset({"memory_id", "observation_id", "revision_id", "live"}),
    "vector": frozenset(),
}


class PostgresTransaction(SqlTransaction, PostgresSnapshot):
    """Sends rows in batches: statements without an answer go with the next query."""

    is_writing = True

    def __init__(
        self,
        connection: Connection[Row],
        columns: Columns,
        caches: VectorCaches | PgVector,
        scopes: Sequence[int] | None,
    ) -> None:
        super().__init__(connection, columns, caches, scopes)
        self.locked: dict[int, int] = {}
        """The locked scopes, each with its change number."""
        self._all_locked = False
        self._scope_of_row: dict[tuple[Table, int], int] = {}
        self._cached_rows: dict[Table, dict[tuple[Any, ...], list[Row]]] = {}
        """Results of queries on store-wide tables that this transaction has not changed since."""
        self._history_changed = False
        self._new_texts: set[int] = set()
        self._present_passages: set[int] = set()
        self._reserved_ids: dict[Table, tuple[list[int], int]] = {}
        self._pending_rows: dict[Table, dict[tuple[str, ...], dict[str, list[Any]]]] = {}
        """New rows, by their columns. The rows of a table become one statement."""
        self._unsent: list[Statement] = []
        """Statements without an answer, which are sent with the next query."""

    def ask(self, text: str, bindings: Sequence[Any] = ()) -> list[Row]:
        """Run a query after all pending writes."""
        self._queue_inserts()
        if not self._unsent:
            return super().ask(text, bindings)
        return self._execute_all([(text, bindings)])[0].fetchall()

    def change(self, text: str, bindings: Sequence[Any] = ()) -> int:
        return self._execute_all([(text, bindings)])[0].rowcount

    def send_later(self, text: str, bindings: Sequence[Any] = ()) -> None:
        self._unsent.append((text, bindings))

    def send(self) -> None:
        """Send all pending rows, so that the server accepts or refuses them now."""
        self._queue_inserts()
        if self._unsent:
            self._execute_all([])

    def _execute_all(self, statements: Sequence[Statement]) -> list[Cursor[Row]]:
        self._queue_inserts()
        before, self._unsent = self._unsent, []
        return super()._execute_all([*before, *statements])[len(before) :]

    def _queue_inserts(self) -> None:
        """Make statements of the new rows, owners first."""
        waiting, self._pending_rows = self._pending_rows, {}
        for table in TABLES if waiting else ():
            for values in waiting.get(table, {}).values():
                self._insert(table, values)
                if table == "vector":
                    self._note_vectors(values)

    def rows(self, table: Table, columns: Sequence[str], where: Where = (), **shape: Any) -> list[Row]:
        simple = shape.keys() <= {"limit"} and all(isinstance(each, Equals) for each in where)
        if table not in STORE_WIDE or not simple:
            return super().rows(table, columns, where, **shape)
        # Cache these rows: they are read for every row of a batch, and only this transaction changes them.
        known, key = self._cached_rows.setdefault(table, {}), (*columns, *where, *shape.values())
        if key not in known:
            known[key] = super().rows(table, columns, where, **shape)
        return known[key]

    # Scopes of rows, and their locks

    def lock_scopes(self, scopes: Collection[int] | None) -> None:
        new = None if scopes is None else sorted(set(scopes) - self.locked.keys())
        if new == [] or (new is None and self._all_locked):
            return
        self._all_locked = self._all_locked or new is None
        # Ids that were reserved before the lock may be lower than those of newer rows of other writers.
        self._reserved_ids.clear()
        # In order of id, so that two transactions cannot deadlock.
        which = "" if new is None else "WHERE id = ANY (%s::bigint[]) "
        rows = self.ask(
            f"UPDATE {self.schema}.scope AS s SET change = s.change + 1 FROM "
            f"(SELECT id FROM {self.schema}.scope {which}ORDER BY id FOR UPDATE) AS held "
            "WHERE s.id = held.id AND NOT s.id = ANY (%s::bigint[]) RETURNING s.id, s.change",
            [*([] if new is None else [new]), list(self.locked)],
        )
        self.locked.update(rows)
        missed = [] if new is None else [scope for scope in new if scope not in self.locked]
        if missed:
            # Otherwise it would be written without a lock.
            raise StoreDamaged(
                f"Scope {missed[0]} does not exist, or is hidden here, so it cannot be locked. "
                "Nothing was written."
            )

    def _scopes_by_id(self, table: Table, ids: Collection[int]) -> dict[int, int]:
        """Return the scope of each of these rows that exists."""
        if self.scopes is not None and len(self.scopes) == 1:
            return dict.fromkeys(ids, self.scopes[0])
        unknown = [id_ for id_ in ids if (table, id_) not in self._scope_of_row]
        if unknown:
            for id_, scope in self.rows(table, ("id", "scope_id"), (OneOf("id", unknown),)):
                self._scope_of_row[table, id_] = scope
        return {id_: self._scope_of_row[table, id_] for id_ in ids if (table, id_) in self._scope_of_row}

    def _scopes_of(self, table: Table, rows: Sequence[Values]) -> list[int]:
        """Lock and return the scope of each new row: its own, or its owner's."""
        if "scope_id" in rows[0]:
            scopes = [row["scope_id"] for row in rows]
        else:
            column, owner = next(
                (column, owner) for column, owner in TABLES[table].owners.items() if owner not in STORE_WIDE
            )
            known = self._scopes_by_id(owner, {row[column] for row in rows})
            missing = {row[column] for row in rows} - known.keys()
            if missing:
                raise StoreDamaged(f"There is no {owner} {min(missing)} that a {table} could belong to.")
            scopes = [known[row[column]] for row in rows]
        self.lock_scopes(set(scopes))
        return scopes

    # Writing

    def put(self, table: Table, rows: Sequence[Values], *, keep: bool = False) -> list[int]:
        if not rows:
            return []
        rows = with_checksums(table, rows)
        values: dict[str, list[Any]] = {column: [row[column] for row in rows] for column in rows[0]}
        if table not in STORE_WIDE:
            values["scope_id"] = self._scopes_of(table, rows)
        if TABLES[table].key != ("id",):
            self._note_change(table)
            self._insert(table, _drop_duplicates(values, self.columns.key(table), keep=keep), keep=keep)
            return []
        ids = values["id"] = self._reserve_ids(table, values.get("id"), len(rows))
        if table == "scope":
            if self.scopes is not None:
                # Row-level security must allow the new scope before it is inserted.
                self.scopes = [*self.scopes, *ids]
                seen = f"{{{','.join(map(str, self.scopes))}}}"
                self.send_later("SELECT set_config('recollect.scopes', %s, true)", [seen])
            self._insert(table, values)
            self.lock_scopes(ids)
            return ids
        if table in STORE_WIDE:
            self._note_change(table)
            self._insert(table, values)
            return ids
        self._note_history(table, values)
        self._scope_of_row.update(
            ((table, id_), scope) for id_, scope in zip(ids, values["scope_id"], strict=True)
        )
        by_columns = self._pending_rows.setdefault(table, {})
        known = by_columns.setdefault(tuple(values), {column: [] for column in values})
        for column, new in values.items():
            known[column] += new
        return ids

    def _note_history(self, table: Table, values: dict[str, list[Any]]) -> None:
        """Check whether new rows matter to queries about the past. Rows of new notes and messages do not."""
        if table == "passage":
            new = zip(values["id"], values["memory_id"], values["live"], strict=True)
            self._present_passages.update(
                id_ for id_, memory, live in new if live and memory in self._new_texts
            )
        elif table == "vector":
            self._history_changed |= not self._present_passages.issuperset(values["passage_id"])
        elif table == "memory":
            new_texts = zip(values["id"], values["kind"], strict=True)
            self._new_texts.update(id_ for id_, kind in new_texts if kind != Kind.ENTITY)
            ends = (*values.get("deleted_at", ()), *values.get("superseded_at", ()))
            self._history_changed |= any(end is not None for end in ends)
        elif table in _STAMPED_COLUMNS:
            self._history_changed = True

    def _reserve_ids(self, table: Table, given: list[int] | None, count: int) -> list[int]:
        if given is not None:
            # Move the sequence past these ids.
            sequence = f"{self.schema}.{table}_id_seq"
            super().ask(
                f"SELECT setval('{sequence}', %s) FROM {sequence} WHERE last_value < %s",
                [max(given), max(given)],
            )
            return given
        left, before = self._reserved_ids.get(table, ([], 0))
        if len(left) < count:
            # After many ids, more are likely to follow. Unused ones are lost.
            missing = max(count - len(left), min(before // 8, _MOST_RESERVED))
            tables = _RESERVED_TOGETHER.get(table, (table,))
            listed = ", ".join(f"nextval('{self.schema}.{each}_id_seq')" for each in tables)
            reserved = super().ask(f"SELECT {listed} FROM generate_series(1, %s) ORDER BY 1", [missing])
            for each, new in zip(tables, zip(*reserved, strict=True), strict=True):
                left, before = self._reserved_ids.get(each, ([], 0))
                self._reserved_ids[each] = [*left, *new], before
            left, before = self._reserved_ids[table]
        self._reserved_ids[table] = left[count:], before + count
        return left[:count]

    def before_change(self, table: Table, columns: Iterable[str] | None = None, where: Where = ()) -> None:
        """Note the change, and lock the scopes of these rows."""
        self._note_change(table, columns)
        if table in STORE_WIDE or (self.scopes is not None and self.locked.keys() >= set(self.scopes)):
            return
        condition, bindings = self.condition(table, where)
        scopes = f"SELECT DISTINCT r.scope_id FROM {self.schema}.{table} AS r WHERE {condition}"
        self.lock_scopes({scope for (scope,) in self.ask(scopes, bindings)})

    def _note_change(self, table: Table, columns: Iterable[str] | None = None) -> None:
        self._queue_inserts()
        self._cached_rows.pop(table, None)
        read = _STAMPED_COLUMNS.get(table)
        if read is not None and (columns is None or not read or not read.isdisjoint(columns)):
            self._history_changed = True

    def finish(self) -> None:
        """Queue the last writes before the commit."""
        self._queue_inserts()
        if self._history_changed:
            self.send_later(
                f"INSERT INTO {self.schema}.history_stamp(scope_id, stamp) "
                "SELECT scope, %s FROM unnest(%s::bigint[]) AS scope "
                "ON CONFLICT (scope_id, id) DO UPDATE SET stamp = EXCLUDED.stamp",
                [secrets.randbits(62), list(self.locked)],
            )

    def commit(self) -> str | None:
        """Commit without a time limit for standbys, and return the server's status.

        Do not use a pipeline: psycopg ends it with another sync message, for which a pooler would reserve
        a connection for ever.
        """
        cursor = self.connection.execute("SET LOCAL statement_timeout = 0; COMMIT")
        while cursor.nextset():
            pass
        return cursor.statusmessage

    def _insert(self, table: Table, values: dict[str, list[Any]], *, keep: bool = False) -> None:
        names, key = list(values), self.columns.key(table)
        listed = ", ".join(names)
        conflict = ""
        if TABLES[table].key != ("id",):
            others = [name for name in names if name not in key]
            setting = ", ".join(f"{name} = EXCLUDED.{name}" for name in others)
            action = f"DO UPDATE SET {setting}" if others and not keep else "DO NOTHING"
            conflict = f" ON CONFLICT ({', '.join(key)}) {action}"
        if len(values[names[0]]) == 1:
            marks = ", ".join("%b" for _ in names)
            self.send_later(
                f"INSERT INTO {self.schema}.{table}({listed}) VALUES ({marks}){conflict}",
                [values[name][0] for name in names],
            )
            return
        arrays = ", ".join(f"%b::{self.columns.type(table, name)}[]" for name in names)
        self.send_later(
            f"INSERT INTO {self.schema}.{table}({listed}) SELECT * FROM unnest({arrays}){conflict}",
            [values[name] for name in names],
        )

    def _note_vectors(self, values: Mapping[str, list[Any]]) -> None:
        """Record the newest vectors for caches, and add them to pgvector."""
        newest: dict[int, int] = {}
        for id_, scope in zip(values["id"], values["scope_id"], strict=True):
            newest[scope] = max(id_, newest.get(scope, 0))
        for scope, id_ in newest.items():
            self.send_later(
                f"UPDATE {self.schema}.scope SET last_vector = greatest(last_vector, %s) WHERE id = %s",
                [id_, scope],
            )
        if isinstance(self._caches, PgVector):
            columns = [values[name] for name in ("scope_id", "id", "model_id", "passage_id", "embedding")]
            rows = zip(*columns, strict=True)
            insert_server_vectors(self.send_later, self._caches, self.schema, rows)

    def swap(self, table: Table, column: str, rows: Iterable[Swap], where: Where = ()) -> int:
        given = list(rows)
        if not given:
            return 0
        ids, former, new = map(list, zip(*given, strict=True))
        self.before_change(table, [column], (OneOf("id", ids),))
        kind = self.columns.type(table, column)
        condition, bindings = self.condition(table, where)
        return self.change(
            f"UPDATE {self.schema}.{table} AS r SET {column} = v.new "
            f"FROM unnest(%b::bigint[], %b::{kind}[], %b::{kind}[]) AS v(id, old, new) "
            f"WHERE r.id = v.id AND r.{column} IS NOT DISTINCT FROM v.old AND {condition}",
            [ids, former, new, *bindings],
        )

    def remove(self, table: Table, where: Where) -> int:
        removed = super().remove(table, where)
        if table == "scope":
            left = {id_ for (id_,) in self.rows("scope", ("id",), (OneOf("id", list(self.locked)),))}
            self.locked = {scope: change for scope, change in self.locked.items() if scope in left}
        return removed

    def log_vector_changes(self, table: Table, where: Where) -> None:
        condition, bindings = self.condition(table, where)
        column = "id" if table == "passage" else f"{table}_id"
        rows = self.ask(
            f"SELECT v.scope_id, array_agg(v.id ORDER BY v.id) FROM {self.schema}.{table} AS r "
            f"JOIN {self.schema}.passage AS p ON p.scope_id = r.scope_id AND p.{column} = r.id "
            f"JOIN {self.schema}.vector AS v ON v.scope_id = p.scope_id AND v.passage_id = p.id "
            f"WHERE {condition} GROUP BY v.scope_id",
            bindings,
        )
        for scope, vectors in rows:
            ((last,),) = self.ask(
                f"UPDATE {self.schema}.scope SET last_vector_change = last_vector_change + %s WHERE id = %s "
                "RETURNING last_vector_change",
                [len(vectors), scope],
            )
            self.send_later(
                f"INSERT INTO {self.schema}.vector_change(scope_id, seq, vector_id) "
                "SELECT %s, %s + place, vector_id FROM unnest(%s::bigint[]) "
                "WITH ORDINALITY AS v(vector_id, place)",
                [scope, last - len(vectors), vectors],
            )
            self.send_later(
                f"DELETE FROM {self.schema}.vector_change WHERE scope_id = %s AND seq <= %s",
                [scope, last - _LOG_LIMIT],
            )

    # Copying whole tables from another store, as arrays: row-level security does not allow COPY

    def fill(self, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        if not rows:
            return
        values = dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))
        self._insert(table, values)
        if table not in STORE_WIDE:
            # One lock suffices: its mark shows whether an unconfirmed commit succeeded.
            self.lock_scopes({min(values["scope_id"])})

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
        self.lock_scopes({min(row[columns.index("scope_id")] for row in rows)})

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
        # Without statistics, the planner would treat these tables as empty.
        for table in TABLES:
            self.change(f"ANALYZE {self.schema}.{table}")

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        held, known, scopes = dict(self.locked), dict(self._scope_of_row), self.scopes
        all_locked = self._all_locked
        self.change("SAVEPOINT change")
        try:
            yield
            # Send rows inside the savepoint, so that their errors are raised inside it.
            self.send()
        except BaseException:
            self._pending_rows.clear()
            self._unsent.clear()
            if not self.connection.closed:
                self.connection.execute("ROLLBACK TO SAVEPOINT change; RELEASE SAVEPOINT change")
            self.locked, self._scope_of_row, self.scopes = held, known, scopes
            self._all_locked = all_locked
            self._cached_rows.clear()
            raise
        self.send_later("RELEASE SAVEPOINT change")


def _drop_duplicates(values: dict[str, list[Any]], key: Sequence[str], *, keep: bool) -> dict[str, list[Any]]:
    """Keep the last row of each key, or the first with `keep`: a statement cannot write a row twice."""
    keys = list(zip(*(values[column] for column in key), strict=True))
    numbered = list(enumerate(keys))
    places = {each: place for place, each in (reversed(numbered) if keep else numbered)}
    if len(places) == len(keys):
        return values
    kept = sorted(places.values())
    return {column: [each[place] for place in kept] for column, each in values.items()}
