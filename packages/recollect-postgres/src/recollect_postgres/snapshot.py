"""Snapshots: rows and vectors read from PostgreSQL inside one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import psycopg

from recollect.domain.errors import end_if_interrupted
from recollect.domain.tables import TABLES, Compares, Equals, Not, OneOf
from recollect.stores.sql import (
    CachedVectors,
    Conditions,
    SqlSnapshot,
    column_sql,
    escaped_like,
    letter_forms,
)
from recollect_postgres.vectors import PgVector, ScopeQueries, Searchable, ServerVectors, searchable_query

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from psycopg import Connection, Cursor

    from recollect.domain.records import Found
    from recollect.domain.tables import BelongsTo, Column, Condition, HasRow, KeyIn, Row, Table, Value, Where
    from recollect.stores.port import RowsQuery, Vector
    from recollect_postgres.vectors import ModelInUse, VectorCaches


STORE_WIDE: frozenset[Table] = frozenset({"receipt", "lease", "model", "rotation", "scope", "setting"})
"""Tables whose rows belong to no scope. The key of all others begins with the scope."""

# Texts that may be too long for an index, which has their hashes instead.
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
        names_scope = any(isinstance(each, (Equals, OneOf)) and each.column == "scope_id" for each in where)
        if table in STORE_WIDE or names_scope:
            return self.all_of(where, table, row)
        return f"{self._within(row, scopes)} AND {self.all_of(where, table, row)}"

    def of_each(self, each: OneOf, row: str, value: str) -> str:
        """Return the condition that the column of `each` equals the expression `value`."""
        column = column_sql(each.column, row)
        same = f"{column} = {value}"
        return f"md5({column}) = md5({value}) AND {same}" if each.column in _HASHED else same

    def _within(self, row: str, scopes: Collection[int] | None) -> str:
        if scopes is None:
            # Name all scopes, so that the primary key's index can be used.
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
        # Conditions on each column, for an index; then on the whole key.
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
        # With the collation "C", ILIKE ignores the case of ASCII letters only.
        if text.isascii():
            return "ILIKE %s", escaped_like(text)
        return "~ %s", "".join(map(_either_case, text))


def storable(value: object) -> bool:
    """Whether PostgreSQL can store a text: it has no NUL and no half of a surrogate pair."""
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
        self.nullable = {(table, column) for table, column, _, is_not_null, _ in rows if not is_not_null}
        self.stored: dict[str, list[str]] = {}
        """The columns of each table that are not generated."""
        for table, column, _, _, generated in rows:
            if not generated:
                self.stored.setdefault(table, []).append(column)

    def type(self, table: Table, column: str) -> str:
        return self._types[table, column]

    def key(self, table: Table) -> tuple[str, ...]:
        """Return the primary key: the scope, then the key of every store."""
        key = TABLES[table].key
        return key if table in STORE_WIDE or "scope_id" in key else ("scope_id", *key)


_MAINTAINED = ("change", "last_vector", "last_vector_change")
"""Columns of a scope that the store maintains for itself."""
NUMBERED: tuple[Table, ...] = tuple(table for table, form in TABLES.items() if form.key == ("id",))
Answers = TypeVar("Answers")
Statement: TypeAlias = "tuple[str, Sequence[Any]]"


class PostgresSnapshot(SqlSnapshot):
    """A snapshot inside one transaction. `scopes` are the readable ones; None for all."""

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
        """Replaces a lost connection if the new one sees the same state; returns whether it did."""
        self.has_answered = False
        self._caches = caches
        self.unfilled: dict[int, list[int]] = {}
        """Vectors by scope that a search found missing in pgvector, if there are many."""
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
        descending: bool = False,
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
        by = self._order(table, order or TABLES[table].key, "r", descending=descending)
        source = f"FROM {self.prefix}{table} AS r WHERE {condition}"
        bounded = "" if limit is None else f" LIMIT {conditions.bind(limit)}"
        if each is None:
            statement = f"SELECT {_column_list(columns, 'r')} {source} ORDER BY {by}{bounded}"
            return self.ask(statement, conditions.bindings)
        same = conditions.of_each(each, "r", "w.value")
        outer = self._order(table, order or TABLES[table].key, "s", descending=descending)
        return self.ask(
            f"SELECT {_column_list(columns, 's')} "
            f"FROM unnest(%s::{array_type(values)}) WITH ORDINALITY AS w(value, place) CROSS JOIN LATERAL "
            f"(SELECT r.* {source} AND {same} ORDER BY {by}{bounded}) AS s ORDER BY w.place, {outer}",
            conditions.bindings,
        )

    def rows_batch(self, queries: Sequence[RowsQuery]) -> list[list[Row]]:
        statements = [self._statement(query) for query in queries]
        if len(statements) == 1:
            return [self.ask(*statements[0])]
        # A query for the model precedes a search, so send the search's first query with it.
        searches = self._searchable is None and any(query.table == "model" for query in queries)
        if searches and not self.is_writing:
            statements.append(searchable_query(self.schema, self.scopes))
        answers = self._run_query(lambda: [cursor.fetchall() for cursor in self._execute_all(statements)])
        if len(answers) > len(queries):
            self._searchable = Searchable.of(answers.pop())
        return answers

    def _execute_all(self, statements: Sequence[Statement]) -> list[Cursor[Row]]:
        """Send all statements before waiting for the first answer."""
        if len(statements) == 1:
            return [self.connection.execute(*statements[0], binary=True)]
        with self.connection.pipeline():
            return [self.connection.execute(text, bindings, binary=True) for text, bindings in statements]

    def _statement(self, query: RowsQuery) -> Statement:
        condition, bindings = self.condition(query.table, query.where)
        listed = _column_list(query.columns, "r")
        text = f"SELECT {listed} FROM {self.prefix}{query.table} AS r WHERE {condition}"
        if query.limit is None:
            return text, bindings
        by = self._order(query.table, TABLES[query.table].key, "r", descending=True)
        return f"{text} ORDER BY {by} LIMIT %s", [*bindings, query.limit]

    def ask(self, text: str, bindings: Sequence[Any] = ()) -> list[Row]:
        return self._run_query(lambda: self.connection.execute(text, bindings, binary=True).fetchall())

    def _run_query(self, query: Callable[[], Answers]) -> Answers:
        end_if_interrupted()
        try:
            answers = query()
        except psycopg.Error as error:
            if self.reconnect is None or not self.reconnect(error):
                raise
            answers = query()
        self.has_answered = True
        return answers

    def _order(self, table: Table, columns: Sequence[str], row: str, *, descending: bool) -> str:
        direction = " DESC" if descending else ""
        # Nulls come first, as in SQLite. Only columns that may be null need the clause.
        nulls = " NULLS LAST" if descending else " NULLS FIRST"
        return ", ".join(
            f"{row}.{column}{direction}{nulls if (table, column) in self.columns.nullable else ''}"
            for column in columns
        )

    # Copying whole tables to another store

    def stored_columns(self, table: Table) -> Sequence[str]:
        own = _MAINTAINED if table == "scope" else ()
        return [column for column in self.columns.stored[table] if column not in own]

    def page_key(self, table: Table) -> tuple[str, ...]:
        return self.columns.key(table)

    def last_ids(self) -> Mapping[Table, int]:
        # An unused sequence already has its first number as `last_value`.
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
        # A transaction may write vectors, so read their version whenever it is needed.
        scopes = () if self.is_writing else self.scopes
        found = Searchable.of(self.ask(*searchable_query(self.schema, scopes)))
        if not self.is_writing:
            self._searchable = found
        return found

    def nearest(
        self, vector: Vector, k: int, scopes: Sequence[int], where: Where, shortlist: int | None = None
    ) -> Sequence[Found]:
        if not isinstance(self._caches, PgVector):
            return super().nearest(vector, k, scopes, where, shortlist)
        # The shortlist is ignored: the server compares all vectors.
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
        if not self.is_writing:  # a transaction may write vectors
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
