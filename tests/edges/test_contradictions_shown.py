"""What contradicts what, on the command line and through MCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mcp_world import done, said

if TYPE_CHECKING:
    from command_line import CommandLine
    from mcp_world import Served

pytest_plugins = ["command_line", "mcp_fixtures"]

OLD, NEW = "Ana lives in Lisbon.", "Ana lives in Porto."


def test_remember_names_what_it_contradicts_and_the_command_that_settles_it(recollect: CommandLine) -> None:
    recollect("remember", OLD)
    shown = recollect("remember", NEW).stdout
    assert f"Seems to contradict #1: “{OLD}”" in shown
    assert "recollect supersede 1 2" in shown
    assert "Nearly repeats" not in shown
    again = recollect.json("remember", "Ana lives in Faro.")
    assert {each["id"] for each in again["contradicts"]} == {1, 2}


def test_a_hit_says_what_it_is_older_or_newer_than(recollect: CommandLine) -> None:
    recollect("remember", OLD)
    recollect("remember", NEW)
    first, second = recollect("recall", "where does Ana live?").stdout.splitlines()
    assert first.split("\t")[1] == "2"
    assert first.endswith("newer than #1")
    assert second.endswith("older than #2")
    hits = recollect.json("recall", "where does Ana live?")["hits"]
    assert [(each["id"], each["is_newer"]) for hit in hits for each in hit["conflicts_with"]] == [
        (1, False),
        (2, True),
    ]


def test_observe_names_what_it_contradicts(recollect: CommandLine) -> None:
    recollect("add", "Ana", "-o", "Lives in Lisbon")
    shown = recollect("observe", "Ana", "Lives in Porto").stdout
    assert "#2 seems to contradict #1: “Lives in Lisbon”" in shown
    command = "recollect observe Ana 'Lives in Porto' --supersedes '#1'"
    assert command in shown
    recollect("observe", "Ana", "Lives in Porto", "--supersedes", "#1")
    (entity,) = recollect.json("show", "Ana")["entities"]
    assert [each["content"] for each in entity["observations"] if each["superseded_at"] is None] == [
        "Lives in Porto"
    ]


@pytest.mark.anyio
async def test_tools_say_what_contradicts_what(served: Served) -> None:
    async with served.inside("all") as client:
        await done(client, "remember", text=OLD)
        remembered = await client.call_tool("remember", {"text": NEW})
        assert f'It seems to contradict #1: "{OLD}"' in " ".join(said(remembered))
        recalled = await client.call_tool("recall", {"query": "where does Ana live?"})
        assert f'"{NEW}" (newer than #1)' in " ".join(said(recalled))
        assert f'"{OLD}" (older than #2)' in " ".join(said(recalled))
        told = await done(client, "recall", query="where does Ana live?")
        assert [each["id"] for each in told["hits"][0]["conflicts_with"]] == [1]
        context = await done(client, "context", query="where does Ana live?")
        assert 'older than "' in context["text"]
        report = await done(client, "consolidation_report")
        assert [each["command"] for each in report["contradictions"]] == ["recollect supersede 1 2"]
        # What the remark proposes works.
        await done(client, "remember", text=NEW, supersedes=1)
        told = await done(client, "recall", query="where does Ana live?")
        assert [hit["text"] for hit in told["hits"]] == [NEW]
