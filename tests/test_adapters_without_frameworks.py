"""If a framework is missing or too old, the error names the command that installs it."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

import pytest

from recollect.domain.errors import MissingExtra, needs_extra

ADAPTERS = {
    "haystack": ("haystack", "haystack"),
    "langchain": ("langchain_core", "langchain"),
    "langgraph": ("langgraph", "langgraph"),
    "llama_index": ("llama_index", "llama-index"),
    "openai_agents": ("agents", "openai-agents"),
    "pydantic_ai": ("pydantic_ai_harness", "pydantic-ai"),
    "adk": ("google.adk", "adk"),
    "agent_framework": ("agent_framework", "agent-framework"),
    "anthropic": ("anthropic", "anthropic"),
    "crewai": ("crewai", "crewai"),
    "strands": ("strands", "strands"),
}


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_missing_framework_is_told_with_the_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    framework, extra = ADAPTERS[name]
    monkeypatch.setitem(sys.modules, framework, None)
    monkeypatch.delitem(sys.modules, f"recollect_integrations.{name}", raising=False)
    with pytest.raises(MissingExtra) as raised:
        import_module(f"recollect_integrations.{name}")
    assert f"pip install 'recollect-memory[{extra}]'" in str(raised.value)


def test_a_framework_that_is_too_old_is_told_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "strands", old := ModuleType("strands"))
    monkeypatch.setitem(sys.modules, "strands.memory", ModuleType("strands.memory"))
    monkeypatch.setattr(old, "memory", sys.modules["strands.memory"], raising=False)
    with pytest.raises(MissingExtra) as raised, needs_extra("The adapter for Strands", "strands"):
        from strands.memory import MemoryStore  # type: ignore[import-not-found]  # noqa: F401
    told = str(raised.value)
    assert told.startswith("The adapter for Strands cannot use what is installed (cannot import name 'Memory")
    assert told.endswith("run: pip install 'recollect-memory[strands]'")


def test_a_mistake_of_our_own_is_no_missing_package() -> None:
    with pytest.raises(ImportError) as raised, needs_extra("The server", "mcp"):
        from recollect.domain.records import Nothing  # type: ignore[attr-defined]  # noqa: F401
    assert not isinstance(raised.value, MissingExtra)
