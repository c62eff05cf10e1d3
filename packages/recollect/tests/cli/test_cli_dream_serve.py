"""`recollect serve` is the command that stays, so it is the one that dreams by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest
from conftest import PATIENCE_SECONDS
from dream_world import ASKED
from mcp_world import Served, call_tool_ok

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line", "dream_fixtures", "mcp_fixtures"]


@pytest.mark.anyio
async def test_a_server_dreams_after_an_answer_and_backs_up_first(night: CommandLine, served: Served) -> None:
    async with served.stdio(set_={"RECOLLECT_DREAM": "on"}) as client:
        await call_tool_ok(client, "recall", query=ASKED)
        with anyio.fail_after(PATIENCE_SECONDS):
            while not (dreams := night.json("dream", "history")["dreams"]):
                await anyio.sleep(0.05)
    assert [each["id"] for each in dreams] == [1]
    folder = night.store.with_name("memory.db-backups")
    (backup,) = folder.iterdir()
    assert night.json("dream", "history", "--store", str(backup))["dreams"] == []


@pytest.mark.anyio
async def test_a_server_whose_settings_say_nothing_does_not(night: CommandLine, served: Served) -> None:
    async with served.stdio() as client:
        await call_tool_ok(client, "recall", query=ASKED)
    assert night.json("dream", "history")["dreams"] == []
    assert not night.store.with_name("memory.db-backups").exists()
