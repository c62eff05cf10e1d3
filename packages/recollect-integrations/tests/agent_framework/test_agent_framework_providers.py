"""Microsoft Agent Framework: an agent's memory across sessions, and the history of each session."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest_asyncio
from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    SessionContext,
    tool,
)
from pages import check_page

import recollect
from recollect.aio import AsyncEngine
from recollect_integrations.agent_framework import RecollectContextProvider, RecollectHistoryProvider


@pytest_asyncio.fixture
async def memory() -> AsyncIterator[AsyncEngine]:
    async with recollect.aio.open(":memory:", model="hashing") as opened:
        yield opened


def plain(messages: Sequence[Message]) -> list[dict[str, Any]]:
    return [message.to_dict() for message in messages]


async def test_messages_come_back_as_they_were(memory: AsyncEngine) -> None:
    provider = RecollectHistoryProvider(memory)
    call = Content.from_function_call(call_id="1", name="weather", arguments={"place": "Lisbon"})
    result = Content.from_function_result(call_id="1", result="sunny")
    talk = [
        Message("user", ["What is the weather?"], author_name="Ana", message_id="m1"),
        Message("assistant", [call]),
        Message("tool", [result]),
        Message("assistant", ["It is", "sunny."], additional_properties={"mood": {"glad": True}}),
        Message("user", ["  thanks\n"]),
        Message("assistant", [Content.from_uri("data:image/png;base64,AAAA", media_type="image/png")]),
    ]
    await provider.save_messages("monday", talk)
    assert plain(await provider.get_messages("monday")) == plain(talk)
    assert await provider.get_messages("tuesday") == []
    assert await provider.get_messages(None) == []
    await provider.save_messages(None, talk[:1])
    assert plain(await provider.get_messages(None)) == plain(talk[:1])


async def test_a_talk_that_is_handed_over_whole_is_stored_once(memory: AsyncEngine) -> None:
    provider = RecollectHistoryProvider(memory)
    first = [Message("user", ["Hello"]), Message("assistant", ["Hi"])]
    await provider.save_messages("s", first)
    whole = [*first, Message("user", ["Hello"]), Message("assistant", ["Hi again"])]
    await provider.save_messages("s", whole)
    await provider.save_messages("s", [])
    assert [message.text for message in await provider.get_messages("s")] == [
        "Hello",
        "Hi",
        "Hello",
        "Hi again",
    ]
    # Equal texts are separate messages; a message is identified by its id.
    await provider.save_messages("s", [Message("user", ["ok"])])
    await provider.save_messages("s", [Message("user", ["ok"])])
    for _ in range(2):
        await provider.save_messages("s", [Message("user", ["ok"], message_id="7")])
    assert [message.text for message in await provider.get_messages("s")][4:] == ["ok", "ok", "ok"]


async def test_forgotten_messages_are_not_loaded(memory: AsyncEngine) -> None:
    provider = RecollectHistoryProvider(memory)
    await provider.save_messages("s", [Message("user", ["My code is 4711"]), Message("assistant", ["Noted"])])
    await memory.forget([(await memory.sessions.turns("s"))[0].id])
    assert [message.text for message in await provider.get_messages("s")] == ["Noted"]


class ScriptedClient(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """Calls a tool if it has one, then says how many messages it read, and the last of what it remembers."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[Message] = []

    async def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **kwargs: Any
    ) -> ChatResponse:
        self.read = list(messages)
        if options.get("tools") and messages[-1].role != "tool":
            call = Content.from_function_call(call_id="1", name="weather", arguments={"place": "Lisbon"})
            return ChatResponse(messages=[Message("assistant", [call])])
        known = [message.text for message in messages if message.text.startswith("Memories that may be")]
        return ChatResponse(messages=[Message("assistant", [known[-1] if known else "Noted."])])


async def said_in_a_run(store: Path, prompt: str, session: str) -> tuple[str, ScriptedClient]:
    """One run of a program; only the store outlives it."""
    async with recollect.aio.open(store) as memory:
        client = ScriptedClient()
        agent = Agent(
            client, context_providers=[RecollectHistoryProvider(memory), RecollectContextProvider(memory)]
        )
        response = await agent.run(prompt, session=AgentSession(session_id=session))
        return response.text, client


async def test_an_agent_remembers_in_one_run_and_knows_in_the_next(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    said, _ = await said_in_a_run(store, "I moved to Lisbon and take the tram to work", "monday")
    assert said == "Noted."
    said, client = await said_in_a_run(store, "Where did I move?", "tuesday")
    assert "Lisbon" in said
    reminder = next(message for message in client.read if message.text.startswith("Memories that may be"))
    assert reminder.additional_properties["_attribution"]["origin_session_ids"] == ["monday"]
    # No memory is relevant to the prompt, so none is given.
    said, _ = await said_in_a_run(store, "Thanks!", "wednesday")
    assert said == "Noted."
    # Back in the first session, the history holds its own messages, each once.
    _, client = await said_in_a_run(store, "Good evening", "monday")
    assert [message.text for message in client.read] == [
        "I moved to Lisbon and take the tram to work",
        "Noted.",
        "Good evening",
    ]


@tool(approval_mode="never_require")
def weather(place: str) -> str:
    """The weather at a place."""
    return f"sunny in {place}"


async def test_calls_of_tools_are_history_too(memory: AsyncEngine) -> None:
    session = AgentSession(session_id="s")
    agent = Agent(ScriptedClient(), tools=[weather], context_providers=[RecollectHistoryProvider(memory)])
    await agent.run("How is the weather?", session=session)
    client = ScriptedClient()
    again = Agent(client, context_providers=[RecollectHistoryProvider(memory)])
    await again.run("And now?", session=AgentSession(session_id="s"))
    assert [message.role for message in client.read] == ["user", "assistant", "tool", "assistant", "user"]
    assert client.read[1].contents[0].name == "weather"
    assert client.read[2].contents[0].result == "sunny in Lisbon"


async def test_a_provider_may_read_without_keeping(memory: AsyncEngine) -> None:
    provider = RecollectContextProvider(memory, keep=False, budget_tokens=50)
    await memory.remember("Ana takes the tram to work")
    client = ScriptedClient()
    agent = Agent(client, context_providers=[provider])
    await agent.run("How does Ana get to work?", session=AgentSession())
    assert "tram" in client.read[0].text
    assert await memory.sessions.list() == []
    empty = SessionContext(input_messages=[Message("user", [])])
    await provider.before_run(agent=agent, session=AgentSession(), context=empty, state={})
    assert empty.context_messages == {}


def test_the_page_runs(tmp_path: Path) -> None:
    check_page("agent_framework", "agent-framework-core", folder=tmp_path)
