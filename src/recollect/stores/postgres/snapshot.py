"""Reading and writing rows of one PostgreSQL connection inside a transaction."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from recollect.conditions import IN_FORCE, Equals, OneOf
from recollect.errors import StoreDamaged
from recollect.stores.postgres.sql import STORE_WIDE, Conditions, array_type, storable
from recollect.stores.postgres.vectors import ScopeQueries, model_in_use
from recollect.stores.postgres.whole_tables import PostgresCopySource, PostgresCopyTarget
from recollect.stores.vectors.searches import CachedVectors, VectorSearches
from recollect.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from psycopg import Connection

    from recollect.conditions import Value, Where
    from recollect.ports import RowsQuery
    from recollect.stores.postgres.columns import Columns
    from recollect.stores.postgres.vectors import ModelInUse, VectorCaches
    from recollect.stores.vectors.filters import VectorFilter
    from recollect.tables import Row, Table, Values

# Caches that are further behind than this many deaths and returns are quicker rebuilt than caught up.
_LOG_LIMIT = 50_000
_LONGEST_PATTERN = 50_000  # bytes, as in SQLite


class PostgresSnapshot(PostgresCopySource, VectorSearches):
    """Answers from inside one transaction. `scopes` are those that it may see; None: all of them."""

    is_writing = False

    def __init__(
        self,
        connection: Connection[Row],
        columns: Columns,
        caches: VectorCaches,
        scopes: Sequence[int] | None,
    ) -> None:
        self.connection = connection
        self.columns = columns
        self.schema = columns.schema
        self.scopes = scopes
        self._caches = caches
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
        # All are sent before the first answer is waited for.
        with self.connection.pipeline():
            cursors = [self.connection.execute(text, bindings, binary=True) for text, bindings in asked]
        return [cursor.fetchall() for cursor in cursors]

    def _question(self, query: RowsQuery) -> tuple[str, list[Any]]:
        conditions = Conditions(self.schema)
        condition = conditions.of(query.table, query.where, "r", self.scopes)
        text = (
            f"SELECT {_listed(query.columns, 'r')} FROM {self.schema}.{query.table} AS r WHERE {condition}"
        )
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
        return self.connection.execute(text, bindings, binary=True).fetchall()

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
            self._known_model, self._asked_model = model_in_use(self), not self.is_writing
        return self._known_model

    def _vectors_of(self, scopes: Sequence[int]) -> CachedVectors | None:
        model = self.model()
        if model is None or not scopes:
            return None
        parts = [
            (self._caches.of(model.store_id, scope), ScopeQueries(self, scope), model.source(scope))
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
        caches: VectorCaches,
        scopes: Sequence[int] | None,
    ) -> None:
        super().__init__(connection, columns, caches, scopes)
        self.held: dict[int, int] = {}
        """The scopes that nobody else writes to meanwhile, each with the number of this change."""
        self._homes: dict[tuple[Table, int], int] = {}

    # Which scope a row is of

    def hold(self, scopes: Collection[int] | None) -> None:
        new = None if scopes is None else sorted(set(scopes) - self.held.keys())
        if new == []:
            return
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
        numbered = TABLES[table].key == ("id",)
        given = list(rows[0])
        values: dict[str, list[Any]] = {column: [row[column] for row in rows] for column in given}
        if table not in STORE_WIDE:
            values["scope_id"] = self._scopes_of(table, rows)
        ids: list[int] = []
        if numbered:
            ids = values["id"] = self._numbered(table, values.get("id"), len(rows))
            self._homes.update(
                ((table, id_), scope) for id_, scope in zip(ids, values.get("scope_id", ()), strict=False)
            )
        else:
            values = _once_each(values, self.columns.key(table), keep=keep)
        self._insert(table, values, replace=not numbered and not keep, skip=keep and not numbered)
        if table == "scope":
            self._add_scopes(ids)
        if table == "vector":
            self._note_vectors(ids, values["scope_id"])
        return ids

    def _numbered(self, table: Table, given: list[int] | None, count: int) -> list[int]:
        sequence = f"{self.schema}.{table}_id_seq"
        if given is None:
            rows = self.ask(
                f"SELECT nextval('{sequence}') FROM generate_series(1, %s) ORDER BY 1", [count]
            )
            return [id_ for (id_,) in rows]
        # A number that was given is not given again.
        self.ask(f"SELECT setval('{sequence}', greatest(last_value, %s)) FROM {sequence}", [max(given)])
        return given

    def _insert(self, table: Table, values: dict[str, list[Any]], *, replace: bool, skip: bool) -> None:
        names = list(values)
        listed = ", ".join(names)
        count = len(values[names[0]])
        conflict = ""
        if replace or skip:
            key = self.columns.key(table)
            others = [name for name in names if name not in key]
            setting = ", ".join(f"{name} = EXCLUDED.{name}" for name in others)
            action = f"DO UPDATE SET {setting}" if replace and others else "DO NOTHING"
            conflict = f" ON CONFLICT ({', '.join(key)}) {action}"
        if count == 1:
            marks = ", ".join("%s" for _ in names)
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

    def _add_scopes(self, ids: Sequence[int]) -> None:
        """A new scope is this transaction's to see, and nobody else's yet."""
        if self.scopes is not None:
            self.scopes = [*self.scopes, *ids]
            self.see(self.scopes)
        self.hold(ids)

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

    def update(self, table: Table, rows: Sequence[Values]) -> None:
        if not rows:
            return
        names = [column for column in rows[0] if column != "id"]
        setting = ", ".join(f"{name} = v.{name}" for name in names)
        arrays = ", ".join(f"%b::{self.columns.type(table, name)}[]" for name in ("id", *names))
        conditions = Conditions(self.schema)
        values = [[row[name] for row in rows] for name in ("id", *names)]
        self._hold_those(table, (OneOf("id", values[0]),))
        condition = conditions.of(table, (), "r", self.scopes)
        self.connection.execute(
            f"UPDATE {self.schema}.{table} AS r SET {setting} FROM unnest({arrays}) "
            f"AS v({', '.join(('id', *names))}) WHERE r.id = v.id AND {condition}",
            [*values, *conditions.bindings],
        )

    def patch(self, table: Table, where: Where, values: Values) -> int:
        self._hold_those(table, where)
        if table == "passage" and "live" in values:
            self._log_lives("passage", (*where, Equals("live", int(not values["live"]))))
        conditions = Conditions(self.schema)
        condition = conditions.of(table, where, "r", self.scopes)
        setting = ", ".join(f"{column} = %s" for column in values)
        return self.connection.execute(
            f"UPDATE {self.schema}.{table} AS r SET {setting} WHERE {condition}",
            [*values.values(), *conditions.bindings],
        ).rowcount

    def remove(self, table: Table, where: Where) -> int:
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
        """Log the vectors of passages that die, come back or vanish with the rows that meet the conditions."""
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
                f"UPDATE {self.schema}.scope SET last_life = last_life + %s WHERE id = %s RETURNING last_life",
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
        held, homes, scopes = dict(self.held), dict(self._homes), self.scopes
        self.connection.execute("SAVEPOINT change")
        try:
            yield
        except BaseException:
            if not self.connection.closed:
                self.connection.execute("ROLLBACK TO SAVEPOINT change; RELEASE SAVEPOINT change")
            self.held, self._homes, self.scopes = held, homes, scopes
            raise
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
