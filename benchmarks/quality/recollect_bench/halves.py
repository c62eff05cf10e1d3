"""Which half of a data set a question is in: one half chooses numbers, the other judges them."""

from __future__ import annotations

from hashlib import blake2b
from typing import Literal

Half = Literal["a", "b"]
HALVES: tuple[Half, ...] = ("a", "b")


def half_of(store: str, question: str) -> Half:
    """By a hash of store and id, so that a question keeps its half whatever else is in the set."""
    digest = blake2b(f"{store}\0{question}".encode(), digest_size=8).digest()
    return "b" if digest[0] & 1 else "a"
