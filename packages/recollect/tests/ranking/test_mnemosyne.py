"""Mnemosyne: fixed shares, recency, and what repeats."""

from __future__ import annotations

import math

import pytest
from worlds import DAYS, HOURS, Row, column, scores, stepped

from recollect.ranking.factors import MnemosyneRecency
from recollect.ranking.profiles import MNEMOSYNE


def test_the_shares_are_one_half_three_tenths_and_two_tenths() -> None:
    # 1: 0.5 * 0.8 + 0.3 * 2/4 + 0.2 * 0.6 = 0.40 + 0.15 + 0.12 = 0.67     2: 0.3 * 4/4 + 0.2 * 1 = 0.5
    # 3: 0.2 * 0.5 = 0.1
    rows = [Row(1, 0.8, 2.0, importance=0.6), Row(2, bm25=4.0, importance=1.0), Row(3, -0.3)]
    assert scores(MNEMOSYNE.steps, rows) == pytest.approx({1: 0.67, 2: 0.5, 3: 0.1})


def test_the_best_possible_score_is_1() -> None:
    assert scores(MNEMOSYNE.steps, [Row(1, 1.0, 3.0, importance=1.0)]) == {1: pytest.approx(1)}


@pytest.mark.parametrize(
    ("ago", "factor"),
    [
        (0, 1.0),  # 0.7 + 0.3 * 1
        (168, 0.8104),  # 0.7 + 0.3 / e: the 168 hours are an e-folding time
        (116.45, 0.85),  # 168 * ln 2 = 116.45 h is the half-life: 0.7 + 0.3 / 2
        (10_000, 0.7),
    ],
)
def test_what_is_older_counts_for_less_down_to_seven_tenths(ago: float, factor: float) -> None:
    rows = [Row(1, created=ago * HOURS)]
    assert column(MnemosyneRecency(), rows) == pytest.approx([factor], abs=5e-5)
    assert column(MnemosyneRecency(), rows) == pytest.approx([0.7 + 0.3 * math.exp(-ago / 168)])


def test_each_search_is_asked_for_twenty_at_least() -> None:
    assert {retriever.take(limit) for retriever in MNEMOSYNE.retrieve for limit in (1, 3, 6)} == {20}
    assert [retriever.take(7) for retriever in MNEMOSYNE.retrieve] == [21, 21]


def test_the_new_is_worth_at_most_1_43_times_the_old() -> None:
    new, old = scores(MNEMOSYNE.steps, [Row(1, 0.5), Row(2, 0.5, created=9_999 * DAYS)]).values()
    assert new / old == pytest.approx(1 / 0.7)


def test_a_time_ahead_is_of_age_0() -> None:
    # unclamped, 30 days ahead would be 0.7 + 0.3 * exp(720 / 168) = 22.5
    assert 0.7 + 0.3 * math.exp(720 / 168) > 20
    assert column(MnemosyneRecency(), [Row(1, created=-30 * DAYS)]) == [1]


def test_without_a_time_nothing_is_new() -> None:
    assert column(MnemosyneRecency(), [Row(1, created=None)]) == pytest.approx([0.7])


def test_age_is_from_creation_and_not_from_updates_or_accesses() -> None:
    rows = [Row(1, created=168 * HOURS, updated=HOURS, seen=HOURS)]
    assert column(MnemosyneRecency(), rows) == pytest.approx([0.7 + 0.3 / math.e])


def test_of_those_who_say_the_same_the_highest_stays() -> None:
    rows = [Row(1, 0.2, content=7), Row(2, 0.9, content=7), Row(3, 0.5, content=8), Row(4, 0.1)]
    ranked = stepped(MNEMOSYNE.steps, rows)
    assert ranked.ids.tolist() == [2, 3, 4]
    (dropped,) = ranked.dropped
    assert (dropped.id, dropped.step, dropped.reason) == (1, "repeats", "it repeats memory 2")
    # 0.5 * 0.2 + 0.2 * 0.5
    assert dropped.score == pytest.approx(0.2)


def test_of_equals_who_say_the_same_the_lowest_id_stays() -> None:
    rows = [Row(5, 0.5, content=7), Row(3, 0.5, content=7), Row(9, 0.5, content=7)]
    assert list(scores(MNEMOSYNE.steps, rows)) == [3]
