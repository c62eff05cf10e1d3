"""Which texts repeat what a correction takes back: a table of what people would expect."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from recollect.text.near_duplicates import REWORDED_COSINE, repeats_error


@dataclass(frozen=True)
class Correction:
    """What was wrong, what is right, and what else is said."""

    wrong: str
    right: str
    copies: tuple[str, ...]
    """They say the wrong thing in other words, order, case, marks or tense."""
    others: tuple[str, ...]
    """They speak of another person, time, number or thing; deny it; tell of the past; know the correction."""


TABLE = [
    Correction(
        "The meeting is on Tuesday at 10",
        "The meeting is on Thursday at 10",
        copies=("meeting: tuesday, 10:00", "Reminder - the meeting is on Tuesday at 10am"),
        others=(
            "The budget meeting is on Tuesday at 10",
            "The meeting with the landlord is on Tuesday at 10",
            "The meeting is on Tuesday at 10 in the kitchen",
        ),
    ),
    Correction(
        "The password is hunter2",
        "The password is swordfish",
        copies=("Confirmed: the password is hunter2",),
        others=("The bank password is hunter2", "The admin password is hunter2"),
    ),
    Correction(
        "I like coffee",
        "I like tea",
        copies=("I like coffee!",),
        others=("I like iced coffee", "I like coffee ice cream"),
    ),
    Correction(
        "The deadline is March 15",
        "The deadline is March 22",
        copies=("Our deadline is the 15th of March",),
        others=("The tax deadline is March 15",),
    ),
    Correction(
        "My favourite colour is blue",
        "My favourite colour is green",
        copies=("My favorite color is blue",),
        others=("My least favourite colour is blue",),
    ),
    Correction(
        "Alice works at Google",
        "Alice works at Microsoft",
        copies=(
            "Alice works at Google.",
            "alice WORKS at google!",
            "At Google, Alice works",
            "Alice worked at Google",
            "Alice is working at Google",
            "Alice currently works at Google",
            "Alice works for Google",
            "Alice's work is at Google",
            "BTW, Alice works at Google now",
            "Remember: Alice works at Google",
        ),
        others=(
            "Bob works at Google",
            "Alice and Bob work at Google",
            "Alice left Google",
            "Alice no longer works at Google",
            "Alice does not work at Google",
            "Alice used to work at Google",
            "Alice left Google for Microsoft",
            "Alice works at Microsoft, not at Google",
            "Alice works at Microsoft",
            "Alice works at Google Maps in Zurich",
            "Alice likes Google",
            "Google works well",
            "Alice",
            "",
            "Alice works at Google and lives in a small house by the river with two dogs, a cat and roses",
            "Alice worked at Google in 2019",
            "Alice formerly worked at Google",
            "Alice never worked at Google",
        ),
    ),
    Correction(
        "The meeting is on Monday at 10",
        "The meeting is on Tuesday at 10",
        copies=(
            "the meeting is on monday at 10",
            "Meeting: Monday, 10:00",
            "On Monday at 10 is the meeting",
            "Monday's meeting is at 10",
        ),
        others=(
            "The meeting is on Monday at 11",
            "The meeting was moved from Monday to Tuesday",
            "The standup is on Monday at 10",
            "The meeting is on Tuesday at 10",
            "The meeting is not on Monday at 10",
        ),
    ),
    Correction(
        "The price of the ticket is 40 euros",
        "The price of the ticket is 45 euros",
        copies=(
            "Ticket price: 40 euros",
            "The ticket's price is 40 euros.",
        ),
        others=(
            "The price of the ticket is 45 euros",
            "The price of the ticket is 400 euros",
            "The price of the ticket was 40 euros in 2019",
        ),
    ),
    Correction(
        "Bob's birthday is on March 5",
        "Bob's birthday is on March 6",
        copies=("On March 5 is Bob's birthday",),
        others=(
            "Alice's birthday is on March 5",
            "Bob's wedding is on March 5",
            "Bob's birthday is on March 6",
        ),
    ),
    Correction(
        "Ana vive en Lisboa",
        "Ana vive en Oporto",
        copies=(
            "ana vive en LISBOA",
            "Ana ahora vive en Lisboa",
            "En Lisboa vive Ana",
            "Ana vive actualmente en Lisboa.",
        ),
        others=(
            "Ana ya no vive en Lisboa",
            "Ana no vive en Lisboa",
            "Ana nunca vivió en Lisboa",
            "Luis vive en Lisboa",
            "Ana vivía antes en Lisboa",
            "Ana se mudó de Lisboa a Oporto",
            "Ana vive en Oporto",
            "Ana vivía en Lisboa en 2010",
            "La hermana de Ana vive en Lisboa",
        ),
    ),
    Correction(
        "La reunión es los lunes a las 10",
        "La reunión es los martes a las 10",
        copies=(
            "Los lunes a las 10 es la reunión",
            "la reunion es los lunes a las 10",
        ),
        others=(
            "La reunión es los lunes a las 11",
            "La reunión pasó de los lunes a los martes",
            "La clase es los lunes a las 10",
        ),
    ),
    Correction(
        "I am allergic to peanuts",
        "I am allergic to almonds",
        copies=(
            "i'm allergic to peanuts",
            "Peanuts: I am allergic to them",
        ),
        others=(
            "I am not allergic to peanuts",
            "My brother is allergic to peanuts",
            "I am allergic to almonds and peanuts",
        ),
    ),
    Correction(
        "The project deadline is Friday",
        "The project deadline is next Wednesday",
        copies=(
            "Project deadline: Friday",
            "The deadline of the project is on Friday",
        ),
        others=(
            "The project deadline is Monday",
            "The project deadline moved from Friday to Wednesday",
        ),
    ),
    Correction(
        "Mi perro se llama Toby",
        "Mi perro se llama Rocky",
        copies=(
            "mi perro se llama toby",
            "Toby se llama mi perro",
        ),
        others=(
            "Mi gato se llama Toby",
            "Mi perro no se llama Toby",
        ),
    ),
    Correction(
        "We do not deploy on Fridays",
        "We deploy on Fridays",
        copies=("We don't deploy on Fridays",),
        others=("We deploy on Fridays",),
    ),
    Correction(
        "El precio del billete es de 40 euros",
        "El precio del billete es de 45 euros",
        copies=("Precio del billete: 40 euros",),
        others=(
            "El billete cuesta 40 euros",
            "El precio del billete es de 50 euros",
        ),
    ),
]
COPIES = [(row.wrong, row.right, said) for row in TABLE for said in row.copies]
OTHERS = [(row.wrong, row.right, said) for row in TABLE for said in row.others]


def test_the_table_is_large_enough_to_mean_something() -> None:
    assert len(COPIES) >= 25
    assert len(OTHERS) >= 40


@pytest.mark.parametrize(("wrong", "right", "said"), COPIES)
def test_a_copy_of_the_error_is_one(wrong: str, right: str, said: str) -> None:
    assert repeats_error(wrong, right, said)


@pytest.mark.parametrize(("wrong", "right", "said"), OTHERS)
def test_what_says_something_else_is_no_copy(wrong: str, right: str, said: str) -> None:
    assert not repeats_error(wrong, right, said)


@pytest.mark.parametrize(("wrong", "right", "said"), OTHERS)
def test_a_likeness_of_meaning_makes_no_copy_of_what_contradicts(wrong: str, right: str, said: str) -> None:
    """By cosine, another person's fact is as near as a copy."""
    assert not repeats_error(wrong, right, said, cosine=0.94)


def test_likeness_of_meaning_helps_where_words_are_few_in_common() -> None:
    wrong, right = "Alice works at Google", "Alice works at Microsoft"
    said = "Alice is employed as an engineer at Google"
    assert not repeats_error(wrong, right, said, cosine=0.0)
    assert repeats_error(wrong, right, said, cosine=REWORDED_COSINE)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.wrong)
def test_the_error_is_a_copy_of_itself_and_its_correction_is_not(row: Correction) -> None:
    assert repeats_error(row.wrong, row.right, row.wrong)
    assert not repeats_error(row.wrong, row.right, row.right)
    assert not repeats_error(row.wrong, row.right, "")


def test_where_the_correction_only_adds_a_copy_must_say_nearly_the_same() -> None:
    wrong, right = "Alice works at Google", "Alice works at Google in Zurich"
    assert repeats_error(wrong, right, "alice works at GOOGLE.")
    assert not repeats_error(wrong, right, "Alice works at Google in Zurich, in an office")
    assert not repeats_error(wrong, right, "Alice likes Google")
