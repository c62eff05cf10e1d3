"""Stability by FSRS v4, and spread: each number worked out by hand."""

from __future__ import annotations

import pytest
from sleepers import TODAY, Row, snapshot

from recollect.dreams.knobs import Knobs
from recollect.dreams.phases import consolidate, share_left, stability_after_recall, stability_after_recalls
from recollect.dreams.snapshot import Draft

KNOBS = Knobs()


@pytest.mark.parametrize(
    ("days", "stability", "left"),
    [
        (0, 1.0, 1.0),
        (9, 1.0, 0.5),  # 1 / (1 + 9/9)
        (36, 4.0, 0.5),  # 1 / (1 + 36/36)
        (1, 1.0, 0.9),  # 1 / (1 + 1/9)
        (-3, 1.0, 1.0),  # a time ahead is now
    ],
)
def test_what_is_left_of_a_memory(days: float, stability: float, left: float) -> None:
    assert share_left(days, stability) == pytest.approx(left)


@pytest.mark.parametrize(
    ("stability", "days", "after"),
    [
        # e^1.49 * (11 - 4.93) = 4.4371 * 6.07 = 26.93317 in each
        (1.0, 9, 17.15975),  # R 0.5: e^(0.94 * 0.5) - 1 = 0.599994;  1 + 26.93317 * 0.599994
        (1.0, 1, 3.65453),  # R 0.9: e^0.094 - 1 = 0.098560;  1 + 26.93317 * 0.098560
        (2.0, 4.5, 12.11100),  # R 0.8: e^0.188 - 1 = 0.206834; 2^-0.14 = 0.907519;  2 * (1 + 5.055501)
        (4.0, 36, 57.23608),  # R 0.5; 4^-0.14 = 0.823591;  4 * (1 + 26.93317 * 0.823591 * 0.599994)
        (36_400.0, 300_000, 36_500.0),  # a hundred years and no more
        (40_000.0, 300_000, 40_000.0),  # nor less, where it was more
    ],
)
def test_a_recall_makes_a_memory_more_stable(stability: float, days: float, after: float) -> None:
    assert stability_after_recall(stability, days) == pytest.approx(after, abs=5e-5)


def test_a_recall_on_the_day_of_the_last_adds_nothing() -> None:
    assert stability_after_recall(3.0, 0) == 3.0
    assert stability_after_recalls(3.0, 10, [10, 10, 10]) == 3.0


def test_two_recalls_far_apart_add_more_than_two_that_are_near() -> None:
    # 1 day after the first, S is 3.65453. Then, after one more day: R = 1/(1 + 1/32.8908) = 0.970494,
    # e^(0.94 * 0.029506) - 1 = 0.028123, 3.65453^-0.14 = 0.834088; 3.65453 * (1 + 0.631788) = 5.96342.
    assert stability_after_recalls(1.0, 0, [1, 2]) == pytest.approx(5.96342, abs=1e-4)
    # After ten more: R = 1/(1 + 10/32.8908) = 0.766849; e^(0.94 * 0.233151) - 1 = 0.245026;
    # 3.65453 * (1 + 26.93317 * 0.834088 * 0.245026) = 3.65453 * 6.504391
    assert stability_after_recalls(1.0, 0, [1, 11]) == pytest.approx(23.7705, abs=1e-3)


def test_a_dream_counts_from_the_last_day_before_or_from_the_creation() -> None:
    rows = [Row(1, created=9), Row(2, created=300), Row(3, created=300)]
    told = snapshot(rows, used_on={0: (TODAY,), 1: (TODAY,)}, seen_before={1: TODAY - 1})
    stability = consolidate(told, KNOBS, Draft.of(told)).life.stability
    # 9 days since it was made; 1 day since it was last seen; not used
    assert stability.tolist() == pytest.approx([17.15975, 3.65453, 1.0], abs=5e-5)


def test_massed_recalls_of_the_day_of_creation_leave_stability_alone() -> None:
    told = snapshot([Row(1, created=0.1)], used_on={0: (TODAY,)})
    assert consolidate(told, KNOBS, Draft.of(told)).life.stability.tolist() == [1.0]


def test_spread_is_the_sessions_that_a_memory_came_up_in_and_never_shrinks() -> None:
    # The log is bounded, so it may know of fewer sessions than were counted before.
    told = snapshot([Row(1, sessions=4), Row(2, spread=5, sessions=2), Row(3)])
    assert consolidate(told, KNOBS, Draft.of(told)).life.spread.tolist() == [4, 5, 1]
