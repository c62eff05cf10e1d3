"""Code shared by all SQL stores: conditions as SQL expressions, queries, and searches of cached vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, assert_never

import numpy as np

from recollect.domain.records import Kind
from recollect.domain.tables import (
    IN_FORCE,
    AnyOf,
    BelongsTo,
    Compares,
    Contains,
    Equals,
    HasRow,
    KeyIn,
    Not,
    OneOf,
)
from recollect.stores.check import renew_checksums, rows_to_checksum
from recollect.stores.port import Snapshot, Transaction
from recollect.stores.vectors.block import check_width
from recollect.stores.vectors.cache import nearest_by_prefix
from recollect.stores.vectors.scan import Allowed, cosines, nearest, vector_passages

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from recollect.domain.records import Found
    from recollect.domain.tables import Column, Condition, Row, Table, Value, Values, Where
    from recollect.stores.port import Vector
    from recollect.stores.vectors.block import VectorQueries, VectorSource
    from recollect.stores.vectors.cache import VectorCache


_LONGEST_PATTERN = 50_000  # bytes; the limit of SQLite


class Conditions(ABC):
    """Turns conditions on a row into one SQL expression, and collects its bindings."""

    mark: ClassVar[str]
    """The placeholder of a binding."""
    always: ClassVar[str]
    never: ClassVar[str]
    constants: ClassVar[frozenset[str]]
    """Columns that are compared with constants, so that the planner can use partial indexes."""

    def __init__(self) -> None:
        self.bindings: list[Any] = []

    def bind(self, value: object) -> str:
        self.bindings.append(value)
        return self.mark

    def column(self, column: Column, row: str) -> str:
        return column_sql(column, row)

    def of(self, table: Table, where: Where, row: str, scopes: Collection[int] | None = None) -> str:  # noqa: ARG002
        """Return the conditions, limited to these scopes (None: all) unless the conditions name a scope."""
        return self.all_of(where, table, row)

    def all_of(self, where: Where, table: Table, row: str) -> str:
        return " AND ".join(self.expression(each, table, row) for each in where) or self.always

    def expression(  # noqa: PLR0911, PLR0912  # one branch per shape
        self, condition: Condition, table: Table, row: str
    ) -> str:
        match condition:
            case Equals(column, None):
                return f"{self.column(column, row)} IS NULL"
            case Equals(column, value):
                if column in self.constants:
                    return f"{self.column(column, row)} = {_constant(value)}"
                return self.equals(column, value, row)
            case OneOf(column, values) if column not in self.constants:
                return self.one_of(column, values, row)
            case OneOf(column, values):
                listed = ", ".join(map(_constant, sorted(values, key=str)))
                return f"{self.column(column, row)} IN ({listed})" if listed else self.never
            case Compares(column, operator, value):
                return f"{self.column(column, row)} {operator} {self.bind(value)}"
            case KeyIn():
                return self.key_in(condition, row)
            case HasRow():
                return self.has_row(condition, table, row)
            case BelongsTo():
                return self.belongs_to(condition, row)
            case Contains(column, text):
                compare = self.contains(text)
                return self.never if compare is None else f"{row}.{column} {compare}"
            case Not(Equals(column, None)):
                return f"{self.column(column, row)} IS NOT NULL"
            case Not(Equals(column, value)):
                return f"{self.column(column, row)} IS DISTINCT FROM {self.bind(value)}"
            case Not(inner):
                return f"NOT ({self.expression(inner, table, row)})"
            case AnyOf(groups):
                # Not `self.all_of`, which may choose an index: that suits only a whole condition.
                parts = [Conditions.all_of(self, group, table, row) for group in groups]
                return f"({' OR '.join(f'({part})' for part in parts) or self.never})"
            case _:
                assert_never(condition)

    def contains(self, text: str) -> str | None:
        """Return the comparison that a column contains the text; None if the text is too long for SQLite."""
        compare, pattern = self.like(text)
        if len(pattern.encode("utf-8", "surrogatepass")) > _LONGEST_PATTERN:
            return None
        self.bind(pattern)
        return compare

    @abstractmethod
    def equals(self, column: Column, value: Value, row: str) -> str: ...

    @abstractmethod
    def one_of(self, column: Column, values: Collection[Any], row: str) -> str: ...

    @abstractmethod
    def key_in(self, keys: KeyIn, row: str) -> str: ...

    @abstractmethod
    def has_row(self, condition: HasRow, table: Table, row: str) -> str: ...

    @abstractmethod
    def belongs_to(self, condition: BelongsTo, row: str) -> str: ...

    @abstractmethod
    def like(self, text: str) -> tuple[str, str]:
        """Return a case-insensitive comparison, and the pattern to bind to it."""


def column_sql(column: Column, row: str) -> str:
    if isinstance(column, str):
        return f"{row}.{column}"
    return f"coalesce({', '.join(f'{row}.{each}' for each in column)})"


def escaped_like(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def letter_forms(letter: str) -> str:
    """Return a letter in both cases, without a case of several letters, such as the SS of ß."""
    return "".join(sorted({each for each in (letter, letter.lower(), letter.upper()) if len(each) == 1}))


def _constant(value: object) -> str:
    if isinstance(value, str) and value.isalpha():
        return f"'{value}'"
    if isinstance(value, int):
        return str(int(value))
    raise ValueError(f"not a known constant: {value!r}")


# Searching cached vectors

_EVERY_KIND = frozenset(Kind)
_NONE = frozenset[int]()

MOST_LISTED = 1_000
"""The maximum number of memories listed before a search. Listing more costs more than searching them."""

_ROWS_PER_HIT = 8
"""Checking one hit in the tables costs about as much as listing this many memories."""


@dataclass(frozen=True, slots=True)
class VectorFilter:
    """Conditions on memories: those that the vector cache can check, and others, which need the tables."""

    kinds: frozenset[Kind]
    only: frozenset[int] | None
    without: frozenset[int]
    others: tuple[Condition, ...]

    @classmethod
    def of(cls, where: Where) -> VectorFilter:
        kinds, without = _EVERY_KIND, _NONE
        only: frozenset[int] | None = None
        others: list[Condition] = []
        for condition in where:
            match condition:
                case OneOf("kind", values):
                    kinds &= frozenset(Kind(str(kind)) for kind in values)
                case OneOf("id", ids):
                    listed = frozenset(map(int, ids))
                    only = listed if only is None else only & listed
                case Not(OneOf("id", ids)):
                    without |= frozenset(map(int, ids))
                case _:
                    others.append(condition)
        return cls(kinds, only, without, tuple(others))

    def allowed(self, scopes: Sequence[int], ids: Collection[int] | None = None) -> Allowed:
        """Return the filter for the cache. `ids` are all memories that meet `others`; None if unknown."""
        only = self.only if ids is None else frozenset(ids) if self.only is None else self.only & set(ids)
        return Allowed.of(scopes, self.kinds, only, self.without or None)


class CachedVectors:
    """The vectors of one model in one or more caches, searched as one."""

    def __init__(self, model: str, caches: Sequence[tuple[VectorCache, VectorQueries, VectorSource]]) -> None:
        self.model = model
        self.source: VectorSource = caches[0][2]
        self._caches = caches
        self._states = [cache.state(queries, source) for cache, queries, source in caches]
        self._runs = list(chain.from_iterable(state.runs for state in self._states))
        self.size: int = sum(state.rows for state in self._states)
        """How many vectors there are, including some dead ones."""

    def search(self, query: Vector, k: int, allowed: Allowed, shortlist: int | None = None) -> list[Found]:
        """Return the best `k` of the allowed memories.

        With a `shortlist` of n, only the n memories that are nearest by a prefix of their vectors are
        compared in full.
        """
        query = np.ascontiguousarray(query, np.float32)
        if shortlist is None:
            return nearest(self._runs, query, k, allowed, self.source.centre)
        cache, queries, source = self._caches[0]
        parts = list(chain.from_iterable(state.parts for state in self._states))
        return nearest_by_prefix(parts, cache.prefixes_of(queries, source), query, k, allowed, shortlist)

    def cosines(self, query: Vector, ids: Collection[int]) -> list[Found]:
        """Return the cosine of each of these memories, by id."""
        return cosines(self._runs, np.ascontiguousarray(query, np.float32), ids)

    def passages(self, ids: Collection[int]) -> list[tuple[int, int]]:
        """Return the passages of these memories that have a vector, each with its memory, by passage."""
        return vector_passages(self._runs, ids)


class SqlSnapshot(Snapshot):
    """A snapshot that reads with SQL inside one transaction."""

    prefix = ""
    """The schema and a dot, before the name of a table."""
    modulo = "%"
    scopes: Sequence[int] | None = None
    """The visible scopes; None means all."""

    def same_scope(self, table: Table, row: str, other: str) -> str:  # noqa: ARG002
        """Return a condition that two rows have the same scope, if the store's keys begin with the scope."""
        return ""

    @contextmanager
    def within(self, scope: int) -> Iterator[None]:
        """Read only this scope inside the block. On a server, every index begins with the scope."""
        before, self.scopes = self.scopes, [scope]
        try:
            yield
        finally:
            self.scopes = before

    @abstractmethod
    def ask(self, text: str, bindings: Sequence[Any] = ()) -> list[Row]: ...

    @abstractmethod
    def conditions(self) -> Conditions: ...

    def condition(self, table: Table, where: Where, row: str = "r") -> tuple[str, list[Any]]:
        """Return the conditions on a row that this snapshot may see, as SQL with its bindings."""
        conditions = self.conditions()
        return conditions.of(table, where, row, self.scopes), conditions.bindings

    @abstractmethod
    def page_key(self, table: Table) -> tuple[str, ...]: ...

    @abstractmethod
    def vectors_of(self, scopes: Sequence[int]) -> CachedVectors | None:
        """Return the vectors of these scopes, and perhaps others; None if no model is in use."""

    @abstractmethod
    def vectors_with(self, ids: Collection[int]) -> CachedVectors | None:
        """Return the vectors of these memories, and perhaps others; None if no model is in use."""

    def count(
        self, table: Table, where: Where = (), by: Column | None = None, per: int = 1
    ) -> Mapping[Value, int]:
        condition, bindings = self.condition(table, where)
        source = f"FROM {self.prefix}{table} AS r WHERE {condition}"
        if by is None:
            ((count,),) = self.ask(f"SELECT count(*) {source}", bindings)
            return {None: count}
        value = column_sql(by, "r")
        if per != 1:
            # SQL truncates a quotient, which would round up times before 1970.
            value = f"{value} / {per} - CASE WHEN {value} {self.modulo} {per} < 0 THEN 1 ELSE 0 END"
        groups = self.ask(f"SELECT {value}, count(*) {source} GROUP BY 1", bindings)
        return {value: count for value, count in groups}  # noqa: C416  # for mypy, a row may have any length

    def containing(self, text: str, k: int, where: Where, observed: Where) -> Sequence[int]:
        conditions = self.conditions()
        if conditions.contains(text) is None:
            return []
        conditions.bindings.clear()
        condition = conditions.of("memory", where, "m", self.scopes)
        name, type_ = conditions.contains(text), conditions.contains(text)
        seen = conditions.all_of((*observed, Contains("content", text)), "observation", "o")
        limit = conditions.bind(k)
        rows = self.ask(
            f"SELECT m.id FROM {self.prefix}memory AS m WHERE m.kind = 'entity' AND {condition} AND ("
            f"m.name {name} OR m.type {type_} OR EXISTS (SELECT 1 FROM {self.prefix}observation AS o "
            f"WHERE o.memory_id = m.id{self.same_scope('memory', 'o', 'm')} AND {seen})) "
            f"ORDER BY m.id LIMIT {limit}",
            conditions.bindings,
        )
        return [id_ for (id_,) in rows]

    def page(self, table: Table, columns: Sequence[str], after: Row | None, limit: int) -> list[Row]:
        key, mark = self.page_key(table), self.conditions().mark
        by = ", ".join(f"r.{column}" for column in key)
        later = "" if after is None else f"WHERE ({by}) > ({', '.join([mark] * len(key))}) "
        listed = ", ".join(f"r.{column}" for column in (*key, *columns))
        return self.ask(
            f"SELECT {listed} FROM {self.prefix}{table} AS r {later}ORDER BY {by} LIMIT {mark}",
            [*(after or ()), limit],
        )

    # Vectors

    def nearest(
        self, vector: Vector, k: int, scopes: Sequence[int], where: Where, shortlist: int | None = None
    ) -> Sequence[Found]:
        if not scopes or k <= 0:
            return []
        vectors = self.vectors_of(scopes)
        if vectors is None:
            return []
        check_width(vector, vectors.model, vectors.source.dims)
        filters = VectorFilter.of(where)
        allowed = filters.allowed(scopes)
        if not filters.others:
            return vectors.search(vector, k, allowed, shortlist)
        # One of these conditions may select only a few rows, which an index finds.
        is_narrow = any(
            isinstance(each, HasRow) or (isinstance(each, Equals) and each.column == "session")
            for each in filters.others
        )
        ids = None
        if is_narrow or shortlist is not None:
            ids = self._ids(scopes, filters, None if shortlist is not None else MOST_LISTED)
        if ids is None:
            found = self._search_and_check(vectors, vector, k, allowed, filters.others)
            if found is not None:
                return found
            ids = self._ids(scopes, filters) or []
        return vectors.search(vector, k, filters.allowed(scopes, ids), shortlist)

    def cosines(self, vector: Vector, ids: Collection[int]) -> Sequence[Found]:
        vectors = self.vectors_with(ids)
        if vectors is None:
            return []
        check_width(vector, vectors.model, vectors.source.dims)
        return vectors.cosines(vector, ids)

    def embedded_passages(self, ids: Collection[int]) -> Sequence[tuple[int, int]]:
        vectors = self.vectors_with(ids)
        return [] if vectors is None else vectors.passages(ids)

    def _search_and_check(
        self, vectors: CachedVectors, vector: Vector, k: int, allowed: Allowed, others: Where
    ) -> list[Found] | None:
        """Return the best hits that meet conditions on the tables; None if listing memories is faster."""
        wanted = 2 * k
        max_hits = vectors.size // _ROWS_PER_HIT
        while True:
            hits = vectors.search(vector, wanted, allowed)
            asked = (OneOf("id", [hit.id for hit in hits]), *others)
            meet = {id_ for (id_,) in self.rows("memory", ("id",), asked)}
            found = [hit for hit in hits if hit.id in meet]
            if len(found) >= k or len(hits) < wanted:
                return found[:k]
            # Assume that the same share of further hits meets the conditions, and ask for twice as many.
            wanted = max(4 * wanted, 2 * wanted * k // (len(found) or 1))
            if wanted > max_hits:
                return None

    def _ids(
        self, scopes: Sequence[int], filters: VectorFilter, max_count: int | None = None
    ) -> list[int] | None:
        """Return all memories that meet the conditions; None if there are more than `max_count`."""
        where = (OneOf("scope_id", scopes), OneOf("kind", filters.kinds), *IN_FORCE, *filters.others)
        condition, bindings = self.condition("memory", where, "m")
        # With ORDER BY, the planner would scan all memories by id.
        bounded = "" if max_count is None else f" LIMIT {max_count + 1}"
        rows = self.ask(f"SELECT m.id FROM {self.prefix}memory AS m WHERE {condition}{bounded}", bindings)
        return None if max_count is not None and len(rows) > max_count else [id_ for (id_,) in rows]


class SqlTransaction(SqlSnapshot, Transaction):
    """Writes rows, and logs changes of vectors for the caches."""

    @abstractmethod
    def change(self, text: str, bindings: Sequence[Any] = ()) -> int:
        """Run a statement, and return how many rows it changed."""

    @abstractmethod
    def log_vector_changes(self, table: Table, where: Where) -> None:
        """Log the vectors of the passages that a change of these rows makes dead or live, or deletes."""

    def before_change(self, table: Table, columns: Iterable[str] | None = None, where: Where = ()) -> None:
        """Prepare to set columns of these rows, or to delete the rows if `columns` is None."""

    def patch(self, table: Table, where: Where, values: Values) -> int:
        self.before_change(table, values, where)
        changed_words = rows_to_checksum(self, table, where, values)
        if table == "passage" and "live" in values:
            self.log_vector_changes(table, (*where, Equals("live", int(not values["live"]))))
        conditions = self.conditions()
        setting = ", ".join(f"{column} = {conditions.bind(value)}" for column, value in values.items())
        condition = conditions.of(table, where, "r", self.scopes)
        statement = f"UPDATE {self.prefix}{table} AS r SET {setting} WHERE {condition}"
        changed = self.change(statement, conditions.bindings)
        renew_checksums(self, table, changed_words)
        return changed

    def remove(self, table: Table, where: Where) -> int:
        self.before_change(table, None, where)
        if table in {"passage", "memory", "observation"}:
            self.log_vector_changes(table, where)
        condition, bindings = self.condition(table, where)
        return self.change(f"DELETE FROM {self.prefix}{table} AS r WHERE {condition}", bindings)
