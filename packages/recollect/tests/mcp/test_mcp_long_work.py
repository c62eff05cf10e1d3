"""Long work: how far it is, and what becomes of it when the caller gives up."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import pytest
from long_work import Steps, Toil
from mcp import Client
from mcp_world import call_tool_ok, offering, texts_of

import recollect
from recollect.mcp.server import MemoryServer
from recollect.operations.operation import OperationCall

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp_world import Served


pytest_plugins = ["command_line", "mcp_fixtures"]
pytestmark = pytest.mark.anyio
MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])


class Heard:
    """The progress that a client receives for its call."""

    def __init__(self) -> None:
        self.steps: list[tuple[float, float | None]] = []

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.steps.append((progress, total))


def buoys(count: int) -> list[dict[str, Any]]:
    return [{"name": f"Buoy {n}", "entityType": "buoy", "observations": [f"light {n}"]} for n in range(count)]


@pytest.mark.parametrize(
    ("transport", "mode"), [("inside", "auto"), ("inside", "legacy"), ("stdio", "auto"), ("http", "legacy")]
)
async def test_a_long_write_tells_how_far_it_is(served: Served, transport: str, mode: str) -> None:
    heard = Heard()
    async with served.over(transport, mode=mode) as client:
        await client.call_tool("create_entities", {"entities": buoys(150)}, progress_callback=heard)
        await call_tool_ok(client, "read_graph", limit=1)
    # Each buoy is two texts to embed: its name, and its light.
    assert [total for _, total in heard.steps] == [heard.steps[-1][0]] * len(heard.steps)
    assert len(heard.steps) > 1
    assert heard.steps == sorted(set(heard.steps))


@pytest.mark.parametrize(
    "tool", ["consolidation_report", "find_duplicate_observations", "find_split_candidates"]
)
async def test_long_reading_tells_how_far_it_is_and_never_goes_back(served: Served, tool: str) -> None:
    heard = Heard()
    async with served.inside("all") as client:
        rows = buoys(450)
        rows[0]["observations"] = [f"{'red' if n % 2 else 'white'} light of day {n}" for n in range(40)]
        await call_tool_ok(client, "create_entities", entities=rows)
        await call_tool_ok(client, "remember", text="The white light is out")
        result = await client.call_tool(tool, {}, progress_callback=heard)
        assert not result.is_error, texts_of(result)
        await call_tool_ok(client, "stats")
    # A page is 200 entities.
    assert [done_ for done_, _ in heard.steps[:3]] == [200, 400, 450]
    assert list(heard.steps[0]) == [200, 450]
    assert [done_ for done_, _ in heard.steps] == sorted({done_ for done_, _ in heard.steps})


@asynccontextmanager
async def toiling(
    served: Served, toil: Toil, mode: str, *, reads: bool
) -> AsyncIterator[tuple[Client, recollect.Engine]]:
    with (
        recollect.open(served.recollect.store, model="hashing") as memory,
        offering("toil", toil.operation(reads=reads)),
    ):
        async with Client(MemoryServer(lambda: memory, ["toil"]).server(), mode=mode) as client:
            yield client, memory


async def give_up(client: Client, toil: Toil) -> None:
    """Call, and cancel once the work has begun."""
    async with anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "toil", {})
        await toil.until(toil.begun)
        toil.given_up.set()
        group.cancel_scope.cancel()


@MODES
async def test_a_write_that_was_cancelled_is_done_to_its_end(served: Served, mode: str) -> None:
    toil = Toil(steps_left=20)
    async with toiling(served, toil, mode, reads=False) as (client, memory):
        await give_up(client, toil)
        await toil.until(toil.ended)
        assert [hit.memory.text for hit in memory.recall("work").hits] == ["The work was done to its end"]


class Asking(Toil):
    """Asks the store again and again, and never says how far it is."""

    def run(self, call: OperationCall) -> Steps:
        """Ask in steps."""
        try:
            while True:
                call.engine.counts()
                self.begun.set()
        finally:
            self.ended.set()


@MODES
@pytest.mark.parametrize("asks", [False, True])
async def test_reading_that_was_cancelled_stops_at_its_next_step_or_question_to_the_store(
    served: Served, mode: str, asks: bool
) -> None:
    # More steps than could be done while anybody waits.
    toil = Asking(0) if asks else Toil(steps_left=10**12)
    async with toiling(served, toil, mode, reads=True) as (client, memory):
        await give_up(client, toil)
        await toil.until(toil.ended)
        assert not memory.recall("work").hits


async def test_reading_has_a_deadline(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.mcp.server.CALL_SECONDS", 0.05)
    toil = Asking(0)
    async with toiling(served, toil, "auto", reads=True) as (client, _):
        result = await client.call_tool("toil", {})
        assert result.is_error
        assert "given up after" in texts_of(result)[0]
        await toil.until(toil.ended)
