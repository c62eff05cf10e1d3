"""Parts of texts that ask for the whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.language.self_questions import densest_phrase, gapped_sentence, sampled_phrase

LOTS = st.integers(0, 2**64 - 1)
LETTERS = "".join(map(chr, range(32, 127))) + "ñÉß東京のकिт…。\n"


@pytest.mark.parametrize(
    ("text", "asked_for"),
    [
        ("Tea is hot", "tea is hot"),
        # Five in a row; weights by letters, none for the words of every text.
        (
            "the cat and the dog of the engineering department manager",
            "of the engineering department manager",
        ),
        ("alpha beta gamma delta omega rest", "alpha beta gamma delta omega"),
    ],
)
def test_a_memory_asks_by_the_stretch_that_tells_the_most(text: str, asked_for: str) -> None:
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
    assert "what" not in said  # the first sentence tells nothing
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
