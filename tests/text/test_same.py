"""Near-duplicates by words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.same import CONTAINED, SIMILAR, containment


def test_the_thresholds_are_those_that_were_agreed() -> None:
    assert (SIMILAR, CONTAINED) == (0.85, 0.7)


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
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
        # nothing said
        ("", "green tea", 0.0),
        ("…", "green tea", 0.0),
        ("", "", 0.0),
        # 7 of 10, 20 words: the threshold itself
        ("a b c d e f g x y z", "a b c d e f g h i j k l m n o p q r s t", 0.7),
    ],
)
def test_containment_is_the_share_of_the_shorter_text(one: str, other: str, share: float) -> None:
    assert containment(one, other) == pytest.approx(share)


WORDS = st.lists(st.sampled_from("abcdef"), max_size=12).map(" ".join)


@given(WORDS, WORDS)
def test_containment_is_a_share_and_the_same_from_both_sides(one: str, other: str) -> None:
    assert 0 <= containment(one, other) <= 1
    assert containment(one, other) == containment(other, one)


@given(WORDS.filter(bool))
def test_a_text_said_twice_contains_itself(text: str) -> None:
    assert containment(text, f"{text} {text}") == 1
