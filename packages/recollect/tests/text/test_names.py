"""Names in texts: where they may stand, and which of the finds count."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.names import (
    LONGEST_NAME,
    NamePlace,
    NameText,
    is_written_in,
    name_beginning,
    places_that_count,
)
from recollect.text.tokens import fold


def found(said: str, *names: str) -> list[str]:
    """The names that count in a text, in the order of their first places."""
    text = NameText.of(said)
    written_as = {fold(name): name for name in names}
    known = text.beginnings() & {name_beginning(name) for name in written_as}
    stand = {place: written_as[place.name] for place in text.places(known) if place.name in written_as}
    places = sorted(places_that_count(text, stand), key=lambda place: place.start)
    return list(dict.fromkeys(written_as[place.name] for place in places))


def test_names_stand_in_texts_as_tabled() -> None:
    for line in (Path(__file__).parent / "names.txt").read_text("utf-8").splitlines():
        sign, _, row = line.partition(" ")
        if sign != "#":
            said, name = row.replace("\\n", "\n").replace("\\t", "\t").split(" | ")
            assert found(said, name) == ([name] if sign == "+" else []), line
    assert found("", "Ada") == []


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        ("Will you come?", True),  # written so, by chance: nobody could tell
        ("you will come", False),
        ("ask Will, he will know", True),
        ("WILL", False),
        ("willing", False),
    ],
)
def test_an_everyday_word_is_a_name_only_in_its_own_letters(said: str, counts: bool) -> None:
    assert found(said, "Will") == (["Will"] if counts else [])


def test_words_of_every_text_are_everyday_in_both_languages() -> None:
    assert found("it is on the table with the rest", "It", "The", "With", "On") == []
    assert found("el sol y la luz de la mar", "Sol", "Luz", "Mar", "La") == []
    assert found("Sol y Luz viven junto al mar", "Sol", "Luz", "Mar") == ["Sol", "Luz"]


def test_an_everyday_word_inside_a_longer_name_needs_no_capital() -> None:
    assert found("will smith is here", "Will Smith", "Will") == ["Will Smith"]


def test_the_longest_name_wins_its_letters_and_leaves_the_others() -> None:
    names = ("New York", "York", "New", "New York City")
    assert found("New York City", *names) == ["New York City"]
    assert found("york, new york, new", *names) == ["York", "New York", "New"]
    assert found("東京都", "東京", "京都", "東京都") == ["東京都"]


def test_of_names_of_equal_length_that_overlap_the_first_one_counts() -> None:
    assert found("Ana Bob Cid", "Ana Bob", "Bob Cid") == ["Ana Bob"]


def test_a_name_that_does_not_count_takes_no_letters() -> None:
    # `May` is an everyday word and not written so; so `ay` … stands nowhere, and `may day` is another name.
    assert found("on may day", "May", "May Day") == ["May Day"]
    assert found("may day", "May", "Day") == ["Day"]


def test_the_longest_names_that_are_looked_for_have_eight_words() -> None:
    assert LONGEST_NAME == 8
    eight, nine = " ".join("abcdefgh"), " ".join("abcdefghi")
    assert found(f"x {eight} x", eight) == [eight]
    assert found(f"x {nine} x", nine) == []


def test_places_are_those_of_the_folded_text() -> None:
    text = NameText.of("Él vio  a ADA")
    assert text.folded == "el vio a ada"
    assert list(text.places({"ada"})) == [NamePlace(9, 12, "ada")]
    assert text.beginnings() == {"el", "vio", "a", "ada"}


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("ada lovelace", "ada"),
        (".net", "net"),
        ("@ada", "ada"),
        ("c++", "c"),
        ("東京都", "東"),
        ("★", ""),
        ("", ""),
    ],
)
def test_a_name_begins_with_its_first_word_or_letter(name: str, first: str) -> None:
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
    places = sorted(places_that_count(text, stand), key=lambda place: place.start)
    assert all(one.stop <= other.start for one, other in pairwise(places))


@given(st.sampled_from(["Ada", "ada lovelace", "C++", "José"]), TEXT, TEXT)
def test_a_name_between_spaces_is_always_found(name: str, before: str, after: str) -> None:
    assert name in found(f"{before} {name} {after}", name)
