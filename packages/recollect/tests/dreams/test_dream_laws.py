"""Laws of every dream: over random snapshots, a plan is pure, settles at once, and spares what is pinned."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis_profiles import tries
from sleepers import TODAY, Row, after, answer_shown, snapshot

from recollect.domain.records import Consolidation, Kind
from recollect.dreams.knobs import Knobs, Phase
from recollect.dreams.phases import STAGED
from recollect.dreams.plan import Plan, plan
from recollect.dreams.snapshot import Copy, Draft, DreamText, Echo, Pair, SimilarTexts

if TYPE_CHECKING:
    from recollect.dreams.snapshot import DreamState

KNOBS = Knobs()
few = settings(max_examples=tries(30))
TEXTS = (
    "Ada drinks tea",
    "Ada drinks the tea!",
    "Ada drank tea",
    "Alice works at Google",
    "alice works at google",
)
DAYS = st.one_of(st.sampled_from([0.0, 1.0, 180.0, 181.0, 361.0, 400.0]), st.floats(0, 1_000))


@st.composite
def rows(draw: st.DrawFn, id_: int) -> Row:
    created = draw(DAYS)
    spread = draw(st.integers(1, 5))
    return Row(
        id_,
        kind=draw(st.sampled_from(Kind)),
        created=created,
        touched=min(created, draw(DAYS)),
        accesses=draw(st.integers(0, 30)),
        revisions=draw(st.integers(0, 3)),
        kept=draw(st.booleans()),
        sessions=draw(st.integers(spread, 6)),
        stage=draw(st.sampled_from(Consolidation)),
        strength=draw(st.one_of(st.sampled_from([0.0, 0.005, 0.05, 0.15, 1.0]), st.floats(0, 1))),
        depth=draw(st.integers(1, 3)),
        spread=spread,
        stability=draw(st.sampled_from([0.1, 1.0, 40.0])),
    )


@st.composite
def snapshots(draw: st.DrawFn) -> DreamState:
    size = draw(st.integers(0, 6))
    known = [draw(rows(id_)) for id_ in range(1, size + 1)]
    places = st.integers(0, max(size - 1, 0))
    some = st.lists(places, min_size=1, max_size=4, unique=True).map(tuple)
    if not size:
        return snapshot([], last=draw(st.none() | DAYS))

    def draw_statement(place: int) -> DreamText:
        row = known[place]
        return DreamText(row.id, draw(st.sampled_from(TEXTS)), accesses=row.accesses, kept=row.kept)

    pairs = st.tuples(places, places).filter(lambda pair: pair[0] < pair[1])
    several = st.lists(pairs, max_size=4, unique=True) if size > 1 else st.just([])
    used = draw(st.dictionaries(places, st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True)))
    return snapshot(
        known,
        last=draw(st.none() | DAYS),
        replays=tuple(
            answer_shown(draw(st.floats(0, 48)), *each) for each in draw(st.lists(some, max_size=4))
        ),
        used_on={row: tuple(sorted(TODAY - day for day in days)) for row, days in used.items()},
        seen_before={row: TODAY - 10 - draw(st.integers(0, 90)) for row in used if draw(st.booleans())},
        echoes={
            row: tuple(
                Echo(other, draw(st.sampled_from([0.9, 0.95, 0.99])))
                for other in draw(st.lists(st.integers(1, 9), max_size=3, unique=True))
                if other != known[row].id
            )
            for row in range(size)
        },
        twins=tuple(
            SimilarTexts(draw_statement(first), draw_statement(second), draw(st.floats(0.85, 1)))
            for first, second in draw(several)
        ),
        copies=tuple(
            Copy(place, place.text, TEXTS[3], "Alice works at Microsoft", known[second].id, 0.9)
            for first, second in draw(several)
            for place in [draw_statement(first)]
        ),
        together=tuple(
            Pair(known[first].id, known[second].id, draw(st.integers(1, 6)))
            for first, second in draw(several)
        ),
    )


def columns(told: DreamState) -> list[np.ndarray]:
    found = [getattr(told, each.name) for each in fields(told)]
    found += [getattr(told.life, each.name) for each in fields(told.life)]
    return [each for each in found if isinstance(each, np.ndarray)]


def decided(planned: Plan) -> list[object]:
    """All of it, as values that compare."""
    return [
        (phase, draft.pruned, draft.unique, draft.merges, draft.corrections, draft.links, draft.interleaved)
        for phase, draft in planned.drafts.items()
    ] + [planned.field_changes()]


def retired(draft: Draft) -> set[int]:
    return {one.gone.memory for one in draft.merges} | {one.gone.memory for one in draft.corrections}


@few
@given(snapshots())
def test_the_same_snapshot_gives_the_same_dream_and_is_left_as_it_was(told: DreamState) -> None:
    before = deepcopy(told)
    first, second = plan(told, KNOBS), plan(told, KNOBS)
    assert decided(first) == decided(second) == decided(plan(before, KNOBS))
    for now, then in zip(columns(told), columns(before), strict=True):
        np.testing.assert_array_equal(now, then)


@few
@given(snapshots())
def test_a_second_dream_at_the_same_moment_has_nothing_to_do(told: DreamState) -> None:
    once = plan(told, KNOBS)
    again = plan(after(told, once.draft), KNOBS)
    assert again.is_empty, decided(again)


@few
@given(snapshots())
def test_what_is_pinned_or_marked_never_fades_and_never_goes(told: DreamState) -> None:
    draft = plan(told, KNOBS).draft
    kept = set(told.ids[told.kept].tolist())
    assert (draft.life.strength >= told.life.strength)[told.kept].all()
    assert not kept & set(draft.gone)
    assert not kept & retired(draft)


@few
@given(snapshots())
def test_strength_stays_between_the_floor_and_1(told: DreamState) -> None:
    before, now = told.life.strength, plan(told, KNOBS).draft.life.strength
    assert (now <= 1).all()
    assert (now >= np.minimum(before, KNOBS.floor)).all()


@few
@given(snapshots())
def test_depth_never_falls_and_stays_within_1_and_3(told: DreamState) -> None:
    before, now = told.life.depth, plan(told, KNOBS).draft.life.depth
    assert (now >= before).all()
    assert set(now.tolist()) <= {1, 2, 3}


@few
@given(snapshots())
def test_nothing_becomes_staged_again_and_spread_and_stability_never_fall(told: DreamState) -> None:
    before, now = told.life, plan(told, KNOBS).draft.life
    assert not ((before.consolidation != STAGED) & (now.consolidation == STAGED)).any()
    assert (now.spread >= before.spread).all()
    assert (now.stability >= before.stability).all()


@few
@given(snapshots())
def test_what_goes_is_spoken_for_by_somebody_who_stays(told: DreamState) -> None:
    draft = plan(told, KNOBS).draft
    merged = retired(draft)
    for id_, by in draft.gone.items():
        assert by not in draft.gone
        # It was merged, or pruned because another says the same. These knobs prune nothing else.
        assert by is not None
        assert id_ in merged or id_ in draft.echoed_by
    # And what is pruned was said by another that is not pruned with it.
    for id_ in draft.pruned:
        place = told.place(id_)
        assert place is not None
        assert any(
            echo.cosine >= KNOBS.prune_echo and echo.memory not in draft.pruned
            for echo in told.echoes.get(place, ())
        )


@few
@given(snapshots(), st.sets(st.sampled_from(Phase)))
def test_a_phase_that_is_left_out_does_nothing(told: DreamState, phases: set[Phase]) -> None:
    planned = plan(told, KNOBS, phases)
    draft = planned.draft
    assert set(planned.phases) == phases - {Phase.REPORT}
    turned = {turned.field for turned in planned.field_changes()}
    allowed = {
        Phase.CONSOLIDATE: {"strength", "stability", "spread"},
        Phase.DOWNSCALE: {"strength"},
        Phase.PLACE: {"consolidation"},
        Phase.PROMOTE: {"depth"},
        Phase.MERGE: {"strength", "stability", "spread", "depth", "consolidation"},
    }
    assert turned <= {field for phase in phases for field in allowed.get(phase, ())}
    assert Phase.PRUNE in phases or not draft.pruned
    assert Phase.MERGE in phases or not draft.merges
    assert Phase.CORRECT in phases or not draft.corrections
    assert Phase.LINK in phases or not draft.links


@few
@given(snapshots(), st.sampled_from(Phase))
def test_a_dream_broken_off_after_a_phase_is_one_of_the_phases_so_far(told: DreamState, last: Phase) -> None:
    every = [phase for phase in Phase if phase is not Phase.REPORT]
    upto = every[: every.index(last) + 1] if last in every else every
    whole = plan(told, KNOBS)
    assert decided(Plan(told, {phase: whole.drafts[phase] for phase in upto})) == decided(
        plan(told, KNOBS, upto)
    )


@few
@given(snapshots())
def test_the_order_in_which_answers_are_told_does_not_matter(told: DreamState) -> None:
    turned = replace(told, replays=told.replays[::-1])
    assert plan(turned, KNOBS).field_changes() == plan(told, KNOBS).field_changes()
