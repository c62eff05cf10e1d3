"""Two rankings drafted into one list, fairly and again the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated import LIMIT, User

from recollect.errors import InvalidInput
from recollect.ranking.profiles import LIMBIC
from recollect.tuning.trials import arm_of, coin_text, credit, draft

rankings = st.lists(st.integers(1, 30), unique=True, max_size=12)


@given(rankings, rankings, st.integers(0, 15), st.text(max_size=5))
def test_a_draft_is_as_long_as_it_can_be_and_holds_none_twice(
    ours: list[int], baseline: list[int], limit: int, text: str
) -> None:
    shown, teams = draft(ours, baseline, limit, text)
    assert len(shown) == len(teams) == min(limit, len({*ours, *baseline}))
    assert len(set(shown)) == len(shown)


@given(rankings, rankings, st.text(max_size=5))
def test_teams_pick_their_best_in_turns(ours: list[int], baseline: list[int], text: str) -> None:
    shown, teams = draft(ours, baseline, 30, text)
    picks = {"ours": ours, "baseline": baseline}
    for place, (id_, team) in enumerate(zip(shown, teams, strict=True)):
        left = [other for other in picks[team] if other not in shown[:place]]
        assert id_ == left[0]
    # While both have someone to pick, each round of two holds one pick of each.
    both = 2 * (min(teams.count("ours"), teams.count("baseline")))
    for start in range(0, both - 1, 2):
        other = [one for one in (ours, baseline) if not set(one) - set(shown[: start + 1])]
        assert other or set(teams[start : start + 2]) == {"ours", "baseline"}


def test_equal_rankings_are_shown_as_they_are() -> None:
    assert draft([3, 1, 2], [3, 1, 2], 10, "any")[0] == (3, 1, 2)


def test_the_same_text_gives_the_same_draft_and_other_texts_give_both_orders() -> None:
    ours, baseline = [1, 2, 3], [4, 5, 6]
    assert draft(ours, baseline, 6, "a") == draft(ours, baseline, 6, "a")
    firsts = [draft(ours, baseline, 6, str(number))[1][0] for number in range(400)]
    # A fair coin falls on one side 200 times of 400, give or take 10; four of these are 40.
    assert 160 <= firsts.count("ours") <= 240


def test_credit_goes_to_who_picked_what_was_used() -> None:
    chance = np.random.default_rng(5)
    user = User(eta=0.0, arms=("interleaved",))
    for event in user.log(user.questions(20, chance), 1, LIMBIC, chance):
        shown, teams = draft(event.ranked, event.baseline, LIMIT, coin_text(event.context))
        team_of = dict(zip(shown, teams, strict=True))
        used = [team_of[id_] for id_ in event.feedback]
        assert credit(event) == used.count("ours") - used.count("baseline")


def test_every_round_has_a_coin_of_its_own() -> None:
    ours, baseline = [1, 2, 3], [4, 5, 6]
    teams = [draft(ours, baseline, 6, str(number))[1] for number in range(400)]
    # Who picks first in the second round is who did in the first in 200 cases of 400, give or take 10.
    assert 160 <= sum(each[0] == each[2] for each in teams) <= 240


def test_what_a_budget_left_of_a_draft_is_still_who_picked_it() -> None:
    chance = np.random.default_rng(5)
    user = User(eta=0.0, arms=("interleaved",))
    for event in user.log(user.questions(20, chance), 1, LIMBIC, chance):
        drafted, teams = draft(event.ranked, event.baseline, LIMIT, coin_text(event.context))
        for kept in (drafted[:3], drafted[1::2]):
            first, *_ = kept
            sign = 1.0 if teams[drafted.index(first)] == "ours" else -1.0
            assert credit(replace(event, shown=kept, feedback={first: 1.0})) == sign
            # What was taken out was not seen, and what is said of it is nobody's credit.
            gone = next(id_ for id_ in drafted if id_ not in kept)
            assert credit(replace(event, shown=kept, feedback={first: 1.0, gone: 1.0})) == sign


def test_an_answer_that_was_drafted_otherwise_gives_no_credit() -> None:
    chance = np.random.default_rng(5)
    user = User(eta=0.0, arms=("interleaved",))
    for event in user.log(user.questions(5, chance), 1, LIMBIC, chance):
        first, second, *rest = event.shown
        assert credit(replace(event, shown=(second, first, *rest), feedback={first: 1.0})) is None
        assert credit(replace(event, shown=(-1, *event.shown), feedback={first: 1.0})) is None


def test_answers_that_were_not_drafted_give_no_credit() -> None:
    chance = np.random.default_rng(5)
    user = User(arms=("ours", "baseline"))
    assert {credit(event) for event in user.log(user.questions(3, chance), 3, LIMBIC, chance)} == {None}


def test_the_same_words_get_the_same_arm() -> None:
    for number in range(50):
        assert arm_of(f"Qué es {number}", "seed") == arm_of(f"  QUE es   {number} ", "seed")


def test_a_share_of_all_questions_is_treated() -> None:
    for share in (0.0, 0.2, 0.5, 1.0):
        treated = sum(arm_of(f"question {number}", "seed", share) == "ours" for number in range(2_000))
        # Four standard deviations of a binomial: 4 * sqrt(2000 * 0.25) = 89 at most.
        assert abs(treated - 2_000 * share) <= (90 if 0 < share < 1 else 0)


def test_another_seed_treats_other_questions() -> None:
    arms = [[arm_of(f"question {number}", seed) for number in range(200)] for seed in ("one", "two")]
    assert 60 <= sum(one == other for one, other in zip(*arms, strict=True)) <= 140


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_lies_between_0_and_1(share: float) -> None:
    with pytest.raises(InvalidInput, match="from 0 to 1"):
        arm_of("any", "seed", share)
