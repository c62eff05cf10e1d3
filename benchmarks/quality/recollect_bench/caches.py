"""Caches of model output: vectors in a file, a re-ranker's scores in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import apsw
import numpy as np

from recollect.domain.errors import StoreUnavailable
from recollect.domain.numbers import pack_vector
from recollect.write.embedding import embed_documents, embed_query, token_embedder

if TYPE_CHECKING:
    from recollect.domain.records import Model
    from recollect.ranking.candidates import Floats
    from recollect.stores.port import Embedder, Reranker, Vector, Vectors

_FILE = "vectors.db"
_BUSY_MS = 60_000
Role = Literal["document", "query", "document tokens", "query tokens"]


@contextmanager
def cached_vectors(embedder: Embedder, folder: Path | None) -> Iterator[CachedEmbedder]:
    """Return the embedder with a cache in this folder (None: only for this run)."""
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
        self._last: tuple[str, Vector, Vectors | None] | None = None
        self.embedded = 0
        """Number of texts that were not in the cache."""

    @property
    def model(self) -> Model:
        return self._embedder.model

    @property
    def gives_tokens(self) -> bool:
        return token_embedder(self._embedder) is not None

    def documents(self, texts: Sequence[str]) -> Vectors:
        return self._rows(self._blobs(texts, "document", None))

    def documents_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[bytes]]:
        blobs = self._blobs(texts, "document", "document tokens" if self.gives_tokens else None)
        return self._rows(blobs), [signs for _, signs in blobs]

    def query(self, text: str) -> Vector:
        return self._query(text, None)[0]

    def query_with_tokens(self, text: str) -> tuple[Vector, Vectors | None]:
        return self._query(text, "query tokens" if self.gives_tokens else None)

    def _query(self, text: str, tokens: Role | None) -> tuple[Vector, Vectors | None]:
        # All profiles ask the same questions.
        if self._last is None or self._last[0] != text or (tokens and self._last[2] is None):
            ((vector, packed),) = self._blobs([text], "query", tokens)
            rows = np.frombuffer(packed, "<f4").reshape(-1, self.model.dims) if packed else None
            self._last = text, np.frombuffer(vector, "<f4"), rows
        return self._last[1], self._last[2]

    def _rows(self, blobs: Sequence[tuple[bytes, bytes]]) -> Vectors:
        rows = [np.frombuffer(vector, dtype="<f4") for vector, _ in blobs]
        return np.stack(rows) if rows else np.empty((0, self.model.dims), np.float32)

    def _blobs(self, texts: Sequence[str], role: Role, tokens: Role | None) -> list[tuple[bytes, bytes]]:
        """Return the vector of each text, and its token vectors if a role is given."""
        name, width = self.model.name, 4 * self.model.dims
        roles = (role,) if tokens is None else (role, tokens)
        keys = {text: [_key(name, each, text) for each in roles] for text in texts}
        try:
            known = self._load_cached([key for own in keys.values() for key in own])
            missing = [
                text
                for text, own in keys.items()
                if not known.keys() >= set(own) or len(known[own[0]]) != width
            ]
            if missing:
                made = self._embed(missing, role, with_tokens=tokens is not None)
                new = {
                    key: blob for text in missing for key, blob in zip(keys[text], made[text], strict=False)
                }
                self._keep(new)
                known |= new
        except apsw.Error as error:
            raise _unusable(self._folder, error) from error
        return [(known[keys[text][0]], b"" if tokens is None else known[keys[text][1]]) for text in texts]

    def _load_cached(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        rows = self._connection.executemany(
            "SELECT key, vector FROM vector WHERE key = ?", [(key,) for key in keys]
        )
        return {bytes(key): bytes(vector) for key, vector in rows}

    def _embed(
        self, texts: Sequence[str], role: Role, *, with_tokens: bool
    ) -> dict[str, tuple[bytes, bytes]]:
        self.embedded += len(texts)
        if role == "document":
            rows, signs = (
                embed_documents(self._embedder, texts)
                if with_tokens
                else (self._embedder.documents(texts), ())
            )
            packed = map(pack_vector, rows)
            return dict(zip(texts, zip(packed, signs or [b""] * len(texts), strict=True), strict=True))
        made = {}
        for text in texts:
            vector, tokens = (
                embed_query(self._embedder, text) if with_tokens else (self._embedder.query(text), None)
            )
            made[text] = pack_vector(vector), b"" if tokens is None else pack_vector(tokens)
        return made

    def _keep(self, blobs: dict[bytes, bytes]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?)", list(blobs.items()))
        self._connection.execute("COMMIT")


def _key(model: str, role: Role, text: str) -> bytes:
    """Return the cache key. The role is part of it, because models embed questions and texts differently."""
    return sha256("\0".join((model, role, text)).encode(errors="surrogatepass")).digest()


def _unusable(folder: Path | None, error: Exception) -> StoreUnavailable:
    return StoreUnavailable(
        f"The vectors of former runs in {folder} cannot be used ({error}); remove {_FILE} there, name "
        "another folder with --cache, or go without with --no-cache."
    )


class CachedReranker:
    """A cache around a re-ranker whose score of a text does not depend on the other texts."""

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
