"""What a person should decide: found, settled, and taken back."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from operation_calls import called, every_page

from recollect.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from conftest import FixedClock
    from recollect.engine.engine import Engine


def to_settle(engine: Engine, kind: str, **given: Any) -> list[Any]:
    return every_page(engine, "to_settle", "items", kind=kind, limit=1, **given)


def in_force(engine: Engine, id_: int) -> bool:
    memory = engine.get(id_)
    assert memory is not None
    return memory.deleted_at is None and memory.superseded_at is None


def test_a_contradiction_is_settled_for_the_newer_one_and_taken_back(
    engine: Engine, clock: FixedClock
) -> None:
    old = engine.remember("Ana lives in Porto")
    clock.now += timedelta(days=1)
    new = engine.remember("Ana lives in Lisbon")

    (found,) = to_settle(engine, "contradiction")
    assert (found["older"]["id"], found["newer"]["id"]) == (old.id, new.id)
    assert found["actions"] == ["supersede_older", "forget_older", "forget_newer", "keep"]
    undo = called(engine, "settle", key=found["key"], action="supersede_older")["undo"]
    assert (in_force(engine, old.id), in_force(engine, new.id)) == (False, True)
    assert to_settle(engine, "contradiction") == []
    called(engine, "undo_settling", undo=undo)
    assert in_force(engine, old.id)
    assert to_settle(engine, "contradiction") == [found]

    undo = called(engine, "settle", key=found["key"], action="forget_newer")["undo"]
    assert (in_force(engine, old.id), in_force(engine, new.id)) == (True, False)
    called(engine, "undo_settling", undo=undo)
    assert to_settle(engine, "contradiction") == [found]


def test_what_is_kept_is_not_asked_again_until_that_is_taken_back(engine: Engine) -> None:
    first = engine.remember("Ada drinks tea in the garden")
    second = engine.remember("Ada drinks the tea in the garden!")
    (found,) = to_settle(engine, "similar_notes")
    assert (found["older"]["id"], found["newer"]["id"]) == (first.id, second.id)

    undo = called(engine, "settle", key=found["key"], action="keep")["undo"]

    assert to_settle(engine, "similar_notes") == []
    assert to_settle(engine, "similar_notes", dismissed=True) == [{**found, "dismissed": True}]
    # Another owner decided nothing.
    assert called(engine.scoped("bo"), "to_settle", kind="similar_notes", dismissed=True)["items"] == []
    called(engine, "undo_settling", undo=undo)
    assert to_settle(engine, "similar_notes") == [found]


def test_near_copies_of_an_entity_are_removed_by_observation_and_come_back(engine: Engine) -> None:
    engine.create_entities([{"name": "Ada", "observations": ["Ada drinks tea in the garden"]}])
    engine.graph.add_observations({"Ada": ["Ada drinks the tea in the garden!"]})

    (found,) = to_settle(engine, "similar_observations")

    assert found["newer"]["text"] == "Ada drinks the tea in the garden!"
    with pytest.raises(InvalidInput, match="there is no 'forget_newer'"):
        called(engine, "settle", key=found["key"], action="forget_newer")
    undo = called(engine, "settle", key=found["key"], action="remove_newer")["undo"]
    (ada,) = engine.graph.open_nodes(["Ada"]).entities
    assert [each.content for each in ada.in_force] == ["Ada drinks tea in the garden"]
    with pytest.raises(NotFound, match="no longer in force"):
        called(engine, "settle", key=found["key"], action="remove_newer")
    called(engine, "undo_settling", undo=undo)
    assert [each["key"] for each in to_settle(engine, "similar_observations")] == [found["key"]]


def test_a_stale_entity_is_archived_and_comes_back_with_its_former_status(
    engine: Engine, clock: FixedClock
) -> None:
    engine.create_entities([{"name": "Tidebook", "type": "project", "status": "paused"}])
    clock.now += timedelta(days=91)
    engine.create_entities([{"name": "Ana"}])

    (found,) = to_settle(engine, "stale")

    assert found["older"]["name"] == "Tidebook"
    assert found["detail"] == "neither seen nor changed for 91 days"
    undo = called(engine, "settle", key=found["key"], action="archive")["undo"]
    assert to_settle(engine, "stale") == []
    assert called(engine, "get_memory", id=found["older"]["id"])["memory"]["status"] == "archived"
    called(engine, "undo_settling", undo=undo)
    assert called(engine, "get_memory", id=found["older"]["id"])["memory"]["status"] == "paused"
    with pytest.raises(InvalidInput, match="pass on a `key` of `to_settle`"):
        called(engine, "settle", key="nonsense", action="keep")


def test_an_entity_that_grew_too_large_is_split_and_put_together_again(engine: Engine) -> None:
    topics = (
        "The login of user {} takes a password and a code",
        "The database keeps the orders table of month {} with a backup",
        "The team in Lisbon meets for lunch on day {}",
    )
    facts = [topic.format(number) for number in range(9) for topic in topics]
    engine.create_entities(
        [
            {"name": "Apollo", "type": "project", "observations": facts},
            {"name": "Few", "observations": facts[:9]},
        ]
    )

    (found,) = to_settle(engine, "split")

    assert found["detail"].startswith("27 observations, at most 25; topics: ")
    undo = called(engine, "settle", key=found["key"], action="split")["undo"]
    assert to_settle(engine, "split") == []
    called(engine, "undo_settling", undo=undo)
    assert to_settle(engine, "split") == [found]
