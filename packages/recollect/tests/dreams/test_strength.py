"""Replay and fading: each number worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sleepers import Row, answer_shown, snapshot, state_after_dream, strengths

from recollect.domain.records import Consolidation
from recollect.dreams.knobs import Knobs
from recollect.dreams.phases import consolidate, downscale, replay_delta
from recollect.dreams.snapshot import Draft
from recollect.ranking.candidates import DAY, HOUR

if TYPE_CHECKING:
    from recollect.dreams.snapshot import DreamState

KNOBS = Knobs()
STAGED = Consolidation.STAGED


@pytest.mark.parametrize(
    ("peers", "hours", "delta"),
    [
        (3, 1.0, 0.0693147),  # 0.1 * 1/(1+1) * ln(1+3) = 0.05 * 1.386294
        (1, 0.0, 0.0693147),  # 0.1 * 1/(1+0) * ln 2 = 0.1 * 0.693147
        (1, 5.0, 0.0115525),  # 0.1 * 1/6 * ln 2
        (9, 23.0, 0.0095941),  # 0.1 * 1/24 * ln 10 = 0.1 * 2.302585 / 24
        (2, 0.0, 0.1),  # 0.1 * ln 3 = 0.10986: no more than the maximum
        (0, 0.0, 0.0),  # ln 1 = 0: shown alone
        (3, -7.0, 0.1),  # a time ahead is now: 0.1 * ln 4 = 0.1386, held at the maximum
    ],
)
def test_a_replay_adds_more_the_newer_it_is_and_the_more_peers_it_has(
    peers: int, hours: float, delta: float
) -> None:
    assert replay_delta(peers, round(hours * HOUR), 0.1) == pytest.approx(delta, abs=5e-8)


def test_peers_are_all_that_were_shown_with_it_and_the_age_is_the_last_answers() -> None:
    rows = [Row(id_, strength=0.5) for id_ in (1, 2, 3, 4)]
    told = snapshot(rows, replays=(answer_shown(5, 0, 1), answer_shown(1, 2, 0)))
    # 1: two peers, 1 h:  0.1 / 2 * ln 3 = 0.0549306     2: one, 5 h: 0.1 / 6 * ln 2 = 0.0115525
    # 3: one peer, 1 h:   0.1 / 2 * ln 2 = 0.0346574     4: not shown
    assert strengths(consolidate(told, KNOBS, Draft.of(told))) == pytest.approx(
        [0.5549306, 0.5115525, 0.5346574, 0.5], abs=5e-8
    )


def consolidated(told: DreamState) -> Draft:
    return consolidate(told, KNOBS, Draft.of(told))


def test_strength_counts_the_same_peers_once_and_ends_at_1() -> None:
    rows = [Row(1, strength=0.5), Row(2, strength=0.5)]
    once, twice = ((answer_shown(1, 0, 1),), (answer_shown(1, 0, 1), answer_shown(1, 1, 0)))
    single, double = snapshot(rows, replays=once), snapshot(rows, replays=twice)
    assert strengths(consolidated(single)) == strengths(consolidated(double))
    # 0.98 + 0.0693 = 1.0493
    told = snapshot([Row(1, strength=0.98), Row(2)], replays=(answer_shown(0, 0, 1),))
    assert strengths(consolidated(told)) == [1.0, 1.0]
    # Shown alone, it is replayed and gains no strength.
    dreamt = consolidated(snapshot([Row(1, strength=0.5)], replays=(answer_shown(1, 0),)))
    assert (strengths(dreamt), dreamt.replayed.tolist()) == ([0.5], [True])


# Interleaving


def test_beside_each_new_memory_an_old_one_is_replayed_with_it_as_its_one_peer() -> None:
    rows = [
        Row(1, stage=STAGED, created=0.5, strength=0.5),
        Row(2, created=100, touched=3 / 24, strength=0.5),
    ]
    told = snapshot(rows, replays=(answer_shown(1, 0),))
    dreamt = consolidated(told)
    assert dreamt.interleaved == ((0, 1),)
    # The new one had no peer. The old one: touched 3 h ago, one peer: 0.1 * 1/4 * ln 2 = 0.0173287
    assert strengths(dreamt) == pytest.approx([0.5, 0.5173287], abs=5e-8)
    assert dreamt.replayed.tolist() == [True, True]
    # An old one is not replayed beside an old one.
    assert consolidated(snapshot([Row(1), Row(2)], replays=(answer_shown(1, 0),))).interleaved == ()


def test_there_are_as_many_pairs_as_new_memories_or_old_ones_that_were_not_recalled() -> None:
    new, old = [Row(id_, stage=STAGED) for id_ in (1, 2, 3)], [Row(id_) for id_ in (4, 5, 6)]
    told = snapshot([*new, *old], replays=(answer_shown(1, 0, 1, 2, 3),))
    pairs = consolidated(told).interleaved
    assert [first for first, _ in pairs] == [0, 1]
    assert {second for _, second in pairs} == {4, 5}  # place 3 was recalled itself


def test_who_is_interleaved_is_the_same_every_time_and_another_one_another_night() -> None:
    rows = [Row(1, stage=STAGED), *(Row(id_) for id_ in range(2, 40))]
    tonight = snapshot(rows, replays=(answer_shown(1, 0),))
    nights = [replace(tonight, at=tonight.at + night * DAY) for night in range(12)]
    drawn = [consolidated(night).interleaved for night in nights]
    assert drawn == [consolidated(night).interleaved for night in nights]
    assert len({old for ((_, old),) in drawn}) > 6


# Downscaling


def scaled(told: DreamState, knobs: Knobs = KNOBS) -> list[float]:
    return strengths(downscale(told, knobs, Draft.of(told)))


def test_a_day_leaves_95_hundredths() -> None:
    rows = [Row(1), Row(2, strength=0.5)]
    # 0.95^2 = 0.9025     0.5 * 0.9025 = 0.45125
    assert scaled(snapshot(rows, last=2)) == pytest.approx([0.9025, 0.45125])
    # 0.95^0.5 = 0.974679
    assert scaled(snapshot(rows, last=0.5)) == pytest.approx([0.974679, 0.487340], abs=5e-7)
    # Only days in its life count. It is a day old, the last dream was ten days ago: 0.95^1
    assert scaled(snapshot([Row(1, created=1)], last=10)) == pytest.approx([0.95])
    # The first dream takes nothing, and a clock that went back strengthens nothing.
    assert scaled(snapshot([Row(1, strength=0.7, created=400)], last=None)) == [0.7]
    assert scaled(snapshot([Row(1, strength=0.7)], last=-5)) == [0.7]
    # A pinned or marked memory does not fade.
    kept = [Row(1, strength=0.7, kept=True), Row(2, strength=0.7)]
    assert scaled(snapshot(kept, last=1)) == pytest.approx([0.7, 0.665])
    # Strength falls to the floor, and what is below it stays: 0.0105 * 0.9025 = 0.0095, held at 0.01
    low = [Row(1, strength=0.0105), Row(2, strength=0.01), Row(3, strength=0.004)]
    assert scaled(snapshot(low, last=2)) == [0.01, 0.01, 0.004]


def test_two_dreams_at_one_moment_are_one() -> None:
    told = snapshot([Row(1, strength=0.7)], last=3)
    once = downscale(told, KNOBS, Draft.of(told))
    again = state_after_dream(told, once)
    assert strengths(downscale(again, KNOBS, Draft.of(again))) == strengths(once)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=4),
    st.floats(0, 60),
    st.floats(0, 60),
)
def test_two_dreams_take_what_one_over_all_their_days_would(
    memories: list[tuple[float, bool]], first: float, second: float
) -> None:
    rows = [Row(id_, strength=strength, kept=kept) for id_, (strength, kept) in enumerate(memories, 1)]
    one = scaled(snapshot(rows, last=first + second))
    between = [
        replace(row, strength=strength)
        for row, strength in zip(rows, scaled(snapshot(rows, last=first)), strict=True)
    ]
    two = scaled(snapshot(between, last=second))
    # Times are whole microseconds, so the days differ in the eleventh place.
    assert two == pytest.approx(one, rel=1e-9)
