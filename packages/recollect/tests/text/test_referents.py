"""Whom a pronoun means: what binds it in its own text, and who of the talk before it is in reach."""

from __future__ import annotations

import pytest

from recollect.language.referents import EarlierTurn, open_references
from recollect.language.statements import statements_in


def open_words(text: str) -> list[str]:
    return [text[one.start : one.stop] for one in open_references(text)]


@pytest.mark.parametrize(
    "text",
    [
        "I have a dog and she is called Nala.",
        "My brother says he is moving to Leeds.",
        "Ana lost her umbrella.",
        "I bought a lamp and it broke.",
        "My parents sold their house.",
        "We went to a lake in May and swam there.",
        "I think that tea is better.",
        "I have a friend that lives in Rome.",
        "There is a bakery in my street.",
        "I went camping this weekend.",
        "It took me two years to learn Basque.",
        'He wrote: "It was there."'.replace("He", "Luis"),
        "He comprado una bici.",
    ],
)
def test_what_is_said_before_a_pronoun_in_its_text_binds_it(text: str) -> None:
    assert open_words(text) == []


@pytest.mark.parametrize(
    ("text", "left_open"),
    [
        ("She moved to Oslo.", ["She"]),
        ("I met him in May.", ["him"]),
        ("Ana called him.", ["him"]),
        ("I love it.", ["it"]),
        ("I lived there.", ["there"]),
        ("That is mine.", ["That"]),
        ("I read that book.", ["that"]),
        ("I bought this one.", ["this"]),
        ("They came by.", ["They"]),
        ("I had a similar problem.", ["similar"]),
        ("Ella vive en Oslo.", ["Ella"]),
        ("Fui allí.", ["allí"]),
        ("Eso me gusta.", ["Eso"]),
    ],
)
def test_without_it_the_pronoun_is_open(text: str, left_open: list[str]) -> None:
    assert open_words(text)[:1] == left_open


MINE, YOURS = True, False


def drawn(text: str, *before: tuple[str, str | None, bool]) -> list[str]:
    turns = [EarlierTurn(said, speaker, is_same) for said, speaker, is_same in before]
    return [one.text for one in statements_in(text, turns)]


@pytest.mark.parametrize(
    ("text", "before", "note"),
    [
        (
            "She moved to Oslo in May.",
            ("My sister Laura called.", None, MINE),
            "My sister Laura moved to Oslo in May.",
        ),
        (
            "She moved to Oslo in May.",
            ("How is your sister?", None, YOURS),
            "My sister moved to Oslo in May.",
        ),
        (
            "I met her in 2021 in Porto.",
            ("My wife Clara is a nurse.", "Tom", MINE),
            "I met my wife Clara in 2021 in Porto.",
        ),
        ("Her birthday is on May 5th.", ("My mom is fine.", "Ana", MINE), "My mom's birthday is on May 5th."),
        (
            "I moved there in 2021.",
            ("Do you like Lisbon? I was in Lisbon.", None, YOURS),
            "I moved to Lisbon in 2021.",
        ),
        (
            "I lived there until 2021.",
            ("What about Lisbon? I was in Lisbon.", None, YOURS),
            "I lived in Lisbon until 2021.",
        ),
        (
            "Ella trabaja en Bilbao desde 2019.",
            ("¿Qué tal tu hermana?", None, YOURS),
            "Mi hermana trabaja en Bilbao desde 2019.",
        ),
        (
            "Fui allí en 2019 con Luis.",
            ("¿Has vivido en Lisboa?", None, YOURS),
            "Fui a Lisboa en 2019 con Luis.",
        ),
    ],
)
def test_the_only_one_in_reach_gives_a_pronoun_its_name(
    text: str, before: tuple[str, str | None, bool], note: str
) -> None:
    assert drawn(text, before) == [note]
    assert drawn(text) == []


@pytest.mark.parametrize(
    "before",
    [
        ("My sister met my aunt.", None, MINE),
        ("My sister talked to a woman.", None, MINE),
        ("Ana told Clara.", None, MINE),
        ("My brother called.", None, MINE),
        ("My sister called.", None, YOURS),
        ("I like Whitby.", None, MINE),
    ],
)
def test_two_or_none_or_one_of_whom_nothing_is_known_give_no_note(
    before: tuple[str, str | None, bool],
) -> None:
    assert drawn("She moved to Oslo in May.", before) == []


def test_one_who_is_spoken_to_is_not_meant() -> None:
    before = [("Hi Clara, my sister called.", "Ana", MINE), ("Great, Ana!", "Clara", YOURS)]
    assert drawn("She moved to Oslo in May.", *before) == ["My sister moved to Oslo in May."]
