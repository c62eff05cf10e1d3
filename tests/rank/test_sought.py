"""What a question looks for in words."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.rank.sought import held, names, sought, stem, stems, telling


@pytest.mark.parametrize(
    "forms",
    [
        ("hiking", "hiked", "hikes", "hike"),
        ("agency", "agencies"),
        ("paint", "painting", "painted", "paints"),
        ("cat", "cats"),
        ("rápida", "rapido"),
        ("gato", "gata"),
    ],
)
def test_forms_of_a_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


def test_the_rarer_word_weighs_more_and_an_unknown_one_the_most() -> None:
    asked = sought("Where is the spare boiler?", {"spare": 3, "boiler": 0}, 7)
    # ln(1 + 7 / 3.5) = ln 3; ln(1 + 7 / 0.5) = ln 15
    assert dict(asked.weights) == pytest.approx({stem("spare"): log(3), stem("boiler"): log(15)})
    assert asked.most == pytest.approx(log(45))


def test_a_question_of_common_words_alone_looks_for_all_of_them() -> None:
    assert telling("Who is it?") == ["who", "is", "it"]
    assert telling("Who is Ana?") == ["ana"]


def test_names_are_what_is_written_as_one_but_for_the_first_word() -> None:
    assert names("What did Caroline say about Ana's trip to Lisbon?") == {
        stem("caroline"),
        stem("ana"),
        stem("lisbon"),
    }
    assert names("Where are my keys?") == frozenset()
    assert names("Keys") == frozenset()


def test_letters_count_two_by_two_where_nothing_parts_words() -> None:
    assert held("東京都に住む", stems("東京")) == {"東京"}
    assert held("大阪に住む", stems("東京")) == frozenset()


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_text_holds_exactly_the_stems_that_it_shares(one: str, two: str) -> None:
    assert held(one, stems(two)) == stems(one) & stems(two)


@given(st.text(max_size=80))
def test_a_question_holds_all_that_it_looks_for(query: str) -> None:
    asked = sought(query, {}, 5)
    assert held(query, asked.weights.keys()) == asked.weights.keys()
    assert asked.names <= asked.weights.keys()
