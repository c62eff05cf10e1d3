"""Logistic models with signs, by hand."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import numpy as np
import pytest

from recollect_bench.logistic import LogisticProblem, fit_logistic

if TYPE_CHECKING:
    from recollect.ranking.candidates import Floats


def linear(table: Floats, true: list[float], floor: list[float]) -> LogisticProblem:
    return LogisticProblem(
        lambda numbers: (table @ numbers, table),
        np.array(true),
        np.ones(len(true)),
        np.array(floor),
        np.zeros(table.shape[1]),
    )


def test_a_constant_becomes_the_odds() -> None:
    # Three of four: ln(3 / 1)
    fitted = fit_logistic(linear(np.ones((4, 1)), [1, 1, 1, 0], [-np.inf]))
    assert fitted.tolist() == pytest.approx([log(3)], abs=1e-4)


def test_a_signal_becomes_the_ratio_of_odds() -> None:
    # With it two of three, odds 2; without it one of three, odds 1/2: the constant is -ln 2, the signal ln 4.
    table = np.array([[1.0, 1.0]] * 3 + [[0.0, 1.0]] * 3)
    fitted = fit_logistic(linear(table, [1, 1, 0, 1, 0, 0], [0.0, -np.inf]))
    assert fitted.tolist() == pytest.approx([log(4), -log(2)], abs=1e-4)


def test_a_signal_that_speaks_against_itself_gets_no_weight() -> None:
    table = np.array([[1.0, 1.0]] * 3 + [[0.0, 1.0]] * 3)
    fitted = fit_logistic(linear(table, [0, 0, 1, 1, 1, 0], [0.0, -np.inf]))
    # Half of all are true: the constant is 0.
    assert fitted.tolist() == pytest.approx([0.0, 0.0], abs=1e-4)
