"""Whose memories commands and tools show: an owner without an agent sees those of all their agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from mcp_world import done

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import CommandLine
    from mcp import Client
    from mcp_world import Served

pytest_plugins = ["command_line", "mcp_fixtures"]


@pytest.fixture
def house(recollect: CommandLine) -> CommandLine:
    for owner, agent in (("ana", ""), ("ana", "cook"), ("bob", "cook"), ("", "")):
        whose = ["--owner", owner, "--agent", agent]
        recollect("remember", f"kettle of {owner or 'nobody'} {agent or 'alone'}", *whose)
        recollect("add", f"Kettle of {owner or 'nobody'}", "-o", f"seen by {agent or 'none'}", *whose)
    return recollect


def _texts(found: Any) -> set[str]:
    return {hit["memory"]["text"] for hit in found["hits"] if hit["memory"]["kind"] == "note"}


def test_without_an_agent_commands_show_all_of_the_owners(house: CommandLine) -> None:
    search = ["search", "kettle", "--limit", "20"]
    assert _texts(house.json(*search, "--owner", "ana")) == {"kettle of ana alone", "kettle of ana cook"}
    assert _texts(house.json(*search, "--owner", "ana", "--agent", "cook")) == {"kettle of ana cook"}
    assert _texts(house.json(*search, RECOLLECT_OWNER="bob")) == {"kettle of bob cook"}
    assert _texts(house.json(*search)) == {"kettle of nobody alone"}
    search = ["search", "kettle", "--owner", "ana", "--agent", "cook"]
    for found in house.json(*search)["hits"]:
        shown = house.json("show", str(found["memory"]["id"]), "--owner", "ana")
        assert found["memory"]["id"] in {each["id"] for each in (*shown["texts"], *shown["entities"])}
        house("show", str(found["memory"]["id"]), "--owner", "bob", status=1)


@pytest.mark.parametrize("format_", ["official", "full"])
def test_export_of_an_owner_holds_theirs_alone(house: CommandLine, tmp_path: Path, format_: str) -> None:
    file = tmp_path / "ana.jsonl"
    house("export", str(file), "--format", format_, "--owner", "ana")
    text = file.read_text(encoding="utf-8")
    assert text.count('"Kettle of ana"') == 2
    assert "bob" not in text
    assert "nobody" not in text
    assert ("kettle of ana cook" in text) == (format_ == "full")
    house("export", str(file), "--format", format_, "--owner", "ana", "--agent", "cook", "--overwrite")
    assert file.read_text(encoding="utf-8").count('"Kettle of ana"') == 1


def test_without_an_agent_tools_show_all_of_the_owners(house: CommandLine, served: Served) -> None:
    async def ask(client: Client) -> tuple[list[str], dict[str, Any]]:
        found = await done(client, "recall", query="kettle", limit=20, kinds=["note"])
        return [hit["text"] for hit in found["hits"]], await done(client, "stats")

    texts, stats = served.visit(ask, "--owner", "ana", "--tools", "all")
    assert sorted(texts) == ["kettle of ana alone", "kettle of ana cook"]
    assert (stats["notes"], stats["entities"], stats["store"]["observations"]) == (2, 2, 2)
    texts, stats = served.visit(ask, "--owner", "ana", "--agent", "cook", "--tools", "all")
    assert texts == ["kettle of ana cook"]
    assert (stats["notes"], stats["entities"], stats["store"]["observations"]) == (1, 1, 1)
