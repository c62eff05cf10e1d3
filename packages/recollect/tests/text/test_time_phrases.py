"""Time phrases: tables in five languages, zones, and laws for any text, reference and zone."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis_profiles import tries

from recollect.domain.errors import InvalidInput
from recollect.language.time_phrases import TimePhrase, time_of, time_phrases

MADRID, NEW_YORK, TOKYO = (ZoneInfo(name) for name in ("Europe/Madrid", "America/New_York", "Asia/Tokyo"))
WEDNESDAY = datetime(2024, 5, 15, 10, 30, tzinfo=MADRID)
# They change nothing about the meaning, so a phrase may hold them or not.
PLAIN = re.compile(r"(?:in|on|at|over|the|during|en|a|el|la|los|las|durante) ", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Case:
    text: str
    reference: datetime
    start: datetime | None = None
    stop: datetime | None = None
    words: str | None = None  # missing if the text names no time


def cases(name: str) -> Iterator[Case]:
    reference = WEDNESDAY
    for line in (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines():
        match [part.strip() for part in line.split("|")]:
            case [""]:
                pass
            case [remark, *_] if remark.startswith("#"):
                pass
            case [header] if header.startswith("reference: "):
                moment, zone = header.removeprefix("reference: ").split()
                reference = datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone))
            case [text, "none"]:
                yield Case(text, reference)
            case [text, start, stop, words]:
                assert words in text, f"{name}: {words!r} is not in {text!r}"
                yield Case(text, reference, _time(start, reference), _time(stop, reference), words)
            case _:
                raise ValueError(f"{name}: write `text | start | stop | words` or `text | none`: {line!r}")


def _time(text: str, reference: datetime) -> datetime | None:
    return None if text == "-" else datetime.fromisoformat(text).replace(tzinfo=reference.tzinfo)


def bare(words: str) -> str:
    """The words without the plain ones that lead them."""
    while found := PLAIN.match(words):
        words = words[found.end() :]
    return words


def phrase_in(text: str, reference: datetime = WEDNESDAY) -> TimePhrase:
    found = time_of(text, reference)
    assert found is not None, f"no time found in {text!r}"
    return found


LANGUAGES = ("en", "es", "de", "fr", "pt")
CASES = [case for language in LANGUAGES for case in cases(f"time_phrases_{language}.txt")]


def test_a_phrase_means_its_span_and_a_text_without_a_time_is_left_alone(subtests: pytest.Subtests) -> None:
    for case in CASES:
        with subtests.test(case.text, reference=case.reference):
            if case.words is None:
                assert time_phrases(case.text, case.reference) == ()
                assert time_of(case.text, case.reference) is None
            else:
                found = phrase_in(case.text, case.reference)
                assert (found.start, found.stop) == (case.start, case.stop)
                assert bare(found.words) == bare(case.words)
                assert case.text[slice(*found.place)] == found.words


def test_confidence_falls_from_exact_dates_to_vague_words() -> None:
    texts = ("on 2024-03-05", "in March 2024", "yesterday", "3 days ago", "in March", "5/3/2024", "recently")
    assert [phrase_in(text).confidence for text in texts] == [1.0, 1.0, 0.9, 0.9, 0.7, 0.6, 0.5]
    assert phrase_in("the other day").confidence <= phrase_in("3 days ago").confidence


def test_a_day_is_that_of_the_references_zone() -> None:
    # 03:00 UTC on the 15th: still the evening of the 14th in New York, noon of the 15th in Tokyo
    instant = datetime(2024, 5, 15, 3, tzinfo=UTC)
    west = phrase_in("What did I say yesterday?", instant.astimezone(NEW_YORK))
    east = phrase_in("What did I say yesterday?", instant.astimezone(TOKYO))
    assert west.start == datetime(2024, 5, 13, tzinfo=NEW_YORK)
    assert east.start == datetime(2024, 5, 14, tzinfo=TOKYO)
    assert west.stop == datetime(2024, 5, 14, tzinfo=NEW_YORK)
    assert east.stop == datetime(2024, 5, 15, tzinfo=TOKYO)


@pytest.mark.parametrize("zone", [MADRID, NEW_YORK, TOKYO], ids=str)
@pytest.mark.parametrize("text", ["last March", "hace tres meses", "since January", "the past 2 weeks"])
def test_times_carry_the_offset_of_the_references_zone(text: str, zone: ZoneInfo) -> None:
    found = phrase_in(text, datetime(2024, 5, 15, 10, 30, tzinfo=zone))
    for time in (found.start, found.stop):
        assert time is not None
        assert time.utcoffset() == time.astimezone(zone).utcoffset()


def test_a_day_has_the_hours_that_its_clocks_show() -> None:
    for reference, hours in (
        (datetime(2024, 3, 31, 12, tzinfo=MADRID), 23),  # at 02:00 it was 03:00
        (datetime(2024, 10, 27, 12, tzinfo=MADRID), 25),  # at 03:00 it was 02:00
        (datetime(2024, 3, 30, 12, tzinfo=MADRID), 24),
        (datetime(2024, 3, 31, 12, tzinfo=TOKYO), 24),
    ):
        # Between times of one zone Python counts what clocks show, so the length is taken in UTC.
        assert length(phrase_in("today", reference)) == timedelta(hours=hours)
        assert length(phrase_in("yesterday", reference + timedelta(days=1))) == timedelta(hours=hours)


def length(phrase: TimePhrase) -> timedelta:
    assert phrase.start is not None
    assert phrase.stop is not None
    return phrase.stop.astimezone(UTC) - phrase.start.astimezone(UTC)


def test_the_week_of_the_change_runs_from_midnight_to_midnight() -> None:
    found = phrase_in("last week", datetime(2024, 4, 2, 9, tzinfo=MADRID))
    assert found.start == datetime(2024, 3, 25, tzinfo=MADRID)
    assert found.stop == datetime(2024, 4, 1, tzinfo=MADRID)
    assert length(found) == timedelta(days=7, hours=-1)


def test_last_week_follows_the_reference() -> None:
    for reference, start, stop in (
        # Mondays before: 29 January; 26 December 2022; 26 February of a leap year
        ("2024-02-05", "2024-01-29", "2024-02-05"),
        ("2023-01-08", "2022-12-26", "2023-01-02"),
        ("2024-03-04", "2024-02-26", "2024-03-04"),
    ):
        found = phrase_in("Was hat Ana last week gesagt?", at(reference).replace(hour=23, minute=59))
        assert (found.start, found.stop) == (at(start), at(stop))


def test_a_month_ago_is_a_whole_month_from_any_day() -> None:
    for reference, start, stop in (
        ("2024-03-31", "2024-02-01", "2024-03-01"),  # there is no 31 February
        ("2024-01-31", "2023-12-01", "2024-01-01"),
        ("2024-12-01", "2024-11-01", "2024-12-01"),
    ):
        for text in ("a month ago", "hace un mes", "last month", "el mes pasado"):
            found = phrase_in(text, at(reference))
            assert (found.start, found.stop) == (at(start), at(stop)), text


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=MADRID)


def test_every_phrase_of_a_text_is_found_in_order() -> None:
    text = "I met Ana yesterday, Tom in March 2023 and Eva on 2024-05-02."
    found = time_phrases(text, WEDNESDAY)
    assert [bare(phrase.words) for phrase in found] == ["yesterday", "March 2023", "2024-05-02"]
    assert [phrase.start for phrase in found] == [at("2024-05-14"), at("2023-03-01"), at("2024-05-02")]


@pytest.mark.parametrize("text", ["", " ", "?", "|", "9" * 500, "last " * 200, "since before after until"])
def test_odd_texts_name_no_time(text: str) -> None:
    assert time_phrases(text, WEDNESDAY) == ()


@given(st.text(alphabet="0123456789/-:T .", max_size=20), st.sampled_from(["on {}", "el {}", "{} ago", "{}"]))
def test_numbers_that_are_no_dates_do_no_harm(numbers: str, form: str) -> None:
    time_phrases(form.format(numbers), WEDNESDAY)


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


_PHRASES = (
    "today|yesterday morning|last week|next Friday|two months ago|in three days|the past 6 hours|"
    "last March|since Monday|until 2020|before Christmas|after Easter 2023|"
    "between June and August 2022|5 March 2024|2024-03-05|25/12/2023|early 2024|last night|"
    "at 3pm yesterday|the 1990s|Q3 2023|the other day|recently|ayer por la tarde|la semana pasada|"
    "el viernes que viene|hace dos años|desde el 5 de marzo|anoche|a finales de año|"
    "entre enero y marzo|el miércoles pasado|los últimos tres días|mañana a las 10|en otoño"
)
_PIECES = (
    "last next this past in on at since until before after between from to by and the a few of 3 31 "
    "two 2024 12:30 3pm 5th days weeks month years ago March may Monday Mon morning early mid end - "
    ", . / 's summer fall Christmas Easter Q3 90s 2024-02-30 9999-12-31 0000-01-01 99/99/9999 hace "
    "dos semanas desde hasta entre y de del al el la lunes marzo pasado que viene mañana noche a las "
    "5 años año finales"
)
PHRASES, PIECES = _PHRASES.split("|"), _PIECES.split()

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
