"""The steps of time, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from worlds import Row, gathered, moment

from recollect.ranking.candidates import Candidates, Source
from recollect.ranking.steps import TimeFirst, TimeScore

ROWS = [Row(1), Row(2), Row(3)]
BEFORE = np.array([0.9, 0.2, 0.5])


def candidates(**sources: list[float]) -> Candidates:
    made = gathered(ROWS)
    added = {name: Source(np.zeros(3, np.int64), np.array(score)) for name, score in sources.items()}
    return replace(made, sources={**made.sources, **added}).with_change("before", "set", BEFORE)


def test_the_match_is_added_by_its_weight() -> None:
    ranked = TimeScore(weight=0.5)(candidates(time=[0.0, 1.0, 0.6]), moment(ROWS))
    # 0.9 + 0, 0.2 + 0.5, 0.5 + 0.3
    assert ranked.score.tolist() == pytest.approx([0.9, 0.7, 0.8])


def test_of_what_lies_in_the_asked_time_the_related_gains_most() -> None:
    rows = [Row(1, cosine=0.9), Row(2, cosine=0.7), Row(3, cosine=0.5)]
    made = gathered(rows)
    time = Source(np.zeros(3, np.int64), np.array([0.0, 1.0, 1.0]))
    start = replace(made, sources={**made.sources, "time": time}).with_change("before", "set", BEFORE)
    ranked = TimeScore(weight=0.1, related=0.4)(start, moment(rows))
    # The cosines stretch to 1, 0.5 and 0: 0.9 + 0, 0.2 + (0.1 + 0.4 * 0.5), 0.5 + 0.1
    assert ranked.score.tolist() == pytest.approx([0.9, 0.5, 0.6])


def test_what_tells_a_time_gains_where_a_time_is_asked_for() -> None:
    ranked = TimeScore(tells=0.15)(candidates(when=[0.0, 1.0, 0.0]), moment(ROWS))
    assert ranked.score.tolist() == pytest.approx([0.9, 0.35, 0.5])


def test_what_lies_in_the_asked_time_comes_first_in_its_own_order() -> None:
    ranked = TimeFirst()(candidates(then=[0.0, 1.0, 1.0]), moment(ROWS))
    # From the lowest to the highest it is 0.7: 0.2 + 0.8 and 0.5 + 0.8.
    assert ranked.score.tolist() == pytest.approx([0.9, 1.0, 1.3])


def test_without_a_time_nothing_moves() -> None:
    plain = candidates()
    for step in (TimeScore(), TimeFirst()):
        assert step(plain, moment(ROWS)) is plain
    outside = candidates(then=[0.0, 0.0, 0.0])
    assert TimeFirst()(outside, moment(ROWS)) is outside
