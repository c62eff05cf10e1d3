"""How much a text says by itself: worked examples, and laws for any text."""

from __future__ import annotations

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.names import informativeness


@pytest.mark.parametrize(
    "text",
    [
        "",
        "!!! 😀",
        "Wow, that's awesome! Thanks!",
        "Yes, exactly.",
        "It was there.",
        "Thanks, Ana!",
        "Hey Ana, how are you?",
        "Haha, so true!",
        "¡Qué bien, muchas gracias!",
        "Hola, ¿qué tal?",
    ],
)
def test_a_reply_that_only_answers_the_talk_says_nothing(text: str) -> None:
    assert informativeness(text) == 0


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("I'm vegan.", 1),  # vegan
        ("The wifi password is 4471.", 3),  # wifi, password, 4471
        ("We moved to Oslo.", 1 + 1.5),  # moved, and a name
        ("We moved to Oslo. Oslo, wow!", 1 + 1.5),  # each counts once, as the most it counts anywhere
        ("What did you paint?", 0.5),  # paint, in a question
        ("Did you paint? I paint at night.", 1),  # paint outside the question
        ("Soy alérgica a los frutos secos.", 3),  # alergica, frutos, secos
        ("Thanks, Ana! The oven is broken.", 2),  # oven, broken; Ana is spoken to
        ("I agree with Ana.", 1.5),  # she is spoken of
        ("東京", 1),  # two letters stand for a word
    ],
)
def test_it_is_the_root_of_the_share_of_ten_terms(text: str, terms: float) -> None:
    assert informativeness(text) == pytest.approx(sqrt(terms / 10))


def test_ten_terms_say_as_much_as_a_text_can() -> None:
    assert informativeness("red green blue white black pink brown grey violet beige") == 1
    assert informativeness("red green blue white black pink brown grey violet") == pytest.approx(sqrt(0.9))


def test_many_words_say_something_whatever_the_lists_take_them_for() -> None:
    # 40 words: (40 - 20) / 4 = 5 terms, of ten; 60 words and more: all ten.
    assert informativeness("that is so " * 13 + "that") == pytest.approx(sqrt(0.5))
    assert informativeness("that is so " * 20) == 1


def test_another_language_is_judged_by_its_length() -> None:
    short, long = "Danke schön!", "Gestern haben wir endlich unsere neue Wohnung in Köln bezogen."
    assert 0 < informativeness(short) < informativeness(long)


@given(st.text(max_size=300))
def test_it_is_between_none_and_all(text: str) -> None:
    assert 0 <= informativeness(text) <= 1


@given(st.text(max_size=200), st.text(max_size=200))
def test_another_paragraph_takes_nothing_away(text: str, more: str) -> None:
    assert informativeness(f"{text}\n{more}") >= informativeness(text)
