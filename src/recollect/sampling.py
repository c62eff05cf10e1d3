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
    if size <= 0:
        return []
    # What `hash_number` gives, as bytes: they have the same order, and there may be very many.
    start = f"{seed}:".encode()
    hashed = ((blake2b(b"%s%d" % (start, id_), digest_size=8).digest(), id_) for id_ in ids)
    return [id_ for _, id_ in nsmallest(size, hashed)]
