"""One memory with everything around it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from operation_calls import called

from recollect.domain.errors import NotFound

if TYPE_CHECKING:
    from conftest import FixedClock

    from recollect.engine import Engine


def test_a_memory_is_shown_with_its_versions_and_what_it_corrects(engine: Engine, clock: FixedClock) -> None:
    engine.create_entities([{"name": "Marisol Vega", "type": "person"}])
    wrong = engine.remember("Marisol Vega moors at pier two", tags=["harbour"])
    right = engine.supersede(wrong.id, "Marisol Vega moors at pier five").by
    clock.now += timedelta(hours=1)
    engine.update(right.id, text="Marisol Vega moors at pier six", pinned=True)
    clock.now += timedelta(hours=1)

    found = called(engine, "get_memory", id=right.id)

    assert [(each["text"], each["since"], each["until"]) for each in found["versions"]] == [
        ("Marisol Vega moors at pier five", "2026-03-01T12:00:00+00:00", "2026-03-01T13:00:00+00:00"),
        ("Marisol Vega moors at pier six", "2026-03-01T13:00:00+00:00", None),
    ]
    assert [each["id"] for each in found["supersedes"]] == [wrong.id]
    assert [each["name"] for each in found["mentions"]] == ["Marisol Vega"]
    assert found["memory"]["pinned"] is True
    assert found["memory"]["owner"] == ""
    then = called(engine, "get_memory", id=right.id, as_of="2026-03-01T12:30:00Z")
    assert then["memory"]["text"] == "Marisol Vega moors at pier five"
    corrected = called(engine, "get_memory", id=wrong.id)
    assert corrected["superseded_by"]["id"] == right.id
    assert corrected["memory"]["tags"] == ["harbour"]
    with pytest.raises(NotFound, match=f"no memory {right.id}"):
        called(engine.scoped("bo"), "get_memory", id=right.id)


def test_a_memory_tells_where_it_was_shown_and_looking_at_it_leaves_no_trace(
    engine: Engine, clock: FixedClock
) -> None:
    tide = engine.remember("The tide turns at noon by the lighthouse")
    engine.remember("Pancakes want buttermilk")
    engine.recall("when does the tide turn")
    clock.now += timedelta(days=1)
    engine.recall("the tide by the lighthouse")

    first = called(engine, "get_memory", id=tide.id)

    assert first["usage"] == {"shown": 2, "opened": 0, "days": 2, "last_at": "2026-03-02T12:00:00+00:00"}
    assert [(each["query"], each["place"], each["at"][:10]) for each in first["showings"]] == [
        ("the tide by the lighthouse", 1, "2026-03-02"),
        ("when does the tide turn", 1, "2026-03-01"),
    ]
    assert all(each["answer"] is not None for each in first["showings"])
    assert called(engine, "get_memory", id=tide.id, showings=1)["showings"] == first["showings"][:1]
    assert called(engine, "get_memory", id=tide.id)["usage"] == first["usage"]


def test_a_memory_stands_among_its_neighbours_copies_and_conflicts(engine: Engine) -> None:
    turns = [{"role": "user", "content": f"turn number {number} of the walk"} for number in range(9)]
    ids = engine.add_messages("walk", turns, extract=False).ids
    old = engine.remember("Ana lives in Porto", happened_at=datetime(2024, 6, 1, tzinfo=UTC))
    new = engine.remember("Ana lives in Lisbon now")
    copy = engine.remember("Ana lives in in Lisbon now")

    # Three turns to each side of the fifth: those of numbers 1 to 7.
    assert [each["id"] for each in called(engine, "get_memory", id=ids[4])["neighbours"]] == list(ids[1:8])
    found = called(engine, "get_memory", id=new.id)
    assert [each["id"] for each in found["conflicts"]] == [old.id]
    assert [each["id"] for each in found["similar"]] == [copy.id]
