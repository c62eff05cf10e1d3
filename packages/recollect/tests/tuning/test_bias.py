"""Position bias: learned where it can be, the prior where it cannot, and what uncorrected measures miss."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from simulated import User, gathered, together, true_worth

from recollect.ranking.profiles import LIMBIC
from recollect.tuning.events import Event
from recollect.tuning.judging import (
    MOST_WEIGHT,
    PRIOR_ETA,
    PRIOR_SPREAD,
    Bias,
    bias_in,
    dcg_scale,
    judged_events,
    mean_ndcg,
    position_weights,
)
from recollect.tuning.knobs import with_knobs
from recollect.tuning.search import Replay

NOBODY = np.array([False])


def make_event(at: int, ids: tuple[int, ...], used: set[int], query: str = "tea") -> Event:
    chance = np.random.default_rng(0)
    candidates, context = together(gathered(10, chance), chance, query)
    context = replace(context, now=at)
    feedback = dict.fromkeys(used, 1.0)
    return Event(at, at, query, "limbic", "ours", ids, ids, ids, candidates, context, feedback)


def test_weights_of_worked_places() -> None:
    # 4 ** 0.5 = 2; said: 4 ** 0.25 = 1.41421; 9 ** 2 = 81, cut to 10
    assert position_weights(np.array([4]), NOBODY, 0.5).tolist() == pytest.approx([2.0])
    assert position_weights(np.array([4]), ~NOBODY, 0.5).tolist() == pytest.approx([2**0.5])
    assert position_weights(np.array([9]), NOBODY, 2.0).tolist() == [MOST_WEIGHT]
    assert position_weights(np.array([1]), NOBODY, 3.0).tolist() == [1.0]


def test_eta_of_a_worked_log() -> None:
    # 7 was shown at place 1 twice and at place 2 twice; it was used twice at place 1 and once at place 2.
    # Given 3 uses, each fell on place 1 with chance 1 / (1 + 2 ** -eta). With a prior as good as none the
    # likeliest is 2/3, so 2 ** -eta = 1/2 and eta = 1.
    events = [
        make_event(1, (7, 8), {7}),
        make_event(2, (7, 8), {7}),
        make_event(3, (8, 7), {7}),
        make_event(4, (8, 7), set()),
    ]
    found = bias_in(events, prior=Bias(0.5, spread=1e6))
    assert found.eta == pytest.approx(1.0, abs=1e-6)
    assert found.pairs == 1
    # The information is 3 * p * (1 - p) * ln(2) ** 2 with p = 2/3.
    assert found.spread == pytest.approx((3 * 2 / 9 * np.log(2) ** 2) ** -0.5, rel=1e-6)


@pytest.mark.parametrize(
    "events",
    [
        [],
        [make_event(1, (7, 8), {7})],  # one place says nothing
        [make_event(1, (7, 8), set()), make_event(2, (8, 7), set())],  # no hit was used
        [make_event(1, (7, 8), {7}), make_event(2, (8, 7), {7}, "coffee")],  # another question
    ],
)
def test_a_log_that_says_nothing_leaves_the_prior(events: list[Event]) -> None:
    assert bias_in(events) == Bias(PRIOR_ETA, PRIOR_SPREAD, 0)


def test_what_was_said_teaches_nothing_about_attention() -> None:
    events = [make_event(1, (7, 8), {7}), make_event(2, (8, 7), set())]
    assert bias_in(events).pairs == 1
    assert bias_in([replace(event, said=event.feedback) for event in events]) == bias_in(events[1:])


def test_attention_never_rises_with_the_place() -> None:
    # Used only at place two: the likeliest eta is below 0, and the minimum is 0.
    events = [make_event(at, (7, 8) if at % 2 else (8, 7), set() if at % 2 else {7}) for at in range(1, 41)]
    assert bias_in(events).eta == 0.0


@pytest.mark.parametrize("eta", [0.0, 0.5, 1.0, 1.5])
def test_eta_of_a_simulated_user_is_found_again(eta: float) -> None:
    found = []
    for seed in range(3):
        chance = np.random.default_rng(seed)
        user = User(eta)
        found.append(bias_in(user.log(user.questions(100, chance, size=12), 6, LIMBIC, chance)))
    # Each within three of the standard deviations that it gives for itself, the mean within a quarter.
    assert all(abs(one.eta - eta) <= 3 * one.spread for one in found)
    assert float(np.mean([one.eta for one in found])) == pytest.approx(eta, abs=0.25)


@pytest.mark.parametrize("seed", range(4))
def test_without_the_correction_the_present_order_praises_itself(seed: int) -> None:
    # The present numbers overrate what is used often. The user wants less of that, but now and then uses
    # whatever is looked at; and looks mostly at what the present numbers put first.
    chance = np.random.default_rng(seed)
    taste = {"beta_sal": 0.1}
    present, better = with_knobs(LIMBIC, {"beta_sal": 1.0}), with_knobs(LIMBIC, taste)
    user = User(1.0, taste, arms=("ours", "ours", "ours", "ours", "interleaved"), whim=0.35)
    questions = user.questions(150, chance, size=10)
    assert true_worth(questions, better) > true_worth(questions, present) + 0.05
    events = user.log(questions, 4, present, chance)
    data = judged_events(events)
    replay = Replay(data, present)

    def gain(eta: float) -> float:
        scale = dcg_scale(data, eta, 10)
        of = {profile: mean_ndcg(data, scale, replay.places(profile), 10) for profile in (present, better)}
        return of[better] - of[present]

    assert gain(0.0) < 0  # fooled
    assert gain(bias_in(events).eta) > 0
