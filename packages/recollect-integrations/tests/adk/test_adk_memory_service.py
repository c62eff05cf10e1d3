"""Google ADK: sessions of an agent, remembered in one run and found in the next."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from google.adk.agents import Agent
from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.sessions.session import Session
from google.adk.tools.load_memory_tool import load_memory_tool
from google.genai.types import Blob, Content, FunctionCall, Part
from pages import check_page

import recollect
from recollect.domain.errors import InvalidInput
from recollect_integrations.adk import RecollectMemoryService

NOON = 1_790_000_000.25


@pytest_asyncio.fixture
async def service() -> AsyncIterator[RecollectMemoryService]:
    made = RecollectMemoryService(recollect.open(":memory:", model="hashing"), extract=False)
    yield made
    await made.close()


def event(id_: str, text: str, author: str = "user", at: float = NOON, **part: object) -> Event:
    role = "user" if author == "user" else "model"
    content = Content(role=role, parts=[Part.model_validate({"text": text, **part})])
    return Event(id=id_, author=author, timestamp=at, content=content)


def session(*events: Event, id_: str = "monday", user: str = "ana") -> Session:
    return Session(id=id_, app_name="diary", user_id=user, events=list(events))


async def search_memories(
    service: RecollectMemoryService, query: str, user: str = "ana"
) -> list[MemoryEntry]:
    return (await service.search_memory(app_name="diary", user_id=user, query=query)).memories


async def test_a_session_that_is_added_again_brings_only_what_is_new(service: RecollectMemoryService) -> None:
    first = event("1", "My horse is called Bruno")
    await service.add_session_to_memory(session(first))
    second = event("2", "Bruno is a fine name", author="diary_agent", at=NOON + 60)
    for _ in range(2):
        await service.add_session_to_memory(session(first, second))
    turns = await service.memory.scoped("ana", "diary").sessions.turns("monday")
    assert [(turn.text, turn.role, turn.speaker) for turn in turns] == [
        ("My horse is called Bruno", "user", None),
        ("Bruno is a fine name", "assistant", "diary_agent"),
    ]
    entries = await search_memories(service, "what is the horse called?")
    assert (entries[0].author, entries[0].content) == ("user", first.content)
    assert entries[0].timestamp == "2026-09-21T14:13:20.250000+00:00"
    assert entries[0].custom_metadata["session"] == "monday"


async def test_users_and_apps_see_only_their_own(service: RecollectMemoryService) -> None:
    await service.add_session_to_memory(session(event("1", "My horse is called Bruno")))
    assert await search_memories(service, "horse", user="bo") == []
    other = await service.search_memory(app_name="shop", user_id="ana", query="horse")
    assert other.memories == []
    assert len(await search_memories(service, "horse")) == 1


async def test_events_come_back_with_all_their_parts_and_metadata(service: RecollectMemoryService) -> None:
    picture = Part(inline_data=Blob(data=b"\x00\xff", mime_type="image/png"))
    call = Part(function_call=FunctionCall(name="look", args={"at": "horse"}))
    seen = Event(
        id="1", author="user", content=Content(role="user", parts=[Part(text="Bruno, a horse"), picture])
    )
    silent = Event(id="2", author="diary_agent", content=Content(role="model", parts=[call]))
    await service.add_events_to_memory(
        app_name="diary",
        user_id="ana",
        events=[seen, silent, Event(author="user")],
        custom_metadata={"n": [1]},
    )
    (entry,) = await search_memories(service, "horse")
    assert entry.content == seen.content
    assert entry.custom_metadata["n"] == [1]


async def test_a_memory_with_parts_has_the_text_that_it_was_edited_to(
    service: RecollectMemoryService,
) -> None:
    parts = [Part(text="Ana rides"), Part(text="a horse")]
    kept = [MemoryEntry(content=Content(role="user", parts=parts))]
    await service.add_memory(app_name="diary", user_id="ana", memories=kept)
    (entry,) = await search_memories(service, "Ana rides")
    assert entry.content.parts == parts
    await service.memory.scoped("ana", "diary").update(int(entry.id or ""), text="Ana rides a bicycle")
    (entry,) = await search_memories(service, "Ana rides")
    assert entry.content.parts == [Part(text="Ana rides a bicycle")]


async def test_thoughts_of_the_model_are_not_searched(service: RecollectMemoryService) -> None:
    thought = Part(text="the user rambles", thought=True)
    said = Event(id="1", author="a", content=Content(role="model", parts=[thought, Part(text="Bruno it is")]))
    await service.add_session_to_memory(session(said))
    turns = await service.memory.scoped("ana", "diary").sessions.turns("monday")
    assert [turn.text for turn in turns] == ["Bruno it is"]
    assert (await search_memories(service, "Bruno"))[0].content == said.content


async def test_memories_are_added_replaced_and_deleted(service: RecollectMemoryService) -> None:
    def entry(text: str, **fields: object) -> MemoryEntry:
        return MemoryEntry.model_validate(
            {"content": Content(role="user", parts=[Part(text=text)]), **fields}
        )

    for text in ("Ana rides on Sundays", "Ana rides on Mondays"):
        await service.add_memory(
            app_name="diary",
            user_id="ana",
            memories=[
                entry(text, id="riding", timestamp="2026-05-01T12:00:00Z", custom_metadata={"sure": True})
            ],
        )
    for _ in range(2):
        await service.add_memory(
            app_name="diary", user_id="ana", memories=[entry("Bo paints")], custom_metadata={"of": "Bo"}
        )
    (riding,) = await search_memories(service, "riding rides")
    assert riding.content.parts is not None
    assert (riding.content.parts[0].text, riding.custom_metadata["sure"]) == ("Ana rides on Mondays", True)
    assert riding.timestamp == "2026-05-01T12:00:00+00:00"
    assert len(await search_memories(service, "paints")) == 1
    with pytest.raises(InvalidInput, match="needs text to be found"):
        await service.add_memory(app_name="diary", user_id="ana", memories=[entry("")])
    with pytest.raises(InvalidInput, match="2026-05-01T12:00:00Z"):
        await service.add_memory(app_name="diary", user_id="ana", memories=[entry("x", timestamp="noon")])

    await service.delete_memory(app_name="diary", user_id="bo", memory_id=riding.id)
    assert len(await search_memories(service, "rides")) == 1
    await service.delete_memory(app_name="diary", user_id="ana", memory_id=riding.id)
    assert await search_memories(service, "rides") == []
    with pytest.raises(InvalidInput, match="that a search returned"):
        await service.delete_memory(app_name="diary", user_id="ana", memory_id="x")


async def test_what_was_deleted_does_not_come_back_with_its_session(service: RecollectMemoryService) -> None:
    told = session(event("1", "My horse is called Bruno"), event("2", "I like rain"))
    await service.add_session_to_memory(told)
    (entry,) = await search_memories(service, "horse")
    await service.delete_memory(app_name="diary", user_id="ana", memory_id=entry.id)
    await service.add_session_to_memory(told)
    assert await search_memories(service, "horse Bruno") == []
    assert len(await search_memories(service, "rain")) == 1


async def test_nothing_is_found_for_an_empty_query(service: RecollectMemoryService) -> None:
    await service.add_session_to_memory(session(event("1", "My horse is called Bruno")))
    assert await search_memories(service, " ") == []


class ScriptedLlm(BaseLlm):
    """Asks its memory about a question, and answers with what it was given; to all else it says Noted."""

    model: str = "scripted"

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        last = (llm_request.contents[-1].parts or [Part()])[0]
        if last.function_response is not None:
            memories = (last.function_response.response or {})["result"].memories
            part = Part(text=" / ".join(memory.content.parts[0].text for memory in memories) or "No idea.")
        elif (last.text or "").endswith("?"):
            part = Part(function_call=FunctionCall(name="load_memory", args={"query": last.text}))
        else:
            part = Part(text="Noted.")
        yield LlmResponse(content=Content(role="model", parts=[part]))


async def said_in_a_run(store: Path, prompt: str) -> str:
    """One run of a program; only the store outlives it."""
    service = RecollectMemoryService(store, limit=1)
    sessions = InMemorySessionService()
    agent = Agent(name="companion", model=ScriptedLlm(), tools=[load_memory_tool])
    runner = Runner(app_name="diary", agent=agent, session_service=sessions, memory_service=service)
    talk = await sessions.create_session(app_name="diary", user_id="ana")
    message = Content(role="user", parts=[Part(text=prompt)])
    texts = [
        part.text
        async for happened in runner.run_async(user_id="ana", session_id=talk.id, new_message=message)
        for part in (happened.content.parts or [] if happened.content else [])
        if part.text
    ]
    whole = await sessions.get_session(app_name="diary", user_id="ana", session_id=talk.id)
    assert whole is not None
    await service.add_session_to_memory(whole)
    await runner.close()
    await service.close()
    return texts[-1]


async def test_an_agent_knows_in_the_next_run_what_it_was_told_in_this_one(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    assert await said_in_a_run(store, "I moved to Lisbon and take the tram to work") == "Noted."
    assert "tram" in await said_in_a_run(store, "How do I get to work?")


def test_the_page_runs(tmp_path: Path) -> None:
    check_page("adk", "google-adk", folder=tmp_path)
