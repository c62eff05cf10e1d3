"""Letta's agent files, after its published schema: that of today, and the older one with a single agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from transfer_world import import_foreign

from recollect.engine import Engine
from recollect.transfer import recognise

pytest_plugins = ["transfer_stores"]

AT = "2025-10-31T22:56:56.459100+00:00"


def turn(role: str, *content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": list(content), "created_at": AT, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def send_call(words: str) -> dict[str, Any]:
    return {"id": "c", "function": {"name": "send_message", "arguments": json.dumps({"message": words})}}


MESSAGES = [
    turn("system", text("You are kind.")),
    turn("user", text(json.dumps({"type": "user_message", "message": "I moved to Porto", "time": "10 AM"}))),
    turn("user", text(json.dumps({"type": "heartbeat", "reason": "automated"}))),
    turn("assistant", {"type": "reasoning", "reasoning": "Say so."}, tool_calls=[send_call("Noted!")]),
    turn("tool", text("None"), tool_call_id="c"),
    turn("user", text("Thanks"), name="Ana"),
]
BLOCKS = [
    {"id": "block-0", "label": "human", "value": "Ana is allergic to walnuts", "description": "Who it is"},
    {"id": "block-1", "label": "persona", "value": ""},
]
AGENT: dict[str, Any] = {"name": "harbour", "system": "You are kind.", "messages": MESSAGES}
REST: dict[str, Any] = {"tools": [{"name": "search"}], "secrets": {"KEY": "hush"}}
NEW = {
    "agents": [{**AGENT, "id": "agent-0", "block_ids": ["block-0", "block-1"]}],
    "blocks": BLOCKS,
    "files": [{"id": "file-0", "file_name": "tides.txt", "content": "High water at six"}],
    "passages": [{"id": "passage-1", "text": "The archive is closed", "tags": ["hours"], "created_at": AT}],
    **REST,
}
OLD = {**AGENT, "core_memory": BLOCKS, "agent_type": "memgpt_agent", "version": "0.6", **REST}


@pytest.mark.parametrize("document", [NEW, OLD], ids=["new", "old"])
def test_blocks_messages_and_passages_come_along(
    mine: Engine, tmp_path: Path, document: dict[str, Any]
) -> None:
    file = tmp_path / "harbour.af"
    file.write_text(json.dumps(document, indent=2), "utf-8")
    assert recognise(file) == "letta"
    report = import_foreign(mine, file)
    assert (report.notes_new, report.messages_new, report.bad_count) == (3 if document is NEW else 1, 3, 0)
    assert {each.what: (each.count, each.examples) for each in report.no_place} == {
        "empty blocks of core memory": (1, ("persona",)),
        "system prompts": (1, ("harbour",)),
        "system messages": (1, ()),
        "tool messages": (1, ("None",)),
        "events that a server sent to the agent": (1, ()),
        "thoughts of the model": (1, ("Say so.",)),
        "tools": (1, ("search",)),
        "secrets": (1, ()),
    }

    agent = mine.scoped("", "harbour")
    (block,) = agent.list().memories
    assert (block.text, block.category, block.pinned) == ("Ana is allergic to walnuts", "core memory", True)
    assert (block.tags, block.metadata) == (("human",), {"description": "Who it is"})
    turns = agent.sessions.turns("letta:harbour")
    assert [(turn.role, turn.speaker, turn.text) for turn in turns] == [
        ("user", None, "I moved to Porto"),
        ("assistant", None, "Noted!"),
        ("user", "Ana", "Thanks"),
    ]
    assert str(turns[0].created_at).startswith("2025-10-31 22:56:56.459")
    if document is NEW:
        archived, tides = sorted(mine.list().memories, key=lambda note: note.category or "")
        assert (archived.text, archived.tags) == ("The archive is closed", ("hours",))
        assert (tides.text, tides.category) == ("High water at six", "file")


def test_a_later_export_numbers_its_rows_anew_and_brings_only_what_is_new(
    mine: Engine, tmp_path: Path
) -> None:
    file = tmp_path / "harbour.af"
    file.write_text(json.dumps(NEW), "utf-8")
    import_foreign(mine, file)
    block = {**BLOCKS[0], "id": "block-7", "value": "Ana is allergic to walnuts and hay"}
    agent = {**AGENT, "block_ids": ["block-7"], "messages": [*MESSAGES[4:], turn("user", text("Good night"))]}
    file.write_text(json.dumps({**NEW, "agents": [agent], "blocks": [block]}), "utf-8")
    later = import_foreign(mine, file)
    assert (later.notes_new, later.notes_changed, later.messages_new) == (0, 1, 1)
    (note,) = mine.scoped("", "harbour").list().memories
    assert note.text == "Ana is allergic to walnuts and hay"
    file.write_text(json.dumps(NEW["passages"]), "utf-8")
    assert recognise(file) == "letta"
