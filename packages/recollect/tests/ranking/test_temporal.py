"""Temporal relevance where the span is open on a side, by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from worlds import DAYS, NOW, TODAY, Row, column, moment

from recollect.ranking.candidates import ALWAYS, NEVER
from recollect.ranking.factors import TemporalRelevance, microseconds

TEN_DAYS_AGO = microseconds(NOW - 10 * DAYS)


def relevance(
    row: Row, start: int = NEVER, end: int = ALWAYS, factor: TemporalRelevance | None = None
) -> float:
    when = replace(moment([row]), span=(start, end))
    (value,) = column(factor or TemporalRelevance(), [row], when)
    return value


def test_all_that_came_before_is_inside_a_span_without_a_beginning() -> None:
    for days in (10, 11, 1_000, 100_000):
        assert relevance(Row(1, created=days * DAYS), end=TEN_DAYS_AGO) == 1


def test_all_that_comes_after_is_inside_a_span_without_an_end() -> None:
    for days in (10, 9, 0, -1_000):
        assert relevance(Row(1, created=days * DAYS), start=TEN_DAYS_AGO) == 1


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        # exp(-distance / 30 days), from the one end that there is
        (10, 1.0),
        (7, math.exp(-0.1)),
        (-5, math.exp(-0.5)),
        (-20, math.exp(-1)),
        (-50, math.exp(-2)),
    ],
)
def test_beyond_the_end_of_an_open_span_relevance_falls_over_thirty_days(days: int, expected: float) -> None:
    assert relevance(Row(1, created=days * DAYS), end=TEN_DAYS_AGO) == pytest.approx(expected)
    # The same on the other side: as many days before the beginning.
    mirrored = (20 - days) * DAYS
    assert relevance(Row(1, created=mirrored), start=TEN_DAYS_AGO) == pytest.approx(expected)


def test_how_fast_it_falls_can_be_chosen() -> None:
    factor = TemporalRelevance(open_tau_days=5)
    assert relevance(Row(1, created=TODAY), end=TEN_DAYS_AGO, factor=factor) == pytest.approx(math.exp(-2))
    # But never faster than over the shortest tau, here two days.
    factor = TemporalRelevance(open_tau_days=1, shortest_tau_days=2)
    assert relevance(Row(1, created=TODAY), end=TEN_DAYS_AGO, factor=factor) == pytest.approx(math.exp(-5))


def test_a_span_without_ends_holds_everything() -> None:
    for days in (-10_000, 0, 10_000):
        assert relevance(Row(1, created=days * DAYS)) == 1


def test_what_happened_counts_before_when_it_was_told() -> None:
    told_since = Row(1, created=TODAY, happened=30 * DAYS)
    assert relevance(told_since, end=TEN_DAYS_AGO) == 1
    # 20 days before the beginning: exp(-20 / 30)
    assert relevance(told_since, start=TEN_DAYS_AGO) == pytest.approx(math.exp(-2 / 3))


def test_an_undated_memory_is_neither_near_nor_far() -> None:
    undated = Row(1, created=None)
    assert relevance(undated, end=TEN_DAYS_AGO) == 0.5
    assert relevance(undated, start=TEN_DAYS_AGO) == 0.5
    assert relevance(undated) == 0.5
    # It may still be known when that which it tells happened.
    assert relevance(replace(undated, happened=11 * DAYS), end=TEN_DAYS_AGO) == 1
