"""The times that a text of any length names itself: worked examples, then laws."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_time_phrases import Case, cases

from recollect.language.time_phrases import MOST_LETTERS, MOST_WINDOWS, own_times, time_phrases

# A Wednesday.
SAID = datetime(2024, 5, 15, 10, 30, tzinfo=UTC)
FILLER = "and then we spoke of nothing else but bread and wine in the old kitchen by the river"


def day(year: int, month: int = 1, of_month: int = 1) -> datetime:
    return datetime(year, month, of_month, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("In 2016 he moved to Lisbon", [(day(2016), day(2017))]),
        ("She taught there from 1973 to 1976", [(day(1973), day(1977))]),
        ("Leeds (1973–1976), then Hull", [(day(1973), day(1977))]),
        ("on 3 May 2019 the roof came down", [(day(2019, 5, 3), day(2019, 5, 4))]),
        ("en 2006 se mudó a Lugo", [(day(2006), day(2007))]),
        ("dio clase de 1973 a 1976", [(day(1973), day(1977))]),
        ("el 3 de mayo de 2019 se cayó el tejado", [(day(2019, 5, 3), day(2019, 5, 4))]),
        ("antes de 1980 no había puente", [(None, day(1980))]),
        ("I went to the dentist yesterday", [(day(2024, 5, 14), day(2024, 5, 15))]),
        ("ayer fui al dentista", [(day(2024, 5, 14), day(2024, 5, 15))]),
        (
            "Lived in Bath in 1990; in March 2001, in York",
            [(day(1990), day(1991)), (day(2001, 3), day(2001, 4))],
        ),
        # A year that no word introduces.
        ("the 2006 season was the best", [(day(2006), day(2007))]),
        ("Metropolis (1927) is silent", [(day(1927), day(1928))]),
        ("since 2010 the shop is closed", [(day(2010), SAID)]),
    ],
)
def test_a_text_has_the_times_that_it_names(
    text: str, spans: list[tuple[datetime | None, datetime | None]]
) -> None:
    assert [(phrase.start, phrase.stop) for phrase in own_times(text, SAID)] == spans


@pytest.mark.parametrize(
    "text",
    [
        "the kettle is red",
        "it may rain",
        "we sold 1999 copies",
        "room 2100 has 2048 seats",
        "call 555-2010-99",
        "it cost $1999",
        "every Friday we swim",
    ],
)
def test_a_text_without_a_time_has_none(text: str) -> None:
    assert own_times(text, SAID) == ()


def test_a_date_without_a_year_may_be_the_last_or_the_next() -> None:
    (phrase,) = own_times("The choir sings on 28 November", SAID)
    assert (phrase.start, phrase.stop) == (day(2023, 11, 28), day(2023, 11, 29))
    assert phrase.next == (day(2024, 11, 28), day(2024, 11, 29))
    (friday,) = own_times("Dinner on Friday", SAID)
    assert (friday.start, friday.next) == (day(2024, 5, 10), (day(2024, 5, 17), day(2024, 5, 18)))
    (leave,) = own_times("on leave until Easter", datetime(2026, 2, 12, tzinfo=UTC))
    # Easter Sunday was on 20 April 2025 and is on 5 April 2026.
    assert (leave.stop, leave.next) == (day(2025, 4, 21), (None, day(2026, 4, 6)))
    (settled,) = own_times("on 28 November 2023", SAID)
    assert settled.next is None


def test_of_what_was_said_nobody_knows_when_only_dates_with_their_years_count() -> None:
    text = "Yesterday, and in March, and in 2016, and on the 2006 tour"
    assert [phrase.words for phrase in own_times(text, None)] == ["2016", "2006"]


def test_a_long_text_is_read_up_to_its_bounds() -> None:
    many = f" {FILLER}. ".join(f"In {year} it snowed" for year in range(1990, 2010))
    assert [phrase.words for phrase in own_times(many, SAID)] == [
        str(year) for year in range(1990, 1990 + MOST_WINDOWS)
    ]
    far = f"{FILLER} " * (MOST_LETTERS // len(FILLER) + 1)
    assert own_times(f"{far} in 2016", SAID) == ()


CASES = [*cases("time_phrases_en.txt"), *cases("time_phrases_es.txt")]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_windows_miss_nothing_that_is_sure_enough(case: Case) -> None:
    """Also in the middle of a long text."""
    sure = {phrase for phrase in time_phrases(case.text, case.reference) if phrase.confidence >= 0.6}
    assert sure <= set(own_times(case.text, case.reference))
    inside = own_times(f"{FILLER}. {case.text}. {FILLER}", case.reference)
    spans = {(phrase.start, phrase.stop) for phrase in inside}
    whole = time_phrases(f"{FILLER}. {case.text}. {FILLER}", case.reference)
    assert {(each.start, each.stop) for each in whole if each.confidence >= 0.6} <= spans


@given(
    st.text(),
    st.sampled_from(["in 2016", "yesterday", "12 May 1999", "the 2006 season", "mañana"]),
    st.text(),
)
def test_places_are_those_of_the_text(before: str, phrase: str, after: str) -> None:
    text = f"{before} {phrase} {after}"
    for found in own_times(text, SAID):
        assert text[slice(*found.place)] == found.words
