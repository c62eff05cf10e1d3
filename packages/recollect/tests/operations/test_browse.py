"""Lists of memories of any kind, of what they are sorted by, and the timeline."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from operation_calls import called, every_page

from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.results import Bucket
from recollect.plugin import coarser

if TYPE_CHECKING:
    from conftest import FixedClock

    from recollect.engine import Engine


def texts(rows: list[Any]) -> list[str]:
    return [row["text"] or row["name"] for row in rows]


def browsed(engine: Engine, **given: Any) -> list[str]:
    return texts(every_page(engine, "browse", "memories", limit=2, **given))


@pytest.fixture
def harbour(engine: Engine, clock: FixedClock) -> Engine:
    """Five notes (one forgotten, one superseded, one expired), two messages, one entity; and a stranger's."""
    engine.create_entities([{"name": "Marisol", "type": "person", "observations": ["mends the nets"]}])
    engine.remember("Marisol sails at dawn", category="plans", tags=["Boat", "dawn"], importance=0.9)
    engine.remember("the boat is blue", category="facts", tags=["boat"], importance=0.2)
    gone = engine.remember("nobody needs this", category="facts", importance=0.5)
    engine.forget([gone.id])
    old = engine.remember("the mast is of oak", importance=0.7)
    engine.supersede(old.id, "the mast is of pine")
    engine.remember("the licence lasts a day", expires_at=clock.now + timedelta(days=1))
    engine.add_messages("dock", [{"role": "user", "content": "Is Marisol in?"}], extract=False)
    engine.add_messages("dock", [{"role": "assistant", "content": "She is at sea."}], extract=False)
    engine.scoped("stranger").remember("the boat of another", tags=["boat"], category="facts")
    clock.now += timedelta(days=2)
    return engine


def test_what_is_in_force_is_listed_from_the_newest_or_the_oldest_page_by_page(harbour: Engine) -> None:
    oldest = ["Marisol", "Marisol sails at dawn", "the boat is blue", "the mast is of pine"]
    oldest += ["Is Marisol in?", "She is at sea."]
    assert browsed(harbour, order="oldest") == oldest
    assert browsed(harbour, order="newest") == oldest[::-1]
    with pytest.raises(InvalidInput, match="There is no page 'x'"):
        called(harbour, "browse", cursor="x")


def test_a_list_is_filtered_by_what_a_memory_is_and_what_became_of_it(harbour: Engine) -> None:
    assert browsed(harbour, state="forgotten") == ["nobody needs this"]
    assert browsed(harbour, state="superseded") == ["the mast is of oak"]
    assert browsed(harbour, state="expired") == ["the licence lasts a day"]
    assert len(browsed(harbour, state="all")) == 9
    assert browsed(harbour, kinds=["entity"]) == ["Marisol"]
    assert browsed(harbour, category="facts") == ["the boat is blue"]
    assert browsed(harbour, tags=["BOAT"], order="oldest") == ["Marisol sails at dawn", "the boat is blue"]
    assert browsed(harbour, tags=["boat", "dawn"]) == ["Marisol sails at dawn"]
    assert browsed(harbour, session="dock", order="oldest") == ["Is Marisol in?", "She is at sea."]
    (entity,) = called(harbour, "browse", kinds=["entity"])["memories"]
    assert browsed(harbour, entity=entity["id"]) == ["Is Marisol in?", "Marisol sails at dawn"]
    # In any case, in a text, in a name, and in an observation.
    assert browsed(harbour, contains="MAST") == ["the mast is of pine"]
    assert browsed(harbour, contains="mends the", kinds=["entity"]) == ["Marisol"]
    assert browsed(harbour, contains="100%_") == []


def test_a_list_is_sorted_by_importance_and_by_use_and_ties_by_id(harbour: Engine, clock: FixedClock) -> None:
    # The pine has the 0.7 of the oak that it corrects; messages and the entity, 0.5, as none was given.
    important = ["Marisol sails at dawn", "the mast is of pine"]
    usual = ["She is at sea.", "Is Marisol in?", "Marisol"]
    assert browsed(harbour, order="importance") == [*important, *usual, "the boat is blue"]
    harbour.recall("the mast is of pine", limit=1)
    clock.now += timedelta(hours=1)
    harbour.recall("the mast is of pine", limit=1)
    clock.now += timedelta(hours=1)
    harbour.recall("the boat is blue", limit=1)
    assert browsed(harbour, order="most_used") == ["the mast is of pine", "the boat is blue"]
    assert browsed(harbour, order="last_shown") == ["the boat is blue", "the mast is of pine"]


def test_names_are_counted_among_what_is_in_force_of_this_owner_alone(harbour: Engine) -> None:
    for operation, counts in (
        ("list_tags", {"boat": 2, "dawn": 1}),
        ("list_categories", {"facts": 1, "plans": 1}),
    ):
        rows = every_page(harbour, operation, "names", limit=1)
        assert rows == [{"name": name, "count": count} for name, count in counts.items()]


def test_conversations_come_with_the_newest_first_and_their_messages_in_order(
    harbour: Engine, clock: FixedClock
) -> None:
    turns = [{"speaker": "Ana", "content": f"turn {number}"} for number in range(5)]
    ids = harbour.add_messages("walk", turns, extract=False).ids
    harbour.forget([ids[1]])
    sessions = every_page(harbour, "list_sessions", "sessions", limit=1)
    assert [(each["name"], each["turns"], each["speakers"]) for each in sessions] == [
        ("walk", 4, ["Ana"]),
        ("dock", 2, ["assistant", "user"]),
    ]
    said = every_page(harbour, "session_messages", "messages", session="walk", limit=3)
    assert texts(said) == ["turn 0", "turn 2", "turn 3", "turn 4"]
    back = every_page(harbour, "session_messages", "messages", session="walk", limit=3, newest_first=True)
    assert back == said[::-1]
    with pytest.raises(NotFound, match="no session named 'pier'"):
        called(harbour, "session_messages", session="pier")


def test_entities_come_with_how_much_is_known_of_them(harbour: Engine) -> None:
    harbour.create_entities([{"name": "Ana", "type": "person"}, {"name": "Tidebook", "type": "project"}])
    harbour.graph.create_relations([{"source": "Ana", "target": "Tidebook", "type": "writes"}])
    rows = every_page(harbour, "list_entities", "entities", limit=2)
    assert [(each["name"], each["observations"], each["relations"], each["mentions"]) for each in rows] == [
        ("Ana", 0, 1, 0),
        ("Marisol", 1, 0, 2),
        ("Tidebook", 0, 1, 0),
    ]
    mentioned = every_page(harbour, "list_entities", "entities", limit=1, order="most_mentioned")
    assert [each["name"] for each in mentioned] == ["Marisol", "Ana", "Tidebook"]
    for given in ({"type": "project"}, {"contains": "BOOK"}):
        (tidebook,) = called(harbour, "list_entities", **given)["entities"]
        assert tidebook["name"] == "Tidebook"


def test_the_timeline_counts_what_happened_and_what_was_learnt_by_day_week_and_month(
    engine: Engine, clock: FixedClock
) -> None:
    clock.now = datetime(2026, 3, 1, 12, tzinfo=UTC)  # a Sunday
    engine.remember("an old thing", happened_at=datetime(1969, 12, 31, 23, 50, tzinfo=UTC))
    engine.remember("the first of March")
    engine.remember("the last day", happened_at=datetime.max.replace(tzinfo=UTC))
    clock.now = datetime(2026, 3, 2, 0, 5, tzinfo=UTC)
    engine.remember("the second of March")
    last = engine.remember("gone again")
    engine.forget([last.id])

    def counts(**given: Any) -> list[tuple[str, int]]:
        rows = every_page(engine, "timeline", "buckets", limit=1, **given)
        return [(row["start"][:10], row["count"]) for row in rows]

    last_day = ("9999-12-31", 1)
    assert counts(unit="day") == [("1969-12-31", 1), ("2026-03-01", 1), ("2026-03-02", 1), last_day]
    assert counts(unit="day", time="stored") == [("2026-03-01", 3), ("2026-03-02", 1)]
    # Weeks begin on Mondays: the first of March is in that of the 23rd of February.
    assert counts(unit="week", time="stored") == [("2026-02-23", 3), ("2026-03-02", 1)]
    assert counts(unit="month", since="2026-01-01") == [("2026-03-01", 2), ("9999-12-01", 1)]
    # The first day has no date in a zone west of UTC.
    first_day = Bucket(datetime.min.replace(tzinfo=UTC), datetime(1, 1, 2, tzinfo=UTC), 1)
    assert [each.count for each in coarser([first_day], "week", timezone(timedelta(hours=-5)))] == [1]
    (second,) = called(engine, "timeline", since="2026-03-02", until="2026-03-03")["buckets"]
    found = called(engine, "browse", since=second["start"], until=second["stop"])["memories"]
    assert texts(found) == ["the second of March"]
