"""A block of cached vectors: columns laid out in one buffer, which may be memory or part of a file."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.stores.vectors.codes import FACTORS, Codes, encoded

if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterable, Iterator

    from recollect.vectors import Rows

ROWS = 16_384
"""Rows per block: big enough to make Python's part small, small enough for a column to stay in cache."""

# Offsets of mapped blocks must be multiples of this on every platform; Windows asks for the most.
ALIGNMENT = 65_536

Ids = NDArray[np.int64]


class VectorRow(NamedTuple):
    """A live vector, as the store has it."""

    vector: int
    memory: int
    passage: int
    scope: int
    kind: int
    embedding: bytes


@dataclass(frozen=True, slots=True)
class Shape:
    """How wide rows are. `words` are the uint64 words of a one-bit code: none where there is no centre."""

    dims: int
    words: int

    @classmethod
    def of(cls, dims: int, centre: Rows | None) -> Shape:
        return cls(dims, 0 if centre is None else (dims + 63) // 64)

    @property
    def factors(self) -> int:
        return FACTORS if self.words else 0

    @property
    def block_bytes(self) -> int:
        row_bytes = 4 * self.dims + 3 * 8 * self.words + 4 * self.factors + 3 * 8 + 4 + 1
        return -(-ROWS * row_bytes // ALIGNMENT) * ALIGNMENT


class Block:
    """Room for `ROWS` rows. Rows below `used` never change, so readers need no lock."""

    __slots__ = (
        "_starts",
        "codes",
        "factors",
        "fine_codes",
        "kinds",
        "memories",
        "passages",
        "scopes",
        "used",
        "vector_ids",
        "vectors",
    )

    def __init__(self, shape: Shape, buffer: mmap.mmap | NDArray[np.uint8], offset: int, used: int) -> None:
        self.used = used
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
        # Column-wise: one word of all rows stands together, which NumPy reads three times faster.
        self.codes: Codes = column(np.uint64, shape.words, ROWS)
        self.factors: Rows = column(np.float32, shape.factors, ROWS)
        self.vector_ids: Ids = column(np.int64, ROWS)
        self.memories: Ids = column(np.int64, ROWS)
        self.passages: Ids = column(np.int64, ROWS)
        self.scopes: NDArray[np.int32] = column(np.int32, ROWS)
        self.kinds: NDArray[np.uint8] = column(np.uint8, ROWS)

    @classmethod
    def private(cls, shape: Shape) -> Block:
        """A block in this process's memory; pages not yet written to cost nothing."""
        return cls(shape, np.empty(shape.block_bytes, np.uint8), 0, 0)

    def fill(self, rows: Iterator[VectorRow], centre: Rows | None) -> int:
        """Append rows while there is room; how many there were."""
        taken = list(islice(rows, ROWS - self.used))
        if not taken:
            return 0
        start, stop = self.used, self.used + len(taken)
        vectors, memories, passages, scopes, kinds, embeddings = zip(*taken, strict=True)
        self.vectors[start:stop] = np.frombuffer(b"".join(embeddings), "<f4").reshape(len(taken), -1)
        if centre is not None:
            # In parts that stay in the processor's cache, which takes half the time.
            for first in range(start, stop, 1024):
                part = slice(first, min(stop, first + 1024))
                self.codes[:, part], self.fine_codes[part], self.factors[:, part] = encoded(
                    self.vectors[part], centre
                )
        self.vector_ids[start:stop] = vectors
        self.memories[start:stop] = memories
        self.passages[start:stop] = passages
        self.scopes[start:stop] = scopes
        self.kinds[start:stop] = kinds
        self.used = stop
        return len(taken)

    def take(self, other: Block, rows: NDArray[np.intp]) -> None:
        """Append these rows of another block; the caller sees to it that there is room."""
        start, stop = self.used, self.used + len(rows)
        for mine, theirs in zip(self._columns(), other._columns(), strict=True):
            mine[start:stop] = theirs[rows]
        self.used = stop

    def equal_rows(self, rows: NDArray[np.intp], other: Block, others: NDArray[np.intp]) -> int:
        """How many of these rows are, to the last bit, the other block's rows in the same order."""
        same = np.ones(len(rows), np.bool_)
        for mine, theirs in zip(self._columns(), other._columns(), strict=True):
            bits = f"u{mine.itemsize}"
            same &= (mine.view(bits)[rows] == theirs.view(bits)[others]).all(axis=1)
        return int(np.count_nonzero(same))

    def pieces(self, start: int, stop: int) -> Iterator[tuple[int, NDArray[Any]]]:
        """The bytes of these rows, as contiguous arrays, each with its offset in the block."""
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
        """A sum of machine words, modulo 2**64: it adds up over ranges of rows, as fast as memory."""
        return _sum(piece for _, piece in self.pieces(start, stop))

    def facts_checksum(self, start: int, stop: int) -> int:
        """The same, of what says whose each row is and of which kind."""
        return _sum(flat[start:stop] for flat in self._flat())

    def _flat(self) -> tuple[NDArray[Any], ...]:
        return self.vector_ids, self.memories, self.passages, self.scopes, self.kinds

    def _columns(self) -> Iterator[NDArray[Any]]:
        """Every column, as a table with a line for each row."""
        yield self.vectors
        yield self.fine_codes
        yield self.codes.T
        yield self.factors.T
        for flat in self._flat():
            yield flat[:, None]


def _sum(pieces: Iterable[NDArray[Any]]) -> int:
    return sum(int(_words(piece).sum(dtype=np.uint64)) for piece in pieces) % 2**64


def _words(piece: NDArray[Any]) -> NDArray[Any]:
    """The piece as unsigned integers, as wide as fits a whole row."""
    flat = piece.reshape(-1)
    row_bytes = piece.strides[0]
    return flat.view(np.uint64 if row_bytes % 8 == 0 else f"u{flat.itemsize}")
