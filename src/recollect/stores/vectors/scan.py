"""Searching cached vectors with NumPy: which rows may be seen, which are near, which are the best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recollect.records import Found, Kind
from recollect.stores.vectors.codes import Codes, Distances, QueryCode, query_code
from recollect.stores.vectors.source import KIND_CODES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from recollect.vectors import Rows

GATHER_BELOW = 0.15
"""Where fewer of the rows are allowed, copying them out costs less than reading them all."""

TWO_STAGES_FROM = 50_000
"""Allowed rows from which a one-bit first stage comes before the exact one. Fewer take 3 ms as they are."""

Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]
Positions = NDArray[np.intp]


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

    @classmethod
    def of(
        cls, scopes: Sequence[int], kinds: Collection[Kind] = tuple(Kind), memories: Ids | None = None
    ) -> Allowed:
        codes = None if set(kinds) >= set(Kind) else np.array([KIND_CODES[kind] for kind in kinds], np.uint8)
        return cls(np.array(scopes, np.int32), codes, memories)


Pick = tuple[Run, Positions | None]
"""Rows of a run. None: all of them."""


def nearest(
    runs: Sequence[Run], query: Rows, k: int, allowed: Allowed, centre: Rows | None = None
) -> list[Found]:
    """The best `k` memories: cosine falling, ties by memory, then passage.

    The answer depends on the set of allowed rows only, never on where they stand or what else there is.
    """
    picks: list[Pick] = [(run, rows) for run in runs if (rows := pick(run, allowed)) is None or len(rows)]
    count = sum(_count(run, rows) for run, rows in picks)
    if not count or k < 1:
        return []
    wanted = shortlist_size(count, k)
    if centre is None or count < TWO_STAGES_FROM or wanted > count // 10:
        return best(picks, query, k)
    found = best(shortlist(picks, query_code(query, centre), wanted), query, k)
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
    return among(run.memories, rows, allowed.memories)


def _masks(run: Run, allowed: Allowed) -> Iterator[Mask]:
    yield _any_of(run.scopes, allowed.scopes)
    if allowed.kinds is not None:
        yield _any_of(run.kinds, allowed.kinds)


def _any_of(column: NDArray[Any], wanted: NDArray[Any]) -> Mask:
    if not 0 < len(wanted) <= 8:
        return np.isin(column, wanted)
    # For a few numbers, comparing with each is quicker than NumPy's general test.
    mask: Mask = column == wanted[0]
    for number in wanted[1:]:
        mask |= column == number
    return mask


def among(memories: Ids, rows: Positions | None, wanted: Ids) -> Positions:
    """Memories of one session lie close together, so a range throws out most rows before the exact test."""
    if not len(wanted):
        return np.empty(0, np.intp)
    seen = memories if rows is None else memories[rows]
    close = np.flatnonzero((seen >= wanted.min()) & (seen <= wanted.max()))
    close = close[np.isin(seen[close], wanted)]
    return close if rows is None else rows[close]


def _count(run: Run, rows: Positions | None) -> int:
    return len(run.memories) if rows is None else len(rows)


def best(picks: Sequence[Pick], query: Rows, k: int) -> list[Found]:
    """Exact: every picked row is compared in full precision."""
    scores = np.empty(0, np.float32)
    memories, passages = np.empty(0, np.int64), np.empty(0, np.int64)
    threshold = -np.inf
    for run, rows in picks:
        found = row_scores(run.vectors, rows, query)
        close = np.flatnonzero(found >= threshold)
        at = close if rows is None else rows[close]
        scores = np.concatenate([scores, found[close]])
        memories = np.concatenate([memories, run.memories[at]])
        passages = np.concatenate([passages, run.passages[at]])
        if len(scores) > 16 * k:
            order = leaders(scores, memories, passages, k)
            scores, memories, passages = scores[order], memories[order], passages[order]
            # A full board is joined only by what equals its last entry or beats it.
            threshold = scores[-1] if len(order) == k else -np.inf
    order = leaders(scores, memories, passages, k)
    columns = (column[order].tolist() for column in (memories, scores, passages))
    return [Found(*row) for row in zip(*columns, strict=True)]


def row_scores(vectors: Rows, rows: Positions | None, query: Rows) -> Rows:
    """The products of the query with these rows. None: with all of them."""
    if rows is not None and len(rows) < GATHER_BELOW * len(vectors):
        vectors, rows = vectors.take(rows, axis=0), None
    # vecdot sums each row by itself, in one order: a row's score is the same bits wherever it stands,
    # which `vectors @ query` does not promise.
    scores: Rows = np.vecdot(vectors, query)
    return scores if rows is None else scores[rows]


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
    """How many rows are compared in full after the first stage, from the number of allowed rows alone.

    Among 100,000 sentences it finds 0.996 of the top 30 of questions about them, and 0.94 of questions
    about something else, whose nearest rows are hardly nearer than the rest. 30 times the root finds 0.999
    and 0.98 at 1.7 times the cost: see docs/decisions/0003-vector-search.md.
    """
    return 12 * math.isqrt(count) * max(k, 30) // 30


def shortlist(picks: Sequence[Pick], code: QueryCode, wanted: int) -> list[Pick]:
    """The rows whose codes are nearest: three times as many as wanted by plain distance, then by weight."""
    rough = closest(picks, code.plain_distances, code.farthest, 3 * wanted)
    return closest(rough, code.weighted_distances, code.farthest, wanted)


def closest(
    picks: Sequence[Pick], measure: Callable[[Codes], Distances], farthest: int, wanted: int
) -> list[Pick]:
    """At least `wanted` rows, with all that tie with the last, so that the order of rows decides nothing."""
    counts = np.zeros(farthest + 1, np.int64)
    radius = farthest
    near: list[tuple[Run, Positions, Distances]] = []
    for run, rows in picks:
        places, distances = _within(run, rows, measure, radius)
        counts += np.bincount(distances, minlength=farthest + 1)
        # The radius only shrinks as more rows are seen, so what is beyond it now stays beyond.
        radius = min(farthest, int(np.searchsorted(np.cumsum(counts), wanted)))
        near.append((run, places, distances))
    kept = [(run, places[distances <= radius]) for run, places, distances in near]
    return [(run, places) for run, places in kept if len(places)]


def _within(
    run: Run, rows: Positions | None, measure: Callable[[Codes], Distances], radius: int
) -> tuple[Positions, Distances]:
    if rows is not None and len(rows) < GATHER_BELOW * len(run.memories):
        distances = measure(run.codes.take(rows, axis=1))
        near = np.flatnonzero(distances <= radius)
        return rows[near], distances[near]
    distances = measure(run.codes)
    near = np.flatnonzero(distances <= radius) if rows is None else rows[distances[rows] <= radius]
    return near, distances[near]
