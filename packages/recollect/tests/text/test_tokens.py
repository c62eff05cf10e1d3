"""Folding, words and pairs."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.language.words import STOPWORDS
from recollect.text.tokens import fold, letter_pairs, pair_queries, words


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Café", "cafe"),
        ("cafe\u0301", "cafe"),
        ("CAFÉ", "cafe"),
        ("ｃａｆé", "cafe"),
        ("niño", "nino"),
        ("Straße", "strasse"),
        ("ﬁn", "fin"),
        ("İstanbul", "istanbul"),
        ("ΑΘΉΝΑ", "αθηνα"),
        ("Ёлка", "елка"),
        ("が", "が"),  # the mark makes it another letter than か
        ("か\u3099", "が"),
        ("한국어", "한국어"),
        ("❤️", "❤"),
    ],
)
def test_folding_takes_off_case_accents_and_forms(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.text())
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text())
def test_the_unicode_form_does_not_matter(text: str) -> None:
    for same in (unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)):
        assert fold(same) == fold(text)
        assert words(same) == words(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat's whiskers", ["the", "cat", "s", "whiskers"]),
        ("C++ and C# — f(x)", ["c", "and", "c", "f", "x"]),
        ("snake_case kebab-case", ["snake", "case", "kebab", "case"]),
        ("¿Qué es SQLite?", ["que", "es", "sqlite"]),
        ("v1.2.3", ["v1", "2", "3"]),
        ("Kleenex™ 5㎏", ["kleenex", "tm", "5", "kg"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("東京 大阪", ["東京", "大阪"]),
        ('"*-NEAR"', ["near"]),
        ("\0 \ud800 !", []),
        ("", []),
    ],
)
def test_words_are_letters_digits_and_marks(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text())
def test_words_of_words_are_the_same_and_hold_no_syntax(text: str) -> None:
    found = words(text)
    assert words(" ".join(found)) == found
    # What a tokenizer that parts at ASCII signs and spaces alone would make of them, and no quotes.
    assert " ".join(found).split() == found
    assert all(letter.isalnum() or not letter.isascii() for word in found for letter in word)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("東京都", ["東京", "京都", "都"]),
        ("京", ["京"]),
        ("東京 大阪", ["東京", "京", "大阪", "阪"]),
        ("go 東京 now", ["東京", "京"]),
        ("Москва", ["мо", "ос", "ск", "кв", "ва", "а"]),
        ("ﾊﾝｶｸ", ["ハン", "ンカ", "カク", "ク"]),
        ("🎉 party 🎉", ["🎉", "🎉"]),
        ("❤️", ["❤"]),
        ("葛\U000e0100城", ["葛城", "城"]),
        ("x\u0302 café", []),
        ("plain", []),
        ("", []),
    ],
)
def test_pairs_are_of_other_scripts_and_symbols(text: str, expected: list[str]) -> None:
    assert letter_pairs(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("東京都", [("東京",), ("京都",)]),
        ("京 カフェ", [("京",), ("カフ",), ("フェ",)]),
        ("кот", [("ко", "от")]),  # where words are spaced, one after the other
        ("кот и пёс", [("ко", "от"), ("пё", "ёс")]),
        ("🎉🎉", [("🎉",)]),
        ("plain café", []),
    ],
)
def test_what_is_sought_among_pairs(text: str, expected: list[tuple[str, ...]]) -> None:
    assert pair_queries(text) == expected


@given(st.text(alphabet="東京都大阪カフェ天気", min_size=1), st.data())
def test_every_part_of_a_text_without_spaces_is_sought_by_pairs_that_it_has(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    part = text[start : data.draw(st.integers(start + 1, len(text)))]
    have = letter_pairs(text)
    for (piece,) in pair_queries(part):
        assert any(other.startswith(piece) if len(piece) == 1 else other == piece for other in have)


def test_stop_words_are_folded_as_queries_are() -> None:
    assert all(words(word) == [word] for word in STOPWORDS)
    assert {"the", "que", "mas", "como", "don", "t"} <= STOPWORDS
