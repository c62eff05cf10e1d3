"""Codes of vectors: a few bits for each number, to tell far from near before vectors are compared in full.

Vectors of one model crowd around its centre. So a vector v is taken apart into its share along the centre's
direction c, which is kept as a number, and the rest:

    v = along * c + rest            query . v = (query . c) * along + query . rest

Of the rest, a coarse code keeps the signs, and a fine code, of two bits for each number, tells the large from
the small, too. A code's product with the query is scaled by |rest|² / (rest . code), a number of the row's,
as RaBitQ does (Gao and Long 2024).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from recollect.vectors import Rows

Codes = NDArray[np.uint64]
Distances = NDArray[np.uint16]

FACTORS = 3
"""Numbers kept beside each row's codes: its share along the centre, and the scales of the two codes."""

_COUNTS_FROM = 0.625
"""Times the mean size of a query's numbers: the signs of those below tell more of chance than of meaning."""
# Weights of the query's numbers where the fine code is read: few are heavier than the heaviest.
_PLANES = 2
_HEAVIEST = (1 << _PLANES) - 1
_WEIGHT_OF_MEAN = 1.3
# Fine codes stand for -3, -1, 1 and 3; numbers of a normal distribution are large from one deviation on.
_FINE_TOP = 3


@dataclass(frozen=True, slots=True)
class QueryCode:
    """A query's bits, which of them count, and bit planes of how much each weighs, lightest plane first."""

    bits: Codes
    counted: Codes
    count: int
    planes: tuple[Codes, ...]
    weight: int
    """Of all numbers together."""
    along: np.float32
    coarse_unit: np.float32
    """What one bit that counts is worth in a product; `fine_unit` is what one weight is."""
    fine_unit: np.float32

    def distances(self, codes: Codes) -> Distances:
        """In how many bits that count each column of the coarse codes differs."""
        size = codes.shape[1]
        distances = np.zeros(size, np.uint16)
        different = np.empty(size, np.uint64)
        counted, few = np.empty((2, size), np.uint8)
        for first in range(0, len(self.bits), 3):
            # Three words differ in at most 192 bits, which a byte holds; adding bytes is the fastest.
            for word in range(first, min(first + 3, len(self.bits))):
                np.bitwise_xor(codes[word], self.bits[word], out=different)
                np.bitwise_and(different, self.counted[word], out=different)
                np.bitwise_count(different, out=few if word == first else counted)
                if word > first:
                    np.add(few, counted, out=few)
            np.add(distances, few, out=distances)
        return distances

    def fine_products(self, codes: Codes) -> Distances:
        """For each row of the fine codes, how much the numbers weigh together whose bits are set.

        A number's high bit counts twice. Where the query's number is below zero, bits count as turned round.
        """
        turned = np.ascontiguousarray(codes.T)
        words = len(self.bits)
        turned[:words] ^= ~self.bits[:, None]
        turned[words:] ^= ~self.bits[:, None]
        products = np.zeros(len(codes), np.uint16)
        for plane, mask in enumerate(self.planes):
            masks = np.concatenate([mask, mask])
            counts = np.bitwise_count(turned & masks[:, None])
            products += counts[:words].sum(axis=0, dtype=np.uint16) << (plane + 1)
            products += counts[words:].sum(axis=0, dtype=np.uint16) << plane
        return products

    def coarse_estimates(self, codes: Codes, factors: Rows) -> Rows:
        """The products of the query with the rows of these codes, give or take."""
        # The product with the signs: the bits that agree, less those that differ.
        signs = self.distances(codes).astype(np.float32)
        signs *= -2
        signs += self.count
        return self._estimates(signs, self.coarse_unit, factors[0], factors[1])

    def fine_estimates(self, codes: Codes, factors: Rows) -> Rows:
        """The same, from fine codes, and nearer to the truth."""
        levels = 2 * self.fine_products(codes).astype(np.float32) - _FINE_TOP * self.weight
        return self._estimates(levels, self.fine_unit, factors[0], factors[2])

    def _estimates(self, products: Rows, unit: np.float32, along: Rows, scale: Rows) -> Rows:
        products *= unit
        products *= scale
        products += along * self.along
        return products


def encoded(rows: Rows, centre: Rows) -> tuple[Codes, Codes, Rows]:
    """Coarse codes, a column for each row; fine codes, a line for each; and factors, a column for each."""
    direction = _direction(centre)
    ones = np.ones_like(direction)
    along: Rows = np.vecdot(rows, direction)
    rest = rows - along[:, None] * direction
    sizes = np.abs(rest)
    squares: Rows = np.vecdot(rest, rest)
    large = sizes >= np.sqrt(squares / rows.shape[1])[:, None]
    positive = rest > 0
    high, low = _packed(positive), _packed(positive == large)
    coarse: Rows = np.vecdot(sizes, ones)
    fine: Rows = coarse + 2 * np.vecdot(np.where(large, sizes, np.float32(0)), ones)
    factors = np.stack([along, _ratio(squares, coarse), _ratio(squares, fine)])
    return high.T, np.concatenate([high, low], axis=1), factors


def query_code(query: Rows, centre: Rows) -> QueryCode:
    direction = _direction(centre)
    along = np.vecdot(query, direction)
    rest = query - along * direction
    sizes = np.abs(rest)
    mean = sizes.mean() or np.float32(1)
    square = float(np.vecdot(rest, rest))
    counts = sizes >= _COUNTS_FROM * mean
    coarse = float(sizes[counts].sum())
    weights = np.minimum(np.rint(sizes * (_WEIGHT_OF_MEAN / mean)), _HEAVIEST)
    fine = float(np.vecdot(sizes, weights))
    whole = weights.astype(np.uint8)
    return QueryCode(
        bits=_packed(rest > 0),
        counted=_packed(counts),
        count=int(np.count_nonzero(counts)),
        planes=tuple(_packed(whole >> plane & 1 == 1) for plane in range(_PLANES)),
        weight=int(whole.sum()),
        along=np.float32(along),
        coarse_unit=np.float32(square / coarse if coarse else 0),
        fine_unit=np.float32(square / fine if fine else 0),
    )


def _direction(centre: Rows) -> Rows:
    length = np.sqrt(np.vecdot(centre, centre))
    return centre / length if length else centre


def _ratio(above: Rows, below: Rows) -> Rows:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def _packed(bits: NDArray[np.bool_]) -> Codes:
    missing = -bits.shape[-1] % 64
    if missing:
        bits = np.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, missing)])
    return np.packbits(bits, axis=-1).view(np.uint64)
