"""How sure a share is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.tune.certainty import wilson


def test_the_interval_of_eight_in_ten() -> None:
    # z = 1.96, z²/n = 0.38415: middle (0.8 + 0.19207) / 1.38415 = 0.71674,
    # half 1.96 / 1.38415 · sqrt(0.8 · 0.2 / 10 + 0.38415 / 40) = 1.41602 · 0.16003 = 0.22660
    assert wilson(8, 10) == pytest.approx((0.49014, 0.94334), abs=5e-5)


def test_none_of_ten_may_still_be_a_quarter() -> None:
    # (z²/n) / (1 + z²/n) = 0.38415 / 1.38415
    assert wilson(0, 10) == pytest.approx((0.0, 0.27753), abs=5e-5)
    assert wilson(10, 10) == pytest.approx((0.72247, 1.0), abs=5e-5)


def test_nothing_counted_says_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


@given(st.integers(1, 10_000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_the_share_lies_in_its_interval_and_that_in_the_whole(counted: tuple[int, int]) -> None:
    hits, of = counted
    low, high = wilson(hits, of)
    assert 0 <= low <= hits / of <= high <= 1
    mirrored = wilson(of - hits, of)
    assert (1 - high, 1 - low) == pytest.approx(mirrored)
