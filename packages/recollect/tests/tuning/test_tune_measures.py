"""NDCG@K, Lift@K and gain, against numbers worked by hand."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated import User

from recollect.domain.numbers import lift
from recollect.ranking.profiles import LIMBIC
from recollect.tuning.judging import JudgedEvents, dcg_scale, mean_ndcg

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

IDS = list(range(1, 9))
gain_maps = st.dictionaries(st.sampled_from(IDS), st.floats(-5, 5).filter(bool), max_size=5)


_CHANCE = np.random.default_rng(0)
_USER = User()
(ANY,) = _USER.log(_USER.questions(1, _CHANCE), 1, LIMBIC, _CHANCE)
"""The measures read an answer's feedback alone."""


def ndcg_at(ranked: Sequence[int], gains: Mapping[int, float], k: int) -> float:
    """Of one answer whose feedback was all given at the first place, where it counts for what it says."""
    none, count = np.zeros(len(gains), np.int64), len(gains)
    grades = np.array(list(gains.values()), np.float64)
    data = JudgedEvents(
        (ANY,), none, np.array(list(gains), np.int64), grades, none + 1, np.zeros(count, np.bool_)
    )
    places = np.array([[*ranked].index(id_) + 1 if id_ in ranked else 0 for id_ in gains], np.int64)
    return mean_ndcg(data, dcg_scale(data, 0.5, k), places, k)


def lift_of(found: float, shown: float, relevant: float, among: float) -> float:
    columns = (np.array([number], np.float64) for number in (found, shown, relevant, among))
    return float(lift(*columns)[0])


def test_ndcg_of_a_worked_ranking() -> None:
    # 7 (gain 1) is at place 1, 9 (gain 2) at place 3:
    #   DCG   = 1/log2(2) + 2/log2(4) = 1 + 1 = 2
    #   ideal = 2/log2(2) + 1/log2(3) = 2 + 0.63093 = 2.63093
    assert ndcg_at([7, 8, 9], {7: 1.0, 9: 2.0}, 10) == pytest.approx(2 / (2 + 1 / log2(3)))
    assert 2 / (2 + 1 / log2(3)) == pytest.approx(0.76019, abs=1e-5)


def test_only_the_first_k_count() -> None:
    # 9 is at place 3, beyond the first two; ideal@2 = 1.
    assert ndcg_at([7, 8, 9], {9: 1.0}, 2) == 0.0
    # ideal@1 holds one memory alone, so a perfect first place is a perfect ranking.
    assert ndcg_at([7, 8], {7: 1.0, 8: 1.0}, 1) == 1.0


def test_what_was_called_wrong_is_best_left_out() -> None:
    # 5 was called wrong (gain -1) and 6 is good (gain 1).
    #   worst = -1/log2(2) = -1, ideal = 1/log2(2) = 1
    #   5 first: DCG = -1 + 1/log2(3) = -0.36907, so (-0.36907 + 1) / 2 = 0.31546
    assert ndcg_at([5, 6], {5: -1.0, 6: 1.0}, 10) == pytest.approx(1 / log2(3) / 2)
    #   6 first: DCG = 1 - 1/log2(3) = 0.36907, so 1.36907 / 2 = 0.68454
    assert ndcg_at([6, 5], {5: -1.0, 6: 1.0}, 10) == pytest.approx((2 - 1 / log2(3)) / 2)
    assert ndcg_at([6, 7], {5: -1.0, 6: 1.0}, 10) == 1.0


def test_without_feedback_there_is_nothing_to_measure() -> None:
    assert ndcg_at([1, 2], {}, 10) == 0.0
    assert lift_of(0, 10, 0, 30) == 0.0
    assert lift_of(0, 0, 1, 30) == 0.0


def test_lift_of_a_worked_ranking() -> None:
    # 2 of the first 5 are relevant, and 3 of all 30 are: (2/5) / (3/30) = 4.
    assert lift_of(2, 5, 3, 30) == pytest.approx(4.0)
    # Fewer than K were ranked: 1 of 2 is relevant, 1 of 10 is, so (1/2) / (1/10) = 5.
    assert lift_of(1, 2, 1, 10) == pytest.approx(5.0)


def test_a_ranking_of_everything_has_no_lift() -> None:
    assert lift_of(2, 4, 2, 4) == pytest.approx(1.0)


def test_gain_of_a_worked_pair() -> None:
    # 9 rises from place 3 to place 1: 1 - 1/log2(4) = 0.5.
    assert ndcg_at([9, 7, 8], {9: 1.0}, 10) - ndcg_at([7, 8, 9], {9: 1.0}, 10) == pytest.approx(0.5)


@given(st.permutations(IDS), gain_maps, st.integers(1, 10))
def test_ndcg_lies_between_0_and_1(ranked: list[int], gains: dict[int, float], k: int) -> None:
    assert -1e-9 <= ndcg_at(ranked, gains, k) <= 1 + 1e-9


@given(st.permutations(IDS), gain_maps.filter(bool))
def test_the_best_order_is_perfect_and_raising_a_good_one_never_hurts(
    ranked: list[int], gains: dict[int, float]
) -> None:
    best = sorted((id_ for id_ in gains if gains[id_] > 0), key=lambda id_: -gains[id_])
    assert ndcg_at(best, gains, 10) == pytest.approx(1.0)
    for id_ in best:
        raised = [id_, *(other for other in ranked if other != id_)]
        if not any(gains.get(other, 0) > 0 for other in ranked[: ranked.index(id_)]):
            assert ndcg_at(raised, gains, 10) >= ndcg_at(ranked, gains, 10) - 1e-9
