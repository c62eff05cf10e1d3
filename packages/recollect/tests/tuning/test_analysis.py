"""Analysis of a profile's log: counts, and measures beside the baseline."""

from __future__ import annotations

from dataclasses import replace
from math import log2

import numpy as np
import pytest
from simulated import User, by_meaning, gathered, together

from recollect.ranking.candidates import Profile, run
from recollect.ranking.profiles import LIMBIC
from recollect.ranking.steps import DropRepeats
from recollect.search.recording import similarity_baseline
from recollect.tuning.events import Event
from recollect.tuning.judging import Bias
from recollect.tuning.search import Compared, analyze

LIKENESS = similarity_baseline(LIMBIC)


def answer(seed: int, used_at: int) -> Event:
    """An answer of which one thing was used: what `limbic` puts at this place."""
    chance = np.random.default_rng(seed)
    candidates, context = together(gathered(30, chance), chance, f"question {seed}")
    ranked = tuple(run(LIMBIC, candidates, context).ids.tolist())
    return Event(
        seed, seed, context.text, "limbic", "ours", ranked, ranked, by_meaning(candidates), candidates,
        context, {ranked[used_at - 1]: 1.0}, against="similarity",
    )  # fmt: skip


def compared(events: list[Event], profile: Profile = LIMBIC, against: Profile = LIKENESS) -> Compared:
    overall = analyze(events, profile, against).overall
    assert overall is not None
    return overall


def test_measures_of_a_worked_log() -> None:
    # One use at place 1 and one at place 4, eta at its prior of 0.5: they count for 1 and 4 ** 0.5 = 2.
    #   NDCG@5 = (1 * 1 + 2 / log2(5)) / (1 + 2) = (1 + 0.86135) / 3 = 0.62045
    #   Lift@5 = (1/5) / (1/30) = 6 for both; Lift@10 = (1/10) / (1/30) = 3
    found = analyze([answer(1, 1), answer(2, 4)], LIMBIC, LIKENESS)
    assert found.bias == Bias()
    assert found.overall is not None
    ours = found.overall.ours
    assert ours.ndcg_5 == pytest.approx((1 + 2 / log2(5)) / 3)
    assert ours.ndcg_10 == pytest.approx((1 + 2 / log2(5)) / 3)
    assert (ours.lift_5, ours.lift_10) == pytest.approx((6.0, 3.0))
    assert found.arms == {"ours": found.overall}


def test_what_stands_beyond_the_first_five_is_not_in_them() -> None:
    # A use at place 6: nothing in the first five; NDCG@10 = 1/log2(7) = 0.35621.
    overall = compared([answer(1, 6)])
    assert (overall.ours.ndcg_5, overall.ours.lift_5) == (0.0, 0.0)
    assert overall.ours.ndcg_10 == pytest.approx(1 / log2(7))


def test_both_are_ranked_again_whatever_was_logged() -> None:
    # The logged lists do not matter: the first hit of `limbic` has another place by similarity.
    one = answer(1, 1)
    (used,) = one.feedback
    by_likeness = run(LIKENESS, one.candidates, one.context).ids.tolist()
    place = by_likeness.index(used) + 1
    assert place > 1
    for logged in ((used,), (), one.baseline):
        overall = compared([replace(one, baseline=logged)])
        assert overall.ours.ndcg_10 == 1.0
        assert overall.baseline.ndcg_10 == pytest.approx(1 / log2(1 + place))
        assert overall.gain == pytest.approx(1 - 1 / log2(1 + place))


@pytest.mark.parametrize("kept", [1, 3, 10])
def test_a_profile_gains_nothing_over_itself_whatever_a_budget_left_to_be_seen(kept: int) -> None:
    events = []
    for seed in range(20):
        one = answer(seed, 1 + seed % 10)
        # The used memory was shown; some of its neighbours were not.
        (used,) = one.feedback
        shown = tuple(id_ for id_ in one.ranked if id_ == used or id_ in one.ranked[-kept:])
        events.append(replace(one, shown=shown, baseline=one.ranked, against="limbic"))
    overall = compared(events, LIMBIC, LIMBIC)
    assert overall.ours == overall.baseline
    assert overall.gain == 0.0


def test_what_says_the_same_stands_in_for_both() -> None:
    # 7 and 9 say the same, and whichever ranks lower is left out. The one that is left out was used.
    profile = replace(LIMBIC, steps=(*LIMBIC.steps[:-2], DropRepeats(), *LIMBIC.steps[-2:]))
    one = answer(1, 1)
    best, second = run(profile, one.candidates, one.context).ids.tolist()[:2]
    content = one.candidates.facts.content.copy()
    content[one.candidates.ids == second] = content[one.candidates.ids == best]
    same = replace(one.candidates, facts=replace(one.candidates.facts, content=content))
    event = replace(one, candidates=same, shown=(second,), feedback={second: 1.0}, against="limbic")
    assert second not in run(profile, same, one.context).ids
    overall = compared([event], profile, profile)
    assert overall.ours.ndcg_10 == overall.baseline.ndcg_10 == 1.0


def test_nothing_beyond_what_was_asked_for_counts_for_either() -> None:
    # The limit was three. The praised memory is fifth in one ranking, and lower in the other.
    one = answer(1, 5)
    (used,) = one.feedback
    by_likeness = run(LIKENESS, one.candidates, one.context).ids.tolist()
    third = by_likeness[2]
    context = replace(one.context, limit=3)
    said = replace(one, context=context, shown=one.ranked[:3], said={used: 1.0})
    overall = compared([said], LIMBIC, LIMBIC)
    assert overall.ours.ndcg_10 == overall.baseline.ndcg_10 == 0.0
    assert overall.ours.lift_10 == 0.0
    # And at the limit it does: 1/log2(4).
    praised = replace(said, feedback={third: 1.0}, said={third: 1.0})
    overall = compared([praised])
    assert overall.baseline.ndcg_10 == pytest.approx(1 / log2(4))


def test_an_answer_counts_for_as_much_of_the_lift_as_what_was_used_in_it() -> None:
    # Used at place 1 (counts for 1, Lift@5 = (1/5) / (1/30) = 6) and at place 6 (counts for 6 ** 0.5, Lift@5
    # = 0): (1 * 6 + 2.4495 * 0) / (1 + 2.4495) = 1.7394.
    overall = compared([answer(1, 1), answer(2, 6)])
    assert overall.ours.lift_5 == pytest.approx(6 / (1 + 6**0.5))


def test_answers_that_another_baseline_had_a_part_in_are_left_out_and_counted() -> None:
    here = [replace(answer(seed, 1), against="similarity", arm="baseline") for seed in (1, 2)]
    elsewhere = [replace(answer(seed, 1), against="reverie", arm="baseline") for seed in (3, 4, 5)]
    # The profile's own answers are ranked again by this baseline, whatever they were logged with.
    ours = replace(answer(6, 1), against="reverie")
    found = analyze([*here, *elsewhere, ours], LIMBIC, LIKENESS)
    assert (found.against, found.other_baselines) == ("similarity", 3)
    assert (found.events, found.with_feedback) == (3, 3)
    assert found.by_arm == {"ours": 1, "baseline": 2, "interleaved": 0}


def test_an_empty_log_is_an_answer_too() -> None:
    found = analyze([], LIMBIC, LIKENESS)
    assert (found.events, found.treated, found.with_feedback, found.overall) == (0, 0, 0, None)


def test_events_are_counted_by_arm() -> None:
    chance = np.random.default_rng(7)
    user = User(1.0)
    events = user.log(user.questions(30, chance), 2, LIMBIC, chance)
    found = analyze([*events, replace(events[0], profile="recollect")], LIMBIC, LIKENESS)
    assert found.events == 60 == sum(found.by_arm.values())
    assert found.treated == 60 - found.by_arm["baseline"]
    assert found.with_feedback == sum(bool(event.feedback) for event in events)
    assert sum(compared.ours.events for compared in found.arms.values()) == found.with_feedback


def test_answers_that_earlier_versions_showed_in_turns_are_still_measured() -> None:
    chance = np.random.default_rng(8)
    user = User(0.5, arms=("interleaved",))  # wants what `limbic` puts first
    events = user.log(user.questions(60, chance), 1, LIMBIC, chance)
    found = analyze(events, LIMBIC, LIKENESS)
    assert found.by_arm == {"ours": 0, "baseline": 0, "interleaved": 60}
    assert found.arms.keys() == {"interleaved"}
    assert found.overall is not None
    assert found.overall.gain > 0
