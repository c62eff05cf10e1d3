"""Stemmers: that of the full-text index, and those of ranking and comparing."""

from __future__ import annotations

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.tokens import coarse_stem, light_stem, matched_terms, porter_stem, stems_of_word, words

FTS5 = apsw.Connection(":memory:").fts5_tokenizer("porter", ["ascii"])
ENDINGS = """
s es ies sses ss ed eed ing y e ll ational tional enci anci izer logi bli alli entli eli ousli ization ation
ator alism iveness fulness ousness aliti iviti biliti icate ative alize iciti ical ful ness al ance ence er
ic able ible ant ement ment ent ion sion tion ou ism ate iti ous ive ize at bl iz
"""


def by_fts5(word: str) -> list[str]:
    found = FTS5(
        word.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
    )
    return list(map(str, found))


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        # The examples of Porter (1980).
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("agreed", "agre"),
        ("plastered", "plaster"),
        ("motoring", "motor"),
        ("conflated", "conflat"),
        ("hopping", "hop"),
        ("falling", "fall"),
        ("filing", "file"),
        ("happy", "happi"),
        ("sky", "sky"),
        ("relational", "relat"),
        ("vietnamization", "vietnam"),
        ("hopefulness", "hope"),
        ("electrical", "electr"),
        ("adoption", "adopt"),
        ("controll", "control"),
        # Two letters, or more than 64 bytes, stay as they are.
        ("is", "is"),
        (61 * "a" + "ing", 61 * "a"),
        (62 * "a" + "ing", 62 * "a" + "ing"),
    ],
)
def test_the_stems_of_the_index_are_porters(word: str, stem: str) -> None:
    assert porter_stem(word) == stem
    assert by_fts5(word) == [stem]


@given(
    st.text("aeiouybcdlstzgnmñß東ж1", max_size=8),
    st.lists(st.sampled_from(ENDINGS.split()), max_size=2).map("".join),
)
def test_the_stems_of_the_index_are_those_of_fts5(beginning: str, ending: str) -> None:
    for word in words(beginning + ending):
        assert by_fts5(word) == [porter_stem(word)]


@pytest.mark.parametrize(
    "forms",
    [
        ("hiking", "hiked", "hikes", "hike"),
        ("agency", "agencies"),
        ("paint", "painting", "painted", "paints"),
        ("cat", "cats"),
        ("rápida", "rapido"),
        ("gato", "gata"),
    ],
)
def test_forms_of_a_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len({coarse_stem(form) for form in forms}) == 1


def test_letters_count_two_by_two_where_nothing_parts_words() -> None:
    assert matched_terms("東京都に住む", ["東京"]) == {"東京"}
    assert matched_terms("大阪に住む", ["東京"]) == frozenset()


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_text_holds_exactly_the_stems_that_it_shares(one: str, two: str) -> None:
    mine, theirs = ({stem for word in words(text) for stem in stems_of_word(word)} for text in (one, two))
    assert matched_terms(one, theirs) == mine & theirs


def test_wordings_are_compared_without_the_last_ending_alone() -> None:
    assert [light_stem(word) for word in ("working", "worked", "works", "colour", "bed", "gato")] == [
        "work", "work", "work", "color", "bed", "gato",
    ]  # fmt: skip
