"""Contradicting memories, through the engine: which ranks first, and how hits name the conflict."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hand_weights import hand_weighted

import recollect
from recollect.ranking.candidates import recompute_score
from recollect.ranking.profiles import RECOLLECT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import FixedClock, MakeEngine

    from recollect.engine import Engine
    from recollect.ranking.candidates import Profile

DAY = 86_400
SEASON = 120 * DAY
LISBON, PORTO = "Ana lives in Lisbon, near the river.", "Ana lives in Porto now."


def texts_found(engine: Engine, query: str, **options: object) -> list[str]:
    return [hit.memory.text for hit in engine.search(query, **options).hits]  # type: ignore[arg-type]


@pytest.fixture
def engine_with_move(engine: Engine, clock: FixedClock) -> Engine:
    """Lisbon is stored first, and contains more words of the query."""
    engine.remember(LISBON)
    clock.tick(SEASON)
    engine.remember(PORTO)
    engine.remember("The kettle leaks.")
    clock.tick(DAY)
    return engine


RIVER = "where does Ana live, near which river"


def test_the_later_of_two_stands_first_and_a_question_about_the_past_turns_it_round(
    engine_with_move: Engine,
) -> None:
    assert texts_found(engine_with_move, RIVER)[:2] == [PORTO, LISBON]
    for query in ("where did Ana live before?", "¿dónde vivía Ana (lives) antes?"):
        assert texts_found(engine_with_move, query)[:2] == [LISBON, PORTO]
    hits = engine_with_move.search(RIVER, explain=True).hits
    assert any(reason.step == "newest wins" for reason in hits[0].reasons)
    assert [recompute_score(hit.reasons) for hit in hits] == [hit.score for hit in hits]


def test_both_stay_in_force_and_each_says_what_the_other_is(engine_with_move: Engine) -> None:
    newer, older = engine_with_move.search(RIVER).hits[:2]
    assert [(each.id, each.text, each.is_newer) for each in newer.conflicts_with] == [(1, LISBON, False)]
    assert [(each.id, each.text, each.is_newer) for each in older.conflicts_with] == [(2, PORTO, True)]
    assert older.outdated_by == older.conflicts_with[0]
    assert newer.outdated_by is None
    assert all(hit.memory.superseded_at is None for hit in (newer, older))
    # The other is named though it is not shown.
    (only,) = engine_with_move.search(RIVER, limit=1).hits
    assert (only.memory.id, only.conflicts_with[0].id) == (2, 1)


def test_nothing_moves_where_both_are_of_one_time(engine: Engine) -> None:
    engine.remember_many([{"text": LISBON}, {"text": PORTO}])
    answer = engine.search(RIVER, explain=True)
    assert answer.hits[0].memory.text == LISBON
    assert not any(hit.conflicts_with for hit in answer.hits)
    assert not any(reason.step == "newest wins" for hit in answer.hits for reason in hit.reasons)


def test_the_order_of_arrival_makes_no_difference(make_engine: MakeEngine) -> None:
    times = {LISBON: datetime(2020, 1, 1, tzinfo=UTC), PORTO: datetime(2021, 1, 1, tzinfo=UTC)}
    orders = []
    for texts in ((LISBON, PORTO), (PORTO, LISBON)):
        engine = make_engine()
        for text in texts:
            engine.remember(text, happened_at=times[text])
        orders.append(texts_found(engine, RIVER))
    assert orders[0] == orders[1] == [PORTO, LISBON]


def test_an_older_question_finds_what_held_then(engine_with_move: Engine, clock: FixedClock) -> None:
    """As of the first day, there was nothing that said otherwise."""
    answer = engine_with_move.search(RIVER, as_of=clock() - timedelta(days=2))
    assert [hit.memory.text for hit in answer.hits] == [LISBON]
    assert answer.hits[0].conflicts_with == ()


def test_what_was_superseded_contradicts_nothing(engine_with_move: Engine) -> None:
    engine_with_move.supersede(1, 2)
    assert not any(hit.conflicts_with for hit in engine_with_move.search(RIVER, include_superseded=True).hits)


@pytest.mark.parametrize("role", ["assistant", "AI", "model"])
def test_what_an_assistant_says_contradicts_nobody(engine: Engine, clock: FixedClock, role: str) -> None:
    engine.remember(LISBON)
    clock.tick(DAY)
    engine.add_messages("s", [{"role": role, "content": PORTO}])
    assert not any(hit.conflicts_with for hit in engine.search(RIVER).hits)


def test_a_note_contradicts_what_a_message_said_before(engine: Engine, clock: FixedClock) -> None:
    engine.add_messages("talk", [{"speaker": "Ana", "content": "Ana lives in Lisbon."}], extract=False)
    clock.tick(DAY)
    engine.remember(PORTO)
    first, second = engine.search("where does Ana live?").hits
    assert (first.memory.text, second.memory.text) == (PORTO, "Ana lives in Lisbon.")


def test_an_observation_counts_by_its_own_time(engine: Engine, clock: FixedClock) -> None:
    engine.create_entities([{"name": "Ana", "observations": ["Plays chess"]}])
    clock.tick(DAY)
    engine.remember("Ana lives in Lisbon.")
    clock.tick(SEASON)
    engine.graph.add_observations({"Ana": ["Ana lives in Porto now"]})
    note = next(hit for hit in engine.search(RIVER).hits if hit.memory.text)
    (other,) = note.conflicts_with
    assert (other.text, other.is_newer, other.observation) == ("Ana lives in Porto now", True, 2)


def test_a_text_that_says_more_keeps_its_place_where_the_query_asks_for_the_rest(
    engine: Engine, clock: FixedClock
) -> None:
    both = "Ana lives in Lisbon. Her boat is the Petrel, with a yellow sail."
    engine.remember(both)
    clock.tick(DAY)
    engine.remember(PORTO)
    assert texts_found(engine, "what colour is the sail of Ana's boat?")[0] == both


@pytest.mark.usefixtures("undoubted")
def test_context_marks_the_line_of_the_older_one(engine_with_move: Engine) -> None:
    lines = engine_with_move.context(RIVER).text.splitlines()
    (older,) = [line for line in lines if line.endswith(f'"{LISBON}"')]
    (newer,) = [line for line in lines if line.endswith(f'] "{PORTO}"')]
    assert f'older than "{PORTO}"]' in older
    assert "older" not in newer
    assert lines.index(newer) < lines.index(older)
    # Their order is that of the ranking.
    text = engine_with_move.context("where did Ana live before?").text
    assert text.index(LISBON) < text.index(f'] "{PORTO}"')


def test_remembering_says_what_a_note_contradicts(engine: Engine, clock: FixedClock) -> None:
    engine.remember("Ana lives in Lisbon.")
    clock.tick(SEASON)
    done = engine.remember("Ana lives in Porto now.")
    (other,) = done.contradicts
    assert (other.id, other.text, other.is_newer) == (1, "Ana lives in Lisbon.", False)
    earlier = engine.remember("Ana lives in Faro.", happened_at=datetime(2001, 1, 1, tzinfo=UTC))
    assert {(each.id, each.is_newer) for each in earlier.contradicts} == {(1, True), (2, True)}
    assert engine.remember("Bruno lives in Braga.").contradicts == ()


def test_observing_says_what_an_observation_contradicts(engine: Engine, clock: FixedClock) -> None:
    engine.create_entities([{"name": "Ana", "observations": ["Lives in Lisbon", "Plays chess"]}])
    clock.tick(SEASON)
    (done,) = engine.graph.add_observations({"Ana": ["Lives in Porto now", "Plays the viola"]}).entities
    assert [(each.content, each.contradicted_content) for each in done.contradicts] == [
        ("Lives in Porto now", "Lives in Lisbon")
    ]


def test_the_report_lists_open_contradictions_and_how_to_settle_each(
    engine: Engine, clock: FixedClock
) -> None:
    engine.remember("Ana lives in Lisbon.")
    clock.tick(SEASON)
    engine.remember("Ana lives in Porto now.")
    engine.create_entities([{"name": "Bo", "observations": ["Works at Acme"]}])
    clock.tick(SEASON)
    engine.graph.add_observations({"Bo": ["Works at Bo's Boats now"]})
    report = engine.upkeep.consolidation_report()
    assert {(each.older_text, each.newer_text, each.command) for each in report.contradictions} == {
        ("Ana lives in Lisbon.", "Ana lives in Porto now.", "recollect supersede 1 2"),
        (
            "Works at Acme",
            "Works at Bo's Boats now",
            """recollect observe Bo 'Works at Bo'"'"'s Boats now' --supersedes '#1'""",
        ),
    }
    assert "Open contradictions, each with the command that retires the older one: 2" in report.text
    engine.supersede(1, 2)
    assert len(engine.upkeep.consolidation_report().contradictions) == 1


def stated_scores(engine: Engine, query: str, as_of: datetime | None = None) -> dict[str, float]:
    """The score that the step with weight 0.4 added, by text."""
    profile = hand_weighted(time_score={"stated": 0.4})
    # Without a limit, a hit that is far behind the best is left out.
    answer = engine.search(query, limit=10, explain=True, profile=profile, as_of=as_of)
    return {
        hit.memory.text[:4]: reason.value / 0.4
        for hit in answer.hits
        for reason in hit.reasons
        if reason.step == "stated"
    }


def test_a_question_that_names_a_year_lifts_what_had_begun_by_then(engine: Engine) -> None:
    terms = (("Vera", 1990), ("Jon ", 1996), ("Ida ", 2004))
    engine.remember_many([{"text": f"{name} chaired the harbour board from {year}."} for name, year in terms])
    fits = stated_scores(engine, "who chaired the harbour board from 1998 to 2000?")
    # 8 years before: 1 / (1 + 8/5); 2 years before: 1 / (1 + 2/5)
    assert fits == pytest.approx({"Vera": 5 / 13, "Jon ": 5 / 7, "Ida ": 0})
    assert stated_scores(engine, "who chaired the harbour board last year?") == {}


# Texts that say themselves since when they hold

SINCE_2019, SINCE_2023 = "Ana lives in Lisbon since 2019.", "Ana lives in Porto since 2023."
WEIGHTS = (
    hand_weighted(words={"bm25": 1.0}),
    # Negative weights push matches of the asked time down; training never gives such weights.
    hand_weighted(words={"bm25": 1.0}, time_score={"weight": -1.0, "stated": -1.0}),
)


@pytest.mark.ranking
@pytest.mark.parametrize("profile", [RECOLLECT, *WEIGHTS])
@pytest.mark.parametrize("told", [(SINCE_2019, SINCE_2023), (SINCE_2023, SINCE_2019)])
@pytest.mark.parametrize("gap", [0, DAY])
def test_whatever_the_weights_a_named_year_puts_first_what_had_begun_by_then(
    engine: Engine, clock: FixedClock, told: tuple[str, str], gap: int, profile: Profile
) -> None:
    for text in told:
        engine.remember(text)
        clock.tick(gap)

    def first(query: str) -> str:
        return texts_found(engine, query, profile=profile)[0]

    assert first("where did Ana live in 2020?") == SINCE_2019
    assert first("where did Ana live in 2024?") == SINCE_2023
    assert first("where does Ana live?") == SINCE_2023
    assert first("where did Ana live before?") == SINCE_2019


def test_where_one_says_since_when_the_later_told_counts_from_then(engine: Engine, clock: FixedClock) -> None:
    engine.remember("Ana lives in Lisbon.")
    clock.tick(SEASON)
    engine.remember(SINCE_2023)
    assert texts_found(engine, "where does Ana live?")[0] == SINCE_2023
    assert texts_found(engine, "where did Ana live in 2024?")[0] == SINCE_2023
    assert texts_found(engine, "where did Ana live in 2020?")[0] == "Ana lives in Lisbon."


def test_what_is_yet_to_begin_is_not_the_later_one(engine: Engine, clock: FixedClock) -> None:
    plan = "Ana lives in Faro from 2031 on."
    engine.remember(plan)
    clock.tick(DAY)
    engine.remember(SINCE_2019)
    assert texts_found(engine, "where does Ana live?")[:2] == [SINCE_2019, plan]


def test_a_date_that_was_brought_forward_is_no_older_than_the_former_one(
    engine: Engine, clock: FixedClock
) -> None:
    engine.remember("The deadline for the report is 10 May 2025.")
    clock.tick(DAY)
    engine.remember("The deadline for the report is 3 May 2025.")
    first = engine.search("when is the deadline for the report?").hits[0]
    assert first.memory.id == 2
    assert [each.is_newer for each in first.conflicts_with] == [False]


def test_remembering_and_the_report_go_by_what_the_texts_say_too(engine: Engine, clock: FixedClock) -> None:
    engine.remember(SINCE_2023)
    clock.tick(SEASON)
    done = engine.remember(SINCE_2019)
    assert [(each.id, each.is_newer) for each in done.contradicts] == [(1, True)]
    (one,) = engine.upkeep.consolidation_report().contradictions
    assert (one.older_text, one.newer_text) == (SINCE_2019, SINCE_2023)
    assert one.command == "recollect supersede 2 1"


@pytest.mark.parametrize("zone", ["UTC", "Europe/Madrid", "America/New_York"])
@pytest.mark.parametrize(
    ("query", "first"),
    [("where did Ana live in 2022?", SINCE_2019), ("where did Ana live in 2023?", SINCE_2023)],
)
def test_years_begin_where_the_user_lives(
    zone: str, query: str, first: str, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_TIME_ZONE", zone)
    with recollect.open(":memory:", model="hashing", clock=clock) as memory:
        memory.remember(SINCE_2019)
        memory.remember(SINCE_2023)
        assert texts_found(memory, query)[0] == first
        memory.remember("Vera chaired the harbour board from 2023.")
        # It began in that very month.
        assert stated_scores(memory, "who chaired the harbour board in 2023?")["Vera"] == 1


def test_as_of_a_moment_only_the_words_of_then_are_read(engine: Engine, clock: FixedClock) -> None:
    note = engine.remember("Vera chairs the harbour board.")
    before = clock()
    clock.tick(DAY)
    engine.update(note.id, text="Vera chairs the harbour board since 1990.")
    query = "who chaired the harbour board in 1995?"
    assert stated_scores(engine, query) == pytest.approx({"Vera": 1 / 2})
    assert stated_scores(engine, query, as_of=before) == {"Vera": 0}


def test_what_the_user_set_aside_does_not_win(engine_with_move: Engine) -> None:
    engine_with_move.update(2, status="archived")
    assert texts_found(engine_with_move, RIVER)[0] == LISBON


# A small world, with the model that is installed

TOLD = (
    "I work as a nurse at St. Mary's hospital.",
    "My phone number is 555 0101.",
    "We rent the flat on Elm Street for 900 a month.",
    "Paul is a welder at Acme.",
    "I love pears.",
    "Mi hermana Lola vive en Lisboa.",
)
LATER = (
    "No longer at the hospital, I work as a school nurse in Northfield now.",
    "New phone number: 555 0202.",
    "We moved out of the flat on Elm Street, the new house costs 1,200 a month.",
    "Anna is a baker at Initech.",
    "I love apples.",
    "Mi hermana Lola ya no vive en Lisboa, ahora vive en Oporto.",
)


@pytest.fixture(scope="module")
def life() -> Iterator[Engine]:
    now = [datetime(2025, 1, 1, tzinfo=UTC)]
    with recollect.open(":memory:", model="arctic-s", clock=lambda: now[0]) as memory:
        for text in (*TOLD, *LATER):
            now[0] += timedelta(days=20)
            memory.remember(text)
        yield memory


@pytest.mark.parametrize(
    ("query", "topic"),
    [
        ("where do I work?", 0),
        ("what is my phone number?", 1),
        ("what do we pay for our home?", 2),
        ("¿dónde vive mi hermana Lola?", 5),
    ],
)
def test_what_changed_in_other_words_ranks_first(life: Engine, query: str, topic: int) -> None:
    found = [text for text in texts_found(life, query) if text in {TOLD[topic], LATER[topic]}]
    assert found == [LATER[topic], TOLD[topic]]


def test_a_question_about_the_past_in_other_words_turns_the_order_round(life: Engine) -> None:
    for query, topic in (("what was my old phone number?", 1), ("¿dónde vivía antes mi hermana Lola?", 5)):
        found = [text for text in texts_found(life, query) if text in {TOLD[topic], LATER[topic]}]
        assert found == [TOLD[topic], LATER[topic]]


def test_facts_of_two_people_and_likings_of_two_things_replace_nothing(life: Engine) -> None:
    hits = life.search("where does Paul work?").hits
    assert hits[0].memory.text == TOLD[3]
    assert hits[0].conflicts_with == ()
    for hit in life.search("which fruit do I love?", explain=True).hits[:2]:
        assert hit.memory.text in (TOLD[4], LATER[4])
        assert not any(reason.value for reason in hit.reasons if reason.step == "newest wins")
        assert hit.conflicts_with == ()


@pytest.mark.parametrize(
    ("one", "other", "contradicts"),
    [
        ("The launch is on Friday now", "The launch is now on Friday.", False),
        ("Ana lives in Lisbon now", "Ana lives in in Lisbon now", False),
        ("Ana moved from Porto to Lisbon now", "Ana moved from Lisbon to Porto now", True),
        ("The launch is on Friday", "The launch is on Monday now", True),
    ],
)
def test_the_same_words_in_another_order_contradict_only_if_the_content_moves(
    engine: Engine, clock: FixedClock, one: str, other: str, contradicts: bool
) -> None:
    first = engine.remember(one)
    clock.tick(4 * SEASON)
    assert [each.id for each in engine.remember(other).contradicts] == [first.id] * contradicts
