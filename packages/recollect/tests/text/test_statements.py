"""Which sentences of a message are kept: worked examples in two languages, and laws for any text."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis_profiles import tries

from recollect.language.statements import DROPS, IMPORTANCES, SIGNS, Category, statements_in
from recollect.text.passages import sentences

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Example:
    message: str
    kept: tuple[tuple[str, str], ...]
    known_wrong: str | None


def examples(language: str) -> list[Example]:
    """Blocks of lines that begin with > (the message), = (what is kept) and ! (known to be wrong)."""
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


def marked(example: Example) -> pytest.param:  # type: ignore[valid-type]  # a function that makes a mark
    marks = [pytest.mark.xfail(reason=example.known_wrong)] if example.known_wrong else []
    return pytest.param(example, id=example.message[:40], marks=marks)


@pytest.mark.parametrize("example", [marked(one) for ones in EXAMPLES.values() for one in ones])
def test_a_message_leaves_what_a_reader_would_want_to_find_again(example: Example) -> None:
    found = tuple((said.category.value, said.text) for said in statements_in(example.message))
    assert found == example.kept


@pytest.mark.parametrize(("language", "least"), [("en", 60), ("es", 30)])
def test_there_are_examples_enough_and_many_keep_nothing(language: str, least: int) -> None:
    given_examples = EXAMPLES[language]
    assert len(given_examples) >= least
    assert sum(not one.kept for one in given_examples) >= least / 3


def test_every_category_has_an_example() -> None:
    shown = {category for ones in EXAMPLES.values() for one in ones for category, _ in one.kept}
    assert shown == {category.value for category in Category}


def cut(text: str) -> list[str]:
    return [text[start:stop] for start, stop in sentences(text)]


def test_full_stops_that_end_nothing_do_not_cut() -> None:
    assert cut("Dr. Li paid 3.5 euros at 5 p.m. on shop.example.com. Then he left.") == [
        "Dr. Li paid 3.5 euros at 5 p.m. on shop.example.com.",
        "Then he left.",
    ]
    assert cut("El Sr. Gil vive en EE.UU. desde 2001. Le va bien.") == [
        "El Sr. Gil vive en EE.UU. desde 2001.",
        "Le va bien.",
    ]


def test_a_question_at_the_end_is_cut_off() -> None:
    assert cut("I live in Rome, and you?") == ["I live in Rome"]
    assert cut("Vivo en Roma, ¿y tú?") == ["Vivo en Roma", "¿y tú?"]


def test_a_quotation_is_not_cut() -> None:
    assert cut('She wrote: "I quit. It is over." Nobody answered.') == [
        'She wrote: "I quit. It is over."',
        "Nobody answered.",
    ]


def test_lists_lose_their_marks_and_code_is_left_out() -> None:
    assert cut("- one thing\n2. another\n* [ ] a third\n```\nx = 1\n```\n> quoted\nthe end") == [
        "one thing",
        "another",
        "a third",
        "the end",
    ]


def test_a_fence_that_closes_in_its_line_hides_nothing_else() -> None:
    assert cut("```x = 1```\r\nI live in Oslo.\r\n~~~\r\nI am code.") == ["I live in Oslo."]


def test_a_wrapped_line_goes_on() -> None:
    assert cut("I moved to Lisbon\nlast year.\nIt rains.") == ["I moved to Lisbon\nlast year.", "It rains."]


def test_sentences_lean_only_on_the_one_before() -> None:
    def texts(message: str) -> list[str]:
        return [said.text for said in statements_in(message)]

    assert texts("I have a dog. She is called Nala.") == ["I have a dog. She is called Nala."]
    assert texts("I have a dog. What else? She is called Nala.") == ["I have a dog."]
    assert texts("I have a dog.\nShe is called Nala.") == ["I have a dog."]


@pytest.mark.parametrize(
    ("message", "importance"),
    [
        ("I bought a lamp yesterday.", 0.5),
        ("I'm going to buy a lamp.", 0.6),
        ("My name is Ana.", 0.7),
        ("We decided to buy a lamp.", 0.7),
        ("From now on, be brief.", 0.8),
        ("I'm allergic to nuts.", 0.9),
        ("Remember that the lamp is broken.", 0.9),
    ],
)
def test_importance_comes_from_the_table(message: str, importance: float) -> None:
    (said,) = statements_in(message)
    assert said.importance == importance


def test_the_same_statement_twice_is_one() -> None:
    said = statements_in("I like tea.\nI like tea.")
    assert [one.text for one in said] == ["I like tea."]


def test_what_is_asked_to_be_remembered_is_kept_whatever_it_is() -> None:
    (said,) = statements_in("Note that pineapples float.")
    assert (said.text, said.signs) == ("pineapples float.", frozenset({"explicit"}))


def test_the_page_on_extraction_explains_every_sign_and_category() -> None:
    page = (HERE.parents[3] / "docs" / "extraction.md").read_text(encoding="utf-8")
    for name in [*SIGNS, "named", *DROPS, *Category, *IMPORTANCES]:
        assert f"`{name}`" in page


# Words and marks, between spaces; `_` stands for a space.
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
def test_any_text_can_be_read_and_statements_stand_in_it_in_order(text: str) -> None:
    said = statements_in(text)
    assert [text[one.start : one.stop] for one in said] == [one.text for one in said]
    assert all(one.text.strip() == one.text != "" for one in said)
    assert all(first.stop <= second.start for first, second in pairwise(said))
    assert all(0 <= one.importance <= 1 for one in said)


@given(MESSAGES)
def test_the_same_text_gives_the_same_statements(text: str) -> None:
    assert statements_in(text) == statements_in(text)


@given(MESSAGES)
@settings(max_examples=tries(150))
def test_a_statement_is_kept_again_as_it_is(text: str) -> None:
    for said in statements_in(text):
        # "Remember that" is cut off, and what follows it may be nothing that the rules would keep by itself.
        if "explicit" not in said.signs:
            assert [again.text for again in statements_in(said.text)] == [said.text]


@pytest.mark.parametrize("unit", [".", '"a. ', "x", "and so, ", "“a ", "( ", "... ", " \t", "```\n"])
def test_a_long_text_takes_no_longer_than_its_length(unit: str) -> None:
    # Four times the text: about 4 times the time, where quadratic work would take 16 times.
    assert seconds(unit, 400_000) < 9 * seconds(unit, 100_000) + 0.5


@pytest.mark.parametrize("unit", ["I moved to Lisbon in May. She likes tea. ", "i am\n", "1. ", "¿a ", "a? "])
def test_many_sentences_take_no_longer_than_their_number(unit: str) -> None:
    assert seconds(unit, 100_000) < 9 * seconds(unit, 25_000) + 0.5


def seconds(unit: str, length: int) -> float:
    """Of the processor, for this alone: what else runs on the machine does not count."""
    text = (unit * length)[:length]
    started = time.thread_time()
    statements_in(text)
    return time.thread_time() - started
