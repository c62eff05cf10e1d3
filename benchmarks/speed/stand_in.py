"""Vectors without a model: made of a text's words, in microseconds, under the default model's name.

Embedding a million texts takes hours, and the time of a model is not ours. So the stores are filled with
vectors and token signs of the default model's shape: each word has a direction of its own, and a text is the
sum of its words beside the model's centre. Texts that share words are near. As the store knows them by the
model's name, the command line and servers ask it with the real model.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

import numpy as np

import recollect
from recollect import Engine
from recollect.domain.numbers import pack_signs, unpack_vector
from recollect.domain.records import Model
from recollect.models import embedders as choose
from recollect.stores.port import Embedder, Vector, Vectors

MODEL = "arctic-memory"
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
        self._directions = Directions(model.dims)
        self._own = float(np.sqrt(max(0.1, 1 - float(self._centre @ self._centre))))

    def documents(self, texts: Sequence[str]) -> Vectors:
        with self._at_work():
            return self._rows([_pieces(text) for text in texts])

    def documents_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[bytes]]:
        with self._at_work():
            words = [_pieces(text) for text in texts]
            return self._rows(words), [pack_signs(self._directions.of(each)) for each in words]

    def query(self, text: str) -> Vector:
        vector: Vector = self.documents([text])[0]
        return vector

    def query_with_tokens(self, text: str) -> tuple[Vector, Vectors | None]:
        with self._at_work():
            words = _pieces(text)
            return self._rows([words])[0], self._directions.of(words)

    def _rows(self, words: Sequence[Sequence[str]]) -> Vectors:
        rows = np.empty((len(words), self.model.dims), np.float32)
        for row, each in zip(rows, words, strict=True):
            own = self._directions.of(each).sum(axis=0)
            row[:] = self._centre + self._own * own / np.sqrt(len(each))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        cpu, wall = time.thread_time(), time.perf_counter()
        try:
            yield
        finally:
            self.cpu += time.thread_time() - cpu
            self.wall += time.perf_counter() - wall


def _pieces(text: str) -> list[str]:
    """Tokens as a model cuts them, without those that say nothing."""
    words = _WORD.findall(text.lower())
    telling = [word for word in words if word not in COMMON] or words or [""]
    return [word[at : at + _PIECE] for word in telling for at in range(0, max(1, len(word)), _PIECE)]


class Directions:
    """A direction of its own for each piece of a word, the same in every process. Safe between threads."""

    def __init__(self, dims: int) -> None:
        self._rows = np.empty((1_024, dims), np.float32)
        self._places: dict[str, int] = {}
        self._lock = threading.Lock()

    def of(self, pieces: Sequence[str]) -> Vectors:
        places = [self._place(piece) for piece in pieces]
        rows: Vectors = self._rows[places]  # only now: new pieces may have moved them
        return rows

    def _place(self, piece: str) -> int:
        place = self._places.get(piece)
        if place is not None:
            return place
        with self._lock:
            if piece in self._places:
                return self._places[piece]
            place = len(self._places)
            if place == len(self._rows):
                self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
            seed = int.from_bytes(blake2b(piece.encode(), digest_size=8).digest(), "little")
            row = np.random.default_rng(seed).standard_normal(self._rows.shape[1]).astype(np.float32)
            self._rows[place] = row / np.linalg.norm(row)
            self._places[piece] = place
            return place


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


def opened(path: Path | str, at: datetime | None = None) -> Engine:
    """A memory as a user opens it, with the stand-in for its model."""
    stand_in()
    if at is None:
        return recollect.open(path, model=MODEL)
    return recollect.open(path, model=MODEL, clock=lambda: at)


def settle(engine: Engine) -> None:
    """Wait until what earlier answers left to be noted is written."""
    engine._services.usage.settle(None)
