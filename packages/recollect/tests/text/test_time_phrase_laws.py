"""Laws of time phrases, for any text, any reference and any zone."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis_profiles import tries

from recollect.domain.errors import InvalidInput
from recollect.language.time_phrases import TimePhrase, time_of, time_phrases

ZONES = [
    ZoneInfo(name)
    for name in (
        "UTC",
        "Europe/Madrid",
        "America/New_York",
        "America/Sao_Paulo",  # once skipped midnight
        "Australia/Lord_Howe",  # moves by half an hour
        "Pacific/Apia",  # had no 30 December 2011
        "Asia/Kathmandu",
    )
]
MADRID = ZONES[1]
WEDNESDAY = datetime(2024, 5, 15, 10, 30, tzinfo=MADRID)


def _split(text: str, by: str | None = None) -> list[str]:
    return text.split(by)


PHRASES = _split(
    "today|yesterday morning|last week|next Friday|two months ago|in three days|the past 6 hours|"
    "last March|since Monday|until 2020|before Christmas|after Easter 2023|"
    "between June and August 2022|5 March 2024|2024-03-05|25/12/2023|early 2024|last night|"
    "at 3pm yesterday|the 1990s|Q3 2023|the other day|recently|ayer por la tarde|la semana pasada|"
    "el viernes que viene|hace dos años|desde el 5 de marzo|anoche|a finales de año|"
    "entre enero y marzo|el miércoles pasado|los últimos tres días|mañana a las 10|en otoño",
    "|",
)
PIECES = _split(
    "last next this past in on at since until before after between from to by and the a few of 3 31 "
    "two 2024 12:30 3pm 5th days weeks month years ago March may Monday Mon morning early mid end - "
    ", . / 's summer fall Christmas Easter Q3 90s 2024-02-30 9999-12-31 0000-01-01 99/99/9999 hace "
    "dos semanas desde hasta entre y de del al el la lunes marzo pasado que viene mañana noche a las "
    "5 años año finales"
)

references = st.builds(
    lambda moment, zone: moment.replace(tzinfo=zone),
    st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59)),  # noqa: DTZ001 - the zone is added
    st.sampled_from(ZONES),
)
near_references = st.builds(
    lambda minutes, zone: (datetime(2010, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)).astimezone(zone),
    st.integers(0, 15 * 366 * 24 * 60),
    st.sampled_from(ZONES),
)
sentences = st.lists(st.sampled_from([*PIECES, *PHRASES]), max_size=14).map(" ".join)
texts = st.one_of(st.text(max_size=60), sentences, st.lists(st.sampled_from(PIECES)).map("".join))


def instants(phrase: TimePhrase) -> tuple[datetime | None, datetime | None]:
    start, stop = (None if end is None else end.astimezone(UTC) for end in (phrase.start, phrase.stop))
    return start, stop


@given(texts, references)
@settings(max_examples=tries(150))
def test_no_text_and_no_reference_breaks_it(text: str, reference: datetime) -> None:
    for phrase in time_phrases(text, reference):
        start, stop = instants(phrase)
        assert start is not None or stop is not None
        assert start is None or stop is None or start < stop
        assert 0 < phrase.confidence <= 1


@given(texts)
@settings(max_examples=tries(150))
def test_words_stand_where_they_are_said_to_stand(text: str) -> None:
    found = time_phrases(text, WEDNESDAY)
    for phrase in found:
        assert text[slice(*phrase.place)] == phrase.words
        assert phrase.words == phrase.words.strip() != ""
    assert all(one.place[1] <= other.place[0] for one, other in pairwise(found))


@given(texts, near_references)
def test_equal_questions_have_equal_answers(text: str, reference: datetime) -> None:
    assert time_phrases(text, reference) == time_phrases(text, reference)


@given(texts, near_references)
def test_the_one_time_is_among_all_and_none_is_surer(text: str, reference: datetime) -> None:
    found, one = time_phrases(text, reference), time_of(text, reference)
    assert (one in found) if found else one is None
    assert all(one is not None and phrase.confidence <= one.confidence for phrase in found)


@given(st.sampled_from(PHRASES), near_references)
def test_neither_case_nor_accents_matter(phrase: str, reference: datetime) -> None:
    spans = [
        [instants(found) for found in time_phrases(text, reference)]
        for text in (
            phrase,
            phrase.upper(),
            phrase.lower(),
            unicodedata.normalize("NFD", phrase),
            unicodedata.normalize("NFKD", phrase).encode("ascii", "ignore").decode(),
        )
    ]
    assert all(each == spans[0] for each in spans)


@given(st.sampled_from(PHRASES), near_references)
def test_every_phrase_is_understood_on_every_day(phrase: str, reference: datetime) -> None:
    # The 30th of December 2011 has no hours in Apia, and no span there either.
    assert len(time_phrases(phrase, reference)) == 1 or reference.tzinfo == ZoneInfo("Pacific/Apia")


@given(st.sampled_from(PHRASES), st.sampled_from(["The plumber, {}.", "{}, said Ana", "({})", "x {} x"]))
def test_what_stands_around_a_phrase_changes_its_place_only(phrase: str, frame: str) -> None:
    (alone,) = time_phrases(f"({phrase})", WEDNESDAY)
    (framed,) = time_phrases(frame.format(phrase), WEDNESDAY)
    assert (framed.start, framed.stop, framed.words) == (alone.start, alone.stop, alone.words)


@given(
    st.sampled_from(["today", "yesterday", "hoy", "3 days ago", "last Tuesday", "5 March 2024"]),
    near_references,
)
def test_days_begin_and_end_at_midnight_in_the_references_zone(text: str, reference: datetime) -> None:
    for phrase in time_phrases(text, reference):
        assert phrase.start is not None
        assert phrase.stop is not None
        assert (phrase.start.hour, phrase.start.minute) == (phrase.stop.hour, phrase.stop.minute) == (0, 0)
        assert phrase.start.date() + timedelta(days=1) == phrase.stop.date()
        assert phrase.start.tzinfo is phrase.stop.tzinfo is reference.tzinfo


@given(st.sampled_from(["last hour", "an hour ago", "hace 90 minutos"]), st.integers(-180, 180))
def test_hours_are_real_hours_when_the_clocks_change(text: str, minutes: int) -> None:
    # On 27 October 2024, at 01:00 UTC, Madrid's clocks went from 03:00 back to 02:00.
    change = datetime(2024, 10, 27, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    phrase = time_of(f"in the {text}" if text == "last hour" else text, change.astimezone(MADRID))
    assert phrase is not None
    start, stop = instants(phrase)
    assert start is not None
    assert stop is not None
    if text == "last hour":
        assert (start, stop) == (change - timedelta(hours=1), change)
    else:
        back = timedelta(hours=1) if text == "an hour ago" else timedelta(minutes=90)
        assert start <= change - back < stop


@given(st.sampled_from(["yesterday", "last week", "in March", "hace un mes"]), st.datetimes())
def test_a_reference_without_a_zone_is_refused(text: str, moment: datetime) -> None:
    with pytest.raises(InvalidInput, match="time zone"):
        time_phrases(text, moment)


def test_years_beyond_the_calendar_are_dropped() -> None:
    for text in ("9999-12-31", "0000-01-01", "in 300000 years", "99999 centuries ago", "30 February 2024"):
        assert time_phrases(text, WEDNESDAY) == ()


@pytest.mark.parametrize(
    "piece",
    ["last ", "may ", "2024-03-05 ", "1/", "9", "2-", "\n ", "in the ", "mañana ", "a", "'s", "5 de "],
)
def test_reading_takes_time_in_proportion_to_the_text(piece: str) -> None:
    # Were it quadratic, this would take many minutes.
    time_phrases(piece * (30_000 // len(piece)), WEDNESDAY)
