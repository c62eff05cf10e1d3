"""Calls as users write them. mypy and pyright check this file in their strict modes."""
# pyright: strict

from __future__ import annotations

import json
from datetime import UTC, datetime

import anyio
import pytest

import recollect
from recollect import Answer, Engine, Hit, InvalidInput, Memory, NewEntity, RecallOptions, Scope, Turn


def test_typical_calls_have_the_types_that_users_expect() -> None:
    with recollect.open(":memory:", model="none") as memory:
        note = memory.remember(
            "Ana moved to Lisbon", happened_at=datetime(2026, 5, 3, tzinfo=UTC), tags="home"
        )
        memory.remember_many(["Ana swims", {"text": "Ana rows", "tags": ["sport"]}])
        memory.add_messages("monday", [{"role": "user", "content": "Hello"}, Turn("Hi")])
        memory.create_entities([NewEntity("Ana", "person"), "Bo", {"name": "Cy", "observations": ["sings"]}])
        memory.graph.create_relations([("Ana", "knows", "Bo")])
        names: list[str] = [entity.name for entity in memory.graph.open_nodes(["Ana", "Bo"])]
        assert names == ["Ana", "Bo"]
        assert_answer(memory)
        found: Memory | None = memory.get(note.id)
        assert found is not None
        assert found.scope == Scope()
        assert "Lisbon" in memory.context("Where is Ana?", budget_tokens=500).text
        with pytest.raises(InvalidInput, match="0 to 1"):
            memory.update(note.id, importance=2)
        memory.supersede(note.id, "Ana moved to Porto")
        texts: list[str] = [each.text for each in memory.list(tags="home")]
        assert texts == ["Ana moved to Porto"]


def assert_answer(memory: Engine) -> None:
    options = RecallOptions(min_confidence=0.0)
    answer: Answer = memory.recall("Lisbon", limit=2, kinds="note", options=options)
    assert memory.recall("Lisbon", limit=2, kinds="note", options={"min_confidence": 0.0}) == answer
    first: Hit = answer[0]
    rest: tuple[Hit, ...] = answer[1:]
    assert first.memory.text == "Ana moved to Lisbon"
    assert len(answer) == 1 + len(rest)
    assert json.loads(json.dumps(answer.to_dicts()))[0]["id"] == first.memory.id


def test_typical_asynchronous_calls_have_the_types_that_users_expect() -> None:
    async def ask() -> list[str]:
        async with recollect.aio.open(":memory:", model="none") as memory:
            await memory.remember("Ana moved to Lisbon")
            assert list(await memory.scoped("ada").sessions.list()) == []
            return [hit.memory.text for hit in await memory.recall("Lisbon")]

    assert anyio.run(ask) == ["Ana moved to Lisbon"]
