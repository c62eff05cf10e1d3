"""Measures of a ranking, given what proved good: NDCG@K, Lift@K and gain.

    DCG@K  = sum over the first K places p of gain(memory at p) / log2(1 + p)
    NDCG@K = (DCG@K - worst) / (ideal - worst)
    Lift@K = share of what is relevant in the first K / its share among all candidates
    gain   = NDCG@K of the new numbers - NDCG@K of the present ones

`ideal` is the DCG@K of the best order: all that proved good first, nothing that was called wrong. `worst` is
the DCG@K of the opposite, and 0 where nothing was called wrong, so that this is the NDCG that everyone knows
(Järvelin & Kekäläinen, TOIS 2002) wherever that one is defined.
"""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recollect.factors.candidates import Floats, Ints


def lift(found: Floats, shown: Floats, relevant: Floats, among: Floats) -> Floats:
    """By answer: 1 is as good as chance, 0 is nothing found; 0 too where nothing is relevant or was ranked.

    `found` are the relevant ones among those `shown` in the first K; `relevant` all that are among the
    candidates, and `among` how many candidates there were.
    """
    counted = (relevant > 0) & (shown > 0)
    share = found / np.where(counted, shown, 1.0)
    return np.where(counted, share / np.where(counted, relevant / np.maximum(among, 1.0), 1.0), 0.0)


def discounts(places: Ints, k: int) -> Floats:
    """1 / log2(1 + place), and 0 beyond the first K and at place 0, which is nowhere."""
    counted = (places >= 1) & (places <= k)
    return np.where(counted, 1.0 / np.log2(1.0 + np.maximum(places, 1)), 0.0)


def bounds(gains: Iterable[float], k: int) -> tuple[float, float]:
    """The DCG@K of the worst order and of the best."""
    known = list(gains)
    good = sorted((number for number in known if number > 0), reverse=True)
    wrong = sorted(number for number in known if number < 0)
    return _dcg(wrong, k), _dcg(good, k)


def _dcg(gains: Sequence[float], k: int) -> float:
    return sum(number / log2(1 + place) for place, number in enumerate(gains[:k], start=1))
