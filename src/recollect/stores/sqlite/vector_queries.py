"""What SQLite says about vectors: the questions by which a cache of them keeps in step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import numpy as np

from recollect.stores.vectors.block import VectorRow
from recollect.stores.vectors.source import KIND_CODES, VectorSource, Version
from recollect.vectors import Rows, unpack_vector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.tables import Row


# Columns of a row of a model.
_VERSION = (
    "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'vector'), 0), "
    "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'vector_life'), 0), "
    "coalesce((SELECT max(v.id) FROM vector AS v WHERE v.model_id = model.id), 0)"
)


class SqliteVectorQueries:
    """Asked inside one transaction of a connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._versions: dict[int, Version] = {}

    def model_in_use(self) -> tuple[str, VectorSource] | None:
        """The model in use, by name, and what a cache knows its vectors by."""
        row = self.connection.execute(
            f"SELECT name, (SELECT value FROM setting WHERE name = 'store_id'), id, dims, centre, {_VERSION} "
            "FROM model WHERE in_use = 1"
        ).fetchone()
        if row is None:
            return None
        name, *source = row[:-3]
        self._keep(row[2], Version(*row[-3:]))
        return name, VectorSource(*source)

    def version(self, source: VectorSource) -> Version:
        known = self._versions.get(source.model_id)
        if known is not None:
            return known
        rows: list[Row] = self.connection.execute(
            f"SELECT {_VERSION} FROM (SELECT ? AS id) AS model", (source.model_id,)
        ).fetchall()
        version = Version(*rows[0])
        self._keep(source.model_id, version)
        return version

    def _keep(self, model: int, version: Version) -> None:
        if not self.is_writing():  # else the transaction may yet move it itself
            self._versions[model] = version

    def live_rows(self, source: VectorSource, after: int) -> Iterator[VectorRow]:
        """Vectors of live passages, by ascending id."""
        rows = self.connection.execute(
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
            yield VectorRow(vector, memory, passage, scope, KIND_CODES[kind], embedding)

    def life_since(self, source: VectorSource, seq: int) -> dict[int, bool] | None:
        """Vectors that died or came back since, and whether they live now. None: the log no longer tells."""
        oldest = self.connection.execute("SELECT min(seq) FROM vector_life").get
        # Logs are cut at their old end, and may be cut whole.
        if oldest is None or oldest > seq + 1:
            return None
        rows = self.connection.execute(
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

    def holds(self, source: VectorSource, vector_id: int, passage_id: int, vector: Rows) -> bool:
        """Is this still that vector? In an older copy of the store that went its own way, it is not."""
        row = self.connection.execute(
            "SELECT passage_id, embedding FROM vector WHERE id = ? AND model_id = ?",
            (vector_id, source.model_id),
        ).fetchone()
        return (
            row is not None
            and row[0] == passage_id
            and np.array_equal(_bits(unpack_vector(row[1])), _bits(vector))
        )

    def rotation(self, source: VectorSource) -> bytes | None:
        rows = self.connection.execute("SELECT packed FROM rotation WHERE model_id = ?", (source.model_id,))
        return next((bytes(packed) for (packed,) in rows), None)

    def is_writing(self) -> bool:
        return self.connection.txn_state() == apsw.SQLITE_TXN_WRITE


def _bits(row: Rows) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.ascontiguousarray(row, np.float32).view(np.uint32)
