"""Import graphs of Graphiti and Zep from the JSON of their own types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from transfer_world import import_foreign

from recollect.engine import Engine
from recollect.transfer import recognise

pytest_plugins = ["transfer_stores"]


def node(id_: str, name: str, **more: Any) -> dict[str, Any]:
    made = {"uuid": id_, "name": name, "group_id": "ana", "created_at": "2024-05-01T10:00:00Z"}
    return {**made, "labels": ["Entity"], "summary": "", "attributes": {}, "name_embedding": None, **more}


def fact(id_: str, source: str, type_: str, target: str, words: str, **more: Any) -> dict[str, Any]:
    made = {"uuid": id_, "group_id": "ana", "source_node_uuid": source, "target_node_uuid": target}
    return {**made, "name": type_, "fact": words, "created_at": "2024-05-02T10:00:00Z", **more}


def episode(id_: str, content: str, source: str = "message") -> dict[str, Any]:
    made = {"uuid": id_, "name": f"episode {id_}", "group_id": "ana", "source": source, "content": content}
    return {**made, "source_description": "chat", "valid_at": "2024-05-03T10:00:00Z"}


GRAPH: dict[str, list[Any]] = {
    "nodes": [
        node("n1", "Ana", labels=["Entity", "Person"], summary="A skipper", attributes={"age": 41}),
        node("n2", "Porto"),
        node("n3", "Ana", labels=["Entity", "Sailor"], created_at="2024-04-01T10:00:00Z"),
    ],
    "edges": [
        fact("f1", "n1", "LIVES_IN", "n2", "Ana lives in Porto", valid_at="2020-01-01T00:00:00Z",
             invalid_at="2023-01-01T00:00:00Z", episodes=["e1"]),
        fact("f2", "n1", "LIVES_IN", "n2", "Ana lives in Porto again", valid_at="2024-01-01T00:00:00Z"),
        fact("f3", "n1", "KNOWS", "nobody", "Ana knows someone"),
    ],
    "episodes": [
        episode("e1", "Ana: I moved to Porto"),
        episode("e2", "Ana: Hello\nassistant: Good morning"),
        episode("e3", '{"tide": 3}', "json"),
    ],
    "communities": [{"uuid": "c1", "name": "Harbour", "summary": "People of the harbour", "group_id": "ana",
                     "labels": []}],
    "community_edges": [{"uuid": "x", "source_node_uuid": "c1", "target_node_uuid": "n1", "group_id": "ana"}],
    "episodic_edges": [{"uuid": "y", "source_node_uuid": "e1", "target_node_uuid": "n1", "group_id": "ana"}],
}  # fmt: skip


@pytest.fixture(params=["file", "folder"])
def graph(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "file":
        file = tmp_path / "dump.json"
        file.write_text(json.dumps(GRAPH), "utf-8")
        return file
    folder = tmp_path / "dump"
    folder.mkdir()
    for name, rows in GRAPH.items():
        (folder / f"{name}.json").write_text(json.dumps(rows), "utf-8")
    return folder


def test_entities_dated_facts_and_episodes_are_imported(mine: Engine, graph: Path) -> None:
    assert recognise(graph) == "graphiti"
    report = import_foreign(mine, graph)
    assert (report.entities_new, report.observations_new) == (2, 5)
    assert (report.messages_new, report.notes_new) == (3, 1)
    assert report.bad == ("fact f3: One of its two nodes is missing.",)
    assert {each.what: each.count for each in report.no_place} == {
        "links from facts to their episodes": 1,
        "links from episodes to the entities they mention": 1,
    }

    hers = mine.scoped("ana")
    found = hers.graph.open_nodes(["Ana", "Porto"], history=True)
    ana = found.entities[0]
    assert (ana.type, ana.tags, str(ana.created_at)) == ("person", ("Sailor",), "2024-04-01 10:00:00+00:00")
    assert [(each.kind, each.content, each.in_force) for each in ana.observations] == [
        ("summary", "A skipper", True),
        ("attribute", "age: 41", True),
        ("fact", "Ana lives in Porto", False),
        ("fact", "Ana lives in Porto again", True),
        ("fact", "Ana knows someone", True),
    ]
    past, present = found.relations
    assert (past.type, past.context) == ("lives_in", "Ana lives in Porto")
    midnight = "-01-01 00:00:00+00:00"
    assert (str(past.since), str(past.until)) == (f"2020{midnight}", f"2023{midnight}")
    assert (str(present.since), present.until) == (f"2024{midnight}", None)
    turns = hers.sessions.turns("graphiti:ana")
    assert [(turn.speaker, turn.text) for turn in turns] == [
        ("Ana", "I moved to Porto"),
        (None, "Ana: Hello\nassistant: Good morning"),
        (None, '{"tide": 3}'),
    ]
    (community,) = hers.list().memories
    assert (community.text, community.about) == ("Harbour: People of the harbour", (ana.id,))
    assert not import_foreign(mine, graph).changed
