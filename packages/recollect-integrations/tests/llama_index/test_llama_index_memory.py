"""A memory block within LlamaIndex's own `Memory` and agent, the retriever, and the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory
from llama_index.core.storage.chat_store.base_db import MessageStatus
from pages import check_page

import recollect
from recollect.domain.errors import InvalidInput
from recollect.engine import Engine
from recollect_integrations.llama_index import RecollectMemoryBlock, RecollectNodeRetriever


@pytest.fixture
def memory() -> Iterator[Engine]:
    with recollect.open(":memory:", model="none") as memory:
        yield memory


def agent(prompts: list[str]) -> FunctionAgent:
    """Its model says nothing, and notes what it was asked."""

    def scripted(messages: Sequence[ChatMessage], **options: Any) -> ChatMessage:
        prompts.append("\n".join(message.content or "" for message in messages))
        return ChatMessage(role="assistant", content="I see.")

    return FunctionAgent(llm=MockFunctionCallingLLM(response_generator=scripted))


def history(memory: Engine, session: str, **options: Any) -> Memory:
    return Memory.from_defaults(
        session_id=session, memory_blocks=[RecollectMemoryBlock(memory=memory)], **options
    )


async def test_an_agent_remembers_in_one_run_and_recalls_in_the_next(tmp_path: Path) -> None:
    prompts: list[str] = []
    with recollect.open(tmp_path / "memory.db") as memory:
        short = history(memory, "monday", token_limit=24, chat_history_token_ratio=0.5, token_flush_size=5)
        for said in ("I am allergic to peanuts.", "The weather is fine today.", "Let us talk about trains."):
            await agent(prompts).run(said, memory=short)
        # Turns beyond the limit were moved to the block, each once.
        turns = [turn.text for turn in memory.sessions.turns("monday")]
        assert turns[:2] == ["I am allergic to peanuts.", "I see."]
        assert len(turns) + len(await short.aget_all(status=MessageStatus.ACTIVE)) == 6
    with recollect.open(tmp_path / "memory.db") as memory:
        await agent(prompts).run(
            "What must I not eat, given my allergies?", memory=history(memory, "tuesday")
        )
        assert "allergic to peanuts" in prompts[-1]
        await agent(prompts).run("Thanks!", memory=history(memory, "wednesday"))
        assert "<memory>" not in prompts[-1]  # a prompt that needs no memory gets none


async def test_the_block_keeps_what_has_words_and_is_asked_with_what_came_before(memory: Engine) -> None:
    block = RecollectMemoryBlock(memory=memory, extract=False)
    assert await block.aget([]) == await block.aget([ChatMessage(role="user", content=" ")]) == ""
    memory.remember("Otto feeds his parrot at noon")
    await block.aput(
        [
            ChatMessage(role="user", content="My parrot is called Otto"),
            ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": []}),
            ChatMessage(role="tool", content="found nothing"),
        ],
        session_id="zoo",
    )
    await block.aput([ChatMessage(role="user", content="Without a session")])
    assert [(turn.role, turn.text) for turn in memory.sessions.turns("zoo")] == [
        ("user", "My parrot is called Otto"),
        ("tool", "found nothing"),
    ]
    assert [session.name for session in memory.sessions.list()] == ["llama-index", "zoo"]
    asked = [ChatMessage(role="user", content=said) for said in ("I am Otto", "when do I feed my parrot?")]
    known = await block.aget(asked, session_id="another")
    assert "at noon" in known
    lines = "first\nsecond\nthird"
    assert await block.atruncate(lines, 1) == "first\nsecond"
    assert await block.atruncate(lines, 1_000) is None


async def test_memories_of_any_kind_are_nodes(memory: Engine) -> None:
    memory.create_entities([{"name": "Ada", "type": "person", "observations": ["sails a boat"]}])
    memory.remember("The boat is red", tags=["boats"])
    retriever = RecollectNodeRetriever(memory, similarity_top_k=5)
    found = await retriever.aretrieve("boat")
    assert {each.text for each in found} == {"Ada (person)\nsails a boat", "The boat is red"}
    assert [each.score for each in found] == sorted((each.score or 0 for each in found), reverse=True)
    (tagged,) = RecollectNodeRetriever(memory, tags=["boats"]).retrieve("boat")
    assert (tagged.metadata["kind"], tagged.metadata["tags"]) == ("note", ["boats"])


def test_a_path_is_refused_with_what_to_pass() -> None:
    with pytest.raises(InvalidInput, match=r"recollect\.open"):
        RecollectNodeRetriever("memory.db")  # type: ignore[arg-type]


def test_the_page_is_true(tmp_path: Path) -> None:
    check_page("llama_index", "llama-index-core", folder=tmp_path)
