"""How sure a figure is, against numbers worked by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.numbers import (
    MOST_PRODUCTS,
    Interval,
    bootstrap_interval,
    products,
    sign_flip_test,
    sign_test,
    wilson_interval,
)


def test_the_interval_of_eight_in_ten() -> None:
    # z = 1.96, z²/n = 0.38415: middle (0.8 + 0.19207) / 1.38415 = 0.71674,
    # half 1.96 / 1.38415 · sqrt(0.8 · 0.2 / 10 + 0.38415 / 40) = 1.41602 · 0.16003 = 0.22660
    assert wilson_interval(8, 10) == pytest.approx((0.49014, 0.94334), abs=5e-5)


def test_none_of_ten_may_still_be_a_quarter() -> None:
    # (z²/n) / (1 + z²/n) = 0.38415 / 1.38415
    assert wilson_interval(0, 10) == pytest.approx((0.0, 0.27753), abs=5e-5)
    assert wilson_interval(10, 10) == pytest.approx((0.72247, 1.0), abs=5e-5)


def test_nothing_counted_says_nothing() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)


@given(st.integers(1, 10_000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_the_share_lies_in_its_interval_and_that_in_the_whole(counted: tuple[int, int]) -> None:
    hits, of = counted
    low, high = wilson_interval(hits, of)
    assert 0 <= low <= hits / of <= high <= 1
    mirrored = wilson_interval(of - hits, of)
    assert (1 - high, 1 - low) == pytest.approx(mirrored)


def bootstrap(one: Sequence[float], other: Sequence[float], seed: int = 20_260_301) -> Interval:
    differences = np.array(one, np.float64) - np.array(other, np.float64)
    return bootstrap_interval(differences, np.random.default_rng(seed), 10_000)


def test_an_interval_of_differences_is_paired() -> None:
    # One is better by 0.5 on each question: every resample has the same mean, however the questions vary.
    assert bootstrap((1.0, 0.5, 0.75), (0.5, 0.0, 0.25)) == Interval(0.5, 0.5, 0.5)


def test_an_interval_holds_95_of_100_resamples() -> None:
    # 400 differences of 1 or -1, as many of each: their mean deviates by 1 / sqrt(400) = 0.05, and 95 % of a
    # normal distribution lie within 1.96 deviations: 0.098. With 90 % it would be 0.082, with 99 % 0.129.
    interval = bootstrap((1, 0) * 200, (0, 1) * 200)
    assert (interval.low, interval.mean, interval.high) == pytest.approx((-0.098, 0.0, 0.098), abs=0.006)


def test_an_interval_worked_by_hand() -> None:
    # One of four questions differs by 1, so the mean is 1/4. (3/4)^4 = 32 % of resamples miss it, so the low
    # end is 0; 5.1 % draw it three times or more, and 0.4 % four times, so the high end is 3/4.
    interval = bootstrap((1, 0, 0, 0), (0, 0, 0, 0), seed=1)
    assert interval == Interval(0.25, 0.0, 0.75)
    assert not interval.excludes_zero
    assert interval.negated() == Interval(-0.25, -0.75, 0.0)


def test_a_value_that_weighs_more_moves_the_mean_more() -> None:
    # Sums of three and of weights of four: 3/4; and each resample is such a share, so all lie within 0 and 1.
    weighted = bootstrap_interval(
        np.array([3.0, 0.0]), np.random.default_rng(0), 1_000, weights=np.array([3.0, 1.0])
    )
    assert weighted == Interval(0.75, 0.0, 1.0)


def test_signs_that_all_agree_are_rarely_flipped_so() -> None:
    # Of ten equal gains, one flip in 2^10 keeps all signs; the observed order counts as one more.
    p = sign_flip_test(np.full(10, 0.1), np.random.default_rng(0), 4_000)
    assert p == pytest.approx((1 + 4_000 / 2**10) / 4_001, abs=0.002)
    assert sign_flip_test(np.array([1.0, -1.0]), np.random.default_rng(0), 4_000) == pytest.approx(
        0.75, abs=0.03
    )


def test_the_sign_test_of_worked_counts() -> None:
    # 9 heads of 10: 2 * (1 + 10) / 1024 = 0.021484; 5 of 10 are never one-sided.
    assert sign_test(9, 1) == sign_test(1, 9) == pytest.approx(22 / 1024)
    assert sign_test(5, 5) == 1.0
    assert sign_test(0, 0) == 1.0
    assert sign_test(6_000, 4_000) < 1e-80


def test_a_product_in_parts_is_the_whole_product() -> None:
    # Whole numbers, so that every sum is exact; three parts of 128 rows at most.
    left = np.arange(300 * 8).reshape(300, 8) % 7.0
    right = np.arange(256 * 8).reshape(256, 8) % 5.0
    assert MOST_PRODUCTS // right.size == 128
    assert np.array_equal(products(left, right), left @ right.T)
    assert products(left[:0], right).shape == (0, 256)
