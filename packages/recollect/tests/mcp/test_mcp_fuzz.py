"""Whatever a client passes, it gets a result or a clear error, and nothing that was stored is lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from anyio.from_thread import start_blocking_portal
from conftest import PATIENCE_SECONDS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis_profiles import tries
from jsonschema import Draft202012Validator
from mcp import Client
from mcp_arguments import arguments
from mcp_world import call_tool_ok, texts_of

import recollect
from recollect.mcp.server import MemoryServer
from recollect.operations.catalogue import definitions, tools_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyio.from_thread import BlockingPortal
    from mcp_types import CallToolResult
    from mcp_world import Served

pytest_plugins = ["command_line", "mcp_fixtures"]
TOOLS = definitions()
UNEXPECTED = "failed unexpectedly"
# Calls that are meant to take something away; the others must leave every memory where it was.
TAKING = {name for name, tool in TOOLS.items() if tool["destructive"]}
KEPT = ("Ines keeps bees in Faro", "Otto mends clocks", "The ferry leaves at nine")


class Fuzzed:
    """A server in this process with some memories, and a client that stays connected."""

    def __init__(self, portal: BlockingPortal, client: Client, memory: recollect.Engine) -> None:
        self._portal = portal
        self._client = client
        self.memory = memory
        self.ids = tuple(memory.remember(text).id for text in KEPT)
        memory.create_entities(
            [{"name": "Marisol Vega", "entityType": "person", "observations": ["Drinks oolong"]}]
        )
        memory.graph.create_relations([("Marisol Vega", "leads", "Tidebook")], create_missing=True)

    def call(self, tool: str, given: dict[str, Any]) -> CallToolResult:
        async def called() -> CallToolResult:
            with anyio.fail_after(PATIENCE_SECONDS):
                return await self._client.call_tool(tool, given)

        return self._portal.call(called)

    def bring_back(self) -> None:
        for id_ in self.ids:
            memory = self.memory.get(id_)
            if memory is None or memory.deleted_at is not None:
                assert not self.call("restore", {"id": id_}).is_error

    def original_texts(self) -> tuple[str, ...]:
        """Return the original texts of the first memories that are not forgotten. Updates keep them."""
        found = map(self.memory.get, self.ids)
        return tuple(
            (*(former.text for former in memory.former), memory.text)[0]
            for memory in found
            if memory is not None and memory.deleted_at is None
        )


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    with recollect.open(tmp_path_factory.mktemp("fuzz") / "memory.db", model="hashing") as memory:
        server = MemoryServer(lambda: memory, tools_named("all")).server()
        with (
            start_blocking_portal() as portal,
            portal.wrap_async_context_manager(Client(server, mode="legacy")) as client,
        ):
            yield Fuzzed(portal, client, memory)
        assert not memory.upkeep.verify()


@pytest.mark.parametrize("tool", TOOLS)
@given(data=st.data())
@settings(
    max_examples=tries(15), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_any_arguments_get_a_result_or_a_clear_error(fuzzed: Fuzzed, tool: str, data: st.DataObject) -> None:
    given_ = data.draw(arguments(TOOLS[tool]["arguments"]))
    result = fuzzed.call(tool, given_)
    (text, *_) = texts_of(result)
    assert text
    assert UNEXPECTED not in text
    if result.is_error:
        assert len(text) < 2_000
    else:
        Draft202012Validator(TOOLS[tool]["result"]).validate(result.structured_content)
    if tool in TAKING:
        fuzzed.bring_back()
    assert fuzzed.original_texts() == KEPT


@pytest.mark.anyio
async def test_a_million_mistakes_are_answered_like_one(client: Client) -> None:
    with anyio.fail_after(PATIENCE_SECONDS):
        result = await client.call_tool("create_entities", {"entities": [1] * 1_000_000})
    (told,) = texts_of(result)
    assert told == (
        "create_entities: `entities`: there are 1,000,000 entries; pass at most 10,000. Nothing was done."
    )
    with anyio.fail_after(PATIENCE_SECONDS):
        result = await client.call_tool("recall", {"query": ["tea"] * 100_000})
    assert len(texts_of(result)[0]) < 500


@pytest.mark.anyio
async def test_spoiled_calls_over_stdio_leave_the_server_and_its_memories_whole(served: Served) -> None:
    calls: list[tuple[str, dict[str, Any]]] = []

    @given(data=st.data())
    @settings(
        max_examples=tries(40), derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    def collect(data: st.DataObject) -> None:
        tool = data.draw(st.sampled_from(sorted(set(TOOLS) - TAKING)))
        given_ = data.draw(arguments(TOOLS[tool]["arguments"]))
        calls.append((tool, json.loads(json.dumps(given_))))

    collect()
    async with served.stdio("--tools", "all") as client:
        ids = [(await call_tool_ok(client, "remember", text=text))["id"] for text in KEPT]
        for tool, given_ in calls:
            with anyio.fail_after(PATIENCE_SECONDS):
                result = await client.call_tool(tool, given_)
            assert texts_of(result)
            assert UNEXPECTED not in texts_of(result)[0]
        for id_, text in zip(ids, KEPT, strict=True):
            found = await call_tool_ok(client, "history", id=id_)
            assert found["events"][0]["detail"] == text
    with recollect.open(served.recollect.store, model="hashing") as memory:
        assert not memory.upkeep.verify()
