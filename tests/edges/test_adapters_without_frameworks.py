"""An adapter whose framework is not installed names the command that installs it."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest

from recollect.extras import MissingExtra

ADAPTERS = {
    "adk": ("google.adk", "adk"),
    "agent_framework": ("agent_framework", "agent-framework"),
    "anthropic": ("anthropic", "anthropic"),
    "crewai": ("crewai", "crewai"),
    "strands": ("strands", "strands"),
    "strands_sessions": ("strands", "strands"),
}


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_missing_framework_is_told_with_the_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    framework, extra = ADAPTERS[name]
    monkeypatch.setitem(sys.modules, framework, None)
    monkeypatch.delitem(sys.modules, f"recollect.integrations.{name}", raising=False)
    with pytest.raises(MissingExtra) as raised:
        import_module(f"recollect.integrations.{name}")
    assert f"pip install 'recollect-memory[{extra}]'" in str(raised.value)
