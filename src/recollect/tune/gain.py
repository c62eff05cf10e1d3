"""Whether a gain is more than chance: an interval, and how often chance alone would give as much.

What is drawn are questions, not answers: the answers to one question are not independent of one another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recollect.statistics import TAIL, bootstrap_interval, sign_flip_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.factors.candidates import Floats

_DRAWS = 4_000


@dataclass(frozen=True, slots=True)
class Gain:
    """NDCG@10 of some numbers less that of the present ones."""

    mean: float
    low: float
    """95 % interval, by bootstrap over questions."""
    high: float
    p: float
    """Chance of a gain at least as great if there were none: one-sided, by flipping signs of questions."""

    @property
    def significant(self) -> bool:
        return self.low > 0 and self.p <= TAIL


def gain_of(differences: Floats, spans: Floats, questions: Sequence[str], seed: int) -> Gain:
    """From each event's difference in DCG and what it counts for. The same seed gives the same numbers."""
    _, which = np.unique(np.array(questions, object).astype(str), return_inverse=True)
    rises = np.bincount(which, differences).astype(np.float64)
    counts = np.bincount(which, spans).astype(np.float64)
    if not rises.any():
        return Gain(0.0, 0.0, 0.0, 1.0)
    chance = np.random.default_rng(seed)
    interval = bootstrap_interval(rises, chance, _DRAWS, counts)
    p = sign_flip_test(rises, chance, _DRAWS)
    return Gain(interval.mean, interval.low, interval.high, p)
