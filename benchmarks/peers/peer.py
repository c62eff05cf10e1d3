"""What a peer is for us: something that takes texts with their vectors, and finds them. Needs NumPy alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Memory(Protocol):
    """One store of a peer. Ids are the caller's."""

    def add(self, ids: Sequence[int], texts: Sequence[str], vectors: Vectors) -> None: ...

    def search(self, text: str, vector: Vectors, limit: int) -> Sequence[int]: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Peer:
    name: str
    packages: tuple[str, ...]
    """What pip installs; the first one's version is told. Empty: it runs in the benchmark's environment."""
    searches: str
    """By what it was asked."""
    durability: str
    """What is known of whether an acknowledged write survives a power cut."""
    open: Callable[[Path], Memory]
    open_as_users_do: Callable[[Path], Memory] | None = None
    """For one that takes no vectors: with its own model, where answers count and not time."""
    largest: int = 100_000
    """Texts beyond which it is not tried, since filling would take longer than the whole run."""


class Given:
    """Vectors by text, for peers that embed by themselves: they get what the others are given."""

    def __init__(self) -> None:
        self._rows: dict[str, NDArray[np.float32]] = {}

    def know(self, texts: Sequence[str], vectors: Vectors) -> None:
        self._rows.update(zip(texts, vectors, strict=True))

    def __call__(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._rows[text] for text in texts])
