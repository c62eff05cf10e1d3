"""What a model said once is not asked again: vectors are kept in a file, a re-ranker's scores in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import apsw
import numpy as np

from recollect.errors import StoreUnavailable

if TYPE_CHECKING:
    from recollect.ports import Embedder, Reranker, Vector, Vectors
    from recollect.ranking.candidates import Floats
    from recollect.records import Model

_FILE = "vectors.db"
_BUSY_MS = 60_000
Role = Literal["document", "query"]


@contextmanager
def cached_vectors(embedder: Embedder, folder: Path | None) -> Iterator[CachedEmbedder]:
    """The embedder, with the vectors of former runs in this folder; None: with those of this run."""
    try:
        if folder is not None:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        connection = apsw.Connection(":memory:" if folder is None else str(folder / _FILE))
        connection.set_busy_timeout(_BUSY_MS)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS vector(key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
        )
    except (apsw.Error, OSError) as error:
        raise _unusable(folder, error) from error
    try:
        yield CachedEmbedder(embedder, connection, folder)
    finally:
        connection.close()


class CachedEmbedder:
    """An embedder that looks up before it embeds. Several processes may share the file."""

    def __init__(self, embedder: Embedder, connection: apsw.Connection, folder: Path | None) -> None:
        self._embedder = embedder
        self._connection = connection
        self._folder = folder
        self._last: tuple[str, Vector] | None = None
        self.embedded = 0
        """Texts that were not there."""

    @property
    def model(self) -> Model:
        return self._embedder.model

    def documents(self, texts: Sequence[str]) -> Vectors:
        return self._vectors(texts, "document")

    def query(self, text: str) -> Vector:
        # Profile after profile asks the same.
        if self._last is None or self._last[0] != text:
            self._last = text, self._vectors([text], "query")[0]
        return self._last[1]

    def _vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        keys = [_key(self.model.name, role, text) for text in texts]
        try:
            known = self._known(keys)
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            known |= self._embed(missing, role)
        except apsw.Error as error:
            raise _unusable(self._folder, error) from error
        rows = [np.frombuffer(known[key], dtype="<f4") for key in keys]
        return np.stack(rows) if rows else np.empty((0, self.model.dims), np.float32)

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        rows = self._connection.executemany(
            "SELECT key, vector FROM vector WHERE key = ? AND length(vector) = ?",
            [(key, 4 * self.model.dims) for key in keys],
        )
        return {bytes(key): bytes(vector) for key, vector in rows}

    def _embed(self, missing: dict[bytes, str], role: Role) -> dict[bytes, bytes]:
        if not missing:
            return {}
        texts = list(missing.values())
        rows = (
            self._embedder.documents(texts)
            if role == "document"
            else np.stack([self._embedder.query(text) for text in texts])
        )
        vectors = {key: row.astype("<f4").tobytes() for key, row in zip(missing, rows, strict=True)}
        self.embedded += len(vectors)
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?)", list(vectors.items()))
        self._connection.execute("COMMIT")
        return vectors


def _key(model: str, role: Role, text: str) -> bytes:
    """What a vector is found by. A model reads a question and a text in different ways."""
    return sha256("\0".join((model, role, text)).encode(errors="surrogatepass")).digest()


def _unusable(folder: Path | None, error: Exception) -> StoreUnavailable:
    return StoreUnavailable(
        f"The vectors of former runs in {folder} cannot be used ({error}); remove {_FILE} there, name "
        "another folder with --cache, or go without with --no-cache."
    )


class CachedReranker:
    """Stands for a re-ranker whose score of a text does not depend on the other texts."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker
        self._scores: dict[tuple[str, str], float] = {}

    @property
    def name(self) -> str:
        return self._reranker.name

    def scores(self, query: str, texts: Sequence[str]) -> Floats:
        missing = [text for text in dict.fromkeys(texts) if (query, text) not in self._scores]
        if missing:
            scores = self._reranker.scores(query, missing).tolist()
            self._scores |= {(query, text): score for text, score in zip(missing, scores, strict=True)}
        return np.array([self._scores[query, text] for text in texts], dtype=np.float64)
