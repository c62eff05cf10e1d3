"""Questions that speak of a time, through `recall`: the span that was read, and what it does to scores."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from recollect.changes import NewText, PutText, Turn
from recollect.engine.engine import Engine
from recollect.ranking.pipeline import ByMeaning, ByWords
from recollect.ranking.profiles import COGNIS, PROFILES
from recollect.records import Kind, Scope

if TYPE_CHECKING:
    from conftest import FixedClock
    from recollect.engine.results import Answer, Hit

# A Sunday; see the clock of `conftest`.
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
LAST_WEEK = (datetime(2026, 2, 16, tzinfo=UTC), datetime(2026, 2, 23, tzinfo=UTC))
LAST_MARCH = (datetime(2025, 3, 1, tzinfo=UTC), datetime(2025, 4, 1, tzinfo=UTC))


def temporal(hit: Hit) -> float:
    (value,) = [reason.value for reason in hit.reasons if reason.step == "temporal"]
    return value


def relevances(answer: Answer) -> dict[str, float]:
    return {hit.memory.text or hit.memory.name: temporal(hit) for hit in answer.hits}


def cognis(engine: Engine, query: str) -> Answer:
    return engine.search(query, profile="cognis", explain=True, limit=50)


# Which time


@pytest.mark.parametrize(
    ("query", "span"),
    [
        ("which kettle broke last week", LAST_WEEK),
        ("qué tetera se rompió la semana pasada", LAST_WEEK),
        ("what broke yesterday", (datetime(2026, 2, 28, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC))),
        ("qué se rompió ayer", (datetime(2026, 2, 28, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC))),
        ("what broke in 2024", (datetime(2024, 1, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC))),
        ("what broke in January", (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC))),
        ("qué se rompió en enero", (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC))),
    ],
)
def test_the_answer_tells_the_time_that_was_read(
    engine: Engine, query: str, span: tuple[datetime, datetime]
) -> None:
    engine.remember("kettle tetera broke")
    for profile in PROFILES:
        time = engine.search(query, profile=profile).time
        assert time is not None
        assert (time.start, time.stop) == span


def test_a_question_of_no_time_has_none(engine: Engine) -> None:
    engine.remember("the kettle broke")
    answer = engine.search("which kettle broke", profile="cognis", explain=True)
    assert answer.time is None
    assert "temporal" not in {reason.step for reason in answer.hits[0].reasons}


def test_days_begin_where_the_user_is(engine: Engine) -> None:
    tokyo = timezone(timedelta(hours=9))
    there = Engine(replace(engine._services, zone=tokyo))
    there.remember("the kettle broke")
    time = there.search("what broke yesterday").time
    assert time is not None
    # Noon in London is nine in the evening of the same day in Tokyo.
    assert time.start == datetime(2026, 2, 28, tzinfo=tokyo)
    assert time.stop == datetime(2026, 3, 1, tzinfo=tokyo)


# Relevance: 1 inside, falling off outside


def test_relevance_is_1_inside_the_span_and_falls_off_smoothly_outside(engine: Engine) -> None:
    start, stop = LAST_WEEK
    for text, at in (
        ("kettle inside", start + 3 * DAY),
        ("kettle at the start", start),
        ("kettle a week before", start - 7 * DAY),
        ("kettle three days after", stop + 3 * DAY),
        ("kettle long ago", start - 700 * DAY),
    ):
        engine.remember(text, happened_at=at)
    # tau is the span's own length, a week.
    assert relevances(cognis(engine, "which kettle was it last week")) == pytest.approx(
        {
            "kettle inside": 1.0,
            "kettle at the start": 1.0,
            "kettle a week before": math.exp(-7 / 7),
            "kettle three days after": math.exp(-3 / 7),
            "kettle long ago": math.exp(-700 / 7),
        }
    )


def test_when_it_happened_counts_before_when_it_was_written(engine: Engine, clock: FixedClock) -> None:
    start, _ = LAST_WEEK
    clock.now = start + DAY
    engine.remember("a kettle written then about long ago", happened_at=start - 70 * DAY)
    engine.remember("a kettle written then")
    clock.now = NOW
    engine.remember("a kettle written now about then", happened_at=start + DAY)
    engine.remember("a kettle written now")
    found = relevances(cognis(engine, "which kettle was it last week"))
    assert found["a kettle written then"] == found["a kettle written now about then"] == 1.0
    assert found["a kettle written then about long ago"] == pytest.approx(math.exp(-70 / 7))
    # From the end of Sunday the 22nd to Sunday noon: 6.5 days.
    assert found["a kettle written now"] == pytest.approx(math.exp(-6.5 / 7))


def test_en_marzo_is_the_last_march_there_was(engine: Engine, clock: FixedClock) -> None:
    clock.now = datetime(2026, 2, 20, tzinfo=UTC)
    start, stop = LAST_MARCH
    engine.remember("la tetera se rompió", happened_at=start + 9 * DAY)
    engine.remember("la tetera es roja", happened_at=stop + 62 * DAY)
    answer = cognis(engine, "qué pasó con la tetera en marzo")
    assert answer.time is not None
    assert (answer.time.start, answer.time.stop) == LAST_MARCH
    assert relevances(answer) == pytest.approx(
        {"la tetera se rompió": 1.0, "la tetera es roja": math.exp(-62 / 31)}
    )
    assert answer.hits[0].memory.text == "la tetera se rompió"


def test_what_has_no_known_time_counts_half(engine: Engine) -> None:
    engine.add_messages("old", [Turn("an imported kettle", source="a file")])
    engine.add_messages("old", [Turn("a dated kettle", source="a file, too", at=LAST_WEEK[0])])
    assert relevances(cognis(engine, "which kettle was it last week")) == {
        "an imported kettle": 0.5,
        "a dated kettle": 1.0,
    }


def test_an_undated_message_is_not_new_either(engine: Engine) -> None:
    engine.add_messages("s", [Turn("an imported kettle", source="a file"), Turn("a kettle of now")])
    hits = engine.search("kettle", profile="cognis", explain=True).hits
    just = {hit.memory.text: hit.reasons[-1].value for hit in hits}
    assert just == {"an imported kettle": 0.0, "a kettle of now": 0.25}


# The published formula, by hand


def test_cognis_is_six_tenths_of_rrf_and_four_of_time_and_what_is_recent(
    engine: Engine, clock: FixedClock
) -> None:
    start, stop = LAST_WEEK
    clock.now = NOW - timedelta(seconds=240)
    engine.remember("the red kettle broke", happened_at=start + DAY)
    clock.now = NOW - timedelta(seconds=60)
    engine.remember("a blue kettle", happened_at=stop + 2 * DAY)
    clock.now = NOW
    engine.remember("the kettle whistles")
    answer = cognis(engine, "which red kettle broke last week")
    assert len(answer.hits) == 3
    by_hand = {
        # temporal relevance; seconds since it was written
        "the red kettle broke": (1.0, 240),
        "a blue kettle": (math.exp(-2 / 7), 60),
        "the kettle whistles": (math.exp(-6.5 / 7), 0),
    }
    for hit in answer.hits:
        relevance, age = by_hand[hit.memory.text]
        rrf = sum(
            weight * 11 / (10 + hit.places[source].rank)
            for source, weight in (("meaning", 0.70), ("words", 0.30))
            if source in hit.places
        )
        assert hit.score == pytest.approx(0.6 * rrf + 0.4 * relevance + 0.25 * math.exp(-age / 120))
    best = answer.hits[0]
    assert best.memory.text == "the red kettle broke"
    # First by meaning and by words: rrf is 0.7 + 0.3.
    assert best.score == pytest.approx(0.6 * 1 + 0.4 * 1 + 0.25 * math.exp(-2))


def test_recency_is_of_when_it_was_written_not_of_when_it_happened(engine: Engine) -> None:
    engine.remember("the kettle broke", happened_at=NOW - 300 * DAY)
    (hit,) = engine.search("kettle", profile="cognis", explain=True).hits
    assert hit.reasons[-1].value == 0.25


# Searching among the texts of that time


def test_searches_that_look_then_bring_up_what_the_crowd_would_hide(engine: Engine) -> None:
    start, _ = LAST_WEEK
    wanted = "of that kettle we spoke at the office, among many other things, for quite some time"
    engine._services.store.apply(
        [
            PutText(Scope(), NewText(Kind.NOTE, wanted, happened_at=start + DAY)),
            *(
                PutText(Scope(), NewText(Kind.NOTE, f"kettle {number}", happened_at=NOW - 400 * DAY))
                for number in range(60)
            ),
        ],
        at=NOW,
    )
    engine.reindex()
    plain = replace(COGNIS, retrieve=(ByMeaning(times=1), ByWords("stemmed", times=1)))
    then = replace(plain, retrieve=(ByMeaning(times=1, then=True), ByWords("stemmed", times=1, then=True)))

    def found(query: str, profile: object) -> list[str]:
        return [hit.memory.text for hit in engine.search(query, profile=profile, limit=5).hits]  # type: ignore[arg-type]

    assert wanted not in found("which kettle was it last week", plain)
    assert found("which kettle was it last week", then)[0] == wanted
    # Without a time there is nothing to look for then.
    assert found("which kettle was it", then) == found("which kettle was it", plain)


def test_our_own_profile_puts_the_text_of_that_time_above_its_double_of_another(engine: Engine) -> None:
    engine.remember("the kettle broke at the office", happened_at=LAST_WEEK[0] + DAY)
    engine.remember("the kettle broke in the office", happened_at=NOW - 400 * DAY)
    best = engine.search("which kettle broke last week").hits[0].memory
    assert best.text == "the kettle broke at the office"


@pytest.mark.parametrize("query", ["what happened last week?", "last week", "¿qué pasó la semana pasada?"])
def test_a_question_about_a_time_alone_is_answered_from_that_time(engine: Engine, query: str) -> None:
    # The clock shows Sunday, 1 March 2026, so that last week began on 16 February.
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    for days in (*range(20, 60), *range(7, 13)):
        engine.remember(
            f"errand number {days}, what happened last week", happened_at=now - timedelta(days=days)
        )
    hits = engine.search(query, limit=6).hits
    ages = sorted((now - hit.memory.happened_at).days for hit in hits if hit.memory.happened_at)
    assert ages == [7, 8, 9, 10, 11, 12]


def test_the_words_of_the_time_are_not_sought(engine: Engine) -> None:
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    engine.remember("Last week was awful, the boiler broke", happened_at=now - timedelta(days=500))
    right = engine.remember("The boiler was repaired by Otto", happened_at=now - timedelta(days=9))
    hits = engine.search("what happened with the boiler last week?").hits
    assert hits[0].memory.id == right.id


@pytest.mark.parametrize(
    ("query", "wanted"),
    [("who was born in 1944?", "born in 1944"), ("the lights at Christmas", "lights at Christmas")],
)
def test_a_year_or_a_feast_that_stands_in_the_text_is_sought(engine: Engine, query: str, wanted: str) -> None:
    for text in ("born in 1943", "born in 1944", "born in 1945", "lights at Easter", "lights at Christmas"):
        engine.remember(text)
    assert engine.search(query).hits[0].memory.text == wanted


def test_who_gives_the_words_of_a_message_finds_it_above_its_neighbours(engine: Engine) -> None:
    turns = ("Where shall we go?", "The museum has a new hall of mirrors", "The new museum it is, the hall!")
    engine.add_messages("a day out", [{"role": "user", "content": text} for text in turns])
    best = engine.search("museum has a new hall of mirrors").hits[0].memory
    assert best.text == turns[1]
