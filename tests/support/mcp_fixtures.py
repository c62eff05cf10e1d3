"""The fixtures of the tests through MCP.

A plugin apart from `mcp_world`, which the tests import from: pytest wants to import its plugins first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from command_line import CommandLine
    from mcp import Client
    from mcp_world import Door, Served


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def served(recollect: CommandLine, tmp_path: Path) -> Served:
    from mcp_world import Served

    return Served(recollect, tmp_path)


@pytest.fixture
async def client(served: Served) -> AsyncIterator[Client]:
    """A client of a server in this process that offers every tool."""
    async with served.inside("all") as client:
        yield client


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """A server over HTTP for all the tests of a file: those that ask it something and leave it as it was."""
    from command_line import CommandLine
    from mcp_world import Served

    folder = tmp_path_factory.mktemp("door")
    settings = folder / "config.toml"
    settings.touch()
    environment: dict[str, str | None] = {
        "RECOLLECT_STORE": str(folder / "memory.db"),
        "RECOLLECT_CONFIG": str(settings),
        "RECOLLECT_MODEL": "hashing",
        "RECOLLECT_TIME_ZONE": "UTC",
    }
    with Served(CommandLine(folder / "memory.db", environment), folder).http() as door:
        yield door
