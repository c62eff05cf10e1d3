"""Staleness and signal, and what follows from them: pruning, placing, promoting."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from sleepers import AT, Row, answer_shown, snapshot, stages, state_after_dream

from recollect.domain.records import Consolidation, Kind
from recollect.dreams.knobs import Knobs
from recollect.dreams.phases import place, promote, prune, signal, staleness
from recollect.dreams.snapshot import Draft, Echo

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.dreams.snapshot import DreamState

KNOBS = Knobs()
STAGED, CONSOLIDATED, ARCHIVED = Consolidation
SECOND = 1 / 86_400


def test_an_entity_a_note_and_a_message_become_stale_at_different_speeds() -> None:
    state = snapshot([Row(id_, kind, touched=10) for id_, kind in enumerate(Kind, 1)])
    assert staleness(state, KNOBS, AT).tolist() == pytest.approx([2.5, 5.0, 10.0])
    # A use in the future gives staleness 0, not less.
    assert staleness(snapshot([Row(1, touched=-3)]), KNOBS, AT).tolist() == [0.0]


@pytest.mark.parametrize(
    ("kind", "revisions", "value"),
    [
        (Kind.ENTITY, 0, 3.0),  # 6 accesses / 3 weeks * 1 * 1.5
        (Kind.NOTE, 0, 2.0),  # 6/3 * 1 * 1.0
        (Kind.MESSAGE, 0, 1.0),  # 6/3 * 1 * 0.5
        (Kind.NOTE, 1, 2.0),  # at least one revision is counted
        (Kind.NOTE, 4, 8.0),  # 6/3 * 4
    ],
)
def test_the_signal_is_accesses_per_week_times_revisions_times_kind(
    kind: Kind, revisions: int, value: float
) -> None:
    state = snapshot([Row(1, kind, created=21, accesses=6, revisions=revisions)])
    assert signal(state, KNOBS, AT).tolist() == pytest.approx([value])
    # A memory younger than a week counts as a week old.
    assert signal(snapshot([Row(1, created=1 / 24, accesses=2)]), KNOBS, AT).tolist() == [2.0]


# Prune

# 181 days * 0.5 = 90.5 > 90; no access: signal 0; strength 0.19 < 0.2
FADED = Row(1, touched=181, strength=0.19)
ECHOED = {0: (Echo(99, 0.97),)}


def plan(*rows: Row, echoes: Mapping[int, tuple[Echo, ...]] | None = None, knobs: Knobs = KNOBS) -> Draft:
    state = snapshot(rows, echoes=ECHOED if echoes is None else echoes)
    return prune(state, knobs, Draft.of(state))


def test_a_memory_is_pruned_only_if_it_meets_every_condition(subtests: pytest.Subtests) -> None:
    kept = {
        "fresh": replace(FADED, touched=180),  # 90.0: not above 90
        "strong": replace(FADED, strength=0.2),  # not below
        "used": replace(FADED, created=210, accesses=3),  # 3 / 30 weeks = 0.1: not below
        "revised": replace(FADED, revisions=2),
        "kept": replace(FADED, kept=True),
        "entity": replace(FADED, kind=Kind.ENTITY),  # 181 * 0.25 = 45.25
    }
    gone = {
        "said by another": FADED,
        "stale": replace(FADED, touched=180 + SECOND),  # 90.000006
        "weak": replace(FADED, strength=0.199999),
        "unused": replace(FADED, created=211, accesses=3),  # 3 / 30.14 weeks = 0.0995
        "revised once": replace(FADED, revisions=1),
        "stale entity": replace(FADED, kind=Kind.ENTITY, touched=361),  # 361 * 0.25 = 90.25
        "message": replace(FADED, kind=Kind.MESSAGE, touched=91),  # 91 * 1.0
    }
    for name, row in (kept | gone).items():
        with subtests.test(name):
            assert plan(row).pruned == ((1,) if name in gone else ())


def test_a_unique_memory_is_kept_and_counted() -> None:
    for echoes in ({}, {0: (Echo(99, 0.7999),)}):
        draft = plan(FADED, echoes=echoes)
        assert (draft.pruned, draft.unique) == ((), (1,))
    assert plan(FADED, echoes={0: (Echo(99, 0.8),)}).pruned == (1,)
    assert plan(FADED, echoes={}, knobs=Knobs(prune_echo=0)).pruned == (1,)


def test_one_of_two_equal_memories_stays() -> None:
    both = plan(FADED, replace(FADED, id=2, touched=200), echoes={0: (Echo(2, 0.99),), 1: (Echo(1, 0.99),)})
    assert (both.pruned, both.unique) == ((2,), (1,))  # the staler one goes


def test_one_of_many_equal_memories_stays() -> None:
    rows = [replace(FADED, id=id_, touched=180 + id_) for id_ in (1, 2, 3, 4)]
    echoes = {row: tuple(Echo(other, 0.99) for other in (1, 2, 3, 4) if other != row + 1) for row in range(4)}
    draft = plan(*rows, echoes=echoes)
    assert len(draft.pruned) + len(draft.unique) == 4
    assert draft.unique
    # A memory that stayed says the same as each pruned one.
    assert {echo.memory for id_ in draft.pruned for echo in echoes[id_ - 1]} & set(draft.unique)


def test_the_last_copy_of_a_pruned_memory_is_not_pruned_next() -> None:
    # Only 1 repeats 2, but 2 and 3 repeat 1. After 2 is pruned, pruning 1 would lose the content of 2.
    rows = [FADED, replace(FADED, id=2, touched=200)]
    echoes = {0: (Echo(2, 0.99), Echo(3, 0.96)), 1: (Echo(1, 0.99),)}
    once = plan(*rows, echoes=echoes)
    left = [row for row in rows if row.id not in once.pruned]
    near = {
        place: tuple(echo for echo in echoes[row.id - 1] if echo.memory not in once.pruned)
        for place, row in enumerate(left)
    }
    assert len(once.pruned) == 1
    assert plan(*left, echoes=near).pruned == ()


def test_each_dream_prunes_a_few_of_very_many_and_in_time_all() -> None:
    rows = [replace(FADED, id=id_, touched=200 + id_) for id_ in range(1, 7)]
    echoes = {row: (Echo(99, 0.99),) for row in range(6)}
    knobs = Knobs(prune_most=2)
    seen: set[int] = set()
    for night in range(40):
        state = replace(snapshot(rows, echoes=echoes), at=AT + night)
        gone = prune(state, knobs, Draft.of(state)).pruned
        assert len(gone) == 2
        seen |= set(gone)
    assert seen == {1, 2, 3, 4, 5, 6}


# Place


def stages_of(*rows: Row, replayed: tuple[int, ...] = ()) -> list[Consolidation]:
    state = snapshot(rows)
    draft = Draft.of(state)
    marks = draft.replayed.copy()
    marks[list(replayed)] = True
    return stages(place(state, KNOBS, replace(draft, replayed=marks)))


def test_a_staged_memory_is_consolidated_after_a_replay_or_a_day() -> None:
    rows = [
        Row(1, stage=STAGED, created=0.1),
        Row(2, stage=STAGED, created=1 - SECOND),
        Row(3, stage=STAGED, created=1),
    ]
    assert stages_of(*rows, replayed=(0,)) == [CONSOLIDATED, STAGED, CONSOLIDATED]


def test_a_very_stale_and_weak_memory_is_archived() -> None:
    old = Row(1, created=900, touched=361, strength=0.09)  # 361 * 0.5 = 180.5 > 180
    assert stages_of(old) == [ARCHIVED]
    assert stages_of(replace(old, touched=360)) == [CONSOLIDATED]  # 180.0
    assert stages_of(replace(old, strength=0.1)) == [CONSOLIDATED]
    assert stages_of(replace(old, kept=True)) == [CONSOLIDATED]
    assert stages_of(replace(old, stage=STAGED)) == [ARCHIVED]
    assert stages_of(replace(old, stage=ARCHIVED)) == [ARCHIVED]
    # Used again, it is consolidated again.
    assert stages_of(Row(1, stage=ARCHIVED, touched=1, strength=0.05)) == [CONSOLIDATED]


# Promote


def promoted_depths(state: DreamState) -> list[int]:
    depths: list[int] = promote(state, KNOBS, Draft.of(state)).life.depth.tolist()
    return depths


# 3 accesses / 3 weeks * 1 * 1.0 = 1.0, in three sessions
WORTHY = Row(1, created=21, accesses=3, spread=3)


def test_a_memory_used_often_and_in_several_sessions_gains_one_depth() -> None:
    rows = [replace(WORTHY, id=depth, depth=depth) for depth in (1, 2, 3)]
    assert promoted_depths(snapshot(rows, replays=(answer_shown(1, 0, 1, 2),))) == [2, 3, 3]

    # Used too seldom, or in too few sessions.
    for row in (replace(WORTHY, created=22), replace(WORTHY, spread=2)):
        assert promoted_depths(snapshot([row], replays=(answer_shown(1, 0),))) == [2]


def test_a_memory_not_used_since_the_last_dream_is_not_promoted_again() -> None:
    shallow = snapshot([replace(WORTHY, depth=1)], replays=(answer_shown(1, 0),))
    dreamt = promote(shallow, KNOBS, Draft.of(shallow))
    assert dreamt.life.depth.tolist() == [2]
    assert promoted_depths(state_after_dream(shallow, dreamt)) == [2]
