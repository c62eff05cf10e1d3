"""Statements kept from a message, and the pronouns in them: worked examples and laws."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis_profiles import tries

from recollect.language.referents import EarlierTurn, open_references
from recollect.language.statements import DROPS, IMPORTANCES, SIGNS, Category, statements_in
from recollect.text.passages import sentences

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Example:
    message: str
    kept: tuple[tuple[str, str], ...]
    known_wrong: str | None


def examples(language: str) -> list[Example]:
    """Read blocks of lines that begin with > (the message), = (what is kept) and ! (known to be wrong)."""
    found: list[Example] = []
    text = (HERE / f"statements_{language}.txt").read_text(encoding="utf-8")
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("#")]
        message = "\n".join(line[2:] for line in lines if line.startswith(">"))
        if message:
            kept = [line[2:].partition(": ") for line in lines if line.startswith("= ")]
            wrong = [line[2:] for line in lines if line.startswith("! ")]
            statements = tuple((category, said.replace("\\n", "\n")) for category, _, said in kept)
            found.append(Example(message, statements, wrong[0] if wrong else None))
    return found


EXAMPLES = {language: examples(language) for language in ("en", "es")}


def as_parameter(example: Example) -> pytest.param:  # type: ignore[valid-type]  # a function that makes a mark
    marks = [pytest.mark.xfail(reason=example.known_wrong)] if example.known_wrong else []
    return pytest.param(example, id=example.message[:40], marks=marks)


@pytest.mark.parametrize("example", [as_parameter(one) for ones in EXAMPLES.values() for one in ones])
def test_the_expected_statements_of_a_message_are_kept(example: Example) -> None:
    found = tuple((said.category.value, said.text) for said in statements_in(example.message))
    assert found == example.kept


def test_every_category_has_an_example() -> None:
    shown = {category for ones in EXAMPLES.values() for one in ones for category, _ in one.kept}
    assert shown == {category.value for category in Category}


def cut(text: str) -> list[str]:
    return [text[start:stop] for start, stop in sentences(text)]


def test_sentences_end_where_readers_expect_it() -> None:
    for pieces in (
        # Full stops that end nothing.
        "Dr. Li paid 3.5 euros at 5 p.m. on shop.example.com.| Then he left.",
        "El Sr. Gil vive en EE.UU. desde 2001.| Le va bien.",
        'She wrote: "I quit. It is over."| Nobody answered.',
        # A wrapped line goes on.
        "I moved to Lisbon\nlast year.|\nIt rains.",
        "Vivo en Roma|, |¿y tú?",
    ):
        assert cut(pieces.replace("|", "")) == [
            piece for each in pieces.split("|") if (piece := each.strip(", \n"))
        ]


def test_list_marks_code_and_a_final_question_are_left_out() -> None:
    assert cut("I live in Rome, and you?") == ["I live in Rome"]
    listed = "- one thing\n2. another\n* [ ] a third\n```\nx = 1\n```\n> quoted\nthe end"
    assert cut(listed) == ["one thing", "another", "a third", "the end"]
    # A fence that closes on its own line hides nothing after it.
    assert cut("```x = 1```\r\nI live in Oslo.\r\n~~~\r\nI am code.") == ["I live in Oslo."]


def test_a_sentence_may_refer_only_to_the_one_before() -> None:
    def texts(message: str) -> list[str]:
        return [said.text for said in statements_in(message)]

    assert texts("I have a dog. She is called Nala.") == ["I have a dog. She is called Nala."]
    assert texts("I have a dog. What else? She is called Nala.") == ["I have a dog."]
    assert texts("I have a dog.\nShe is called Nala.") == ["I have a dog."]


def test_importance_comes_from_the_table() -> None:
    importances = {
        "I bought a lamp yesterday.": 0.5,
        "I'm going to buy a lamp.": 0.6,
        "My name is Ana.": 0.7,
        "We decided to buy a lamp.": 0.7,
        "From now on, be brief.": 0.8,
        "I'm allergic to nuts.": 0.9,
        "Remember that the lamp is broken.": 0.9,
    }
    found = {message: statements_in(message)[0].importance for message in importances}
    assert found == importances


def test_a_repeated_statement_is_kept_once_and_an_explicit_one_always() -> None:
    (said,) = statements_in("I like tea.\nI like tea.")
    assert said.text == "I like tea."
    (said,) = statements_in("Note that pineapples float.")
    assert (said.text, said.signs) == ("pineapples float.", frozenset({"explicit"}))


def test_the_pages_on_extraction_explain_every_sign_and_category() -> None:
    pages = [HERE.parents[3] / "docs" / shelf / "extraction.md" for shelf in ("guides", "internals")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    for name in [*SIGNS, "named", *DROPS, *Category, *IMPORTANCES]:
        assert f"`{name}`" in text


# Words and punctuation, separated by spaces; `_` is a space.
_WORDS = """
``` ._ ?_ !_ 1._ -_ >_ #_ ..._ 東京。 I_ I'm_ we_ My_ my_sister_ Ana_ She_ It_ That_ is_ moved_ to_
Lisbon allergic_ like_ tea in_2021 yesterday ok,_ and_ so_ Hey_Ana,_ thanks_ you_ remember_that_
please_ let's_go_with_ from_now_on,_ Dr._ a.m._ me_gusta_ ayer_ fui_ vivo_ en_ él_ Ella_ no_ yo_
decidí_ café_ http://a.b/c?d=e._ x_=_{1};_ def_f():
"""
PARTS = [
    *"\n .,!?…¿¡\"'«»“”()-*#>|`:;😀éßİ\u2028\x00",
    "\n\n",
    *(word.replace("_", " ") for word in _WORDS.split()),
]
MESSAGES = st.lists(st.sampled_from(PARTS), max_size=40).map("".join) | st.text(max_size=200)


@given(MESSAGES)
@settings(max_examples=tries(150))
def test_any_text_can_be_read_and_its_statements_keep_their_order(text: str) -> None:
    said = statements_in(text)
    assert [text[one.start : one.stop] for one in said] == [one.text for one in said]
    assert all(one.text.strip() == one.text != "" for one in said)
    assert all(first.stop <= second.start for first, second in pairwise(said))
    assert all(0 <= one.importance <= 1 for one in said)


@given(MESSAGES)
@settings(max_examples=tries(150))
def test_a_statement_read_again_stays_the_same(text: str) -> None:
    for said in statements_in(text):
        # The rules may not keep the rest of "Remember that …" by itself.
        if "explicit" not in said.signs:
            assert [again.text for again in statements_in(said.text)] == [said.text]


_LONG_UNITS = '.¦"a. ¦x¦and so, ¦“a ¦( ¦... ¦ \t¦```\n'
_SENTENCE_UNITS = "I moved to Lisbon in May. She likes tea. ¦i am\n¦1. ¦¿a ¦a? "


def test_reading_statements_takes_time_in_proportion_to_the_text() -> None:
    # Quadratic work would take many minutes.
    for length, units in ((400_000, _LONG_UNITS), (100_000, _SENTENCE_UNITS)):
        for unit in units.split("¦"):
            statements_in((unit * length)[:length])


def open_words(text: str) -> list[str]:
    return [text[one.start : one.stop] for one in open_references(text)]


def test_a_pronoun_with_an_antecedent_in_its_text_is_not_open() -> None:
    for text in (
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
    ):
        assert open_words(text) == []


def test_a_pronoun_without_an_antecedent_is_open() -> None:
    for text, left_open in (
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
    ):
        assert open_words(text)[:1] == left_open


MINE, YOURS = True, False


def extract_texts(text: str, *before: tuple[str, str | None, bool]) -> list[str]:
    turns = [EarlierTurn(said, speaker, is_same) for said, speaker, is_same in before]
    return [one.text for one in statements_in(text, turns)]


def test_a_pronoun_is_replaced_if_one_person_or_place_fits() -> None:
    lived = "What about Lisbon? I was in Lisbon."
    for said, whose, before, note in (
        (
            "She moved to Oslo in May.",
            MINE,
            "My sister Laura called.",
            "My sister Laura moved to Oslo in May.",
        ),
        ("She moved to Oslo in May.", YOURS, "How is your sister?", "My sister moved to Oslo in May."),
        ("I met her in 2021 in Porto.", MINE, "My wife Clara left.", "I met my wife Clara in 2021 in Porto."),
        ("Her birthday is on May 5th.", MINE, "My mom is fine.", "My mom's birthday is on May 5th."),
        ("I moved there in 2021.", YOURS, lived, "I moved to Lisbon in 2021."),
        ("I lived there until 2021.", YOURS, lived, "I lived in Lisbon until 2021."),
        ("Ella trabaja en Bilbao.", YOURS, "¿Qué tal tu hermana?", "Mi hermana trabaja en Bilbao."),
        ("Fui allí en 2019 con Luis.", YOURS, "¿Has vivido en Lisboa?", "Fui a Lisboa en 2019 con Luis."),
    ):
        assert extract_texts(said, (before, "Tom", whose)) == [note]
        assert extract_texts(said) == []


def test_a_pronoun_without_one_clear_antecedent_gives_no_note() -> None:
    for before in (
        ("My sister met my aunt.", None, MINE),
        ("My sister talked to a woman.", None, MINE),
        ("Ana told Clara.", None, MINE),
        ("My brother called.", None, MINE),
        ("My sister called.", None, YOURS),
        ("I like Whitby.", None, MINE),
    ):
        assert extract_texts("She moved to Oslo in May.", before) == []


def test_a_pronoun_does_not_refer_to_the_person_addressed() -> None:
    before = [("Hi Clara, my sister called.", "Ana", MINE), ("Great, Ana!", "Clara", YOURS)]
    assert extract_texts("She moved to Oslo in May.", *before) == ["My sister moved to Oslo in May."]
