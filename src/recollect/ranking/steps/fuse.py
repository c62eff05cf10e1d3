"""Joining what the searches found into one score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from recollect.lazy_dataclass import dataclass
from recollect.ranking.candidates import Candidates, Floats, Source, known_or_zero, rescaled

if TYPE_CHECKING:
    from recollect.query import Query

RRF_K = 60
"""Smoothing of reciprocal rank fusion (Cormack, Clarke & Büttcher, SIGIR 2009)."""


def reciprocal_ranks(rankings: Iterable[Sequence[int]], k: float = RRF_K) -> list[tuple[int, float]]:
    """Ids with `sum of 1 / (k + rank)` over the lists that hold them, best first, ties by id."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, id_ in enumerate(ranking, start=1):
            scores[id_] = scores.get(id_, 0.0) + 1 / (k + rank)
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


@dataclass(frozen=True, slots=True)
class Rrf:
    """Add 1 / (k + rank) for each search that found the candidate."""

    k: float = RRF_K

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        for name in ("meaning", "words"):
            shares = _by_rank(candidates.source(name), 1.0, self.k)
            candidates = candidates.with_change(f"rrf: {name}", "plus", shares)
        return candidates


@dataclass(frozen=True, slots=True)
class WeightedRrf:
    """Add weight * (k + 1) / (k + rank) for each search that found the candidate (Cognis)."""

    vector_weight: float = 0.70
    bm25_weight: float = 0.30
    rrf_k: float = 10.0

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        for name, weight in (("meaning", self.vector_weight), ("words", self.bm25_weight)):
            shares = _by_rank(candidates.source(name), weight * (self.rrf_k + 1), self.rrf_k)
            candidates = candidates.with_change(f"weighted rrf: {name}", "plus", shares)
        return candidates


@dataclass(frozen=True, slots=True)
class Linear:
    """Add weight * cosine (0 where negative or unknown) and weight * BM25 / the best BM25."""

    meaning: float = 0.5
    words: float = 0.3

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        cosine, words = positive_cosine(candidates), words_share(candidates)
        candidates = candidates.with_change("linear: meaning", "plus", self.meaning * cosine)
        return candidates.with_change("linear: words", "plus", self.words * words)


@dataclass(frozen=True, slots=True)
class Blend:
    """Add weight * cosine, stretched to [0, 1] over the candidates, and weight * BM25 / the best BM25.

    Stretching makes up for a model's own crowding: two texts that have nothing to do with one another may
    have a cosine of 0.7.
    """

    meaning: float = 0.6
    words: float = 0.4

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        meaning = stretched_cosine(candidates)
        words = words_share(candidates)
        candidates = candidates.with_change("blend: meaning", "plus", self.meaning * meaning)
        return candidates.with_change("blend: words", "plus", self.words * words)


def positive_cosine(candidates: Candidates) -> Floats:
    """max(0, cosine); 0 where meaning did not find the candidate."""
    return np.maximum(0.0, known_or_zero(candidates.source("meaning").score))


def words_share(candidates: Candidates, source: str = "words") -> Floats:
    """BM25 over the best BM25 of the candidates: in [0, 1]."""
    scores = known_or_zero(candidates.source(source).score)
    best = candidates.highest(scores, at_least=0.0)
    return np.where(np.greater(best, 0), scores / np.where(np.greater(best, 0), best, 1.0), 0.0)


def stretched_cosine(candidates: Candidates) -> Floats:
    """From 0 for the lowest known cosine to 1 for the highest; 0 where unknown, 1 where all are equal."""
    cosine = candidates.source("meaning").score
    known = ~np.isnan(cosine)
    low = candidates.lowest(np.where(known, cosine, np.inf))
    high = candidates.highest(np.where(known, cosine, -np.inf))
    return np.where(known, rescaled(cosine, low, high), 0.0)


def _by_rank(source: Source, weight: float, k: float) -> Floats:
    # Rank 0 stands for "not found": it is not divided by, whatever k is.
    return np.where(source.found, weight / (k + np.maximum(source.rank, 1)), 0.0)
