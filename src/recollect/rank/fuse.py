"""Joining ranked lists into one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RRF_K = 60
"""Smoothing of reciprocal rank fusion (Cormack, Clarke & Büttcher, SIGIR 2009)."""


def reciprocal_ranks(rankings: Iterable[Sequence[int]], k: int = RRF_K) -> list[tuple[int, float]]:
    """Ids with `sum of 1 / (k + rank)` over the lists that hold them, best first, ties by id."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, id_ in enumerate(ranking, start=1):
            scores[id_] = scores.get(id_, 0.0) + 1 / (k + rank)
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
