"""Signals in the wording of a text: kind of answer, tense, time, the user, the language."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from recollect.language.questions import (
    AnswerShape,
    answer_shape,
    asks_openly,
    asks_what_was_said,
    asks_when,
    has_shape,
    language_of,
    prompt_signs,
    question_tense,
    written_names,
)
from recollect.language.words import ENGLISH, languages, sections
from recollect.text.tokens import fold

ASKED: dict[str, Callable[[str], str]] = {
    "tense": lambda question: question_tense(question).value,
    "shape": lambda question: getattr(answer_shape(question), "value", "none"),
    "openly": lambda question: str(asks_openly(question)),
    "when": lambda question: str(asks_when(question)),
}
SECTIONS = re.findall(
    r"^\[(\w+) (\w+)\]\n([^[]+)", (Path(__file__).parent / "questions.txt").read_text("utf-8"), re.MULTILINE
)


@pytest.mark.parametrize(("reader", "expected", "questions"), SECTIONS)
def test_a_question_tells_what_it_asks_for(reader: str, expected: str, questions: str) -> None:
    for question in questions.split("\n"):
        if question:
            assert ASKED[reader](question.removeprefix("-")) == expected, question


def test_every_shape_and_tense_has_its_questions() -> None:
    assert {f"{reader} {expected}" for reader, expected, _ in SECTIONS} >= {
        *(f"shape {shape}" for shape in (*AnswerShape, "none")),
        *(f"tense {tense}" for tense in ("past", "now", "open")),
    }


def test_a_text_could_answer_or_not() -> None:
    for shape, yes, no in (
        (AnswerShape.CODE, "Ana: 902-555 0142", "Ana rang at 9"),
        (AnswerShape.NUMBER, "three cups", "some flour"),
        (AnswerShape.NUMBER, "Dos tazas", "harina"),
        (AnswerShape.NUMBER, "2 h", "lang"),
        (AnswerShape.DATE, "next Friday", "soon"),
        (AnswerShape.DATE, "el 29 de junio", "pronto"),
        (AnswerShape.DATE, "am Mittwoch", "bald"),
        (AnswerShape.ADDRESS, "ana@example.org", "ana at home"),
    ):
        assert has_shape(yes, shape)
        assert not has_shape(no, shape)


def test_a_question_about_words_asks_for_what_was_said() -> None:
    assert asks_what_was_said("What did I tell you last week?")
    assert asks_what_was_said("¿qué dijo Marta ayer?")
    assert not asks_what_was_said("What happened last week?")


def test_names_are_words_with_a_capital_that_begin_nothing() -> None:
    assert written_names("Remind me to ring Patrice about Ana's bus. The driver waits") == ("patrice", "ana")
    assert written_names("Translate: Good night") == ()
    assert written_names("when shall I come") == ()
    assert written_names("my GP wants an MRI, says Ana") == ("ana",)


def test_a_prompt_shows_whether_it_is_personal_quotes_a_text_or_has_code() -> None:
    for prompt in ("a cake for my sister", "una tarta para mi hermana", "was koche ich heute"):
        assert prompt_signs(prompt).is_personal
    assert not prompt_signs("a cake recipe").is_personal
    assert prompt_signs('shorten: "It was a dark and stormy night"').quotes
    assert not prompt_signs('what does "to" mean').quotes
    assert prompt_signs("rename x in foo[0]").has_code
    assert prompt_signs("a CSS rule for a header").has_code
    assert not prompt_signs("a letter to the landlord").has_code


def test_an_errand_is_told_from_a_general_question() -> None:
    for prompt, is_errand, is_general in (
        ("Draft a letter to Ana", True, False),
        ("escríbele un correo a Ana", True, False),
        ("Schreib Ana eine Mail", True, False),
        ("Guten Morgen", False, True),
        ("translate 'cat'", False, True),
        ("un chiste corto", False, True),
        ("capital of Chad", False, True),
        ("what does Ana drink?", False, False),
        ("what does the word quixotic mean", False, True),
        ("what does SQL stand for", False, True),
        ("Hi! What should I cook for Ana on Sunday?", False, False),
        ("hi there!", False, True),
    ):
        assert (prompt_signs(prompt).is_errand, prompt_signs(prompt).is_general) == (is_errand, is_general)


_TELLING = "the of and to that it for with are be this by at from have not but his her you we my"


def test_the_language_of_short_texts_is_guessed_as_tabled() -> None:
    expected = ""
    for line in (Path(__file__).parent / "languages.txt").read_text("utf-8").splitlines()[1:]:
        if line.startswith("["):
            expected = line.strip("[]")
        else:
            assert (language_of(line) or "none") == (expected if line else "none"), line


def test_the_beginning_of_a_long_text_tells() -> None:
    assert language_of(
        "The harbour was closed for the winter. " * 20 + "y el puerto con los barcos " * 200
    ) == ("english")


def test_one_common_word_ahead_is_enough_and_half_a_one_is_not() -> None:
    # `de` is of no English list: 0 to 1.
    assert language_of("turno de noche") == "other"
    # `leche` looks like nothing, `pena` ends as Spanish words do: 0 to 0.5.
    assert language_of("leche pena") is None
    # `me` is in both lists, so it does not count.
    assert language_of("me me me") is None


def test_common_words_are_folded_and_no_frequent_english_word_is_lost_to_another_language() -> None:
    words = {each: sections("language", each)["common_words"].split() for each in languages()}
    assert all(word == fold(word) for listed in words.values() for word in listed)
    others = {word for language, listed in words.items() if language != ENGLISH for word in listed}
    telling = frozenset(_TELLING.split())
    assert not telling & others
