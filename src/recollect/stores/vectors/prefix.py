"""Search in two stages, as Cognis does: by a third of each vector's width to a shortlist, then by all."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.stores.vectors.scan import Allowed, Ids, best, found, leaders, pick, row_scores

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recollect.records import Found
    from recollect.stores.vectors.block import Block
    from recollect.stores.vectors.source import VectorSource
    from recollect.stores.vectors.state import Part
    from recollect.vectors import Rows

IDLE_SEARCHES = 1_000
"""Searches without a first stage after which what it needs is let go."""

# Whole numbers below 2**24 are exact in float32, and so are all sums of these products, in any order: the
# lengths of a vector and of a rotation's row are one, so no sum is above 2**12 * 2**11. BLAS may then split
# the work as it likes, and a row's prefix is the same bits in any company.
_VECTOR_STEPS = np.float32(2**12)
_ROTATION_STEPS = np.float32(2**11)


def width(dims: int) -> int:
    """Of a prefix."""
    return max(1, dims // 3)


class Prefixes:
    """The prefixes of one model's cached vectors: derived, in this process's memory, made when first needed.

    Safe to share between threads: a block's rows never change, so neither do prefixes once made.
    """

    def __init__(self, source: VectorSource, rotation: bytes | None) -> None:
        self.source = source
        self._width = width(source.dims)
        self._rotation: Rows | None = None
        if rotation is not None:
            directions = np.frombuffer(rotation, "<f2").reshape(self._width, source.dims)
            self._rotation = np.rint(directions.astype(np.float32) * _ROTATION_STEPS).T.copy()
        self._lock = threading.Lock()
        self._made: dict[Block, tuple[Rows, int]] = {}
        self._idle = 0

    def of(self, block: Block, count: int) -> Rows:
        """The prefixes of the block's first `count` rows; only those not yet made are computed."""
        with self._lock:
            self._idle = 0
            rows, done = self._made.get(block) or (
                np.empty((len(block.vectors), self._width), np.float32),
                0,
            )
            if done < count:
                rows[done:count] = self.prefixes(block.vectors[done:count])
                self._made[block] = rows, count
        return rows[:count]

    def keep(self, blocks: Iterable[Block]) -> None:
        """Let go of all other blocks' prefixes, and of these too when nobody has asked for long."""
        with self._lock:
            self._idle += 1
            if not self._made:
                return
            kept = set(blocks) if self._idle <= IDLE_SEARCHES else set[Any]()
            for block in self._made.keys() - kept:
                del self._made[block]

    @property
    def rows(self) -> int:
        """How many are held."""
        return sum(count for _, count in self._made.values())

    def prefixes(self, vectors: Rows) -> Rows:
        """Turned, where the model has a rotation; cut to a third of the width, and of length one."""
        if self._rotation is None:
            cut = np.ascontiguousarray(vectors[:, : self._width])
        else:
            cut = np.rint(vectors * _VECTOR_STEPS) @ self._rotation
        lengths = np.sqrt(np.vecdot(cut, cut))[:, None]
        prefixes: Rows = np.divide(cut, lengths, out=np.zeros_like(cut), where=lengths > 0)
        return prefixes


def nearest_by_prefix(
    parts: Sequence[Part], prefixes: Prefixes, query: Rows, k: int, allowed: Allowed, shortlist: int
) -> list[Found]:
    """The best `k` of the `shortlist` memories whose prefixes are nearest; no other can be found.

    The answer depends on the set of allowed rows only. Where they are no more than the shortlist holds, it is
    the exact one.
    """
    runs = [(part, part.run) for part in parts]
    picks = [(part, run, rows) for part, run in runs if (rows := pick(run, allowed)) is None or len(rows)]
    count = sum(part.count if rows is None else len(rows) for part, _, rows in picks)
    if not count or k < 1 or shortlist < 1:
        return []
    if count <= shortlist:
        return found(best([(run, rows) for _, run, rows in picks], query, k))
    near = prefixes.prefixes(query[None])[0]
    every = slice(None)
    columns = [
        (
            row_scores(prefixes.of(part.block, part.count), rows, near),
            run.memories[every if rows is None else rows],
            run.passages[every if rows is None else rows],
        )
        for part, run, rows in picks
    ]
    scores, memories, passages = (np.concatenate(column) for column in zip(*columns, strict=True))
    chosen = _shortlisted(scores, memories, passages, shortlist)
    finalists = [(run, np.sort(run.rows_of(chosen))) for _, run, _ in picks]
    return found(best([(run, rows) for run, rows in finalists if len(rows)], query, k))


def _shortlisted(scores: Rows, memories: Ids, passages: Ids, wanted: int) -> Ids:
    """So many memories by their best prefix, with all that tie with the last."""
    order = leaders(scores, memories, passages, wanted)
    if len(order) < wanted:
        return np.unique(memories)
    return np.unique(memories[scores >= scores[order[-1]]])
