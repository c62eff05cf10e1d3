"""Texts that a memory refuses (blank, too long, control characters) still come back from an adapter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from agent_framework import Message
from google.adk.events.event import Event
from google.genai.types import Content, Part
from haystack import Document as HaystackDocument
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage
from llama_index.core.base.llms.types import ChatMessage
from strands.types.session import Session, SessionAgent, SessionMessage, SessionType

import recollect
from recollect.domain.limits import QUERY_LIMIT, TEXT_LIMIT
from recollect.engine import Engine
from recollect_integrations.adk import RecollectMemoryService
from recollect_integrations.agent_framework import RecollectHistoryProvider
from recollect_integrations.haystack import RecollectDocumentRetriever, RecollectDocumentStore
from recollect_integrations.langchain import (
    RecollectChatMessageHistory,
    RecollectRetriever,
    RecollectVectorStore,
)
from recollect_integrations.langgraph import RecollectStore
from recollect_integrations.llama_index import RecollectMemoryBlock, RecollectNodeRetriever
from recollect_integrations.openai_agents import RecollectSession
from recollect_integrations.pydantic_ai import RecollectHarnessStore
from recollect_integrations.strands import RecollectMemoryStore, RecollectSessionRepository

AWKWARD = {
    "nothing": "",
    "spaces": " \n",
    "a zero-width space": "\u200b",
    "a NUL": "\0",
    "a NUL in a text": "tram\0line",
    "a long text": "tram " * (TEXT_LIMIT // 5) + "stop",
}
SPACED = " cafe\u0301 "


@pytest.fixture
def memory() -> Iterator[Engine]:
    with recollect.open(":memory:", model="none") as memory:
        # A session of the same name under another agent is a different conversation.
        memory.scoped("", "another").add_messages(SPACED, [{"content": "Hello"}], extract=False)
        yield memory


async def langgraph(memory: Engine, text: str) -> Any:
    store = RecollectStore(memory)
    store.put(("a",), "k", {"text": text})
    item = store.get(("a",), "k")
    return None if item is None else item.value["text"]


async def langchain_documents(memory: Engine, text: str) -> Any:
    store = RecollectVectorStore(memory)
    store.add_documents([Document(text)], ids=["1"])
    return store.get_by_ids(["1"])[0].page_content


async def langchain_history(memory: Engine, text: str) -> Any:
    history = RecollectChatMessageHistory(memory, SPACED)
    history.add_messages([HumanMessage(text)])
    (message,) = history.messages
    return message.content


async def haystack(memory: Engine, text: str) -> Any:
    store = RecollectDocumentStore(memory)
    store.write_documents([HaystackDocument(content=text)])
    return store.filter_documents()[0].content


async def openai_agents(memory: Engine, text: str) -> Any:
    session: Any = RecollectSession(SPACED, memory)
    await session.add_items([{"role": "user", "content": text}])
    (item,) = await session.get_items()
    return item["content"]


async def pydantic_ai(memory: Engine, text: str) -> Any:
    store = RecollectHarnessStore(memory)
    await store.write("file", text, expected_version=None)
    read = await store.read("file", max_chars=2 * TEXT_LIMIT)
    return None if read is None else read.content


async def agent_framework(memory: Engine, text: str) -> Any:
    provider = RecollectHistoryProvider(memory)
    await provider.save_messages(SPACED, [Message("user", [text])])
    (message,) = await provider.get_messages(SPACED)
    return message.text


async def strands_sessions(memory: Engine, text: str) -> Any:
    repository = RecollectSessionRepository(memory)
    repository.create_session(Session(SPACED, SessionType.AGENT))
    repository.create_agent(SPACED, SessionAgent("a", {}, {}))
    repository.create_message(SPACED, "a", SessionMessage({"role": "user", "content": [{"text": text}]}, 0))
    (message,) = repository.list_messages(SPACED, "a")
    return message.message["content"][0]["text"]


@pytest.mark.parametrize(
    "stored",
    [
        langgraph,
        langchain_documents,
        langchain_history,
        haystack,
        openai_agents,
        pydantic_ai,
        agent_framework,
        strands_sessions,
    ],
)
@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD)
async def test_any_text_comes_back_exactly(
    memory: Engine, stored: Callable[[Engine, str], Any], text: str
) -> None:
    assert await stored(memory, text) == text


@pytest.mark.parametrize("text", list(AWKWARD.values())[:-1], ids=list(AWKWARD)[:-1])
async def test_what_is_captured_unasked_is_never_refused(memory: Engine, text: str) -> None:
    service = RecollectMemoryService(memory, extract=False)
    said = Event(author="user", content=Content(role="user", parts=[Part(text=text)]))
    await service.add_events_to_memory(app_name="app", user_id="ana", events=[said])
    store = RecollectMemoryStore(memory)
    await store.add_messages([{"role": "user", "content": [{"text": text}]}])
    await RecollectMemoryBlock(memory=memory).aput([ChatMessage(role="user", content=text)])
    shown = ["tram\ufffdline"] if "tram" in text else []
    everything = memory.scoped("ana", "app").sessions.turns("adk")
    assert [turn.text for turn in everything] == shown
    for session in ("strands", "llama-index"):
        assert [turn.text for turn in memory.sessions.turns(session)] == shown


async def test_a_prompt_that_is_longer_than_a_query_is_searched_for(memory: Engine) -> None:
    query = "tram " * QUERY_LIMIT
    store = RecollectDocumentStore(memory)
    store.write_documents([HaystackDocument(content="The tram stops here")])
    assert len(RecollectDocumentRetriever(store).run(query)["documents"]) == 1
    assert len(RecollectRetriever(memory=memory).invoke(query)) == 1
    assert len(RecollectNodeRetriever(memory).retrieve(query)) == 1
    assert len(await RecollectNodeRetriever(memory).aretrieve(query)) == 1
    assert len(await RecollectMemoryStore(memory, abstain=False).search(query)) == 1
    service = RecollectMemoryService(memory, abstain=False)
    assert len((await service.search_memory(app_name="", user_id="", query=query)).memories) == 1
    documents = RecollectVectorStore(memory)
    documents.add_texts(["The tram stops here"])
    assert len(documents.similarity_search(query)) == 1
    files = RecollectHarnessStore(memory)
    await files.write("file", "The tram stops here", expected_version=None)
    bounds = {"limit": 5, "max_files": 9, "max_chars": 500, "max_file_chars": 500}
    assert len((await files.search("", query, **bounds)).matches) == 1
