"""How good a ranked list is against what is relevant, and how sure a difference is.

    python benchmarks/quality/measures.py --check

`fraction`, `any_of` and `all_of` are three meanings of "recall at k" that differ by ten points on the same
run, so all three are published. Lists hold no id twice.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
RESAMPLES = 10_000
_AT_A_TIME = 500


def fraction(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """The share of the relevant that stands among the first k."""
    return len(set(ranked[:k]) & set(relevant)) / len(relevant)


def any_of(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """1 where at least one of the relevant stands among the first k."""
    return float(not set(ranked[:k]).isdisjoint(relevant))


def all_of(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """1 where every one of the relevant stands among the first k."""
    return float(set(relevant) <= set(ranked[:k]))


def ndcg(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Gains of 1, discounted by log2(place + 1), over the best that k places allow."""
    gained = sum(1 / math.log2(place + 1) for place, id_ in enumerate(ranked[:k], 1) if id_ in relevant)
    best = sum(1 / math.log2(place + 1) for place in range(1, min(len(relevant), k) + 1))
    return gained / best


def reciprocal_rank(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """1 over the place of the first relevant one; 0 where none is among the first k."""
    return next((1 / place for place, id_ in enumerate(ranked[:k], 1) if id_ in relevant), 0.0)


def intervals(
    ours: Sequence[float],
    others: Mapping[str, Sequence[float]],
    seed: int,
    resamples: int = RESAMPLES,
) -> dict[str, tuple[float, float, float]]:
    """By name of the other: the mean of ours minus theirs, and where 95 % of resampled means lie.

    Paired: each resample draws questions with replacement, the same ones for all that are compared.
    """
    chance = np.random.default_rng(seed)
    differences = {name: np.asarray(ours) - np.asarray(other) for name, other in others.items()}
    count = len(ours)
    means: dict[str, list[Floats]] = {name: [] for name in others}
    for start in range(0, resamples, _AT_A_TIME):
        drawn = chance.integers(0, count, (min(_AT_A_TIME, resamples - start), count))
        for name, difference in differences.items():
            means[name].append(difference[drawn].mean(axis=1))
    answer = {}
    for name, difference in differences.items():
        low, high = np.quantile(np.concatenate(means[name]), (0.025, 0.975))
        answer[name] = float(difference.mean()), float(low), float(high)
    return answer


def check() -> None:
    """Worked by hand: relevant are b and d; the list puts b second, and d fourth."""
    ranked, relevant = ("a", "b", "c", "d", "e"), {"b", "d"}
    # Among the first three stands one of two.
    assert [f(ranked, relevant, 3) for f in (fraction, any_of, all_of)] == [0.5, 1.0, 0.0]
    assert [f(ranked, relevant, 5) for f in (fraction, any_of, all_of)] == [1.0, 1.0, 1.0]
    assert [f(ranked, relevant, 1) for f in (fraction, any_of, all_of)] == [0.0, 0.0, 0.0]
    assert fraction((), relevant, 5) == 0.0
    # (1/log2(3) + 1/log2(5)) / (1/log2(2) + 1/log2(3)) = (0.63093 + 0.43068) / 1.63093 = 0.65092
    assert math.isclose(ndcg(ranked, relevant, 10), 0.65092, abs_tol=1e-5)
    # One place: the best is 1/log2(2), and it holds nothing relevant.
    assert ndcg(ranked, relevant, 1) == 0.0
    assert ndcg(("b", "d"), relevant, 10) == 1.0
    # Three relevant, two places, both good: as good as two places allow.
    assert ndcg(("b", "d"), {"b", "d", "z"}, 2) == 1.0
    assert [reciprocal_rank(ranked, relevant, k) for k in (1, 2, 5)] == [0.0, 0.5, 0.5]
    # Ours is better by 0.5 on each question: every resample has the same mean.
    assert intervals((1.0, 0.5, 0.75), {"x": (0.5, 0.0, 0.25)}, seed=1)["x"] == (0.5, 0.5, 0.5)
    # One of four questions differs by 1, so the mean is 1/4. (3/4)^4 = 32 % of resamples miss it, so the low
    # end is 0; 5.1 % draw it three times or more, and 0.4 % four times, so the high end is 3/4.
    assert intervals((1, 0, 0, 0), {"x": (0, 0, 0, 0)}, seed=1)["x"] == (0.25, 0.0, 0.75)
    print("The measures agree with what was worked by hand.")


if __name__ == "__main__":
    if sys.argv[1:] != ["--check"]:
        sys.exit("There is one thing to run here: python benchmarks/quality/measures.py --check")
    check()
