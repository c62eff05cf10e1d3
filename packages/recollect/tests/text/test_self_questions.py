"""Questions made of memories: parts of texts, in the language of what they say."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.records import Kind, Memory, Observation, Scope
from recollect.language.self_questions import (
    QuestionKind,
    day_question,
    densest_phrase,
    gapped_sentence,
    mention_question,
    name_questions,
    relation_question,
    sampled_phrase,
    word_questions,
)
from recollect.language.time_phrases import time_of

AT = datetime(2026, 3, 1, tzinfo=UTC)


def note(text: str, id_: int = 1) -> Memory:
    return Memory(id_, Kind.NOTE, Scope(), AT, AT, text=text)


def entity(name: str, type_: str, *sayings: str) -> Memory:
    seen = tuple(Observation(number, said, "generic", AT) for number, said in enumerate(sayings, 1))
    return Memory(7, Kind.ENTITY, Scope(), AT, AT, name=name, type=type_, observations=seen)


def test_a_text_asks_by_a_phrase_and_by_a_sentence_with_gaps() -> None:
    text = "The harbour team meets the baker on Thursday."
    holders = {"harbour": 1, "team": 3, "meets": 4, "baker": 2, "thursday": 5}
    plain, hard = word_questions(note(text), twins=[4], document_counts=holders, seed=0)
    assert (plain.asks, plain.query) == (QuestionKind.PHRASE, "The harbour team meets the baker on")
    assert (plain.wanted, plain.words) == (frozenset({1, 4}), "the harbour team meets the baker on")
    # Of five telling words the three rarest go: harbour, baker, team.
    assert (hard.asks, hard.query) == (QuestionKind.GAPS, "The meets the on Thursday")
    assert (hard.wanted, hard.words) == (frozenset({1, 4}), "")


def test_a_text_of_a_word_asks_by_it_alone() -> None:
    (only,) = word_questions(note("ok"), (), {}, 0)
    assert (only.asks, only.query) == (QuestionKind.PHRASE, "ok")


def test_an_entity_asks_who_or_what_it_is_and_by_what_is_known_of_it() -> None:
    what, fact = name_questions(entity("Tidebook", "project", "Says when it is safe to cross the bay"), 0)
    assert (what.asks, what.query, what.wanted) == (QuestionKind.WHAT_IS, "What is Tidebook?", frozenset({7}))
    assert (fact.asks, fact.query) == (QuestionKind.ENTITY, "Tidebook safe to cross the bay")


def test_an_entity_of_which_nothing_is_known_asks_by_its_name() -> None:
    (only,) = name_questions(entity("Tidebook", "project"), 0)
    assert only.asks is QuestionKind.WHAT_IS


def test_who_is_asked_of_people_and_spanish_where_it_is_spoken() -> None:
    for type_, said, asked in (
        ("person", "Sails with her sister on Sundays", "Who is Ana?"),
        ("Person", "", "Who is Ana?"),
        ("persona", "Navega con su hermana los domingos", "¿Quién es Ana?"),
        ("barco", "Es el barco de la familia", "¿Qué es Ana?"),
        ("船", "週末は灯台まで行く", "What is Ana?"),
    ):
        assert next(name_questions(entity("Ana", type_, said), 0)).query == asked


def test_a_relation_asks_for_its_other_end() -> None:
    asked = relation_question(entity("Ana", "person", "Sails on Sundays"), "works_at", {3, 4})
    assert asked.query == "Who or what is related to Ana by “works at”?"
    assert (asked.asks, asked.memory, asked.wanted) == (QuestionKind.RELATION, 7, frozenset({3, 4}))
    spanish = relation_question(entity("Ana", "persona", "Es la jefa de la obra"), "trabaja_en", {3})
    assert spanish.query == "¿Quién o qué tiene con Ana la relación «trabaja en»?"


def test_what_was_said_about_an_entity_is_in_any_text_that_speaks_of_it() -> None:
    asked = mention_question(note("I met Ana at the pier"), "Ana", [1, 5])
    assert (asked.asks, asked.query) == (QuestionKind.MENTION, "What was said about Ana?")
    assert asked.wanted == {1, 5}
    assert mention_question(note("Ayer vi a Ana en el muelle"), "Ana", [1]).query == "¿Qué se dijo de Ana?"


def test_a_day_is_asked_for_so_that_it_is_understood() -> None:
    for text, speaker, asked in (
        ("I met her at the pier", None, "What happened on 8 May 2023?"),
        ("La vi en el muelle", None, "¿Qué pasó el 8 de mayo de 2023?"),
        ("I met her at the pier", "Jun", "What did Jun say on 8 May 2023?"),
        ("La vi en el muelle", "Jun", "¿Qué dijo Jun el 8 de mayo de 2023?"),
    ):
        question = day_question(note(text), date(2023, 5, 8), [1, 2], speaker=speaker)
        assert question.query == asked
        assert question.wanted == {1, 2}
        phrase = time_of(question.query, AT)
        assert phrase is not None
        assert (phrase.start, phrase.stop) == (
            datetime(2023, 5, 8, tzinfo=UTC),
            datetime(2023, 5, 9, tzinfo=UTC),
        )


def test_braces_in_a_name_are_text() -> None:
    assert next(name_questions(entity("{name} {0}", "thing"), 0)).query == "What is {name} {0}?"


LOTS = st.integers(0, 2**64 - 1)
LETTERS = "".join(map(chr, range(32, 127))) + "ñÉß東京のकिт…。\n"


def test_a_memory_asks_by_the_stretch_that_tells_the_most() -> None:
    for text, asked_for in (
        ("Tea is hot", "tea is hot"),
        # Five in a row; weights by letters, none for the words of every text.
        (
            "the cat and the dog of the engineering department manager",
            "of the engineering department manager",
        ),
        ("alpha beta gamma delta omega rest", "alpha beta gamma delta omega"),
    ):
        assert densest_phrase(text) == asked_for


@given(st.text(LETTERS, max_size=200), LOTS)
def test_a_stretch_stands_in_its_text_as_it_is_written(text: str, lot: int) -> None:
    said = sampled_phrase(text, lot)
    assert said in " ".join(text.split())
    assert bool(said) == bool(text.split())


@given(LOTS)
def test_a_stretch_has_seven_words_of_one_sentence_and_tells_three_things(lot: int) -> None:
    text = "It is what it is. Ana and I sailed to the old lighthouse with Bruno and a basket of pears."
    said = sampled_phrase(text, lot).split()
    assert len(said) == 7
    assert "what" not in said  # the first sentence has no content words
    telling = {"Ana", "sailed", "old", "lighthouse", "Bruno", "basket", "pears"}
    assert len(telling & set(said)) >= 3


def test_lots_lead_to_different_stretches() -> None:
    text = " ".join(f"word{number}" for number in range(40))
    assert len({sampled_phrase(text, lot) for lot in range(34)}) == 34  # 40 - 7 + 1 places to begin


def test_letters_stand_for_words_where_nothing_parts_them() -> None:
    # Seven pieces of two letters.
    assert (
        sampled_phrase("東京の図書館は月曜日に休みですから火曜日に行く", 0) == "東京の図書館は月曜日に休みで"
    )


def test_marks_that_are_drawn_onto_a_letter_stay_with_it() -> None:
    text = "ภาษาไทยที่เขียนติดกันโดยไม่มีช่องว่างเลย"
    for lot in range(30):
        said = sampled_phrase(text, lot)
        before, _, after = text.partition(said)
        assert not after or after[0] not in "ิีึืุู่้็ั"
        assert said[0] not in "ิีึืุู่้็ั", before


def test_gaps_take_the_rarer_half_of_what_is_told() -> None:
    document_counts = {"harbour": 2, "team": 30, "meets": 12, "baker": 5, "thursday": 40, "pier": 1}
    # Rarest first: pier 1, harbour 2, baker 5 go; meets 12, team 30, thursday 40 stay with the small words.
    text = "The harbour team meets the baker on Thursday at the pier."
    assert gapped_sentence(text, document_counts, 0) == "The team meets the on Thursday at the"


def test_of_an_odd_number_the_larger_half_goes() -> None:
    document_counts = {"red": 9, "boat": 8, "sank": 7, "here": 6, "yesterday": 5}
    # Of red, boat, sank and yesterday (`here` is in every text): yesterday and sank go.
    assert gapped_sentence("red boat sank here yesterday", document_counts, 0) == "red boat here"


@pytest.mark.parametrize("text", ["", "ok", "Tea is hot", "the of and", "one two"])
def test_what_tells_too_little_has_no_gaps(text: str) -> None:
    assert gapped_sentence(text, {}, 0) is None
