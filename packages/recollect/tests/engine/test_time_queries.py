"""Questions that name a time, through `recall`: the span that was read, and its effect on scores."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from recollect.domain.changes import NewText, PutText, Turn
from recollect.domain.records import Kind, Scope
from recollect.engine import Engine
from recollect.ranking.candidates import ByMeaning, ByWords
from recollect.ranking.profiles import COGNIS, LEARNED_WEIGHTS, PROFILES

if TYPE_CHECKING:
    from conftest import FixedClock

    from recollect.domain.results import Answer, Hit

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


def test_days_begin_where_the_user_is_and_a_question_of_no_time_has_none(engine: Engine) -> None:
    tokyo = timezone(timedelta(hours=9))
    there = Engine(replace(engine._services, zone=tokyo))
    there.remember("the kettle broke")
    time = there.search("what broke yesterday").time
    assert time is not None
    # Noon in London is nine in the evening of the same day in Tokyo.
    assert time.start == datetime(2026, 2, 28, tzinfo=tokyo)
    assert time.stop == datetime(2026, 3, 1, tzinfo=tokyo)
    answer = engine.search("which kettle broke", profile="cognis", explain=True)
    assert answer.time is None
    assert "temporal" not in {reason.step for reason in answer.hits[0].reasons}


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


def test_what_has_no_known_time_counts_half_and_is_not_new(engine: Engine) -> None:
    engine.add_messages("old", [Turn("an imported kettle", source="a file")])
    engine.add_messages("old", [Turn("a dated kettle", source="a file, too", at=LAST_WEEK[0])])
    found = relevances(cognis(engine, "which kettle was it last week"))
    assert found == {"an imported kettle": 0.5, "a dated kettle": 1.0}
    engine.add_messages("s", [Turn("a kettle of now")])
    hits = engine.search("kettle", profile="cognis", explain=True).hits
    just = {hit.memory.text: hit.reasons[-1].value for hit in hits if hit.memory.text != "a dated kettle"}
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

    def texts_found(query: str, profile: object) -> list[str]:
        return [hit.memory.text for hit in engine.search(query, profile=profile, limit=5).hits]  # type: ignore[arg-type]

    assert wanted not in texts_found("which kettle was it last week", plain)
    assert texts_found("which kettle was it last week", then)[0] == wanted
    # Without a time there is nothing to look for then.
    assert texts_found("which kettle was it", then) == texts_found("which kettle was it", plain)


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


# Times that texts name themselves


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("where did he teach from 1974 to 1975?", "He taught in Leeds from 1973 to 1976."),
        ("where did he teach in Feb 1981?", "He taught in Hull, 1980–1984."),
        ("¿dónde enseñó antes de 1970?", "Enseñó en Vigo en 1966."),
        ("where did he teach last week?", "He taught in Bath last Tuesday."),
    ],
)
def test_a_text_is_of_the_time_that_it_names(engine: Engine, query: str, wanted: str) -> None:
    # On Sunday, 1 March, last Tuesday is in this week, and last week's message is older.
    for text in (
        "He taught in Leeds from 1973 to 1976.",
        "He taught in Hull, 1980–1984.",
        "Enseñó en Vigo en 1966.",
        "Enseñó en Lugo en 1986.",
    ):
        engine.remember(text)
    engine.add_messages("s", [Turn("He taught in Bath last Tuesday.", at=NOW - 7 * DAY)])
    assert engine.search(query).hits[0].memory.text == wanted


def test_an_entity_is_of_the_times_of_its_observations(engine: Engine) -> None:
    years = {"Ada": 2011, "Bea": 2018}
    engine.create_entities(
        [{"name": name, "observations": [f"worked at the mill in {year}"]} for name, year in years.items()]
    )
    for name, year in years.items():
        assert engine.search(f"who worked at the mill in {year}?").hits[0].memory.name == name


def test_at_a_moment_of_the_past_a_text_is_of_the_time_that_it_named_then(
    engine: Engine, clock: FixedClock
) -> None:
    clock.now = NOW - 20 * DAY
    changed = engine.remember("The bridge was built, they say, in 1911")
    engine.remember("The bridge was built, others say, in 1931")
    clock.now = NOW - 10 * DAY
    engine.update(changed.id, text="The bridge was built, they say, in 1931 or so")
    clock.now = NOW
    then = engine.search("which bridge was built in 1911?", as_of=NOW - 15 * DAY, explain=True)
    assert {hit.memory.text: _time_reason(hit) for hit in then.hits} == pytest.approx(
        # Inside, and nineteen years outside.
        {"The bridge was built, they say, in 1911": 1.0, "The bridge was built, others say, in 1931": 0.0},
        abs=1e-6,
    )


def _time_reason(hit: Hit, step: str = "time") -> float:
    """The match that the step found, without its weight."""
    (value,) = [reason.value for reason in hit.reasons if reason.step == step]
    weights = LEARNED_WEIGHTS["time_score"]
    return value / weights["tells" if step == "when" else "weight"]


@pytest.mark.parametrize(
    "query",
    [
        "what happened last week at work?",
        "What did we do at work last week?",
        "¿qué pasó la semana pasada en el trabajo (work)?",
    ],
)
def test_what_happened_then_comes_before_all_else_and_the_topic_first(engine: Engine, query: str) -> None:
    start, _ = LAST_WEEK
    for number in range(12):
        engine.remember(f"At work, work happened: number {number}", happened_at=start - (20 + number) * DAY)
    engine.remember("Planted leeks", happened_at=start + DAY)
    engine.remember("A new boss at work", happened_at=start + 2 * DAY)
    engine.remember("Ana called about the roof", happened_at=start + 3 * DAY)
    hits = [hit.memory.text for hit in engine.search(query, limit=5).hits]
    assert hits[0] == "A new boss at work"
    assert set(hits[1:3]) == {"Planted leeks", "Ana called about the roof"}
    assert all(text.startswith("At work") for text in hits[3:])


def test_what_was_told_then_about_long_ago_did_not_happen_then(engine: Engine) -> None:
    start, _ = LAST_WEEK
    engine.add_messages(
        "s",
        [
            Turn("Our house was painted in 2009, all of the house", at=start + DAY),
            Turn("The fence of the house was painted", at=start + DAY),
        ],
    )
    happened = engine.search("what happened to the house last week?").hits
    assert happened[0].memory.text == "The fence of the house was painted"
    said = engine.search("what did I say of the house last week?", explain=True).hits
    # The question asks what was said, and both were said then.
    assert [_time_reason(hit) for hit in said] == [1.0, 1.0]


def test_a_month_may_be_the_one_to_come(engine: Engine) -> None:
    engine.remember("Dentist appointment on 9 March at ten")
    engine.remember("Dentist appointment on 9 September at ten")
    (first, second) = engine.search("any dentist appointment in March?", explain=True).hits
    assert first.memory.text == "Dentist appointment on 9 March at ten"
    # It was stored this March, 7.5 days before the day that it names, so it counts above 0.9.
    assert _time_reason(first) == pytest.approx(math.exp(-7.5 / 180))
    assert _time_reason(second) < 0.5


def test_who_asks_when_gets_what_tells_a_time(engine: Engine) -> None:
    engine.remember("The bridge by the mill was painted in green")
    engine.remember("The bridge by the mill was painted in 2011")
    when = engine.search("when was the bridge by the mill painted?", explain=True).hits
    assert when[0].memory.text == "The bridge by the mill was painted in 2011"
    assert _time_reason(when[0], "when") == 1.0
    colour = engine.search("how was the bridge by the mill painted?", explain=True).hits
    assert "when" not in {reason.step for hit in colour for reason in hit.reasons}


@pytest.mark.parametrize(
    "query", ["the September outage", "the outage in September", "the outage last September"]
)
def test_to_be_right_about_a_time_never_takes_from_a_hit(engine: Engine, query: str) -> None:
    engine.remember("The outage took four hours", happened_at=datetime(2025, 9, 12, tzinfo=UTC))
    for number in range(20):
        engine.remember(
            f"Errand {number} to the market", happened_at=datetime(2025, 7, 1 + number, tzinfo=UTC)
        )
    plain = engine.search("the outage").hits[0]
    dated = engine.search(query).hits[0]
    assert dated.memory.text == plain.memory.text == "The outage took four hours"
    assert dated.score >= plain.score
    assert dated.confidence is not None
    assert plain.confidence is not None
    # The month is no word that it lacks, and no name.
    wrong = engine.search(query.replace("September", "October")).hits[0]
    assert wrong.confidence is not None
    assert dated.confidence > wrong.confidence


def test_what_names_the_asked_time_answers_a_question_about_a_time_alone(engine: Engine) -> None:
    engine.remember("In 2016 the mill burned down")
    engine.remember("The kettle is red")
    answer = engine.search("what happened in 2016?")
    assert answer.hits[0].memory.text == "In 2016 the mill burned down"
    assert answer.confidence == answer.hits[0].confidence == 0.95
    other = engine.search("what happened in 2017?")
    assert other.confidence is not None
    # That year is unknown, so confidence is lower. A small store never rules an answer out.
    assert other.confidence < answer.confidence
