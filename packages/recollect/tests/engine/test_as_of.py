"""`as_of` answers from the state of the store at a moment: what was known and in force then."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

from recollect.domain.errors import InvalidInput
from recollect.engine import Engine
from recollect.models.registry import availability
from recollect.operations.catalogue import operations
from recollect.ranking.candidates import recompute_score
from recollect.ranking.profiles import PROFILES
from recollect.search.facts import ranking_facts
from recollect.search.rows import MemoryRows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import FixedClock, MakeEngine

NAIVE = datetime(2026, 3, 1)  # noqa: DTZ001  # what is tested
DAY = timedelta(days=1).total_seconds()
every_profile = pytest.mark.parametrize("profile", PROFILES)
every_model = pytest.mark.parametrize("model", ["hashing", "none"])
ARCTIC = availability("arctic-memory")


@pytest.fixture(autouse=True)
def nothing_is_out_of_step(engine: Engine) -> Iterator[None]:
    yield
    assert list(engine.upkeep.verify()) == []


def texts_found(engine: Engine, query: str, **options: Any) -> set[str]:
    """Texts, and the observations in force of entities."""
    hits = engine.search(query, limit=50, **options).hits
    texts = {hit.memory.text for hit in hits if hit.memory.text}
    return texts | {seen.content for hit in hits for seen in hit.memory.in_force}


@every_model
@every_profile
def test_what_was_not_there_yet_is_not_found(
    make_engine: MakeEngine, clock: FixedClock, model: str, profile: str
) -> None:
    engine = make_engine(model=model)
    before = clock()
    clock.tick(DAY)
    engine.remember("a red kettle")
    engine.add_messages("s", [{"content": "where is the kettle"}])
    engine.create_entities([{"name": "kettle", "observations": ["kettle of steel"]}])
    between = clock()
    clock.tick(DAY)
    engine.remember("a blue kettle")
    engine.graph.add_observations({"kettle": ["kettle with a dent"]})
    first = {"a red kettle", "where is the kettle", "kettle of steel"}
    assert texts_found(engine, "kettle", profile=profile, as_of=before) == set()
    assert texts_found(engine, "kettle", profile=profile, as_of=between) == first
    later = first | {"a blue kettle", "kettle with a dent"}
    assert texts_found(engine, "kettle", profile=profile, as_of=clock()) == later
    assert texts_found(engine, "kettle", profile=profile) == later


@every_model
@every_profile
def test_a_text_is_found_and_read_as_it_stood(
    make_engine: MakeEngine, clock: FixedClock, model: str, profile: str
) -> None:
    engine = make_engine(model=model)
    id_ = engine.remember("a red kettle").id
    first = clock()
    clock.tick(DAY)
    engine.update(id_, text="a blue kettle")
    second = clock()
    clock.tick(DAY)
    engine.update(id_, text="a green pot")
    assert texts_found(engine, "red kettle", profile=profile, as_of=first) == {"a red kettle"}
    assert texts_found(engine, "red kettle", profile=profile, as_of=second) == {"a blue kettle"}
    assert texts_found(engine, "blue", profile=profile, as_of=second) == {"a blue kettle"}
    if model == "none":
        assert texts_found(engine, "green pot", profile=profile, as_of=first) == set()
        assert texts_found(engine, "kettle", profile=profile) == set()
    (hit,) = engine.search("red kettle", profile=profile, as_of=first, explain=True).hits
    assert hit.memory.former == ()
    assert hit.passage == (None if model == "none" else "a red kettle")
    assert recompute_score(hit.reasons) == hit.score


@every_model
@every_profile
def test_what_was_corrected_or_forgotten_since_still_held_then(
    make_engine: MakeEngine, clock: FixedClock, model: str, profile: str
) -> None:
    engine = make_engine(model=model)
    wrong = engine.remember("the kettle is red").id
    gone = engine.remember("the kettle is loud").id
    engine.create_entities([{"name": "Kettle", "observations": ["is made of tin", "has a lid"]}])
    then = clock()
    clock.tick(DAY)
    engine.supersede(wrong, "the kettle is blue")
    engine.forget([gone])
    engine.graph.add_observations(
        {"Kettle": [{"content": "is made of steel", "supersedes": "is made of tin"}]}
    )
    engine.graph.delete_observations({"Kettle": ["has a lid"]})
    held = {"the kettle is red", "the kettle is loud", "is made of tin", "has a lid"}
    assert texts_found(engine, "kettle", profile=profile, as_of=then) == held
    assert texts_found(engine, "kettle", profile=profile) == {"the kettle is blue", "is made of steel"}
    engine.graph.delete_entities(["Kettle"])
    assert texts_found(engine, "kettle", profile=profile) == {"the kettle is blue"}
    assert texts_found(engine, "kettle", profile=profile, as_of=then) == held
    hits = engine.search("kettle", profile=profile, as_of=then, limit=50).hits
    assert {hit.memory.superseded_at for hit in hits} == {None}
    assert {hit.memory.deleted_at for hit in hits} == {None}


@every_profile
def test_what_was_superseded_is_found_where_it_is_asked_for(
    engine: Engine, clock: FixedClock, profile: str
) -> None:
    wrong = engine.remember("the kettle is red").id
    gone = engine.remember("the kettle is loud").id
    then = clock.tick(DAY)
    engine.supersede(wrong, "the kettle is blue")
    engine.forget([gone])
    both = {"the kettle is red", "the kettle is blue"}
    assert texts_found(engine, "kettle", profile=profile, include_superseded=True) == both
    clock.tick(DAY)
    assert texts_found(engine, "kettle", profile=profile, include_superseded=True, as_of=then) == both
    hits = engine.search("kettle", profile=profile, include_superseded=True).hits
    assert {hit.memory.superseded_by is None for hit in hits} == {True, False}


def test_the_moment_itself_counts_as_then(engine: Engine, clock: FixedClock) -> None:
    """A change counts from its own moment on."""
    id_ = engine.remember("the kettle is red").id
    made = clock()
    clock.tick(1)
    engine.supersede(id_, "the kettle is blue")
    corrected = clock()
    microsecond = timedelta(microseconds=1)
    assert texts_found(engine, "kettle", as_of=made - microsecond) == set()
    assert texts_found(engine, "kettle", as_of=made) == {"the kettle is red"}
    assert texts_found(engine, "kettle", as_of=corrected - microsecond) == {"the kettle is red"}
    assert texts_found(engine, "kettle", as_of=corrected) == {"the kettle is blue"}


def test_ages_and_times_are_told_from_then(engine: Engine, clock: FixedClock) -> None:
    clock.now = datetime(2025, 6, 15, 12, tzinfo=UTC)
    engine.remember("the kettle broke", happened_at=datetime(2025, 6, 14, 12, tzinfo=UTC))
    then = clock()
    fresh = engine.search("kettle", profile="mnemosyne").hits[0].score
    clock.now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert engine.search("kettle", profile="mnemosyne").hits[0].score < fresh
    assert engine.search("kettle", profile="mnemosyne", as_of=then).hits[0].score == pytest.approx(fresh)
    answer = engine.search("what broke yesterday", as_of=then)
    assert answer.time is not None
    assert answer.time.start == datetime(2025, 6, 14, tzinfo=UTC)


def test_asking_about_the_past_leaves_no_trace(engine: Engine, clock: FixedClock) -> None:
    id_ = engine.remember("the kettle is red").id
    engine.recall("kettle", as_of=clock())
    engine._services.usage.settle(None)
    with engine._services.store.read() as view:
        assert ranking_facts(MemoryRows(view), [id_], "", None, 0).access_count.tolist() == [0]


def test_filters_hold_in_the_past_too(engine: Engine, clock: FixedClock) -> None:
    ids = [
        engine.remember("a red kettle", tags=["kitchen"]).id,
        engine.remember("a blue kettle").id,
        *engine.add_messages("now", [{"content": "my kettle of now"}]).ids,
        *engine.add_messages("before", [{"content": "my kettle of before"}]).ids,
    ]
    then = clock()
    clock.tick(DAY)
    engine.forget(ids)
    assert texts_found(engine, "kettle") == set()
    assert texts_found(engine, "kettle", as_of=then, tags=["kitchen"]) == {"a red kettle"}
    both = {"my kettle of now", "my kettle of before"}
    assert texts_found(engine, "kettle", as_of=then, kinds=["message"]) == both
    assert texts_found(engine, "kettle", as_of=then, kinds=["message"], session="now") == {"my kettle of now"}
    assert texts_found(engine.scoped("someone"), "kettle", as_of=then) == set()


@every_profile
def test_a_store_that_has_not_changed_answers_about_the_present_as_before(
    engine: Engine, clock: FixedClock, profile: str
) -> None:
    engine.remember_many([f"kettle number {number} of {number % 3}" for number in range(12)])
    engine.create_entities([{"name": "kettle", "observations": ["is red"]}])
    plain = engine.search("kettle number 7", profile=profile, explain=True)
    assert engine.search("kettle number 7", profile=profile, explain=True, as_of=clock()) == plain


def test_two_texts_that_became_one_were_two_then(engine: Engine, clock: FixedClock) -> None:
    engine.remember("the kettle is red")
    id_ = engine.remember("the kettle is loud").id
    then = clock()
    clock.tick(DAY)
    engine.update(id_, text="the kettle is red")
    assert texts_found(engine, "kettle", as_of=then) == {"the kettle is red", "the kettle is loud"}


@pytest.mark.skipif(not ARCTIC.ready, reason=ARCTIC.reason)
def test_a_former_wording_is_found_by_its_meaning(make_engine: MakeEngine, clock: FixedClock) -> None:
    engine = make_engine(model="arctic-memory")
    id_ = engine.remember("Ada moved into a flat in Berlin").id
    engine.remember("The invoice of the plumber is overdue")
    then = clock()
    clock.tick(DAY)
    engine.update(id_, text="Ada plays the cello")
    best = engine.search("in which city did she relocate to an apartment", as_of=then).hits[0]
    assert best.memory.text == "Ada moved into a flat in Berlin"
    assert "Ada moved into a flat in Berlin" not in texts_found(engine, "relocate to an apartment")


@pytest.mark.parametrize("wrong", [NAIVE, "last week", 7])
def test_a_moment_is_a_datetime_with_its_zone(engine: Engine, wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="as_of"):
        engine.recall("kettle", as_of=wrong)
    with pytest.raises(InvalidInput, match="as_of"):
        engine.context("kettle", as_of=wrong)


def test_what_was_gone_for_a_while_was_gone_then(engine: Engine, clock: FixedClock) -> None:
    forgotten = engine.remember("the kettle is red").id
    corrected = engine.remember("the lamp hangs in the hall").id
    clock.tick(DAY)
    engine.forget([forgotten])
    engine.supersede(corrected, "the lamp hangs in the cellar")
    between = clock.tick(DAY)
    clock.tick(DAY)
    engine.restore(forgotten)
    engine.restore(corrected)
    now = {"the kettle is red", "the lamp hangs in the hall", "the lamp hangs in the cellar"}
    assert texts_found(engine, "kettle lamp") == now
    assert texts_found(engine, "kettle lamp", as_of=between) == {"the lamp hangs in the cellar"}
    assert texts_found(engine, "kettle lamp", as_of=between, include_superseded=True) == now - {
        "the kettle is red"
    }
    happened = [event.what for event in engine.history(forgotten).events]
    assert happened == ["noted", "forgotten", "restored"]


def test_a_day_ends_at_midnight_also_where_the_clock_goes_back_then(
    engine: Engine, clock: FixedClock
) -> None:
    # In Beirut, 25 October 2025 had 25 hours: midnight came at 21:00 UTC, and the clock went back to 23:00.
    in_beirut = Engine(replace(engine._services, zone=ZoneInfo("Asia/Beirut")))
    clock.tick((datetime(2025, 10, 25, 21, 30, tzinfo=UTC) - clock()).total_seconds())
    in_beirut.remember("a red kettle, in the hour that came twice")
    clock.tick(1_800)
    in_beirut.remember("a blue kettle, on the next day")
    known = {"a red kettle, in the hour that came twice"}
    assert texts_found(in_beirut, "kettle", as_of="2025-10-25") == known
    assert len(texts_found(in_beirut, "kettle", as_of=date.max)) == 2


@pytest.mark.usefixtures("undoubted")
def test_a_day_means_its_end_in_the_users_time_zone(engine: Engine, clock: FixedClock) -> None:
    in_lima = Engine(replace(engine._services, zone=ZoneInfo("America/Lima")))  # UTC-5
    clock.tick((datetime(2026, 3, 2, 4, 30, tzinfo=UTC) - clock()).total_seconds())
    late = in_lima.remember("a red kettle, at half past eleven in the evening").id
    clock.tick(3_600)
    in_lima.remember("a blue kettle, at half past midnight")
    known = {"a red kettle, at half past eleven in the evening"}
    for day in (date(2026, 3, 1), "2026-03-01", "2026-03-01T23:59", "2026-W09"):
        assert texts_found(in_lima, "kettle", as_of=day) == known
        assert [item.id for item in in_lima.context("kettle", as_of=day)] == [late]
    recall = operations()["recall"]  # as MCP and HTTP call it
    (hit,) = recall.call(in_lima, {"query": "kettle", "as_of": "2026-03-01"}).result["hits"]
    assert hit["id"] == late
    assert texts_found(in_lima, "kettle", as_of="2026-02-28") == set()
    assert texts_found(engine, "kettle", as_of="2026-03-01") == set()  # in UTC, it was the next day already
    for wrong in ("yesterday", "2026-13-01"):
        with pytest.raises(InvalidInput, match="write 2026-03-01"):
            in_lima.recall("kettle", as_of=wrong)
    with pytest.raises(InvalidInput, match="a date, a datetime or an ISO text, not int"):
        in_lima.recall("kettle", as_of=20260301)  # type: ignore[arg-type]
