"""Routing: what kind of question a query is, by the published rules."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.ranking.routing import Strategy, points, strategy_for

# A query's length gives nothing from 4 to 9 words.
FILLER = "alpha beta gamma delta"


@pytest.mark.parametrize(
    ("phrase", "worth"),
    [
        ("qué es", 2), ("definición", 2), ("cómo funciona", 2), ("es un", 2), ("es una", 2),
        ("relación", 1), ("diferencia", 1), ("ejemplos", 1), ("comparar", 1),
        ("explícame", -2), ("relación entre", -2), ("dime todo", -2), ("qué piensas", -2),
        ("what is", 2), ("definition", 2),
        ("difference", 1), ("compare", 1), ("examples", 1),
        ("explain", -2), ("tell me everything", -2),
        ("kettle", 0),
    ],
)  # fmt: skip
def test_each_keyword_has_its_worth(phrase: str, worth: int) -> None:
    assert points(f"{phrase} {FILLER}") == worth
    assert points(f"{FILLER} {phrase}") == worth
    assert points(f"alpha beta {phrase.upper()} gamma delta") == worth


@pytest.mark.parametrize(
    ("query", "worth"),
    [
        # one or more words between
        ("how does the garbage collector work", 2),
        ("how does sqlite work here", 2),
        ("how does work pay off", 0),
        ("does it work now here", 0),
        # without case, accents or signs
        ("QUÉ ES la memoria semántica aquí", 2),
        ("que es la memoria semantica aqui", 2),
        (unicodedata.normalize("NFD", "qué es la memoria semántica aquí"), 2),
        ("¿Qué es la memoria semántica aquí?", 2),
        ("(qué   es)\tla memoria, semántica aquí", 2),
        # whole words only
        ("porque esta memoria no funciona", 0),  # holds "que es" only across parts of words
        ("the definitions of some words", 0),  # not "definition"
        ("unexplained noises in the attic", 0),  # not "explain"
        ("somewhat island life is fine", 0),  # neither "what is" nor "is a"
        ("correlaciones de datos muy viejas", 0),  # not "relaciones"
        # the longest phrase takes its words
        ("la relación entre alpha beta", -2),  # not also +1 for "relación"
        ("qué piensas de alpha beta", -2),
        ("tell me everything about the difference", -2 + 1),  # another word, another class
        # each class counts once
        ("qué es y cómo funciona la definición", 2),
        ("diferencia y ejemplos para comparar alpha", 1),
        ("explícame y dime todo sobre alpha", -2),
        ("qué es la diferencia, explícame alpha", 2 + 1 - 2),
        # short queries are factual, and long ones exploratory
        *((" ".join(["alpha"] * count), each)
          for count, each in ((1, 1), (3, 1), (4, 0), (9, 0), (10, -1), (40, -1))),
    ],
)  # fmt: skip
def test_phrases_and_length_have_their_worth(query: str, worth: int) -> None:
    assert points(query) == worth


@pytest.mark.parametrize(("limit", "worth"), [(None, 0), (1, 1), (3, 1), (4, 0), (9, 0), (10, -1), (50, -1)])
def test_only_a_limit_that_was_given_counts(limit: int | None, worth: int) -> None:
    assert points(FILLER, limit) == worth


@pytest.mark.parametrize(
    ("query", "limit", "strategy"),
    [
        (f"qué es {FILLER}", None, Strategy.COSINE_HEAVY),  # 2
        (f"qué es {FILLER}", 10, Strategy.HYBRID_BALANCED),  # 2 - 1
        ("sqlite", 3, Strategy.COSINE_HEAVY),  # 1 + 1
        ("sqlite", None, Strategy.HYBRID_BALANCED),  # 1
        ("diferencia alpha beta", None, Strategy.COSINE_HEAVY),  # 1 + 1
        (f"explícame {FILLER}", None, Strategy.LIMBIC_HEAVY),  # -2
        (f"explícame {FILLER}", 3, Strategy.HYBRID_BALANCED),  # -2 + 1
        ("explícame todo", None, Strategy.HYBRID_BALANCED),  # -2 + 1
        (" ".join(["alpha"] * 10), 10, Strategy.LIMBIC_HEAVY),  # -1 - 1
        (" ".join(["alpha"] * 10), None, Strategy.HYBRID_BALANCED),  # -1
        (FILLER, None, Strategy.HYBRID_BALANCED),  # 0
    ],
)
def test_points_choose_the_strategy(query: str, limit: int | None, strategy: Strategy) -> None:
    assert strategy_for(query, limit) is strategy


def test_strategies_are_written_as_published() -> None:
    assert [str(strategy) for strategy in Strategy] == ["cosine_heavy", "hybrid_balanced", "limbic_heavy"]


@given(st.text(max_size=200), st.one_of(st.none(), st.integers(0, 1_000)))
def test_points_stay_within_what_the_rules_allow(query: str, limit: int | None) -> None:
    # at most 2 + 1 + 1 + 1, at least -2 - 1 - 1
    assert -4 <= points(query, limit) <= 5
    assert points(query.upper(), limit) == points(query.upper().lower(), limit)
