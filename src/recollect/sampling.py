"""Chance that anyone can repeat: numbers and samples that are the same for the same seed."""

from __future__ import annotations

from hashlib import blake2b
from heapq import nsmallest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def hash_number(seed: object, of: object) -> int:
    """A number from 0 to 2^64 - 1."""
    return int.from_bytes(blake2b(f"{seed}:{of}".encode(), digest_size=8).digest(), "big")


def sample_ids(ids: Iterable[int], seed: object, size: int) -> list[int]:
    """So many of the ids, in the order of their hashes."""
    return nsmallest(size, ids, key=lambda id_: (hash_number(seed, id_), id_)) if size > 0 else []
