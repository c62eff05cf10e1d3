"""What words say about time: tables of questions in two languages, then laws and zones."""

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
from hypothesis import given
from hypothesis import strategies as st

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
    words: str | None = None  # None where the text names no time

    def __str__(self) -> str:
        # pytest escapes what is not ASCII, and accents taken off read better than escapes
        letters = unicodedata.normalize("NFKD", f"{self.reference:%a %d %b %Y}: {self.text}")
        return letters.encode("ascii", "ignore").decode()


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


def spoken(text: str, reference: datetime = WEDNESDAY) -> TimePhrase:
    found = time_of(text, reference)
    assert found is not None, f"no time found in {text!r}"
    return found


CASES = [*cases("time_phrases_en.txt"), *cases("time_phrases_es.txt")]


@pytest.mark.parametrize("case", [case for case in CASES if case.words], ids=str)
def test_a_phrase_means_its_span(case: Case) -> None:
    found = spoken(case.text, case.reference)
    assert (found.start, found.stop) == (case.start, case.stop)
    assert bare(found.words) == bare(case.words or "")
    assert case.text[slice(*found.place)] == found.words


@pytest.mark.parametrize("case", [case for case in CASES if not case.words], ids=str)
def test_a_text_without_a_time_is_left_alone(case: Case) -> None:
    assert time_phrases(case.text, case.reference) == ()
    assert time_of(case.text, case.reference) is None


# Confidence


def test_confidence_falls_from_exact_dates_to_vague_words() -> None:
    exact = spoken("What happened on 2024-03-05?").confidence
    day = spoken("What happened yesterday?").confidence
    month = spoken("What happened in March?").confidence
    vague = spoken("What happened recently?").confidence
    assert 1 >= exact >= day >= month >= vague > 0
    assert exact > vague


def test_a_year_makes_a_month_no_less_sure() -> None:
    assert spoken("in March 2024").confidence >= spoken("in March").confidence


def test_the_other_day_is_vaguer_than_three_days_ago() -> None:
    assert spoken("the other day").confidence <= spoken("3 days ago").confidence


# Zones


def test_a_day_is_that_of_the_references_zone() -> None:
    # 03:00 UTC on the 15th: still the evening of the 14th in New York, noon of the 15th in Tokyo
    instant = datetime(2024, 5, 15, 3, tzinfo=UTC)
    west = spoken("What did I say yesterday?", instant.astimezone(NEW_YORK))
    east = spoken("What did I say yesterday?", instant.astimezone(TOKYO))
    assert west.start == datetime(2024, 5, 13, tzinfo=NEW_YORK)
    assert east.start == datetime(2024, 5, 14, tzinfo=TOKYO)
    assert west.stop == datetime(2024, 5, 14, tzinfo=NEW_YORK)
    assert east.stop == datetime(2024, 5, 15, tzinfo=TOKYO)


@pytest.mark.parametrize("zone", [MADRID, NEW_YORK, TOKYO], ids=str)
@pytest.mark.parametrize("text", ["last March", "hace tres meses", "since January", "the past 2 weeks"])
def test_times_carry_the_offset_of_the_references_zone(text: str, zone: ZoneInfo) -> None:
    found = spoken(text, datetime(2024, 5, 15, 10, 30, tzinfo=zone))
    for time in (found.start, found.stop):
        assert time is not None
        assert time.utcoffset() == time.astimezone(zone).utcoffset()


@pytest.mark.parametrize(
    ("reference", "hours"),
    [
        (datetime(2024, 3, 31, 12, tzinfo=MADRID), 23),  # at 02:00 it was 03:00
        (datetime(2024, 10, 27, 12, tzinfo=MADRID), 25),  # at 03:00 it was 02:00
        (datetime(2024, 3, 30, 12, tzinfo=MADRID), 24),
        (datetime(2024, 3, 31, 12, tzinfo=TOKYO), 24),
    ],
)
def test_a_day_has_the_hours_that_its_clocks_show(reference: datetime, hours: int) -> None:
    # Between times of one zone Python counts what clocks show, so the length is taken in UTC.
    assert length(spoken("today", reference)) == timedelta(hours=hours)
    assert length(spoken("yesterday", reference + timedelta(days=1))) == timedelta(hours=hours)


def length(phrase: TimePhrase) -> timedelta:
    assert phrase.start is not None
    assert phrase.stop is not None
    return phrase.stop.astimezone(UTC) - phrase.start.astimezone(UTC)


def test_the_week_of_the_change_runs_from_midnight_to_midnight() -> None:
    found = spoken("last week", datetime(2024, 4, 2, 9, tzinfo=MADRID))
    assert found.start == datetime(2024, 3, 25, tzinfo=MADRID)
    assert found.stop == datetime(2024, 4, 1, tzinfo=MADRID)
    assert length(found) == timedelta(days=7, hours=-1)


# References


@pytest.mark.parametrize(
    ("reference", "start", "stop"),
    [
        # Mondays before: 29 January; 26 December 2022; 26 February of a leap year
        ("2024-02-05", "2024-01-29", "2024-02-05"),
        ("2023-01-08", "2022-12-26", "2023-01-02"),
        ("2024-03-04", "2024-02-26", "2024-03-04"),
    ],
)
def test_last_week_follows_the_reference(reference: str, start: str, stop: str) -> None:
    found = spoken("Was hat Ana last week gesagt?", at(reference).replace(hour=23, minute=59))
    assert (found.start, found.stop) == (at(start), at(stop))


@pytest.mark.parametrize(
    ("reference", "start", "stop"),
    [
        ("2024-03-31", "2024-02-01", "2024-03-01"),  # there is no 31 February
        ("2024-01-31", "2023-12-01", "2024-01-01"),
        ("2024-12-01", "2024-11-01", "2024-12-01"),
    ],
)
def test_a_month_ago_is_a_whole_month_from_any_day(reference: str, start: str, stop: str) -> None:
    for text in ("a month ago", "hace un mes", "last month", "el mes pasado"):
        found = spoken(text, at(reference))
        assert (found.start, found.stop) == (at(start), at(stop)), text


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=MADRID)


# More than one phrase, and odd texts


def test_every_phrase_of_a_text_is_found_in_order() -> None:
    text = "I met Ana yesterday, Tom in March 2023 and Eva on 2024-05-02."
    found = time_phrases(text, WEDNESDAY)
    assert [bare(phrase.words) for phrase in found] == ["yesterday", "March 2023", "2024-05-02"]
    assert [phrase.start for phrase in found] == [at("2024-05-14"), at("2023-03-01"), at("2024-05-02")]


def test_case_does_not_matter() -> None:
    assert spoken("WHAT DID I SAY LAST WEEK?").start == at("2024-05-06")
    assert spoken("¿QUÉ DIJE LA SEMANA PASADA?").start == at("2024-05-06")


def test_accents_may_be_left_out() -> None:
    assert spoken("que comimos el miercoles pasado").start == at("2024-05-08")
    assert spoken("que he dicho en los ultimos tres dias").start == WEDNESDAY - timedelta(days=3)


@pytest.mark.parametrize("text", ["", " ", "?", "|", "9" * 500, "last " * 200, "since before after until"])
def test_odd_texts_name_no_time(text: str) -> None:
    assert time_phrases(text, WEDNESDAY) == ()


@given(st.text(alphabet="0123456789/-:T .", max_size=20), st.sampled_from(["on {}", "el {}", "{} ago", "{}"]))
def test_numbers_that_are_no_dates_do_no_harm(numbers: str, form: str) -> None:
    time_phrases(form.format(numbers), WEDNESDAY)


WORDS = (
    "last next this past in on since until between and from to the 3 two days weeks ago March may 2024 "
    "Monday morning early hace dos semanas desde hasta entre y de a el lunes marzo pasado mañana"
)


@given(
    st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join),
    st.sampled_from([case.reference for case in CASES]),
)
def test_phrases_stand_in_order_and_apart_and_spans_run_forward(text: str, reference: datetime) -> None:
    found = time_phrases(text, reference)
    assert all(text[slice(*phrase.place)] == phrase.words != "" for phrase in found)
    assert all(earlier.place[1] <= later.place[0] for earlier, later in pairwise(found))
    for phrase in found:
        assert 0 < phrase.confidence <= 1
        assert phrase.start is None or phrase.stop is None or phrase.start <= phrase.stop
