"""A session of the OpenAI Agents SDK: items come back exactly, and an agent recalls them in the next run."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from agents import Agent, Model, ModelResponse, RunConfig, Runner, SessionSettings, TResponseInputItem, Usage
from agents.items import TResponseOutputItem, TResponseStreamEvent
from agents.memory import Session
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from pages import check_page

import recollect
from recollect.domain.errors import InvalidInput, StoreUnavailable
from recollect.engine import Engine
from recollect_integrations.openai_agents import RecollectSession, memory_tools

ITEMS = cast(
    "list[TResponseInputItem]",
    [
        {"role": "user", "content": "What is the weather in Lisbon?"},
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "And here?"},
                {"type": "input_image", "image_url": "data:image/png;base64,AA=="},
            ],
        },
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "Ask."}],
            "encrypted_content": "x=",
        },
        {"type": "reasoning", "id": "rs_2", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Lisbon"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "sunny\0 22.5 °C"},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "It is sunny.", "annotations": [], "logprobs": []}],
        },
        {"role": "user", "content": ""},
        {"role": "user", "content": "What is the weather in Lisbon?"},
    ],
)


@pytest.fixture
def memory() -> Iterator[Engine]:
    with recollect.open(":memory:", model="none") as memory:
        yield memory


async def test_items_come_back_exactly_in_order_and_the_last_so_many(memory: Engine) -> None:
    session = RecollectSession("a talk", memory)
    assert isinstance(session, Session)
    assert await session.get_items() == []
    await session.add_items(ITEMS[:3])
    await session.add_items([])
    await session.add_items(ITEMS[3:])
    assert await session.get_items() == ITEMS
    assert await session.get_items(limit=2) == ITEMS[-2:]
    assert await session.get_items(limit=0) == []
    assert await session.get_items(limit=99) == ITEMS
    limited = RecollectSession("a talk", memory, session_settings=SessionSettings(limit=3))
    assert await limited.get_items() == ITEMS[-3:]
    assert await limited.get_items(limit=1) == ITEMS[-1:]
    assert await RecollectSession("another", memory).get_items() == []
    texts = [turn.text for turn in memory.sessions.turns("a talk")]
    assert texts[3:7] == ["(reasoning)", 'weather({"city": "Lisbon"})', "sunny\ufffd 22.5 °C", "It is sunny."]


async def test_more_items_than_a_page_come_back(memory: Engine) -> None:
    session = RecollectSession("long", memory, extract=False)
    many = cast("list[TResponseInputItem]", [{"role": "user", "content": f"item {n}"} for n in range(1_203)])
    await session.add_items(many)
    assert await session.get_items() == many
    assert await session.get_items(limit=1_100) == many[-1_100:]


async def test_what_is_taken_back_or_cleared_is_gone_with_its_notes_and_can_be_said_again(
    memory: Engine,
) -> None:
    session = RecollectSession("a talk", memory)
    own = cast("list[TResponseInputItem]", [{"role": "user", "content": "I am allergic to peanuts."}])
    await session.add_items([*ITEMS, *own])
    assert [note.text for note in memory.list().memories] == ["I am allergic to peanuts."]
    assert await session.pop_item() == own[0]
    assert memory.list().memories == ()
    assert await session.pop_item() == ITEMS[-1]
    assert await session.get_items() == ITEMS[:-1]
    await session.add_items(own)
    await session.clear_session()
    assert await session.get_items() == []
    assert memory.list().memories == ()
    assert await session.pop_item() is None
    await session.clear_session()
    await RecollectSession("nobody spoke", memory).clear_session()
    await session.add_items(ITEMS)
    assert await session.get_items() == ITEMS


async def test_agents_owners_and_other_programs_have_their_say(memory: Engine) -> None:
    memory.add_messages("a talk", [{"role": "assistant", "content": "Welcome"}, {"content": "Thanks"}])
    session = RecollectSession(" a talk ", memory)
    await session.add_items(ITEMS[:1])
    assert await session.get_items() == [
        {"role": "assistant", "content": "Welcome"},
        {"role": "user", "content": "Thanks"},
        ITEMS[0],
    ]
    assert await RecollectSession("a talk", memory.scoped("ana")).get_items() == []
    with pytest.raises(InvalidInput, match="session_id"):
        RecollectSession(" ", memory)


class ScriptedModel(Model):
    """Calls one tool, and answers with what the tool gave."""

    def __init__(self, tool: str, **arguments: str) -> None:
        self.call = ResponseFunctionToolCall(
            type="function_call", call_id=f"call {tool}", name=tool, arguments=json.dumps(arguments)
        )
        self.inputs: list[list[Any]] = []

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],  # noqa: A002  # the SDK's name
        *args: Any,
        **options: Any,
    ) -> ModelResponse:
        items = cast("list[Any]", input)
        self.inputs.append(items)
        output: TResponseOutputItem = self.call
        if "output" in items[-1]:
            text = ResponseOutputText(type="output_text", text=items[-1]["output"], annotations=[])
            output = ResponseOutputMessage(
                id="msg", type="message", role="assistant", status="completed", content=[text]
            )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **options: Any) -> AsyncIterator[TResponseStreamEvent]:
        raise NotImplementedError


async def say(model: Model, memory: Engine, session: str, text: str) -> str:
    agent = Agent("Assistant", model=model, tools=[*memory_tools(memory)])
    kept = RecollectSession(session, memory)
    done = await Runner.run(agent, text, session=kept, run_config=RunConfig(tracing_disabled=True))
    return str(done.final_output)


async def test_an_agent_remembers_in_one_run_and_recalls_in_the_next(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db") as memory:
        keeping = ScriptedModel("remember", text="Ana moved to Lisbon in May.")
        assert await say(keeping, memory, "monday", "I moved to Lisbon.") == "Kept."
    with recollect.open(tmp_path / "memory.db") as memory:
        asking = ScriptedModel("recall", query="Where does Ana live now?")
        assert "Lisbon" in await say(asking, memory, "tuesday", "Where do I live?")
        # Recalled memories are not captured again.
        assert "(recalled)" in [turn.text for turn in memory.sessions.turns("tuesday")]
        again = ScriptedModel("remember", text="Ana moved to Lisbon in May.")
        assert await say(again, memory, "monday", "As I said …") == "I knew that already."
        # The first run: what was said, the call, its result, the answer; then what is said now.
        kinds = [item.get("type", item.get("role")) for item in again.inputs[0]]
        assert kinds == ["user", "function_call", "function_call_output", "message", "user"]


async def test_a_recall_returns_neither_the_question_nor_earlier_recalls(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db") as memory:
        memory.remember("Ana moved to Lisbon in May.")
        question = "Where does Ana live now?"
        for day in ("monday", "tuesday", "tuesday"):
            said = await say(ScriptedModel("recall", query=question), memory, day, f"{question} Tell me.")
            assert "Ana moved to Lisbon in May." in said
            assert "recall(" not in said
            if day == "monday":
                assert "Tell me." not in said
        items = cast("list[Any]", await RecollectSession("monday", memory).get_items())
        calls = [json.loads(item["arguments"]) for item in items if "arguments" in item]
        assert calls == [{"query": question}]
        assert "recall" not in memory.recall(question, kinds=["message"]).hits[0].memory.text


async def test_the_model_is_told_why_a_text_was_not_kept(memory: Engine) -> None:
    assert "empty" in await say(ScriptedModel("remember", text=" "), memory, "monday", "Keep nothing.")


async def test_a_session_takes_a_path_and_the_tools_say_what_they_take(tmp_path: Path) -> None:
    for told in (ITEMS[:1], ITEMS[:2]):
        session = RecollectSession("monday", tmp_path / "memory.db")
        await session.add_items(told[-1:])
        assert await session.get_items() == told
        session.close()
        with pytest.raises(StoreUnavailable):
            await session.get_items()
    with pytest.raises(InvalidInput, match=r"recollect\.open"):
        memory_tools("memory.db")  # type: ignore[arg-type]
    with recollect.open(tmp_path / "memory.db") as memory:
        session = RecollectSession("monday", memory)
        session.close()
        assert await session.get_items() == ITEMS[:2]


def test_the_page_is_true(tmp_path: Path) -> None:
    check_page("openai_agents", "openai-agents", folder=tmp_path)
