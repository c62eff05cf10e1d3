"""Cognis: weighted rank fusion, the last minutes, the time a query speaks of, and what is not shown."""

from __future__ import annotations

import math

import pytest
from worlds import DAYS, HOURS, SECONDS, TODAY, Row, column, moment, scores, stepped

from recollect.ranking.candidates import ByMeaning
from recollect.ranking.factors import CognisRecency, TemporalRelevance
from recollect.ranking.profiles import COGNIS
from recollect.ranking.steps import DropEcho, DropRepeats, TemporalBlend, Threshold, WeightedRrf

OLD = 999 * DAYS


@pytest.mark.parametrize(
    ("by_meaning", "by_words", "score"),
    [
        (1, 1, 1.0),  # 0.7 * 11/11 + 0.3 * 11/11
        (1, None, 0.7),
        (None, 1, 0.3),  # an absent rank adds nothing
        (2, None, 0.7 * 11 / 12),
        (3, 2, 0.7 * 11 / 13 + 0.3 * 11 / 12),
        (200, 200, 11 / 210),
    ],
)
def test_weighted_ranks(by_meaning: int | None, by_words: int | None, score: float) -> None:
    row = Row(
        1, by_meaning and 0.9, by_words and 5.0, created=OLD, meaning_rank=by_meaning, words_rank=by_words
    )
    assert scores(COGNIS.steps, [row]) == pytest.approx({1: score})


def test_the_weights_and_k_can_be_chosen() -> None:
    # their example: 0.60 * 16/16 + 0.40 * 16/17
    row = Row(1, 0.9, 5.0, meaning_rank=1, words_rank=2)
    steps = [WeightedRrf(vector_weight=0.60, bm25_weight=0.40, rrf_k=15)]
    assert scores(steps, [row]) == pytest.approx({1: 0.6 + 0.4 * 16 / 17})


@pytest.mark.parametrize(
    ("ago", "boost"),
    [
        (0, 0.25),
        (120, 0.092),  # 2 minutes: 0.25 / e; their page: ~0.09
        (600, 0.0017),  # 10 minutes: 0.25 * exp(-5); their page: ~0.002
        (
            120 * math.log(2),
            0.125,
        ),  # half is left after 83 s: their "half-life" of 120 s is an e-folding time
        (-60, 0.25),
    ],
)
def test_the_last_minutes_are_added(ago: float, boost: float) -> None:
    assert column(CognisRecency(), [Row(1, created=ago * SECONDS)]) == pytest.approx([boost], abs=5e-5)


def test_the_last_minutes_count_from_creation_and_not_without_a_time() -> None:
    rows = [Row(1, created=600 * SECONDS, updated=TODAY, seen=TODAY), Row(2, created=None)]
    assert column(CognisRecency(), rows) == pytest.approx([0.25 * math.exp(-5), 0])


def test_recency_is_added_to_the_fused_score() -> None:
    # 0.7 + 0.25 / e
    assert scores(COGNIS.steps, [Row(1, 0.9, created=120 * SECONDS)]) == pytest.approx(
        {1: 0.7 + 0.25 / math.e}
    )


LAST_WEEK = (14 * DAYS, 7 * DAYS)


def test_a_query_that_speaks_of_a_time_blends_it_in() -> None:
    # 1 inside: 0.6 * 0.7 + 0.4 * 1 = 0.82
    # 2 a week before the span, which is a week long: 0.6 * 0.7 * 11/12 + 0.4 / e = 0.5322
    rows = [Row(1, 0.9, created=10 * DAYS), Row(2, 0.8, created=21 * DAYS)]
    found = scores(COGNIS.steps, rows, moment(rows, span=LAST_WEEK))
    assert found == pytest.approx({1: 0.82, 2: 0.6 * 0.7 * 11 / 12 + 0.4 / math.e})


def test_the_blend_with_time_and_recency_together() -> None:
    # now, asked for today: 0.6 * 0.7 + 0.4 * 1 + 0.25
    rows = [Row(1, 0.9)]
    assert scores(COGNIS.steps, rows, moment(rows, span=(12 * HOURS, TODAY))) == pytest.approx({1: 1.07})


def test_a_query_without_a_time_is_not_blended() -> None:
    assert scores(COGNIS.steps, [Row(1, 0.9, created=OLD)]) == pytest.approx({1: 0.7})
    assert not any(mark.step == "temporal" for mark in stepped(COGNIS.steps, [Row(1, 0.9)]).score_changes)


def relevance(row: Row) -> float:
    (value,) = column(TemporalRelevance(), [row], moment([row], span=LAST_WEEK))
    return value


def test_temporal_relevance_is_1_inside_the_span_ends_included() -> None:
    for days in (14, 10, 7):
        assert relevance(Row(1, created=days * DAYS)) == 1


def test_temporal_relevance_falls_smoothly_outside() -> None:
    # a week-long span: exp(-distance / 7 days), the same on both sides
    assert relevance(Row(1, created=21 * DAYS)) == pytest.approx(1 / math.e)
    assert relevance(Row(1, created=0 * DAYS)) == pytest.approx(1 / math.e)
    near = [relevance(Row(1, created=(14 + step / 10) * DAYS)) for step in range(100)]
    assert near == sorted(near, reverse=True)
    assert relevance(Row(1, created=14 * DAYS + SECONDS)) == pytest.approx(1, abs=1e-4)


def test_temporal_relevance_prefers_when_it_happened_and_is_one_half_where_nothing_is_known() -> None:
    assert relevance(Row(1, created=OLD, happened=10 * DAYS)) == 1
    assert relevance(Row(1, created=10 * DAYS, happened=OLD)) == pytest.approx(0)
    assert relevance(Row(1, created=10 * DAYS)) == 1
    assert relevance(Row(1, created=None)) == 0.5


def test_a_span_of_a_moment_still_falls_over_a_day() -> None:
    rows = [Row(1, created=TODAY), Row(2, created=DAYS)]
    assert column(TemporalRelevance(), rows, moment(rows, span=(TODAY, TODAY))) == pytest.approx(
        [1, 1 / math.e]
    )


def test_the_temporal_share_can_be_chosen() -> None:
    rows = [Row(1, 0.9, created=10 * DAYS)]
    found = scores([WeightedRrf(), TemporalBlend(share=0.25)], rows, moment(rows, span=LAST_WEEK))
    assert found == pytest.approx({1: 0.75 * 0.7 + 0.25 * 1})


def test_the_threshold_asks_only_of_what_words_did_not_find() -> None:
    rows = [Row(1, 0.29), Row(2, 0.3), Row(3, 0.29, 1.0), Row(4, bm25=1.0), Row(5, -0.5), Row(6, -0.5, 1.0)]
    kept = stepped([Threshold()], rows)
    assert kept.ids.tolist() == [2, 3, 4, 6]
    assert [(one.id, one.step) for one in kept.dropped] == [(1, "threshold"), (5, "threshold")]
    assert kept.dropped[0].reason == "cosine 0.290 is below 0.3"
    assert sorted(scores(COGNIS.steps, rows)) == [2, 3, 4, 6]


def test_an_echo_is_a_message_of_this_session_and_never_a_stored_note() -> None:
    # The store flags as echo only a message of the session that is equal to the query.
    rows = [
        Row(1, 0.9, echo=True, content=5),
        Row(2, 0.9, content=5),
        Row(3, 0.9),
    ]
    kept = stepped([DropEcho()], rows)
    assert kept.ids.tolist() == [2, 3]
    assert [(one.id, one.step) for one in kept.dropped] == [(1, "echo")]
    # The note that says the same is not taken for a repeat of the echo.
    assert sorted(scores(COGNIS.steps, rows)) == [2, 3]


def test_of_those_who_say_the_same_the_best_stays_ties_by_id() -> None:
    rows = [Row(1, 0.5, content=7), Row(2, 0.9, content=7), Row(3), Row(4)]
    assert sorted(scores([WeightedRrf(), DropRepeats()], rows)) == [2, 3, 4]
    assert sorted(scores([DropRepeats()], [Row(8, content=7), Row(3, content=7)])) == [3]


def test_meaning_is_searched_in_two_stages_with_a_shortlist_of_200() -> None:
    (by_meaning,) = (retriever for retriever in COGNIS.retrieve if isinstance(retriever, ByMeaning))
    assert by_meaning.shortlist_size == 200


def test_each_search_is_asked_for_thirty_at_least() -> None:
    assert {retriever.take(limit) for retriever in COGNIS.retrieve for limit in (1, 5, 10)} == {30}
    assert [retriever.take(11) for retriever in COGNIS.retrieve] == [33, 33]
