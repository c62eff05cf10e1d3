"""An owner without an agent reads the memories of all their agents, and of no other owner."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Literal

import pytest
from semantic import search_semantic

from recollect.admin import Internals
from recollect.domain.changes import NewText, PutText
from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.records import Kind, Scope
from recollect.operations.catalogue import operations
from recollect.transfer import export_file

if TYPE_CHECKING:
    from recollect.engine import Engine


@pytest.fixture
def ana(engine: Engine) -> Engine:
    """Ana with two agents and notes of no agent, beside Bob, who has an agent of the same name.

    Everybody has a note, an entity of the same name, a session of the same name and something forgotten.
    """
    for owner, agent in (("ana", ""), ("ana", "cook"), ("ana", "gardener"), ("bob", "cook"), ("", "")):
        own = engine.scoped(owner, agent)
        whose = f"{owner or 'nobody'} {agent or 'alone'}"
        own.remember(f"kettle of {whose}")
        own.create_entities(
            [{"name": "Kettle", "type": "thing", "observations": [f"kettle seen by {whose}"]}]
        )
        own.graph.create_relations([("Kettle", "stands_on", f"Stove of {whose}")], create_missing=True)
        own.add_messages(
            "kitchen", [{"content": f"kettle talk of {whose}", "speaker": "someone"}], extract=False
        )
        own.forget([own.remember(f"forgotten by {whose}").id])
    return engine.scoped("ana", None)


@pytest.mark.usefixtures("undoubted")
def test_an_owner_reads_all_their_agents_and_nobody_else(ana: Engine) -> None:
    found = [hit.memory for hit in ana.recall("kettle", limit=50).hits]
    assert {memory.scope for memory in found} == {Scope("ana", agent) for agent in ("", "cook", "gardener")}
    assert {memory.kind for memory in found} == set(Kind)
    assert len(ana.graph.open_nodes(["Kettle"]).entities) == 3
    assert len(ana.graph.read_graph().entities) == 6
    assert len(ana.graph.search_nodes("kettle").entities) == 3
    assert [session.turns for session in ana.sessions.list()] == [1, 1, 1]
    assert [turn.text for turn in ana.sessions.turns("kitchen")] == ["kettle talk of ana alone"]
    text = ana.context("what about the kettle", session="kitchen", budget_tokens=5_000).text
    assert "ana cook" in text
    assert "bob" not in text + search_semantic(ana, "kettle", 50).__str__()
    assert Internals(ana).count_memories() == {Kind.NOTE: 3, Kind.ENTITY: 6, Kind.MESSAGE: 3}


def test_what_is_new_belongs_to_no_agent_and_what_is_there_is_changed_where_it_is(ana: Engine) -> None:
    services = ana._services
    with pytest.raises(InvalidInput, match="name the agent"):
        services.write([PutText(services.scope, NewText(Kind.NOTE, "whose?"))])
    note = ana.remember("the kettle is new")
    assert ana.scope == Scope("ana", "")
    assert (known := ana.get(note.id)) is not None
    assert known.scope == Scope("ana", "")
    cook = ana.scoped("ana", "cook")
    (of_cook,) = (hit.memory.id for hit in cook.recall("kettle", kinds=("note",)).hits)
    assert ana.update(of_cook, text="the cook's kettle").scope == Scope("ana", "cook")
    assert len(ana.history(of_cook).events) == 2
    assert ana.forget([of_cook, note.id]) == (of_cook, note.id)
    assert ana.restore(of_cook).deleted_at is None
    by = ana.supersede(of_cook, "the cook has two kettles").by
    assert by.scope == Scope("ana", "cook")
    assert cook.get(by.id) is not None


def test_an_entity_of_an_agent_alone_is_changed_by_naming_the_agent(ana: Engine) -> None:
    ana.scoped("ana", "cook").create_entities([{"name": "Ladle"}])
    with pytest.raises(NotFound, match=r"no entity named 'Ladle'.* name the agent: 'cook', 'gardener'"):
        ana.graph.add_observations({"Ladle": ["is long"]})
    ana.graph.set_status("Ladle", "paused")
    (ladle,) = ana.graph.open_nodes(["Ladle"]).entities
    assert (ladle.status, ladle.scope, ladle.observations) == ("paused", Scope("ana", "cook"), ())


def test_another_owners_memory_is_out_of_reach(ana: Engine) -> None:
    (of_bob,) = (hit.memory.id for hit in ana.scoped("bob", None).recall("kettle", kinds=("note",)).hits)
    assert ana.get(of_bob) is None
    assert ana.forget([of_bob]) == ()
    for change in (
        lambda: ana.update(of_bob, text="mine"),
        lambda: ana.restore(of_bob),
        lambda: ana.history(of_bob),
        lambda: ana.feedback(of_bob, 1.0),
        lambda: ana.why_not("kettle", of_bob),
    ):
        with pytest.raises(NotFound):
            change()
    assert ana.scoped("bob", "cook").get(of_bob).text == "kettle of bob cook"  # type: ignore[union-attr]


def test_what_was_shown_is_noted_where_it_belongs(ana: Engine) -> None:
    shown = ana.recall("kettle", limit=50, kinds=("note",)).hits
    for agent in ("", "cook", "gardener"):
        log = ana.scoped("ana", agent).upkeep
        log._services.usage.settle(None)
        with log._services.read() as view:
            ids = {hit.memory.id for hit in shown if hit.memory.scope.agent == agent}
            assert {id_ for (id_,) in view.rows("usage", ("memory_id",)) if id_ in ids} == ids


def test_statistics_are_of_the_scope_alone(ana: Engine) -> None:
    cook = operations()["stats"].call(ana.scoped("ana", "cook"), {}).result
    every = operations()["stats"].call(ana, {}).result
    counted = ("observations", "relations", "forgotten", "texts_with_a_vector", "texts_waiting_for_one")
    # A note, the kettle with its observation, the stove and the message; what is forgotten has no vector.
    assert [cook["store"][name] for name in counted] == [1, 1, 1, cook["store"]["texts_with_a_vector"], 0]
    assert {name: every["store"][name] for name in counted} == {
        name: 3 * cook["store"][name] for name in counted
    }
    assert cook["store"]["texts_with_a_vector"] > 0
    assert (every["notes"], every["entities"], every["messages"], every["sessions"]) == (3, 6, 3, 3)
    assert "scopes" not in every["store"]


@pytest.mark.parametrize("format_", ["official", "full"])
def test_an_owners_export_holds_theirs_alone(ana: Engine, format_: Literal["official", "full"]) -> None:
    target = io.StringIO()
    report = export_file(ana, target, format=format_, scope_only=True)
    text = target.getvalue()
    assert report.entities == 6
    assert [f"ana {agent}" in text for agent in ("alone", "cook", "gardener")] == [True] * 3
    assert "bob" not in text
    assert "nobody" not in text
    if format_ == "full":
        rows = [json.loads(line) for line in text.splitlines()[1:]]
        assert {row["owner"] for row in rows if row["record"] == "memory"} == {"ana"}
        assert report.texts == 9


def test_the_store_tells_who_has_notes_and_whose_one_is(engine: Engine) -> None:
    cook = engine.scoped("ana", "cook")
    soup = cook.remember("Ana likes soup").id
    gone = cook.remember("Ana likes rain").id
    engine.scoped("ana").add_messages("today", [{"role": "user", "content": "Hello"}], extract=False)
    forgotten = engine.scoped("ben").remember("Ben likes bread").id
    cook.forget([gone])
    engine.scoped("ben").forget([forgotten])
    # The list covers the whole store, for every caller.
    for asking in (engine, cook):
        assert Internals(asking).notes_by_scope() == {Scope("ana", "cook"): 1, Scope("ana", ""): 0}
        assert set(Internals(asking).scopes()) >= {Scope("ana", "cook"), Scope("ana", ""), Scope("ben", "")}
        assert Internals(asking).scope_of_memory(soup) == Scope("ana", "cook")
        assert Internals(asking).scope_of_memory(forgotten) == Scope("ben", "")
        assert Internals(asking).scope_of_memory(soup + 1_000) is None
