"""Searching cached vectors with NumPy: which rows may be seen, which are near, which are the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.stores.sqlite.vector_block import Codes, Ids, one_bit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recollect.vectors import Rows

GATHER_BELOW = 0.15
"""Where fewer of the rows are allowed, copying them out costs less than reading them all."""

TWO_STAGES_FROM = 40_000
"""Allowed rows from which a one-bit first stage costs less than reading every vector."""

Mask = NDArray[np.bool_]
Positions = NDArray[np.intp]


class Nearest(NamedTuple):
    """A memory, and the passage that speaks for it."""

    memory_id: int
    passage_id: int
    cosine: float


@dataclass(frozen=True, slots=True)
class Run:
    """Rows that stand together, column by column. `live` is None where all are."""

    vectors: Rows
    codes: Codes
    memories: Ids
    passages: Ids
    scopes: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    live: Mask | None


@dataclass(frozen=True, slots=True)
class Allowed:
    """Which rows a search may see. None: any."""

    scopes: NDArray[np.int32]
    kinds: NDArray[np.uint8] | None = None
    memories: Ids | None = None


def nearest(
    runs: Sequence[Run], query: Rows, k: int, allowed: Allowed, centre: Rows | None = None
) -> list[Nearest]:
    """The best `k` memories: cosine falling, ties by memory, then passage.

    The answer depends on the set of allowed rows only, never on where they stand or what else there is.
    """
    picks = [(run, rows) for run in runs if (rows := pick(run, allowed)) is None or len(rows)]
    count = sum(_count(run, rows) for run, rows in picks)
    if not count or k < 1:
        return []
    wanted = shortlist_size(count, k)
    if centre is None or count < TWO_STAGES_FROM or wanted >= count:
        return best(picks, query, k)
    found = best(list(shortlist(picks, one_bit(query, centre), wanted)), query, k)
    # Few memories with very many passages each may crowd the shortlist; then only reading all will do.
    return found if len(found) == k else best(picks, query, k)


def pick(run: Run, allowed: Allowed) -> Positions | None:
    """The rows of a run that may be seen. None: all of them."""
    mask = run.live
    for part in _masks(run, allowed):
        mask = part if mask is None else mask & part
    rows = None if mask is None or mask.all() else np.flatnonzero(mask)
    if allowed.memories is None:
        return rows
    return _among(run.memories, rows, allowed.memories)


def _masks(run: Run, allowed: Allowed) -> Iterator[Mask]:
    if len(allowed.scopes) == 1:
        yield run.scopes == allowed.scopes[0]
    else:
        yield np.isin(run.scopes, allowed.scopes)
    if allowed.kinds is not None:
        yield np.isin(run.kinds, allowed.kinds)


def _among(memories: Ids, rows: Positions | None, wanted: Ids) -> Positions:
    """Memories of one session lie close together, so a range throws out most rows before the exact test."""
    if not len(wanted):
        return np.empty(0, np.intp)
    seen = memories if rows is None else memories[rows]
    close = np.flatnonzero((seen >= wanted.min()) & (seen <= wanted.max()))
    close = close[np.isin(seen[close], wanted)]
    return close if rows is None else rows[close]


def _count(run: Run, rows: Positions | None) -> int:
    return len(run.memories) if rows is None else len(rows)


def best(picks: Sequence[tuple[Run, Positions | None]], query: Rows, k: int) -> list[Nearest]:
    """Exact: every picked row is compared in full precision."""
    scores = np.empty(0, np.float32)
    memories, passages = np.empty(0, np.int64), np.empty(0, np.int64)
    for run, rows in picks:
        found, places = _scores(run, rows, query)
        # A full board is passed only by what equals its last entry or beats it.
        close = np.flatnonzero(found >= scores[-1]) if len(scores) == k else np.arange(len(found))
        if not len(close):
            continue
        at = close if places is None else places[close]
        scores = np.concatenate([scores, found[close]])
        memories = np.concatenate([memories, run.memories[at]])
        passages = np.concatenate([passages, run.passages[at]])
        order = leaders(scores, memories, passages, k)
        scores, memories, passages = scores[order], memories[order], passages[order]
    return [Nearest(*row) for row in zip(memories.tolist(), passages.tolist(), scores.tolist(), strict=True)]


def _scores(run: Run, rows: Positions | None, query: Rows) -> tuple[Rows, Positions | None]:
    # vecdot sums each row by itself, in one order: a row's score is the same bits wherever it stands,
    # which `vectors @ query` does not promise.
    if rows is None:
        return np.vecdot(run.vectors, query), None
    if len(rows) < GATHER_BELOW * len(run.memories):
        return np.vecdot(run.vectors[rows], query), rows
    return np.vecdot(run.vectors, query)[rows], rows


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
    return order[np.sort(first)]


def shortlist_size(count: int, k: int) -> int:
    """How many rows the first stage lets through, from the number of allowed rows alone."""
    return max(4_000, count // 60, 100 * k)


def shortlist(
    picks: Sequence[tuple[Run, Positions | None]], code: Codes, wanted: int
) -> Iterator[tuple[Run, Positions]]:
    """The rows whose codes differ in the fewest bits: at least `wanted`, with all that tie with the last."""
    bits = 64 * len(code)
    counts = np.zeros(bits + 1, np.int64)
    radius = bits
    close: list[tuple[Run, Positions, NDArray[np.uint16]]] = []
    for run, rows in picks:
        places, distances = _within(run, rows, code, radius)
        counts += np.bincount(distances, minlength=bits + 1)
        # The radius only shrinks as more rows are seen, so what is beyond it now stays beyond.
        radius = min(bits, int(np.searchsorted(np.cumsum(counts), wanted)))
        close.append((run, places, distances))
    for run, places, distances in close:
        near = places[distances <= radius]
        if len(near):
            yield run, near


def _within(
    run: Run, rows: Positions | None, code: Codes, radius: int
) -> tuple[Positions, NDArray[np.uint16]]:
    if rows is not None and len(rows) < GATHER_BELOW * len(run.memories):
        distances = hamming(run.codes[:, rows], code)
        near = np.flatnonzero(distances <= radius)
        return rows[near], distances[near]
    distances = hamming(run.codes, code)
    near = np.flatnonzero(distances <= radius) if rows is None else rows[distances[rows] <= radius]
    return near, distances[near]


def hamming(codes: Codes, code: Codes) -> NDArray[np.uint16]:
    """In how many bits each column differs from the code."""
    distances = np.zeros(codes.shape[1], np.uint16)
    different = np.empty(codes.shape[1], np.uint64)
    counted, few = np.empty(codes.shape[1], np.uint8), np.empty(codes.shape[1], np.uint8)
    for first in range(0, len(code), 3):
        # Three words differ in at most 192 bits, which a byte holds; adding bytes is the fastest.
        few.fill(0)
        for word in range(first, min(first + 3, len(code))):
            np.bitwise_xor(codes[word], code[word], out=different)
            np.bitwise_count(different, out=counted)
            np.add(few, counted, out=few)
        distances += few
    return distances
