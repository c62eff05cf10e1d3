"""One-bit codes: each number of a vector as one bit, a thirty-second of its size, to tell far from near."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from recollect.vectors import Rows

Codes = NDArray[np.uint64]
Distances = NDArray[np.uint16]

_PLANES = 2
_HEAVIEST = (1 << _PLANES) - 1


@dataclass(frozen=True, slots=True)
class QueryCode:
    """A query's bits, and bit planes of how much each of its numbers weighs, lightest plane first."""

    bits: Codes
    planes: tuple[Codes, ...]

    @property
    def farthest(self) -> int:
        """No distance is above this."""
        return 64 * len(self.bits) * _HEAVIEST

    def plain_distances(self, codes: Codes) -> Distances:
        """In how many bits each column of the codes differs."""
        distances = np.zeros(codes.shape[1], np.uint16)
        different = np.empty(codes.shape[1], np.uint64)
        counted, few = np.empty(codes.shape[1], np.uint8), np.empty(codes.shape[1], np.uint8)
        for first in range(0, len(self.bits), 3):
            # Three words differ in at most 192 bits, which a byte holds; adding bytes is the fastest.
            few.fill(0)
            for word in range(first, min(first + 3, len(self.bits))):
                np.bitwise_xor(codes[word], self.bits[word], out=different)
                np.bitwise_count(different, out=counted)
                np.add(few, counted, out=few)
            distances += few
        return distances

    def weighted_distances(self, codes: Codes) -> Distances:
        """The same, with each bit counted as often as the query's number there weighs."""
        different = codes ^ self.bits[:, None]
        distances = np.zeros(codes.shape[1], np.uint16)
        for plane, mask in enumerate(self.planes):
            distances += np.bitwise_count(different & mask[:, None]).sum(axis=0, dtype=np.uint16) << plane
        return distances


def one_bit(rows: Rows, centre: Rows) -> Codes:
    """A bit per number: is it above the centre's? One row of words per row."""
    return _packed(rows > centre)


def query_code(query: Rows, centre: Rows) -> QueryCode:
    """The code of what is the query's own: the query without its share of the centre.

    Queries crowd elsewhere than documents do, so taking the whole centre off would leave a part of it,
    turned around, in every query.
    """
    length = np.vecdot(centre, centre)
    own = query - np.vecdot(query, centre) / length * centre if length else query
    sizes = np.abs(own)
    # The mean weighs 1.3, so that few numbers are heavier than the heaviest weight.
    weights = np.rint(sizes * (1.3 / (sizes.mean() or 1)))
    whole = np.minimum(weights, _HEAVIEST).astype(np.uint8)
    return QueryCode(_packed(own > 0), tuple(_packed(whole >> plane & 1 == 1) for plane in range(_PLANES)))


def _packed(bits: NDArray[np.bool_]) -> Codes:
    missing = -bits.shape[-1] % 64
    if missing:
        bits = np.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, missing)])
    return np.packbits(bits, axis=-1).view(np.uint64)
