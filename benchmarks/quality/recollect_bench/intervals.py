"""How sure a difference is: paired bootstrap over the questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
SEED = 20_260_301
_AT_A_TIME = 500


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean difference, and where 95 % of the resampled means lie."""

    mean: float
    low: float
    high: float

    @property
    def is_sure(self) -> bool:
        """Zero is not within."""
        return self.low > 0 or self.high < 0


def intervals(
    one: Sequence[float],
    others: Mapping[str, Sequence[float]],
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> dict[str, Interval]:
    """By name of the other: `one` minus the other.

    Paired: each resample draws questions with replacement, the same ones for all that are compared.
    """
    chance = np.random.default_rng(seed)
    differences = {name: np.asarray(one) - np.asarray(other) for name, other in others.items()}
    count = len(one)
    means: dict[str, list[NDArray[np.float64]]] = {name: [] for name in others}
    for start in range(0, resamples, _AT_A_TIME):
        drawn = chance.integers(0, count, (min(_AT_A_TIME, resamples - start), count))
        for name, difference in differences.items():
            means[name].append(difference[drawn].mean(axis=1))
    return {
        name: Interval(float(difference.mean()), *_bounds(means[name]))
        for name, difference in differences.items()
    }


def negative(interval: Interval) -> Interval:
    """The other way round."""
    # Taken from 0, so that there is no negative zero.
    return Interval(0.0 - interval.mean, 0.0 - interval.high, 0.0 - interval.low)


def _bounds(means: Sequence[NDArray[np.float64]]) -> tuple[float, float]:
    low, high = np.quantile(np.concatenate(means), (0.025, 0.975))
    return float(low), float(high)
