"""Split a data set into halves: one to choose parameters, the other to judge them."""

from __future__ import annotations

from hashlib import blake2b
from typing import Literal

Half = Literal["a", "b"]
HALVES: tuple[Half, ...] = ("a", "b")


def half_of(store: str, question: str) -> Half:
    """Return the half of a question by a hash of store and id, independent of the rest of the set."""
    digest = blake2b(f"{store}\0{question}".encode(), digest_size=8).digest()
    return "b" if digest[0] & 1 else "a"
