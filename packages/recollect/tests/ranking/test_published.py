"""Mnemosyne, Reverie and Cognis: each number of their pages, with its arithmetic."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import DAYS, HOURS, NOW, SECONDS, TODAY, Row, column, moment, row_lists, scores, stepped

from recollect.ranking.candidates import ALWAYS, NEVER, ByMeaning
from recollect.ranking.factors import (
    CognisRecency,
    DepthWeight,
    MnemosyneRecency,
    ReverieRecency,
    Spread,
    Stability,
    Strength,
    TemporalRelevance,
    microseconds,
)
from recollect.ranking.profiles import COGNIS, MNEMOSYNE, REVERIE
from recollect.ranking.steps import (
    Cut,
    DropEcho,
    DropRepeats,
    Order,
    Rrf,
    TemporalBlend,
    Threshold,
    Times,
    WeightedRrf,
)

if TYPE_CHECKING:
    from recollect.ranking.factors import Factor

OLD = 999 * DAYS
LAST_WEEK = (14 * DAYS, 7 * DAYS)
E_FOLD = 1 / math.e
FUSED = Row(1, 0.9, 5.0, meaning_rank=1, words_rank=2)


@pytest.mark.parametrize(
    ("factor", "row", "expected"),
    [
        # Mnemosyne: 0.7 + 0.3 * exp(-age / 168 h), an e-folding time; half of it is gone after 116.45 h
        *((MnemosyneRecency(), Row(1, created=ago * HOURS), 0.7 + 0.3 * math.exp(-ago / 168))
          for ago in (0, 168, 116.45, 10_000)),
        (MnemosyneRecency(), Row(1), 1.0),
        (MnemosyneRecency(), Row(1, created=168 * HOURS), 0.8104),
        (MnemosyneRecency(), Row(1, created=116.45 * HOURS), 0.85),
        (MnemosyneRecency(), Row(1, created=10_000 * HOURS), 0.7),
        # unclamped, 30 days ahead would be 0.7 + 0.3 * exp(720 / 168) = 22.5
        (MnemosyneRecency(), Row(1, created=-30 * DAYS), 1),
        (MnemosyneRecency(), Row(1, created=None), 0.7),
        (MnemosyneRecency(), Row(1, created=168 * HOURS, updated=HOURS, seen=HOURS), 0.7 + 0.3 * E_FOLD),
        # Reverie: 1 + 0.3 * exp(-age / 30 days), from the last update
        (ReverieRecency(), Row(1), 1.3),
        (ReverieRecency(), Row(1, updated=30 * DAYS), 1.1104),  # 1 + 0.3 / e
        (ReverieRecency(), Row(1, updated=90 * DAYS), 1.0149),  # 1 + 0.3 * exp(-3)
        (ReverieRecency(), Row(1, updated=99_999 * DAYS), 1.0),  # no penalty
        (ReverieRecency(), Row(1, updated=-5 * DAYS), 1.3),  # a time ahead is of age 0
        (ReverieRecency(), Row(1, created=900 * DAYS, updated=30 * DAYS, seen=DAYS), 1 + 0.3 * E_FOLD),
        (ReverieRecency(), Row(1, updated=None), 1),
        *((Strength(), Row(1, strength=each), each) for each in (1.0, 0.25, 0.0)),
        *((DepthWeight(), Row(1, depth=depth), weight) for depth, weight in ((1, 0.8), (2, 1.0), (3, 1.2))),
        # ln(1 + spread) / ln 2: 0.69 normalised to 1, ln 4, ln 8, ln 11
        *((Spread(), Row(1, spread=spread), factor)
          for spread, factor in ((1, 1.0), (3, 2.0), (7, 3.0), (10, 3.4594))),
        # Cognis: 0.25 * exp(-age / 120 s)
        (CognisRecency(), Row(1), 0.25),
        (CognisRecency(), Row(1, created=120 * SECONDS), 0.092),  # 0.25 / e; their page: ~0.09
        (CognisRecency(), Row(1, created=600 * SECONDS), 0.0017),  # 0.25 * exp(-5); their page: ~0.002
        # half is left after 83 s: their "half-life" of 120 s is an e-folding time
        (CognisRecency(), Row(1, created=120 * math.log(2) * SECONDS), 0.125),
        (CognisRecency(), Row(1, created=-60 * SECONDS), 0.25),
        (CognisRecency(), Row(1, created=600 * SECONDS, updated=TODAY, seen=TODAY), 0.25 * math.exp(-5)),
        (CognisRecency(), Row(1, created=None), 0),
    ],
)  # fmt: skip
def test_a_factor_by_hand(factor: Factor, row: Row, expected: float) -> None:
    assert column(factor, [row]) == pytest.approx([expected], abs=5e-5)


def test_each_search_is_asked_for_as_many_as_published() -> None:
    for profile, least, limits, more in (
        (MNEMOSYNE, 20, (1, 3, 6), (7, 21)),
        (REVERIE, 100, (1, 10, 100), (250, 250)),
        (COGNIS, 30, (1, 5, 10), (11, 33)),
    ):
        assert {search.take(limit) for search in profile.retrieve for limit in limits} == {least}
        assert [search.take(more[0]) for search in profile.retrieve] == [more[1], more[1]]
    (by_meaning,) = (search for search in COGNIS.retrieve if isinstance(search, ByMeaning))
    assert by_meaning.shortlist_size == 200


# Mnemosyne


def test_mnemosyne_shares_are_one_half_three_tenths_and_two_tenths() -> None:
    # 1: 0.5 * 0.8 + 0.3 * 2/4 + 0.2 * 0.6 = 0.40 + 0.15 + 0.12 = 0.67     2: 0.3 * 4/4 + 0.2 * 1 = 0.5
    # 3: 0.2 * 0.5 = 0.1
    rows = [Row(1, 0.8, 2.0, importance=0.6), Row(2, bm25=4.0, importance=1.0), Row(3, -0.3)]
    assert scores(MNEMOSYNE.steps, rows) == pytest.approx({1: 0.67, 2: 0.5, 3: 0.1})
    assert scores(MNEMOSYNE.steps, [Row(1, 1.0, 3.0, importance=1.0)]) == {1: pytest.approx(1)}
    # The new is worth at most 1.43 times the old.
    new, old = scores(MNEMOSYNE.steps, [Row(1, 0.5), Row(2, 0.5, created=9_999 * DAYS)]).values()
    assert new / old == pytest.approx(1 / 0.7)


def test_of_equal_texts_mnemosyne_keeps_the_highest_ties_by_id() -> None:
    rows = [Row(1, 0.2, content=7), Row(2, 0.9, content=7), Row(3, 0.5, content=8), Row(4, 0.1)]
    ranked = stepped(MNEMOSYNE.steps, rows)
    assert ranked.ids.tolist() == [2, 3, 4]
    (dropped,) = ranked.dropped
    assert (dropped.id, dropped.step, dropped.reason) == (1, "repeats", "it repeats memory 2")
    # 0.5 * 0.2 + 0.2 * 0.5
    assert dropped.score == pytest.approx(0.2)
    equals = [Row(5, 0.5, content=7), Row(3, 0.5, content=7), Row(9, 0.5, content=7)]
    assert list(scores(MNEMOSYNE.steps, equals)) == [3]


# Reverie

PLAIN = (Rrf(k=30), Times(ReverieRecency()), Order(), Cut())
LIFE = (Strength, DepthWeight, Spread, Stability)


def test_reverie_fuses_ranks_with_a_k_of_30_and_multiplies_all_factors() -> None:
    # old, so that time adds nothing: 1: 1/31 + 1/32     2: 1/32     3: 1/31
    old = 99_999 * DAYS
    rows = [Row(1, 0.9, 3.0, updated=old), Row(2, 0.8, updated=old), Row(3, bm25=9.0, updated=old)]
    assert scores(REVERIE.steps, rows) == pytest.approx({1: 1 / 31 + 1 / 32, 3: 1 / 31, 2: 1 / 32})
    # fused 1/31, new 1.3, strength 0.5, depth 1.2, spread ln 4 / ln 2 = 2, stability 1 + (2^0.2 - 1) * 1
    row = Row(1, 0.9, strength=0.5, depth=3, spread=3, stability=2.0, seen=0 * DAYS)
    assert scores(REVERIE.steps, [row])[1] == pytest.approx(1 / 31 * 1.3 * 0.5 * 1.2 * 2 * 2**0.2)


@given(row_lists())
def test_before_the_first_dream_it_is_rank_fusion_with_time_decay_to_the_last_bit(rows: list[Row]) -> None:
    fresh = [replace(row, strength=1.0, depth=2, spread=1, stability=1.0) for row in rows]
    when = moment(fresh, limit=1_000)
    assert list(scores(REVERIE.steps, fresh, when).items()) == list(scores(PLAIN, fresh, when).items())


def test_neutral_is_exactly_1_however_many_candidates_there_are() -> None:
    for count in (1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 100, 1_000):
        rows = [Row(id_, seen=id_ * DAYS / 7) for id_ in range(1, count + 1)]
        for factor in LIFE:
            assert set(column(factor(), rows)) == {1.0}


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


@pytest.mark.parametrize(
    ("stability", "days", "factor"),
    # R = 1 / (1 + t / (9 S)) and g = S^0.2 within [0.5, 2];
    # from S = 1 up it is 1 + (g - 1) R, below 1 - (1 - g) (1 - R).
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


def test_stability_counts_from_the_last_access_else_from_creation() -> None:
    rows = [
        Row(1, stability=32.0, created=900 * DAYS, seen=288 * DAYS),
        Row(2, stability=32.0, created=288 * DAYS),
        Row(3, stability=32.0, created=-5 * DAYS),
    ]
    assert column(Stability(), rows) == pytest.approx([1.5, 1.5, 2.0])


STABILITIES, AGES = st.floats(1e-6, 1e6), st.floats(0, 30_000)


@given(STABILITIES, STABILITIES, AGES, AGES)
def test_stability_is_bounded_falls_with_age_and_rises_with_itself(
    one: float, other: float, some: float, more: float
) -> None:
    (low, high), (young, old) = sorted((one, other)), sorted((some, more))
    cases = ((1.0, young), (low, young), (low, old), (high, old))
    rows = [Row(id_, stability=each, seen=days * DAYS) for id_, (each, days) in enumerate(cases, start=1)]
    neutral, younger, older, stabler = column(Stability(), rows)
    assert neutral == 1.0
    assert younger >= older
    assert older <= stabler or np.isclose(older, stabler, rtol=1e-15)
    for factor, stability in ((older, low), (stabler, high)):
        assert 0.5 <= factor <= 2
        assert factor >= 1 if stability >= 1 else factor <= 1


# Cognis


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
def test_cognis_weighs_ranks(by_meaning: int | None, by_words: int | None, score: float) -> None:
    row = Row(
        1, by_meaning and 0.9, by_words and 5.0, created=OLD, meaning_rank=by_meaning, words_rank=by_words
    )
    assert scores(COGNIS.steps, [row]) == pytest.approx({1: score})


def test_cognis_numbers_can_be_chosen() -> None:
    # their example: 0.60 * 16/16 + 0.40 * 16/17
    steps = [WeightedRrf(vector_weight=0.60, bm25_weight=0.40, rrf_k=15)]
    assert scores(steps, [FUSED]) == pytest.approx({1: 0.6 + 0.4 * 16 / 17})
    rows = [Row(1, 0.9, created=10 * DAYS)]
    found = scores([WeightedRrf(), TemporalBlend(share=0.25)], rows, moment(rows, span=LAST_WEEK))
    assert found == pytest.approx({1: 0.75 * 0.7 + 0.25 * 1})


def test_cognis_adds_recency_and_blends_the_time_that_a_query_names() -> None:
    # 0.7 + 0.25 / e
    fresh = [Row(1, 0.9, created=120 * SECONDS)]
    assert scores(COGNIS.steps, fresh) == pytest.approx({1: 0.7 + 0.25 * E_FOLD})
    # 1 inside: 0.6 * 0.7 + 0.4 * 1 = 0.82
    # 2 a week before the span, which is a week long: 0.6 * 0.7 * 11/12 + 0.4 / e = 0.5322
    rows = [Row(1, 0.9, created=10 * DAYS), Row(2, 0.8, created=21 * DAYS)]
    found = scores(COGNIS.steps, rows, moment(rows, span=LAST_WEEK))
    assert found == pytest.approx({1: 0.82, 2: 0.6 * 0.7 * 11 / 12 + 0.4 * E_FOLD})
    # now, asked for today: 0.6 * 0.7 + 0.4 * 1 + 0.25
    rows = [Row(1, 0.9)]
    assert scores(COGNIS.steps, rows, moment(rows, span=(12 * HOURS, TODAY))) == pytest.approx({1: 1.07})
    # Without a time there is no blend.
    assert scores(COGNIS.steps, [Row(1, 0.9, created=OLD)]) == pytest.approx({1: 0.7})
    assert not any(mark.step == "temporal" for mark in stepped(COGNIS.steps, rows).score_changes)


def test_the_threshold_asks_only_of_what_words_did_not_find() -> None:
    rows = [Row(1, 0.29), Row(2, 0.3), Row(3, 0.29, 1.0), Row(4, bm25=1.0), Row(5, -0.5), Row(6, -0.5, 1.0)]
    kept = stepped([Threshold()], rows)
    assert kept.ids.tolist() == [2, 3, 4, 6]
    assert [(one.id, one.step) for one in kept.dropped] == [(1, "threshold"), (5, "threshold")]
    assert kept.dropped[0].reason == "cosine 0.290 is below 0.3"
    assert sorted(scores(COGNIS.steps, rows)) == [2, 3, 4, 6]


def test_an_echo_is_dropped_and_the_note_that_says_the_same_is_no_repeat_of_it() -> None:
    # The store flags as echo only a message of the session that is equal to the query.
    rows = [Row(1, 0.9, echo=True, content=5), Row(2, 0.9, content=5), Row(3, 0.9)]
    kept = stepped([DropEcho()], rows)
    assert kept.ids.tolist() == [2, 3]
    assert [(one.id, one.step) for one in kept.dropped] == [(1, "echo")]
    assert sorted(scores(COGNIS.steps, rows)) == [2, 3]


def test_of_equal_texts_the_best_stays_ties_by_id() -> None:
    rows = [Row(1, 0.5, content=7), Row(2, 0.9, content=7), Row(3), Row(4)]
    assert sorted(scores([WeightedRrf(), DropRepeats()], rows)) == [2, 3, 4]
    assert sorted(scores([DropRepeats()], [Row(8, content=7), Row(3, content=7)])) == [3]


# Temporal relevance

TEN_DAYS_AGO = microseconds(NOW - 10 * DAYS)
UNDATED = Row(1, created=None)
TOLD_SINCE = Row(1, created=TODAY, happened=30 * DAYS)


def relevance(row: Row, start: int, end: int, factor: TemporalRelevance | None = None) -> float:
    (value,) = column(factor or TemporalRelevance(), [row], replace(moment([row]), span=(start, end)))
    return value


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        # 1 inside the span, ends included; outside, exp(-distance / 7 days), the same on both sides
        *((Row(1, created=days * DAYS), 1) for days in (14, 10, 7)),
        (Row(1, created=21 * DAYS), E_FOLD),
        (Row(1, created=TODAY), E_FOLD),
        (Row(1, created=14 * DAYS + SECONDS), math.exp(-1 / (7 * 86_400))),
        # the time of the event counts before the time of storing
        (Row(1, created=OLD, happened=10 * DAYS), 1),
        (Row(1, created=10 * DAYS, happened=OLD), 0),
        (UNDATED, 0.5),
    ],
)
def test_temporal_relevance_of_a_week(row: Row, expected: float) -> None:
    start, end = (microseconds(NOW - ago) for ago in LAST_WEEK)
    assert relevance(row, start, end) == pytest.approx(expected)


def test_temporal_relevance_falls_smoothly_and_a_span_of_a_moment_falls_over_a_day() -> None:
    start, end = (microseconds(NOW - ago) for ago in LAST_WEEK)
    near = [relevance(Row(1, created=(14 + step / 10) * DAYS), start, end) for step in range(100)]
    assert near == sorted(near, reverse=True)
    now = microseconds(NOW)
    assert [relevance(Row(1, created=ago), now, now) for ago in (TODAY, DAYS)] == pytest.approx([1, E_FOLD])


@pytest.mark.parametrize(
    ("days", "expected"),
    # exp(-distance / 30 days), from the one end that there is
    [
        (10, 1.0), (11, 1.0), (1_000, 1.0), (100_000, 1.0), (7, math.exp(-0.1)), (-5, math.exp(-0.5)),
        (-20, math.exp(-1)), (-50, math.exp(-2)),
    ],
)  # fmt: skip
def test_beyond_the_end_of_an_open_span_relevance_falls_over_thirty_days(days: int, expected: float) -> None:
    assert relevance(Row(1, created=days * DAYS), NEVER, TEN_DAYS_AGO) == pytest.approx(expected)
    # The same on the other side: as many days before the beginning.
    assert relevance(Row(1, created=(20 - days) * DAYS), TEN_DAYS_AGO, ALWAYS) == pytest.approx(expected)
    assert relevance(Row(1, created=days * DAYS), NEVER, ALWAYS) == 1


def test_open_spans_by_hand() -> None:
    today = Row(1, created=TODAY)
    quick = TemporalRelevance(open_tau_days=5)
    assert relevance(today, NEVER, TEN_DAYS_AGO, quick) == pytest.approx(math.exp(-2))
    # But never faster than over the shortest tau, here two days.
    quick = TemporalRelevance(open_tau_days=1, shortest_tau_days=2)
    assert relevance(today, NEVER, TEN_DAYS_AGO, quick) == pytest.approx(math.exp(-5))
    assert relevance(TOLD_SINCE, NEVER, TEN_DAYS_AGO) == 1
    # 20 days before the beginning: exp(-20 / 30)
    assert relevance(TOLD_SINCE, TEN_DAYS_AGO, ALWAYS) == pytest.approx(math.exp(-2 / 3))
    spans = ((NEVER, TEN_DAYS_AGO), (TEN_DAYS_AGO, ALWAYS), (NEVER, ALWAYS))
    assert [relevance(UNDATED, *span) for span in spans] == [0.5, 0.5, 0.5]
    # An undated memory can have the time of its event.
    assert relevance(replace(UNDATED, happened=11 * DAYS), NEVER, TEN_DAYS_AGO) == 1
