"""How sure an answer is, through MCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mcp_world import call_tool_ok, texts_of

if TYPE_CHECKING:
    from mcp import Client

pytest_plugins = ["command_line", "mcp_fixtures"]
pytestmark = pytest.mark.anyio


async def test_an_answer_and_its_hits_say_how_likely_they_are(client: Client) -> None:
    await call_tool_ok(client, "remember", text="The spare key of the boathouse hangs behind the barometer")
    await call_tool_ok(client, "remember", text="Ingrid bakes rye bread for the street on Fridays")
    for text in ("Otto repairs clocks", "The ferry leaves at nine", "Lena studies law"):
        # Fewer than five texts do not show which cosines of an unknown model are high.
        await call_tool_ok(client, "remember", text=text)
    query = "Where does the spare key of the boathouse hang?"
    known = await call_tool_ok(client, "recall", query=query, limit=2)
    best, other = (hit["confidence"] for hit in known["hits"])
    assert best > 0.5 > other
    assert known["answer"] == ("likely" if best >= 0.75 else "possible")


async def test_without_a_limit_guesses_are_withheld_and_with_one_they_are_marked(client: Client) -> None:
    await call_tool_ok(client, "remember", text="The spare key of the boathouse hangs behind the barometer")
    await call_tool_ok(client, "remember", text="Ingrid bakes rye bread for the street on Fridays")
    silent = await client.call_tool("recall", {"query": "violin concerts"})
    said = "Nothing here seems to answer that; name a `limit` to see the nearest memories."
    assert said in " ".join(texts_of(silent))
    told = await call_tool_ok(client, "recall", query="violin concerts")
    assert (told["hits"], told["answer"]) == ([], "unlikely")
    nearest = await client.call_tool("recall", {"query": "violin concerts", "limit": 2})
    assert "(Nothing here seems to answer that; these are the nearest.)" in " ".join(texts_of(nearest))
    told = await call_tool_ok(client, "recall", query="violin concerts", limit=2)
    assert told["hits"]
    assert told["answer"] == "unlikely"


async def test_the_least_confidence_leaves_out_guesses(client: Client) -> None:
    await call_tool_ok(client, "remember", text="Ingrid bakes rye bread for the street on Fridays")
    told = await call_tool_ok(client, "recall", query="Which orchestra performed?", min_confidence=0.5)
    assert (told["hits"], told["answer"]) == ([], "unlikely")
