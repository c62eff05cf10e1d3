"""Control and escape characters of stored texts are shown, not sent: over MCP and in a terminal."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from mcp_world import said

if TYPE_CHECKING:
    from command_line import CommandLine
    from mcp_world import Served

pytest_plugins = ["command_line", "mcp_fixtures"]

# Clears a screen in two ways, turns what follows around, and whispers to a model.
EVIL = "kettle \x1b[2J\x9b2J\u202eback\U000e0041"
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\U000e0000-\U000e007f]")


@pytest.mark.anyio
async def test_no_text_over_mcp_holds_a_control_character(served: Served) -> None:
    async with served.inside("all") as client:
        entity = {"name": EVIL, "entityType": EVIL, "observations": [EVIL]}
        calls: list[tuple[str, dict[str, Any]]] = [
            ("create_entities", {"entities": [entity]}),
            ("remember", {"text": EVIL, "source": EVIL, "tags": [EVIL]}),
            ("add_messages", {"session": EVIL, "messages": [{"content": EVIL, "speaker": EVIL}]}),
            ("recall", {"query": EVIL}),
            ("context", {"query": EVIL, "session": EVIL}),
            ("read_graph", {}),
            ("search_nodes", {"query": "kettle"}),
            ("search_semantic", {"query": "kettle"}),
            ("history", {"id": 1}),
            ("why_not", {"query": "tea", "name": EVIL}),
            ("open_nodes", {"names": [f"{EVIL} {EVIL}"]}),
            ("set_status", {"entityName": f"no {EVIL}", "status": "paused"}),  # refused: the error names it
        ]
        for tool, given in calls:
            result = await client.call_tool(tool, given)
            assert not HIDDEN.search("".join(said(result))), tool
        graph = await client.call_tool("read_graph", {})
        assert json.loads(said(graph)[0])["entities"] == [entity]
        read = (await client.read_resource("memory://knowledge-graph")).contents[0]
        assert not HIDDEN.search(read.text)  # type: ignore[union-attr]  # it is text
        told = (await client.get_prompt("recall", {"topic": EVIL})).messages[0].content
        assert not HIDDEN.search(told.text)  # type: ignore[union-attr]  # it is text


def test_a_terminal_a_pipe_and_json_show_control_characters(recollect: CommandLine) -> None:
    recollect("remember", EVIL, "--source", EVIL)
    recollect("add", EVIL, "--type", "thing", "-o", EVIL)
    styles = re.compile(r"\x1b\[[\d;]*m")
    for typed in (["recall", "kettle"], ["context", "kettle"], ["show", "1"], ["graph"], ["find", "kettle"]):
        for look in (["--color"], ["--no-color"], ["--json"]):
            shown = styles.sub("", recollect(*typed, *look).stdout)
            assert not HIDDEN.search(shown), (typed, look)
            assert "\\u001b" in shown, (typed, look)
    assert recollect.json("show", "1")["texts"][0]["text"] == EVIL
