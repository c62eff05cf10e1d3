"""The gate: a dream that hides what people find is stopped, and the phase that does it is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sleepers import Row, make_question, snapshot

from recollect.dreams.knobs import Knobs, Phase
from recollect.dreams.plan import LostHit, Plan, Verdict, judge_plan
from recollect.dreams.snapshot import Correction, Draft, DreamText, Merge

KNOBS = Knobs()
WORLD = snapshot([Row(id_) for id_ in (1, 2, 3, 4)])
NOTHING = Draft.of(WORLD)


def with_strengths(*strengths: float, draft: Draft = NOTHING) -> Draft:
    return replace(draft, life=replace(draft.life, strength=np.array(strengths)))


def judge_drafts(**drafts: Draft) -> Verdict:
    """The verdict on a question that finds 1 and 2, and shows two."""
    return judge_plan(
        [make_question((1, 2))], Plan(WORLD, {Phase(name): draft for name, draft in drafts.items()}), KNOBS
    )


def test_without_changes_or_questions_there_is_nothing_to_lose() -> None:
    verdict = judge_drafts(prune=NOTHING)
    assert (verdict.has_passed, verdict.before, verdict.after, verdict.losses) == (True, 1.0, 1.0, ())
    verdict = judge_plan([], Plan(WORLD, {Phase.PRUNE: replace(NOTHING, pruned=(1,))}), KNOBS)
    assert (verdict.has_passed, verdict.questions, verdict.before, verdict.after) == (True, 0, 1.0, 1.0)


def test_the_phase_that_hides_what_is_found_is_named() -> None:
    # Fused by k 30. Before: 1/31, 1/32, 1/33. After: 1/31, 0.5/32, 1/33: the third overtakes the second.
    faded = with_strengths(1.0, 0.5, 1.0, 1.0)
    verdict = judge_drafts(consolidate=NOTHING, downscale=faded, place=faded)
    assert verdict.blame is Phase.DOWNSCALE
    assert not verdict.has_passed
    assert (verdict.before, verdict.after) == (1.0, 0.5)
    assert verdict.losses == (LostHit("tea", 2, Phase.DOWNSCALE),)


def test_each_loss_names_the_phase_after_which_it_was_gone_and_the_first_is_blamed() -> None:
    pruned = replace(NOTHING, pruned=(2,))
    merged = replace(pruned, merges=(Merge(DreamText(1, "x"), DreamText(4, "x"), 0.99),))
    # 3 and 4 move up: 4 speaks for 1.
    assert judge_drafts(prune=pruned, merge=merged).losses == (LostHit("tea", 2, Phase.PRUNE),)
    corrected = replace(pruned, corrections=(Correction(DreamText(1, "x"), 99),))
    verdict = judge_drafts(prune=pruned, correct=corrected)
    assert verdict.losses == (LostHit("tea", 2, Phase.PRUNE), LostHit("tea", 1, Phase.CORRECT))
    assert (verdict.blame, verdict.after) == (Phase.PRUNE, 0.0)


def test_what_a_later_phase_makes_good_is_not_lost() -> None:
    verdict = judge_drafts(downscale=with_strengths(1.0, 0.5, 1.0, 1.0), place=NOTHING)
    assert (verdict.blame, verdict.after, verdict.losses) == (None, 1.0, ())


def merged(*pairs: tuple[int, int]) -> Draft:
    merges = tuple(Merge(DreamText(gone, "x"), DreamText(into, "x"), 0.99) for gone, into in pairs)
    return replace(NOTHING, merges=merges)


def test_the_survivor_of_a_merge_counts_as_found_where_it_is_shown() -> None:
    assert judge_drafts(merge=merged((2, 3))).has_passed
    # With 2 gone, 1 and 3 are shown; 4 is not.
    verdict = judge_drafts(merge=merged((2, 4)))
    assert (verdict.blame, verdict.losses) == (Phase.MERGE, (LostHit("tea", 2, Phase.MERGE),))
    # The survivor of a survivor counts as well, and a merged observation hides no entity.
    assert judge_drafts(merge=merged((2, 4), (4, 3))).has_passed
    observation = Merge(DreamText(1, "x", 11), DreamText(1, "x", 12), 0.99)
    assert judge_drafts(merge=replace(NOTHING, merges=(observation,))).has_passed


def test_a_loss_within_the_margin_is_told_and_stops_nothing() -> None:
    # 50 questions with one wanted each, one of them lost: 1/50 = 0.02, which is not more than the margin.
    plan = Plan(WORLD, {Phase.PRUNE: replace(NOTHING, pruned=(4,))})
    kept = [make_question((1,))] * 49
    verdict = judge_plan([*kept, make_question((4,), top=4)], plan, replace(KNOBS, gate_margin=0.0201))
    assert verdict.has_passed
    assert verdict.questions == 50
    assert verdict.after == pytest.approx(0.98)
    assert verdict.losses == (LostHit("tea", 4, Phase.PRUNE),)
    assert (
        judge_plan([*kept, make_question((4,), top=4)], plan, replace(KNOBS, gate_margin=0.0199)).blame
        is Phase.PRUNE
    )


def test_what_was_not_found_before_cannot_be_lost_and_made_questions_are_counted() -> None:
    verdict = judge_plan(
        [make_question((4,))], Plan(WORLD, {Phase.PRUNE: replace(NOTHING, pruned=(4,))}), KNOBS
    )
    assert (verdict.before, verdict.after, verdict.losses, verdict.blame) == (0.0, 0.0, (), None)
    verdict = judge_plan(
        [make_question((1,)), make_question((2,), made=True)], Plan(WORLD, {Phase.PRUNE: NOTHING}), KNOBS
    )
    assert (verdict.questions, verdict.made) == (2, 1)


def test_candidates_that_the_snapshot_does_not_know_stay_as_they_are() -> None:
    # 9 came after the snapshot was taken.
    verdict = judge_plan(
        [make_question((1, 9), ids=(1, 9, 2, 3))],
        Plan(WORLD, {Phase.DOWNSCALE: with_strengths(*[0.9] * 4)}),
        KNOBS,
    )
    assert verdict.has_passed
