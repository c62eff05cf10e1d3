"""Whether a gain is more than chance: an interval, and how often chance alone would give as much.

What is drawn are questions, not answers: the answers to one question are not independent of one another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.factors.candidates import Floats

LEVEL = 0.025
"""One-sided: the least that a 95 % interval leaves below itself."""
_DRAWS = 4_000
_AT_ONCE = 1 << 20
"""Numbers drawn at a time, to bound the memory."""


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
        return self.low > 0 and self.p <= LEVEL


def gain_of(differences: Floats, spans: Floats, questions: Sequence[str], seed: int) -> Gain:
    """From each event's difference in DCG and what it counts for. The same seed gives the same numbers."""
    _, which = np.unique(np.array(questions, object).astype(str), return_inverse=True)
    rises: Floats = np.bincount(which, differences).astype(np.float64)
    counts: Floats = np.bincount(which, spans).astype(np.float64)
    if not rises.any():
        return Gain(0.0, 0.0, 0.0, 1.0)
    chance = np.random.default_rng(seed)
    total = counts.sum()
    drawn = np.concatenate([_resampled(rises, counts, size, chance) for size in _sizes(len(rises))])
    moved = rises[rises != 0]
    flipped = np.concatenate([_flipped(moved, size, chance) for size in _sizes(len(moved))])
    # The order as it is counts as one of the draws; rounding must not make it greater than itself.
    as_great = int((flipped >= moved.sum() - 1e-9 * np.abs(moved).sum()).sum())
    low, high = np.quantile(drawn, [LEVEL, 1 - LEVEL])
    return Gain(float(rises.sum() / total), float(low), float(high), (1 + as_great) / (1 + len(flipped)))


def _resampled(rises: Floats, counts: Floats, size: int, chance: np.random.Generator) -> Floats:
    picked = chance.integers(0, len(rises), (size, len(rises)))
    means: Floats = rises[picked].sum(1) / counts[picked].sum(1)
    return means


def _flipped(rises: Floats, size: int, chance: np.random.Generator) -> Floats:
    sums: Floats = (2.0 * chance.integers(0, 2, (size, len(rises))) - 1.0) @ rises
    return sums


def _sizes(width: int) -> list[int]:
    """How many draws to make at a time."""
    most = max(1, _AT_ONCE // width)
    return [min(most, _DRAWS - start) for start in range(0, _DRAWS, most)]
