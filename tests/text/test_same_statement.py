"""Which texts differ in nothing that matters, so that one of them is enough."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.near_duplicates import contains_statement, same_statement

SAME = [
    ("Alice works at Google", "alice WORKS at google!"),
    ("Alice works at Google", "Alice works at the Google."),
    ("Alice works at Google", "BTW, Alice works at Google"),
    ("Alice works at Google", "Remember: Alice works at Google"),
    ("The price is 5.000 euros", "The price is 5000 euros"),
    ("The price is 5,000 euros", "price is 5000 euros"),
    ("Ana vive en Lisboa", "Nota: Ana vive en LISBOA."),
    ("La reunión es los lunes", "la reunion es lunes"),
    ("Café is open", "cafe is open"),
]

DIFFERENT = [
    # Tense and aspect
    ("Alice is at work", "Alice was at work"),
    ("Alice works at Google", "Alice worked at Google"),
    ("Ana vive en Lisboa", "Ana vivía en Lisboa"),
    ("Alice will move to Rome", "Alice did move to Rome"),
    # Who does what to whom
    ("Alice manages Bob", "Bob manages Alice"),
    ("Alice works at Google", "Bob works at Google"),
    ("Ana es la jefa de Luis", "Luis es la jefa de Ana"),
    # Numbers, times, units
    ("The ticket costs 40 euros", "The ticket costs 45 euros"),
    ("The ticket costs 40 euros", "The ticket costs 400 euros"),
    ("The version is 1.2", "The version is 12"),
    ("The meeting is at 10:30", "The meeting is at 10"),
    ("The key is 07", "The key is 7"),
    # Denials and doubt
    ("Alice likes tea", "Alice does not like tea"),
    ("Alice likes tea", "Alice no longer likes tea"),
    ("Ana come carne", "Ana no come carne"),
    ("Alice can swim", "Alice can't swim"),
    ("Alice likes tea", "Alice may like tea"),
    # Small words that carry the fact
    ("The flight is from Oslo to Rome", "The flight is to Oslo from Rome"),
    ("The talk is before lunch", "The talk is after lunch"),
    ("I like my job", "I like your job"),
    ("He owns it", "She owns it"),
    ("All of them came", "None of them came"),
    ("Alice likes tea and coffee", "Alice likes tea or coffee"),
    # One says more
    ("Alice works at Google", "Alice works at Google in Zurich"),
    ("The meeting is on Tuesday", "The budget meeting is on Tuesday"),
    # A word that may open a sentence, and here is the fact itself
    ("The shop is open today", "The shop is open"),
    ("The standup is at 9 am", "The standup is at 9 pm"),
    ("The answer is yes", "The answer is right"),
    ("The race starts on Monday", "The race is held on Monday"),
    ("The report is important", "The report is correct"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_marks_case_articles_and_openings_tell_nothing(one: str, other: str) -> None:
    assert same_statement(one, other)
    assert same_statement(other, one)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_texts_that_tell_two_facts_are_two(one: str, other: str) -> None:
    assert not same_statement(one, other)
    assert not same_statement(other, one)


def test_what_says_nothing_repeats_nothing() -> None:
    assert not same_statement("", "")
    assert not same_statement("!", "?")
    assert not same_statement("the", "a")


@given(st.text(alphabet="ab 1.,'the", max_size=12), st.text(alphabet="ab 1.,'the", max_size=12))
def test_it_does_not_matter_which_comes_first(one: str, other: str) -> None:
    assert same_statement(one, other) == same_statement(other, one)


HELD = [
    ("Note: the wifi password is heron42, since May", "The wifi password is heron42."),
    ("Alice manages Bob in Oslo", "alice manages Bob"),
    ("Alice manages Bob", "Alice manages Bob"),
    ("Ana vive en Lisboa con Luis", "Ana vive en Lisboa"),
]
NOT_HELD = [
    ("Bob manages Alice", "Alice manages Bob"),
    ("The ticket costs 45 euros", "The ticket costs 40 euros"),
    ("Ana no come carne", "Ana come carne"),
    ("Alice hopes that she can swim", "Alice can swim"),
    ("Alice works at Google", "Alice works at Google in Zurich"),
    ("Alice was at work", "Alice is at work"),
    ("It is not true that Alice likes tea", "Alice likes tea"),
    ("anything", ""),
]


@pytest.mark.parametrize(("whole", "part"), HELD)
def test_a_text_holds_what_stands_in_it_in_one_piece(whole: str, part: str) -> None:
    assert contains_statement(whole, part)


@pytest.mark.parametrize(("whole", "part"), NOT_HELD)
def test_what_is_near_or_denied_is_not_held(whole: str, part: str) -> None:
    assert not contains_statement(whole, part)
