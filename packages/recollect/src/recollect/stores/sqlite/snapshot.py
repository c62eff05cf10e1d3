"""Read and write rows on one SQLite connection, inside a transaction."""

from __future__ import annotations

import json
from contextlib import contextmanager
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import apsw

from recollect.domain.errors import end_if_interrupted
from recollect.domain.tables import TABLES, Compares, Equals, KeyIn, OneOf
from recollect.stores.check import with_checksums
from recollect.stores.sql import (
    CachedVectors,
    Conditions,
    SqlSnapshot,
    SqlTransaction,
    column_sql,
    escaped_like,
    letter_forms,
)
from recollect.stores.vectors.block import KIND_CODES, VectorRow, VectorSource, Version

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from recollect.domain.tables import BelongsTo, Column, HasRow, Row, Swap, Table, Value, Values, Where
    from recollect.stores.port import RowsQuery
    from recollect.stores.vectors.cache import VectorCache


# Columns whose index selects few rows, in order of preference.
_SELECTIVE = ("id", "passage_id")


class SqliteConditions(Conditions):
    """Conditions in SQLite's SQL."""

    mark: ClassVar[str] = "?"
    always: ClassVar[str] = "1"
    never: ClassVar[str] = "0"
    constants: ClassVar[frozenset[str]] = frozenset({"kind", "in_use", "live", "merged"})
    _plus = ""

    def column(self, column: Column, row: str) -> str:
        return self._plus + column_sql(column, row)

    def all_of(self, where: Where, table: Table, row: str, found_by: str | None = None) -> str:
        """Join conditions by AND. `found_by` names the column whose index finds the rows."""
        named = [each.column if isinstance(each, (Equals, OneOf)) else None for each in where]
        key = found_by or next((column for column in _SELECTIVE if column in named), None)
        before, parts = self._plus, []
        for each, column in zip(where, named, strict=True):
            # A `+` keeps the planner from using other columns' indexes, which it rates as high as the key.
            self._plus = "" if key is None or column == key else "+"
            parts.append(self.expression(each, table, row))
        self._plus = before
        return " AND ".join(parts) or self.always

    def equals(self, column: Column, value: Value, row: str) -> str:
        return f"{self.column(column, row)} = {self.bind(value)}"

    def one_of(self, column: Column, values: Collection[Any], row: str) -> str:
        if len(values) == 1 and column != "scope_id":
            return self.equals(column, next(iter(values)), row)
        self.bind(json_list(values))
        return f"{self.column(column, row)} IN (SELECT value FROM json_each(?))"

    def key_in(self, keys: KeyIn, row: str) -> str:
        self.bind(json_list(keys.keys))
        listed = ", ".join(f"{row}.{column}" for column in keys.columns)
        values = ", ".join(f"value ->> {place}" for place in range(len(keys.columns)))
        return f"({listed}) IN (SELECT {values} FROM json_each(?))"

    def has_row(self, condition: HasRow, table: Table, row: str) -> str:  # noqa: ARG002  # ids are unique
        inner = self.all_of(condition.where, condition.table, "x")
        found = f"SELECT x.{condition.column} FROM {condition.table} AS x WHERE {inner}"
        return f"{self._plus}{row}.id IN ({found})"

    def belongs_to(self, condition: BelongsTo, row: str) -> str:
        inner = self.all_of(condition.where, condition.table, "y")
        found = f"SELECT y.id FROM {condition.table} AS y WHERE {inner}"
        return f"{self._plus}{row}.{condition.column} IN ({found})"

    def like(self, text: str) -> tuple[str, str]:
        # LIKE ignores the case of ASCII letters only; GLOB ignores none, so it gets both cases.
        if text.isascii():
            return "LIKE ? ESCAPE '\\'", escaped_like(text)
        return "GLOB ?", f"*{''.join(map(_either_case, text))}*"


def json_list(values: Iterable[object]) -> str:
    """Return values as the one parameter of `IN (SELECT value FROM json_each(?))`."""
    listed = list(values)
    # Most are whole numbers. Python writes a list of those as JSON in a tenth of the time.
    return str(listed) if listed and type(listed[0]) is int else json.dumps(listed)


def _either_case(letter: str) -> str:
    forms = letter_forms(letter)
    return f"[{forms}]" if len(forms) > 1 or letter in "*?[" else letter


# Queries of the vector cache

_VERSION = (
    "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'vector'), 0), "
    "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'vector_change'), 0), "
    "coalesce((SELECT max(v.id) FROM vector AS v WHERE v.model_id = model.id), 0)"
)


class SqliteVectorQueries:
    """Queries of a vector cache, inside one transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._versions: dict[int, Version] = {}

    def model_in_use(self) -> tuple[str, VectorSource] | None:
        """Return the name of the model in use, and its source of vectors."""
        row = self.connection.execute(
            f"SELECT name, (SELECT value FROM setting WHERE name = 'store_id'), id, dims, centre, {_VERSION} "
            "FROM model WHERE in_use = 1"
        ).fetchone()
        if row is None:
            return None
        name, *source = row[:-3]
        self._keep(row[2], Version(*row[-3:]))
        return name, VectorSource(*source)

    def version(self, source: VectorSource) -> Version:
        known = self._versions.get(source.model_id)
        if known is not None:
            return known
        model = f"SELECT {_VERSION} FROM (SELECT ? AS id) AS model"
        rows: list[Row] = self.connection.execute(model, (source.model_id,)).fetchall()
        version = Version(*rows[0])
        self._keep(source.model_id, version)
        return version

    def _keep(self, model: int, version: Version) -> None:
        if not self.is_writing():  # a writing transaction may still change it
            self._versions[model] = version

    def live_rows(self, source: VectorSource, after: int) -> Iterator[VectorRow]:
        rows = self.connection.execute(
            # CROSS JOIN fixes the order of the loops, so that rows come by id without a sort.
            """
            SELECT v.id, p.memory_id, v.passage_id, m.scope_id, m.kind, v.embedding
            FROM vector AS v
            CROSS JOIN passage AS p ON p.id = v.passage_id
            CROSS JOIN memory AS m ON m.id = p.memory_id
            WHERE v.model_id = ? AND v.id > ? AND p.live = 1 AND length(v.embedding) = ?
            ORDER BY v.id
            """,
            (source.model_id, after, 4 * source.dims),
        )
        for vector, memory, passage, scope, kind, embedding in rows:
            yield VectorRow(vector, memory, passage, scope, KIND_CODES[kind], embedding)

    def vector_changes_since(self, source: VectorSource, seq: int) -> dict[int, bool] | None:
        oldest = self.connection.execute("SELECT min(seq) FROM vector_change").get
        # Old entries are deleted, perhaps all of them.
        if oldest is None or oldest > seq + 1:
            return None
        rows = self.connection.execute(
            """
            SELECT l.vector_id, max(coalesce(p.live, 0))
            FROM vector_change AS l
            LEFT JOIN vector AS v ON v.id = l.vector_id AND v.model_id = ?
            LEFT JOIN passage AS p ON p.id = v.passage_id
            WHERE l.seq > ? GROUP BY l.vector_id ORDER BY l.vector_id
            """,
            (source.model_id, seq),
        )
        return {vector: bool(live) for vector, live in rows}

    def stored_vector(self, source: VectorSource, vector_id: int) -> Row | None:
        return self.connection.execute(
            "SELECT passage_id, embedding FROM vector WHERE id = ? AND model_id = ?",
            (vector_id, source.model_id),
        ).fetchone()

    def rotation(self, source: VectorSource) -> bytes | None:
        rows = self.connection.execute("SELECT packed FROM rotation WHERE model_id = ?", (source.model_id,))
        return next((bytes(packed) for (packed,) in rows), None)

    def is_writing(self) -> bool:
        return self.connection.txn_state() == apsw.SQLITE_TXN_WRITE


# A cache that lacks more changes than this is rebuilt, which is faster than an update.
_LOG_LIMIT = 50_000
_COUNT_CHANGE = "UPDATE change_number SET number = number + 1 RETURNING number"


class SqliteSnapshot(SqlSnapshot):
    """A snapshot inside one read transaction."""

    def __init__(self, connection: apsw.Connection, cache: VectorCache) -> None:
        self.connection = connection
        self._cache = cache

    def ask(self, text: str, bindings: Sequence[Any] = ()) -> list[Row]:
        return self.connection.execute(text, bindings).fetchall()

    def conditions(self) -> SqliteConditions:
        return SqliteConditions()

    def rows(
        self,
        table: Table,
        columns: Sequence[str],
        where: Where = (),
        *,
        order: Sequence[str] = (),
        descending: bool = False,
        limit: int | None = None,
        each: OneOf | None = None,
    ) -> list[Row]:
        end_if_interrupted()
        source, bindings = _source(table, where)
        direction = " DESC" if descending else ""
        by = _column_list(tuple(order or TABLES[table].key), "r", direction)
        bounded = ""
        if limit is not None:
            bounded = " LIMIT ?"
            bindings.append(limit)
        if each is None:
            return self.connection.execute(
                f"SELECT {_column_list(tuple(columns), 'r')} {source} ORDER BY {by}{bounded}", bindings
            ).fetchall()
        return self.connection.execute(
            f"SELECT {_column_list(tuple(columns), 's')} FROM json_each(?) AS w CROSS JOIN {table} AS s "
            f"ON s.id IN (SELECT r.id {source} AND r.{each.column} = w.value ORDER BY {by}{bounded}) "
            "ORDER BY w.key",
            (json_list(each.values), *bindings),
        ).fetchall()

    def rows_batch(self, queries: Sequence[RowsQuery]) -> list[list[Row]]:
        end_if_interrupted()
        if len(queries) == 1 and queries[0].limit is None:
            source, bindings = _source(queries[0].table, queries[0].where)
            listed = _column_list(tuple(queries[0].columns), "r")
            return [self.connection.execute(f"SELECT {listed} {source}", bindings).fetchall()]
        width = max(len(query.columns) for query in queries)
        parts: list[str] = []
        values: list[Value] = []
        for place, query in enumerate(queries):
            source, bindings = _source(query.table, query.where)
            listed = _column_list(tuple(query.columns), "r") + ", NULL" * (width - len(query.columns))
            if query.limit is None:
                parts.append(f"SELECT {place}, {listed} {source}")
            else:
                by = _column_list(TABLES[query.table].key, "r", " DESC")
                parts.append(f"SELECT * FROM (SELECT {place}, {listed} {source} ORDER BY {by} LIMIT ?)")
                bindings.append(query.limit)
            values += bindings
        found: list[list[Row]] = [[] for _ in queries]
        ends = [1 + len(query.columns) for query in queries]
        rows: Iterable[Row] = self.connection.execute(" UNION ALL ".join(parts), values)
        for row in rows:
            found[row[0]].append(row[1 : ends[row[0]]])
        return found

    # Copying whole tables to another store

    def stored_columns(self, table: str) -> Sequence[str]:
        # Hidden columns are computed.
        named = "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid"
        return [str(name) for (name,) in self.ask(named, (table,))]

    def page_key(self, table: Table) -> tuple[str, ...]:
        return TABLES[table].key

    def last_ids(self) -> Mapping[Table, int]:
        given: dict[str, int] = dict(self.ask("SELECT name, seq FROM sqlite_sequence"))
        numbered: list[Table] = [table for table, form in TABLES.items() if form.key == ("id",)]
        return {
            table: max(given.get(table, 0), self.ask(f"SELECT coalesce(max(id), 0) FROM {table}")[0][0])
            for table in numbered
        }

    # Vectors

    def vectors_of(self, scopes: Sequence[int]) -> CachedVectors | None:  # noqa: ARG002  # one cache for all
        if self._model is None:
            return None
        name, source = self._model
        return CachedVectors(name, [(self._cache, self._vectors, source)])

    def vectors_with(self, ids: Collection[int]) -> CachedVectors | None:  # noqa: ARG002
        return self.vectors_of(())

    @cached_property
    def _vectors(self) -> SqliteVectorQueries:
        return SqliteVectorQueries(self.connection)

    @cached_property
    def _model(self) -> tuple[str, VectorSource] | None:
        return self._vectors.model_in_use()


class SqliteTransaction(SqlTransaction, SqliteSnapshot):
    """A transaction that writes. Only one at a time can write to the file."""

    _changes_logged = False

    def change(self, text: str, bindings: Sequence[Any] = ()) -> int:
        self.connection.execute(text, bindings)
        return self.connection.changes()

    def put(self, table: Table, rows: Sequence[Values], *, keep: bool = False) -> list[int]:
        if not rows:
            return []
        rows = with_checksums(table, rows)
        columns = tuple(rows[0])
        numbered = TABLES[table].key == ("id",)
        statement = _insert(table, columns, replaces=not (numbered or keep), ignores=keep)
        values = [[row[column] for column in columns] for row in rows]
        if not numbered:
            self.connection.executemany(statement, values)
            return []
        ids = []
        for each in values:
            self.connection.execute(statement, each)
            ids.append(self.connection.last_insert_rowid())
        return ids

    def swap(self, table: Table, column: str, rows: Iterable[Swap], where: Where = ()) -> int:
        conditions = SqliteConditions()
        condition, bindings = conditions.all_of(where, table, "r", "id"), conditions.bindings
        before = self.connection.total_changes()
        setting = f"UPDATE {table} AS r SET {column} = ? WHERE r.{column} IS ? AND {condition}"
        # Update a run of ids at a time: listing ids, or one statement per row, takes up to twice as long. For
        # a single row, `=` is faster.
        runs = _runs(rows)
        self.connection.executemany(
            f"{setting} AND r.id BETWEEN ? AND ?",
            ((new, old, *bindings, first, last) for first, last, old, new in runs if first < last),
        )
        self.connection.executemany(
            f"{setting} AND r.id = ?",
            ((new, old, *bindings, first) for first, last, old, new in runs if first == last),
        )
        return self.connection.total_changes() - before

    def lock_scopes(self, scopes: Collection[int] | None) -> None:
        """Do nothing: a transaction locks the whole file when it begins."""

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        self.connection.execute("SAVEPOINT change")
        try:
            yield
        except BaseException:
            # A disk error ends the whole transaction, with the savepoint.
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK TO change")
                self.connection.execute("RELEASE change")
            raise
        self.connection.execute("RELEASE change")

    # Copying whole tables from another store

    def fill(self, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        self.connection.executemany(_insert(table, tuple(columns), replaces=False, ignores=False), rows)

    def refill(self, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        width = len(self.page_key(table))
        found = " AND ".join(f"{column} = ?" for column in columns[:width])
        setting = ", ".join(f"{column} = ?" for column in columns[width:])
        self.connection.executemany(
            f"UPDATE {table} SET {setting} WHERE {found}", [(*row[width:], *row[:width]) for row in rows]
        )

    def finish_copy(self, last_ids: Mapping[Table, int]) -> None:
        # Without these numbers, SQLite could reuse the id of a deleted row.
        for table, last in last_ids.items():
            self.connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
            if last:
                self.connection.execute("INSERT INTO sqlite_sequence(name, seq) VALUES (?, ?)", (table, last))

    def finish(self) -> int:
        """Shorten the log of vector changes before the commit, and return the number of this change."""
        if self._changes_logged:
            self.connection.execute(
                "DELETE FROM vector_change WHERE seq <= (SELECT max(seq) FROM vector_change) - ?",
                (_LOG_LIMIT,),
            )
        return int(self.connection.execute(_COUNT_CHANGE).get)

    def log_vector_changes(self, table: Table, where: Where) -> None:
        condition, bindings = self.condition(table, where)
        if table != "passage":
            condition = f"r.{table}_id IN (SELECT r.id FROM {table} AS r WHERE {condition})"
        self._changes_logged = True
        self.connection.execute(
            "INSERT INTO vector_change(vector_id) SELECT v.id FROM passage AS p "
            "JOIN vector AS v ON v.passage_id = p.id "
            f"WHERE p.id IN (SELECT r.id FROM passage AS r WHERE {condition})",
            bindings,
        )


@lru_cache(maxsize=256)
def _insert(table: Table, columns: tuple[str, ...], *, replaces: bool, ignores: bool) -> str:
    key = TABLES[table].key
    verb = "INSERT OR IGNORE" if ignores else "INSERT"
    statement = f"{verb} INTO {table}({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    if not replaces:
        return statement
    # Not OR REPLACE, which deletes and inserts: it updates every index and checks every foreign key.
    setting = ", ".join(f"{column} = excluded.{column}" for column in columns if column not in key)
    done = f"UPDATE SET {setting}" if setting else "NOTHING"
    return f"{statement} ON CONFLICT({', '.join(key)}) DO {done}"


def _source(table: Table, where: Where) -> tuple[str, list[Value]]:
    """Return the FROM and WHERE of a SELECT of rows `r` that meet the conditions."""
    keys = next((each for each in where if isinstance(each, KeyIn)), None)
    others = [each for each in where if each is not keys]
    conditions = SqliteConditions()
    condition = conditions.all_of(others, table, "r", None if keys is None else "scope_id")
    bindings = conditions.bindings
    if keys is None:
        return f"FROM {table} AS r{_index_hint(table, where)} WHERE {condition}", bindings
    # Partial indexes are used only with their own condition.
    there = [f"r.{column} IS NOT NULL" for column in keys.columns]
    same = [f"r.{column} = k.value ->> {place}" for place, column in enumerate(keys.columns)]
    key = " AND ".join((*same, *there))
    # CROSS JOIN makes the planner look rows up by key, whatever the other conditions.
    source = f"FROM json_each(?) AS k CROSS JOIN {table} AS r ON {key} WHERE {condition}"
    return source, [json_list(dict.fromkeys(keys.keys)), *bindings]


def _runs(rows: Iterable[Swap]) -> list[tuple[int, int, Any, Any]]:
    """Group rows with consecutive ids and equal values: first and last id, old value, new value."""
    runs: list[tuple[int, int, Any, Any]] = []
    for id_, expected, value in rows:
        if runs and runs[-1][1:] == (id_ - 1, expected, value):
            runs[-1] = (runs[-1][0], id_, expected, value)
        else:
            runs.append((id_, id_, expected, value))
    return runs


@lru_cache(maxsize=256)
def _column_list(columns: tuple[str, ...], row: str, after_each: str = "") -> str:
    return ", ".join(f"{row}.{column}{after_each}" for column in columns)


def _index_hint(table: Table, where: Where) -> str:
    # Name the index, because the planner rates all indexes with scope and kind equally.
    named = [each for each in where if isinstance(each, (Equals, OneOf, Compares))]
    kinds = [each.value for each in named if isinstance(each, Equals) and each.column == "kind"]
    if table == "memory" and "entity" in kinds:
        for column in ("folded_name", "first_word"):
            if any(each.column == column for each in named):
                return f" INDEXED BY entity_by_{column}"
    return ""
