"""Blocks of cached vectors, their codes, and the queries that a cache runs on its store.

A block is a buffer with one array per column, in memory or in a mapped file.
"""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.domain.errors import InvalidInput
from recollect.domain.numbers import unpack_vector
from recollect.domain.records import Kind

if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterable, Iterator

    from recollect.domain.numbers import Rows
    from recollect.domain.tables import Row
    from recollect.stores.port import Vector


# Codes of vectors: one or two bits per dimension, to find likely rows before comparing whole vectors

Codes = NDArray[np.uint64]
Distances = NDArray[np.uint16]

FACTORS = 3
"""Numbers stored with each row's codes: its part along the centre, and the scales of both codes."""

_COUNTS_FROM = 0.625
"""Dimensions of a query count from this multiple of the mean size on: signs of smaller ones are noise."""
# Bits per weight of a query's dimension in the fine code. Larger weights are cut to the heaviest.
_PLANES = 2
_HEAVIEST = (1 << _PLANES) - 1
_WEIGHT_OF_MEAN = 1.3
# Fine codes represent -3, -1, 1 and 3. Numbers are large from one standard deviation on.
_FINE_TOP = 3


@dataclass(frozen=True, slots=True)
class QueryCode:
    """The code of a query: its bits, which of them count, and its weights as bit planes, lightest first."""

    bits: Codes
    counted: Codes
    count: int
    planes: tuple[Codes, ...]
    weight: int
    """The sum of all weights."""
    along: np.float32
    coarse_unit: np.float32
    """The value of one counted bit in a product. `fine_unit` is the value of one weight."""
    fine_unit: np.float32

    def distances(self, codes: Codes) -> Distances:
        """Return, for each column of the coarse codes, the number of counted bits that differ."""
        size = codes.shape[1]
        distances = np.zeros(size, np.uint16)
        different = np.empty(size, np.uint64)
        counted, few = np.empty((2, size), np.uint8)
        for first in range(0, len(self.bits), 3):
            # Three words differ in at most 192 bits, which fit into a byte; adding bytes is fastest.
            for word in range(first, min(first + 3, len(self.bits))):
                np.bitwise_xor(codes[word], self.bits[word], out=different)
                np.bitwise_and(different, self.counted[word], out=different)
                np.bitwise_count(different, out=few if word == first else counted)
                if word > first:
                    np.add(few, counted, out=few)
            np.add(distances, few, out=distances)
        return distances

    def fine_products(self, codes: Codes) -> Distances:
        """Return the sum of weights of the bits that are set, for each row of the fine codes.

        High bits count twice. Bits are inverted where the query's number is negative.
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
        """Estimate the products of the query with the rows of these coarse codes."""
        # The product with the signs: equal bits minus different bits.
        signs = self.distances(codes).astype(np.float32)
        signs *= -2
        signs += self.count
        return self._estimates(signs, self.coarse_unit, factors[0], factors[1])

    def fine_estimates(self, codes: Codes, factors: Rows) -> Rows:
        """Estimate the products from fine codes, more exactly."""
        levels = 2 * self.fine_products(codes).astype(np.float32) - _FINE_TOP * self.weight
        return self._estimates(levels, self.fine_unit, factors[0], factors[2])

    def _estimates(self, products: Rows, unit: np.float32, along: Rows, scale: Rows) -> Rows:
        products *= unit
        products *= scale
        products += along * self.along
        return products


def encode(rows: Rows, centre: Rows) -> tuple[Codes, Codes, Rows]:
    """Return coarse codes (a column per row), fine codes (a line per row) and factors (a column per row)."""
    direction = _direction(centre)
    ones = np.ones_like(direction)
    along: Rows = np.vecdot(rows, direction)
    rest = rows - along[:, None] * direction
    sizes = np.abs(rest)
    squares: Rows = np.vecdot(rest, rest)
    large = sizes >= np.sqrt(squares / rows.shape[1])[:, None]
    positive = rest > 0
    high, low = _pack_bits(positive), _pack_bits(positive == large)
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
        bits=_pack_bits(rest > 0),
        counted=_pack_bits(counts),
        count=int(np.count_nonzero(counts)),
        planes=tuple(_pack_bits(whole >> plane & 1 == 1) for plane in range(_PLANES)),
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


def _pack_bits(bits: NDArray[np.bool_]) -> Codes:
    missing = -bits.shape[-1] % 64
    if missing:
        bits = np.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, missing)])
    return np.packbits(bits, axis=-1).view(np.uint64)


ROWS = 16_384
"""Rows per block: enough to make Python's overhead small, few enough for a column to stay in CPU cache."""

# Offsets of mapped blocks must be multiples of this. Windows needs the largest.
ALIGNMENT = 65_536

Ids = NDArray[np.int64]


class VectorRow(NamedTuple):
    """A live vector, as the store returns it."""

    vector: int
    memory: int
    passage: int
    scope: int
    kind: int
    embedding: bytes


@dataclass(frozen=True, slots=True)
class Shape:
    """The width of rows. `words` are the uint64 words of a one-bit code, 0 for a model without a centre."""

    dims: int
    words: int

    @property
    def factors(self) -> int:
        return FACTORS if self.words else 0

    @property
    def block_bytes(self) -> int:
        row_bytes = 4 * self.dims + 3 * 8 * self.words + 4 * self.factors + 3 * 8 + 4 + 1
        return -(-ROWS * row_bytes // ALIGNMENT) * ALIGNMENT


class Block:
    """A buffer for `ROWS` rows. The first `used` rows never change, so readers need no lock."""

    def __init__(self, shape: Shape, buffer: mmap.mmap | NDArray[np.uint8], offset: int, used: int) -> None:
        self.used: int = used
        self._starts: list[int] = []
        place = offset

        def column(dtype: Any, *size: int) -> NDArray[Any]:
            nonlocal place
            array: NDArray[Any] = np.ndarray(size, dtype, buffer=buffer, offset=place)
            self._starts.append(place - offset)
            place += array.nbytes
            return array

        self.vectors: Rows = column(np.float32, ROWS, shape.dims)
        self.fine_codes: Codes = column(np.uint64, ROWS, 2 * shape.words)
        # Column-wise: one word of all rows is contiguous, which NumPy reads three times faster.
        self.codes: Codes = column(np.uint64, shape.words, ROWS)
        self.factors: Rows = column(np.float32, shape.factors, ROWS)
        self.vector_ids: Ids = column(np.int64, ROWS)
        self.memories: Ids = column(np.int64, ROWS)
        self.passages: Ids = column(np.int64, ROWS)
        self.scopes: NDArray[np.int32] = column(np.int32, ROWS)
        self.kinds: NDArray[np.uint8] = column(np.uint8, ROWS)

    @classmethod
    def private(cls, shape: Shape) -> Block:
        """Return a block in the memory of this process. Unused pages take no memory."""
        return cls(shape, np.empty(shape.block_bytes, np.uint8), 0, 0)

    def fill(self, rows: Iterator[VectorRow], centre: Rows | None) -> int:
        """Append rows while there is room, and return their number."""
        taken = list(islice(rows, ROWS - self.used))
        if not taken:
            return 0
        start, stop = self.used, self.used + len(taken)
        *facts, embeddings = zip(*taken, strict=True)
        self.vectors[start:stop] = np.frombuffer(b"".join(embeddings), "<f4").reshape(len(taken), -1)
        if centre is not None:
            # Parts that fit into the CPU cache take half the time.
            for first in range(start, stop, 1024):
                part = slice(first, min(stop, first + 1024))
                self.codes[:, part], self.fine_codes[part], self.factors[:, part] = encode(
                    self.vectors[part], centre
                )
        for column, values in zip(self._flat(), facts, strict=True):
            column[start:stop] = values
        self.used = stop
        return len(taken)

    def take(self, other: Block, rows: NDArray[np.intp]) -> None:
        """Append these rows of another block. The caller ensures that there is room."""
        start, stop = self.used, self.used + len(rows)
        for mine, theirs in zip(self._columns(), other._columns(), strict=True):
            mine[start:stop] = theirs[rows]
        self.used = stop

    def equal_rows(self, rows: NDArray[np.intp], other: Block, others: NDArray[np.intp]) -> int:
        """Count the rows that are bit for bit equal to the other block's rows, in order."""
        same = np.ones(len(rows), np.bool_)
        for mine, theirs in zip(self._columns(), other._columns(), strict=True):
            bits = f"u{mine.itemsize}"
            same &= (mine.view(bits)[rows] == theirs.view(bits)[others]).all(axis=1)
        return int(np.count_nonzero(same))

    def pieces(self, start: int, stop: int) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield these rows as contiguous arrays, each with its offset in the block."""
        vectors, fine, codes, factors, *rest = self._starts
        for offset, rows in ((vectors, self.vectors), (fine, self.fine_codes)):
            if rows.size:
                yield offset + start * rows.strides[0], rows[start:stop]
        for offset, columns in ((codes, self.codes), (factors, self.factors)):
            for number, column in enumerate(columns):
                yield offset + number * column.nbytes + start * column.itemsize, column[start:stop]
        for offset, flat in zip(rest, self._flat(), strict=True):
            yield offset + start * flat.itemsize, flat[start:stop]

    def checksum(self, start: int, stop: int) -> int:
        """Return the sum of the machine words modulo 2**64. Sums of ranges of rows add up."""
        return _sum(piece for _, piece in self.pieces(start, stop))

    def scope_kind_checksum(self, start: int, stop: int) -> int:
        """Return the checksum of all columns of ids, of scopes and of kinds."""
        return _sum(flat[start:stop] for flat in self._flat())

    def _flat(self) -> tuple[NDArray[Any], ...]:
        """Return the columns with one number per row, in the order of a `VectorRow`."""
        return self.vector_ids, self.memories, self.passages, self.scopes, self.kinds

    def _columns(self) -> Iterator[NDArray[Any]]:
        """Yield every column as a table with a line for each row."""
        yield self.vectors
        yield self.fine_codes
        yield self.codes.T
        yield self.factors.T
        for flat in self._flat():
            yield flat[:, None]


def _sum(pieces: Iterable[NDArray[Any]]) -> int:
    """Sum all numbers, read as the widest unsigned integers that fit a row."""
    total = 0
    for piece in pieces:
        words = piece.reshape(-1).view(np.uint64 if piece.strides[0] % 8 == 0 else f"u{piece.itemsize}")
        total += int(words.sum(dtype=np.uint64))
    return total % 2**64


# The source of cached vectors

FORMAT = 2
"""Increase this number when the layout or the computation of the cache's rows changes."""

KIND_CODES = {kind: code for code, kind in enumerate(Kind)}


class Version(NamedTuple):
    """A state of a store's vectors. Every change of a row raises one of the first two numbers."""

    vectors: int
    life: int
    newest: int
    """The model's highest vector id. It falls when a dropped model's vectors are deleted without a log."""

    def follows(self, earlier: Version) -> bool:
        return self.vectors >= earlier.vectors and self.life >= earlier.life


@dataclass(frozen=True, slots=True)
class VectorSource:
    """One model's vectors in one store."""

    store_id: str
    model_id: int
    dims: int
    packed_centre: bytes | None = field(repr=False)

    @property
    def centre(self) -> Rows | None:
        return None if self.packed_centre is None else unpack_vector(self.packed_centre)

    @property
    def shape(self) -> Shape:
        return Shape(self.dims, 0 if self.packed_centre is None else (self.dims + 63) // 64)

    def digest(self) -> bytes:
        """Return a digest of everything that determines the cache's bytes."""
        facts = (FORMAT, sys.byteorder, self.store_id, self.model_id, self.dims, self.packed_centre)
        return hashlib.sha256(repr(facts).encode()).digest()


def check_width(query: Vector, model: str, dims: int) -> None:
    if query.shape != (dims,):
        raise InvalidInput(
            f"The query's vector has {query.shape[-1]} numbers and those of {model} have {dims}; "
            f"embed the query with {model}."
        )


class VectorQueries(Protocol):
    """The queries that a cache runs on a snapshot."""

    def version(self, source: VectorSource) -> Version: ...

    def live_rows(self, source: VectorSource, after: int) -> Iterator[VectorRow]:
        """Yield the vectors of live passages, by ascending id."""

    def vector_changes_since(self, source: VectorSource, seq: int) -> dict[int, bool] | None:
        """Return vectors changed since, and whether each is live; None if the log starts later."""

    def stored_vector(self, source: VectorSource, vector_id: int) -> Row | None:
        """Return the passage of a vector, and its packed numbers."""

    def rotation(self, source: VectorSource) -> bytes | None: ...

    def is_writing(self) -> bool:
        """Whether the snapshot belongs to a transaction that may still be rolled back."""
