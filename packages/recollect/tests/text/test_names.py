"""Names in texts, and how much a text says by itself: worked examples, and laws for any text."""

from __future__ import annotations

from itertools import pairwise
from math import sqrt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.names import (
    LONGEST_NAME,
    NamePlace,
    NameText,
    choose_names,
    informativeness,
    is_written_in,
    name_beginning,
)
from recollect.text.tokens import fold


def names_found(said: str, *names: str) -> list[str]:
    """The names that count in a text, in the order of their first places."""
    text = NameText.of(said)
    written_as = {fold(name): name for name in names}
    known = text.beginnings() & {name_beginning(name) for name in written_as}
    stand = {place: written_as[place.name] for place in text.places(known) if place.name in written_as}
    places = sorted(choose_names(text, stand), key=lambda place: place.start)
    return list(dict.fromkeys(written_as[place.name] for place in places))


def test_names_stand_in_texts_as_tabled() -> None:
    for line in (Path(__file__).parent / "names.txt").read_text("utf-8").splitlines():
        sign, _, row = line.partition(" ")
        if sign != "#":
            said, name = row.replace("\\n", "\n").replace("\\t", "\t").split(" | ")
            assert names_found(said, name) == ([name] if sign == "+" else []), line
    assert names_found("", "Ada") == []


def test_an_everyday_word_is_a_name_only_in_its_own_letters() -> None:
    for said, counts in (
        ("Will you come?", True),  # written like the name by chance
        ("you will come", False),
        ("ask Will, he will know", True),
        ("WILL", False),
        ("willing", False),
    ):
        assert names_found(said, "Will") == (["Will"] if counts else [])


def test_words_of_every_text_are_everyday_in_both_languages() -> None:
    assert names_found("it is on the table with the rest", "It", "The", "With", "On") == []
    assert names_found("el sol y la luz de la mar", "Sol", "Luz", "Mar", "La") == []
    assert names_found("Sol y Luz viven junto al mar", "Sol", "Luz", "Mar") == ["Sol", "Luz"]


def test_the_longest_name_wins_its_letters_and_leaves_the_others() -> None:
    assert names_found("will smith is here", "Will Smith", "Will") == ["Will Smith"]
    names = ("New York", "York", "New", "New York City")
    assert names_found("New York City", *names) == ["New York City"]
    assert names_found("york, new york, new", *names) == ["York", "New York", "New"]
    assert names_found("東京都", "東京", "京都", "東京都") == ["東京都"]
    # Of names of equal length that overlap, the first one counts.
    assert names_found("Ana Bob Cid", "Ana Bob", "Bob Cid") == ["Ana Bob"]


def test_a_name_that_does_not_count_takes_no_letters() -> None:
    # `May` is an everyday word and not capitalised here, so only `May Day` counts.
    assert names_found("on may day", "May", "May Day") == ["May Day"]
    assert names_found("may day", "May", "Day") == ["Day"]


def test_the_longest_names_that_are_looked_for_have_eight_words() -> None:
    assert LONGEST_NAME == 8
    eight, nine = " ".join("abcdefgh"), " ".join("abcdefghi")
    assert names_found(f"x {eight} x", eight) == [eight]
    assert names_found(f"x {nine} x", nine) == []


def test_places_are_those_of_the_folded_text() -> None:
    text = NameText.of("Él vio  a ADA")
    assert text.folded == "el vio a ada"
    assert list(text.places({"ada"})) == [NamePlace(9, 12, "ada")]
    assert text.beginnings() == {"el", "vio", "a", "ada"}


def test_a_name_begins_with_its_first_word_or_letter() -> None:
    for name, first in (
        ("ada lovelace", "ada"),
        (".net", "net"),
        ("@ada", "ada"),
        ("c++", "c"),
        ("東京都", "東"),
        ("★", ""),
        ("", ""),
    ):
        assert name_beginning(name) == first


def test_written_asks_for_the_very_letters_as_whole_words() -> None:
    assert is_written_in("I met Ada.", "Ada")
    assert not is_written_in("I met ada.", "Ada")
    assert not is_written_in("Canada", "ada")
    assert is_written_in("in C++", "C++")
    assert is_written_in("(a+b)", "a+b")


TEXT = st.text(alphabet="abAB é.,+#_'東京1 \n", max_size=40)


@given(TEXT, TEXT)
def test_every_place_stands_where_it_says_and_is_a_stretch_of_the_text(said: str, name: str) -> None:
    text = NameText.of(said)
    for place in text.places(text.beginnings()):
        assert text.folded[place.start : place.stop] == place.name


@given(TEXT, st.sampled_from(["Ab", "a b", "東", "B+"]))
def test_places_that_count_share_no_letter(said: str, name: str) -> None:
    text = NameText.of(said)
    stand = {place: place.name for place in text.places(text.beginnings())}
    places = sorted(choose_names(text, stand), key=lambda place: place.start)
    assert all(one.stop <= other.start for one, other in pairwise(places))


@given(st.sampled_from(["Ada", "ada lovelace", "C++", "José"]), TEXT, TEXT)
def test_a_name_between_spaces_is_always_found(name: str, before: str, after: str) -> None:
    assert name in names_found(f"{before} {name} {after}", name)


def test_a_reply_that_only_answers_the_talk_says_nothing() -> None:
    for text in (
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
    ):
        assert informativeness(text) == 0


def test_it_is_the_root_of_the_share_of_ten_terms() -> None:
    for text, terms in (
        ("I'm vegan.", 1),  # vegan
        ("The wifi password is 4471.", 3),  # wifi, password, 4471
        ("We moved to Oslo.", 1 + 1.5),  # moved, and a name
        ("We moved to Oslo. Oslo, wow!", 1 + 1.5),  # each counts once, as the most it counts anywhere
        ("What did you paint?", 0.5),  # paint, in a question
        ("Did you paint? I paint at night.", 1),  # paint outside the question
        ("Soy alérgica a los frutos secos.", 3),  # alergica, frutos, secos
        ("Thanks, Ana! The oven is broken.", 2),  # oven, broken; Ana is spoken to
        ("I agree with Ana.", 1.5),  # she is spoken of
        ("東京", 1),  # two letters count as a word
    ):
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
