"""What a question looks for in words."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.ranking.confidence import weigh_query_terms
from recollect.text.tokens import coarse_stem, matched_terms, query_terms


def test_the_rarer_word_weighs_more_and_an_unknown_one_the_most() -> None:
    asked = weigh_query_terms("Where is the spare boiler?", {"spare": 3, "boiler": 0}, 7)
    # ln(1 + 7 / 3.5) = ln 3; ln(1 + 7 / 0.5) = ln 15
    assert dict(asked.weights) == pytest.approx(
        {coarse_stem("spare"): log(3), coarse_stem("boiler"): log(15)}
    )
    assert asked.total_weight == pytest.approx(log(45))


def test_a_question_of_common_words_alone_looks_for_all_of_them() -> None:
    assert query_terms("Who is it?") == ["who", "is", "it"]
    assert query_terms("Who is Ana?") == ["ana"]


def test_words_for_a_time_are_known_among_the_others() -> None:
    asked = weigh_query_terms("boiler September", {"boiler": 3, "september": 3}, 7, "in September")
    assert asked.of_time == {coarse_stem("september")}
    # Both weigh ln 3; what was searched for beside the time is the boiler.
    assert asked.total_weight == pytest.approx(2 * log(3))
    assert asked.searched_weight == pytest.approx(log(3))
    assert asked.matched_share({coarse_stem("boiler")}, of_that_time=False) == pytest.approx(0.5)
    assert asked.matched_share({coarse_stem("boiler")}, of_that_time=True) == pytest.approx(1.0)


@given(st.text(max_size=80))
def test_a_question_holds_all_that_it_looks_for(query: str) -> None:
    asked = weigh_query_terms(query, {}, 5)
    assert matched_terms(query, asked.weights.keys()) == asked.weights.keys()
