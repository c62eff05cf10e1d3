"""Vectors without a model: made of a text's words, in microseconds, under the default model's name.

Embedding a million texts takes hours, and the time of a model is not ours. So the stores are filled with
vectors and token signs of the default model's shape: each word has a direction of its own, and a text is the
sum of its words beside the model's centre. Texts that share words are near. As the store knows them by the
model's name, the command line and servers ask it with the real model.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

import numpy as np

import recollect
from recollect import Engine
from recollect.embedders import choose
from recollect.ports import Embedder, Vector, Vectors
from recollect.records import Model
from recollect.vectors import pack_signs, unpack_vector

MODEL = "arctic-s"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
_WORD = re.compile(r"\w+")
_PIECE = 6  # letters of a token, about
COMMON = frozenset(
    re.findall(
        r"\w+",
        """a about again and asked at because before by did during every for from gets in instead is it later
        more much my new next now of on once out over say someone so that the then there to was we what when
        whenever where who why will with wanted""",
    )
)


class StandIn:
    """An embedder that also knows how long it was at work, so that its time can be left out."""

    gives_tokens = True

    def __init__(self, model: Model) -> None:
        self.model = model
        self.cpu = 0.0
        self.wall = 0.0
        self._centre = (
            np.zeros(model.dims, np.float32) if model.centre is None else unpack_vector(model.centre)
        )
        self._own = float(np.sqrt(max(0.1, 1 - float(self._centre @ self._centre))))

    def documents(self, texts: Sequence[str]) -> Vectors:
        return self._timed(texts)[0]

    def documents_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[bytes]]:
        rows, words = self._timed(texts)
        return rows, [b"".join(_signs(piece, self.model.dims) for piece in each) for each in words]

    def query(self, text: str) -> Vector:
        vector: Vector = self.documents([text])[0]
        return vector

    def query_with_tokens(self, text: str) -> tuple[Vector, Vectors | None]:
        rows, words = self._timed([text])
        return rows[0], np.stack([_direction(piece, self.model.dims) for piece in words[0]])

    def _timed(self, texts: Sequence[str]) -> tuple[Vectors, list[list[str]]]:
        cpu, wall = time.thread_time(), time.perf_counter()
        words = [_pieces(text) for text in texts]
        rows = np.empty((len(texts), self.model.dims), np.float32)
        for row, each in zip(rows, words, strict=True):
            own = sum(_direction(piece, self.model.dims) for piece in each)
            row[:] = self._centre + self._own * own / np.sqrt(len(each))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        self.cpu += time.thread_time() - cpu
        self.wall += time.perf_counter() - wall
        return rows, words


def _pieces(text: str) -> list[str]:
    """Tokens as a model cuts them, without those that say nothing."""
    words = _WORD.findall(text.lower())
    telling = [word for word in words if word not in COMMON] or words or [""]
    return [word[at : at + _PIECE] for word in telling for at in range(0, max(1, len(word)), _PIECE)]


@lru_cache(maxsize=200_000)
def _direction(piece: str, dims: int) -> Vector:
    seed = int.from_bytes(blake2b(piece.encode(), digest_size=8).digest(), "little")
    row = np.random.default_rng(seed).standard_normal(dims).astype(np.float32)
    unit: Vector = row / np.linalg.norm(row)
    return unit


@lru_cache(maxsize=200_000)
def _signs(piece: str, dims: int) -> bytes:
    return pack_signs(_direction(piece, dims)[None])


@lru_cache(maxsize=1)
def stand_in() -> StandIn:
    """The one of this process, which from now on every opened memory asks in place of any model."""
    real = choose.embedder_named(MODEL)
    assert real is not None
    made = StandIn(real.model)

    def named(name: str, options: choose.ModelOptions | None = None) -> Embedder | None:
        del options
        return None if name == choose.WORDS_ONLY else made

    choose.embedder_named = named
    return made


def opened(path: Path, at: datetime | None = None) -> Engine:
    """A memory as a user opens it, with the stand-in for its model."""
    stand_in()
    if at is None:
        return recollect.open(path, model=MODEL)
    return recollect.open(path, model=MODEL, clock=lambda: at)


def settle(engine: Engine) -> None:
    """Wait until what earlier answers left to be noted is written."""
    engine._services.usage.settle(None)
