"""What the log says of a profile: counts, measures beside the baseline, and drafted answers."""

from __future__ import annotations

from dataclasses import replace
from math import log2

import numpy as np
import pytest
from simulated import User, by_meaning, gathered, together

from recollect.rank.pipeline import run
from recollect.rank.profiles import LIMBIC
from recollect.tune.analysis import Draws, analyze, draws, sign_test
from recollect.tune.bias import Bias
from recollect.tune.events import Event
from recollect.tune.interleave import coin_text, draft


def answer(seed: int, used_at: int) -> Event:
    """An answer of which one thing was used: what `limbic` puts at this place."""
    chance = np.random.default_rng(seed)
    candidates, moment = gathered(30, chance), together(30, chance, f"question {seed}")
    ranked = tuple(run(LIMBIC, candidates, moment).ids.tolist())
    return Event(
        seed, seed, moment.query, "limbic", "ours", ranked, ranked, by_meaning(candidates), candidates,
        moment, {ranked[used_at - 1]: 1.0},
    )  # fmt: skip


def test_measures_of_a_worked_log() -> None:
    # One use at place 1 and one at place 4, eta at its prior of 0.5: they count for 1 and 4 ** 0.5 = 2.
    #   NDCG@5 = (1 * 1 + 2 / log2(5)) / (1 + 2) = (1 + 0.86135) / 3 = 0.62045
    #   Lift@5 = (1/5) / (1/30) = 6 for both; Lift@10 = (1/10) / (1/30) = 3
    found = analyze([answer(1, 1), answer(2, 4)], LIMBIC)
    assert found.bias == Bias()
    assert found.overall is not None
    ours = found.overall.ours
    assert ours.ndcg_5 == pytest.approx((1 + 2 / log2(5)) / 3)
    assert ours.ndcg_10 == pytest.approx((1 + 2 / log2(5)) / 3)
    assert (ours.lift_5, ours.lift_10) == pytest.approx((6.0, 3.0))
    assert found.arms == {"ours": found.overall}


def test_what_stands_beyond_the_first_five_is_not_in_them() -> None:
    # A use at place 6: nothing in the first five; NDCG@10 = 1/log2(7) = 0.35621.
    overall = analyze([answer(1, 6)], LIMBIC).overall
    assert overall is not None
    assert (overall.ours.ndcg_5, overall.ours.lift_5) == (0.0, 0.0)
    assert overall.ours.ndcg_10 == pytest.approx(1 / log2(7))


def test_the_baseline_is_measured_as_it_was_logged() -> None:
    one = answer(1, 1)
    (used,) = one.feedback
    # Second of the baseline: 1/log2(3).
    overall = analyze([replace(one, baseline=(0, used))], LIMBIC).overall
    assert overall is not None
    assert overall.baseline.ndcg_10 == pytest.approx(1 / log2(3))
    assert overall.gain == pytest.approx(1 - 1 / log2(3))


def test_an_empty_log_is_an_answer_too() -> None:
    found = analyze([], LIMBIC)
    assert (found.events, found.treated, found.with_feedback, found.overall) == (0, 0, 0, None)
    assert found.interleaved == Draws(0, 0, 0, 1.0)


def test_events_are_counted_by_arm() -> None:
    chance = np.random.default_rng(7)
    user = User(1.0)
    events = user.log(user.questions(30, chance), 2, LIMBIC, chance)
    found = analyze([*events, replace(events[0], profile="recollect")], LIMBIC)
    assert found.events == 60 == sum(found.by_arm.values())
    assert found.treated == 60 - found.by_arm["baseline"]
    assert found.with_feedback == sum(bool(event.feedback) for event in events)
    assert sum(compared.ours.events for compared in found.arms.values()) == found.with_feedback


def test_drafted_answers_show_who_is_better() -> None:
    chance = np.random.default_rng(8)
    user = User(0.5, arms=("interleaved",))  # wants what `limbic` puts first
    found = analyze(user.log(user.questions(60, chance), 1, LIMBIC, chance), LIMBIC).interleaved
    assert found.wins > found.losses
    assert found.p < 0.01


def test_a_drafted_answer_is_won_by_who_picked_what_was_used() -> None:
    one = replace(answer(1, 1), arm="interleaved")
    shown, teams = draft(one.ranked, one.baseline, 10, coin_text(one.moment))
    theirs = next(id_ for id_, team in zip(shown, teams, strict=True) if team == "baseline")
    lost = replace(one, shown=shown, feedback={theirs: 1.0})
    assert analyze([lost], LIMBIC).interleaved == Draws(0, 1, 0, 1.0)


def test_the_sign_test_of_worked_counts() -> None:
    # 9 heads of 10: 2 * (1 + 10) / 1024 = 0.021484; 5 of 10 are never one-sided.
    assert sign_test(9, 1) == sign_test(1, 9) == pytest.approx(22 / 1024)
    assert sign_test(5, 5) == 1.0
    assert sign_test(0, 0) == 1.0
    assert sign_test(6_000, 4_000) < 1e-80


def test_draws_are_counted() -> None:
    assert draws([1.0, 2.0, -1.0, 0.0]) == Draws(2, 1, 1, sign_test(2, 1))
