"""Every number of the Limbic System's page, with its arithmetic; where theirs is off, the exact value."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest
from worlds import DAYS, HOURS, NOW, Row, column, kept, moment, stepped

from recollect.ranking.factors.content import Importance
from recollect.ranking.factors.limbic import Cooccurrence, Forgetting, MetadataWeight, Salience, StatusWeight
from recollect.ranking.profiles import LIMBIC
from recollect.ranking.steps import limbic
from recollect.ranking.steps.adjust import Plus, Times
from recollect.ranking.steps.finish import DropEcho, Order
from recollect.ranking.steps.limbic import (
    Constants,
    compute_cooc_boost,
    compute_importance,
    compute_temporal_factor,
    rank_candidates,
)
from recollect.records import Status

YEAR = 8_766 * HOURS


def test_the_constants_are_the_published_ones() -> None:
    assert (limbic.BETA_SAL, limbic.BETA_DEG, limbic.D_MAX, limbic.ALPHA_CONS) == (0.5, 0.15, 15, 0.2)
    assert (limbic.LAMBDA_HOURLY, limbic.TEMPORAL_FLOOR, limbic.COOC_TEMPORAL_FLOOR) == (0.0001, 0.1, 0.1)
    assert (limbic.GAMMA, limbic.RRF_K, limbic.EXPANSION_FACTOR) == (0.01, 60, 3)
    assert Constants() == Constants(0.5, 0.15, 15, 0.2, 0.0001, 0.1, 0.1, 0.01)


def test_ten_accesses_of_at_most_twenty_are_worth_0_788() -> None:
    # log2(11) / log2(21) = 3.459 / 4.392 = 0.7876 (their page: 0.787)
    assert math.log2(11) == pytest.approx(3.459, abs=5e-4)
    assert math.log2(21) == pytest.approx(4.392, abs=5e-4)
    value = compute_importance(access_count=10, max_access=20, degree=0)
    assert value == pytest.approx(math.log2(11) / math.log2(21), rel=1e-12)
    assert round(value, 3) == 0.788


def test_accesses_relations_and_days_combine_to_0_978() -> None:
    # access_norm   log2(11) / log2(21) = 0.7876
    # degree        1 + 0.15 * 8/15     = 1.08
    # consolidation log2(6) / log2(11)  = 2.585 / 3.459 = 0.7472; 1 + 0.2 * 0.7472 = 1.1494
    # 0.7876 * 1.08 * 1.1494 = 0.9777 (their page: 0.977)
    consolidation = math.log2(6) / math.log2(11)
    assert round(math.log2(6), 3) == 2.585
    assert round(consolidation, 3) == 0.747
    value = compute_importance(10, 20, degree=8, access_days=5, max_access_days=10)
    assert value == pytest.approx(math.log2(11) / math.log2(21) * 1.08 * (1 + 0.2 * consolidation), rel=1e-12)
    assert round(value, 3) == 0.978
    # degree adds 8 %, consolidation about 15 %
    assert value / compute_importance(10, 20, 0, 5, 10) == pytest.approx(1.08)
    assert value / compute_importance(10, 20, 8) == pytest.approx(1.149, abs=5e-4)


def test_the_columns_agree_on_the_combined_example() -> None:
    rows = [Row(1, accesses=10, degree=8, days=5), Row(2, accesses=20, days=10)]
    first, _ = column(Salience(), rows)
    assert first == pytest.approx(1 + 0.5 * compute_importance(10, 20, 8, 5, 10), rel=1e-12)
    assert round((first - 1) / 0.5, 3) == 0.978


def test_degree_counts_up_to_fifteen_relations() -> None:
    # 1 + 0.15 * min(d, 15) / 15: 15, 16 and 1000 relations are all 1.15
    assert [compute_importance(1, 1, degree) for degree in (0, 15, 16, 1_000)] == pytest.approx(
        [1, 1.15, 1.15, 1.15]
    )


def test_the_step_from_1_to_10_accesses_is_wider_than_from_100_to_110() -> None:
    def norm(count: int) -> float:
        return compute_importance(count, 110, 0)

    # (log2 11 - log2 2) / log2 111 = 0.362     (log2 111 - log2 101) / log2 111 = 0.020
    assert norm(10) - norm(1) == pytest.approx(0.362, abs=5e-4)
    assert norm(110) - norm(100) == pytest.approx(0.020, abs=5e-4)


def test_without_any_access_importance_is_0() -> None:
    assert compute_importance(0, 0, degree=15, access_days=0, max_access_days=0) == 0
    assert column(Salience(), [Row(1, degree=15), Row(2)]) == [1, 1]


def test_an_importance_of_1_multiplies_by_one_and_a_half() -> None:
    # most accessed, no relations, one day: 1 + 0.5 * 1 = 1.5
    assert column(Salience(), [Row(1, accesses=7, days=1)]) == [1.5]


def test_the_salience_boost_reaches_1_69_and_is_not_clamped() -> None:
    # 1 + 0.5 * (1 * 1.15 * 1.2) = 1.69, beyond the [1, 1.5] of their table
    (value,) = column(Salience(), [Row(1, accesses=20, degree=15, days=10)])
    assert value == pytest.approx(1.69)


def test_consolidation_is_neutral_while_no_candidate_has_more_than_one_day() -> None:
    # days 0 and 1: a factor of 1, so importance is access_norm alone
    assert column(Salience(), [Row(1, accesses=3, days=1), Row(2, accesses=3)]) == [1.5, 1.5]
    # days 1 and 2: 1 + 0.2 * log2(2) / log2(3) = 1.1262 and 1 + 0.2 * 1 = 1.2
    one, two = column(Salience(), [Row(1, accesses=3, days=1), Row(2, accesses=3, days=2)])
    assert [one, two] == pytest.approx([1 + 0.5 * 1.12619, 1.6], abs=1e-5)
    assert compute_importance(3, 3, 0, access_days=1, max_access_days=1) == 1


def test_consolidation_multiplies_by_at_most_1_2() -> None:
    assert compute_importance(1, 1, 0, access_days=30, max_access_days=30) == pytest.approx(1.2)


def test_a_spike_of_one_day_still_outweighs_a_month_of_daily_use() -> None:
    # Their page says otherwise.
    # 100 accesses on one day: 1 * (1 + 0.2 * log2(2) / log2(31)) = 1.040
    # 30 accesses on 30 days: log2(31) / log2(101) * 1.2 = 0.744 * 1.2 = 0.893
    spike = compute_importance(100, 100, 0, access_days=1, max_access_days=30)
    daily = compute_importance(30, 100, 0, access_days=30, max_access_days=30)
    assert [spike, daily] == pytest.approx([1.040, 0.893], abs=5e-4)


DECAYS = [
    (1 * HOURS, 0.9999),  # exp(-0.0001)
    (1 * DAYS, 0.9976),  # exp(-0.0024)
    (7 * DAYS, 0.9833),  # exp(-0.0168)
    (30 * DAYS, 0.9305),  # exp(-0.072)
    (90 * DAYS, 0.8057),  # exp(-0.216); their page: 0.8053
    (180 * DAYS, 0.6492),  # exp(-0.432); their page: 0.6485
    (YEAR, 0.4162),  # exp(-0.8766); their page: 0.4172
    (2 * YEAR, 0.1732),  # exp(-1.7532); their pages: 0.1740 for access, the floor for co-occurrence
    (26_300 * HOURS, 0.1),  # exp(-2.63) = 0.072, below the floor
    (5 * YEAR, 0.1),
]


@pytest.mark.parametrize(("ago", "factor"), DECAYS)
def test_what_was_not_used_fades_as_tabled(ago: timedelta, factor: float) -> None:
    exact = max(0.1, math.exp(-0.0001 * (ago / HOURS)))
    assert round(exact, 4) == factor
    assert compute_temporal_factor(NOW - ago, None, NOW) == pytest.approx(exact, rel=1e-12)
    assert column(Forgetting(), [Row(1, seen=ago)]) == pytest.approx([exact], rel=1e-12)


@pytest.mark.parametrize(("ago", "factor"), DECAYS)
def test_what_was_seen_together_fades_by_the_same_table(ago: timedelta, factor: float) -> None:
    # co_count 1: log2(2) = 1, so the boost is the decay itself
    assert round(compute_cooc_boost(1, {(1, 2): (1, NOW - ago)}, [1, 2], NOW), 4) == factor
    rows = [Row(1), Row(2)]
    boost = column(Cooccurrence(gamma=1), rows, moment(rows, {(1, 2): (1, ago)}))
    assert [round(value - 1, 4) for value in boost] == [factor, factor]


def test_half_is_left_after_289_days() -> None:
    # ln 2 / 0.0001 = 6931.5 h = 288.8 days
    half = math.log(2) / 0.0001
    assert round(half) == 6_931
    assert round(half / 24) == 289
    assert compute_temporal_factor(NOW - half * HOURS, None, NOW) == pytest.approx(0.5)


def test_the_floor_is_reached_after_2_63_years() -> None:
    # ln 10 / 0.0001 = 23,026 h = 2.627 years of 8,766 h
    reached = math.log(10) / 0.0001
    assert round(reached / 8_766, 2) == 2.63
    assert compute_temporal_factor(NOW - (reached - 1) * HOURS, None, NOW) > 0.1
    assert compute_temporal_factor(NOW - (reached + 1) * HOURS, None, NOW) == 0.1


def test_what_was_never_accessed_fades_from_its_creation() -> None:
    assert compute_temporal_factor(None, NOW - 30 * DAYS, NOW) == pytest.approx(math.exp(-0.072))
    rows = [Row(1, created=30 * DAYS), Row(2, created=30 * DAYS, seen=DAYS)]
    assert column(Forgetting(), rows) == pytest.approx([math.exp(-0.072), math.exp(-0.0024)])


def test_times_ahead_and_times_unknown_do_not_fade() -> None:
    assert compute_temporal_factor(NOW + DAYS, None, NOW) == 1
    assert compute_temporal_factor(None, None, NOW) == 1
    assert column(Forgetting(), [Row(1, seen=-DAYS), Row(2, created=None), Row(3, created=-DAYS)]) == [
        1,
        1,
        1,
    ]


def test_times_as_text_are_read_as_utc() -> None:
    # 2026-01-30 12:00 is 30 days before the test's now
    for text in ("2026-01-30 12:00:00", "2026-01-30T12:00:00+00:00", "2026-01-30T14:00:00+02:00"):
        assert compute_temporal_factor(text, None, NOW) == pytest.approx(math.exp(-0.072))


@pytest.mark.parametrize(("count", "logarithm"), [(1, 1.00), (5, 2.58), (10, 3.46), (50, 5.67), (100, 6.66)])
def test_the_logarithm_smooths_counts_of_being_together(count: int, logarithm: float) -> None:
    # 1: log2(2) = 1, 5: log2(6) = 2.585, ..., 100: log2(101) = 6.658
    boost = compute_cooc_boost(1, {(1, 2): count}, [1, 2])
    assert boost == pytest.approx(math.log2(1 + count))
    assert round(boost, 2) == logarithm


def test_a_boost_of_5_adds_five_percent_and_there_is_no_bound() -> None:
    # co_count 31: log2(32) = 5; 1 + 0.01 * 5 = 1.05
    rows = [Row(id_) for id_ in range(1, 5)]
    pair = {(1, 2): (31, timedelta())}
    assert column(Cooccurrence(), rows, moment(rows, pair)) == pytest.approx([1.05, 1.05, 1, 1])
    # three others, 1023 times each: 1 + 0.01 * 3 * 10 = 1.3
    every = {(1, other): (1_023, timedelta()) for other in (2, 3, 4)}
    assert column(Cooccurrence(), rows, moment(rows, every))[0] == pytest.approx(1.3)


def test_pairs_count_in_either_order_with_the_results_only_and_never_with_oneself() -> None:
    pairs = {(2, 1): 1, (1, 3): 1, (1, 1): 99}
    assert compute_cooc_boost(1, pairs, [1, 2]) == 1
    assert compute_cooc_boost(1, pairs, [1, 2, 3, 3]) == 2
    assert compute_cooc_boost(1, pairs, [1]) == 0


def test_a_pair_may_say_when_it_was_last_seen() -> None:
    faded = 2 * math.exp(-0.072)  # log2(4) * exp(-0.0001 * 720)
    last = NOW - 30 * DAYS
    for pair in ((3, last), {"co_count": 3, "last_co": last}, {"co_count": 3, "last_co": last.isoformat()}):
        assert compute_cooc_boost(1, {(1, 2): pair}, [1, 2], NOW) == pytest.approx(faded)
    assert compute_cooc_boost(1, {(1, 2): (3, last)}, [1, 2]) == pytest.approx(2)  # no now: nothing fades
    assert compute_cooc_boost(1, {(1, 2): {"co_count": 3}}, [1, 2], NOW) == pytest.approx(2)


def test_pairs_are_found_again_after_steps_dropped_and_moved_rows() -> None:
    rows = [Row(1, echo=True), Row(2, importance=0.1), Row(3, importance=0.2), Row(4, importance=0.4)]
    when = moment(rows, {(1, 4): (1, timedelta()), (2, 4): (3, timedelta())})
    ranked = stepped([Plus(Importance()), DropEcho(), Order(), Times(Cooccurrence(gamma=1))], rows, when)
    # 1 is gone; 2 and 4 were together 3 times: 1 + log2(4) = 3
    assert ranked.ids.tolist() == [4, 3, 2]
    assert ranked.score.tolist() == pytest.approx([0.4 * 3, 0.2, 0.1 * 3])


def test_statuses_and_metadata_step_back_as_tabled() -> None:
    rows = [Row(place + 1, status=status) for place, status in enumerate(Status)]
    assert column(StatusWeight(), rows) == [1.0, 0.85, 0.70, 0.50]
    spanish = [Status.of(word) for word in ("activo", "pausado", "completado", "archivado")]
    assert spanish == list(Status)


def test_metadata_counts_only_above_one_half() -> None:
    shares = [0.0, 0.5, 0.51, 1.0]
    rows = [Row(place + 1, metadata=share) for place, share in enumerate(shares)]
    assert column(MetadataWeight(), rows) == [1, 1, 0.7, 0.7]


FASTMCP = Row(1, cosine=0.65, accesses=10, degree=8, seen=30 * DAYS)
OTHERS = [Row(2, cosine=0.1, accesses=20), Row(3, cosine=0.1), Row(4, cosine=0.1)]
TOGETHER = {(1, 2): (5, timedelta()), (1, 3): (2, timedelta()), (1, 4): (1, timedelta())}


def test_fastmcp_step_by_step() -> None:
    # 1: max(0, 1 - 0.35) = 0.65
    cosine = max(0.0, 1 - 0.35)
    assert cosine == pytest.approx(0.65)
    # 2: 0.7876 * 1.08 = 0.8506 (their page: 0.850); 1 + 0.5 * 0.8506 = 1.4253
    importance = compute_importance(10, 20, 8)
    assert round(importance, 3) == 0.851
    assert round(1 + 0.5 * importance, 3) == 1.425
    # 3: exp(-0.0001 * 720) = 0.9305
    temporal = compute_temporal_factor(NOW - 30 * DAYS, None, NOW)
    assert round(temporal, 3) == 0.931
    # 4: log2(6) + log2(3) + log2(2) = 2.585 + 1.585 + 1 = 5.170; 1 + 0.01 * 5.170 = 1.0517
    boost = compute_cooc_boost(1, {(1, 2): 5, (1, 3): 2, (1, 4): 1}, [1, 2, 3, 4])
    assert round(boost, 3) == 5.170
    assert round(1 + 0.01 * boost, 3) == 1.052
    # 5: 0.65 * 1.4253 * 0.9305 * 1.0517 = 0.9067 (their page: 0.908), 39 % above 0.65
    score = cosine * (1 + 0.5 * importance) * temporal * (1 + 0.01 * boost)
    assert round(score, 3) == 0.907
    assert score / 0.65 == pytest.approx(1.395, abs=5e-4)


def test_fastmcp_scores_0_907_through_the_function() -> None:
    ranked = rank_candidates(
        [{"entity_id": 1, "distance": 0.35}, *({"entity_id": id_, "distance": 0.9} for id_ in (2, 3, 4))],
        {
            1: {"access_count": 10, "last_access": NOW - 30 * DAYS},
            2: {"access_count": 20, "last_access": NOW},
        },
        {1: 8},
        {(1, 2): 5, (1, 3): 2, (1, 4): 1},
        10,
        now=NOW,
    )
    best = ranked[0]
    assert best["entity_id"] == 1
    assert best["distance"] == 0.35
    assert round(best["limbic_score"], 3) == 0.907
    assert {name: round(value, 3) for name, value in best["scoring"].items()} == {
        "importance": 0.851,
        "temporal_factor": 0.931,
        "cooc_boost": 5.170,
    }


def test_fastmcp_scores_0_907_through_the_profile() -> None:
    rows = [FASTMCP, *OTHERS]
    ranked = stepped(LIMBIC.steps, rows, moment(rows, TOGETHER))
    assert round(kept(ranked, "limbic_score")[1], 3) == 0.907
    marks = {mark.step: mark.values[ranked.ids.tolist().index(1)] for mark in ranked.score_changes}
    assert round(marks["salience"], 3) == 1.425
    assert round(marks["forgetting"], 3) == 0.931
    assert round(marks["cooccurrence"], 3) == 1.052
