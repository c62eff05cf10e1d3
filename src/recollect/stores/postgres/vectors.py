"""The vectors of each scope: the questions by which a cache keeps in step with one, and the caches."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recollect.stores.vectors.block import VectorRow
from recollect.stores.vectors.cache import VectorCache
from recollect.stores.vectors.source import KIND_CODES, VectorSource, Version
from recollect.vectors import Rows, unpack_vector

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from recollect.stores.postgres.snapshot import PostgresSnapshot
    from recollect.tables import Row

_AT_ONCE = 4_096
"""Vectors that are fetched together: few enough that a cache of a million takes little memory to fill."""

MOST_CACHES = 256
"""Scopes whose vectors a process keeps at hand; the ones that were asked longest ago go first."""


@dataclass(frozen=True, slots=True)
class ModelInUse:
    """The model whose vectors are searched, and the store they are of."""

    name: str
    store_id: str
    id: int
    dims: int
    packed_centre: bytes | None

    def source(self, scope: int) -> VectorSource:
        return VectorSource(f"{self.store_id}/{scope}", self.id, self.dims, self.packed_centre)


@dataclass(frozen=True, slots=True)
class Searchable:
    """The model in use, and which vectors of it each scope has."""

    model: ModelInUse | None
    versions: Mapping[int, Version]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Searchable:
        model = ModelInUse(*rows[0][:5]) if rows else None
        return cls(model, {row[5]: Version(*row[6:]) for row in rows if row[5] is not None})


def searchable_question(schema: str, scopes: Sequence[int] | None) -> tuple[str, list[Any]]:
    """Of these scopes; of all of them, only the model is asked for."""
    return (
        f"SELECT m.name, (SELECT value FROM {schema}.setting WHERE name = 'store_id'), m.id, m.dims, "
        "m.centre, s.id, s.last_vector, s.last_life, coalesce((SELECT max(v.id) "
        f"FROM {schema}.vector AS v WHERE v.scope_id = s.id AND v.model_id = m.id), 0) "
        f"FROM {schema}.model AS m LEFT JOIN {schema}.scope AS s ON s.id = ANY (%s::bigint[]) "
        "WHERE m.in_use = 1"
    ), [list(scopes or ())]


class ScopeQueries:
    """What the cache of one scope asks of one transaction."""

    def __init__(self, snapshot: PostgresSnapshot, scope: int) -> None:
        self._snapshot = snapshot
        self._schema = snapshot.schema
        self._scope = scope

    def version(self, source: VectorSource) -> Version:
        searchable = self._snapshot.searchable()
        if self._scope in searchable.versions:
            return searchable.versions[self._scope]
        rows = self._snapshot.ask(
            f"SELECT last_vector, last_life, coalesce((SELECT max(v.id) FROM {self._schema}.vector AS v "
            "WHERE v.scope_id = s.id AND v.model_id = %s), 0) "
            f"FROM {self._schema}.scope AS s WHERE s.id = %s",
            [source.model_id, self._scope],
        )
        return Version(*rows[0]) if rows else Version(0, 0, 0)

    def live_rows(self, source: VectorSource, after: int) -> Iterator[VectorRow]:
        """Vectors of live passages, by ascending id."""
        while True:
            # The page is cut before anything is joined, and each row of it is joined by itself: the planner
            # cannot know how many are new and live, and would read and sort all of them.
            rows = self._snapshot.ask(
                "SELECT v.id, o.memory_id, v.passage_id, v.scope_id, o.kind, "
                "CASE WHEN o.live = 1 AND length(v.embedding) = %s THEN v.embedding END "
                f"FROM (SELECT id, scope_id, passage_id, embedding FROM {self._schema}.vector "
                "WHERE scope_id = %s AND model_id = %s AND id > %s ORDER BY id LIMIT %s) AS v "
                f"LEFT JOIN LATERAL (SELECT p.memory_id, p.live, m.kind FROM {self._schema}.passage AS p "
                f"JOIN {self._schema}.memory AS m ON m.scope_id = p.scope_id AND m.id = p.memory_id "
                "WHERE p.scope_id = v.scope_id AND p.id = v.passage_id LIMIT 1) AS o ON true ORDER BY v.id",
                [4 * source.dims, self._scope, source.model_id, after, _AT_ONCE],
            )
            for vector, memory, passage, scope, kind, embedding in rows:
                if kind is not None and embedding is not None:
                    yield VectorRow(vector, memory, passage, scope, KIND_CODES[kind], embedding)
            if len(rows) < _AT_ONCE:
                return
            after = rows[-1][0]

    def life_since(self, source: VectorSource, seq: int) -> dict[int, bool] | None:
        """Vectors that died or came back since, and whether they live now. None: the log no longer tells."""
        ((oldest,),) = self._snapshot.ask(
            f"SELECT min(seq) FROM {self._schema}.vector_life WHERE scope_id = %s", [self._scope]
        )
        # Logs are cut at their old end, and may be cut whole.
        if oldest is None or oldest > seq + 1:
            return None
        rows = self._snapshot.ask(
            f"SELECT l.vector_id, max(coalesce(p.live, 0)) FROM {self._schema}.vector_life AS l "
            f"LEFT JOIN {self._schema}.vector AS v "
            "ON v.scope_id = l.scope_id AND v.id = l.vector_id AND v.model_id = %s "
            f"LEFT JOIN {self._schema}.passage AS p ON p.scope_id = v.scope_id AND p.id = v.passage_id "
            "WHERE l.scope_id = %s AND l.seq > %s GROUP BY l.vector_id ORDER BY l.vector_id",
            [source.model_id, self._scope, seq],
        )
        return {vector: bool(live) for vector, live in rows}

    def holds(self, source: VectorSource, vector_id: int, passage_id: int, vector: Rows) -> bool:
        """Is this still that vector? In a copy of the database that went its own way, it is not."""
        rows = self._snapshot.ask(
            f"SELECT passage_id, embedding FROM {self._schema}.vector "
            "WHERE scope_id = %s AND id = %s AND model_id = %s",
            [self._scope, vector_id, source.model_id],
        )
        return (
            bool(rows)
            and rows[0][0] == passage_id
            and np.array_equal(_bits(unpack_vector(rows[0][1])), _bits(vector))
        )

    def rotation(self, source: VectorSource) -> bytes | None:
        rows = self._snapshot.ask(
            f"SELECT packed FROM {self._schema}.rotation WHERE model_id = %s", [source.model_id]
        )
        return rows[0][0] if rows else None

    def is_writing(self) -> bool:
        return self._snapshot.is_writing


class VectorCaches:
    """A cache for each scope that was asked, in files of this machine. Safe to share between threads."""

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
                    # Not closed: who searches it at this moment goes on.
                    self._caches.popitem(last=False)
            self._caches.move_to_end(scope)
            return cache

    def _path(self, store_id: str, scope: int) -> Path | None:
        if self._folder is None:
            return None
        folder = self._folder / store_id
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:  # then this process keeps its vectors to itself
            return None
        return folder / f"{scope}.vectors"

    @property
    def reason(self) -> str | None:
        """Why vectors are kept in private memory, if some are."""
        with self._lock:
            return next((cache.reason for cache in self._caches.values() if cache.reason), None)

    def forget(self) -> None:
        with self._lock:
            for cache in self._caches.values():
                cache.forget()

    def close(self) -> None:
        with self._lock:
            for cache in self._caches.values():
                cache.close()
            self._caches.clear()


def _bits(row: Rows) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.ascontiguousarray(row, np.float32).view(np.uint32)
