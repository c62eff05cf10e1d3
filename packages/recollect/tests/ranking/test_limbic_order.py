"""The limbic profile: the order of its work, its blend, and its edges."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from worlds import Row, kept, moment, scores, stepped

from recollect.domain.records import Status
from recollect.ranking.profiles import LIMBIC
from recollect.ranking.routing import Route

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
    assert kept(ranked, "limbic_score") == pytest.approx({1: 0.9, 2: 0.5, 3: 0.1})
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
    assert dict(zip(ranked.ids.tolist(), ranked.score.tolist(), strict=True)) == kept(ranked, "limbic_score")
    # 1: 0.9 * 0.5 = 0.45     2: 0.5 * 1.5 = 0.75     3: fused 1/61, the most there is, so 0.8
    assert kept(ranked, "limbic_score") == pytest.approx({3: 0.8, 2: 0.75, 1: 0.45})
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
    assert kept(ranked, "limbic_score")[1] > kept(ranked, "limbic_score")[2]


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
