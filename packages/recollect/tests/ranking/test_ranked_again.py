"""Ranking many logged answers at once gives each the very places that ranking it alone gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis_profiles import tries
from random_profiles import profiles
from worlds import Moment, Row, gathered, moment, worlds

from recollect.ranking.candidates import Profile, run
from recollect.ranking.profiles import LIMBIC, PROFILES
from recollect.ranking.steps import Cut, DropRepeats, Linear, Order
from recollect.tuning.events import Event
from recollect.tuning.judging import judged_events
from recollect.tuning.search import Replay

any_profile = st.sampled_from(list(PROFILES.values())) | profiles()


def logged(rows: list[Row], when: Moment, at: int) -> Event:
    """Every candidate was shown and used."""
    candidates = gathered(rows, when)
    ids = tuple(candidates.ids.tolist())
    return Event(at, at, when.text, "any", "ours", ids, ids, ids, candidates, when, dict.fromkeys(ids, 1.0))


def places_alone(profile: Profile, event: Event) -> dict[int, int]:
    """By memory, its place when the answer is ranked by itself and nothing is cut off."""
    ranked = run(profile, event.candidates, replace(event.context, limit=len(event.candidates)))
    return {id_: place for place, id_ in enumerate(ranked.ids.tolist(), start=1)}


@settings(max_examples=tries(50))
@given(
    profile=any_profile,
    answers=st.lists(worlds(), min_size=1, max_size=4),
    others=st.lists(any_profile, max_size=1),
)
def test_many_answers_ranked_at_once_are_ranked_as_each_alone(
    profile: Profile, answers: list[tuple[list[Row], Moment]], others: list[Profile]
) -> None:
    # The limit that the caller gave says what kind of question it is, so it is left as it was.
    events = [logged(rows, replace(when, limit_given=False), at) for at, (rows, when) in enumerate(answers)]
    data = judged_events(events)
    replay = Replay(data, (*others, profile)[0])  # another profile's numbers must have no effect
    places = replay.places(profile).tolist()
    for owner, memory, place in zip(data.owner.tolist(), data.memory.tolist(), places, strict=True):
        alone = places_alone(profile, data.events[owner])
        if memory in alone:
            assert place == alone[memory]
        else:
            assert place == 0 or place in alone.values()  # another memory replaces it


def test_what_says_the_same_stands_in_for_what_was_dropped() -> None:
    repeats = [Row(1, cosine=0.3, content=7), Row(2, cosine=0.9, content=7), Row(3, cosine=0.5)]
    drawn = [Row(1, cosine=0.3), Row(3, cosine=0.9), Row(5, cosine=0.5, origin=1)]
    for rows, steps, places in (
        # 2 repeats 1 and is better, so 1 is dropped. Feedback on 1 counts at the place of 2.
        (repeats, (DropRepeats(),), [1, 1, 2]),
        # Where both are shown, each keeps its own place.
        (repeats, (), [3, 1, 2]),
        # 5 was drawn from message 1 and is better, so the message goes; 3 leads both.
        (drawn, (DropRepeats(),), [2, 1, 2]),
    ):
        profile = Profile("any", "", (), (Linear(), *steps, Order(), Cut()))
        data = judged_events([logged(rows, moment(rows), 0)])
        assert Replay(data, profile).places(profile).tolist() == places


def test_an_answer_that_loses_all_its_candidates_has_no_places() -> None:
    rows = [Row(1, cosine=0.1)]
    data = judged_events([logged(rows, moment(rows), 0), logged([Row(2, cosine=0.9)], moment(rows), 1)])
    places = Replay(data, LIMBIC).places(PROFILES["cognis"])  # drops what is below a cosine of 0.3
    np.testing.assert_array_equal(places, [0, 1])


def test_a_profile_must_end_with_order_and_cut() -> None:
    data = judged_events([logged([Row(1, cosine=0.5)], moment(), 0)])
    with pytest.raises(ValueError, match="ends with order and cut"):
        Replay(data, LIMBIC).places(Profile("any", "", (), (Linear(), Order())))
