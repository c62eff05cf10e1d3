"""Logistic models with bounded weights, fitted without randomness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recollect.ranking.candidates import Floats

_ROUNDS = 200
_HALVINGS = 30
_ENOUGH = 1e-10


@dataclass(frozen=True, slots=True)
class LogisticProblem:
    """A logistic regression: margins as a function of the coefficients, labels and weights."""

    margins: Callable[[Floats], tuple[Floats, Floats]]
    """Return the margin of each example, and its gradient by the coefficients."""
    true: Floats
    weight: Floats
    floor: Floats
    """Minimum of each coefficient."""
    penalty: Floats
    """Factor of each coefficient's square."""

    def loss(self, numbers: Floats) -> float:
        margin, _ = self.margins(numbers)
        return float(
            (self.weight * (np.logaddexp(0, margin) - self.true * margin)).sum()
            + (self.penalty * numbers**2).sum()
        )


def fit_logistic(problem: LogisticProblem) -> Floats:
    """Fit by projected Newton steps from 0 (Bertsekas 1982), each halved until the loss falls."""
    numbers = np.maximum(np.zeros(len(problem.floor)), problem.floor)
    loss = problem.loss(numbers)
    for _ in range(_ROUNDS):
        margin, slope = problem.margins(numbers)
        chance = 1 / (1 + np.exp(-margin))
        gradient = slope.T @ (problem.weight * (chance - problem.true)) + 2 * problem.penalty * numbers
        free = ~((numbers <= problem.floor) & (gradient > 0))
        curvature = (slope * (problem.weight * chance * (1 - chance))[:, None]).T @ slope
        curvature += np.diag(2 * problem.penalty + 1e-9)
        step = np.zeros_like(numbers)
        step[free] = np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
        for halving in range(_HALVINGS):
            tried = np.maximum(numbers - step / 2**halving, problem.floor)
            new = problem.loss(tried)
            if new < loss:
                break
        else:
            return numbers
        numbers, gain, loss = tried, loss - new, new
        if gain < _ENOUGH:
            break
    return numbers
