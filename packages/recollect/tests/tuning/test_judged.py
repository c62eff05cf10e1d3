"""Feedback in columns: grades, places and weights."""

from __future__ import annotations

from dataclasses import replace
from math import log2

import numpy as np
import pytest
from simulated import gathered, together

from recollect.tuning.events import Event
from recollect.tuning.judging import dcg_scale, judged_events, mean_ndcg


def answer(at: int, shown: int, feedback: dict[int, float]) -> Event:
    """Candidates are known by their place among ascending ids; the first of them were shown."""
    chance = np.random.default_rng(3)
    candidates, context = together(gathered(10, chance), chance, "tea")
    ids = candidates.ids.tolist()
    given = {ids[place]: grade for place, grade in feedback.items()}
    seen = tuple(ids[:shown])
    return Event(at, at, "tea", "limbic", "ours", seen, seen, seen, candidates, context, given)


def test_only_what_was_shown_counts_unless_someone_said_it() -> None:
    unseen = answer(1, 3, {0: 1.0, 2: 0.0, 7: 1.0})
    data = judged_events([unseen])
    assert data.place.tolist() == [1]  # place 3 has a grade of 0, which says nothing; 7 was not shown
    said = replace(unseen, said=dict.fromkeys(unseen.feedback, 1.0))
    # Three were shown, so an unshown memory counts as fourth.
    assert judged_events([said]).place.tolist() == [1, 4]


def test_feedback_on_what_was_no_candidate_is_passed_over() -> None:
    stranger = replace(answer(1, 3, {}), feedback={-5: 1.0}, said={-5: 1.0})
    assert len(judged_events([stranger])) == 0


def test_events_come_oldest_first() -> None:
    data = judged_events([answer(9, 3, {0: 1.0}), answer(2, 3, {1: 1.0}), answer(5, 3, {})])
    assert [event.at for event in data.events] == [2, 9]
    assert data.place.tolist() == [2, 1]


def test_an_event_counts_for_as_much_as_its_feedback() -> None:
    # With eta 1, a use at place 4 counts for 4 and one at place 1 for 1. Both are at place 2 now:
    # (4 / log2(3) + 1 / log2(3)) / (4 + 1) = 0.63093. With the first at place 1: (4 + 0.63093) / 5.
    data = judged_events([answer(1, 5, {3: 1.0}), answer(2, 5, {0: 1.0})])
    scale = dcg_scale(data, 1.0, 10)
    assert scale.span.tolist() == [4.0, 1.0]
    assert mean_ndcg(data, scale, np.array([2, 2]), 10) == pytest.approx(1 / log2(3))
    assert mean_ndcg(data, scale, np.array([1, 2]), 10) == pytest.approx((4 + 1 / log2(3)) / 5)


def test_without_feedback_there_is_nothing_to_measure() -> None:
    data = judged_events([])
    assert mean_ndcg(data, dcg_scale(data, 1.0, 10), np.zeros(0, np.int64), 10) == 0.0
