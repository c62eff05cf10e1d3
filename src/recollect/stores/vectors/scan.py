"""Searching cached vectors with NumPy: which rows may be seen, and which of them are the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recollect.records import Found, Kind
from recollect.stores.vectors.source import KIND_CODES
from recollect.vectors import distinct

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from recollect.stores.vectors.codes import Codes
    from recollect.vectors import Rows

GATHER_BELOW = 0.15
"""Where fewer of the rows are allowed, copying them out costs less than reading them all."""

LARGEST_SAMPLE = 1 / 8
"""Share of the rows in a sample that stands for all."""

_EVERY_KIND = frozenset(Kind)
_AT_ONCE = 512
"""Rows that are copied out together: what is written then stays in the processor's cache."""

Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]
Positions = NDArray[np.intp]
Best: TypeAlias = "tuple[Rows, Ids, Ids]"
"""Scores, memories and passages, best first."""


@dataclass(frozen=True, slots=True)
class Run:
    """Rows that stand together, column by column. `live` is None where all are."""

    vectors: Rows
    codes: Codes
    fine_codes: Codes
    factors: Rows
    memories: Ids
    passages: Ids
    scopes: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    live: Mask | None
    live_rows: Positions | None
    scopes_seen: tuple[int, int]
    """The lowest and the highest."""
    kinds_seen: frozenset[int]
    by_memory: tuple[Ids, Positions | None]
    """The memories in ascending order, and where each stands. None: as they are."""
    sample: tuple[Positions, NDArray[np.uint16]]
    """A few rows that stand for all, chosen by a hash of their memory, which has no order; and the hashes."""

    @classmethod
    def of(
        cls,
        vectors: Rows,
        codes: Codes,
        fine_codes: Codes,
        factors: Rows,
        memories: Ids,
        passages: Ids,
        scopes: NDArray[np.int32],
        kinds: NDArray[np.uint8],
        live: Mask | None,
    ) -> Run:
        order = None if (memories[1:] >= memories[:-1]).all() else np.argsort(memories, kind="stable")
        return cls(
            vectors,
            codes,
            fine_codes,
            factors,
            memories,
            passages,
            scopes,
            kinds,
            live,
            None if live is None else np.flatnonzero(live),
            (int(scopes.min()), int(scopes.max())),
            frozenset(np.flatnonzero(np.bincount(kinds)).tolist()),
            (memories if order is None else memories[order], order),
            _sample(memories),
        )

    def rows_of(self, wanted: Ids) -> Positions:
        """The live rows of these memories, which ascend and are all different; by memory, then by place."""
        memories, order = self.by_memory
        first, last = np.searchsorted(wanted, (memories[0], memories[-1] + 1))
        wanted = wanted[first:last]
        starts, stops = np.searchsorted(memories, wanted), np.searchsorted(memories, wanted, "right")
        counts = stops - starts
        # Ranges one after another: each place is its range's start and how far into the range it is.
        rows: Positions = np.arange(counts.sum()) + np.repeat(starts - counts.cumsum() + counts, counts)
        rows = rows if order is None else order[rows]
        return rows if self.live is None else rows[self.live[rows]]


def _sample(memories: Ids) -> tuple[Positions, NDArray[np.uint16]]:
    # The golden ratio spreads numbers that follow one another evenly (Knuth, volume 3, 6.4).
    hashes = (memories.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(48)).astype(np.uint16)
    rows = np.flatnonzero(hashes < LARGEST_SAMPLE * 2**16)
    return rows, hashes[rows]


@dataclass(frozen=True, slots=True)
class Allowed:
    """Which rows a search may see. None: any."""

    scopes: frozenset[int]
    kinds: frozenset[int] | None = None
    memories: Ids | None = None
    """In ascending order."""
    without: Ids | None = None
    """In ascending order; only where `memories` are not named."""

    @classmethod
    def of(
        cls,
        scopes: Collection[int],
        kinds: Collection[Kind] = tuple(Kind),
        memories: Collection[int] | Ids | None = None,
        without: Collection[int] | Ids | None = None,
    ) -> Allowed:
        codes = None if _EVERY_KIND.issubset(kinds) else frozenset(KIND_CODES[kind] for kind in kinds)
        only, gone = _ascending(memories), _ascending(without)
        if only is not None and gone is not None:
            only, gone = np.setdiff1d(only, gone, assume_unique=True), None
        return cls(frozenset(scopes), codes, only, gone)


def _ascending(ids: Collection[int] | Ids | None) -> Ids | None:
    if ids is None:
        return None
    return distinct(ids if isinstance(ids, np.ndarray) else np.fromiter(ids, np.int64, len(ids)))


Pick: TypeAlias = tuple[Run, Positions | None]
"""Rows of a run. None: all of them."""


def allowed_rows(runs: Sequence[Run], allowed: Allowed) -> tuple[list[Pick], int]:
    """The rows that may be seen, and how many they are."""
    picks: list[Pick] = [(run, rows) for run in runs if (rows := pick(run, allowed)) is None or len(rows)]
    return picks, sum(len(run.memories) if rows is None else len(rows) for run, rows in picks)


def pick(run: Run, allowed: Allowed) -> Positions | None:
    """The rows of a run that may be seen. None: all of them."""
    if allowed.memories is not None:
        return _meeting(run, allowed, np.sort(run.rows_of(allowed.memories)))
    rows = _meeting(run, allowed, run.live_rows)
    if allowed.without is None or not len(gone := run.rows_of(allowed.without)):
        return rows
    left = np.ones(len(run.memories), np.bool_)
    left[gone] = False
    return np.flatnonzero(left) if rows is None else rows[left[rows]]


def _meeting(run: Run, allowed: Allowed, rows: Positions | None) -> Positions | None:
    """Those of the rows that are of an allowed scope and kind. Most runs need no look at their columns."""
    low, high = run.scopes_seen
    if low != high or low not in allowed.scopes:
        rows = _any_of(run.scopes, allowed.scopes, rows)
    if allowed.kinds is not None and not run.kinds_seen <= allowed.kinds:
        rows = _any_of(run.kinds, allowed.kinds, rows)
    return rows


def _any_of(column: NDArray[Any], wanted: frozenset[int], rows: Positions | None) -> Positions | None:
    column = column if rows is None else column[rows]
    if len(wanted) > 8:  # below it, comparing with each is quicker than the general test
        mask = np.isin(column, list(wanted))
    else:
        mask = np.zeros(len(column), np.bool_)
        for number in wanted:
            mask |= column == number
    if mask.all():
        return rows
    return np.flatnonzero(mask) if rows is None else rows[mask]


def best(picks: Sequence[Pick], query: Rows, k: int) -> Best:
    """Exact: every picked row is compared in full precision."""
    scores, memories, passages = np.empty(0, np.float32), np.empty(0, np.int64), np.empty(0, np.int64)
    threshold: np.float32 | None = None
    for run, rows in picks:
        found = row_scores(run.vectors, rows, query)
        at: Any = slice(None) if rows is None else rows
        if threshold is not None:
            close = np.flatnonzero(found >= threshold)
            found, at = found[close], close if rows is None else rows[close]
        hits = found, run.memories[at], run.passages[at]
        if len(scores):
            hits = (
                np.concatenate([scores, hits[0]]),
                np.concatenate([memories, hits[1]]),
                np.concatenate([passages, hits[2]]),
            )
        scores, memories, passages = hits
        if len(scores) > 16 * k and len(picks) > 1:
            order = leaders(scores, memories, passages, k)
            scores, memories, passages = scores[order], memories[order], passages[order]
            # A full board is joined only by what equals its last entry or beats it.
            threshold = scores[-1] if len(scores) == k else None
    order = leaders(scores, memories, passages, k)
    return scores[order], memories[order], passages[order]


def found(hits: Best) -> list[Found]:
    scores, memories, passages = hits
    return list(map(Found, memories.tolist(), scores.tolist(), passages.tolist()))


def scans_all(run: Run, rows: Positions) -> bool:
    """Whether it is quicker to read all rows of a run than to copy these out."""
    return len(rows) >= GATHER_BELOW * len(run.memories)


def row_scores(vectors: Rows, rows: Positions | None, query: Rows) -> Rows:
    """The products of the query with these rows. None: with all of them."""
    # vecdot sums each row by itself, in one order: a row's score is the same bits wherever it stands,
    # which `vectors @ query` does not promise.
    if rows is None or len(rows) >= GATHER_BELOW * len(vectors):
        scores: Rows = np.vecdot(vectors, query)
        return scores if rows is None else scores[rows]
    scores = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        np.vecdot(vectors.take(rows[part], axis=0), query, out=scores[part])
    return scores


def leaders(scores: Rows, memories: Ids, passages: Ids, k: int) -> Positions:
    """Positions of the best `k` distinct memories, best first."""
    enough = 2 * k
    while enough < len(scores):
        cut = np.partition(scores, -enough)[-enough]
        close = np.flatnonzero(scores >= cut)
        order = close[_firsts(scores[close], memories[close], passages[close])]
        if len(order) >= k:
            return order[:k]
        enough *= 4
    return _firsts(scores, memories, passages)[:k]


def _firsts(scores: Rows, memories: Ids, passages: Ids) -> Positions:
    """The best row of each memory, best first."""
    order = np.lexsort((passages, memories, -scores))
    _, first = np.unique(memories[order], return_index=True)
    return order if len(first) == len(order) else order[np.sort(first)]
