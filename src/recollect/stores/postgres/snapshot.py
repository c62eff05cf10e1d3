"""Reading rows of one PostgreSQL connection inside a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar

import psycopg

from recollect.conditions import IN_FORCE, OneOf
from recollect.interruption import end_if_interrupted
from recollect.stores.postgres.server_vectors import PgVector, ServerVectors
from recollect.stores.postgres.sql import (
    Conditions,
    array_type,
    column_expression,
    contained_pattern,
    storable,
)
from recollect.stores.postgres.vectors import ScopeQueries, Searchable, searchable_question
from recollect.stores.postgres.whole_tables import PostgresCopySource
from recollect.stores.vectors.searches import CachedVectors, VectorSearches
from recollect.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any

    from psycopg import Connection, Cursor

    from recollect.conditions import Column, Value, Where
    from recollect.ports import RowsQuery, Vector
    from recollect.records import Found
    from recollect.stores.postgres.columns import Columns
    from recollect.stores.postgres.vectors import ModelInUse, VectorCaches
    from recollect.stores.vectors.filters import VectorFilter
    from recollect.tables import Row, Table

Answers = TypeVar("Answers")
Statement: TypeAlias = "tuple[str, Sequence[Any]]"


class PostgresSnapshot(PostgresCopySource, VectorSearches):
    """Answers from inside one transaction. `scopes` are those that it may see; None: all of them."""

    is_writing = False

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
        self.scopes = scopes
        self.reconnect: Callable[[psycopg.Error], bool] | None = None
        """Puts another connection in the place of one that was lost, if it sees the same; else says no."""
        self.has_answered = False
        self._caches = caches
        self.unfilled: dict[int, list[int]] = {}
        """By scope, vectors that pgvector has yet to be given, where a search met many."""
        self._searchable: Searchable | None = None
        self._searched: dict[tuple[int, ...], CachedVectors] = {}

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
        conditions = Conditions(self.schema)
        if each is not None:
            values = [value for value in each.values if storable(value)]
            if not values:
                return []
            conditions.bindings.append(values)
        condition = conditions.of(table, where, "r", self.scopes)
        by = self._order(table, order or TABLES[table].key, "r", newest_first=newest_first)
        bounded = "" if limit is None else " LIMIT %s"
        if each is None:
            bindings = conditions.bindings if limit is None else [*conditions.bindings, limit]
            return self.ask(
                f"SELECT {_listed(columns, 'r')} FROM {self.schema}.{table} AS r "
                f"WHERE {condition} ORDER BY {by}{bounded}",
                bindings,
            )
        same = conditions.of_each(each, "r", "w.value")
        outer = self._order(table, order or TABLES[table].key, "s", newest_first=newest_first)
        bindings = conditions.bindings if limit is None else [*conditions.bindings, limit]
        return self.ask(
            f"SELECT {_listed(columns, 's')} "
            f"FROM unnest(%s::{array_type(values)}) WITH ORDINALITY AS w(value, place) CROSS JOIN LATERAL "
            f"(SELECT r.* FROM {self.schema}.{table} AS r WHERE {condition} AND {same} "
            f"ORDER BY {by}{bounded}) AS s ORDER BY w.place, {outer}",
            bindings,
        )

    def several(self, queries: Sequence[RowsQuery]) -> list[list[Row]]:
        asked = [self._question(query) for query in queries]
        if len(asked) == 1:
            return [self.ask(*asked[0])]
        # Who asks for the model is about to search, and what a search asks first goes along.
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
        conditions = Conditions(self.schema)
        condition = conditions.of(query.table, query.where, "r", self.scopes)
        text = f"SELECT {_listed(query.columns, 'r')} FROM {self.schema}.{query.table} AS r WHERE {condition}"
        if query.limit is None:
            return text, conditions.bindings
        by = self._order(query.table, TABLES[query.table].key, "r", newest_first=True)
        return f"{text} ORDER BY {by} LIMIT %s", [*conditions.bindings, query.limit]

    def count(
        self, table: Table, where: Where = (), by: Column | None = None, per: int = 1
    ) -> Mapping[Value, int]:
        conditions = Conditions(self.schema)
        condition = conditions.of(table, where, "r", self.scopes)
        source = f"FROM {self.schema}.{table} AS r WHERE {condition}"
        if by is None:
            ((count,),) = self.ask(f"SELECT count(*) {source}", conditions.bindings)
            return {None: count}
        value = column_expression(by, "r")
        if per != 1:
            # Rounded down, also of times before 1970.
            value = f"({value} / {per} - (mod({value}, {per}) < 0)::int)"
        groups = self.ask(f"SELECT {value}, count(*) {source} GROUP BY 1", conditions.bindings)
        return {value: count for value, count in groups}  # noqa: C416  # a row is of any length

    def containing(self, text: str, k: int, where: Where, observed: Where) -> Sequence[int]:
        found = contained_pattern(text)
        if found is None:
            return []
        compare, pattern = found
        conditions = Conditions(self.schema)
        condition = conditions.of("memory", where, "m", self.scopes)
        bindings = [*conditions.bindings, pattern, pattern]
        inner = Conditions(self.schema)
        seen = " AND ".join(["o.scope_id = m.scope_id", inner.each(observed, "observation", "o")])
        rows = self.ask(
            f"SELECT m.id FROM {self.schema}.memory AS m WHERE m.kind = 'entity' AND {condition} AND ("
            f"m.name {compare} OR m.type {compare} OR EXISTS ("
            f"SELECT 1 FROM {self.schema}.observation AS o WHERE o.memory_id = m.id AND {seen} "
            f"AND o.content {compare})) ORDER BY m.id LIMIT %s",
            [*bindings, *inner.bindings, pattern, k],
        )
        return [id_ for (id_,) in rows]

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
        # Nulls come first where SQLite puts them, and only columns that may be null need to be told so.
        nulls = " NULLS LAST" if newest_first else " NULLS FIRST"
        return ", ".join(
            f"{row}.{column}{direction}{nulls if self.columns.may_be_null(table, column) else ''}"
            for column in columns
        )

    # Vectors

    def model(self) -> ModelInUse | None:
        return self.searchable().model

    def searchable(self) -> Searchable:
        if self._searchable is not None:
            return self._searchable
        # Who writes may write vectors: each is asked for when it is needed.
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

    def _vectors_of(self, scopes: Sequence[int]) -> CachedVectors | None:
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
        if not self.is_writing:  # what is written may be vectors
            self._searched[key] = vectors
        return vectors

    def _vectors_with(self, ids: Collection[int]) -> CachedVectors | None:
        scopes = self.scopes
        if scopes is None or len(scopes) > 1:
            found = self.rows("memory", ("scope_id",), (OneOf("id", list(ids)),), order=("scope_id",))
            scopes = list(dict.fromkeys(scope for (scope,) in found))
        return self._vectors_of(scopes)

    def _ids(self, scopes: Sequence[int], reach: VectorFilter, most: int | None = None) -> list[int] | None:
        where = (OneOf("scope_id", scopes), OneOf("kind", reach.kinds), *IN_FORCE, *reach.others)
        conditions = Conditions(self.schema)
        condition = conditions.of("memory", where, "m", self.scopes)
        rows = self.ask(
            f"SELECT m.id FROM {self.schema}.memory AS m WHERE {condition} LIMIT %s",
            [*conditions.bindings, None if most is None else most + 1],
        )
        return [id_ for (id_,) in rows] if most is None or len(rows) <= most else None


def _listed(columns: Iterable[str], row: str) -> str:
    return ", ".join(f"{row}.{column}" for column in columns)
