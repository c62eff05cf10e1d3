"""Search cached vectors with NumPy: select the allowed rows, and rank them by cosine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recollect.domain.numbers import distinct
from recollect.domain.records import Found, Kind
from recollect.stores.vectors.block import KIND_CODES, query_code

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from recollect.domain.numbers import Rows
    from recollect.stores.vectors.block import Block, QueryCode


GATHER_BELOW = 0.15
"""If the share of allowed rows is smaller than this, copying them costs less than scanning all rows."""

LARGEST_SAMPLE = 1 / 8
"""The largest share of rows in a sample."""

_EVERY_KIND = frozenset(Kind)
_COPY_ROWS = 512
"""Rows that are copied at a time, so that the copy stays in the CPU cache."""

Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]
Positions = NDArray[np.intp]
Best: TypeAlias = "tuple[Rows, Ids, Ids]"
"""Scores, memories and passages, best first."""


class Run:
    """The first `count` rows (at least one) of a block, as columns. If `live` is None, all rows are live."""

    def __init__(self, block: Block, count: int, live: Mask | None) -> None:
        self.vectors: Rows = block.vectors[:count]
        self.fine_codes: NDArray[np.uint64] = block.fine_codes[:count]
        self.codes: NDArray[np.uint64] = block.codes[:, :count]
        self.factors: NDArray[np.float32] = block.factors[:, :count]
        self.memories: Ids = block.memories[:count]
        self.passages: Ids = block.passages[:count]
        self.scopes: NDArray[np.int32] = block.scopes[:count]
        self.kinds: NDArray[np.uint8] = block.kinds[:count]
        self.live: Mask | None = live
        self.live_rows: Positions | None = None if live is None else np.flatnonzero(live)
        self.lowest_scope: int = int(self.scopes.min())
        self.highest_scope: int = int(self.scopes.max())
        self.kinds_seen: frozenset[int] = frozenset(np.flatnonzero(np.bincount(self.kinds)).tolist())
        is_sorted = (self.memories[1:] >= self.memories[:-1]).all()
        order = None if is_sorted else np.argsort(self.memories, kind="stable")
        by_memory = self.memories if order is None else self.memories[order]
        self.by_memory: tuple[Ids, Positions | None] = by_memory, order
        """The memories in ascending order, and their positions; None if the rows have that order already."""
        # The golden ratio spreads consecutive numbers evenly (Knuth, volume 3, 6.4).
        hashes = self.memories.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(48)
        rows = np.flatnonzero(hashes < LARGEST_SAMPLE * 2**16)
        self.sample: tuple[Positions, NDArray[np.uint16]] = rows, hashes[rows].astype(np.uint16)
        """Positions of a sample of the rows, chosen by a hash of their memory, and those hashes."""

    def rows_of(self, wanted: Ids) -> Positions:
        """Return the live rows of these memories (distinct, ascending), ordered by memory, then position."""
        memories, order = self.by_memory
        first, last = np.searchsorted(wanted, (memories[0], memories[-1] + 1))
        wanted = wanted[first:last]
        starts, stops = np.searchsorted(memories, wanted), np.searchsorted(memories, wanted, "right")
        counts = stops - starts
        # Concatenate the ranges: each position is the start of its range plus its offset in it.
        rows: Positions = np.arange(counts.sum()) + np.repeat(starts - counts.cumsum() + counts, counts)
        rows = rows if order is None else order[rows]
        return rows if self.live is None else rows[self.live[rows]]


@dataclass(frozen=True, slots=True)
class Allowed:
    """The rows that a search may return. A field that is None allows every row."""

    scopes: frozenset[int]
    kinds: frozenset[int] | None = None
    memories: Ids | None = None
    """In ascending order."""
    without: Ids | None = None
    """Excluded memories, in ascending order. Set only if `memories` is None."""

    @classmethod
    def of(
        cls,
        scopes: Collection[int],
        kinds: Collection[Kind] = tuple(Kind),
        memories: Collection[int] | Ids | None = None,
        without: Collection[int] | Ids | None = None,
    ) -> Allowed:
        codes = None if _EVERY_KIND.issubset(kinds) else frozenset(KIND_CODES[kind] for kind in kinds)
        only, excluded = _ascending(memories), _ascending(without)
        if only is not None and excluded is not None:
            only, excluded = np.setdiff1d(only, excluded, assume_unique=True), None
        return cls(frozenset(scopes), codes, only, excluded)


def _ascending(ids: Collection[int] | Ids | None) -> Ids | None:
    if ids is None:
        return None
    return distinct(ids if isinstance(ids, np.ndarray) else np.fromiter(ids, np.int64, len(ids)))


Pick: TypeAlias = tuple[Run, Positions | None]
"""A run and its allowed rows; None for all rows."""


def pick(run: Run, allowed: Allowed) -> Positions | None:
    """Return the allowed rows of a run; None if all are allowed."""
    if allowed.memories is not None:
        return _of_scope_and_kind(run, allowed, np.sort(run.rows_of(allowed.memories)))
    rows = _of_scope_and_kind(run, allowed, run.live_rows)
    if allowed.without is None or not len(excluded := run.rows_of(allowed.without)):
        return rows
    kept = np.ones(len(run.memories), np.bool_)
    kept[excluded] = False
    return np.flatnonzero(kept) if rows is None else rows[kept[rows]]


def _of_scope_and_kind(run: Run, allowed: Allowed, rows: Positions | None) -> Positions | None:
    """Keep rows of an allowed scope and kind. For most runs, the columns need not be read."""
    if run.lowest_scope != run.highest_scope or run.lowest_scope not in allowed.scopes:
        rows = _any_of(run.scopes, allowed.scopes, rows)
    if allowed.kinds is not None and not run.kinds_seen <= allowed.kinds:
        rows = _any_of(run.kinds, allowed.kinds, rows)
    return rows


def _any_of(column: NDArray[Any], wanted: frozenset[int], rows: Positions | None) -> Positions | None:
    column = column if rows is None else column[rows]
    if len(wanted) > 8:  # with fewer values, one comparison for each is faster
        mask = np.isin(column, list(wanted))
    else:
        mask = np.zeros(len(column), np.bool_)
        for number in wanted:
            mask |= column == number
    if mask.all():
        return rows
    return np.flatnonzero(mask) if rows is None else rows[mask]


def best(picks: Sequence[Pick], query: Rows, k: int) -> Best:
    """Compare every picked row in full precision, and return the best `k` memories."""
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
            # From now on, only rows that score at least as high as the last of `k` hits can matter.
            threshold = scores[-1] if len(scores) == k else None
    order = leaders(scores, memories, passages, k)
    return scores[order], memories[order], passages[order]


def found_hits(hits: Best) -> list[Found]:
    scores, memories, passages = hits
    return list(map(Found, memories.tolist(), scores.tolist(), passages.tolist()))


def row_scores(vectors: Rows, rows: Positions | None, query: Rows) -> Rows:
    """Return the dot products of the query with these rows, or with all rows for None."""
    # vecdot sums every row in the same order, so a row's score has the same bits at any position. That is
    # not so with `vectors @ query`.
    if rows is None or len(rows) >= GATHER_BELOW * len(vectors):
        scores: Rows = np.vecdot(vectors, query)
        return scores if rows is None else scores[rows]
    scores = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), _COPY_ROWS):
        part = slice(start, start + _COPY_ROWS)
        np.vecdot(vectors.take(rows[part], axis=0), query, out=scores[part])
    return scores


def leaders(scores: Rows, memories: Ids, passages: Ids, k: int) -> Positions:
    """Return the positions of the best `k` distinct memories, best first."""
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
    """Return the position of each memory's best row, best first."""
    order = np.lexsort((passages, memories, -scores))
    _, first = np.unique(memories[order], return_index=True)
    return order if len(first) == len(order) else order[np.sort(first)]


# Short codes estimate the scores, and only the most promising rows are compared in full precision.

MOST_DEVIATIONS = 2.25
"""A row is skipped if its estimate is this many standard deviations below the `k`th best score."""

WIDEST = 3
"""At most one row in this many is compared in full. If more are needed, all rows are compared."""

_SAMPLE_SIZE = 512
_FIRST_ROWS = 16
"""Rows per wanted hit that are compared first, to find the score that a hit needs."""
_FEWEST_IN_SAMPLE = 4


def shortlisted(picks: Sequence[Pick], count: int, code: QueryCode, query: Rows, k: int) -> Best | None:
    """Return the best `k` memories of these `count` rows (rarely, one is missed). None: compare all rows.

    The answer depends only on the set of rows. Numbers are sorted before they are summed, so that the order
    of rows does not change the last bits. Rows with the same estimate are compared together.
    """
    coarse = _Estimates(picks, [_coarse_estimates(run, rows, code) for run, rows in picks])
    sample = coarse.sample(_SAMPLE_SIZE / count)
    best_first = np.sort(sample.estimates)[::-1]
    first = max(_FEWEST_IN_SAMPLE, round(_FIRST_ROWS * k * len(best_first) / count))
    widest = len(best_first) // WIDEST
    goal = None
    while goal is None:
        if first >= widest:
            return None
        lowest, first = best_first[first], 4 * first
        likely = coarse.above(lowest).finer(code)
        goal = likely.goal(query, k)
    scores = sample.scores(query)
    score, estimate = goal
    cut = score - MOST_DEVIATIONS * _deviation(sample.estimates, scores)
    if cut < best_first[widest]:
        return None
    if cut < lowest:
        likely = coarse.above(cut).finer(code)
        score, estimate = likely.goal(query, k) or goal
    cut = score - MOST_DEVIATIONS * _deviation(sample.finer(code).estimates, scores)
    return likely.above(min(cut, estimate)).best(query, k)


def _deviation(estimates: Rows, scores: Rows) -> np.float32:
    off = np.sort(np.abs(scores - estimates))
    return np.float32(np.sqrt(np.vecdot(off, off) / max(1, len(off))))


@dataclass(frozen=True, slots=True)
class _Estimates:
    """All allowed rows, with estimates of their scores."""

    picks: Sequence[Pick]
    estimates: Sequence[Rows]

    def sample(self, share: float) -> _Rows:
        """Return a sample of the rows, of about this share."""
        hashes_below = round(2**16 * min(LARGEST_SAMPLE, share))
        return self._at([_sample_among(run, rows, hashes_below) for run, rows in self.picks])

    def above(self, lowest: np.float32) -> _Rows:
        return self._at([np.flatnonzero(estimates >= lowest) for estimates in self.estimates])

    def _at(self, chosen: Sequence[Positions]) -> _Rows:
        places = [at if rows is None else rows[at] for (_, rows), at in zip(self.picks, chosen, strict=True)]
        estimates = [each[at] for each, at in zip(self.estimates, chosen, strict=True)]
        return _Rows(
            [run for run, _ in self.picks],
            np.cumsum([0, *map(len, places)]),
            np.concatenate(places),
            np.concatenate(estimates),
        )


@dataclass(frozen=True, slots=True)
class _Rows:
    """Some rows of several runs, in the order of the runs, with estimates of their scores."""

    runs: Sequence[Run]
    bounds: Positions
    """The index of the first row of each run, and the number of rows."""
    places: Positions
    """The position of each row in its run."""
    estimates: Rows

    def above(self, lowest: np.float32) -> _Rows:
        rows = np.flatnonzero(self.estimates >= lowest)
        bounds = np.searchsorted(rows, self.bounds)
        return _Rows(self.runs, bounds, self.places[rows], self.estimates[rows])

    def finer(self, code: QueryCode) -> _Rows:
        parts = self._by_run()
        if not parts:
            return self
        codes = np.concatenate([run.fine_codes.take(at, axis=0) for run, at in parts])
        factors = np.concatenate([run.factors.take(at, axis=1) for run, at in parts], axis=1)
        return replace(self, estimates=code.fine_estimates(codes, factors))

    def scores(self, query: Rows) -> Rows:
        parts = [row_scores(run.vectors, at, query) for run, at in self._by_run()]
        return np.concatenate(parts) if parts else np.empty(0, np.float32)

    def goal(self, query: Rows, k: int) -> tuple[np.float32, np.float32] | None:
        """Return a score that `k` memories reach, and an estimate that their rows reach.

        Both come from the rows with the best estimates. None if these rows belong to fewer than `k` memories.
        """
        enough = 2 * k
        if len(self.places) < enough:
            return None
        estimate: np.float32 = np.partition(self.estimates, -enough)[-enough]
        likeliest = self.above(estimate)
        scores, memories = likeliest.scores(query), likeliest.memories()
        score: np.float32 = np.partition(scores, -k)[-k]
        if len(set(memories[scores >= score].tolist())) < k:
            order = leaders(scores, memories, memories, k)
            if len(order) < k:
                return None
            score = scores[order[-1]]
        return score, estimate

    def memories(self) -> Ids:
        return np.concatenate([run.memories[at] for run, at in self._by_run()])

    def best(self, query: Rows, k: int) -> Best:
        scores, memories = self.scores(query), self.memories()
        passages = np.concatenate([run.passages[at] for run, at in self._by_run()])
        order = leaders(scores, memories, passages, k)
        return scores[order], memories[order], passages[order]

    def _by_run(self) -> list[tuple[Run, Positions]]:
        return [
            (run, self.places[start:stop])
            for run, (start, stop) in zip(self.runs, pairwise(self.bounds.tolist()), strict=True)
            if stop > start
        ]


def _coarse_estimates(run: Run, rows: Positions | None, code: QueryCode) -> Rows:
    if rows is None or len(rows) >= GATHER_BELOW * len(run.memories):
        estimates = code.coarse_estimates(run.codes, run.factors)
        return estimates if rows is None else estimates[rows]
    return code.coarse_estimates(run.codes.take(rows, axis=1), run.factors.take(rows, axis=1))


def _sample_among(run: Run, rows: Positions | None, hashes_below: int) -> Positions:
    """Return where the sample's rows are among these rows."""
    places, hashes = run.sample
    places = places[hashes < hashes_below]
    if rows is None or not len(places):
        return places
    found = np.searchsorted(rows, places)
    found[found == len(rows)] = 0
    at: Positions = found[rows[found] == places]
    return at


# Queries

TWO_STAGES_FROM = 30_000
"""From this many allowed rows, codes are compared first. Fewer can be compared in full in 1 or 2 ms."""

_ROWS_PER_HIT = 300
"""If there are fewer rows for each wanted hit, codes save no time."""


def nearest(
    runs: Sequence[Run], query: Rows, k: int, allowed: Allowed, centre: Rows | None = None
) -> list[Found]:
    """Return the best `k` memories by cosine. Equal ones are ordered by memory, then passage.

    The answer depends only on the set of allowed rows, not on their positions or on other rows.
    """
    picks: list[Pick] = [(run, rows) for run in runs if (rows := pick(run, allowed)) is None or len(rows)]
    count = sum(len(run.memories) if rows is None else len(rows) for run, rows in picks)
    if not count or k < 1:
        return []
    hits: Best | None = None
    if centre is not None and count >= max(TWO_STAGES_FROM, _ROWS_PER_HIT * k):
        hits = shortlisted(picks, count, query_code(query, centre), query, k)
    return found_hits(best(picks, query, k) if hits is None else hits)


def cosines(runs: Sequence[Run], query: Rows, ids: Collection[int]) -> list[Found]:
    """Return the cosine of each memory's best passage, ordered by memory."""
    rows = list(_rows_of(runs, ids))
    if not rows:
        return []
    scores = np.concatenate([row_scores(run.vectors, at, query) for run, at in rows])
    memories = np.concatenate([run.memories[at] for run, at in rows])
    passages = np.concatenate([run.passages[at] for run, at in rows])
    order = leaders(scores, memories, passages, len(scores))
    order = order[np.argsort(memories[order])]
    return found_hits((scores[order], memories[order], passages[order]))


def vector_passages(runs: Sequence[Run], ids: Collection[int]) -> list[tuple[int, int]]:
    """Return pairs of a passage that has a vector and its memory, ordered by passage."""
    pairs = [
        pair
        for run, at in _rows_of(runs, ids)
        for pair in zip(run.passages[at].tolist(), run.memories[at].tolist(), strict=True)
    ]
    return sorted(pairs)


def _rows_of(runs: Sequence[Run], ids: Collection[int]) -> list[tuple[Run, Positions]]:
    wanted = distinct(np.fromiter(ids, np.int64, len(ids)))
    return [(run, at) for run in runs if len(at := run.rows_of(wanted))] if len(wanted) else []
