"""Recall within a budget of tokens: the best that fits, and how many did not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.errors import InvalidInput
from recollect.ranking.profiles import PROFILES
from recollect.search.facts import ranking_facts
from recollect.search.recall import memory_text
from recollect.search.rows import MemoryRows
from recollect.text.tokens import count_tokens

if TYPE_CHECKING:
    from recollect.domain.results import Answer
    from recollect.engine import Engine

every_profile = pytest.mark.parametrize("profile", PROFILES)


def kettles(engine: Engine) -> None:
    engine.remember_many(["kettle", "kettle " * 30, "a red kettle", "the kettle of Ada leaks", "水壺 kettle"])
    engine.add_messages("s", [{"content": "where is my kettle"}])
    engine.create_entities([{"name": "Kettle", "entityType": "thing", "observations": ["is red", "is old"]}])


def cost(answer: Answer) -> int:
    return sum(count_tokens(memory_text(hit.memory, hit.piece)) for hit in answer.hits)


@every_profile
def test_the_hits_of_a_budget_are_the_best_that_fit_in_their_order(engine: Engine, profile: str) -> None:
    kettles(engine)
    whole = engine.recall("kettle", profile=profile, record=False)
    for budget in range(1, cost(whole) + 2):
        answer = engine.recall("kettle", profile=profile, budget_tokens=budget, record=False)
        left, fits = budget, []
        for hit in whole.hits:
            if count_tokens(memory_text(hit.memory, hit.piece)) <= left:
                fits.append(hit)
                left -= count_tokens(memory_text(hit.memory, hit.piece))
        assert list(answer.hits) == fits
        assert cost(answer) <= budget
        assert answer.left_out == len(whole.hits) - len(fits)


def test_without_a_budget_nothing_is_left_out(engine: Engine) -> None:
    kettles(engine)
    assert engine.recall("kettle").left_out == 0
    roomy = engine.recall("kettle", budget_tokens=100_000, record=False)
    assert roomy.hits == engine.recall("kettle", record=False).hits
    budget: Any
    for budget in (0, -5, 1.0, True, "9"):
        with pytest.raises(InvalidInput, match="number of tokens above 0, not"):
            engine.recall("kettle", budget_tokens=budget)


def test_what_is_too_long_is_passed_over_for_what_fits_and_not_noted_as_seen(engine: Engine) -> None:
    ids = [done.id for done in engine.remember_many(["kettle " * 30, "a red kettle"]).notes]
    # `a red kettle` takes 1 + 1 + 2 tokens, the other 60.
    answer = engine.recall("kettle", budget_tokens=4)
    assert [hit.memory.text for hit in answer.hits] == ["a red kettle"]
    assert answer.left_out == 1
    assert engine.recall("kettle", budget_tokens=3).hits == ()
    engine._services.usage.settle(None)
    with engine._services.store.read() as view:
        assert ranking_facts(MemoryRows(view), ids, "", None, 0).access_count.tolist() == [0, 1]


def test_a_long_text_costs_what_its_piece_does(engine: Engine) -> None:
    filler = " ".join(f"On day {day} the weather was mild and the walk was long." for day in range(60))
    engine.remember(f"{filler} The zeppelin landed beside the observatory. {filler}")
    (hit,) = engine.recall("zeppelin observatory", budget_tokens=500).hits
    assert count_tokens(hit.memory.text) > 1_000
    assert hit.piece is not None
    assert count_tokens(hit.piece) <= 500


# Tokens


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("tea", 1),
        ("kettle", 2),  # kett le
        ("1234567", 3),  # 123 456 7
        ("tea, tea", 3),
        ("tea\n\n\ntea", 3),
        ("水壺", 2),
        ("чай", 2),  # ча й
        ("a_b", 3),
    ],
)
def test_tokens_are_counted_as_told(text: str, count: int) -> None:
    assert count_tokens(text) == count


@given(st.text(), st.text())
def test_joining_two_texts_costs_no_more_than_both_and_nothing_is_free(one: str, other: str) -> None:
    assert count_tokens(f"{one}\n{other}") <= count_tokens(one) + 1 + count_tokens(other)
    assert (count_tokens(one) > 0) == any(not letter.isspace() or letter == "\n" for letter in one)
