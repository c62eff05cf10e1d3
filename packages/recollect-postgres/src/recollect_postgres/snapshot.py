"""Reading rows of one PostgreSQL connection inside a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import psycopg

from recollect.domain.errors import end_if_interrupted
from recollect.domain.tables import TABLES, OneOf
from recollect.stores.sql import CachedVectors, SqlSnapshot
from recollect_postgres.sql import STORE_WIDE, PostgresConditions, array_type, storable
from recollect_postgres.vectors import PgVector, ScopeQueries, Searchable, ServerVectors, searchable_question

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from psycopg import Connection, Cursor

    from recollect.domain.records import Found
    from recollect.domain.tables import Row, Table, Where
    from recollect.stores.port import RowsQuery, Vector
    from recollect_postgres.sql import Columns
    from recollect_postgres.vectors import ModelInUse, VectorCaches


_OWN = ("change", "last_vector", "last_life")
"""Columns of a scope that the store maintains for itself."""
NUMBERED: tuple[Table, ...] = tuple(table for table, form in TABLES.items() if form.key == ("id",))
Answers = TypeVar("Answers")
Statement: TypeAlias = "tuple[str, Sequence[Any]]"


class PostgresSnapshot(SqlSnapshot):
    """Answers from inside one transaction. `scopes` are those that it may see; None: all of them."""

    is_writing = False
    modulo = "%%"

    def __init__(
        self,
        connection: Connection[Row],
        columns: Columns,
        caches: VectorCaches | PgVector,
        scopes: Sequence[int] | None,
    ) -> None:
        self.connection = connection
        self.columns = columns
        self.schema = columns.schema
        self.prefix = f"{columns.schema}."
        self.scopes = scopes
        self.reconnect: Callable[[psycopg.Error], bool] | None = None
        """Puts another connection in the place of one that was lost, if it sees the same; else says no."""
        self.has_answered = False
        self._caches = caches
        self.unfilled: dict[int, list[int]] = {}
        """By scope, vectors that pgvector has yet to be given, where a search met many."""
        self._searchable: Searchable | None = None
        self._searched: dict[tuple[int, ...], CachedVectors] = {}

    def conditions(self) -> PostgresConditions:
        return PostgresConditions(self.prefix)

    def same_scope(self, table: Table, row: str, other: str) -> str:
        return "" if table in STORE_WIDE else f" AND {row}.scope_id = {other}.scope_id"

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
        if limit is not None and limit < 0:
            limit = None
        conditions = self.conditions()
        if each is not None:
            values = [value for value in each.values if storable(value)]
            if not values:
                return []
            conditions.bind(values)
        condition = conditions.of(table, where, "r", self.scopes)
        by = self._order(table, order or TABLES[table].key, "r", newest_first=newest_first)
        source = f"FROM {self.prefix}{table} AS r WHERE {condition}"
        bounded = "" if limit is None else f" LIMIT {conditions.bind(limit)}"
        if each is None:
            asked = f"SELECT {_column_list(columns, 'r')} {source} ORDER BY {by}{bounded}"
            return self.ask(asked, conditions.bindings)
        same = conditions.of_each(each, "r", "w.value")
        outer = self._order(table, order or TABLES[table].key, "s", newest_first=newest_first)
        return self.ask(
            f"SELECT {_column_list(columns, 's')} "
            f"FROM unnest(%s::{array_type(values)}) WITH ORDINALITY AS w(value, place) CROSS JOIN LATERAL "
            f"(SELECT r.* {source} AND {same} ORDER BY {by}{bounded}) AS s ORDER BY w.place, {outer}",
            conditions.bindings,
        )

    def several(self, queries: Sequence[RowsQuery]) -> list[list[Row]]:
        asked = [self._question(query) for query in queries]
        if len(asked) == 1:
            return [self.ask(*asked[0])]
        # A query for the model precedes a search, so send the first query of the search along.
        searches = self._searchable is None and any(query.table == "model" for query in queries)
        if searches and not self.is_writing:
            asked.append(searchable_question(self.schema, self.scopes))
        answers = self._answered(lambda: [cursor.fetchall() for cursor in self._executed(asked)])
        if len(answers) > len(queries):
            self._searchable = Searchable.of(answers.pop())
        return answers

    def _executed(self, statements: Sequence[Statement]) -> list[Cursor[Row]]:
        """All are sent before the first answer is waited for."""
        if len(statements) == 1:
            return [self.connection.execute(*statements[0], binary=True)]
        with self.connection.pipeline():
            return [self.connection.execute(text, bindings, binary=True) for text, bindings in statements]

    def _question(self, query: RowsQuery) -> Statement:
        condition, bindings = self.condition(query.table, query.where)
        listed = _column_list(query.columns, "r")
        text = f"SELECT {listed} FROM {self.prefix}{query.table} AS r WHERE {condition}"
        if query.limit is None:
            return text, bindings
        by = self._order(query.table, TABLES[query.table].key, "r", newest_first=True)
        return f"{text} ORDER BY {by} LIMIT %s", [*bindings, query.limit]

    def ask(self, text: str, bindings: Sequence[Any] = ()) -> list[Row]:
        return self._answered(lambda: self.connection.execute(text, bindings, binary=True).fetchall())

    def _answered(self, question: Callable[[], Answers]) -> Answers:
        end_if_interrupted()
        try:
            answers = question()
        except psycopg.Error as error:
            if self.reconnect is None or not self.reconnect(error):
                raise
            answers = question()
        self.has_answered = True
        return answers

    def _order(self, table: Table, columns: Sequence[str], row: str, *, newest_first: bool) -> str:
        direction = " DESC" if newest_first else ""
        # Nulls come first, as in SQLite. Only columns that may be null need the clause.
        nulls = " NULLS LAST" if newest_first else " NULLS FIRST"
        return ", ".join(
            f"{row}.{column}{direction}{nulls if (table, column) in self.columns.nullable else ''}"
            for column in columns
        )

    # Whole tables, to carry them to another store

    def stored_columns(self, table: Table) -> Sequence[str]:
        own = _OWN if table == "scope" else ()
        return [column for column in self.columns.stored[table] if column not in own]

    def page_key(self, table: Table) -> tuple[str, ...]:
        return self.columns.key(table)

    def last_ids(self) -> Mapping[Table, int]:
        # A sequence that never gave a number has its first one as its last.
        each = " UNION ALL ".join(
            f"SELECT '{table}', CASE WHEN is_called THEN last_value ELSE 0 END "
            f"FROM {self.schema}.{table}_id_seq"
            for table in NUMBERED
        )
        given: dict[str, int] = dict(self.connection.execute(each).fetchall())
        return {table: given[table] for table in NUMBERED}

    # Vectors

    def model(self) -> ModelInUse | None:
        return self.searchable().model

    def searchable(self) -> Searchable:
        if self._searchable is not None:
            return self._searchable
        # A transaction may write vectors, so ask for each version when it is needed.
        scopes = () if self.is_writing else self.scopes
        found = Searchable.of(self.ask(*searchable_question(self.schema, scopes)))
        if not self.is_writing:
            self._searchable = found
        return found

    def nearest(
        self, vector: Vector, k: int, scopes: Sequence[int], where: Where, shortlist: int | None = None
    ) -> Sequence[Found]:
        if not isinstance(self._caches, PgVector):
            return super().nearest(vector, k, scopes, where, shortlist)
        # A shortlist saves a process comparisons; the server makes them all, and finds no fewer.
        vectors = self._on_server(self._caches)
        return [] if vectors is None or not scopes or k <= 0 else vectors.nearest(vector, k, scopes, where)

    def cosines(self, vector: Vector, ids: Collection[int]) -> Sequence[Found]:
        if not isinstance(self._caches, PgVector):
            return super().cosines(vector, ids)
        vectors = self._on_server(self._caches)
        return [] if vectors is None else vectors.cosines(vector, ids)

    def embedded_passages(self, ids: Collection[int]) -> Sequence[tuple[int, int]]:
        if not isinstance(self._caches, PgVector):
            return super().embedded_passages(ids)
        vectors = self._on_server(self._caches)
        return [] if vectors is None else vectors.passages(ids)

    def _on_server(self, pgvector: PgVector) -> ServerVectors | None:
        model = self.model()
        return None if model is None else ServerVectors(self, pgvector, model)

    def vectors_of(self, scopes: Sequence[int]) -> CachedVectors | None:
        model, caches, key = self.model(), self._caches, tuple(scopes)
        if model is None or not scopes or isinstance(caches, PgVector):
            return None
        if key in self._searched:
            return self._searched[key]
        parts = [
            (caches.of(model.store_id, scope), ScopeQueries(self, scope), model.source(scope))
            for scope in scopes
        ]
        vectors = CachedVectors(model.name, parts)
        if not self.is_writing:  # it may write vectors
            self._searched[key] = vectors
        return vectors

    def vectors_with(self, ids: Collection[int]) -> CachedVectors | None:
        scopes = self.scopes
        if scopes is None or len(scopes) > 1:
            found = self.rows("memory", ("scope_id",), (OneOf("id", list(ids)),), order=("scope_id",))
            scopes = list(dict.fromkeys(scope for (scope,) in found))
        return self.vectors_of(scopes)


def _column_list(columns: Iterable[str], row: str) -> str:
    return ", ".join(f"{row}.{column}" for column in columns)
