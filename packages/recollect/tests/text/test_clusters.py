"""Groups of rows and their topics: worked by hand on a few points, and laws on many."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.clusters import (
    Join,
    average_linkage,
    centre_rows,
    distances,
    find_clusters,
    label_groups,
    silhouettes,
    tf_idf_rows,
    topic_names,
    topic_weights,
)
from recollect.text.tokens import topic_terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def line(*places: float) -> Floats:
    """Distances of points on a line."""
    points: Floats = np.array(places, np.float64)
    apart: Floats = np.abs(points[:, None] - points[None, :])
    return apart


def test_the_nearest_groups_join_and_their_distance_is_the_mean() -> None:
    # 0 and 1 are 1 apart; 5 and 7 are 2 apart; {0, 1} to {5, 7}: (5 + 7 + 4 + 6) / 4 = 5.5
    assert average_linkage(line(0, 1, 5, 7)) == (Join(0, 1, 1.0), Join(2, 3, 2.0), Join(0, 2, 5.5))


def test_sizes_weigh_in_the_mean() -> None:
    # {0, 1} at 1; then {0, 1} to 3: (3 + 2) / 2 = 2.5; then {0, 1, 3} to 9: (9 + 8 + 6) / 3 = 23/3
    assert [join.distance for join in average_linkage(line(0, 1, 3, 9))] == pytest.approx([1, 2.5, 23 / 3])


def test_ties_go_to_the_lower_index() -> None:
    # All are 1 apart.
    everywhere = np.ones((4, 4)) - np.eye(4)
    first, *_ = average_linkage(everywhere)
    assert (first.one, first.other) == (0, 1)
    assert average_linkage(everywhere) == average_linkage(everywhere.copy())


def test_a_cut_gives_as_many_groups_as_asked_for() -> None:
    joins = average_linkage(line(0, 1, 5, 7))
    assert [label_groups(joins, 4, groups).tolist() for groups in (1, 2, 3, 4)] == [
        [0, 0, 0, 0],
        [0, 0, 2, 2],
        [0, 0, 2, 3],
        [0, 1, 2, 3],
    ]


def test_a_silhouette_compares_the_own_group_with_the_next() -> None:
    values = silhouettes(np.array([0, 0, 2, 2]), line(0, 1, 5, 7))
    # 0: own 1, next (5 + 7) / 2 = 6: (6 - 1) / 6        1: own 1, next (4 + 6) / 2 = 5: 4 / 5
    # 5: own 2, next (5 + 4) / 2 = 4.5: 2.5 / 4.5         7: own 2, next (7 + 6) / 2 = 6.5: 4.5 / 6.5
    assert values.tolist() == pytest.approx([5 / 6, 4 / 5, 5 / 9, 9 / 13])


def test_a_silhouette_of_one_alone_and_of_one_group_is_nothing() -> None:
    assert silhouettes(np.array([0, 0, 2]), line(0, 1, 5))[2] == 0
    assert silhouettes(np.array([0, 0, 0]), line(0, 1, 5)).tolist() == [0, 0, 0]
    assert silhouettes(np.array([0, 0, 2, 2]), np.zeros((4, 4))).tolist() == [0, 0, 0, 0]


def test_distances_are_one_minus_the_cosine() -> None:
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    assert distances(rows).tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


def test_what_all_rows_share_does_not_count() -> None:
    # The mean is (9, 0): what is left points up or down.
    assert centre_rows(np.array([[9.0, 2.0], [9.0, -2.0]])).tolist() == [[0, 1], [0, -1]]
    assert centre_rows(np.array([[3.0, 4.0], [3.0, 4.0]])).tolist() == [[0, 0], [0, 0]]


def three_ways(each: int) -> Floats:
    """Rows near three directions, in turn, with something that all share."""
    turns = np.deg2rad([angle + 8 * step / each for step in range(each) for angle in (0, 120, 240)])
    return np.stack([np.cos(turns), np.sin(turns), np.full(len(turns), 3.0)], axis=1)


def test_rows_fall_into_the_groups_that_they_are() -> None:
    found = find_clusters(three_ways(4), most=8, fewest=3)
    assert found.groups == ((0, 3, 6, 9), (1, 4, 7, 10), (2, 5, 8, 11))
    assert found.silhouette > 0.9


def test_a_group_that_is_too_small_stands_alone() -> None:
    rows = np.array([[1, 0.1], [1, 0], [1, -0.1], [-1, 0.1], [-1, 0], [-1, -0.1], [0.1, 9]], float)
    found = find_clusters(rows, most=8, fewest=3)
    assert found.groups == ((0, 1, 2), (3, 4, 5))


def test_what_does_not_fall_apart_is_left_alone() -> None:
    for rows in (
        np.zeros((0, 0)),
        np.ones((1, 3)),
        np.ones((2, 3)),
        # All are equal.
        np.ones((9, 3)),
        np.zeros((9, 3)),
        # Two groups of two, where three are the fewest.
        np.array([[1.0, 0.0], [1.0, 0.1], [-1.0, 0.0], [-1.0, 0.1]]),
    ):
        found = find_clusters(rows, most=8, fewest=3)
        assert (found.groups, found.silhouette) == ((), 0)


def test_never_more_groups_than_allowed() -> None:
    rows = np.repeat(np.eye(6), 3, axis=0)
    assert len(find_clusters(rows, most=8, fewest=3).groups) == 6
    assert len(find_clusters(rows, most=4, fewest=3).groups) <= 4


def test_of_very_many_rows_those_not_compared_join_the_nearest() -> None:
    found = find_clusters(three_ways(1_000), most=8, fewest=3)
    assert found.groups == tuple(tuple(range(first, 3_000, 3)) for first in range(3))


@given(st.lists(st.integers(0, 50), min_size=2, max_size=14))
def test_chains_of_neighbours_find_what_looking_for_the_nearest_pair_finds(places: list[int]) -> None:
    # Without ties, which each way may settle as it likes.
    apart = line(*(place + 0.01 * 2.0**-row for row, place in enumerate(dict.fromkeys(places))))
    apart = np.round(apart, 9)
    if len(np.unique(apart)) < len(apart) * (len(apart) - 1) // 2 + 1:
        return
    told = [(join.one, join.other) for join in average_linkage(apart)]
    assert sorted(told) == sorted(_nearest_pairs(apart))


def _nearest_pairs(apart: Floats) -> list[tuple[int, int]]:
    groups = {row: [row] for row in range(len(apart))}
    joins = []
    while len(groups) > 1:
        _, one, other = min(
            (float(np.mean([apart[a, b] for a in groups[i] for b in groups[j]])), i, j)
            for i in groups
            for j in groups
            if i < j
        )
        joins.append((one, other))
        groups[one] += groups.pop(other)
    return joins


@given(st.integers(0, 40), st.integers(1, 4), st.integers(0, 99))
def test_no_row_is_told_twice(count: int, width: int, seed: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(count, width))
    found = find_clusters(rows, most=5, fewest=2)
    told = [place for group in found.groups for place in group]
    assert len(set(told)) == len(told)
    assert set(told) <= set(range(count))
    assert found == find_clusters(rows.copy(), most=5, fewest=2)
    assert len(found.groups) != 1


TEA = ["green tea", "tea pot"]
CAT = ["green cat", "cat"]


def test_terms_are_the_words_that_say_something() -> None:
    assert topic_terms("The OAuth token of 2026 is in S3, ¿está en el café?") == [
        "oauth",
        "token",
        "s3",
        "cafe",
    ]


def test_without_spaces_pairs_of_letters_stand_for_words() -> None:
    assert topic_terms("東京都 2026") == ["東京", "京都"]


def test_a_word_weighs_by_its_share_and_by_how_rare_it_is_elsewhere() -> None:
    tea, cat = topic_weights([TEA, CAT])
    # The groups have 4 and 3 words, so A = 3.5. tea: 2 of 4, and 2 in all; green: 1 of 4, and 2 in all.
    assert tea == pytest.approx(
        {"green": 1 / 4 * log(1 + 3.5 / 2), "tea": 2 / 4 * log(1 + 3.5 / 2), "pot": 1 / 4 * log(1 + 3.5 / 1)}
    )
    assert cat == pytest.approx({"green": 1 / 3 * log(1 + 3.5 / 2), "cat": 2 / 3 * log(1 + 3.5 / 2)})


def test_a_name_is_the_two_weightiest_words() -> None:
    # tea 0.506, pot 0.376, green 0.253        cat 0.674, green 0.337
    assert topic_names([TEA, CAT]) == ["Tea Pot", "Cat Green"]


def test_words_of_the_entity_itself_are_passed_over() -> None:
    # Without `tea`, the first group has green and pot, 2 words; A = 2.5.
    assert topic_weights([TEA, CAT], {"tea"})[0] == pytest.approx(
        {"green": 1 / 2 * log(1 + 2.5 / 2), "pot": 1 / 2 * log(1 + 2.5 / 1)}
    )
    assert topic_names([TEA, CAT], {"tea"}) == ["Pot Green", "Cat Green"]


def test_a_word_is_written_as_the_texts_write_it_most_often() -> None:
    assert topic_names([["OAuth logins", "oauth", "OAuth"], ["pgBouncer pools", "pgBouncer"]]) == [
        "OAuth Logins",
        "PgBouncer Pools",
    ]


def test_no_two_names_are_alike() -> None:
    # A = 7; alpha, beta: 3/7 ln(1 + 7/6) = 0.331; gamma, delta: 1/7 ln(1 + 7/1) = 0.297
    groups = [["alpha alpha alpha beta beta beta gamma"], ["alpha alpha alpha beta beta beta delta"]]
    assert topic_names(groups) == ["Alpha Beta", "Alpha Beta Delta"]
    assert topic_names([["alpha"], ["alpha"], ["of the"], []]) == ["Alpha", "Alpha 2", "Topic 3", "Topic 4"]


def test_no_groups_have_no_names() -> None:
    assert (topic_names([]), topic_weights([]), topic_weights([[]])) == ([], [], [{}])


def test_rows_of_words_weigh_what_several_texts_have() -> None:
    rows = tf_idf_rows(["tea tea cup", "tea pot", "cat", "the"])
    # Only `tea` is in two texts: ln(4 / 2), times 1 + ln 2 where it comes twice.
    assert rows.tolist() == [[pytest.approx((1 + log(2)) * log(2))], [pytest.approx(log(2))], [0], [0]]
