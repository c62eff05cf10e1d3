"""The interface of a peer, which stores texts with their vectors and finds them. It needs only NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Memory(Protocol):
    """One store of a peer. The caller chooses the ids."""

    def add(self, ids: Sequence[int], texts: Sequence[str], vectors: Vectors) -> None: ...

    def search(self, text: str, vector: Vectors, limit: int) -> Sequence[int]: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Peer:
    name: str
    packages: tuple[str, ...]
    """Packages for pip, the reported one first. Empty: the peer runs in the benchmark's environment."""
    searches: str
    """Search method."""
    durability: str
    """Whether an acknowledged write survives a power cut."""
    open: Callable[[Path], Memory]
    open_as_users_do: Callable[[Path], Memory] | None = None
    """Opens the peer with its own model, to measure answers and not time, if it takes no vectors."""
    largest: int = 100_000
    """Maximum number of texts; filling a larger store would take longer than the whole run."""


class GivenVectors:
    """Vectors by text, for peers that embed texts themselves: all peers get the same vectors."""

    def __init__(self) -> None:
        self._rows: dict[str, NDArray[np.float32]] = {}

    def add(self, texts: Sequence[str], vectors: Vectors) -> None:
        self._rows.update(zip(texts, vectors, strict=True))

    def __call__(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._rows[text] for text in texts])
