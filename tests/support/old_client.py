"""A client of the SDK's first major version, for a test to run in an environment of its own.

`python old_client.py stdio PROGRAM ARGUMENT …` or `python old_client.py http URL TOKEN`; it prints one JSON
document. What it calls is there in both major versions, so that it can be checked like the other files.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

GRAPH: Any = "memory://knowledge-graph"
ADA = {"name": "Ada", "entityType": "person", "observations": ["sails", "週末は灯台まで歩く"]}


@asynccontextmanager
async def streams(how: str, *where: str) -> AsyncIterator[tuple[Any, Any]]:
    if how == "stdio":
        parameters = StdioServerParameters(command=where[0], args=list(where[1:]), env=dict(os.environ))
        async with stdio_client(parameters) as (incoming, outgoing):
            yield incoming, outgoing
    else:
        module = importlib.import_module("mcp.client.streamable_http")
        headers = {"Authorization": f"Bearer {where[1]}"}
        async with module.streamablehttp_client(where[0], headers=headers) as (incoming, outgoing, _):
            yield incoming, outgoing


async def main(*asked: str) -> None:
    heard: list[Any] = []
    woken = anyio.Event()

    async def hear(message: Any) -> None:
        if hasattr(message, "root"):
            heard.append(message.root.model_dump(mode="json", by_alias=True))
            woken.set()

    async with (
        streams(*asked) as (incoming, outgoing),
        ClientSession(incoming, outgoing, message_handler=hear) as session,
    ):
        told: dict[str, Any] = {"sdk": version("mcp")}
        told["initialize"] = plain(await session.initialize())
        told["tools"] = plain(await session.list_tools())
        told["resources"] = plain(await session.list_resources())
        await session.subscribe_resource(GRAPH)
        told["created"] = plain(await session.call_tool("create_entities", {"entities": [ADA]}))
        with anyio.fail_after(600):
            await woken.wait()
        told["wrong"] = plain(await session.call_tool("recall", {}))
        told["recalled"] = plain(await session.call_tool("recall", {"query": "who sails?"}))
        told["graph"] = plain(await session.read_resource(GRAPH))
        told["prompt"] = plain(await session.get_prompt("recall", {"topic": "Ada"}))
        told["heard"] = heard
    sys.stdout.write(json.dumps(told))


def plain(result: Any) -> Any:
    return result.model_dump(mode="json", by_alias=True)


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])
