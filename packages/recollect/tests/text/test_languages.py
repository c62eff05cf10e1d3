"""The guess at a text's language: right or silent on short texts, and silent on what is in no language."""

from __future__ import annotations

from pathlib import Path

from recollect.language.questions import language_of
from recollect.language.words import ENGLISH, languages, sections
from recollect.text.tokens import fold

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
    # `me` is in both lists and tells nothing.
    assert language_of("me me me") is None


def test_common_words_are_folded_and_no_frequent_english_word_is_lost_to_another_language() -> None:
    words = {each: sections("language", each)["common_words"].split() for each in languages()}
    assert all(word == fold(word) for listed in words.values() for word in listed)
    others = {word for language, listed in words.items() if language != ENGLISH for word in listed}
    telling = frozenset(_TELLING.split())
    assert not telling & others
