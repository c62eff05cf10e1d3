"""Cutting texts into passages."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis_profiles import tries

from recollect.domain.records import Kind, Memory, Observation, Scope
from recollect.text.passages import OVERLAP, WIDTH, passage_spans, passage_text

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def width(text: str) -> int:
    """A letter of Arabic, CJK and the like is about a token, where four Latin ones make one."""
    return sum(4 if letter >= "\u0600" else 1 for letter in text)


def check(text: str) -> tuple[tuple[int, int], ...]:
    found = passage_spans(text)
    assert found[0][0] == 0
    assert found[-1][1] == len(text)
    for start, stop in found:
        assert width(text[start:stop]) <= WIDTH
    for (start, stop), (next_start, next_stop) in pairwise(found):
        # in order, without a gap, and each brings something new
        assert start < next_start <= stop < next_stop
        assert width(text[next_start:stop]) <= OVERLAP
    return found


def test_a_short_text_is_one_passage() -> None:
    assert passage_spans("") == ((0, 0),)
    assert passage_spans("tea") == ((0, 3),)
    assert passage_spans("x" * WIDTH) == ((0, WIDTH),)
    assert len(passage_spans("x" * (WIDTH + 1))) == 2


def test_a_long_text_is_cut_at_sentence_ends_and_passages_overlap_by_a_sentence() -> None:
    text = "This sentence is of a length that many are. " * 60
    found = check(text)
    for start, stop in found:
        assert text[start:stop].startswith("This")
        assert text[start:stop].endswith(". ")
    assert all(later[0] < earlier[1] for earlier, later in pairwise(found))


def test_without_sentences_words_stay_whole() -> None:
    text = "word " * 1_000
    for start, stop in check(text):
        assert text[start:stop].split() == ["word"] * ((stop - start) // 5)


def test_letters_of_other_scripts_are_wide() -> None:
    text = "東京の天気は晴れです。" * 200
    found = check(text)
    # a quarter of the Latin width
    assert all(stop - start <= WIDTH // 4 for start, stop in found)
    assert all(text[start:stop].endswith("。") for start, stop in found)


def test_a_million_letters_without_a_space_of_tiny_sentences_or_wide_ones_are_covered() -> None:
    for text in ("x" * 1_000_000, "a. " * 333_333):
        # each goes on at least WIDTH - OVERLAP further
        assert len(check(text)) <= 1_000_000 // (WIDTH - OVERLAP) + 1
    check("東" * 1_000_000)


@given(
    st.lists(
        st.sampled_from(
            ["a", "bcd ", "東京", "。", ". ", "\n", " ", "?! ", "x" * 400, "語" * 150, "🎉", "é"]
        ),
        max_size=60,
    ).map("".join)
)
@settings(max_examples=tries(60))
def test_spans_cover_any_text_in_order_and_within_the_width(text: str) -> None:
    check(text)


def entity(name: str, type_: str) -> Memory:
    return Memory(1, Kind.ENTITY, Scope(), NOW, NOW, name=name, type=type_)


def test_a_passage_says_whom_it_is_about() -> None:
    seen = Observation(1, "likes green tea", "generic", NOW)
    assert passage_text(entity("Ada", "person"), seen, (0, 15)) == "Ada (person): likes green tea"
    assert passage_text(entity("Ada", "person"), seen, (6, 11)) == "Ada (person): green"
    assert passage_text(entity("Ada", "person"), None, (0, 0)) == "Ada (person)"
    assert passage_text(entity("Ada", "unknown"), None, (0, 0)) == "Ada"


def test_a_message_says_who_said_it() -> None:
    said = Memory(1, Kind.MESSAGE, Scope(), NOW, NOW, text="See you.", speaker="Ada")
    assert passage_text(said, None, (0, 8)) == 'Ada said, "See you."'
    noted = Memory(1, Kind.NOTE, Scope(), NOW, NOW, text="See you.")
    assert passage_text(noted, None, (0, 3)) == "See"
