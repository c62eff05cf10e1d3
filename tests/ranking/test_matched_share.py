"""Who gives nearly all the words of a text wants that text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from worlds import Row, gathered, moment

from recollect.ranking.candidates import Candidates, Source
from recollect.ranking.explain import reasons, recombined
from recollect.ranking.pipeline import ByWords, Profile, run
from recollect.ranking.steps.finish import Cut, Order
from recollect.ranking.steps.fuse import Blend, MatchedShare
from recollect.ranking.steps.plain import from_plain, to_plain


def holding(*shares: float) -> Candidates:
    """Candidates that hold such shares of the query, all equally good otherwise."""
    found = gathered([Row(id_, cosine=0.5, bm25=1.0) for id_ in range(1, len(shares) + 1)])
    held = Source(np.zeros(len(shares), np.int64), np.array(shares))
    return replace(found, sources={**found.sources, "held": held})


def test_what_goes_above_the_line_counts_in_proportion() -> None:
    stepped = MatchedShare(weight=0.4, above=0.6)(holding(1.0, 0.8, 0.6, 0.2), moment())
    # 0.4 * (1 - 0.6) / 0.4, 0.4 * (0.8 - 0.6) / 0.4, and nothing at the line or below
    assert stepped.score.tolist() == pytest.approx([0.4, 0.2, 0.0, 0.0])


def test_where_nobody_is_above_the_line_nothing_is_marked() -> None:
    before = holding(0.6, 0.1)
    assert MatchedShare()(before, moment()).score_changes == before.score_changes == ()


def test_where_nobody_told_what_is_held_nothing_is_marked() -> None:
    assert MatchedShare()(gathered([Row(1, cosine=0.5, bm25=1.0)]), moment()).score_changes == ()


@pytest.mark.parametrize("above", [1.0, 3.0])
def test_a_line_that_nobody_can_pass_divides_by_nothing(above: float) -> None:
    assert MatchedShare(above=above)(holding(1.0), moment()).score.tolist() == [0.0]


def test_it_is_a_step_like_any_other() -> None:
    profile = Profile(
        "mine", "", (ByWords("stemmed", held=True),), (Blend(), MatchedShare(0.5, 0.7), Order(), Cut())
    )
    assert from_plain(to_plain(profile)) == profile
    ranked = run(profile, holding(0.2, 0.9), moment())
    assert ranked.ids.tolist() == [2, 1]
    for row, score in enumerate(ranked.score.tolist()):
        assert recombined(reasons(ranked, row)) == score
