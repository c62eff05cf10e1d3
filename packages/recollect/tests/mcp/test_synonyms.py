"""Arguments mean the same everywhere, whichever of their names a caller knows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from recollect.domain.errors import InvalidInput
from recollect.operations.catalogue import operations

if TYPE_CHECKING:
    from recollect.engine import Engine

MAY = datetime(2026, 5, 1, tzinfo=UTC)


def call(engine: Engine, tool: str, **given: Any) -> Any:
    return operations()[tool].call(engine, given).result


@pytest.mark.parametrize("name", ["at", "happened_at"])
def test_a_time_may_be_called_at_or_happened_at(engine: Engine, name: str) -> None:
    when: dict[str, Any] = {name: "2026-05-01"}
    note = call(engine, "remember", text="Ada sails", **when)["id"]
    turn = call(engine, "add_messages", session="tea", messages=[{"content": "Hello", **when}])["ids"][0]
    stored = engine.get_many([note, turn])
    assert stored[note].happened_at == MAY
    assert stored[turn].created_at == MAY
    other = call(engine, "remember", text="Ada rows")["id"]
    call(engine, "update", id=other, **when)
    assert engine.get_many([other])[other].happened_at == MAY
    call(engine, "context", messages=[{"content": "Where does Ada sail?", **when}])
    call(engine, "create_relations", relations=[{"from": "Ada", "to": "Bo", "relationType": "knows"}])
    call(engine, "end_relation", source="Ada", target="Bo", type="knows", **when)
    (ended,) = engine.graph.open_nodes(["Ada"], history=True).relations
    assert ended.until == MAY
    with pytest.raises(InvalidInput, match="there is no argument 'at'"):
        call(engine, "remember", text="Twice", at="2026-05-01", happened_at="2026-05-01")


def test_in_python_a_time_has_one_name_and_errors_for_others_give_it(engine: Engine) -> None:
    note = engine.remember("Ada sails", happened_at=MAY)
    turn = engine.add_messages("tea", [{"content": "Hello", "at": MAY}]).ids[0]
    stored = engine.get_many([note.id, turn])
    assert (stored[note.id].happened_at, stored[turn].created_at) == (MAY, MAY)
    wrong: dict[str, Any] = {"at": MAY}
    for write in (
        lambda: engine.remember("Ada rows", **wrong),
        lambda: engine.remember_many([{"text": "Ada rows", **wrong}]),
        lambda: engine.update(note.id, **wrong),
        lambda: engine.create_entities([{"name": "Ada", "observations": [{"content": "swims", **wrong}]}]),
    ):
        with pytest.raises(InvalidInput, match="'at' is called 'happened_at' here"):
            write()
    with pytest.raises(InvalidInput, match="'happened_at' is called 'at' here"):
        engine.add_messages("tea", [{"content": "Hi", "happened_at": MAY}])


def test_arguments_for_entities_and_relations_have_the_synonyms_of_all_tools(engine: Engine) -> None:
    call(engine, "create_entities", entities=[{"name": "Ada", "type": "person", "observations": ["sails"]}])
    call(engine, "add_observations", observations=[{"entity_name": "Ada", "contents": ["rows"]}])
    call(engine, "set_status", entity_name="Ada", status="paused")
    call(engine, "analyze_entity_split", entityName="Ada")
    (row,) = call(engine, "open_nodes", names=["Ada"])["entities"]
    assert row == {
        "name": "Ada",
        "entityType": "person",
        "observations": ["sails", "rows"],
        "status": "paused",
    }


def test_context_takes_messages_by_name(engine: Engine) -> None:
    engine.remember("Ada sails on Sundays")
    asked = [{"role": "user", "content": "When does Ada sail?"}]
    by_name = engine.context(messages=asked)
    assert by_name.text == engine.context(asked).text
    assert engine.context(query="When does Ada sail?").text == engine.context("When does Ada sail?").text
    for wrong in ({}, {"query": "Ada", "messages": asked}):
        with pytest.raises(InvalidInput, match="either a `query` or the last `messages`"):
            engine.context(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("tool", "given"),
    [("context", {}), ("forget", {}), ("why_not", {"query": "x"}), ("feedback", {"helpful": True})],
)
def test_a_tool_that_needs_one_of_several_arguments_says_so_in_its_description(
    engine: Engine, tool: str, given: dict[str, Any]
) -> None:
    """JSON Schema could say so, too, but clients refuse a choice at the top of a tool's schema."""
    definition = operations()[tool].definition()
    with pytest.raises(Exception, match=r"[Gg]ive|Name") as caught:
        call(engine, tool, **given)
    _, _, required = definition["description"].partition("Requires ")
    named = [name for name in definition["arguments"]["properties"] if f"`{name}`" in required]
    assert len(named) == 2, definition["description"]
    assert all(f"`{name}`" in str(caught.value) for name in named)
