"""Reading and writing rows of one SQLite connection inside a transaction."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from recollect.conditions import IN_FORCE, Equals, KeyIn, OneOf
from recollect.interruption import end_if_interrupted
from recollect.stores.checksums import renew_checksums, reworded, with_checksums
from recollect.stores.sqlite.sql import column_sql, condition_sql, constrains, json_list, pattern_sql
from recollect.stores.sqlite.vector_queries import SqliteVectorQueries
from recollect.stores.sqlite.whole_tables import SqliteCopySource, SqliteCopyTarget
from recollect.stores.vectors.searches import CachedVectors, VectorSearches
from recollect.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    import apsw

    from recollect.conditions import Column, Value, Where
    from recollect.ports import RowsQuery
    from recollect.stores.vectors.cache import VectorCache
    from recollect.stores.vectors.filters import VectorFilter
    from recollect.stores.vectors.source import VectorSource
    from recollect.tables import Row, Swap, Table, Values

# Caches that are further behind than this many deaths and returns are quicker rebuilt than caught up.
_LOG_LIMIT = 50_000
_COUNT_CHANGE = "UPDATE change_number SET number = number + 1 RETURNING number"


class SqliteSnapshot(SqliteCopySource, VectorSearches):
    """Answers from inside one read transaction."""

    def __init__(self, connection: apsw.Connection, cache: VectorCache) -> None:
        self.connection = connection
        self._cache = cache

    def rows(
        self,
        table: Table,
        columns: Sequence[str],
        where: Where = (),
        *,
        order: Sequence[str] = (),
        newest_first: bool = False,
        limit: int | None = None,
        each: OneOf | None = None,
    ) -> list[Row]:
        end_if_interrupted()
        source, bindings = _source(table, where)
        direction = " DESC" if newest_first else ""
        by = _listed(tuple(order or TABLES[table].key), "r", direction)
        bounded = ""
        if limit is not None:
            bounded = " LIMIT ?"
            bindings.append(limit)
        if each is None:
            return self.connection.execute(
                f"SELECT {_listed(tuple(columns), 'r')} {source} ORDER BY {by}{bounded}", bindings
            ).fetchall()
        return self.connection.execute(
            f"SELECT {_listed(tuple(columns), 's')} FROM json_each(?) AS w CROSS JOIN {table} AS s "
            f"ON s.id IN (SELECT r.id {source} AND r.{each.column} = w.value ORDER BY {by}{bounded}) "
            "ORDER BY w.key",
            (json_list(each.values), *bindings),
        ).fetchall()

    def several(self, queries: Sequence[RowsQuery]) -> list[list[Row]]:
        end_if_interrupted()
        if len(queries) == 1 and queries[0].limit is None:
            source, bindings = _source(queries[0].table, queries[0].where)
            listed = _listed(tuple(queries[0].columns), "r")
            return [self.connection.execute(f"SELECT {listed} {source}", bindings).fetchall()]
        width = max(len(query.columns) for query in queries)
        parts: list[str] = []
        values: list[Value] = []
        for place, query in enumerate(queries):
            source, bindings = _source(query.table, query.where)
            listed = _listed(tuple(query.columns), "r") + ", NULL" * (width - len(query.columns))
            if query.limit is None:
                parts.append(f"SELECT {place}, {listed} {source}")
            else:
                by = _listed(TABLES[query.table].key, "r", " DESC")
                parts.append(f"SELECT * FROM (SELECT {place}, {listed} {source} ORDER BY {by} LIMIT ?)")
                bindings.append(query.limit)
            values += bindings
        found: list[list[Row]] = [[] for _ in queries]
        ends = [1 + len(query.columns) for query in queries]
        rows: Iterable[Row] = self.connection.execute(" UNION ALL ".join(parts), values)
        for row in rows:
            found[row[0]].append(row[1 : ends[row[0]]])
        return found

    def count(
        self, table: Table, where: Where = (), by: Column | None = None, per: int = 1
    ) -> Mapping[Value, int]:
        condition, bindings = condition_sql(where, "r")
        if by is None:
            rows = self.connection.execute(f"SELECT count(*) FROM {table} AS r WHERE {condition}", bindings)
            return {None: sum(count for (count,) in rows)}
        value = column_sql(by, "r")
        if per != 1:
            # SQLite cuts off what is behind the point: of times before 1970, that would round up.
            value = f"{value} / {per} - ({value} % {per} < 0)"
        groups: list[Row] = self.connection.execute(
            f"SELECT {value}, count(*) FROM {table} AS r WHERE {condition} GROUP BY 1", bindings
        ).fetchall()
        return {value: count for value, count in groups}  # noqa: C416  # a row is of any length

    def containing(self, text: str, k: int, where: Where, observed: Where) -> Sequence[int]:
        found = pattern_sql(text)
        if found is None:
            return []
        compare, pattern = found
        condition, bindings = condition_sql(where, "m")
        seen, more = condition_sql(observed, "o")
        rows = self.connection.execute(
            f"SELECT m.id FROM memory AS m WHERE m.kind = 'entity' AND {condition} AND ("
            f"m.name {compare} OR m.type {compare} OR EXISTS ("
            f"SELECT 1 FROM observation AS o WHERE o.memory_id = m.id AND {seen} AND o.content {compare})) "
            "ORDER BY m.id LIMIT ?",
            (*bindings, pattern, pattern, *more, pattern, k),
        )
        return [id_ for (id_,) in rows]

    # Vectors

    def _vectors_of(self, scopes: Sequence[int]) -> CachedVectors | None:  # noqa: ARG002  # one cache for all
        return self._all_vectors

    def _vectors_with(self, ids: Collection[int]) -> CachedVectors | None:  # noqa: ARG002
        return self._all_vectors

    @property
    def _all_vectors(self) -> CachedVectors | None:
        if self._model is None:
            return None
        name, source = self._model
        return CachedVectors(name, [(self._cache, self._vectors, source)])

    def _ids(self, scopes: Sequence[int], reach: VectorFilter, most: int | None = None) -> list[int] | None:
        """All memories that meet the conditions, wherever they are. None: there are more than that."""
        both = (OneOf("scope_id", scopes), OneOf("kind", reach.kinds), *IN_FORCE, *reach.others)
        condition, bindings = condition_sql(both, "m")
        # Without an order, which would have the planner go through all memories by id.
        rows = self.connection.execute(
            f"SELECT m.id FROM memory AS m WHERE {condition} LIMIT ?",
            (*bindings, -1 if most is None else most + 1),
        )
        ids = [id_ for (id_,) in rows]
        return ids if most is None or len(ids) <= most else None

    @cached_property
    def _vectors(self) -> SqliteVectorQueries:
        return SqliteVectorQueries(self.connection)

    @cached_property
    def _model(self) -> tuple[str, VectorSource] | None:
        """The model in use, by name, and what a cache knows its vectors by."""
        return self._vectors.model_in_use()


class SqliteTransaction(SqliteCopyTarget, SqliteSnapshot):
    """Writes, with what the indexes and caches must be told of them."""

    _lives_logged = False

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
        condition, bindings = condition_sql(where, "r", "id")
        before = self.connection.total_changes()
        setting = f"UPDATE {table} AS r SET {column} = ? WHERE r.{column} IS ? AND {condition}"
        # A run at a time: to look for listed ids, or to begin a statement for each row, takes up to twice as
        # long. For a row that stands alone, `=` is the quicker.
        runs = list(_runs(rows))
        self.connection.executemany(
            f"{setting} AND r.id BETWEEN ? AND ?",
            ((new, old, *bindings, first, last) for first, last, old, new in runs if first < last),
        )
        self.connection.executemany(
            f"{setting} AND r.id = ?",
            ((new, old, *bindings, first) for first, last, old, new in runs if first == last),
        )
        return self.connection.total_changes() - before

    def patch(self, table: Table, where: Where, values: Values) -> int:
        condition, bindings = condition_sql(where, "r")
        new_words = reworded(self, table, where, values)
        if table == "passage" and "live" in values:
            changed, more = condition_sql((*where, Equals("live", int(not values["live"]))), "r")
            self._log_lives(changed, more)
        setting = ", ".join(f"{column} = ?" for column in values)
        self.connection.execute(
            f"UPDATE {table} AS r SET {setting} WHERE {condition}", (*values.values(), *bindings)
        )
        count = self.connection.changes()
        renew_checksums(self, table, new_words)
        return count

    def remove(self, table: Table, where: Where) -> int:
        condition, bindings = condition_sql(where, "r")
        if table == "passage":
            self._log_lives(condition, bindings)
        elif table in {"memory", "observation"}:
            owned = f"r.{table}_id IN (SELECT r.id FROM {table} AS r WHERE {condition})"
            self._log_lives(owned, bindings)
        self.connection.execute(f"DELETE FROM {table} AS r WHERE {condition}", bindings)
        return self.connection.changes()

    def hold(self, scopes: Collection[int] | None) -> None:
        """There is one writer at a time to the whole file."""

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        self.connection.execute("SAVEPOINT change")
        try:
            yield
        except BaseException:
            # A failing disk ends the whole transaction, and the savepoint with it.
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK TO change")
                self.connection.execute("RELEASE change")
            raise
        self.connection.execute("RELEASE change")

    def finish(self) -> int:
        """What is left to do before the commit; the number of this change."""
        if self._lives_logged:
            self.connection.execute(
                "DELETE FROM vector_life WHERE seq <= (SELECT max(seq) FROM vector_life) - ?", (_LOG_LIMIT,)
            )
        return int(self.connection.execute(_COUNT_CHANGE).get)

    def _log_lives(self, condition: str, bindings: Sequence[Value]) -> None:
        """Log the vectors of passages that die, come back or vanish; `condition` is SQL on the row `r`."""
        self._lives_logged = True
        self.connection.execute(
            "INSERT INTO vector_life(vector_id) SELECT v.id FROM passage AS p "
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
    # Not OR REPLACE, which deletes the row and puts another one in its place: in every index, and with a look
    # at every row that it refers to.
    setting = ", ".join(f"{column} = excluded.{column}" for column in columns if column not in key)
    done = f"UPDATE SET {setting}" if setting else "NOTHING"
    return f"{statement} ON CONFLICT({', '.join(key)}) DO {done}"


def _source(table: Table, where: Where) -> tuple[str, list[Value]]:
    """The rows `r` of a table that meet the conditions, as a part of a SELECT."""
    keys = next((each for each in where if isinstance(each, KeyIn)), None)
    others = [each for each in where if each is not keys]
    condition, bindings = condition_sql(others, "r", None if keys is None else "scope_id")
    if keys is None:
        return f"FROM {table} AS r{_hint(table, where)} WHERE {condition}", bindings
    # From key to row, whatever the planner thinks of the other conditions.
    source = f"FROM json_each(?) AS k CROSS JOIN {table} AS r ON {_key_sql(keys)} WHERE {condition}"
    return source, [json_list(dict.fromkeys(keys.keys)), *bindings]


def _runs(rows: Iterable[Swap]) -> Iterator[tuple[int, int, Any, Any]]:
    """Rows with ids one after the other that are set alike: first and last id, the old value, the new one."""
    run: tuple[int, int, Any, Any] | None = None
    for id_, expected, value in rows:
        if run is not None and id_ == run[1] + 1 and expected == run[2] and value == run[3]:
            run = (run[0], id_, expected, value)
            continue
        if run is not None:
            yield run
        run = (id_, id_, expected, value)
    if run is not None:
        yield run


@lru_cache(maxsize=256)
def _listed(columns: tuple[str, ...], row: str, after_each: str = "") -> str:
    return ", ".join(f"{row}.{column}{after_each}" for column in columns)


def _key_sql(keys: KeyIn) -> str:
    # As partial indexes say it, or they are not used.
    there = [f"r.{column} IS NOT NULL" for column in keys.columns]
    same = [f"r.{column} = k.value ->> {place}" for place, column in enumerate(keys.columns)]
    return " AND ".join((*same, *there))


def _hint(table: Table, where: Where) -> str:
    # Named, since the planner takes any index that knows the scope and the kind for as good.
    if table == "memory" and Equals("kind", "entity") in where:
        for column in ("folded_name", "first_word"):
            if constrains(where, column):
                return f" INDEXED BY entity_by_{column}"
    return ""
