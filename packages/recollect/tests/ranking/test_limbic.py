"""The limbic profile: each number of its page, with its arithmetic; its order and edges; a slow reference."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from worlds import DAYS, HOURS, STATUSES, Pairs, Row, column, kept_scores, moment, ranks, scores, stepped

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
from recollect.ranking.routing import Route
from recollect.ranking.steps import DropEcho, Order, Plus, Rrf, Times

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    assert round(kept_scores(ranked, "limbic_score")[1], 3) == 0.907
    assert round(Reference(rows, together).composite(1), 3) == 0.907
    marks = {mark.step: mark.values[ranked.ids.tolist().index(1)] for mark in ranked.score_changes}
    assert round(marks["salience"], 3) == 1.425
    assert round(marks["forgetting"], 3) == 0.931
    assert round(marks["cooccurrence"], 3) == 1.052


# The order of its work, its blend, and its edges

FACTUAL = "qué es alpha beta gamma"
MIXED = "alpha beta gamma delta"
EXPLORATORY = "explícame alpha beta gamma delta"
UNROUTED = replace(
    LIMBIC, steps=tuple(replace(s, on=False) if isinstance(s, Route) else s for s in LIMBIC.steps)
)


@pytest.mark.parametrize(
    ("query", "weight", "strategy"),
    [(FACTUAL, 0.7, "cosine_heavy"), (MIXED, 0.5, "hybrid_balanced"), (EXPLORATORY, 0.3, "limbic_heavy")],
)
def test_all_three_strategies_blend(query: str, weight: float, strategy: str) -> None:
    # No signals: limbic score = cosine. Min-max: 0.9 -> 1, 0.5 -> 0.5, 0.1 -> 0
    rows = [Row(1, 0.9), Row(2, 0.5), Row(3, 0.1)]
    ranked = stepped(LIMBIC.steps, rows, moment(rows, query=query))
    blended = {
        1: weight * 0.9 + (1 - weight) * 1.0,
        2: weight * 0.5 + (1 - weight) * 0.5,
        3: weight * 0.1 + (1 - weight) * 0.0,
    }
    assert scores(LIMBIC.steps, rows, moment(rows, query=query)) == pytest.approx(blended)
    assert kept_scores(ranked, "limbic_score") == pytest.approx({1: 0.9, 2: 0.5, 3: 0.1})
    assert ranked.score_changes[-1].step == f"routing: {strategy}"


@pytest.mark.parametrize(
    ("rows", "query", "expected"),
    [
        # rrf: 1/61 each, so norm_rrf = 1 and the base of 2 is 0.8; limbic 0.4 and 0.8, norm 0 and 1
        # 1: 0.7 * 0.4 + 0.3 * 0 = 0.28     2: 0.7 * 0.8 + 0.3 * 1 = 0.86 (upstream: 0.7 * 0 + 0.3 * 1)
        ([Row(1, 0.4), Row(2, bm25=5.0)], FACTUAL, {2: 0.86, 1: 0.28}),
        # equal limbic scores all have a norm of 1: 0.5 * 0.4 + 0.5 * 1 = 0.7
        ([Row(1, 0.4), Row(2, 0.4)], MIXED, {1: 0.7, 2: 0.7}),
        ([Row(1, 0.4)], MIXED, {1: 0.7}),
        # deboosts come before the norm
        # limbic: 1: 0.8 * 0.5 (archived) = 0.4; 2: 0.6; 3: 0.5 * 0.7 (metadata) = 0.35
        # norm:   1: 0.05 / 0.25 = 0.2;         2: 1;   3: 0
        # blend:  1: 0.4 + 0.1 = 0.5;           2: 0.3 + 0.5 = 0.8; 3: 0.25
        (
            [Row(1, 0.8, status=Status.ARCHIVED), Row(2, 0.6), Row(3, 0.5, metadata=0.6)],
            MIXED,
            {2: 0.8, 1: 0.5, 3: 0.25},
        ),
    ],
)
def test_blends_by_hand(rows: list[Row], query: str, expected: dict[int, float]) -> None:
    assert scores(LIMBIC.steps, rows, moment(rows, query=query)) == pytest.approx(expected)


def test_with_routing_off_the_score_is_the_limbic_score() -> None:
    rows = [Row(1, 0.9, status=Status.ARCHIVED), Row(2, 0.5, accesses=4), Row(3, bm25=1.0)]
    ranked = stepped(UNROUTED.steps, rows)
    assert dict(zip(ranked.ids.tolist(), ranked.score.tolist(), strict=True)) == kept_scores(
        ranked, "limbic_score"
    )
    # 1: 0.9 * 0.5 = 0.45     2: 0.5 * 1.5 = 0.75     3: fused 1/61, the most there is, so 0.8
    assert kept_scores(ranked, "limbic_score") == pytest.approx({3: 0.8, 2: 0.75, 1: 0.45})
    assert ranked.ids.tolist() == [3, 2, 1]


def test_the_cut_comes_last_so_that_the_norm_sees_every_candidate() -> None:
    rows = [Row(1, 0.9), Row(2, 0.5), Row(3, 0.1)]
    whole = scores(LIMBIC.steps, rows)
    assert scores(LIMBIC.steps, rows, moment(rows, limit=1)) == {1: whole[1]}
    cut = stepped(LIMBIC.steps, rows, moment(rows, limit=1))
    dropped = [(one.id, one.step, one.score) for one in cut.dropped]
    assert dropped == [(2, "cut", whole[2]), (3, "cut", whole[3])]


def test_the_list_is_in_order_of_the_score_and_not_of_the_limbic_score() -> None:
    # limbic: 1: 0.5 * 1.5 (the only one accessed) = 0.75; 2: 0.7; 3: 0.1
    # norm:   1: 1;                                         2: 0.6 / 0.65 = 0.923; 3: 0
    # blend:  1: 0.35 + 0.3 = 0.65;                         2: 0.49 + 0.277 = 0.767
    rows = [Row(1, 0.5, accesses=3), Row(2, 0.7), Row(3, 0.1)]
    ranked = stepped(LIMBIC.steps, rows, moment(rows, query=FACTUAL))
    assert ranked.ids.tolist() == [2, 1, 3]
    assert kept_scores(ranked, "limbic_score")[1] > kept_scores(ranked, "limbic_score")[2]


def test_a_limit_of_the_caller_steers_the_blend_and_the_default_does_not() -> None:
    rows = [Row(1, 0.9), Row(2, 0.5)]
    for given, strategy in ((False, "cosine_heavy"), (True, "hybrid_balanced")):  # 2 points, or 2 - 1
        ranked = stepped(LIMBIC.steps, rows, moment(rows, query=FACTUAL, limit=10, limit_given=given))
        assert ranked.score_changes[-1].step == f"routing: {strategy}"


def test_either_search_alone_still_answers_and_a_pair_seen_together_gains_two_percent() -> None:
    assert list(scores(LIMBIC.steps, [Row(1, 0.9), Row(2, 0.5)])) == [1, 2]
    assert list(scores(LIMBIC.steps, [Row(1, bm25=9.0), Row(2, bm25=5.0)])) == [1, 2]
    rows = [Row(1, 0.5), Row(2, 0.5)]
    together = scores(UNROUTED.steps, rows, moment(rows, {(1, 2): (3, timedelta())}))
    assert together == pytest.approx({1: 0.5 * 1.02, 2: 0.5 * 1.02})


# A slow reference, written from the published formulas with nothing but `math`

WEIGHTS = {"cosine_heavy": 0.7, "hybrid_balanced": 0.5, "limbic_heavy": 0.3}
QUERIES = {FACTUAL: "cosine_heavy", MIXED: "hybrid_balanced", EXPLORATORY: "limbic_heavy"}
DEBOOSTS = {"active": 1.0, "paused": 0.85, "completed": 0.70, "archived": 0.50}
SETS = 500


class Reference:
    """One set of candidates, scored the slow way, one candidate at a time."""

    def __init__(self, rows: Sequence[Row], pairs: Pairs) -> None:
        self.rows = {row.id: row for row in rows}
        self.pairs = pairs
        self.most = max(row.accesses for row in rows)
        self.most_days = max(row.days for row in rows)
        near = ranks({row.id: row.cosine for row in rows})
        held = ranks({row.id: row.bm25 for row in rows})
        self.rrf = {
            id_: sum(1 / (60 + ranking[id_]) for ranking in (near, held) if id_ in ranking)
            for id_ in self.rows
        }

    def base(self, id_: int) -> float:
        cosine = self.rows[id_].cosine
        if cosine is not None:
            return max(0.0, cosine)
        low, high = min(self.rrf.values()), max(self.rrf.values())
        norm = 1.0 if high == low else (self.rrf[id_] - low) / (high - low)
        return 0.2 + 0.6 * norm

    def importance(self, id_: int) -> float:
        row = self.rows[id_]
        if self.most == 0:
            return 0.0
        access = math.log2(1 + row.accesses) / math.log2(1 + self.most)
        degree = min(row.degree, 15) / 15
        consolidation = math.log2(1 + row.days) / math.log2(1 + self.most_days) if self.most_days > 1 else 0.0
        return access * (1 + 0.15 * degree) * (1 + 0.2 * consolidation)

    def temporal(self, id_: int) -> float:
        row = self.rows[id_]
        return decay(row.seen if row.seen is not None else row.created)

    def cooc(self, id_: int) -> float:
        total = 0.0
        for (first, second), (count, last) in self.pairs.items():
            if id_ in {first, second}:
                total += math.log2(1 + count) * decay(last)
        return total

    def composite(self, id_: int) -> float:
        salience, association = 1 + 0.5 * self.importance(id_), 1 + 0.01 * self.cooc(id_)
        return self.base(id_) * salience * self.temporal(id_) * association

    def limbic(self, id_: int) -> float:
        row = self.rows[id_]
        return self.composite(id_) * DEBOOSTS[row.status.value] * (0.7 if row.metadata > 0.5 else 1.0)

    def final(self, weight: float) -> dict[int, float]:
        limbic = {id_: self.limbic(id_) for id_ in self.rows}
        low, high = min(limbic.values()), max(limbic.values())
        return {
            id_: weight * self.base(id_)
            + (1 - weight) * (1.0 if high == low else (score - low) / (high - low))
            for id_, score in limbic.items()
        }


def decay(ago: timedelta | None) -> float:
    hours = 0.0 if ago is None else max(0.0, ago.total_seconds() / 3_600)
    return max(0.1, math.exp(-0.0001 * hours))


def some_rows(chance: np.random.Generator) -> list[Row]:
    """Up to 40 rows, each found by one search or both; in a third of the sets no signal at all."""
    signals = chance.random() < 2 / 3
    rows = []
    for id_ in chance.choice(500, size=int(chance.integers(1, 41)), replace=False).tolist():
        found = int(chance.integers(3))
        rows.append(
            Row(
                id=id_ + 1,
                cosine=float(chance.uniform(-0.2, 1)) if found != 1 else None,
                bm25=float(chance.uniform(0, 20)) if found != 0 else None,
                created=some_age(chance),
                seen=some_age(chance) if signals and chance.random() < 0.7 else None,
                accesses=int(chance.geometric(0.05)) - 1 if signals else 0,
                days=int(chance.integers(0, 12)) if signals else int(chance.integers(0, 2)),
                degree=int(chance.integers(0, 25)),
                status=STATUSES[chance.integers(4)],
                metadata=float(chance.choice([0.0, 0.5, 0.6, 1.0])),
            )
        )
    return rows


def some_age(chance: np.random.Generator) -> timedelta | None:
    return None if chance.random() < 0.05 else timedelta(microseconds=int(chance.uniform(-3e12, 1.2e14)))


def some_pairs(chance: np.random.Generator, rows: Sequence[Row]) -> Pairs:
    ids = sorted(row.id for row in rows)
    if len(ids) < 2:
        return {}
    chosen = (
        sorted(chance.choice(ids, size=2, replace=False).tolist()) for _ in range(int(chance.integers(0, 30)))
    )
    return {(first, second): (int(chance.geometric(0.1)), some_age(chance)) for first, second in chosen}


def agrees(found: Mapping[int, float], expected: Mapping[int, float]) -> bool:
    return found.keys() == expected.keys() and all(
        math.isclose(found[id_], score, rel_tol=1e-11, abs_tol=1e-12) for id_, score in expected.items()
    )


def is_best_first(order: Sequence[int], expected: Mapping[int, float]) -> bool:
    """By the reference's scores, but for differences that are mere rounding."""
    listed = [expected[id_] for id_ in order]
    return all(one >= other - 1e-12 for one, other in pairwise(listed))


def test_the_profile_agrees_with_the_reference_on_hundreds_of_sets() -> None:
    chance = np.random.default_rng(20260301)
    for number in range(SETS):
        rows = some_rows(chance)
        pairs = some_pairs(chance, rows)
        query, strategy = list(QUERIES.items())[number % 3]
        ranked = stepped(LIMBIC.steps, rows, moment(rows, pairs, query=query, limit=len(rows)))
        reference = Reference(rows, pairs)
        final = reference.final(WEIGHTS[strategy])
        order = ranked.ids.tolist()
        assert agrees(dict(zip(order, ranked.score.tolist(), strict=True)), final), (number, rows, pairs)
        assert agrees(
            kept_scores(ranked, "limbic_score"), {id_: reference.limbic(id_) for id_ in reference.rows}
        )
        assert agrees(kept_scores(ranked, "rrf_score"), reference.rrf)
        assert is_best_first(order, final)
