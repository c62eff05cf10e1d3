"""Which rows to compare in full: as many as their codes leave in doubt, and no more.

Coarse codes give every row an estimate of its score; fine codes give those with a good one a better estimate;
those with a good one again are compared in full. How far scores stray from estimates, and how close the best
stand together, differs from query to query. So a sample of the rows, compared in full, shows how far they
stray; and the best of the first few rows show which score is needed to be among the best `k`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recollect.stores.vectors.scan import LARGEST_SAMPLE, leaders, row_scores, scans_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.stores.vectors.codes import QueryCode
    from recollect.stores.vectors.scan import Best, Ids, Pick, Positions, Run
    from recollect.vectors import Rows

STRAYS = 2.25
"""Deviations of estimates from scores: a row whose estimate is further below the `k`th score is left out."""

WIDEST = 3
"""At most one row in so many is looked at again. Where more must be, all are compared in full."""

_SAMPLE = 512
_FIRST = 16
"""For each of the best `k`, so many rows are looked at before the score that is needed is known."""
_FEWEST_IN_SAMPLE = 4


def shortlisted(picks: Sequence[Pick], count: int, code: QueryCode, query: Rows, k: int) -> Best | None:
    """The best `k` memories among these `count` rows, nearly always. None: only comparing all rows can tell.

    The answer depends on the set of rows alone. Sums are taken over sorted numbers, so that no order of rows
    moves their last bits; and what ties with a row that is looked at, is looked at too.
    """
    coarse = _Estimated.of(picks, code)
    sample = coarse.sample(_SAMPLE / count)
    best_first = np.sort(sample.estimates)[::-1]
    first = max(_FEWEST_IN_SAMPLE, round(_FIRST * k * len(best_first) / count))
    widest = len(best_first) // WIDEST
    goal = None
    while goal is None:
        if first >= widest:
            return None
        lowest, first = best_first[first], 4 * first
        likely = coarse.above(lowest).finer(code)
        goal = likely.goal(query, k)
    scores = sample.scores(query)
    cut = goal.score - STRAYS * _deviation(sample.estimates, scores)
    if cut < best_first[widest]:
        return None
    if cut < lowest:
        likely = coarse.above(cut).finer(code)
        goal = likely.goal(query, k) or goal
    cut = goal.score - STRAYS * _deviation(sample.finer(code).estimates, scores)
    return likely.above(min(cut, goal.estimate)).best(query, k)


class _Goal(NamedTuple):
    """A score that the best `k` memories have at least, and an estimate that `k` such memories have."""

    score: np.float32
    estimate: np.float32


def _deviation(estimates: Rows, scores: Rows) -> np.float32:
    off = np.sort(np.abs(scores - estimates))
    return np.float32(np.sqrt(np.vecdot(off, off) / max(1, len(off))))


@dataclass(frozen=True, slots=True)
class _Estimated:
    """The estimates of all allowed rows."""

    picks: Sequence[Pick]
    estimates: Sequence[Rows]

    @classmethod
    def of(cls, picks: Sequence[Pick], code: QueryCode) -> _Estimated:
        return cls(picks, [_coarse_estimates(run, rows, code) for run, rows in picks])

    def sample(self, share: float) -> _Rows:
        """About this share of the rows."""
        hashes_below = round(2**16 * min(LARGEST_SAMPLE, share))
        return self._at([_sampled(run, rows, hashes_below) for run, rows in self.picks])

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
    """Rows of several runs, in their order, with estimates of their scores."""

    runs: Sequence[Run]
    bounds: Positions
    """Where the rows of each run begin, and the end."""
    places: Positions
    """In their run."""
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

    def goal(self, query: Rows, k: int) -> _Goal | None:
        """From the rows with the best estimates. None: they are of too few memories."""
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
        return _Goal(score, estimate)

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
    if rows is None:
        return code.coarse_estimates(run.codes, run.factors)
    if scans_all(run, rows):
        return code.coarse_estimates(run.codes, run.factors)[rows]
    return code.coarse_estimates(run.codes.take(rows, axis=1), run.factors.take(rows, axis=1))


def _sampled(run: Run, rows: Positions | None, hashes_below: int) -> Positions:
    """Where rows of the sample are among these."""
    places, hashes = run.sample
    places = places[hashes < hashes_below]
    if rows is None or not len(places):
        return places
    found = np.searchsorted(rows, places)
    found[found == len(rows)] = 0
    at: Positions = found[rows[found] == places]
    return at
