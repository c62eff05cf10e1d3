"""Near-duplicates: by key, by words, by meaning; copies of errors; statements that say the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.near_duplicates import (
    CONTAINED_SHARE,
    REWORDED_COSINE,
    SIMILAR_COSINE,
    contained_pairs,
    containment,
    contains_statement,
    has_meaning,
    is_paraphrase,
    near_duplicate,
    repeats_error,
    same_statement,
    text_key,
    trigram_similarity,
    unmarked_text_key,
    usual_cosine,
)


def test_the_thresholds_are_those_that_were_agreed() -> None:
    assert (SIMILAR_COSINE, CONTAINED_SHARE) == (0.85, 0.7)


def test_a_model_that_puts_all_texts_close_together_is_read_on_the_usual_scale() -> None:
    # 1 - 2 * (1 - 0.95) = 0.9; what is unrelated to e5-small, 0.85, is at arctic's 1 - 2 * 0.15 = 0.7
    assert usual_cosine(0.95, "e5-small@1571fc98") == pytest.approx(0.9)
    assert usual_cosine(0.85, "e5-small") == pytest.approx(0.7)
    assert usual_cosine(1.0, "e5-small") == 1.0
    # 1 - 0.67 * (1 - 0.8) = 0.866
    assert usual_cosine(0.8, "arctic-memory@1") == pytest.approx(0.866)
    # 1 - 0.7 * (1 - 0.8) = 0.86
    assert usual_cosine(0.8, "e5-memory@1") == pytest.approx(0.86)
    # The others keep theirs, to the last bit.
    assert usual_cosine(0.1 + 0.2, "arctic-s@f93ff225") == 0.1 + 0.2


def test_containment_is_the_share_of_the_shorter_text() -> None:
    for one, other, share in (
        # 3 of 3 words, and 6 words are twice 3
        ("likes green tea", "Ada likes green tea every morning", 1.0),
        # 2 of 3
        ("likes black tea", "Ada likes green tea every morning", 2 / 3),
        # 5 words are less than twice 3
        ("likes green tea", "Ada likes green tea daily", 0.0),
        # exactly twice
        ("green tea", "green tea or coffee", 1.0),
        # case, accents and signs do not matter
        ("CAFÉ!", "un cafe, por favor", 1.0),
        # no words
        ("", "green tea", 0.0),
        ("…", "green tea", 0.0),
        ("", "", 0.0),
        # 7 of 10, 20 words: the threshold itself
        ("a b c d e f g x y z", "a b c d e f g h i j k l m n o p q r s t", 0.7),
    ):
        assert containment(one, other) == pytest.approx(share)


WORDS = st.lists(st.sampled_from("abcdef"), max_size=12).map(" ".join)


@given(WORDS, WORDS)
def test_containment_is_a_share_and_the_same_from_both_sides(one: str, other: str) -> None:
    assert 0 <= containment(one, other) <= 1
    assert containment(one, other) == containment(other, one)


@given(WORDS.filter(bool))
def test_a_text_said_twice_contains_itself(text: str) -> None:
    assert containment(text, f"{text} {text}") == 1


def test_pairs_are_named_by_their_places_with_the_share_of_the_shorter() -> None:
    texts = ["drinks green tea", "plays chess", "every morning she drinks black tea with milk"]
    # Two of three words, in a text of eight.
    assert contained_pairs(texts, 0.6) == {(0, 2): 2 / 3}
    assert contained_pairs(texts, 0.7) == {}
    assert contained_pairs([], 0.7) == {}


@given(
    st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12).map(" ".join), max_size=8),
    st.sampled_from([0.1, 0.3, 0.5, 0.6, 0.7, 0.75, 0.9, 1.0]),
)
def test_it_finds_what_comparing_each_with_all_finds(texts: list[str], at_least: float) -> None:
    every = {
        (one, other): share
        for other in range(len(texts))
        for one in range(other)
        if (share := containment(texts[one], texts[other])) >= at_least
    }
    assert contained_pairs(texts, at_least) == dict(sorted(every.items()))


def test_case_accents_spaces_and_outer_marks_make_no_other_key() -> None:
    assert text_key("  «Café  con LECHE!» ") == text_key("cafe con leche")
    assert text_key("cafe, con leche") != text_key("cafe con leche")
    assert text_key("!") != text_key("?")


def test_without_marks_texts_say_the_same_unless_a_mark_is_part_of_a_word() -> None:
    marked = (
        "Tea: black, no sugar.",
        "Tea - black - no sugar",
        "«TÉA» black (no sugar)!",
        "tea black no sugar",
    )
    assert len({unmarked_text_key(text) for text in marked}) == 1
    apart = ("C", "C++", "-5", "5", "3.5", "3 5", "35", "!", "?", "it's", "its")
    assert len({unmarked_text_key(text) for text in apart}) == len(apart)


def test_near_duplicates_are_contained_or_of_one_meaning() -> None:
    for one, other, cosine, similarity in (
        ("likes green tea", "Ada likes green tea every morning", 0.2, 1.0),  # contained
        ("likes green tea", "drinks matcha", 0.85, 0.85),  # of one meaning
        ("likes green tea", "drinks matcha", 0.84, None),
        # 3 of 4 words, and a cosine that would not do by itself but says more
        ("she likes green tea", "Ada likes green tea every morning with milk", 0.8, 0.8),
    ):
        assert near_duplicate(one, other, cosine) == similarity


def test_a_single_word_means_too_little() -> None:
    assert [has_meaning(text) for text in ("yes", "no!", "green tea")] == [False, False, True]


def test_a_paraphrase_shares_most_terms_or_is_contained() -> None:
    for one, other, expected in (
        # harbour, team, meets of harbour, team, meets, weekly, thursdays: 3 of 5
        ("The harbour team meets weekly", "The harbour team meets on Thursdays", True),
        # harbour, team of harbour, team, meets, thursdays: 2 of 4
        ("The harbour team", "The harbour team meets on Thursdays", False),
        ("The harbour team rests", "He said that the harbour team always rests on Sundays in May", True),
        ("The harbour team rests", "The harbour crew works", None),
    ):
        assert is_paraphrase(one, other) is expected
        assert is_paraphrase(other, one) is expected


def test_letter_triples_guess_what_may_be_a_duplicate() -> None:
    # tea: 1 triple, shared; 1 / (1 + 2)
    assert trigram_similarity("tea", "Teas") == pytest.approx(1 / 3)
    assert trigram_similarity("te", "te") == 0


def test_two_facts_that_are_built_alike_are_no_near_duplicates() -> None:
    for one, other, is_flagged in (
        ("Odile's landlord is Bart Maes", "Odile's boss is Pieter Vandoorne", False),
        # Only the names differ: one may correct the other.
        ("Odile's boss is Sanne", "Odile's boss is Pieter", True),
        ("The Seagull opens on 22 January", "The premiere of The Seagull is on 5 February", True),
        ("Odile drinks her coffee black", "Odile has oat milk in her coffee", True),
        # They end alike: another thing is said of the same.
        ("Odile lives in Valencia", "Odile works in Valencia", False),
        ("lives in Valencia", "works in Valencia", False),
        # Or the same is said of another, or something else of another.
        ("Rugby was created in England", "Cricket was created in England", False),
        ("The official language of Russia is Russian", "The official language of Poland is Polish", False),
        # Long, and 2 of 8 content words in common.
        (
            "The book club meets every second Saturday morning with coffee and cake",
            "Library club for young readers: the last Friday of each month, seven o'clock sharp",
            False,
        ),
        # A different last word, number or date may be a correction.
        ("The kettle in the kitchen is red", "The kettle in the kitchen is blue", True),
        ("The rent is 900 euros a month", "The rent is 950 euros a month", True),
        ("The dentist is on Monday at ten", "The dentist is on Tuesday at ten", True),
        # Reworded, or one says more.
        ("Odile moved to Porto in May", "In May Odile moved to Porto", True),
        ("Odile keeps bees", "Odile keeps bees behind the barn", True),
    ):
        assert (near_duplicate(one, other, 0.88) is not None) == is_flagged


TABLE = [
    [line.partition(" ") for line in block.splitlines() if not line.startswith("#")]
    for block in (Path(__file__).parent / "corrections.txt").read_text("utf-8").split("\n\n")[1:]
]


@pytest.mark.parametrize("rows", TABLE, ids=lambda rows: rows[0][2])
def test_copies_of_an_error_are_told_from_what_says_something_else(rows: list[tuple[str, str, str]]) -> None:
    (_, _, wrong), (_, _, right), *others = rows
    assert repeats_error(wrong, right, wrong)
    assert not repeats_error(wrong, right, right)
    assert not repeats_error(wrong, right, "")
    for sign, _, said in others:
        assert repeats_error(wrong, right, said) == (sign == "+"), said
        # By cosine, another person's fact is as near as a copy.
        assert sign == "+" or not repeats_error(wrong, right, said, cosine=0.94), said


def test_likeness_of_meaning_helps_where_words_are_few_in_common() -> None:
    wrong, right = "Alice works at Google", "Alice works at Microsoft"
    said = "Alice is employed as an engineer at Google"
    assert not repeats_error(wrong, right, said, cosine=0.0)
    assert repeats_error(wrong, right, said, cosine=REWORDED_COSINE)


def test_where_the_correction_only_adds_a_copy_must_say_nearly_the_same() -> None:
    wrong, right = "Alice works at Google", "Alice works at Google in Zurich"
    assert repeats_error(wrong, right, "alice works at GOOGLE.")
    assert not repeats_error(wrong, right, "Alice works at Google in Zurich, in an office")
    assert not repeats_error(wrong, right, "Alice likes Google")


_, *PARTS = re.split(
    r"^\[(.+)\]\n", (Path(__file__).parent / "same_statements.txt").read_text("utf-8"), flags=re.MULTILINE
)
PAIRS = [
    (kind, *line.rstrip().split(" | "))
    for kind, block in zip(PARTS[::2], PARTS[1::2], strict=True)
    for line in block.splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize(("kind", "one", "other"), PAIRS)
def test_each_pair_of_the_table_is_judged_as_a_reader_would(kind: str, one: str, other: str) -> None:
    if kind.startswith("contains"):
        assert contains_statement(one, other) == (kind == "contains")
    else:
        assert same_statement(one, other) == same_statement(other, one) == (kind == "same")


def test_what_says_nothing_repeats_and_contains_nothing() -> None:
    for one, other in (("", ""), ("!", "?"), ("the", "a")):
        assert not same_statement(one, other)
    assert not contains_statement("anything", "")


@given(st.text(alphabet="ab 1.,'the", max_size=12), st.text(alphabet="ab 1.,'the", max_size=12))
def test_it_does_not_matter_which_comes_first(one: str, other: str) -> None:
    assert same_statement(one, other) == same_statement(other, one)
