"""Contradictions: worked pairs in several languages, pairs that only look like it, and laws."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.language.claims import claims_of, contradicting_pairs, find_conflict


def pairs(name: str) -> list[tuple[str, str]]:
    lines = (Path(__file__).parent / name).read_text("utf-8").splitlines()
    split = [line.split(" | ") for line in lines if line and not line.startswith("#")]
    return [(one, other) for one, other in split]


CONTRADICTING, COMPATIBLE = pairs("contradictions.txt"), pairs("compatible.txt")
SENTENCES = sorted({text for pair in (*CONTRADICTING, *COMPATIBLE) for text in pair})


def contradict(one: str, other: str) -> bool:
    return find_conflict(claims_of(one), claims_of(other)) is not None


@pytest.mark.parametrize(("one", "other"), CONTRADICTING)
def test_two_texts_that_cannot_both_hold_contradict_each_other(one: str, other: str) -> None:
    assert contradict(one, other)


@pytest.mark.parametrize(("one", "other"), COMPATIBLE)
def test_two_texts_that_may_both_hold_do_not(one: str, other: str) -> None:
    assert not contradict(one, other)


@given(st.sampled_from(SENTENCES), st.sampled_from(SENTENCES))
def test_which_text_comes_first_makes_no_difference(one: str, other: str) -> None:
    assert contradict(one, other) == contradict(other, one)


@given(st.text(max_size=200))
def test_no_text_contradicts_itself(text: str) -> None:
    assert not contradict(text, text)


@given(st.lists(st.sampled_from(SENTENCES), max_size=8))
def test_pairs_among_many_are_those_that_each_two_are(texts: list[str]) -> None:
    claims = [claims_of(text) for text in texts]
    expected = [
        (one, other)
        for one in range(len(texts))
        for other in range(one + 1, len(texts))
        if find_conflict(claims[one], claims[other])
    ]
    assert [(one, other) for one, other, _ in contradicting_pairs(claims)] == expected


def test_who_speaks_is_whom_i_means() -> None:
    said = claims_of("I live in Lisbon.", "Ana")
    assert find_conflict(said, claims_of("Ana lives in Porto."))
    assert find_conflict(said, claims_of("I live in Porto.", "Ana"))
    assert not find_conflict(said, claims_of("I live in Porto.", "Bruno"))


def test_an_observation_without_a_subject_is_about_its_entity() -> None:
    seen = claims_of("Lives in Lisbon", "", "Ana")
    assert find_conflict(seen, claims_of("Lives in Porto", "", "Ana"))
    assert find_conflict(seen, claims_of("Ana lives in Porto."))
    assert not find_conflict(seen, claims_of("Lives in Porto", "", "Bruno"))
    assert not find_conflict(claims_of("Lives in Lisbon"), claims_of("Lives in Porto"))


def test_the_place_is_that_of_the_sentence() -> None:
    one, other = "We met at noon. Ana lives in Lisbon.", "Ana lives in Porto. It rains."
    found = find_conflict(claims_of(one), claims_of(other))
    assert found is not None
    assert one[slice(*found.first)] == "Ana lives in Lisbon"
    assert other[slice(*found.second)] == "Ana lives in Porto"
