"""The times that a text of any length names or states itself: worked examples, then laws."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from test_time_phrases import CASES

from recollect.language.time_phrases import (
    MOST_LETTERS,
    MOST_WINDOWS,
    holds_since,
    months_since,
    names_year,
    own_times,
    stated_beginnings,
    time_phrases,
)

# A Wednesday.
SAID = datetime(2024, 5, 15, 10, 30, tzinfo=UTC)
FILLER = "and then we spoke of nothing else but bread and wine in the old kitchen by the river"


def day(year: int, month: int = 1, of_month: int = 1) -> datetime:
    return datetime(year, month, of_month, tzinfo=UTC)


def test_a_text_has_the_times_that_it_names() -> None:
    for text, spans in (
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
    ):
        assert [(phrase.start, phrase.stop) for phrase in own_times(text, SAID)] == spans


def test_a_text_without_a_time_has_none() -> None:
    for text in (
        "the kettle is red",
        "it may rain",
        "we sold 1999 copies",
        "room 2100 has 2048 seats",
        "call 555-2010-99",
        "it cost $1999",
        "every Friday we swim",
    ):
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


def test_without_a_reference_only_dates_with_a_year_count() -> None:
    text = "Yesterday, and in March, and in 2016, and on the 2006 tour"
    assert [phrase.words for phrase in own_times(text, None)] == ["2016", "2006"]


def test_a_long_text_is_read_up_to_its_bounds() -> None:
    many = f" {FILLER}. ".join(f"In {year} it snowed" for year in range(1990, 2010))
    assert [phrase.words for phrase in own_times(many, SAID)] == [
        str(year) for year in range(1990, 1990 + MOST_WINDOWS)
    ]
    far = f"{FILLER} " * (MOST_LETTERS // len(FILLER) + 1)
    assert own_times(f"{far} in 2016", SAID) == ()


def test_every_sure_phrase_is_found_also_in_the_middle_of_a_long_text() -> None:
    for case in CASES:
        for text in (case.text, f"{FILLER}. {case.text}. {FILLER}"):
            sure = [each for each in time_phrases(text, case.reference) if each.confidence >= 0.6]
            found = own_times(text, case.reference)
            if text == case.text:
                assert set(sure) <= set(found), text
            assert {(each.start, each.stop) for each in sure} <= {(each.start, each.stop) for each in found}


@given(
    st.text(),
    st.sampled_from(["in 2016", "yesterday", "12 May 1999", "the 2006 season", "mañana"]),
    st.text(),
)
def test_each_place_is_where_the_words_are_in_the_text(before: str, phrase: str, after: str) -> None:
    text = f"{before} {phrase} {after}"
    for found in own_times(text, SAID):
        assert text[slice(*found.place)] == found.words


def test_months_in_which_something_began() -> None:
    for text, months in (
        # 12 * 2013 + 3, as months are counted from 0
        ("Hired on 8 April 2013.", [24_159]),
        ("Hired on April 8, 2013.", [24_159]),
        ("Contratada el 8 de abril de 2013.", [24_159]),
        ("Mayor from 1976 to 1990.", [23_712]),
        ("Mayor (1976–1990), then judge since 1991.", [23_712, 23_892]),
        ("Alcalde de 1976 a 1990.", [23_712]),
        ("Open until 1968.", []),
        ("Cerrado hasta 1968.", []),
        ("Born in 1944, moved in 1960.", [23_328, 23_520]),
        ("Room 204, 1200 seats at 19:45", [14_400]),
        ("No year here, 12345 neither.", []),
    ):
        assert stated_beginnings(text) == months


def test_months_since_the_latest_beginning_before_a_month() -> None:
    text = "Born in 1944, moved in 1960, died in 1999."
    assert months_since(text, 12 * 1965) == 60  # 1960 to 1965
    assert months_since(text, 12 * 1950) == 72
    assert months_since(text, 12 * 1940) is None


def test_a_question_names_a_year_by_its_digits() -> None:
    assert names_year("Where did she live in 2019?")
    assert not names_year("Where did she live last year?")


def test_the_month_since_which_a_sentence_holds() -> None:
    for sentence, month in (
        # 12 * 2019, 12 * 2023 + 2 and 12 * 2013 + 3, as months are counted from 0
        ("Ana lives in Lisbon since 2019.", 24_228),
        ("Since 2019 she lives in Lisbon, before in Faro until 2018.", 24_228),
        ("Ana moved to Porto in March 2023.", 24_278),
        ("In March 2023 Ana moved to Porto.", 24_278),
        ("The rent is 840 € from 8 April 2013 on.", 24_159),
        ("Ana lives in Lisbon from 2019 to 2022.", 24_228),
        ("Vive en Lisboa desde el 8 de abril de 2013.", 24_159),
        ("Se mudó a Lisboa en 2019.", 24_228),
        ("Ich wohne seit 2019 in Kiel.", 24_228),
        # The year belongs to a thing, or to only one of two statements.
        ("I drive a 2015 Golf.", None),
        ("I drive a Golf from 2015.", None),
        ("I work at Acme, founded in 1990.", None),
        ("Trabajo en Acme, fundada en 1990.", None),
        ("Ana lives in Lisbon since 2019, and worked in Faro in 2016.", None),
        ("Ana lives in Lisbon until 2030.", None),
        ("Ana lives in Lisbon.", None),
    ):
        assert holds_since(sentence) == month
