"""Notices for a graph larger than a page: exactly one for every change of any process."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
import pytest
from conftest import PATIENCE_SECONDS
from mcp_world import call_tool_ok

import recollect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp import Client
    from mcp_world import Served

pytest_plugins = ["command_line", "mcp_fixtures"]
pytestmark = [
    pytest.mark.anyio,
    # The SDK's own client still subscribes in the old way, and says that newer servers will not.
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]
GRAPH = "memory://knowledge-graph"
LOG = "memory://entity/Log"
ADA = {"name": "Ada", "entityType": "person", "observations": ["sails"]}


class Heard:
    """The notices that a client received, in order."""

    def __init__(self) -> None:
        self._told: asyncio.Queue[str] = asyncio.Queue()

    async def __call__(self, message: object) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            await self._told.put(str(message.params.uri))

    async def next(self) -> str:
        with anyio.fail_after(PATIENCE_SECONDS):
            return await self._told.get()

    @property
    def waiting(self) -> int:
        return self._told.qsize()


@asynccontextmanager
async def subscribed(served: Served, uri: str) -> AsyncIterator[tuple[Client, Heard]]:
    """A client of a graph whose first entity fills the page that the resource shows."""
    heard = Heard()
    with recollect.open(served.recollect.store, model="none") as memory:
        days = [f"day {day}: a calm sea, and nothing to tell of it" for day in range(5_000)]
        memory.create_entities([{"name": "Log", "type": "log", "observations": days}])
        memory.create_entities([{"name": f"Buoy {number}", "type": "buoy"} for number in range(300)])
    async with served.inside(mode="legacy", message_handler=heard) as client:
        await client.subscribe_resource(uri)
        yield client, heard


async def test_every_change_of_a_graph_that_fills_more_than_a_page_is_told_and_nothing_else(
    served: Served,
) -> None:
    passed = [{"from": "Ada", "to": "Buoy 7", "relationType": "passed"}]
    changes: list[tuple[str, dict[str, Any]]] = [
        ("create_entities", {"entities": [ADA]}),
        ("add_observations", {"observations": [{"entityName": "Buoy 7", "contents": ["rings"]}]}),
        ("create_relations", {"relations": passed}),
        ("delete_relations", {"relations": passed}),
        ("delete_entities", {"entityNames": ["Buoy 7"]}),
    ]
    async with subscribed(served, GRAPH) as (client, heard):
        await call_tool_ok(client, "remember", text="Ada wrote from Porto")
        await call_tool_ok(client, "recall", query="Porto")
        await call_tool_ok(client, "open_nodes", names=["Buoy 1"])
        for tool, given in changes:
            await call_tool_ok(client, tool, **given)
            assert await heard.next() == GRAPH
            # One for each change of the graph, and none came before them.
            assert heard.waiting == 0
        for line in (("observe", "Buoy 9", "rings"), ("delete", "Buoy 9")):
            assert served.recollect.process(*line).returncode == 0
            assert await heard.next() == GRAPH


async def test_an_entity_that_fills_more_than_a_page_tells_of_its_last_observation(served: Served) -> None:
    async with subscribed(served, LOG) as (client, heard):
        observed = [{"entityName": "Log", "contents": ["day 5000: a storm"]}]
        await call_tool_ok(client, "add_observations", observations=observed)
        assert await heard.next() == LOG
