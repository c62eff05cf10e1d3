"""What SQLite says about vectors: the questions by which a cache of them keeps in step."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recollect.records import Kind
from recollect.stores.sqlite.vector_block import Row, Shape
from recollect.vectors import Rows, unpack

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

FORMAT = 1
"""Raised whenever the cache's rows would be laid out or computed otherwise."""

KIND_CODES = {kind: code for code, kind in enumerate(Kind)}


class Version(NamedTuple):
    """A moment in a store's history. The first two only grow, and no row changes without one growing."""

    vectors: int
    life: int
    newest: int
    """The model's highest vector: it falls when a dropped model's vectors go, which no log tells."""

    def follows(self, earlier: Version) -> bool:
        return self.vectors >= earlier.vectors and self.life >= earlier.life


@dataclass(frozen=True, slots=True)
class Source:
    """Whose vectors are cached: one model's, in one store."""

    store_id: str
    model_id: int
    dims: int
    packed_centre: bytes | None = field(repr=False)

    @property
    def centre(self) -> Rows | None:
        return None if self.packed_centre is None else unpack(self.packed_centre)

    @property
    def shape(self) -> Shape:
        return Shape.of(self.dims, self.centre)

    def digest(self) -> bytes:
        """Of all that decides what the cache's bytes mean; a cache with another digest is not ours."""
        facts = (FORMAT, sys.byteorder, self.store_id, self.model_id, self.dims, self.packed_centre)
        return hashlib.sha256(repr(facts).encode()).digest()


def version(connection: apsw.Connection, model_id: int) -> Version:
    grown = dict(
        connection.execute("SELECT name, seq FROM sqlite_sequence WHERE name IN ('vector', 'vector_life')")
    )
    newest = connection.execute("SELECT max(id) FROM vector WHERE model_id = ?", (model_id,)).get
    return Version(grown.get("vector", 0), grown.get("vector_life", 0), newest or 0)


def live_rows(connection: apsw.Connection, source: Source, after: int) -> Iterator[Row]:
    """Vectors of live passages, by ascending id."""
    rows = connection.execute(
        # CROSS JOIN holds the order of the loops, so that rows come by id without a sort.
        """
        SELECT v.id, p.memory_id, v.passage_id, m.scope_id, m.kind, v.embedding
        FROM vector AS v
        CROSS JOIN passage AS p ON p.id = v.passage_id
        CROSS JOIN memory AS m ON m.id = p.memory_id
        WHERE v.model_id = ? AND v.id > ? AND p.live = 1 AND length(v.embedding) = ?
        ORDER BY v.id
        """,
        (source.model_id, after, 4 * source.dims),
    )
    for vector, memory, passage, scope, kind, embedding in rows:
        yield Row(vector, memory, passage, scope, KIND_CODES[kind], embedding)


def life_since(connection: apsw.Connection, source: Source, seq: int) -> dict[int, bool] | None:
    """Vectors that died or came back since, and whether they live now. None: the log no longer tells."""
    oldest = connection.execute("SELECT min(seq) FROM vector_life").get
    # Logs are cut at their old end, and may be cut whole.
    if oldest is None or oldest > seq + 1:
        return None
    rows = connection.execute(
        """
        SELECT l.vector_id, max(coalesce(p.live, 0))
        FROM vector_life AS l
        LEFT JOIN vector AS v ON v.id = l.vector_id AND v.model_id = ?
        LEFT JOIN passage AS p ON p.id = v.passage_id
        WHERE l.seq > ? GROUP BY l.vector_id ORDER BY l.vector_id
        """,
        (source.model_id, seq),
    )
    return {vector: bool(live) for vector, live in rows}


def holds(connection: apsw.Connection, source: Source, vector_id: int, passage_id: int, vector: Rows) -> bool:
    """Is this still that vector? In an older copy of the store that went its own way, it is not."""
    row = connection.execute(
        "SELECT passage_id, embedding FROM vector WHERE id = ? AND model_id = ?", (vector_id, source.model_id)
    ).fetchone()
    return row is not None and row[0] == passage_id and np.array_equal(_bits(unpack(row[1])), _bits(vector))


def _bits(row: Rows) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.ascontiguousarray(row, np.float32).view(np.uint32)
