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


def test_how_does_it_work_may_hold_any_words_between() -> None:
    assert points("how does the garbage collector work") == 2
    assert points("how does sqlite work here") == 2
    assert points("how does work pay off") == 0  # nothing stands between
    assert points("does it work now here") == 0


@pytest.mark.parametrize(
    "query",
    [
        "QUÉ ES la memoria semántica aquí",
        "que es la memoria semantica aqui",
        unicodedata.normalize("NFD", "qué es la memoria semántica aquí"),
        "¿Qué es la memoria semántica aquí?",
        "(qué   es)\tla memoria, semántica aquí",
    ],
)
def test_keywords_match_without_case_accents_or_signs(query: str) -> None:
    assert points(query) == 2


@pytest.mark.parametrize(
    "query",
    [
        "porque esta memoria no funciona",  # holds "que es" only across parts of words
        "the definitions of some words",  # not "definition"
        "unexplained noises in the attic",  # not "explain"
        "somewhat island life is fine",  # neither "what is" nor "is a"
        "correlaciones de datos muy viejas",  # not "relaciones"
    ],
)
def test_keywords_are_whole_words(query: str) -> None:
    assert points(query) == 0


def test_the_longest_phrase_takes_its_words() -> None:
    assert points("la relación entre alpha beta") == -2  # not also +1 for "relación"
    assert points("qué piensas de alpha beta") == -2
    assert points("tell me everything about the difference") == -2 + 1  # another word, another class


def test_each_class_counts_once() -> None:
    assert points("qué es y cómo funciona la definición") == 2
    assert points("diferencia y ejemplos para comparar alpha") == 1
    assert points("explícame y dime todo sobre alpha") == -2
    assert points("qué es la diferencia, explícame alpha") == 2 + 1 - 2


@pytest.mark.parametrize(("count", "worth"), [(1, 1), (3, 1), (4, 0), (9, 0), (10, -1), (40, -1)])
def test_short_queries_are_factual_and_long_ones_exploratory(count: int, worth: int) -> None:
    assert points(" ".join(["alpha"] * count)) == worth


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
