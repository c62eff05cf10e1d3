"""The tuner finds what a simulated user wants, and proposes nothing where there is nothing to gain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from simulated import TASTE, User, true_worth

from recollect.domain.errors import InvalidInput
from recollect.domain.numbers import discounts
from recollect.ranking.candidates import Cooccurrences, run
from recollect.ranking.profiles import LIMBIC, MNEMOSYNE
from recollect.tuning.events import Event
from recollect.tuning.judging import Gain, bias_in, gain_of
from recollect.tuning.knobs import knobs_of, points_for, with_knobs
from recollect.tuning.search import Proposal, propose_numbers, verdict_on

GRID = {"gamma": (0.001, 0.01, 0.1), "beta_sal": (0.1, 0.5, 2.0)}
PRESENT = {name: knobs_of(LIMBIC)[name] for name in ("cooccurrence.gamma", "salience.beta_sal")}


def logged(
    user: User, seed: int, questions: int = 120, asked: int = 4, *, shuffled: bool = True
) -> list[Event]:
    chance = np.random.default_rng(seed)
    return user.log(user.questions(questions, chance), asked, LIMBIC, chance, shuffled=shuffled)


def best_numbers(proposal: Proposal) -> dict[str, float]:
    return PRESENT | dict(proposal.best)


@pytest.mark.parametrize(
    ("taste", "eta"),
    [
        ({"gamma": 0.1, "beta_sal": 2.0}, 0.5),
        ({"gamma": 0.1, "beta_sal": 0.1}, 0.5),
        ({"gamma": 0.001, "beta_sal": 2.0}, 0.5),
        ({"gamma": 0.1, "beta_sal": 0.1}, 1.0),
    ],
    ids=str,
)
def test_planted_numbers_are_found_again(taste: dict[str, float], eta: float) -> None:
    user, seeds = User(eta, taste), range(4)
    proposals = [propose_numbers(logged(user, seed), LIMBIC, GRID) for seed in seeds]
    planted = {"cooccurrence.gamma": taste["gamma"], "salience.beta_sal": taste["beta_sal"]}
    assert sum(best_numbers(proposal) == planted for proposal in proposals) >= 3
    assert sum(proposal.verdict == "proposed" for proposal in proposals) >= 3
    fresh = user.questions(100, np.random.default_rng(1_000))
    truth, present = true_worth(fresh, with_knobs(LIMBIC, taste)), true_worth(fresh, LIMBIC)
    for proposal in proposals:
        # On questions that no log held: the best comes near the truth, and the step taken does no harm.
        assert true_worth(fresh, with_knobs(LIMBIC, proposal.best)) >= present + 0.5 * (truth - present)
        assert true_worth(fresh, with_knobs(LIMBIC, proposal.eased)) >= present - 0.002


@pytest.mark.parametrize(("count", "asked", "logs", "most"), [(50, 2, 20, 3), (20, 8, 60, 5)])
def test_nothing_is_proposed_where_there_is_nothing_to_gain(
    count: int, asked: int, logs: int, most: int
) -> None:
    # The wanted memories do not depend on any number, and every candidate is shown, so no set of numbers is
    # better than another. A repeated question wants the same memory through the whole log.
    # The test's level is 2.5 %. Of 20 logs, 4 or more would be proposed by chance with a
    # probability of 0.1 %, and of 60 logs 6 or more with 0.4 % (binomial).
    proposed, others = 0, 0
    for seed in range(logs):
        chance = np.random.default_rng(seed)
        user = User(0.5)
        questions = [
            replace(
                one, wanted=dict(zip(chance.permutation(one.candidates.ids).tolist(), TASTE, strict=False))
            )
            for one in user.questions(count, chance, size=10)
        ]
        proposal = propose_numbers(user.log(questions, asked, LIMBIC, chance), LIMBIC)
        proposed += proposal.verdict == "proposed"
        others += bool(proposal.best)
    assert others >= 0.75 * logs  # something else was the best of the older part, and had to be turned down
    assert proposed <= most


def test_no_question_is_in_both_parts_and_few_questions_are_too_few() -> None:
    # 60 answers to 12 questions, one after the other: 42 answers are 70 %, so 9 questions (45 answers) make
    # the choice, and 3 are left to judge it.
    events = [
        replace(event, feedback={event.shown[0]: 1.0})
        for event in logged(User(arms=("ours",)), 1, 12, 5, shuffled=False)
    ]
    proposal = propose_numbers(events, LIMBIC)
    assert (proposal.verdict, proposal.train, proposal.test) == ("too few", 45, 15)
    assert proposal.says.startswith("Only 3 newer questions are left to test")


def test_eta_is_learnt_from_the_questions_that_the_choice_is_made_on() -> None:
    # Readers of the first questions look at everything, those of the later ones at the first place alone.
    first = logged(User(0.0), 1, 60, 4, shuffled=False)
    later = [
        replace(event, id=event.id + 1_000, at=event.at + 1_000, query=f"later {event.query}")
        for event in logged(User(3.0), 2, 60, 4, shuffled=False)
    ]
    proposal = propose_numbers([*first, *later], LIMBIC, GRID)
    tested = sorted((event for event in (*first, *later) if event.feedback), key=lambda event: event.at)
    questions = {event.query for event in tested[proposal.train :]}
    assert (proposal.train, proposal.test) == (len(tested) - proposal.test, proposal.test)
    known = [event for event in (*first, *later) if event.query not in questions]
    assert proposal.bias == bias_in(known)
    assert proposal.bias.eta < bias_in([*first, *later]).eta - 0.01


def test_of_equals_the_nearest_to_the_present_numbers_is_chosen() -> None:
    # No memories were seen together, so gamma makes no difference; beta_sal does.
    apart = [
        replace(event, candidates=replace(event.candidates, cooccurrences=Cooccurrences.none()))
        for event in logged(User(0.5, {"gamma": 0.0, "beta_sal": 2.0}), 3)
    ]
    assert dict(propose_numbers(apart, LIMBIC, GRID).best) == {"salience.beta_sal": 2.0}
    assert dict(propose_numbers(apart, LIMBIC, {"gamma": (0.001, 0.1)}).best) == {}


SURE = Gain(0.1, 0.05, 0.15, 0.001)


@pytest.mark.parametrize(
    ("gain", "eased", "least", "verdict", "says"),
    [
        (SURE, Gain(0.0, 0.0, 0.0, 1.0), 0.02, "proposed", "took no part in the choice"),
        (SURE, Gain(-0.001, -0.002, 0.0, 1.0), 0.02, "no gain", "the step towards them is worse"),
        (SURE, SURE, 0.0, "no gain", "depends on the strength of the position bias"),
        (SURE, SURE, -0.01, "no gain", "depends on the strength of the position bias"),
        (Gain(0.1, -0.01, 0.2, 0.01), SURE, 0.02, "no gain", "not significantly better"),
        (Gain(0.1, 0.01, 0.2, 0.03), SURE, 0.02, "no gain", "not significantly better"),
    ],
)
def test_a_verdict_asks_for_all_of_it(gain: Gain, eased: Gain, least: float, verdict: str, says: str) -> None:
    found, told = verdict_on(gain, eased, least, 30)
    assert found == verdict
    assert says in told


def torn(seed: int) -> Event | None:
    """An answer with two used hits, if there is one: other numbers lower the first hit and raise the tenth.

    The first falls by more places than the tenth rises, but the tenth counts for more.
    """
    chance = np.random.default_rng(seed)
    (one,) = User().questions(1, chance)
    context = replace(one.context, limit=30, text=f"question {seed}")
    other = with_knobs(LIMBIC, {"beta_sal": 2.0})
    before, after = (run(each, one.candidates, context).ids.tolist() for each in (LIMBIC, other))
    ids = np.array(before)
    worth = [discounts(np.array([ranked.index(id_) + 1 for id_ in before]), 10) for ranked in (before, after)]
    moved = worth[1] - worth[0]
    # With a weight of 10 ** 0.5 = 3.16 the rise is worth more than the fall, with a weight of 1 less.
    pairs = (
        (int(up), int(down))
        for up in ids[moved > 0]
        for down in ids[moved < 0]
        if 1.3 < -moved[before.index(down)] / moved[before.index(up)] < 2.5
    )
    rise, fall = next(pairs, (0, 0))
    if not rise:
        return None
    shown = (fall, *[id_ for id_ in before if id_ not in (rise, fall)][:8], rise)
    return Event(
        seed, seed, context.text, "limbic", "ours", shown, tuple(before), shown, one.candidates, context,
        {rise: 1.0, fall: 1.0},
    )  # fmt: skip


def test_a_gain_must_hold_at_both_ends_of_eta() -> None:
    # Eta is its prior of 0.5, and may be 0: then the place does not matter.
    proposal = propose_numbers(
        [event for seed in range(90) if (event := torn(seed))], LIMBIC, {"beta_sal": (2.0,)}
    )
    assert proposal.gain is not None
    assert proposal.gain.significant
    assert proposal.gain_at_ends is not None
    low, high = proposal.gain_at_ends
    assert low < 0 < proposal.gain.mean < high
    assert proposal.verdict == "no gain"
    assert "depends on the strength of the position bias" in proposal.says


def test_a_user_who_wants_what_there_is_keeps_it() -> None:
    proposals = [propose_numbers(logged(User(1.0), seed, 60), LIMBIC) for seed in range(6)]
    assert [proposal.verdict for proposal in proposals] == ["no gain"] * 6


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (0, "limbic ranked 0 logged answers"),
        (23, "limbic ranked 23 logged answers; a search needs at least 50"),
    ],
)
def test_too_few_treated_events_are_counted(count: int, told: str) -> None:
    treated = logged(User(arms=("ours", "interleaved")), 1, count, 1)
    others = logged(User(arms=("baseline",)), 1, 80, 1)
    proposal = propose_numbers([*treated, *others], LIMBIC)
    assert proposal.verdict == "too few"
    assert proposal.says.startswith(told)
    assert proposal.treated == count


def test_events_of_other_profiles_do_not_count() -> None:
    events = [replace(event, profile="recollect") for event in logged(User(), 1, 80, 1)]
    assert propose_numbers(events, LIMBIC).treated == 0


def test_events_without_feedback_teach_nothing() -> None:
    events = [replace(event, feedback={}) for event in logged(User(arms=("ours",)), 1, 60, 1)]
    proposal = propose_numbers(events, LIMBIC)
    assert proposal.verdict == "too few"
    assert proposal.says == "0 of 60 logged answers have feedback; a search needs 20."


def test_the_order_in_which_events_come_does_not_matter_and_the_seed_repeats() -> None:
    events = logged(User(1.0, {"beta_sal": 2.0}), 3)
    assert propose_numbers(events, LIMBIC, GRID) == propose_numbers(events[::-1], LIMBIC, GRID)


def test_a_proposal_says_what_would_move_and_where() -> None:
    events = logged(User(1.0, {"gamma": 0.1, "beta_sal": 0.1}), 2)
    proposal = propose_numbers(events, LIMBIC, GRID)
    assert proposal.verdict == "proposed"
    # 0.9 * 0.01 + 0.1 * 0.1 = 0.019     0.9 * 0.5 + 0.1 * 0.1 = 0.46
    assert proposal.eased == pytest.approx({"salience.beta_sal": 0.46, "cooccurrence.gamma": 0.019})
    assert proposal.gain is not None
    assert proposal.ndcg_best - proposal.ndcg_now == pytest.approx(proposal.gain.mean)
    assert proposal.gain.low < proposal.gain.mean < proposal.gain.high
    assert proposal.better
    assert all(one.after < one.before for one in proposal.better)
    assert all(one.after > one.before for one in proposal.worse)
    used = {event.id: event for event in events}
    # Questions by when they first came up: those of the later 30 % of answers, with all of their answers.
    asked: dict[str, list[int]] = {}
    for event in events:
        if event.feedback:
            asked.setdefault(event.query, []).append(event.id)
    total, older = sum(map(len, asked.values())), 0
    later: set[int] = set()
    for ids in asked.values():
        if older < round(0.7 * total):
            older += len(ids)
        else:
            later.update(ids)
    for one in (*proposal.better, *proposal.worse):
        assert one.event in later
        assert one.memory in used[one.event].feedback
    assert (proposal.train, proposal.test) == (older, len(later))


def test_any_profile_can_be_searched_one_number_at_a_time() -> None:
    points = points_for(MNEMOSYNE)
    assert points[0] == knobs_of(MNEMOSYNE)
    for point in points[1:]:
        assert sum(point[name] != value for name, value in points[0].items()) == 1
        assert all(0 < point[name] <= 1 for name, value in points[0].items() if 0 < value <= 1)
    assert {name for point in points for name in point if point[name] != points[0][name]} == set(points[0])


def test_given_ranges_are_combined() -> None:
    # 2 * 3 combinations, and the present numbers.
    points = points_for(LIMBIC, {"GAMMA": (0.02, 0.03), "beta_sal": (0.1, 0.2, 0.3)})
    assert len(points) == 7
    assert points[0] == PRESENT


@pytest.mark.parametrize(
    ("ranges", "told"),
    [
        ({}, "at least one range"),
        ({"gamma": ()}, "The range of 'gamma' is empty"),
        ({"mood": (1.0,)}, "no number named 'mood'"),
        ({"d_max": (5.0, 0.0)}, "d_max must be above 0"),
        ({"gamma": (1.0,), "cooccurrence.gamma": (2.0,)}, "has two ranges"),
        ({"gamma": tuple(range(101)), "beta_sal": tuple(range(10))}, "1,010 combinations; at most 1,000"),
    ],
)
def test_wrong_ranges_are_told_whatever_the_log_holds(
    ranges: dict[str, tuple[float, ...]], told: str
) -> None:
    with pytest.raises(InvalidInput, match=told):
        propose_numbers([], LIMBIC, ranges)


def test_a_gain_that_every_question_shares_is_sure_and_one_that_evens_out_is_not() -> None:
    ones, names = np.ones(40), [str(number) for number in range(40)]
    sure = gain_of(0.1 * ones, ones, names)
    # All alike: every resample gives the same mean, and one flip of all signs in 2 ** 40 is as great.
    assert (sure.mean, sure.low, sure.high) == pytest.approx((0.1, 0.1, 0.1))
    assert sure.significant
    even = gain_of(np.where(np.arange(40) % 2, 0.1, -0.1), ones, names)
    assert even.mean == pytest.approx(0.0)
    assert not even.significant


def test_answers_to_one_question_are_one_piece_of_evidence() -> None:
    # Three questions with ten answers each: of the 8 ways to flip their signs one is as great, so p is about
    # 1/8, however many answers there are.
    ones = np.ones(30)
    alike = gain_of(0.1 * ones, ones, [str(number % 3) for number in range(30)])
    assert alike.p == pytest.approx(1 / 8, abs=0.02)
    assert not alike.significant
