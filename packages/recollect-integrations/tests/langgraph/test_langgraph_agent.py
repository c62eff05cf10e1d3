"""An agent of LangGraph that remembers in one run, and recalls in the next, with a model that is scripted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.tools import ToolRuntime, tool
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pages import check_page

from recollect_integrations.langgraph import RecollectStore

NAMESPACE = ("memories", "ana")


class ScriptedModel(BaseChatModel):
    """Calls one tool with what the user said, then says what the tool answered."""

    tool_name: str

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        last = messages[-1]
        if isinstance(last, ToolMessage):
            answer = AIMessage(last.text)
        else:
            answer = AIMessage(
                "", tool_calls=[{"name": self.tool_name, "args": {"said": last.text}, "id": "1"}]
            )
        return ChatResult(generations=[ChatGeneration(message=answer)])


@tool
async def remember(said: str, runtime: ToolRuntime) -> str:
    """Keep what the user said."""
    assert runtime.store is not None
    await runtime.store.aput(NAMESPACE, said, {"fact": said, "by": "ana"})
    return "Remembered."


@tool
async def recall(said: str, runtime: ToolRuntime) -> str:
    """Look up memories that are relevant to the user's message."""
    assert runtime.store is not None
    (best,) = await runtime.store.asearch(NAMESPACE, query=said, filter={"by": "ana"}, limit=1)
    return str(best.value["fact"])


async def answer(path: Path, tool_name: str, said: str) -> str:
    """Return the answer of a new agent on a newly opened store."""
    with RecollectStore(path) as store:
        agent = create_agent(ScriptedModel(tool_name=tool_name), [remember, recall], store=store)
        state = await agent.ainvoke({"messages": [HumanMessage(said)]})
    return str(state["messages"][-1].text)


async def test_an_agent_recalls_in_a_later_run_what_it_remembered(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    for fact in (
        "I moved to Lisbon in March",
        "My sister breeds Icelandic horses",
        "I am allergic to peanuts",
    ):
        assert await answer(path, "remember", fact) == "Remembered."
    assert await answer(path, "recall", "Which city do I live in?") == "I moved to Lisbon in March"
    assert await answer(path, "recall", "Is there food that I must avoid?") == "I am allergic to peanuts"


def test_the_page_is_true(tmp_path: Path) -> None:
    check_page("langgraph", "langgraph", "langgraph-checkpoint", "langchain", folder=tmp_path)
