"""Reciprocal rank fusion."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.ranking.steps.fuse import RRF_K, reciprocal_ranks

A, B, C, D = 1, 2, 3, 4


def test_the_constant_is_that_of_the_paper() -> None:
    assert RRF_K == 60


def test_the_published_example_comes_out_exactly() -> None:
    # KNN: A first, B second, D fifth; FTS: C first, D second, A third. Others fill the ranks between.
    fused = reciprocal_ranks([[A, B, 90, 91, D], [C, D, A]])
    scores = dict(fused)
    # A: 1/61 + 1/63 = 0.0323 (the published example cuts it to 0.0322)
    assert scores[A] == pytest.approx(1 / 61 + 1 / 63)
    assert round(scores[A], 4) == 0.0323
    # B: 1/62 = 0.0161     C: 1/61 = 0.0164     D: 1/65 + 1/62 = 0.0315
    assert scores[B] == pytest.approx(1 / 62)
    assert scores[C] == pytest.approx(1 / 61)
    assert scores[D] == pytest.approx(1 / 65 + 1 / 62)
    assert [id_ for id_, _ in fused if id_ < 90] == [A, D, C, B]


def test_one_place_at_the_top_is_worth_0000264() -> None:
    (_, first), (_, second) = reciprocal_ranks([[A, B]])
    # 1/61 - 1/62 = 1/3782
    assert first - second == pytest.approx(1 / 3782)
    assert round(first - second, 6) == 0.000264


def test_fusing_rewards_agreement_between_sources() -> None:
    # kettle, third in both: 1/63 + 1/63 = 2/63     tea, first in one: 1/61
    fused = reciprocal_ranks([[1, 2, 7], [3, 4, 7]])
    assert fused[0][0] == 7
    assert fused[0][1] == pytest.approx(2 / 63)


def test_another_constant_and_ties_by_id() -> None:
    assert reciprocal_ranks([[9], [5]], k=1) == [(5, 0.5), (9, 0.5)]


def test_nothing_fused_is_nothing() -> None:
    assert reciprocal_ranks([]) == reciprocal_ranks([[], []]) == []


RANKINGS = st.lists(st.lists(st.integers(1, 20), unique=True), max_size=4)


@given(RANKINGS)
def test_fusing_neither_loses_nor_invents(rankings: list[list[int]]) -> None:
    fused = reciprocal_ranks(rankings)
    assert {id_ for id_, _ in fused} == {id_ for ranking in rankings for id_ in ranking}
    assert [score for _, score in fused] == sorted((score for _, score in fused), reverse=True)


@given(RANKINGS)
def test_the_order_of_the_lists_does_not_matter(rankings: list[list[int]]) -> None:
    one, other = dict(reciprocal_ranks(rankings)), dict(reciprocal_ranks(rankings[::-1]))
    assert one == pytest.approx(other)


@given(st.lists(st.integers(1, 20), unique=True))
def test_one_list_keeps_its_order(ranking: list[int]) -> None:
    assert [id_ for id_, _ in reciprocal_ranks([ranking])] == ranking
