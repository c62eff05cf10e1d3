"""A minimal hand-made store for comparison: sqlite-vec and FTS5 in one durable file, fused by rank."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

DIMS = 384
_SCHEMA = f"""
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
  text, content='note', content_rowid='id', tokenize='porter');
CREATE VIRTUAL TABLE IF NOT EXISTS meaning USING vec0(embedding float[{DIMS}] distance_metric=cosine);
"""


def has_by_hand() -> bool:
    """Whether its dependencies are installed."""
    return find_spec("sqlite_vec") is not None


class ByHand:
    def __init__(self, path: Path) -> None:
        import sqlite_vec

        self.connection = apsw.Connection(str(path))
        self.connection.set_busy_timeout(10_000)
        self.connection.enable_load_extension(True)
        self.connection.load_extension(sqlite_vec.loadable_path())
        self.connection.execute(_SCHEMA).fetchall()

    def add(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        for text, vector in zip(texts, vectors, strict=True):
            self.connection.execute("INSERT INTO note(text) VALUES (?)", (text,))
            id_ = self.connection.last_insert_rowid()
            self.connection.execute("INSERT INTO words(rowid, text) VALUES (?, ?)", (id_, text))
            self.connection.execute("INSERT INTO meaning VALUES (?, ?)", (id_, vector.tobytes()))
        self.connection.execute("COMMIT")

    def search(self, text: str, vector: NDArray[np.float32], limit: int = 10) -> list[tuple[int, str]]:
        match = " OR ".join(f'"{word}"' for word in text.replace('"', " ").split())
        by_words = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 50"
        by_meaning = "SELECT rowid FROM meaning WHERE embedding MATCH ? AND k = 50"
        scores: dict[int, float] = {}
        for sql, asked in ((by_words, match), (by_meaning, vector.tobytes())):
            for rank, (id_,) in enumerate(self.connection.execute(sql, (asked,)), 1):
                scores[id_] = scores.get(id_, 0.0) + 1 / (60 + rank)
        best = sorted(scores, key=lambda id_: -scores[id_])[:limit]
        return [
            (id_, self.connection.execute("SELECT text FROM note WHERE id = ?", (id_,)).get) for id_ in best
        ]

    def close(self) -> None:
        self.connection.close()
