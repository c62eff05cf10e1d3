"""Reverie: rank fusion with time decay, and four traces of dreams that are neutral before the first."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import DAYS, Row, column, moment, row_lists, scores

from recollect.ranking.factors import DepthWeight, ReverieRecency, Spread, Stability, Strength
from recollect.ranking.profiles import REVERIE
from recollect.ranking.steps import Cut, Order, Rrf, Times

PLAIN = (Rrf(k=30), Times(ReverieRecency()), Order(), Cut())
LIFE = (Strength, DepthWeight, Spread, Stability)


def test_ranks_are_fused_with_a_k_of_30() -> None:
    # old, so that time adds nothing: 1: 1/31 + 1/32     2: 1/32     3: 1/31
    old = 99_999 * DAYS
    rows = [Row(1, 0.9, 3.0, updated=old), Row(2, 0.8, updated=old), Row(3, bm25=9.0, updated=old)]
    assert scores(REVERIE.steps, rows) == pytest.approx({1: 1 / 31 + 1 / 32, 3: 1 / 31, 2: 1 / 32})


def test_each_search_is_asked_for_a_hundred() -> None:
    assert [retriever.take(limit) for retriever in REVERIE.retrieve for limit in (1, 10, 100)] == [100] * 6
    assert [retriever.take(250) for retriever in REVERIE.retrieve] == [250, 250]


@pytest.mark.parametrize(
    ("ago", "factor"),
    [
        (0, 1.3),  # 1 + 0.3 * 1
        (30, 1.1104),  # 1 + 0.3 / e
        (90, 1.0149),  # 1 + 0.3 * exp(-3)
        (99_999, 1.0),  # no penalty
        (-5, 1.3),  # a time ahead is of age 0
    ],
)
def test_what_is_new_counts_for_up_to_three_tenths_more(ago: int, factor: float) -> None:
    assert column(ReverieRecency(), [Row(1, updated=ago * DAYS)]) == pytest.approx([factor], abs=5e-5)


def test_age_is_from_the_last_update() -> None:
    rows = [Row(1, created=900 * DAYS, updated=30 * DAYS, seen=DAYS), Row(2, updated=None)]
    assert column(ReverieRecency(), rows) == pytest.approx([1 + 0.3 / math.e, 1])


def test_strength_is_taken_as_it_is() -> None:
    assert column(Strength(), [Row(1), Row(2, strength=0.25), Row(3, strength=0.0)]) == [1, 0.25, 0]


def test_depth_weighs_0_8_or_1_or_1_2() -> None:
    assert column(DepthWeight(), [Row(depth, depth=depth) for depth in (1, 2, 3)]) == [0.8, 1.0, 1.2]


@pytest.mark.parametrize(
    ("spread", "factor"),
    [
        (1, 1.0),  # ln 2 / ln 2: 0.69 normalised to 1
        (3, 2.0),  # ln 4 / ln 2
        (7, 3.0),  # ln 8 / ln 2
        (10, 3.4594),  # ln 11 / ln 2
    ],
)
def test_spread_is_a_logarithm_that_starts_at_1(spread: int, factor: float) -> None:
    assert column(Spread(), [Row(1, spread=spread)]) == pytest.approx([factor], abs=5e-5)


def test_all_factors_multiply() -> None:
    # fused 1/31, new 1.3, strength 0.5, depth 1.2, spread ln 4 / ln 2 = 2, stability 1 + (2^0.2 - 1) * 1
    row = Row(1, 0.9, strength=0.5, depth=3, spread=3, stability=2.0, seen=0 * DAYS)
    assert scores(REVERIE.steps, [row])[1] == pytest.approx(1 / 31 * 1.3 * 0.5 * 1.2 * 2 * 2**0.2)


@given(row_lists())
def test_before_the_first_dream_it_is_rank_fusion_with_time_decay_to_the_last_bit(rows: list[Row]) -> None:
    fresh = [replace(row, strength=1.0, depth=2, spread=1, stability=1.0) for row in rows]
    when = moment(fresh, limit=1_000)
    assert list(scores(REVERIE.steps, fresh, when).items()) == list(scores(PLAIN, fresh, when).items())


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 100, 1_000])
def test_neutral_is_exactly_1_however_many_candidates_there_are(count: int) -> None:
    rows = [Row(id_, seen=id_ * DAYS / 7) for id_ in range(1, count + 1)]
    for factor in (Strength(), DepthWeight(), Spread(), Stability()):
        assert set(column(factor, rows)) == {1.0}


@given(row_lists())
def test_each_trace_has_a_switch_of_its_own(rows: list[Row]) -> None:
    """With three off, the fourth is the only difference from plain fusion."""
    for kind in LIFE:
        steps = tuple(
            replace(step, on=isinstance(step.factor, kind | ReverieRecency))
            if isinstance(step, Times)
            else step
            for step in REVERIE.steps
        )
        alone = (Rrf(k=30), Times(ReverieRecency()), Times(kind()), Order(), Cut())
        assert scores(steps, rows) == scores(alone, rows)


# Stability: R = 1 / (1 + t / (9 S)) and g = S^0.2 within [0.5, 2];
# from S = 1 up it is 1 + (g - 1) R, below 1 - (1 - g) (1 - R).


@pytest.mark.parametrize(
    ("stability", "days", "factor"),
    [
        (1.0, 0, 1.0),
        (1.0, 1_000, 1.0),
        (32.0, 0, 2.0),  # 32^0.2 = 2, R = 1
        (32.0, 288, 1.5),  # 9 * 32 = 288 days: R = 1/2, 1 + 1 * 1/2
        (4.0, 36, 1.1598),  # 4^0.2 = 1.3195, R = 1/2: 1 + 0.3195 / 2
        (1_000.0, 0, 2.0),  # 1000^0.2 = 3.98, held at 2
        (1 / 32, 0, 1.0),  # g = 1/2, R = 1: nothing lost yet
        (1 / 32, 9 / 32, 0.75),  # R = 1/2: 1 - 1/2 * 1/2
        (1 / 32, 1e5, 0.5),  # R = 0: 1 - 1/2
        (0.0001, 1e5, 0.5),  # 0.0001^0.2 = 0.158, held at 0.5
    ],
)
def test_stability_by_hand(stability: float, days: float, factor: float) -> None:
    rows = [Row(1, stability=stability, seen=days * DAYS)]
    assert column(Stability(), rows) == pytest.approx([factor], abs=1e-4)


STABILITIES = st.floats(1e-6, 1e6)
AGES = st.floats(0, 30_000)


@given(AGES)
def test_a_stability_of_1_is_neutral_at_every_age(days: float) -> None:
    assert column(Stability(), [Row(1, stability=1.0, seen=days * DAYS)]) == [1.0]


@given(STABILITIES, AGES, AGES)
def test_stability_never_rises_with_age(stability: float, some: float, more: float) -> None:
    young, old = sorted((some, more))
    rows = [Row(1, stability=stability, seen=young * DAYS), Row(2, stability=stability, seen=old * DAYS)]
    first, second = column(Stability(), rows)
    assert first >= second


@given(STABILITIES, AGES)
def test_stability_stays_within_one_half_and_2_on_its_side_of_1(stability: float, days: float) -> None:
    (factor,) = column(Stability(), [Row(1, stability=stability, seen=days * DAYS)])
    assert 0.5 <= factor <= 2
    assert factor >= 1 if stability >= 1 else factor <= 1


@given(STABILITIES, STABILITIES, AGES)
def test_of_two_as_old_the_more_stable_is_worth_as_much_or_more(
    one: float, other: float, days: float
) -> None:
    low, high = sorted((one, other))
    rows = [Row(1, stability=low, seen=days * DAYS), Row(2, stability=high, seen=days * DAYS)]
    less, more = column(Stability(), rows)
    assert less <= more or np.isclose(less, more, rtol=1e-15)


def test_stability_counts_from_the_last_access_else_from_creation() -> None:
    rows = [
        Row(1, stability=32.0, created=900 * DAYS, seen=288 * DAYS),
        Row(2, stability=32.0, created=288 * DAYS),
        Row(3, stability=32.0, created=-5 * DAYS),
    ]
    assert column(Stability(), rows) == pytest.approx([1.5, 1.5, 2.0])
