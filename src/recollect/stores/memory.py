"""A store in this process's memory: for tests and throw-away use, and the plainest form of the port."""

from __future__ import annotations

import re
import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from heapq import nlargest, nsmallest
from operator import ge, gt, itemgetter, le, lt
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np

from recollect.conditions import (
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
from recollect.errors import StoreUnavailable
from recollect.stores.vectors.block import VectorRow
from recollect.stores.vectors.prefix import Prefixes, nearest_by_prefix
from recollect.stores.vectors.scan import Allowed
from recollect.stores.vectors.search import cosines, nearest, vector_passages
from recollect.stores.vectors.source import VectorSource, check_width
from recollect.stores.vectors.state import Part, blocks_of
from recollect.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from recollect.conditions import Column, Condition, Value, Where
    from recollect.ports import Result, RowsQuery, Transaction, Vector
    from recollect.records import Found, Scope
    from recollect.tables import Row, Swap, Table, TableForm, Values

    Key = tuple[Any, ...]
    Test = Callable[["Record"], bool]

_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
# What a row holds that was put without a value for it.
_DEFAULTS: Mapping[Table, Mapping[str, Value]] = {
    "scope": {
        "temper": 1.0,
        "documents": 0,
        "words": 0,
        "paired": 0,
        "pairs": 0,
        "unmerged": 0,
        "entities": 0,
        "messages": 0,
    },
    "memory": {
        "name": "",
        "folded_name": "",
        "type": "",
        "text": "",
        "status": "active",
        "consolidation": "staged",
        "strength": 1.0,
        "depth": 2,
        "spread": 1,
        "stability": 1.0,
        "importance": 0.5,
        "pinned": 0,
        "revisions": 0,
        "duplicates": 0,
        "undated": 0,
    },
    "observation": {"kind": "generic"},
    "relation": {"context": ""},
}


# Columns by which few rows are found among many.
_INDEXED = frozenset(
    {
        "entity_id", "first_word", "folded_name", "memory_id", "observation_id", "passage_id", "recall_id",
        "session", "shadow_id", "source_id", "stem", "target_id", "term_id", "text_key",
    }
)  # fmt: skip


class Record(dict[str, Any]):
    """A row, by column. Columns without a value are null."""

    def __missing__(self, column: str) -> Any:
        return len(self["text"]) if column == "text_length" else None


class MemoryTable:
    """Rows by their key, and which rows have which value of a column."""

    def __init__(self, form: TableForm, rows: dict[Key, Record] | None = None) -> None:
        self.form = form
        self.rows = {} if rows is None else rows
        self._indexes: dict[str, dict[Any, dict[Key, None]]] = {}

    def copy(self) -> MemoryTable:
        return MemoryTable(self.form, dict(self.rows))

    def key(self, row: Record) -> Key:
        return tuple(row[column] for column in self.form.key)

    def put(self, row: Record) -> None:
        key = self.key(row)
        self.remove(key)
        self.rows[key] = row
        for column, index in self._indexes.items():
            index.setdefault(row[column], {})[key] = None

    def remove(self, key: Key) -> None:
        row = self.rows.pop(key, None)
        if row is not None:
            for column, index in self._indexes.items():
                del index[row[column]][key]

    def candidates(self, where: Where) -> Iterable[Record]:
        """The rows that may meet the conditions."""
        for condition in where:
            if isinstance(condition, Equals):
                wanted: Collection[Any] = (condition.value,)
            elif isinstance(condition, OneOf):
                wanted = dict.fromkeys(condition.values)
            else:
                continue
            if (condition.column,) == self.form.key:
                return [self.rows[value,] for value in wanted if (value,) in self.rows]
            if condition.column in _INDEXED:
                index = self._index(str(condition.column))
                return [self.rows[key] for value in wanted for key in index.get(value, ())]
        return self.rows.values()

    def _index(self, column: str) -> dict[Any, dict[Key, None]]:
        if column not in self._indexes:
            index: dict[Any, dict[Key, None]] = {}
            for key, row in self.rows.items():
                index.setdefault(row[column], {})[key] = None
            self._indexes[column] = index
        return self._indexes[column]


@dataclass(slots=True)
class MemoryTables:
    """All rows of one moment. Tables are copied before they are changed, so a moment never changes."""

    tables: dict[Table, MemoryTable] = field(
        default_factory=lambda: {table: MemoryTable(form) for table, form in TABLES.items()}
    )
    numbers: dict[Table, int] = field(default_factory=dict)
    """By scope and analyser: the terms of each document."""

    def copy(self) -> MemoryTables:
        return MemoryTables(dict(self.tables), dict(self.numbers))

    def all_rows(self, table: Table) -> dict[Key, Record]:
        return self.tables[table].rows


class MemorySnapshot:
    """Answers by looking at the rows that an index or a key leaves, else at every row."""

    def __init__(self, tables: MemoryTables) -> None:
        self.tables = tables

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
        groups: list[Where] = (
            [where] if each is None else [(*where, Equals(each.column, value)) for value in each.values]
        )
        by = order or TABLES[table].key

        def place(row: Record) -> list[tuple[bool, Any]]:
            return [(row[column] is not None, row[column]) for column in by]

        listed: list[Row] = []
        for group in groups:
            found = self._matching(table, group)
            if limit is None:
                found.sort(key=place, reverse=newest_first)
            else:
                found = (nlargest if newest_first else nsmallest)(limit, found, key=place)
            listed += [tuple([row[column] for column in columns]) for row in found]
        return listed

    def several(self, queries: Sequence[RowsQuery]) -> list[list[Row]]:
        return [
            self.rows(each.table, each.columns, each.where, newest_first=True, limit=each.limit)
            for each in queries
        ]

    def count(
        self, table: Table, where: Where = (), by: Column | None = None, per: int = 1
    ) -> Mapping[Value, int]:
        rows = self._matching(table, where)
        if by is None:
            return {None: len(rows)}
        values = map(_reader(by), rows)
        return Counter(values if per == 1 else (value // per for value in values))

    def _matching(self, table: Table, where: Where) -> list[Record]:
        rows = self.tables.tables[table].candidates(where)
        for condition in where:
            rows = filter(self._test(condition), rows)
        return list(rows)

    def _test_all(self, where: Where) -> Test:
        tests = [self._test(condition) for condition in where]
        return lambda row: all(test(row) for test in tests)

    def _test(self, condition: Condition) -> Test:  # noqa: PLR0911  # one line per shape
        match condition:
            case Equals(column, value):
                read = _reader(column)
                return lambda row: bool(read(row) == value)
            case OneOf(column, values):
                read, wanted = _reader(column), frozenset(values)
                return lambda row: read(row) in wanted
            case Compares(column, sign, value):
                read, compare = _reader(column), _OPERATORS[sign]
                return lambda row: (found := read(row)) is not None and compare(found, value)
            case KeyIn(columns, keys):
                listed = frozenset(keys)
                return lambda row: tuple(row[column] for column in columns) in listed
            case HasRow(table, column, where):
                ids = {row[column] for row in self._matching(table, where)}
                return lambda row: row["id"] in ids
            case BelongsTo(pointer, table, where):
                owners = {row["id"] for row in self._matching(table, where)}
                return lambda row: row[pointer] in owners
            case Contains(named, text):
                contains = re.compile("".join(map(_either_case, text))).search
                return lambda row: contains(row[named]) is not None
            case Not(inner):
                test = self._test(inner)
                return lambda row: not test(row)
            case AnyOf(groups):
                tests = [self._test_all(group) for group in groups]
                return lambda row: any(test(row) for test in tests)
            case _:
                assert_never(condition)

    def containing(self, text: str, k: int, where: Where, observed: Where) -> Sequence[int]:
        contains = re.compile("".join(map(_either_case, text))).search
        seen: set[int] = {
            row["memory_id"] for row in self._matching("observation", observed) if contains(row["content"])
        }
        found = [
            row["id"]
            for row in self._matching("memory", (Equals("kind", "entity"), *where))
            if row["id"] in seen or contains(row["name"]) or contains(row["type"])
        ]
        return sorted(found)[:k]

    # Vectors

    def nearest(
        self, vector: Vector, k: int, scopes: Sequence[int], where: Where, shortlist: int | None = None
    ) -> Sequence[Found]:
        model = self._model_in_use()
        if model is None or k <= 0:
            return []
        check_width(vector, model["name"], model["dims"])
        allowed = self._matching("memory", (OneOf("scope_id", scopes), *IN_FORCE, *where))
        source, parts = self._vectors(model, {row["id"]: row["scope_id"] for row in allowed})
        query = np.ascontiguousarray(vector, np.float32)
        everything = Allowed.of(scopes)
        if shortlist is None:
            return nearest([part.run for part in parts], query, k, everything, source.centre)
        rotation = self.tables.all_rows("rotation").get((model["id"],), Record())
        prefixes = Prefixes(source, rotation["packed"])
        return nearest_by_prefix(parts, prefixes, query, k, everything, shortlist)

    def cosines(self, vector: Vector, ids: Collection[int]) -> Sequence[Found]:
        model = self._model_in_use()
        if model is None:
            return []
        check_width(vector, model["name"], model["dims"])
        _, parts = self._vectors(model, dict.fromkeys(ids, 0))
        return cosines([part.run for part in parts], np.ascontiguousarray(vector, np.float32), ids)

    def embedded_passages(self, ids: Collection[int]) -> Sequence[tuple[int, int]]:
        model = self._model_in_use()
        if model is None:
            return []
        _, parts = self._vectors(model, dict.fromkeys(ids, 0))
        return vector_passages([part.run for part in parts], ids)

    def _model_in_use(self) -> Record | None:
        return next(iter(self._matching("model", (Equals("in_use", 1),))), None)

    def _vectors(self, model: Record, scopes: Mapping[int, int]) -> tuple[VectorSource, list[Part]]:
        """The vectors of these memories, each with its scope."""
        passages = {
            id_: row["memory_id"] for (id_,), row in self.tables.all_rows("passage").items() if row["live"]
        }
        rows = (
            VectorRow(row["id"], memory, row["passage_id"], scopes[memory], 0, row["embedding"])
            for row in self._matching("vector", (Equals("model_id", model["id"]),))
            if (memory := passages.get(row["passage_id"], 0)) in scopes
        )
        source = VectorSource("memory", model["id"], model["dims"], model["centre"])
        return source, [Part(block, block.used, shared=False) for block in blocks_of(rows, source)]


class MemoryTransaction(MemorySnapshot):
    """Changes a copy of the tables; nobody else sees it before the end."""

    def __init__(self, tables: MemoryTables) -> None:
        super().__init__(tables.copy())
        self._owned: set[Table] = set()

    def put(self, table: Table, rows: Sequence[Values], *, keep: bool = False) -> list[int]:
        stored = self._own(table)
        numbered = stored.form.key == ("id",)
        ids: list[int] = []
        for row in rows:
            record = Record({**_DEFAULTS.get(table, {}), **row})
            if numbered:
                number = record.get("id") or self.tables.numbers.get(table, 0) + 1
                self.tables.numbers[table] = max(number, self.tables.numbers.get(table, 0))
                record["id"] = number
                ids.append(number)
            if not (keep and stored.key(record) in stored.rows):
                stored.put(record)
        return ids

    def swap(self, table: Table, column: str, rows: Iterable[Swap], where: Where = ()) -> int:
        return sum(
            self.patch(table, (Equals("id", id_), Equals(column, expected), *where), {column: value})
            for id_, expected, value in rows
        )

    def patch(self, table: Table, where: Where, values: Values) -> int:
        rows = self._matching(table, where)
        stored = self._own(table)
        for row in rows:
            stored.put(Record({**row, **values}))
        return len(rows)

    def remove(self, table: Table, where: Where) -> int:
        rows = self._matching(table, where)
        stored = self._own(table)
        for row in rows:
            stored.remove(stored.key(row))
        if rows and stored.form.key == ("id",):
            self._follow(table, {row["id"] for row in rows})
        return len(rows)

    def _follow(self, table: Table, ids: set[int]) -> None:
        """Remove what belonged to rows that are gone, and clear what pointed to them."""
        for other, form in TABLES.items():
            for column, owner in form.owners.items():
                if owner == table:
                    self.remove(other, (OneOf(column, ids),))
            for column, target in form.pointers.items():
                if target == table:
                    self.patch(other, (OneOf(column, ids),), {column: None})

    def hold(self, scopes: Collection[int] | None) -> None:
        """There is one writer at a time to the whole store."""

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        before = self.tables
        self.tables = before.copy()
        self._owned.clear()
        try:
            yield
        except BaseException:
            self.tables = before
            raise
        finally:
            self._owned.clear()

    def _own(self, table: Table) -> MemoryTable:
        """The table, as a copy that may be changed."""
        if table not in self._owned:
            self.tables.tables[table] = self.tables.tables[table].copy()
            self._owned.add(table)
        return self.tables.tables[table]


class MemoryStore:
    """One writer at a time; readers see the last commit. Nothing outlives the process."""

    def __init__(self) -> None:
        self._tables = MemoryTables()
        self._writing = threading.Lock()
        self._version = 0
        self._closed = False
        self.transact(_prepare)

    @contextmanager
    def read(self, within: Scope | None = None) -> Iterator[MemorySnapshot]:  # noqa: ARG002  # all is in one place
        self._refuse_closed()
        yield MemorySnapshot(self._tables)

    def transact(
        self,
        work: Callable[[Transaction], Result],
        within: Collection[Scope] | None = None,  # noqa: ARG002  # there is one writer to all scopes
    ) -> Result:
        with self._writing:
            self._refuse_closed()
            rows = MemoryTransaction(self._tables)
            result = work(rows)
            self._tables = rows.tables
            self._version += 1
            return result

    def version(self) -> int:
        self._refuse_closed()
        return self._version

    def close(self) -> None:
        self._closed = True

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreUnavailable("The memory was closed; what it held is gone with it.")


def _prepare(rows: Transaction) -> None:
    # A fixed seed of trials, since chance is an argument and nobody gave one.
    rows.put("setting", [{"name": "trial_seed", "value": "0" * 16}])


def _reader(column: Column) -> Callable[[Record], Any]:
    if isinstance(column, str):
        return itemgetter(column)
    return lambda row: next((row[each] for each in column if row[each] is not None), None)


def _either_case(letter: str) -> str:
    """A pattern for the letter in any case, as far as one letter stands for the other."""
    forms = {form for form in (letter, letter.lower(), letter.upper()) if len(form) == 1}
    return f"[{''.join(map(re.escape, sorted(forms)))}]"
