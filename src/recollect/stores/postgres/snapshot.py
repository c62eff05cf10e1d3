"""Reading and writing rows of one PostgreSQL connection inside a transaction."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import psycopg

from recollect.conditions import IN_FORCE, Equals, OneOf
from recollect.errors import StoreDamaged
from recollect.records import Kind
from recollect.stores.checksums import renew_checksums, reworded, with_checksums
from recollect.stores.postgres.server_vectors import PgVector, ServerVectors, insert_server_vectors
from recollect.stores.postgres.sql import STORE_WIDE, Conditions, array_type, storable
from recollect.stores.postgres.vectors import ScopeQueries, searched_model
from recollect.stores.postgres.whole_tables import PostgresCopySource, PostgresCopyTarget
from recollect.stores.vectors.searches import CachedVectors, VectorSearches
from recollect.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from psycopg import Connection

    from recollect.conditions import Value, Where
    from recollect.ports import RowsQuery, Vector
    from recollect.records import Found
    from recollect.stores.postgres.columns import Columns
    from recollect.stores.postgres.vectors import ModelInUse, VectorCaches
    from recollect.stores.vectors.filters import VectorFilter
    from recollect.tables import Row, Swap, Table, Values

# Caches that are further behind than this many deaths and returns are quicker rebuilt than caught up.
_LOG_LIMIT = 50_000
Answers = TypeVar("Answers")
_LONGEST_PATTERN = 50_000  # bytes, as in SQLite
_MOST_NUMBERS = 64
# The columns that a question about the past reads beside the present's indexes; none: all of the row.
_READ_OF_THE_PAST: Mapping[Table, frozenset[str]] = {
    "memory": frozenset(
        {"kind", "scope_id", "created_at", "name", "type", "text", "speaker", "superseded_at", "deleted_at"}
    ),
    "observation": frozenset({"memory_id", "content", "created_at", "superseded_at", "deleted_at"}),
    "revision": frozenset(),
    "absence": frozenset(),
    "passage": frozenset({"memory_id", "observation_id", "revision_id", "live"}),
    "vector": frozenset(),
}


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
        self._known_model: ModelInUse | None = None
        self._asked_model = False

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
        return self._answered(lambda: self._pipelined(asked))

    def _pipelined(self, asked: Sequence[tuple[str, list[Any]]]) -> list[list[Row]]:
        # All are sent before the first answer is waited for.
        with self.connection.pipeline():
            cursors = [self.connection.execute(text, bindings, binary=True) for text, bindings in asked]
        return [cursor.fetchall() for cursor in cursors]

    def _question(self, query: RowsQuery) -> tuple[str, list[Any]]:
        conditions = Conditions(self.schema)
        condition = conditions.of(query.table, query.where, "r", self.scopes)
        text = f"SELECT {_listed(query.columns, 'r')} FROM {self.schema}.{query.table} AS r WHERE {condition}"
        if query.limit is None:
            return text, conditions.bindings
        by = self._order(query.table, TABLES[query.table].key, "r", newest_first=True)
        return f"{text} ORDER BY {by} LIMIT %s", [*conditions.bindings, query.limit]

    def count(self, table: Table, where: Where = (), by: str | None = None) -> Mapping[Value, int]:
        conditions = Conditions(self.schema)
        condition = conditions.of(table, where, "r", self.scopes)
        source = f"FROM {self.schema}.{table} AS r WHERE {condition}"
        if by is None:
            ((count,),) = self.ask(f"SELECT count(*) {source}", conditions.bindings)
            return {None: count}
        groups = self.ask(f"SELECT r.{by}, count(*) {source} GROUP BY r.{by}", conditions.bindings)
        return {value: count for value, count in groups}  # noqa: C416  # a row is of any length

    def containing(self, text: str, k: int, where: Where, observed: Where) -> Sequence[int]:
        if not storable(text):
            return []
        # Where texts compare byte by byte, ILIKE knows the case of ASCII letters alone.
        compare, pattern = ("ILIKE %s", _like(text)) if text.isascii() else ("~ %s", _either_case(text))
        if len(pattern.encode()) > _LONGEST_PATTERN:
            return []
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
        if not self._asked_model:
            self._known_model, self._asked_model = searched_model(self), not self.is_writing
        return self._known_model

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
        model, caches = self.model(), self._caches
        if model is None or not scopes or isinstance(caches, PgVector):
            return None
        parts = [
            (caches.of(model.store_id, scope), ScopeQueries(self, scope), model.source(scope))
            for scope in scopes
        ]
        return CachedVectors(model.name, parts)

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


class PostgresTransaction(PostgresCopyTarget, PostgresSnapshot):
    """Writes, with what the caches must be told of them."""

    is_writing = True

    def __init__(
        self,
        connection: Connection[Row],
        columns: Columns,
        caches: VectorCaches | PgVector,
        scopes: Sequence[int] | None,
    ) -> None:
        super().__init__(connection, columns, caches, scopes)
        self.held: dict[int, int] = {}
        """The scopes that nobody else writes to meanwhile, each with the number of this change."""
        self._holds_all = False
        self._homes: dict[tuple[Table, int], int] = {}
        self._models: dict[tuple[str, ...], list[Row]] = {}
        self._past_changed = False
        self._new_texts: set[int] = set()
        self._present_passages: set[int] = set()
        self._numbers: dict[Table, tuple[list[int], int]] = {}
        self._waiting: dict[Table, dict[tuple[str, ...], dict[str, list[Any]]]] = {}
        """Rows that were put and not sent yet, by their columns: most are sent together."""

    def ask(self, text: str, bindings: Sequence[Any] = ()) -> list[Row]:
        """As of a snapshot; what waits is there to be found."""
        self.send()
        return super().ask(text, bindings)

    def several(self, queries: Sequence[RowsQuery]) -> list[list[Row]]:
        self.send()
        return super().several(queries)

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
        if table != "model" or where != (Equals("in_use", 1),):
            return super().rows(
                table, columns, where, order=order, newest_first=newest_first, limit=limit, each=each
            )
        # Asked for with every text of a batch, and changed by nobody but this transaction's own writes.
        key = tuple(columns)
        if key not in self._models:
            self._models[key] = super().rows(table, columns, where)
        return self._models[key]

    # Which scope a row is of

    def hold(self, scopes: Collection[int] | None) -> None:
        new = None if scopes is None else sorted(set(scopes) - self.held.keys())
        if new == [] or (new is None and self._holds_all):
            return
        self._holds_all = self._holds_all or new is None
        # Numbers that were drawn before a scope was held may be lower than what others put into it since.
        self._numbers.clear()
        # By id, so that two that hold several do not wait for each other.
        which = "" if new is None else "WHERE id = ANY (%s::bigint[]) "
        rows = self.ask(
            f"UPDATE {self.schema}.scope AS s SET change = s.change + 1 FROM "
            f"(SELECT id FROM {self.schema}.scope {which}ORDER BY id FOR UPDATE) AS held "
            "WHERE s.id = held.id AND NOT s.id = ANY (%s::bigint[]) RETURNING s.id, s.change",
            [*([] if new is None else [new]), list(self.held)],
        )
        self.held.update(rows)

    def _homes_of(self, table: Table, ids: Collection[int]) -> dict[int, int]:
        """The scope of each of these rows, where it can be found."""
        if self.scopes is not None and len(self.scopes) == 1:
            return dict.fromkeys(ids, self.scopes[0])
        unknown = [id_ for id_ in ids if (table, id_) not in self._homes]
        if unknown:
            for id_, scope in self.rows(table, ("id", "scope_id"), (OneOf("id", unknown),)):
                self._homes[table, id_] = scope
        return {id_: self._homes[table, id_] for id_ in ids if (table, id_) in self._homes}

    def _scopes_of(self, table: Table, rows: Sequence[Values]) -> list[int]:
        """The scope of each row that is to be put: its own, or its owner's."""
        if "scope_id" in rows[0]:
            scopes = [row["scope_id"] for row in rows]
        else:
            column, owner = next(
                (column, owner) for column, owner in TABLES[table].owners.items() if owner not in STORE_WIDE
            )
            homes = self._homes_of(owner, {row[column] for row in rows})
            missing = {row[column] for row in rows} - homes.keys()
            if missing:
                raise StoreDamaged(f"There is no {owner} {min(missing)} that a {table} could belong to.")
            scopes = [homes[row[column]] for row in rows]
        self.hold(set(scopes))
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
            self._before_change(table)
            self._insert(table, _once_each(values, self.columns.key(table), keep=keep), keep=keep)
            return []
        ids = values["id"] = self._numbered(table, values.get("id"), len(rows))
        if table == "scope":
            self._see_also(ids)
            self._insert(table, values)
            self.hold(ids)
            return ids
        if table in STORE_WIDE:
            self._before_change(table)
            self._insert(table, values)
            return ids
        self._note_past(table, values)
        self._homes.update(((table, id_), scope) for id_, scope in zip(ids, values["scope_id"], strict=True))
        by_columns = self._waiting.setdefault(table, {})
        known = by_columns.setdefault(tuple(values), {column: [] for column in values})
        for column, new in values.items():
            known[column] += new
        return ids

    def _note_past(self, table: Table, values: dict[str, list[Any]]) -> None:
        """Of new rows, a question about the past reads all but those of new notes and messages."""
        if table == "passage":
            new = zip(values["id"], values["memory_id"], values["live"], strict=True)
            self._present_passages.update(
                id_ for id_, memory, live in new if live and memory in self._new_texts
            )
        elif table == "vector":
            self._past_changed |= not self._present_passages.issuperset(values["passage_id"])
        elif table == "memory":
            new_texts = zip(values["id"], values["kind"], strict=True)
            self._new_texts.update(id_ for id_, kind in new_texts if kind != Kind.ENTITY)
            ends = (*values.get("deleted_at", ()), *values.get("superseded_at", ()))
            self._past_changed |= any(end is not None for end in ends)
        elif table in _READ_OF_THE_PAST:
            self._past_changed = True

    def _numbered(self, table: Table, given: list[int] | None, count: int) -> list[int]:
        sequence = f"{self.schema}.{table}_id_seq"
        if given is not None:
            # A number that was given is not given again.
            super().ask(
                f"SELECT setval('{sequence}', %s) FROM {sequence} WHERE last_value < %s",
                [max(given), max(given)],
            )
            return given
        left, before = self._numbers.get(table, ([], 0))
        if len(left) < count:
            # Where many were asked for, many more are likely to be; what is left over is lost.
            more = max(count - len(left), _MOST_NUMBERS if before >= _MOST_NUMBERS else 0)
            rows = super().ask(f"SELECT nextval('{sequence}') FROM generate_series(1, %s) ORDER BY 1", [more])
            left = left + [id_ for (id_,) in rows]
        self._numbers[table] = left[count:], before + count
        return left[:count]

    def _before_change(self, table: Table, columns: Iterable[str] | None = None) -> None:
        """Before columns of a table's rows are set, or all of them with the rows themselves."""
        self.send()
        if table == "model":
            self._models.clear()
        read = _READ_OF_THE_PAST.get(table)
        if read is not None and (columns is None or not read or not read.isdisjoint(columns)):
            self._past_changed = True

    def finish(self) -> None:
        """What is left to do before the commit."""
        self.send()
        if self._past_changed:
            self.connection.execute(
                f"INSERT INTO {self.schema}.past(scope_id, stamp) "
                "SELECT scope, %s FROM unnest(%s::bigint[]) AS scope "
                "ON CONFLICT (scope_id, id) DO UPDATE SET stamp = EXCLUDED.stamp",
                [secrets.randbits(62), list(self.held)],
            )

    def send(self) -> None:
        """Send the rows that wait: owners before what belongs to them."""
        waiting, self._waiting = self._waiting, {}
        for table in TABLES:
            for values in waiting.get(table, {}).values():
                self._insert(table, values)
                if table == "vector":
                    self._note_vectors(values["id"], values["scope_id"])
                    self._fill_server(values)

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
            self.connection.execute(
                f"INSERT INTO {self.schema}.{table}({listed}) VALUES ({marks}){conflict}",
                [values[name][0] for name in names],
            )
            return
        arrays = ", ".join(f"%b::{self.columns.type(table, name)}[]" for name in names)
        self.connection.execute(
            f"INSERT INTO {self.schema}.{table}({listed}) SELECT * FROM unnest({arrays}){conflict}",
            [values[name] for name in names],
        )

    def _see_also(self, ids: Sequence[int]) -> None:
        """A new scope is this transaction's to see before it is there: the second fence asks at once."""
        if self.scopes is not None:
            self.scopes = [*self.scopes, *ids]
            self.see(self.scopes)

    def see(self, scopes: Sequence[int] | None) -> None:
        """Tell the second fence which scopes this transaction may see."""
        seen = "*" if scopes is None else f"{{{','.join(map(str, scopes))}}}"
        self.connection.execute("SELECT set_config('recollect.scopes', %s, true)", [seen])

    def _note_vectors(self, ids: Sequence[int], scopes: Sequence[int]) -> None:
        newest: dict[int, int] = {}
        for id_, scope in zip(ids, scopes, strict=True):
            newest[scope] = max(id_, newest.get(scope, 0))
        for scope, id_ in newest.items():
            self.connection.execute(
                f"UPDATE {self.schema}.scope SET last_vector = greatest(last_vector, %s) WHERE id = %s",
                [id_, scope],
            )

    def _fill_server(self, values: Mapping[str, list[Any]]) -> None:
        if isinstance(self._caches, PgVector):
            columns = [values[name] for name in ("scope_id", "id", "model_id", "passage_id", "embedding")]
            rows = zip(*columns, strict=True)
            insert_server_vectors(self.connection, self._caches, self.schema, rows)

    def swap(self, table: Table, column: str, rows: Iterable[Swap], where: Where = ()) -> int:
        given = list(rows)
        if not given:
            return 0
        ids, former, new = map(list, zip(*given, strict=True))
        self._before_change(table, [column])
        self._hold_those(table, (OneOf("id", ids),))
        kind = self.columns.type(table, column)
        conditions = Conditions(self.schema)
        condition = conditions.of(table, where, "r", self.scopes)
        return self.connection.execute(
            f"UPDATE {self.schema}.{table} AS r SET {column} = v.new "
            f"FROM unnest(%b::bigint[], %b::{kind}[], %b::{kind}[]) AS v(id, old, new) "
            f"WHERE r.id = v.id AND r.{column} IS NOT DISTINCT FROM v.old AND {condition}",
            [ids, former, new, *conditions.bindings],
        ).rowcount

    def patch(self, table: Table, where: Where, values: Values) -> int:
        self._before_change(table, values)
        self._hold_those(table, where)
        new_words = reworded(self, table, where, values)
        if table == "passage" and "live" in values:
            self._log_lives("passage", (*where, Equals("live", int(not values["live"]))))
        conditions = Conditions(self.schema)
        condition = conditions.of(table, where, "r", self.scopes)
        setting = ", ".join(f"{column} = %s" for column in values)
        changed = self.connection.execute(
            f"UPDATE {self.schema}.{table} AS r SET {setting} WHERE {condition}",
            [*values.values(), *conditions.bindings],
        ).rowcount
        renew_checksums(self, table, new_words)
        return changed

    def remove(self, table: Table, where: Where) -> int:
        self._before_change(table)
        self._hold_those(table, where)
        if table in {"passage", "memory", "observation"}:
            self._log_lives(table, where)
        conditions = Conditions(self.schema)
        condition = conditions.of(table, where, "r", self.scopes)
        removed = self.connection.execute(
            f"DELETE FROM {self.schema}.{table} AS r WHERE {condition}", conditions.bindings
        ).rowcount
        if table == "scope":
            left = {id_ for (id_,) in self.rows("scope", ("id",), (OneOf("id", list(self.held)),))}
            self.held = {scope: change for scope, change in self.held.items() if scope in left}
        return removed

    def _hold_those(self, table: Table, where: Where) -> None:
        """Hold the scopes of the rows that are to be changed."""
        if table in STORE_WIDE or (self.scopes is not None and self.held.keys() >= set(self.scopes)):
            return
        conditions = Conditions(self.schema)
        condition = conditions.of(table, where, "r", self.scopes)
        rows = self.ask(
            f"SELECT DISTINCT r.scope_id FROM {self.schema}.{table} AS r WHERE {condition}",
            conditions.bindings,
        )
        self.hold({scope for (scope,) in rows})

    def _log_lives(self, table: Table, where: Where) -> None:
        """Log the vectors of passages that die, come back or vanish with these rows."""
        conditions = Conditions(self.schema)
        condition = conditions.of(table, where, "r", self.scopes)
        column = "id" if table == "passage" else f"{table}_id"
        rows = self.ask(
            f"SELECT v.scope_id, array_agg(v.id ORDER BY v.id) FROM {self.schema}.{table} AS r "
            f"JOIN {self.schema}.passage AS p ON p.scope_id = r.scope_id AND p.{column} = r.id "
            f"JOIN {self.schema}.vector AS v ON v.scope_id = p.scope_id AND v.passage_id = p.id "
            f"WHERE {condition} GROUP BY v.scope_id",
            conditions.bindings,
        )
        for scope, vectors in rows:
            ((last,),) = self.ask(
                f"UPDATE {self.schema}.scope SET last_life = last_life + %s WHERE id = %s "
                "RETURNING last_life",
                [len(vectors), scope],
            )
            self.connection.execute(
                f"INSERT INTO {self.schema}.vector_life(scope_id, seq, vector_id) "
                "SELECT %s, %s + place, vector_id FROM unnest(%s::bigint[]) "
                "WITH ORDINALITY AS v(vector_id, place)",
                [scope, last - len(vectors), vectors],
            )
            self.connection.execute(
                f"DELETE FROM {self.schema}.vector_life WHERE scope_id = %s AND seq <= %s",
                [scope, last - _LOG_LIMIT],
            )

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        self.send()
        held, homes, scopes = dict(self.held), dict(self._homes), self.scopes
        held_all = self._holds_all
        self.connection.execute("SAVEPOINT change")
        try:
            yield
        except BaseException:
            if not self.connection.closed:
                self.connection.execute("ROLLBACK TO SAVEPOINT change; RELEASE SAVEPOINT change")
            self.held, self._homes, self.scopes = held, homes, scopes
            self._holds_all = held_all
            self._models.clear()
            self._waiting.clear()
            raise
        self.send()
        self.connection.execute("RELEASE SAVEPOINT change")


def _once_each(values: dict[str, list[Any]], key: Sequence[str], *, keep: bool) -> dict[str, list[Any]]:
    """Of rows with the same key, the last one; or the first, to keep. One statement puts no row twice."""
    keys = list(zip(*(values[column] for column in key), strict=True))
    places = {each: place for place, each in reversed(list(enumerate(keys)))}
    if not keep:
        places = {each: place for place, each in enumerate(keys)}
    if len(places) == len(keys):
        return values
    kept = sorted(places.values())
    return {column: [each[place] for place in kept] for column, each in values.items()}


def _listed(columns: Iterable[str], row: str) -> str:
    return ", ".join(f"{row}.{column}" for column in columns)


def _like(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _either_case(text: str) -> str:
    """A pattern of the letters in either case, as far as the other one is one letter."""
    return "".join(map(_letter_forms, text))


def _letter_forms(letter: str) -> str:
    forms = sorted({form for form in (letter, letter.lower(), letter.upper()) if len(form) == 1})
    if len(forms) > 1:
        return f"[{''.join(forms)}]"
    return letter if letter.isalnum() else f"\\{letter}"
