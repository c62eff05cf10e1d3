"""An agent of LangChain whose talk is kept in one run, and recalled by another agent in the next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import create_retriever_tool
from pages import check_page

import recollect
from recollect_integrations.langchain import RecollectChatMessageHistory, RecollectRetriever


class LookingUpModel(BaseChatModel):
    """Looks up what the user said last, then says what was found."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        last = messages[-1]
        if isinstance(last, ToolMessage):
            answer = AIMessage(last.text or "I do not know yet.")
        else:
            call = {"name": "memory", "args": {"query": last.text}, "id": f"call {len(messages)}"}
            answer = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=answer)])


def talk(path: Path, session: str, said: str) -> list[BaseMessage]:
    """One turn of a new agent on a memory that is opened for it; the talk is kept."""
    with recollect.open(path) as memory:
        history = RecollectChatMessageHistory(memory, session)
        retriever = RecollectRetriever(memory=memory, k=1, kinds=["note"], abstain=True)
        agent = create_agent(LookingUpModel(), [create_retriever_tool(retriever, "memory", "What is known.")])
        before = history.messages
        # LangChain declares a list of either, not of both.
        messages: list[Any] = [*before, HumanMessage(said)]
        messages = agent.invoke({"messages": messages})["messages"]
        history.add_messages(messages[len(before) :])
        return messages


def test_an_agent_recalls_in_a_later_run_what_was_said_in_another(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    first = talk(path, "monday", "I am allergic to peanuts.")
    assert first[-1].text == "I do not know yet."
    second = talk(path, "tuesday", "What am I allergic to?")
    assert "peanuts" in second[-1].text
    third = talk(path, "monday", "Which nuts are bad for me?")
    assert third[: len(first)] == first


def test_the_page_is_true(tmp_path: Path) -> None:
    check_page("langchain", "langchain-core", "langchain-tests", folder=tmp_path)
