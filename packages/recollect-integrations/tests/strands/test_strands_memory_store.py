"""Strands: a memory store behind a memory manager, with agents that remember and are reminded."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from pages import check_page
from strands import Agent
from strands.memory import AddMessagesContext, InvocationTrigger, MemoryManager
from strands.models.model import Model
from strands.types.content import Message, Messages
from strands.types.streaming import StreamEvent

import recollect
from recollect.domain.errors import InvalidInput
from recollect_integrations.strands import RecollectMemoryStore


@pytest_asyncio.fixture
async def store() -> AsyncIterator[RecollectMemoryStore]:
    made = RecollectMemoryStore(recollect.open(":memory:", model="hashing"))
    yield made
    await made.close()


def message(role: Any, text: str) -> Message:
    return {"role": role, "content": [{"text": text}]}


async def test_entries_come_back_best_first_with_their_metadata(store: RecollectMemoryStore) -> None:
    await store.add("Ana likes green tea", {"topic": "drinks", "deep": {"n": [1, None]}})
    await store.add("Bo paints boats")
    entries = await store.search("what tea does Ana like?", {"max_search_results": 2})
    assert entries[0].content == "Ana likes green tea"
    assert entries[0].metadata is not None
    found = entries[0].metadata.pop("recollect")
    assert entries[0].metadata == {"topic": "drinks", "deep": {"n": [1, None]}}
    assert found["kind"] == "note"
    assert 0 <= found["confidence"] <= 1
    assert len(await store.search("what tea does Ana like?", {"max_search_results": 1})) == 1
    assert await store.search("  ") == []


async def test_what_is_added_again_is_stored_once(store: RecollectMemoryStore) -> None:
    first = [await store.add("Ana likes tea"), await store.add("Ana likes tea", {"n": 1})]
    again = [await store.add("Ana likes tea"), await store.add("Ana likes tea", {"n": 1})]
    assert first == again
    assert await store.add("Ana likes tea", {"n": 2}) not in first


async def test_a_batch_that_is_handed_over_again_is_stored_once(store: RecollectMemoryStore) -> None:
    batch = [message("user", "ok"), message("assistant", "Noted."), message("user", "ok")]
    for _ in range(2):
        await store.add_messages(batch, AddMessagesContext([0, 1, 4]))
    assert [turn.text for turn in await store.memory.sessions.turns("strands")] == ["ok", "Noted.", "ok"]
    # Another agent's messages are numbered from 0 as well.
    await store.initialize()
    await store.add_messages(batch[:1], AddMessagesContext([0]))
    await store.add_messages(
        [{"role": "user", "content": [{"toolUse": {"name": "x", "input": {}, "toolUseId": "1"}}]}]
    )
    turns = await store.memory.sessions.turns("strands")
    assert [(turn.text, turn.role) for turn in turns[3:]] == [("ok", "user")]
    assert not any(turn.undated for turn in turns)


async def test_wrong_arguments_are_told(store: RecollectMemoryStore) -> None:
    with pytest.raises(InvalidInput, match="at least 1"):
        await store.search("tea", {"max_search_results": 0})
    with pytest.raises(InvalidInput, match="not JSON"):
        await store.add("tea", {"when": object()})
    with pytest.raises(InvalidInput, match="visible character"):
        await store.add(" ")
    store.writable = False
    with pytest.raises(InvalidInput, match="writable=True"):
        await store.add("tea")
    with pytest.raises(InvalidInput, match="at least 1"):
        RecollectMemoryStore(":memory:", max_search_results=0)


class ScriptedModel(Model):
    """A scripted model: it repeats the `<memory>` part of its prompt, or else stores the user's message."""

    def __init__(self, adds: bool) -> None:
        self.adds = adds

    def update_config(self, **model_config: Any) -> None:
        pass

    def get_config(self) -> dict[str, Any]:
        return {}

    def structured_output(self, *args: Any, **options: Any) -> AsyncGenerator[dict[str, Any], None]:
        raise NotImplementedError

    async def stream(
        self, messages: Messages, *args: Any, **options: Any
    ) -> AsyncGenerator[StreamEvent, None]:
        blocks = messages[-1]["content"]
        said = " ".join(block["text"] for block in blocks if "text" in block)
        yield {"messageStart": {"role": "assistant"}}
        if self.adds and "toolResult" not in blocks[0]:
            entries = json.dumps({"entries": [said]})
            yield {"contentBlockStart": {"start": {"toolUse": {"name": "add_memory", "toolUseId": "1"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": entries}}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "tool_use"}}
            return
        known = said.partition("<memory>")[2].partition("</memory>")[0] or "Noted."
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": known}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


def said_in_a_run(path: Path, prompt: str, *, adds: bool = False, **options: Any) -> str:
    """One run of a program; only the store outlives it."""
    with recollect.open(path) as memory:
        store = RecollectMemoryStore(memory, max_search_results=1, **options)
        manager = MemoryManager(stores=[store], add_tool_config=True)
        agent = Agent(model=ScriptedModel(adds), memory_manager=manager, callback_handler=None)
        return str(agent(prompt))


def test_an_agent_is_reminded_of_what_it_added_in_an_earlier_run(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    assert (
        said_in_a_run(path, "Ana moved to Lisbon and takes the tram to work", adds=True).strip() == "Noted."
    )
    assert "takes the tram" in said_in_a_run(path, "How does Ana get to work?")


def test_an_agent_is_reminded_of_what_was_said_in_an_earlier_run(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    each_turn: Any = {"trigger": InvocationTrigger()}
    said_in_a_run(path, "My sister Ines moved to Porto in May", extraction=each_turn)
    assert "Porto" in said_in_a_run(path, "Where does my sister Ines live?")
    with recollect.open(path) as memory:
        assert [turn.role for turn in memory.sessions.turns("strands")] == ["user", "assistant"]


def test_the_page_runs(tmp_path: Path) -> None:
    check_page("strands", "strands-agents", folder=tmp_path)
