"""Folding, words, pairs, stems, token counts, and what is cached of them."""

from __future__ import annotations

import re
import tracemalloc
import unicodedata
from functools import cache

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.language.words import STOPWORDS
from recollect.models.registry import packaged_model
from recollect.ranking.replaces import PairText, pair_signs
from recollect.text.near_duplicates import near_duplicate
from recollect.text.tokens import (
    cache_short,
    coarse_stem,
    compile_later,
    count_tokens,
    fold,
    letter_pairs,
    light_stem,
    matched_terms,
    pair_queries,
    porter_stem,
    stems_of_word,
    words,
)


def test_folding_takes_off_case_accents_and_forms() -> None:
    for text, folded in (
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
    ):
        assert fold(text) == folded


@given(st.text())
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text())
def test_the_unicode_form_does_not_matter(text: str) -> None:
    for same in (unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)):
        assert fold(same) == fold(text)
        assert words(same) == words(text)


def test_words_are_letters_digits_and_marks() -> None:
    for text, expected in (
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
    ):
        assert words(text) == expected


@given(st.text())
def test_words_of_words_are_the_same_and_hold_no_syntax(text: str) -> None:
    found = words(text)
    assert words(" ".join(found)) == found
    # A tokenizer that splits only at ASCII punctuation and spaces gives the same, without quotes.
    assert " ".join(found).split() == found
    assert all(letter.isalnum() or not letter.isascii() for word in found for letter in word)


def test_pairs_are_of_other_scripts_and_symbols() -> None:
    for text, expected in (
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
    ):
        assert letter_pairs(text) == expected


def test_what_is_sought_among_pairs() -> None:
    for text, expected in (
        ("東京都", [("東京",), ("京都",)]),
        ("京 カフェ", [("京",), ("カフ",), ("フェ",)]),
        ("кот", [("ко", "от")]),  # where words are spaced, one after the other
        ("кот и пёс", [("ко", "от"), ("пё", "ёс")]),
        ("🎉🎉", [("🎉",)]),
        ("plain café", []),
    ):
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


def test_the_stems_of_the_index_are_porters() -> None:
    for word, stem in (
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
    ):
        assert porter_stem(word) == stem
        assert by_fts5(word) == [stem]


@given(
    st.text("aeiouybcdlstzgnmñß東ж1", max_size=8),
    st.lists(st.sampled_from(ENDINGS.split()), max_size=2).map("".join),
)
def test_the_stems_of_the_index_are_those_of_fts5(beginning: str, ending: str) -> None:
    for word in words(beginning + ending):
        assert by_fts5(word) == [porter_stem(word)]


def test_forms_of_a_word_have_one_stem() -> None:
    for forms in (
        ("hiking", "hiked", "hikes", "hike"),
        ("agency", "agencies"),
        ("paint", "painting", "painted", "paints"),
        ("cat", "cats"),
        ("rápida", "rapido"),
        ("gato", "gata"),
    ):
        assert len({coarse_stem(form) for form in forms}) == 1


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_text_holds_exactly_the_stems_that_it_shares(one: str, two: str) -> None:
    # Letters count two by two where nothing parts words.
    assert matched_terms("東京都に住む", ["東京"]) == {"東京"}
    mine, theirs = ({stem for word in words(text) for stem in stems_of_word(word)} for text in (one, two))
    assert matched_terms(one, theirs) == mine & theirs


def test_wordings_are_compared_without_the_last_ending_alone() -> None:
    assert [light_stem(word) for word in ("working", "worked", "works", "colour", "bed", "gato")] == [
        "work", "work", "work", "color", "bed", "gato",
    ]  # fmt: skip


def test_by_hand() -> None:
    for text, count in (
        ("", 0),
        (" \t ", 0),
        ("tea", 1),
        ("kettle", 2),  # 6 letters: two fours begun
        ("The kettle is hot.", 1 + 2 + 1 + 1 + 1),
        ("internationalisation", 5),  # 20 letters
        ("2026", 2),  # 202 6
        ("1234567", 3),  # 123 456 7
        ("10:30", 1 + 1 + 1),
        ("3.14", 3),
        ("don't", 1 + 1 + 1),
        ("café", 1 + 1),  # `caf`, and a letter beyond ASCII
        ("año", 1 + 1),  # `a`, then `ño` as one piece of two letters
        ("¿qué?", 1 + 1 + 1 + 1),  # ¿ · qu · é · ?
        ("кот", 2),  # 3 letters in twos
        ("Москва", 3),
        ("東京都", 3),
        ("東京へ行く。", 6),
        ("한국어", 3),
        ("ไทย", 3),
        ("snake_case", 2 + 1 + 1),
        ("a\nb", 3),
        ("a\n\n\nb", 3),  # a run of line breaks is one
        ("🚀", 2),  # four bytes
        ("C++", 3),
    ):
        assert count_tokens(text) == count


@given(st.text())
def test_only_space_is_free(text: str) -> None:
    assert count_tokens(text) >= 0
    assert (count_tokens(text) == 0) == (not text.replace("\n", "x").strip())


@given(st.text(), st.text())
def test_a_space_between_two_texts_costs_nothing(one: str, other: str) -> None:
    assert count_tokens(f"{one} {other}") == count_tokens(one) + count_tokens(other)


@given(st.text(), st.text())
def test_texts_written_together_cost_about_the_sum(one: str, other: str) -> None:
    # Two words that become one may begin one piece less, or be read as one long run of letters.
    assert count_tokens(one + other) <= count_tokens(one) + count_tokens(other) + len(one + other)
    assert count_tokens(one + other) >= max(count_tokens(one), count_tokens(other)) / 2


ENGLISH = """
My neighbour keeps bees behind the old garage. In spring she moves the hives closer to the apple trees,
because the blossoms open early and the nights are still cold. Last year she sold forty jars of honey,
gave ten away, and lost two swarms to the wet weather in May.

The deployment failed at 03:42 on Tuesday: the database connection pool was exhausted after the migration
added an unindexed foreign key. We rolled back to version 4.17.2, restarted the workers, and wrote a
post-mortem. Next time, run EXPLAIN ANALYZE on production-sized data before merging (see ticket #1289).
"""
SPANISH = """
Mi vecina tiene colmenas detrás del garaje viejo. En primavera las acerca a los manzanos, porque las
flores se abren temprano y las noches todavía son frías. El año pasado vendió cuarenta tarros de miel,
regaló diez y perdió dos enjambres por culpa de la lluvia de mayo.

La reunión del miércoles se cambió al jueves a las 17:30, en la oficina de la calle Alcalá. Hay que
llevar el presupuesto (12.450 €), la lista de proveedores y las facturas pendientes del segundo
trimestre. ¿Quién se encarga de avisar a los compañeros de Zaragoza?
"""
MODEL = packaged_model("arctic-memory")


@cache
def by_the_model(text: str) -> int:
    from tokenizers import Tokenizer

    assert MODEL is not None
    tokenizer = Tokenizer.from_file(str(MODEL.tokenizer))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return len(tokenizer.encode(text, add_special_tokens=False).ids)


@pytest.mark.skipif(MODEL is None, reason="the arctic-memory model is not installed")
@pytest.mark.parametrize(
    "paragraph", [*ENGLISH.strip().split("\n\n"), *SPANISH.strip().split("\n\n")], ids=lambda text: text[:20]
)
def test_the_estimate_is_hardly_below_a_real_vocabulary_and_not_far_above_it(paragraph: str) -> None:
    counted = by_the_model(paragraph)
    assert counted > 50
    assert 0.9 * counted <= count_tokens(paragraph) <= 2 * counted


def test_short_arguments_are_kept_and_long_ones_worked_out_anew() -> None:
    asked: list[str] = []

    @cache_short(2, longest=5)
    def shout(text: str, again: str = "") -> str:
        asked.append(text)
        return (text + again).upper()

    for text in ("tea", "tea", "kettle", "kettle"):
        assert shout(text) == text.upper()
    assert asked == ["tea", "kettle", "kettle"]
    # All of the arguments count, by place or by name.
    assert [shout("tea", again="pots"), shout("tea", again="pots")] == ["TEAPOTS", "TEAPOTS"]
    assert len(asked) == 5


def test_long_texts_that_were_compared_once_do_not_stay_in_memory() -> None:
    def compare(numbers: range) -> None:
        for number in numbers:
            text = f"Ana lives in Porto and counts to {number}. " + "Her kettle whistles twice. " * 400
            pair_signs([PairText(text, number)], None, "")
            near_duplicate(text, "Ana lives in Porto", 0.9)

    compare(range(3))
    tracemalloc.start()
    try:
        compare(range(3, 5))
        before, _ = tracemalloc.get_traced_memory()
        compare(range(5, 45))
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Each is of ten thousand letters, and there were forty more of them.
    assert after - before < 100_000


def test_it_matches_as_a_compiled_one() -> None:
    pattern = compile_later(r"(t)ea", re.IGNORECASE)
    assert pattern.sub(r"\1wo", "Tea and tea") == "Two and two"
    assert [found.group() for found in pattern.finditer("Tea and tea")] == ["Tea", "tea"]
    assert (pattern.pattern, pattern.groups) == ("(t)ea", 1)


def test_it_is_compiled_once_and_not_before_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    whole = re.compile

    def recording_compile(pattern: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(pattern)
        return whole(pattern, flags)

    monkeypatch.setattr(re, "compile", recording_compile)
    pattern = compile_later("tea")
    assert compiled == []
    for _ in range(3):
        assert pattern.search("green tea")
    assert compiled == ["tea"]


def test_a_wrong_pattern_shows_at_its_first_use() -> None:
    with pytest.raises(re.error, match="unterminated"):
        compile_later("(tea").search("")
