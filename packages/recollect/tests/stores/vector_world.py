"""A small store of vectors for tests of the cache: real tables and rows, and a naive search."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import apsw
import numpy as np

from recollect.domain.numbers import Rows, normalised, pack_vector, unpack_vector
from recollect.domain.records import Found, Kind
from recollect.stores.sql import CachedVectors
from recollect.stores.sqlite.connection import migrations
from recollect.stores.sqlite.snapshot import SqliteVectorQueries
from recollect.stores.vectors.block import VectorSource
from recollect.stores.vectors.cache import VectorCache
from recollect.stores.vectors.scan import Allowed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

DIMS = 8
MODEL = 1
STORE = "a store"
SCOPES = (1, 2, 3)
KINDS = tuple(Kind)


def some_vectors(count: int, seed: int = 0, dims: int = DIMS) -> Rows:
    return normalised(np.random.default_rng(seed).normal(size=(count, dims)))


@dataclass
class World:
    """The file of the store, a writing connection, and the expected results of a search."""

    path: Path
    dims: int = DIMS
    centre: bytes | None = None
    seeds: Iterator[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        self.writer = apsw.Connection(str(self.path))
        for step in migrations():
            self.writer.execute(step)
        self.writer.pragma("journal_mode", "wal")
        self.writer.pragma("foreign_keys", 1)
        self.writer.pragma("synchronous", 0)
        self.writer.executemany(
            "INSERT INTO scope(id, owner, agent) VALUES (?, ?, '')", [(id_, f"owner {id_}") for id_ in SCOPES]
        )
        self.writer.execute(
            "INSERT INTO model VALUES (?, 'a model', ?, ?, 1)", (MODEL, self.dims, self.centre)
        )

    @property
    def cache_path(self) -> Path:
        return self.path.with_name(self.path.name + "-vectors")

    def cache(self) -> VectorCache:
        return VectorCache(self.cache_path)

    @property
    def source(self) -> VectorSource:
        return VectorSource(STORE, MODEL, self.dims, self.centre)

    def reader(self) -> apsw.Connection:
        """Return a connection inside a read transaction that has begun now."""
        connection = apsw.Connection(str(self.path))
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM memory").fetchall()
        return connection

    def add(self, vectors: Rows, scope: int = 1, kind: Kind = Kind.NOTE, passages: int = 1) -> list[int]:
        """Add memories with this many passages each, and return their ids."""
        added: list[int] = []
        parts = (vectors[first : first + passages] for first in range(0, len(vectors), passages))
        with self.writer:
            added.extend(self._add_memory(part, scope, kind) for part in parts)
        return added

    def add_some(self, count: int, scope: int = 1, kind: Kind = Kind.NOTE, passages: int = 1) -> list[int]:
        return self.add(some_vectors(count, next(self.seeds), self.dims), scope, kind, passages)

    def _add_memory(self, vectors: Rows, scope: int, kind: Kind) -> int:
        memory = self.writer.execute(
            "INSERT INTO memory(kind, scope_id, created_at, updated_at, name, text) VALUES (?, ?, 0, 0, "
            "iif(?1 = 'entity', 'name ' || (SELECT count(*) FROM memory), ''), 'text') RETURNING id",
            (kind.value, scope),
        ).get
        for vector in vectors:
            self.writer.execute("INSERT INTO passage(memory_id, start, stop) VALUES (?, 0, 4)", (memory,))
            self.writer.execute(
                "INSERT INTO vector(model_id, passage_id, embedding) VALUES (?, last_insert_rowid(), ?)",
                (MODEL, pack_vector(vector)),
            )
        return int(memory)

    def set_live(self, memories: Collection[int], *, live: bool) -> None:
        """Forget memories, or restore them."""
        with self.writer:
            self._log(memories)
            for memory in memories:
                self.writer.execute("UPDATE passage SET live = ? WHERE memory_id = ?", (int(live), memory))

    def purge(self, memories: Collection[int]) -> None:
        with self.writer:
            self._log(memories)
            for memory in memories:
                self.writer.execute("DELETE FROM memory WHERE id = ?", (memory,))

    def trim_log(self, keep: int = 0) -> None:
        self.writer.execute(
            "DELETE FROM vector_change WHERE seq <= (SELECT max(seq) FROM vector_change) - ?", (keep,)
        )

    def _log(self, memories: Collection[int]) -> None:
        for memory in memories:
            self.writer.execute(
                "INSERT INTO vector_change(vector_id) SELECT v.id FROM vector AS v "
                "JOIN passage AS p ON p.id = v.passage_id WHERE p.memory_id = ?",
                (memory,),
            )

    def search(
        self,
        cache: VectorCache,
        query: Rows,
        k: int = 5,
        scopes: Sequence[int] = SCOPES,
        kinds: Collection[Kind] = KINDS,
        only: NDArray[np.int64] | None = None,
        at: apsw.Connection | None = None,
        *,
        shortlist: int | None = None,
    ) -> list[Found]:
        connection = at or self.reader()
        vectors = CachedVectors("tiny", [(cache, SqliteVectorQueries(connection), self.source)])
        return vectors.search(query, k, Allowed.of(scopes, kinds, only), shortlist)

    def expected(
        self,
        query: Rows,
        k: int = 5,
        scopes: Sequence[int] = SCOPES,
        kinds: Collection[Kind] = KINDS,
        only: NDArray[np.int64] | None = None,
        at: apsw.Connection | None = None,
    ) -> list[Found]:
        """Return the expected answer, computed slowly and simply."""
        rows = (at or self.reader()).execute(
            "SELECT m.id, p.id, v.embedding, m.scope_id, m.kind FROM vector AS v "
            "JOIN passage AS p ON p.id = v.passage_id JOIN memory AS m ON m.id = p.memory_id "
            "WHERE p.live = 1 AND v.model_id = ?",
            (MODEL,),
        )
        wanted = None if only is None else set(only.tolist())
        hits: dict[int, Found] = {}
        for memory, passage, blob, scope, kind in rows:
            if (
                scope not in scopes
                or Kind(kind) not in kinds
                or (wanted is not None and memory not in wanted)
            ):
                continue
            hit = Found(memory, float(np.vecdot(unpack_vector(blob), query)), passage)
            held = hits.get(memory)
            if held is None or (-hit.score, passage) < (-held.score, held.passage or 0):
                hits[memory] = hit
        return sorted(hits.values(), key=lambda hit: (-hit.score, hit.id))[:k]

    def check(self, cache: VectorCache) -> list[str]:
        return list(cache.check(SqliteVectorQueries(self.reader()), self.source))
