"""In which documents a term stands: as columns, and packed into blocks for a store to keep."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.errors import StoreDamaged
from recollect.ranking.candidates import Ints

BLOCK = 4_096
"""The most documents in one block: few blocks to read of a common word, and little to write for a new one."""
_TYPES: dict[int, np.dtype[Any]] = {width: np.dtype(f"<u{width}") for width in (1, 2, 4, 8)}
_LETTERS = {1: "B", 2: "H", 4: "I", 8: "Q"}
_COLUMNS = 4
_POSITION_BITS = 32
_NOTHING = np.zeros(0, np.int64)


class Postings(NamedTuple):
    """The documents that contain a term, by ascending id."""

    ids: Ints
    counts: Ints
    """How often it stands in each."""
    lengths: Ints
    """How many terms each has."""
    positions: Ints
    """Where it stands, document after document; empty where nobody needs to know."""

    @classmethod
    def none(cls) -> Postings:
        return cls(_NOTHING, _NOTHING, _NOTHING, _NOTHING)


def pack_block(postings: Postings) -> bytes:
    """The gaps between the ids, counts, lengths and positions, each in as few bytes as it takes."""
    if len(postings.ids) == 1 and not len(postings.positions):
        count, length = int(postings.counts[0]), int(postings.lengths[0])
        if max(count, length) < 1 << 8:
            # As most terms of a store: without columns, in a tenth of the time.
            return bytes((1, 1, 1, 1, 0, count, length))
    gaps = postings.ids - postings.ids[0]
    gaps[1:] -= gaps[:-1].copy()
    columns = (gaps, postings.counts, postings.lengths, postings.positions)
    widths = [_width(int(column.max())) if len(column) else 1 for column in columns]
    packed = [column.astype(_TYPES[width]).tobytes() for column, width in zip(columns, widths, strict=True)]
    return b"".join((bytes(widths), *packed))


def appended_block(first_id: int, count: int, packed: bytes, later: Postings) -> bytes | None:
    """A packed block with later documents at its end, as if packed anew, without its columns being read.

    None where that takes more than to put bytes behind bytes.
    """
    if count + len(later.ids) > BLOCK:
        return None
    try:
        gap, often, length, position = packed[:_COLUMNS]
        last = first_id + int(np.frombuffer(packed, _TYPES[gap], count, _COLUMNS).sum())
        more = [
            _numbers(gap, [id_ - before for before, id_ in pairwise((last, *later.ids.tolist()))]),
            _numbers(often, later.counts.tolist()),
            _numbers(length, later.lengths.tolist()),
            _numbers(position, later.positions.tolist()),
        ]
    # A number wider than those before it, an id that comes before them, or a damaged block.
    except (struct.error, KeyError, ValueError):
        return None
    counts_at = _COLUMNS + count * gap
    lengths_at = counts_at + count * often
    positions_at = lengths_at + count * length
    return b"".join(
        (
            packed[:counts_at],
            more[0],
            packed[counts_at:lengths_at],
            more[1],
            packed[lengths_at:positions_at],
            more[2],
            packed[positions_at:],
            more[3],
        )
    )


def _numbers(width: int, numbers: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(numbers)}{_LETTERS[width]}", *numbers)


def unpack_block(first_id: int, count: int, packed: bytes) -> Postings:
    try:
        gaps, counts, lengths, positions = _unpacked(count, packed)
    except (KeyError, IndexError, ValueError) as error:
        raise StoreDamaged(
            "A part of the index of words cannot be read. Build it anew: recollect verify --repair"
        ) from error
    return Postings(first_id + np.cumsum(gaps, dtype=np.int64), counts, lengths, positions)


def _unpacked(count: int, packed: bytes) -> list[NDArray[Any]]:
    start = _COLUMNS
    columns: list[NDArray[Any]] = []
    for place in range(_COLUMNS):
        kind = _TYPES[packed[place]]
        # Positions come last: as many as are left, which may be none.
        is_last = place == _COLUMNS - 1
        there = not is_last or start < len(packed)
        columns.append(np.frombuffer(packed, kind, -1 if is_last else count, start) if there else _NOTHING)
        start += count * kind.itemsize
    return columns


def joined(parts: Sequence[Postings]) -> Postings:
    """Of one term, from several places: no document is in two of them."""
    if len(parts) < 2:
        return parts[0] if parts else Postings.none()
    whole = Postings(*map(np.concatenate, zip(*parts, strict=True)))
    if all(one.ids[-1] < next_one.ids[0] for one, next_one in pairwise(parts)):
        return whole
    order = np.argsort(whole.ids, kind="stable")
    return taken(whole, order)


def summed(parts: Sequence[Postings]) -> Postings:
    """Of several terms that count as one, without their positions."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Postings.none()
    ids = np.concatenate([part.ids for part in parts])
    order = np.argsort(ids, kind="stable")
    ids = ids[order]
    starts = np.flatnonzero(np.diff(ids, prepend=-1))
    counts = np.concatenate([part.counts for part in parts], dtype=np.int64)[order]
    lengths = np.concatenate([part.lengths for part in parts])[order]
    return Postings(ids[starts], np.add.reduceat(counts, starts), lengths[starts], _NOTHING)


def following(parts: Sequence[Postings]) -> Postings:
    """Of terms that follow one another; all have their positions."""
    if not all(len(part.ids) for part in parts):
        return Postings.none()
    first = parts[0]
    keys = None
    for place, part in enumerate(parts):
        # By their places in the first part: an id may take up to 53 bits.
        rows = np.minimum(np.searchsorted(first.ids, part.ids), len(first.ids) - 1)
        ends = (np.repeat(rows, part.counts) << _POSITION_BITS) + part.positions + (len(parts) - place)
        ends = ends[np.repeat(first.ids[rows] == part.ids, part.counts)]
        keys = ends if keys is None else np.intersect1d(keys, ends, assume_unique=True)
    if keys is None:
        return Postings.none()
    rows, counts = np.unique(keys >> _POSITION_BITS, return_counts=True)
    return Postings(first.ids[rows], counts, first.lengths[rows], _NOTHING)


def taken(postings: Postings, rows: Ints) -> Postings:
    """These rows, in this order."""
    positions = postings.positions
    if len(positions):
        ends = np.cumsum(postings.counts, dtype=np.int64)
        starts = ends - postings.counts
        positions = np.concatenate([positions[starts[row] : ends[row]] for row in rows.tolist()])
    return Postings(postings.ids[rows], postings.counts[rows], postings.lengths[rows], positions)


def split_into_blocks(postings: Postings) -> list[Postings]:
    """Cut into full blocks and the rest: ids only ever grow, so that there is little to come between them."""
    size = len(postings.ids)
    if size <= BLOCK:
        return [postings]
    return [taken(postings, np.arange(start, min(start + BLOCK, size))) for start in range(0, size, BLOCK)]


def _width(highest: int) -> int:
    return 1 if highest < 1 << 8 else 2 if highest < 1 << 16 else 4 if highest < 1 << 32 else 8
