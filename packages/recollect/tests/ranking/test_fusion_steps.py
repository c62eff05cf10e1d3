"""Fusing: the numbers of the Hybrid Search page, and what fusing may never do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import Row, gathered, kept, moment, row_lists, scores, stepped

from recollect.ranking.profiles import LIMBIC, PROFILES
from recollect.ranking.steps import BaseRelevance, Blend, Linear, MeaningScore, Rrf, WeightedRrf

if TYPE_CHECKING:
    from recollect.ranking.candidates import Step

# Their example, by (rank by meaning, rank by words)
A, B, C, D = (
    Row(1, 0.9, 4.0, meaning_rank=1, words_rank=3),
    Row(2, 0.8, meaning_rank=2),
    Row(3, bm25=9.0, words_rank=1),
    Row(4, 0.5, 6.0, meaning_rank=5, words_rank=2),
)


def test_the_example_table_of_reciprocal_rank_fusion() -> None:
    found = scores([Rrf()], [A, B, C, D])
    # A 1/61 + 1/63 = 0.03227 (their page: 0.0322)   B 1/62   C 1/61   D 1/65 + 1/62
    assert found == pytest.approx({1: 1 / 61 + 1 / 63, 2: 1 / 62, 3: 1 / 61, 4: 1 / 65 + 1 / 62})
    assert {id_: round(score, 4) for id_, score in found.items()} == {
        1: 0.0323,
        2: 0.0161,
        3: 0.0164,
        4: 0.0315,
    }


def test_the_first_rank_is_worth_0_000264_more_than_the_second() -> None:
    # 1/61 - 1/62 = 1/3782 = 0.00026441 (their page: 0.000265)
    first, second = scores([Rrf(60)], [Row(1, 0.9), Row(2, 0.8)]).values()
    assert first - second == pytest.approx(1 / 3_782)
    assert round(first - second, 6) == 0.000264


def test_a_limit_of_10_asks_each_search_for_30() -> None:
    assert [retriever.take(10) for retriever in LIMBIC.retrieve] == [30, 30]


def test_what_words_alone_found_is_stretched_between_0_2_and_0_8() -> None:
    # rrf: 1 by both, 1/61 + 1/62; 2 by words, 1/61; 3 by words, 1/63
    rows = [Row(1, 0.4, 5.0), Row(2, bm25=9.0), Row(3, bm25=1.0)]
    low, high, middle = 1 / 63, 1 / 61 + 1 / 62, 1 / 61
    base = scores([Rrf(), BaseRelevance()], rows)
    # norm of 2: (1/61 - 1/63) / (1/61 + 1/62 - 1/63); of 3: 0
    assert base == pytest.approx({1: 0.4, 2: 0.2 + 0.6 * (middle - low) / (high - low), 3: 0.2})


def test_the_best_by_words_alone_reaches_0_8() -> None:
    # 1 by words first, 1/61; 2 by meaning second place only, 1/62
    rows = [Row(1, bm25=9.0), Row(2, 0.5, meaning_rank=2)]
    assert scores([Rrf(), BaseRelevance()], rows) == pytest.approx({1: 0.8, 2: 0.5})


def test_where_all_fused_scores_are_equal_words_alone_give_0_8() -> None:
    # range 0: norm_rrf = 1, 0.2 + 0.6 * 1
    assert scores([Rrf(), BaseRelevance()], [Row(1, bm25=3.0)]) == pytest.approx({1: 0.8})
    assert scores([Rrf(), BaseRelevance()], [Row(1, bm25=3.0), Row(2, 0.3)]) == pytest.approx(
        {1: 0.8, 2: 0.3}
    )


def test_what_points_away_has_a_cosine_of_0() -> None:
    # max(0, 1 - distance), distance 1.4
    assert scores([Rrf(), BaseRelevance()], [Row(1, -0.4)]) == {1: 0}


def test_a_limbic_answer_keeps_the_fused_score() -> None:
    ranked = stepped(LIMBIC.steps, [A, B, C, D])
    assert kept(ranked, "rrf_score")[1] == pytest.approx(1 / 61 + 1 / 63)


def test_weighted_ranks_by_hand() -> None:
    # 1: 0.7 * 11/11 + 0.3 * 11/11 = 1      2: 0.7 * 11/12      3: 0.3 * 11/12
    rows = [Row(1, 0.9, 9.0), Row(2, 0.8), Row(3, bm25=1.0)]
    assert scores([WeightedRrf()], rows) == pytest.approx({1: 1, 2: 0.7 * 11 / 12, 3: 0.3 * 11 / 12})


def test_shares_by_hand() -> None:
    # 1: 0.5 * 0.8 + 0.3 * 4/8 = 0.55     2: 0.3 * 8/8 = 0.3     3: cosine below 0, so 0
    rows = [Row(1, 0.8, 4.0), Row(2, bm25=8.0), Row(3, -0.5)]
    assert scores([Linear()], rows) == pytest.approx({1: 0.55, 2: 0.3, 3: 0})


def test_a_best_bm25_of_0_gives_no_share() -> None:
    assert scores([Linear()], [Row(1, bm25=0.0), Row(2)]) == {1: 0, 2: 0}


def test_stretched_shares_by_hand() -> None:
    # cosines 0.7 to 0.9: 1: 0.6 * 1 + 0.4 * 0; 2: 0.6 * 0.5 + 0.4 * 2/4; 3: 0.6 * 0 + 0.4 * 1; 4: 0.4 * 1/4
    rows = [Row(1, 0.9), Row(2, 0.8, 2.0), Row(3, 0.7, 4.0), Row(4, bm25=1.0)]
    assert scores([Blend()], rows) == pytest.approx({1: 0.6, 2: 0.5, 3: 0.4, 4: 0.1})


def test_equal_cosines_are_all_stretched_to_1() -> None:
    assert scores([Blend()], [Row(1, 0.4), Row(2, 0.4), Row(3)]) == pytest.approx({1: 0.6, 2: 0.6, 3: 0})


FUSIONS: list[Step] = [Rrf(), Rrf(k=30), WeightedRrf(), Linear(), Blend()]


@given(fusion=st.sampled_from(FUSIONS), rows=row_lists())
def test_fusing_neither_loses_nor_invents(fusion: Step, rows: list[Row]) -> None:
    fused = fusion(gathered(rows), moment(rows))
    assert fused.ids.tolist() == sorted(row.id for row in rows)
    assert fused.dropped == ()


@given(fusion=st.sampled_from(FUSIONS), rows=row_lists())
def test_an_absent_rank_adds_nothing(fusion: Step, rows: list[Row]) -> None:
    fused = scores([fusion], rows)
    for row in rows:
        if row.cosine is None and row.bm25 is None:
            assert fused[row.id] == 0


@given(rows=row_lists(min_size=1))
def test_fusing_ranks_rewards_agreement(rows: list[Row]) -> None:
    """What both searches put at least as high as another stands at least as high."""
    candidates = gathered(rows)
    fused = Rrf()(candidates, moment(rows)).score
    ranks = [
        np.where(candidates.source(name).found, candidates.source(name).rank, 10_000)
        for name in ("meaning", "words")
    ]
    for one in range(len(rows)):
        for other in range(len(rows)):
            if all(rank[one] <= rank[other] for rank in ranks):
                assert fused[one] >= fused[other]


def test_every_profile_fuses_first() -> None:
    for profile in PROFILES.values():
        fusions = Rrf | WeightedRrf | Linear | MeaningScore
        assert any(isinstance(step, fusions) for step in profile.steps[:3]), profile.name
