"""An agent of Haystack that remembers in one run and recalls in the next; its retriever; its page."""

from __future__ import annotations

from pathlib import Path

import pytest
from haystack import Document, Pipeline
from haystack.components.agents import Agent
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools.component_tool import ComponentTool
from haystack.tools.from_function import create_tool_from_function
from haystack.tools.tool import Tool
from pages import check_page

import recollect
from recollect.domain.errors import InvalidInput
from recollect_integrations.haystack import RecollectDocumentRetriever, RecollectDocumentStore

YEAR = {"field": "meta.year", "operator": "==", "value": 2026}


def tools(store: RecollectDocumentStore) -> list[Tool]:
    def remember(text: str) -> str:
        """Keep something for later."""
        return f"{store.write_documents([Document(content=text)])} kept"

    recall = ComponentTool(
        RecollectDocumentRetriever(store, top_k=1), name="recall", description="Look it up."
    )
    return [create_tool_from_function(remember), recall]


def run(store: RecollectDocumentStore, call: ToolCall) -> str:
    """Run the agent with a scripted model that calls a tool and repeats its result."""

    def model(messages: list[ChatMessage]) -> ChatMessage:
        result = messages[-1].tool_call_result
        if result is None:
            return ChatMessage.from_assistant(tool_calls=[call])
        return ChatMessage.from_assistant(str(result.result))

    agent = Agent(chat_generator=MockChatGenerator(response_fn=model), tools=tools(store))
    return str(agent.run(messages=[ChatMessage.from_user("Hello")])["last_message"].text)


def test_an_agent_remembers_in_one_run_and_recalls_in_the_next(tmp_path: Path) -> None:
    first = RecollectDocumentStore(tmp_path / "memory.db")
    for text in ("Ana is allergic to peanuts.", "The kettle is broken."):
        assert run(first, ToolCall("remember", {"text": text})) == "1 kept"
    first.close()
    second = RecollectDocumentStore(tmp_path / "memory.db")
    found = run(second, ToolCall("recall", {"query": "what must Ana not eat?"}))
    assert "peanuts" in found
    assert "kettle" not in found
    second.close()
    with recollect.open(tmp_path / "memory.db") as memory:  # it is an ordinary memory
        assert memory.recall("what must Ana not eat?").hits[0].memory.text == "Ana is allergic to peanuts."


async def test_the_retriever_narrows_by_filters_and_by_collection_and_says_how_sure_it_is(
    tmp_path: Path,
) -> None:
    pipeline = Pipeline()
    store = RecollectDocumentStore(str(tmp_path / "memory.db"))
    pipeline.add_component("retriever", RecollectDocumentRetriever(store, filters=YEAR, top_k=2))
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=["recollect_integrations.*"])
    retriever = again.get_component("retriever")
    assert isinstance(retriever, RecollectDocumentRetriever)
    assert again.dumps() == pipeline.dumps()
    await retriever.document_store.write_documents_async(
        [
            Document(content=f"The ferry to Corfu left at {hour}", meta={"year": 2020 + hour})
            for hour in range(9)
        ]
    )
    retriever.document_store.engine.remember("The ferry to Corfu is a note")
    (found,) = retriever.run("when does the ferry leave?")["documents"]
    assert (found.content, found.meta) == ("The ferry to Corfu left at 6", {"year": 2026})
    assert found.score > 0
    other = await retriever.run_async("when does the ferry leave?", {**YEAR, "operator": "!="}, top_k=8)
    assert {each.meta["year"] for each in other["documents"]} == {*range(2020, 2029)} - {2026}
    assert 0 < other["confidence"] <= 1
    shy = RecollectDocumentRetriever(retriever.document_store, abstain=True)
    assert shy.run("Who won the chess tournament in Reykjavik in 1972?")["documents"] == []
    with pytest.raises(InvalidInput, match="top_k"):
        retriever.run("ferry", top_k=0)
    retriever.document_store.close()


def test_the_page_is_true(tmp_path: Path) -> None:
    check_page("haystack", "haystack-ai", folder=tmp_path)
