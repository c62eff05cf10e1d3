"""Vectors of a scope: the caches of this machine and their queries, and search by pgvector."""

from __future__ import annotations

import struct
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
from psycopg import errors
from psycopg.adapt import Dumper
from psycopg.pq import Format

from recollect.domain.errors import StoreUnavailable
from recollect.domain.numbers import Rows, unpack_vector
from recollect.domain.records import Found
from recollect.domain.tables import Equals, OneOf
from recollect.stores.vectors.block import KIND_CODES, VectorRow, VectorSource, Version, check_width
from recollect.stores.vectors.cache import VectorCache
from recollect_postgres.connection import KEYWORDS, conninfo, failures_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from psycopg import Connection

    from recollect.domain.tables import Row, Where
    from recollect.stores.port import Vector
    from recollect.stores.url import StoreUrl
    from recollect_postgres.snapshot import PostgresConditions, PostgresSnapshot


_MAX_FETCHED = 4_096
"""Vectors that are fetched at a time, to limit the memory that filling a cache takes."""

MOST_CACHES = 256
"""The maximum number of scopes whose vectors a process caches; the least recently used are dropped."""


@dataclass(frozen=True, slots=True)
class ModelInUse:
    """The model whose vectors are searched, and the id of the store."""

    name: str
    store_id: str
    id: int
    dims: int
    packed_centre: bytes | None

    def source(self, scope: int) -> VectorSource:
        return VectorSource(f"{self.store_id}/{scope}", self.id, self.dims, self.packed_centre)


@dataclass(frozen=True, slots=True)
class Searchable:
    """The model in use, and the version of each scope's vectors."""

    model: ModelInUse | None
    versions: Mapping[int, Version]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Searchable:
        model = ModelInUse(*rows[0][:5]) if rows else None
        return cls(model, {row[5]: Version(*row[6:]) for row in rows if row[5] is not None})


def searchable_query(schema: str, scopes: Sequence[int] | None) -> tuple[str, list[Any]]:
    """Return the query for `Searchable.of`. For all scopes (None), it reads only the model."""
    return (
        f"SELECT m.name, (SELECT value FROM {schema}.setting WHERE name = 'store_id'), m.id, m.dims, "
        "m.centre, s.id, s.last_vector, s.last_vector_change, coalesce((SELECT max(v.id) "
        f"FROM {schema}.vector AS v WHERE v.scope_id = s.id AND v.model_id = m.id), 0) "
        f"FROM {schema}.model AS m LEFT JOIN {schema}.scope AS s ON s.id = ANY (%s::bigint[]) "
        "WHERE m.in_use = 1"
    ), [list(scopes or ())]


class ScopeQueries:
    """The queries of one scope's cache in one transaction."""

    def __init__(self, snapshot: PostgresSnapshot, scope: int) -> None:
        self._snapshot = snapshot
        self._schema = snapshot.schema
        self._scope = scope

    def version(self, source: VectorSource) -> Version:
        searchable = self._snapshot.searchable()
        if self._scope in searchable.versions:
            return searchable.versions[self._scope]
        rows = self._snapshot.ask(
            "SELECT last_vector, last_vector_change, "
            f"coalesce((SELECT max(v.id) FROM {self._schema}.vector AS v "
            "WHERE v.scope_id = s.id AND v.model_id = %s), 0) "
            f"FROM {self._schema}.scope AS s WHERE s.id = %s",
            [source.model_id, self._scope],
        )
        return Version(*rows[0]) if rows else Version(0, 0, 0)

    def live_rows(self, source: VectorSource, after: int) -> Iterator[VectorRow]:
        while True:
            # Limit first, then join row by row. Else the planner reads and sorts all rows: it cannot know
            # how few are new and live.
            rows = self._snapshot.ask(
                "SELECT v.id, o.memory_id, v.passage_id, v.scope_id, o.kind, "
                "CASE WHEN o.live = 1 AND length(v.embedding) = %s THEN v.embedding END "
                f"FROM (SELECT id, scope_id, passage_id, embedding FROM {self._schema}.vector "
                "WHERE scope_id = %s AND model_id = %s AND id > %s ORDER BY id LIMIT %s) AS v "
                f"LEFT JOIN LATERAL (SELECT p.memory_id, p.live, m.kind FROM {self._schema}.passage AS p "
                f"JOIN {self._schema}.memory AS m ON m.scope_id = p.scope_id AND m.id = p.memory_id "
                "WHERE p.scope_id = v.scope_id AND p.id = v.passage_id LIMIT 1) AS o ON true ORDER BY v.id",
                [4 * source.dims, self._scope, source.model_id, after, _MAX_FETCHED],
            )
            for vector, memory, passage, scope, kind, embedding in rows:
                if kind is not None and embedding is not None:
                    yield VectorRow(vector, memory, passage, scope, KIND_CODES[kind], embedding)
            if len(rows) < _MAX_FETCHED:
                return
            after = rows[-1][0]

    def vector_changes_since(self, source: VectorSource, seq: int) -> dict[int, bool] | None:
        ((oldest,),) = self._snapshot.ask(
            f"SELECT min(seq) FROM {self._schema}.vector_change WHERE scope_id = %s", [self._scope]
        )
        # Old entries are deleted, perhaps all: then the changes since `seq` are unknown.
        if oldest is None or oldest > seq + 1:
            return None
        rows = self._snapshot.ask(
            f"SELECT l.vector_id, max(coalesce(p.live, 0)) FROM {self._schema}.vector_change AS l "
            f"LEFT JOIN {self._schema}.vector AS v "
            "ON v.scope_id = l.scope_id AND v.id = l.vector_id AND v.model_id = %s "
            f"LEFT JOIN {self._schema}.passage AS p ON p.scope_id = v.scope_id AND p.id = v.passage_id "
            "WHERE l.scope_id = %s AND l.seq > %s GROUP BY l.vector_id ORDER BY l.vector_id",
            [source.model_id, self._scope, seq],
        )
        return {vector: bool(live) for vector, live in rows}

    def stored_vector(self, source: VectorSource, vector_id: int) -> Row | None:
        rows = self._snapshot.ask(
            f"SELECT passage_id, embedding FROM {self._schema}.vector "
            "WHERE scope_id = %s AND id = %s AND model_id = %s",
            [self._scope, vector_id, source.model_id],
        )
        return rows[0] if rows else None

    def rotation(self, source: VectorSource) -> bytes | None:
        rows = self._snapshot.ask(
            f"SELECT packed FROM {self._schema}.rotation WHERE model_id = %s", [source.model_id]
        )
        return rows[0][0] if rows else None

    def is_writing(self) -> bool:
        return self._snapshot.is_writing


class VectorCaches:
    """A cache for each searched scope, in files of this machine. Threads can share it."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._caches: OrderedDict[int, VectorCache] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, store_id: str, scope: int) -> VectorCache:
        with self._lock:
            cache = self._caches.get(scope)
            if cache is None:
                cache = self._caches[scope] = VectorCache(self._path(store_id, scope))
                while len(self._caches) > MOST_CACHES:
                    # Do not close it: another thread may be searching it.
                    self._caches.popitem(last=False)
            self._caches.move_to_end(scope)
            return cache

    def _path(self, store_id: str, scope: int) -> Path | None:
        if self._folder is None:
            return None
        folder = self._folder / store_id
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:  # the vectors stay in private memory
            return None
        return folder / f"{scope}.vectors"

    @property
    def reason(self) -> str | None:
        """Why some vectors are in private memory, if they are."""
        with self._lock:
            return next((cache.reason for cache in self._caches.values() if cache.reason), None)

    def clear(self) -> None:
        with self._lock:
            for cache in self._caches.values():
                cache.clear()

    def close(self) -> None:
        with self._lock:
            for cache in self._caches.values():
                cache.close()
            self._caches.clear()


FILLED_AT_ONCE = 2_000
"""Vectors that are added to pgvector in one transaction, in a fraction of a second."""

WORTH_FILLING = 200
"""If a search finds this many vectors missing in pgvector, they are added after it."""

_MAX_COMPARED = 4_096
_PREPARE_LOCK = 0x52434C56
"""The advisory lock for creating the table."""

# A second copy of each vector, in pgvector's type. It is created when a store is opened with vectors=server.
# No migration creates it, since pgvector may be missing.
_TABLE = """
CREATE TABLE {schema}.server_vector (
  scope_id   bigint NOT NULL,
  id         bigint NOT NULL,
  model_id   bigint NOT NULL,
  passage_id bigint NOT NULL,
  embedding  {extension}.vector NOT NULL,
  PRIMARY KEY (scope_id, id),
  FOREIGN KEY (scope_id, id) REFERENCES {schema}.vector(scope_id, id) ON DELETE CASCADE
);
CREATE INDEX server_vector_by_passage ON {schema}.server_vector(scope_id, passage_id);
ALTER TABLE {schema}.server_vector ENABLE ROW LEVEL SECURITY;
ALTER TABLE {schema}.server_vector FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON {schema}.server_vector USING ((SELECT {schema}.sees_all())
  OR scope_id = ANY ((SELECT {schema}.seen_scopes())::bigint[]));
"""


@dataclass(frozen=True, slots=True)
class PgVector:
    """The extension pgvector in this database, used instead of caches."""

    extension: str
    """Its schema."""
    oid: int
    """The object id of its vector type."""

    reason: None = None
    """Always None: no vectors are in private memory."""

    def distance(self, column: str) -> str:
        """Return the SQL of the negative inner product with the query."""
        return f"{column} OPERATOR({self.extension}.<#>) %b::{self.extension}.vector"

    def close(self) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class _Binary:
    """A value in PostgreSQL's binary format. The statement names its type."""

    packed: bytes


class _BinaryDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: _Binary) -> bytes:
        return obj.packed


psycopg.adapters.register_dumper(_Binary, _BinaryDumper)


# Opening


def prepare_pgvector(location: StoreUrl) -> PgVector:
    """Create and fill the table that pgvector searches, unless it exists."""
    with failures_of(location), psycopg.connect(conninfo(location.server), **KEYWORDS) as connection:
        pgvector = _find_extension(connection)
        if pgvector is not None and _has_table(connection, location.schema):
            return pgvector
        with connection.transaction():
            # Processes that start at the same time wait here.
            connection.execute(
                "SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (_PREPARE_LOCK, location.schema)
            )
            pgvector = _find_extension(connection) or _create_extension(connection, location)
            if not _has_table(connection, location.schema):
                connection.execute(_TABLE.format(schema=location.schema, extension=pgvector.extension))
        _fill_all(connection, pgvector, location.schema)
        return pgvector


def _find_extension(connection: Connection[Row]) -> PgVector | None:
    row = connection.execute(
        "SELECT quote_ident(n.nspname), t.oid::bigint FROM pg_extension AS e "
        "JOIN pg_namespace AS n ON n.oid = e.extnamespace "
        "JOIN pg_type AS t ON t.typnamespace = n.oid AND t.typname = 'vector' WHERE e.extname = 'vector'"
    ).fetchone()
    return None if row is None else PgVector(*row)


def _create_extension(connection: Connection[Row], location: StoreUrl) -> PgVector:
    try:
        with connection.transaction():
            connection.execute("CREATE EXTENSION vector")
    except (errors.InsufficientPrivilege, errors.FeatureNotSupported, errors.UndefinedFile) as error:
        why = str(error).strip().splitlines()[0]
        raise StoreUnavailable(
            f"vectors=server needs the extension pgvector, which this database of {location} does not have "
            f"({why}). Ask an administrator to install it and run CREATE EXTENSION vector. Or leave "
            "vectors=server out of the URL, to search a vector cache on this machine."
        ) from error
    found = _find_extension(connection)
    assert found is not None  # noqa: S101  # it was just created
    return found


def _has_table(connection: Connection[Row], schema: str) -> bool:
    row = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (f"{schema}.server_vector",)).fetchone()
    return row == (True,)


# Filling


def _fill_all(connection: Connection[Row], pgvector: PgVector, schema: str) -> None:
    with connection.transaction():
        connection.execute("SELECT set_config('recollect.scopes', '*', true)")
        scopes = connection.execute(f"SELECT id FROM {schema}.scope ORDER BY id").fetchall()
    for (scope,) in scopes:
        with connection.transaction():
            connection.execute("SELECT set_config('recollect.scopes', %s, true)", [f"{{{scope}}}"])
            rows = connection.execute(
                f"SELECT v.id FROM {schema}.vector AS v WHERE v.scope_id = %s AND {_not_filled(schema)}",
                [scope],
            ).fetchall()
        for start in range(0, len(rows), FILLED_AT_ONCE):
            part = [id_ for (id_,) in rows[start : start + FILLED_AT_ONCE]]
            fill_some(connection, pgvector, schema, scope, part)


def fill_some(
    connection: Connection[Row], pgvector: PgVector, schema: str, scope: int, ids: Sequence[int]
) -> None:
    """Add vectors of other writers to pgvector, in a separate transaction.

    Return at once if another transaction writes to the scope; the next search tries again.
    """
    with connection.transaction():
        connection.execute("SELECT set_config('recollect.scopes', %s, true)", [f"{{{scope}}}"])
        lock = f"SELECT id FROM {schema}.scope WHERE id = %s FOR NO KEY UPDATE SKIP LOCKED"
        if connection.execute(lock, [scope]).fetchone() is None:
            return
        rows = connection.execute(
            f"SELECT v.scope_id, v.id, v.model_id, v.passage_id, v.embedding FROM {schema}.vector AS v "
            "WHERE v.scope_id = %s AND v.id = ANY (%s::bigint[])",
            [scope, list(ids)],
            binary=True,
        ).fetchall()
        insert_server_vectors(connection.execute, pgvector, schema, rows)


def insert_server_vectors(
    execute: Callable[[str, Sequence[Any]], object], pgvector: PgVector, schema: str, rows: Iterable[Row]
) -> None:
    """Add rows of the vector table to pgvector: scope, id, model, passage, packed vector.

    pgvector accepts only finite numbers, and all vectors of a model have one width. Other rows are skipped; a
    search compares them itself.
    """
    by_size: dict[int, list[Row]] = {}
    for row in rows:
        if len(row[4]) % 4 == 0 and np.isfinite(unpack_vector(row[4])).all():
            by_size.setdefault(len(row[4]), []).append(row)
    for same_size in by_size.values():
        keys = [[row[column] for row in same_size] for column in range(4)]
        vectors = np.stack([unpack_vector(row[4]) for row in same_size])
        execute(
            f"INSERT INTO {schema}.server_vector(scope_id, id, model_id, passage_id, embedding) "
            f"SELECT u.* FROM unnest(%b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[], "
            f"%b::{pgvector.extension}.vector[]) AS u(scope_id, id, model_id, passage_id, embedding) "
            f"JOIN {schema}.model AS o ON o.id = u.model_id AND o.dims = %s "
            "ON CONFLICT (scope_id, id) DO NOTHING",
            [*keys, _Binary(_packed_array(vectors, pgvector.oid)), vectors.shape[1]],
        )


def _not_filled(schema: str) -> str:
    same = "e.scope_id = v.scope_id AND e.id = v.id"
    return f"NOT EXISTS (SELECT 1 FROM {schema}.server_vector AS e WHERE {same})"


def _packed(vectors: Rows) -> np.ndarray[tuple[int], Any]:
    """Pack vectors in pgvector's binary format: length, dimensions, two unused bytes, and the numbers."""
    count, dims = vectors.shape
    form = [("size", ">i4"), ("dims", ">i2"), ("unused", ">i2"), ("numbers", ">f4", (dims,))]
    packed: np.ndarray[tuple[int], Any] = np.zeros(count, form)
    packed["size"] = 4 + 4 * dims
    packed["dims"] = dims
    packed["numbers"] = vectors
    return packed


def _packed_array(vectors: Rows, oid: int) -> bytes:
    """Pack an array in PostgreSQL's format: dimensions, null flag, type, length, first index, values."""
    return struct.pack(">iiIii", 1, 0, oid, len(vectors), 1) + _packed(vectors).tobytes()


def _packed_query(vector: Vector) -> _Binary:
    return _Binary(_packed(np.ascontiguousarray(vector, np.float32)[None]).tobytes()[4:])


# Searching


class ServerVectors:
    """Search by vector on the server, in one snapshot.

    The server compares every allowed vector: with filters, an index of pgvector misses hits. It returns those
    that may be the best, given rounding errors. They are compared again here, so that order and scores are
    the same as with a cache.
    """

    def __init__(self, snapshot: PostgresSnapshot, pgvector: PgVector, model: ModelInUse) -> None:
        self._snapshot = snapshot
        self._schema = snapshot.schema
        self._pgvector = pgvector
        self._model = model
        # A sum of n products whose sizes add up to at most one has an error of at most n * 2^-24, in any
        # order (Higham, Accuracy and Stability of Numerical Algorithms, 3.1). That holds for the server's sum
        # and for ours.
        self._max_error = 2.1 * model.dims * 2.0**-24

    def nearest(self, vector: Vector, k: int, scopes: Sequence[int], where: Where) -> list[Found]:
        """Return the best `k` memories that meet the conditions; ties by memory, then passage."""
        check_width(vector, self._model.name, self._model.dims)
        # In this order, a vector that is added between the two queries is compared twice, not missed.
        ids = [*self._missing(scopes), *self._likely(vector, k, scopes, where)]
        hits: list[_Hit] = []
        for start in range(0, len(ids), _MAX_COMPARED):
            part = ids[start : start + _MAX_COMPARED]
            hits = _best([*hits, *self._compare(vector, part, scopes, where)], k)
        return _found_memories(hits)

    def cosines(self, vector: Vector, ids: Collection[int]) -> list[Found]:
        """Return the cosine of each of these memories, by id."""
        check_width(vector, self._model.name, self._model.dims)
        scopes = self._snapshot.scopes
        conditions = self._snapshot.conditions()
        own = self._own(conditions, ids, scopes)
        estimates = self._snapshot.ask(
            f"SELECT {self._pgvector.distance('e.embedding')}, p.memory_id, v.id FROM {self._vectors()} "
            f"LEFT JOIN {self._schema}.server_vector AS e ON e.scope_id = v.scope_id AND e.id = v.id "
            f"WHERE {own}",
            [_packed_query(vector), *self._vector_bindings(), *conditions.bindings],
        )
        likely = _likely_best(estimates, len(ids), self._max_error)
        hits = _best(self._compare(vector, likely, scopes), len(ids))
        return sorted(_found_memories(hits), key=lambda hit: hit.id)

    def passages(self, ids: Collection[int]) -> list[tuple[int, int]]:
        """Return the passages of these memories that have a vector, each with its memory, by passage."""
        conditions = self._snapshot.conditions()
        own = self._own(conditions, ids, self._snapshot.scopes)
        rows = self._snapshot.ask(
            f"SELECT p.id, p.memory_id FROM {self._vectors()} WHERE {own} ORDER BY p.id",
            [*self._vector_bindings(), *conditions.bindings],
        )
        return [(passage, memory) for passage, memory in rows]

    def _likely(self, vector: Vector, k: int, scopes: Sequence[int], where: Where) -> list[int]:
        """Return vectors in pgvector that may represent one of the best `k` memories."""
        conditions = self._snapshot.conditions()
        condition = conditions.of("passage", (Equals("live", 1),), "p", scopes)
        condition += f" AND {conditions.all_of(where, 'memory', 'm')}"
        query = (
            f"SELECT {self._pgvector.distance('e.embedding')} AS distance, p.memory_id, e.id "
            f"FROM {self._schema}.server_vector AS e JOIN {self._schema}.passage AS p "
            f"ON p.scope_id = e.scope_id AND p.id = e.passage_id {self._memories(where)}"
            f"WHERE e.scope_id = ANY (%s::bigint[]) AND e.model_id = %s AND {condition} "
            "ORDER BY distance LIMIT %s"
        )
        bindings = [_packed_query(vector), list(scopes), self._model.id, *conditions.bindings]
        wanted = 4 * k
        while True:
            estimates = self._snapshot.ask(query, [*bindings, wanted])
            if len(estimates) < wanted or _has_all(estimates, k, self._max_error):
                return _likely_best(estimates, k, self._max_error)
            # Some memories have many passages among the first, or many vectors nearly tie.
            wanted *= 8

    def _missing(self, scopes: Sequence[int]) -> list[int]:
        """Return vectors that are missing in pgvector: those of writers that use a cache."""
        rows = self._snapshot.ask(
            f"SELECT v.id, v.scope_id FROM {self._schema}.vector AS v "
            f"WHERE v.scope_id = ANY (%s::bigint[]) AND v.model_id = %s AND {_not_filled(self._schema)}",
            [list(scopes), self._model.id],
        )
        if len(rows) >= WORTH_FILLING:
            for id_, scope in rows[:FILLED_AT_ONCE]:
                self._snapshot.unfilled.setdefault(scope, []).append(id_)
        return [id_ for id_, _ in rows]

    def _compare(
        self, vector: Vector, ids: list[int], scopes: Sequence[int] | None, where: Where = ()
    ) -> list[_Hit]:
        """Compare these vectors here, if they are live and their memories meet the conditions."""
        if not ids:
            return []
        conditions = self._snapshot.conditions()
        condition = conditions.of("vector", (OneOf("id", ids),), "v", scopes)
        condition += f" AND {conditions.all_of(where, 'memory', 'm')}"
        rows = self._snapshot.ask(
            f"SELECT p.memory_id, p.id, v.embedding FROM {self._vectors()} {self._memories(where)}"
            f"WHERE p.live = 1 AND {condition}",
            [*self._vector_bindings(), *conditions.bindings],
        )
        if not rows:
            return []
        vectors = np.stack([unpack_vector(embedding) for _, _, embedding in rows])
        scores: list[float] = np.vecdot(vectors, np.ascontiguousarray(vector, np.float32)).tolist()
        return [(-score, memory, passage) for score, (memory, passage, _) in zip(scores, rows, strict=True)]

    def _own(self, conditions: PostgresConditions, ids: Collection[int], scopes: Sequence[int] | None) -> str:
        """Return the conditions for live passages of these memories."""
        return conditions.of("passage", (OneOf("memory_id", list(ids)), Equals("live", 1)), "p", scopes)

    def _vectors(self) -> str:
        """Return the join of passages with vectors of the model in use; see `_vector_bindings`."""
        return (
            f"{self._schema}.passage AS p JOIN {self._schema}.vector AS v ON v.scope_id = p.scope_id "
            "AND v.passage_id = p.id AND v.model_id = %s AND length(v.embedding) = %s"
        )

    def _vector_bindings(self) -> tuple[int, int]:
        return self._model.id, 4 * self._model.dims

    def _memories(self, where: Where) -> str:
        if not where:
            return ""
        return f"JOIN {self._schema}.memory AS m ON m.scope_id = p.scope_id AND m.id = p.memory_id "


def _has_all(estimates: Sequence[Row], k: int, max_error: float) -> bool:
    """Whether these rows, best first, include all that may represent one of the best `k` memories."""
    firsts = _first_distances(estimates)
    return len(firsts) >= k and estimates[-1][0] > sorted(firsts.values())[k - 1] + 2 * max_error


def _likely_best(estimates: Sequence[Row], k: int, max_error: float) -> list[int]:
    """Return vectors that may represent one of the best `k` memories, and all without an estimate.

    Estimates are rows of a distance, a memory and a vector. Each distance may be off by `max_error`, so the
    order of two vectors is certain only if they differ by more than twice that.
    """
    firsts = _first_distances(estimates)
    last = sorted(firsts.values())[k - 1] + 2 * max_error if len(firsts) > k else float("inf")
    return [
        id_
        for distance, memory, id_ in estimates
        if distance is None or distance <= min(firsts[memory] + 2 * max_error, last)
    ]


def _first_distances(estimates: Iterable[Row]) -> dict[int, float]:
    """Return the smallest distance of each memory."""
    firsts: dict[int, float] = {}
    for distance, memory, _ in estimates:
        if distance is not None and distance < firsts.get(memory, float("inf")):
            firsts[memory] = distance
    return firsts


_Hit = tuple[float, int, int]
"""The negative cosine, the memory and the passage. Sorted hits have the best first."""


def _best(hits: Iterable[_Hit], k: int) -> list[_Hit]:
    """Return the best `k` memories, best first. A memory's best passage counts."""
    firsts: dict[int, _Hit] = {}
    for hit in sorted(hits):
        firsts.setdefault(hit[1], hit)
        if len(firsts) == k:
            break
    return list(firsts.values())


def _found_memories(hits: Iterable[_Hit]) -> list[Found]:
    return [Found(memory, -distance, passage) for distance, memory, passage in hits]
