"""`recollect serve` on a memory of its own, the SDK's client at its doors, good arguments for every tool."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import anyio
import httpx2
import pytest
from conftest import PATIENCE_SECONDS
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

import recollect
from recollect.mcp import server as mcp_server
from recollect.mcp.server import MemoryServer
from recollect.operations.catalogue import tools_named

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence

    import mcp_types as types
    from command_line import CommandLine

    from recollect.mcp.stdio import LazyEngine
    from recollect.operations.operation import Operation

Arguments = dict[str, Any]
SESAME = "sesame"
OFFICIAL_EXPORT = Path(__file__).parents[2] / "packages/recollect/tests/frozen" / "export-official.jsonl"

MARISOL = "Marisol Vega"
LEADS = {"from": MARISOL, "to": "Tidebook", "relationType": "leads"}
SUNDAYS = {"content": "Sails on Sundays", "supersedes": "Sails"}
TEA_PART = {"name": "Marisol’s tea", "observations": ["Drinks oolong"]}
TURN = {"role": "user", "content": "I love rye bread", "at": "2026-03-01T09:00:00Z"}

GOOD: tuple[tuple[str, Arguments | Callable[[Any], Arguments]], ...] = (
    (
        "remember",
        {
            "text": "Marisol Vega moves to Porto in May",
            "category": "plans_goals",
            "importance": 0.9,
            "happened_at": "2026-01-02",
            "tags": ["porto"],
            "source": "a letter",
        },
    ),
    ("remember", {"text": "Marisol Vega moves to Lisbon in May", "supersedes": 1}),
    (
        "recall",
        {"query": "where does Marisol move?", "limit": 5, "kinds": ["note"], "include_superseded": True},
    ),
    ("feedback", {"ids": [2], "helpful": True, "query": "Where does Marisol move?"}),
    ("context", {"query": "Marisol", "budget_tokens": 500}),
    ("context", {"messages": [TURN]}),
    (
        "create_entities",
        {
            "entities": [
                {"name": MARISOL, "entityType": "person", "observations": ["Sails", "週末は灯台まで歩く"]},
                {"name": "Tidebook", "entityType": "project", "observations": [], "status": "activo"},
            ]
        },
    ),
    ("create_relations", {"relations": [LEADS]}),
    ("add_observations", {"observations": [{"entityName": MARISOL, "contents": ["Drinks oolong", SUNDAYS]}]}),
    ("read_graph", {"limit": 10, "budget_tokens": 5000}),
    ("search_nodes", {"query": "oolong", "limit": 5}),
    ("open_nodes", {"names": [MARISOL, "Nobody"]}),
    ("open_nodes", {"names": [MARISOL], "kinds": ["generic"], "include_superseded": True}),
    ("search_semantic", {"query": "who drinks tea?", "limit": 3}),
    ("add_messages", {"session": "tea", "messages": [{**TURN, "at": "2026-03-01"}]}),
    ("update", {"id": 2, "importance": 0.7, "pinned": True}),
    ("history", {"id": 2}),
    ("explain", {"query": "oolong", "limit": 3}),
    ("why_not", {"query": "oolong", "name": "Tidebook"}),
    ("list_memories", {"kinds": ["note", "entity"], "limit": 2}),
    ("neighbours", {"name": MARISOL, "depth": 2}),
    ("find_paths", {"from": MARISOL, "to": "Tidebook", "depth": 3}),
    ("set_status", {"entityName": "Tidebook", "status": "paused"}),
    ("end_relation", {**LEADS, "at": "2026-03-01"}),
    ("forget", {"query": "where does Marisol move?"}),
    ("forget", {"ids": [2]}),
    ("restore", {"id": 2}),
    ("stats", {}),
    (
        "add_reflection",
        {"content": "Ask Marisol first", "about": [MARISOL], "author": "Otto", "mood": "doubt"},
    ),
    ("search_reflections", {"query": "whom to ask", "author": "Otto", "limit": 3}),
    ("add_reflection", {"content": "The talk about tea went well", "session": "tea", "relation": LEADS}),
    ("search_reflections", {"query": "the talk", "session": "tea"}),
    ("migrate", {"source_path": str(OFFICIAL_EXPORT)}),
    ("clear_session", {"session": "tea"}),
    ("find_duplicate_observations", {"entity_name": MARISOL, "threshold": 0.5}),
    ("consolidation_report", {"stale_days": 30}),
    ("find_split_candidates", {}),
    ("analyze_entity_split", {"entity_name": MARISOL}),
    ("propose_entity_split", {"entity_name": MARISOL}),
    ("execute_entity_split", {"entity_name": MARISOL, "approved_splits": [TEA_PART]}),
    ("undo_entity_split", lambda last: {"undo": last["undo"]}),
    ("dream", {"without": ["prune"]}),
    ("undo_dream", lambda last: {"id": last["id"]}),
    ("delete_observations", {"deletions": [{"entityName": MARISOL, "observations": ["Drinks oolong"]}]}),
    ("delete_relations", {"relations": [LEADS]}),
    ("delete_entities", {"entityNames": ["Tidebook"]}),
)
"""Ordered so that each finds what it names. Some take arguments from the previous answer."""


@dataclass(frozen=True)
class Door:
    """A server over HTTP."""

    process: subprocess.Popen[bytes]
    url: str
    token: str
    log: Path

    @asynccontextmanager
    async def client(self, **options: Any) -> AsyncIterator[Client]:
        """A client that shows the token."""
        async with self.browser() as http:
            transport = streamable_http_client(self.url, http_client=http)
            async with Client(transport, read_timeout_seconds=PATIENCE_SECONDS, **options) as client:
                yield client

    def browser(self, **headers: str) -> httpx2.AsyncClient:
        """A plain HTTP client. `headers` replace ours."""
        shown = {"Authorization": f"Bearer {self.token}"} | headers
        return httpx2.AsyncClient(headers=shown, timeout=httpx2.Timeout(PATIENCE_SECONDS))


@dataclass(frozen=True)
class Served:
    """A memory that can be served in every way."""

    recollect: CommandLine
    folder: Path

    @asynccontextmanager
    async def stdio(
        self, *options: str, set_: dict[str, str] | None = None, **more: Any
    ) -> AsyncIterator[Client]:
        """A client of a server of its own."""
        parameters = StdioServerParameters(
            command=sys.executable,
            args=[*self.recollect.program[1:], "serve", *options],
            env=self.recollect.variables(**(set_ or {})),
        )
        with (self.folder / "stderr").open("a", encoding="utf-8") as log:
            transport = stdio_client(parameters, errlog=log)
            async with Client(transport, read_timeout_seconds=PATIENCE_SECONDS, **more) as client:
                yield client

    @contextmanager
    def http(self, *options: str, token: str | None = SESAME) -> Iterator[Door]:
        """A server over HTTP, on a port that was free a moment ago."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        shown = () if token is None else ("--token", token)
        log = self.folder / f"http-{port}"
        with log.open("wb") as errors:
            process = subprocess.Popen(
                [*self.recollect.program, "serve", "--http", "--port", str(port), *shown, *options],
                env=self.recollect.variables(),
                stdout=errors,
                stderr=errors,
            )
        try:
            _await_port(process, port, log)
            yield Door(process, f"http://127.0.0.1:{port}/mcp", token or "", log)
        finally:
            process.terminate()
            process.wait(PATIENCE_SECONDS)

    def visit(self, ask: Callable[[Client], Awaitable[Any]], *options: str, **set_: str) -> Any:
        """Run `recollect serve` in this process, let one client ask, and return its answer.

        The server's standard error goes where that of a real one would.
        """
        found = []

        def serve(memory: LazyEngine, names: Sequence[str]) -> None:
            async def come_and_go() -> None:
                server = MemoryServer(memory.engine, names).server()
                async with Client(server, read_timeout_seconds=PATIENCE_SECONDS) as client:
                    found.append(await ask(client))

            anyio.run(come_and_go)

        with patch("recollect.mcp.stdio.serve_stdio", serve):
            told = self.recollect("serve", *options, status=0, given=None, **set_).stderr
        with (self.folder / "stderr").open("a", encoding="utf-8") as log:
            log.write(told)
        return found[0]

    @asynccontextmanager
    async def inside(self, tools: str = "default", **more: Any) -> AsyncIterator[Client]:
        """A client of a server in this process: no start to wait for, the same code behind the transport."""
        with recollect.open(self.recollect.store, model="hashing") as memory:
            server = MemoryServer(lambda: memory, tools_named(tools)).server()
            async with Client(server, read_timeout_seconds=PATIENCE_SECONDS, **more) as client:
                yield client

    @asynccontextmanager
    async def over(self, transport: str, tools: str = "default", **more: Any) -> AsyncIterator[Client]:
        """A client over `stdio`, `http` or nothing, whichever the test is about."""
        if transport == "inside":
            async with self.inside(tools, **more) as client:
                yield client
        elif transport == "stdio":
            async with self.stdio("--tools", tools, **more) as client:
                yield client
        else:
            with self.http("--tools", tools) as door:
                async with door.client(**more) as client:
                    yield client


def _await_port(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    for _ in range(PATIENCE_SECONDS * 20):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        try:
            process.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
        pytest.fail(f"The server ended with {process.returncode}: {log.read_text(encoding='utf-8')}")
    pytest.fail(f"The server does not listen: {log.read_text(encoding='utf-8')}")


def texts_of(result: types.CallToolResult) -> list[str]:
    """The texts of an answer."""
    return [each.text for each in result.content if each.type == "text"]


async def good_results(client: Client) -> AsyncIterator[tuple[str, Arguments, types.CallToolResult]]:
    """The good calls one by one, each with what it answered."""
    last: Any = None
    for tool, known in GOOD:
        given = known(last) if callable(known) else known
        result = await client.call_tool(tool, given)
        last = result.structured_content
        yield tool, given, result


async def call_tool_ok(client: Client, tool: str, **given: Any) -> Any:
    """The structured content of a call that must succeed."""
    with anyio.fail_after(PATIENCE_SECONDS):
        result = await client.call_tool(tool, given)
    assert not result.is_error, texts_of(result)
    return result.structured_content


async def refused(client: Client, tool: str, **given: Any) -> str:
    """The message of a call that must fail."""
    with anyio.fail_after(PATIENCE_SECONDS):
        result = await client.call_tool(tool, given)
    assert result.is_error, texts_of(result)
    assert result.structured_content is None
    (text,) = texts_of(result)
    return text


@contextmanager
def offering(name: str, operation: Operation) -> Iterator[None]:
    """Within it, servers know this operation alone."""
    with (
        patch.object(mcp_server, "definitions", lambda: {name: operation.definition()}),
        patch.object(mcp_server, "operations", lambda: {name: operation}),
    ):
        yield
