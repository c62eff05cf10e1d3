"""The place of a candidate, compared with a full recomputation; and our own profile."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hand_weights import PLAIN_FUSION
from hypothesis import given
from hypothesis import strategies as st
from worlds import Moment, Row, gathered, moment, scores, stepped, worked_out, worlds

from recollect.domain.records import Status
from recollect.ranking.candidates import reasons, run
from recollect.ranking.profiles import COGNIS, LIMBIC, MNEMOSYNE, PROFILES, RECOLLECT
from recollect.ranking.steps import Cut
from recollect.ranking.why_not import find_standing

if TYPE_CHECKING:
    from recollect.ranking.candidates import Profile

any_profile = st.sampled_from(list(PROFILES.values()))


@given(profile=any_profile, world=worlds(min_size=1))
def test_a_standing_is_what_recomputing_everything_gives(
    profile: Profile, world: tuple[list[Row], Moment]
) -> None:
    rows, when = world
    whole = run(profile, gathered(rows, when), replace(when, limit=1_000))
    if when.limit_given:  # a given limit is part of the question
        whole = gathered(rows, when)
        for step in profile.steps:
            whole = whole if isinstance(step, Cut) else step(whole, when)
    order = whole.ids.tolist()
    for row in rows:
        stands = find_standing(profile, gathered(rows, when), when, row.id)
        needed = whole.score[when.limit - 1] if 0 < when.limit <= len(order) else None
        assert stands.needed == needed
        if row.id not in order:
            (gone,) = (dropped for dropped in whole.dropped if dropped.id == row.id)
            assert (stands.place, stands.dropped, stands.score) == (None, gone, gone.score)
            continue
        at = order.index(row.id)
        assert (stands.place, stands.dropped, stands.score) == (at + 1, None, whole.score[at])
        assert stands.reasons == reasons(whole)[at]
        told = stands.reasons
        expected = []
        for place, reason in enumerate(told):
            if reason.effect in {"plus", "times"}:
                score = worked_out(told, place)
                others = [(-float(whole.score[other]), id_) for other, id_ in enumerate(order) if other != at]
                without = sorted([*others, (-score, row.id)]).index((-score, row.id)) + 1
                expected.append((reason.step, reason.value, without, at + 1 - without))
        found = [(cost.step, cost.value, cost.place_without, cost.places) for cost in stands.costs]
        assert sorted(found) == sorted(expected)
        assert [cost.places for cost in stands.costs] == sorted((cost[3] for cost in expected), reverse=True)


@given(profile=any_profile, world=worlds(min_size=1))
def test_the_first_of_the_limit_stand_where_the_list_shows_them(
    profile: Profile, world: tuple[list[Row], Moment]
) -> None:
    rows, when = world
    shown = run(profile, gathered(rows, when), when).ids.tolist()
    places = {row.id: find_standing(profile, gathered(rows, when), when, row.id).place for row in rows}
    assert {id_: place for id_, place in places.items() if place is not None and place <= when.limit} == {
        id_: place for place, id_ in enumerate(shown, start=1)
    }


def test_what_an_archived_memory_loses_is_told() -> None:
    rows = [Row(1, 0.9), Row(2, 0.8, status=Status.ARCHIVED), Row(3, 0.6), Row(4, 0.1)]
    # stretched: 1: 1, 2: 0.875, 3: 0.625, 4: 0; times 0.6, and 2 halved: 0.6, 0.2625, 0.375, 0
    stands = find_standing(PLAIN_FUSION, gathered(rows), moment(rows, limit=2), 2)
    assert stands.place == 3
    assert [stands.score, stands.needed] == pytest.approx([0.2625, 0.375])
    dearest = stands.costs[0]
    assert (dearest.step, dearest.value, dearest.place_without, dearest.places) == ("status", 0.5, 2, 1)
    # without meaning it would have nothing: (0 + 0) * 0.5 = 0, the same as 4, and ahead of it by id
    assert {cost.step: cost.places for cost in stands.costs} == {
        "status": 1,
        "named": 0,
        "matched words": 0,
        "words": 0,
        "meaning": 0,
    }


def test_what_was_dropped_is_told_with_the_step_and_the_reason() -> None:
    for profile, rows, limit, told in (
        (COGNIS, [Row(1, 0.1), Row(2, 0.9), Row(3, 0.8)], 1, ("threshold", "cosine 0.100 is below 0.3")),
        (MNEMOSYNE, [Row(1, 0.5, content=3), Row(2, 0.9, content=3)], 10, ("repeats", "it repeats memory 2")),
    ):
        stands = find_standing(profile, gathered(rows), moment(rows, limit=limit), 1)
        assert stands.place is None
        assert stands.dropped is not None
        assert (stands.dropped.step, stands.dropped.reason) == told
        assert (stands.needed is None) is (limit == 10)  # where the list is not full


def test_the_last_place_of_the_limit_is_what_is_needed() -> None:
    rows = [Row(1, 0.9), Row(2, 0.5), Row(3, 0.1)]
    whole = scores(LIMBIC.steps, rows)
    for limit, needed in ((0, None), (1, whole[1]), (3, whole[3]), (4, None)):
        assert find_standing(LIMBIC, gathered(rows), moment(rows, limit=limit), 3).needed == needed


def test_our_own_profile_by_hand() -> None:
    # stretched cosines 1, 0.5, 0, -; BM25 -, 4/8, -, 8/8
    # 1: 0.6 * 1 = 0.6      2: (0.6 * 0.5 + 0.4 * 0.5) * 0.85 = 0.425      3: 0      4: 0.4
    rows = [Row(1, 0.9), Row(2, 0.8, 4.0, status=Status.PAUSED), Row(3, 0.7), Row(4, bm25=8.0)]
    assert scores(PLAIN_FUSION.steps, rows) == pytest.approx({1: 0.6, 2: 0.425, 4: 0.4, 3: 0})
    assert [retriever.take(10) for retriever in RECOLLECT.retrieve] == [100, 100, 100, 50]
    assert [retriever.take(30) for retriever in RECOLLECT.retrieve] == [150, 150, 150, 50]


def test_our_own_profile_drops_echoes_and_repeats() -> None:
    rows = [Row(1, 0.9, echo=True), Row(2, 0.8, content=1), Row(3, 0.7, content=1), Row(4, 0.1)]
    ranked = stepped(RECOLLECT.steps, rows)
    assert ranked.ids.tolist() == [2, 4]
    assert {dropped.id: dropped.step for dropped in ranked.dropped} == {1: "echo", 3: "repeats"}
