"""Vectors kept by content, in one file for all runs: a text is embedded once by each model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Literal

import apsw
import numpy as np

from recollect.errors import StoreUnavailable

if TYPE_CHECKING:
    from recollect.ports import Embedder, Vector, Vectors
    from recollect.records import Model

_FILE = "vectors.db"
_BUSY_MS = 60_000
_AT_ONCE = 256
Role = Literal["document", "query"]


@contextmanager
def kept_vectors(embedder: Embedder, folder: Path | None) -> Iterator[KeptVectors]:
    """The embedder, with the vectors of former runs in this folder; None: with those of this run."""
    try:
        connection = _opened(folder)
    except (apsw.Error, OSError) as error:
        raise _unusable(folder, error) from error
    try:
        yield KeptVectors(embedder, connection, folder)
    finally:
        connection.close()


class KeptVectors:
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
        keys = [key(self.model.name, role, text) for text in texts]
        try:
            known = self._known(keys)
            lacking = {each: text for each, text in zip(keys, texts, strict=True) if each not in known}
            known |= self._made(lacking, role)
        except apsw.Error as error:
            raise _unusable(self._folder, error) from error
        rows = [np.frombuffer(known[each], dtype="<f4") for each in keys]
        return np.stack(rows) if rows else np.empty((0, self.model.dims), np.float32)

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for start in range(0, len(keys), _AT_ONCE):
            part = keys[start : start + _AT_ONCE]
            marks = ",".join("?" * len(part))
            rows = self._connection.execute(
                f"SELECT key, vector FROM vector WHERE key IN ({marks})",  # question marks alone
                part,
            )
            found |= {bytes(each): bytes(vector) for each, vector in rows}
        wide = 4 * self.model.dims
        return {each: vector for each, vector in found.items() if len(vector) == wide}

    def _made(self, lacking: dict[bytes, str], role: Role) -> dict[bytes, bytes]:
        if not lacking:
            return {}
        texts = list(lacking.values())
        rows = (
            self._embedder.documents(texts)
            if role == "document"
            else np.stack([self._embedder.query(text) for text in texts])
        )
        made = {each: row.astype("<f4").tobytes() for each, row in zip(lacking, rows, strict=True)}
        self.embedded += len(made)
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?)", list(made.items()))
        self._connection.execute("COMMIT")
        return made


def key(model: str, role: Role, text: str) -> bytes:
    """What a vector is found by. A model reads a question and a text in different ways."""
    return sha256("\0".join((model, role, text)).encode(errors="surrogatepass")).digest()


def _opened(folder: Path | None) -> apsw.Connection:
    if folder is None:
        connection = apsw.Connection(":memory:")
    else:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        connection = apsw.Connection(str(folder / _FILE))
    connection.set_busy_timeout(_BUSY_MS)
    _with_a_log(connection)
    connection.execute("PRAGMA synchronous = normal")
    connection.execute("CREATE TABLE IF NOT EXISTS vector(key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
    return connection


def _with_a_log(connection: apsw.Connection) -> None:
    """Write ahead, so that nobody waits for a reader. SQLite's own patience does not cover this change."""
    for _ in range(_BUSY_MS // 50):
        try:
            connection.execute("PRAGMA journal_mode = wal")
        except apsw.BusyError:
            sleep(0.05)
        else:
            return


def _unusable(folder: Path | None, error: Exception) -> StoreUnavailable:
    return StoreUnavailable(
        f"The vectors of former runs in {folder} cannot be used ({error}); remove {_FILE} there, name "
        "another folder with --cache, or go without with --no-cache."
    )
