"""Every number of the Limbic System's page, with its arithmetic; where theirs is off, the exact value."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest
from worlds import DAYS, HOURS, Row, column, kept, moment, stepped

from recollect.domain.records import Status
from recollect.ranking.factors import (
    Cooccurrence,
    Forgetting,
    Importance,
    MetadataWeight,
    Salience,
    StatusWeight,
)
from recollect.ranking.profiles import LIMBIC
from recollect.ranking.steps import DropEcho, Order, Plus, Rrf, Times

YEAR = 8_766 * HOURS


def importances(*rows: Row) -> list[float]:
    return [(factor - 1) / 0.5 for factor in column(Salience(), list(rows))]


def test_the_constants_are_the_published_ones() -> None:
    assert Rrf() == Rrf(k=60) == LIMBIC.steps[0]
    assert [search.take(10) for search in LIMBIC.retrieve] == [30, 30]
    assert Salience() == Salience(beta_sal=0.5, beta_deg=0.15, d_max=15, alpha_cons=0.2)
    assert Forgetting() == Forgetting(lambda_hourly=0.0001, floor=0.1)
    assert Cooccurrence() == Cooccurrence(gamma=0.01, lambda_hourly=0.0001, floor=0.1)


def test_accesses_relations_and_days_combine_to_0_978() -> None:
    # access_norm   log2(11) / log2(21) = 3.459 / 4.392 = 0.7876 (their page: 0.787)
    # degree        1 + 0.15 * 8/15     = 1.08
    # consolidation log2(6) / log2(11)  = 2.585 / 3.459 = 0.7472; 1 + 0.2 * 0.7472 = 1.1494
    # 0.7876 * 1.08 * 1.1494 = 0.9777 (their page: 0.977)
    most = Row(9, accesses=20, days=10)
    access, consolidation = math.log2(11) / math.log2(21), math.log2(6) / math.log2(11)
    both, without_degree, _ = importances(
        Row(1, accesses=10, degree=8, days=5), Row(2, accesses=10, days=5), most
    )
    assert both == pytest.approx(access * 1.08 * (1 + 0.2 * consolidation), rel=1e-12)
    assert round(both, 3) == 0.978
    assert both / without_degree == pytest.approx(1.08)
    alone, degree, _ = importances(Row(1, accesses=10), Row(2, accesses=10, degree=8), Row(9, accesses=20))
    assert [alone, degree] == pytest.approx([access, access * 1.08], rel=1e-12)


def test_degree_counts_up_to_fifteen_relations() -> None:
    # 1 + 0.15 * min(d, 15) / 15: 15, 16 and 1000 relations are all 1.15
    rows = [Row(id_, accesses=1, degree=degree) for id_, degree in enumerate((0, 15, 16, 1_000), 1)]
    assert importances(*rows) == pytest.approx([1, 1.15, 1.15, 1.15])


def test_the_step_from_1_to_10_accesses_is_wider_than_from_100_to_110() -> None:
    one, ten, hundred, most = importances(*(Row(count, accesses=count) for count in (1, 10, 100, 110)))
    # (log2 11 - log2 2) / log2 111 = 0.362     (log2 111 - log2 101) / log2 111 = 0.020
    assert [ten - one, most - hundred] == pytest.approx([0.362, 0.020], abs=5e-4)


def test_the_salience_boost_starts_at_1_reaches_1_69_and_is_not_clamped() -> None:
    assert column(Salience(), [Row(1, degree=15), Row(2)]) == [1, 1]  # without any access
    # most accessed, no relations, one day: 1 + 0.5 * 1 = 1.5
    assert column(Salience(), [Row(1, accesses=7, days=1)]) == [1.5]
    # 1 + 0.5 * (1 * 1.15 * 1.2) = 1.69, beyond the [1, 1.5] of their table
    assert column(Salience(), [Row(1, accesses=20, degree=15, days=10)]) == pytest.approx([1.69])


def test_consolidation_is_neutral_while_no_candidate_has_more_than_one_day() -> None:
    # days 0 and 1: a factor of 1, so importance is access_norm alone
    assert column(Salience(), [Row(1, accesses=3, days=1), Row(2, accesses=3)]) == [1.5, 1.5]
    # days 1 and 2: 1 + 0.2 * log2(2) / log2(3) = 1.1262 and 1 + 0.2 * 1 = 1.2
    one, two = column(Salience(), [Row(1, accesses=3, days=1), Row(2, accesses=3, days=2)])
    assert [one, two] == pytest.approx([1 + 0.5 * 1.12619, 1.6], abs=1e-5)


def test_a_spike_of_one_day_still_outweighs_a_month_of_daily_use() -> None:
    # Their page says otherwise.
    # 100 accesses on one day: 1 * (1 + 0.2 * log2(2) / log2(31)) = 1.040
    # 30 accesses on 30 days: log2(31) / log2(101) * 1.2 = 0.744 * 1.2 = 0.893
    spike_and_daily = importances(Row(1, accesses=100, days=1), Row(2, accesses=30, days=30))
    assert spike_and_daily == pytest.approx([1.040, 0.893], abs=5e-4)


DECAYS = [
    (1 * HOURS, 0.9999),  # exp(-0.0001)
    (1 * DAYS, 0.9976),  # exp(-0.0024)
    (7 * DAYS, 0.9833),  # exp(-0.0168)
    (30 * DAYS, 0.9305),  # exp(-0.072)
    (90 * DAYS, 0.8057),  # exp(-0.216); their page: 0.8053
    (180 * DAYS, 0.6492),  # exp(-0.432); their page: 0.6485
    (math.log(2) / 0.0001 * HOURS, 0.5),  # 6931.5 h = 289 days
    (YEAR, 0.4162),  # exp(-0.8766); their page: 0.4172
    (2 * YEAR, 0.1732),  # exp(-1.7532); their pages: 0.1740 for access, the floor for co-occurrence
    (23_026 * HOURS, 0.1),  # ln 10 / 0.0001 = 23,025.9 h = 2.63 years
    (26_300 * HOURS, 0.1),  # exp(-2.63) = 0.072, below the floor
]


def test_what_was_not_used_or_not_seen_together_fades_as_tabled() -> None:
    for ago, factor in DECAYS:
        exact = max(0.1, math.exp(-0.0001 * (ago / HOURS)))
        assert round(exact, 4) == factor
        assert column(Forgetting(), [Row(1, seen=ago)]) == pytest.approx([exact], rel=1e-12)
        # co_count 1: log2(2) = 1, so the boost is the decay itself
        rows = [Row(1), Row(2)]
        boost = column(Cooccurrence(gamma=1), rows, moment(rows, {(1, 2): (1, ago)}))
        assert [round(value - 1, 4) for value in boost] == [factor, factor]
    assert column(Forgetting(), [Row(1, seen=23_025 * HOURS)])[0] > 0.1


def test_without_an_access_age_counts_from_creation_and_unknown_or_future_times_do_not_fade() -> None:
    rows = [Row(1, created=30 * DAYS), Row(2, created=30 * DAYS, seen=DAYS)]
    assert column(Forgetting(), rows) == pytest.approx([math.exp(-0.072), math.exp(-0.0024)])
    future = [Row(1, seen=-DAYS), Row(2, created=None), Row(3, created=-DAYS)]
    assert column(Forgetting(), future) == [1, 1, 1]


def test_the_logarithm_smooths_counts_of_being_together() -> None:
    rows = [Row(1), Row(2)]
    # 1: log2(2) = 1, 5: log2(6) = 2.585, ..., 100: log2(101) = 6.658
    for count, logarithm in ((1, 1.00), (5, 2.58), (10, 3.46), (50, 5.67), (100, 6.66)):
        boost = column(Cooccurrence(gamma=1), rows, moment(rows, {(1, 2): (count, timedelta())}))
        assert [round(value - 1, 2) for value in boost] == [logarithm, logarithm]


def test_a_boost_of_5_adds_five_percent_and_there_is_no_bound() -> None:
    # co_count 31: log2(32) = 5; 1 + 0.01 * 5 = 1.05
    rows = [Row(id_) for id_ in range(1, 5)]
    pair = {(1, 2): (31, timedelta())}
    assert column(Cooccurrence(), rows, moment(rows, pair)) == pytest.approx([1.05, 1.05, 1, 1])
    # three others, 1023 times each: 1 + 0.01 * 3 * 10 = 1.3
    every = {(1, other): (1_023, timedelta()) for other in (2, 3, 4)}
    assert column(Cooccurrence(), rows, moment(rows, every))[0] == pytest.approx(1.3)


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
    # metadata counts only above one half
    rows = [Row(place + 1, metadata=share) for place, share in enumerate((0.0, 0.5, 0.51, 1.0))]
    assert column(MetadataWeight(), rows) == [1, 1, 0.7, 0.7]


def test_fastmcp_scores_0_907_through_the_profile() -> None:
    # 0.65 * 1.4253 * 0.9305 * 1.0517 = 0.9067 (their page: 0.908), of which
    # salience:      0.7876 * 1.08 = 0.8506; 1 + 0.5 * 0.8506 = 1.4253
    # forgetting:    exp of -0.0001 * 720 hours = 0.9305
    # co-occurrence: log2(6) + log2(3) + log2(2) = 5.170; 1 + 0.01 * 5.170 = 1.0517
    rows = [
        Row(1, cosine=0.65, accesses=10, degree=8, seen=30 * DAYS),
        Row(2, cosine=0.1, accesses=20),
        *(Row(id_, cosine=0.1) for id_ in (3, 4)),
    ]
    together = {(1, 2): (5, timedelta()), (1, 3): (2, timedelta()), (1, 4): (1, timedelta())}
    ranked = stepped(LIMBIC.steps, rows, moment(rows, together))
    assert round(kept(ranked, "limbic_score")[1], 3) == 0.907
    marks = {mark.step: mark.values[ranked.ids.tolist().index(1)] for mark in ranked.score_changes}
    assert round(marks["salience"], 3) == 1.425
    assert round(marks["forgetting"], 3) == 0.931
    assert round(marks["cooccurrence"], 3) == 1.052
