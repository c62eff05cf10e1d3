"""A client that calls without end, for a test to kill: `python killed_client.py PROGRAM ARGUMENT …`.

It prints what was acknowledged, and when a large call has begun. The server inherits
standard error, so that it ends when both are gone.
"""

from __future__ import annotations

import json
import os
import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client


def tell(**what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


async def main(command: str, arguments: list[str]) -> None:
    parameters = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
    async with Client(stdio_client(parameters)) as client:
        number = 0
        while True:
            text = f"The ferry number {number} left the harbour"
            result = await client.call_tool("remember", {"text": text})
            assert result.structured_content is not None
            tell(id=result.structured_content["id"], text=text)
            rows = [
                {"name": f"Buoy {number}-{row}", "entityType": "buoy", "observations": ["is red", "rings"]}
                for row in range(300)
            ]
            tell(begun=number)
            await client.call_tool("create_entities", {"entities": rows})
            tell(batch=number)
            number += 1


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2:])
