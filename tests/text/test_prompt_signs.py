"""Signs in the wording of a prompt."""

from __future__ import annotations

import pytest

from recollect.text.prompt_signs import prompt_signs, written_names


def test_names_are_words_with_a_capital_that_begin_nothing() -> None:
    assert written_names("Remind me to ring Patrice about Ana's bus. The driver waits") == ("patrice", "ana")
    assert written_names("Translate: Good night") == ()
    assert written_names("when shall I come") == ()
    assert written_names("my GP wants an MRI, says Ana") == ("ana",)


@pytest.mark.parametrize(
    "prompt", ["a cake for my sister", "una tarta para mi hermana", "was koche ich heute"]
)
def test_who_speaks_of_themselves_is_heard(prompt: str) -> None:
    assert prompt_signs(prompt).is_personal
    assert not prompt_signs("a cake recipe").is_personal


def test_a_text_that_is_brought_along_and_code_are_seen() -> None:
    assert prompt_signs('shorten: "It was a dark and stormy night"').quotes
    assert not prompt_signs('what does "to" mean').quotes
    assert prompt_signs("rename x in foo[0]").has_code
    assert prompt_signs("a CSS rule for a header").has_code
    assert not prompt_signs("a letter to the landlord").has_code


@pytest.mark.parametrize(
    "prompt", ["Draft a letter to Ana", "escríbele un correo a Ana", "Schreib Ana eine Mail"]
)
def test_an_errand_is_no_general_question(prompt: str) -> None:
    assert (prompt_signs(prompt).is_errand, prompt_signs(prompt).is_general) == (True, False)


@pytest.mark.parametrize("prompt", ["Guten Morgen", "translate 'cat'", "un chiste corto", "capital of Chad"])
def test_a_general_question_is_no_errand(prompt: str) -> None:
    assert (prompt_signs(prompt).is_errand, prompt_signs(prompt).is_general) == (False, True)


@pytest.mark.parametrize(
    ("prompt", "is_general"),
    [
        ("what does Ana drink?", False),
        ("what does the word quixotic mean", True),
        ("what does SQL stand for", True),
        ("Hi! What should I cook for Ana on Sunday?", False),
        ("hi there!", True),
    ],
)
def test_a_question_about_somebody_is_not_general_whatever_it_begins_with(
    prompt: str, is_general: bool
) -> None:
    assert prompt_signs(prompt).is_general == is_general
