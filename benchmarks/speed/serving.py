"""What is measured of an MCP server: its start, its waiting times, its writes and its memory."""

from __future__ import annotations

import os
import statistics
import time
import warnings
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from filling import NEW, QUESTIONS, World
from mcp import Client, MCPError
from servers import Server, answer_of, connected

WARM_UP = 5
# A process of the peer answers 100 calls in a minute and refuses more, so no session here makes more.
CALLS = QUESTIONS - WARM_UP
BATCH = 10
BATCHES = 60  # from one client
AT_ONCE = 5
BATCHES_OF_FIVE = NEW // BATCH // AT_ONCE  # from each of five
# Seconds for one part of one server. Where it takes longer it makes fewer calls; the results say how many.
LONGEST = 45.0
NAMES_AT_ONCE = 40

Row = dict[str, Any]
Ask = Callable[[Server, int], tuple[str, dict[str, Any]] | None]


# Start-up


async def start_up(servers: Sequence[Server], made: World, rounds: int) -> tuple[Row, Row]:
    """From before the process is there; the files are in the system's cache, as they are for most starts."""
    tools: dict[str, list[float]] = defaultdict(list)
    first: dict[str, list[float]] = defaultdict(list)
    cpu: dict[str, dict[str, list[float]]] = {"tools": defaultdict(list), "first": defaultdict(list)}
    note: dict[str, str] = {}
    for turn in range(rounds):
        for server in _from(servers, turn):
            before, start = _children(), time.perf_counter()
            async with connected(server) as client:
                (process,) = _children() - before
                await client.list_tools()
                tools[server.name].append(time.perf_counter() - start)
                cpu["tools"][server.name].append(cpu_of(process))
                result = await client.call_tool(server.recall, {"query": _question(server, made, turn)})
                first[server.name].append(time.perf_counter() - start)
                cpu["first"][server.name].append(cpu_of(process))
                answer_of(result)
                if "note" in (result.structured_content or {}):
                    note[server.name] = (result.structured_content or {})["note"]
    return (
        {name: _spread(times, cpu["tools"][name]) for name, times in tools.items()},
        {
            name: _spread(times, cpu["first"][name]) | ({"note": note[name]} if name in note else {})
            for name, times in first.items()
        },
    )


def _question(server: Server, made: World, place: int) -> str:
    asked = made.questions if server.recall == "recall" else made.people
    return asked[place % len(asked)]


def _spread(seconds: Sequence[float], cpu: Sequence[float]) -> Row:
    return {
        "cpu_ms": round(statistics.median(cpu) * 1000, 1),
        "median_ms": round(statistics.median(seconds) * 1000, 1),
        "fastest_ms": round(min(seconds) * 1000, 1),
        "slowest_ms": round(max(seconds) * 1000, 1),
        "times": len(seconds),
    }


# Waiting times


def asked(made: World) -> dict[str, Ask]:
    """By what is measured: the call of a server at a turn, or None where it has no such tool."""
    new = made.new("Single", QUESTIONS)
    return {
        "ping": lambda _server, _turn: ("ping", {}),
        "recall": lambda server, turn: (
            ("recall", {"query": made.questions[turn]}) if server.recall == "recall" else None
        ),
        "search_nodes": lambda _server, turn: (
            "search_nodes",
            {"query": made.people[turn % len(made.people)]},
        ),
        "open_nodes": lambda _server, turn: (
            "open_nodes",
            {"names": [made.entities[turn * 7 % len(made.entities)]["name"]]},
        ),
        "create_entities, one": lambda _server, turn: ("create_entities", {"entities": [new[turn]]}),
    }


async def waiting(servers: Sequence[Server], call: Ask) -> Row:
    """One call at a time, by every server in turn."""
    waits: dict[str, list[float]] = defaultdict(list)
    sizes: dict[str, list[int]] = defaultdict(list)
    failed: dict[str, int] = defaultdict(int)
    async with AsyncExitStack() as stack:
        clients = {
            server.name: await stack.enter_async_context(connected(server))
            for server in servers
            if call(server, 0) is not None
        }
        for turn in range(QUESTIONS):
            for server in _from([one for one in servers if one.name in clients], turn):
                what = call(server, turn)
                if what is None or sum(waits[server.name]) > LONGEST:
                    continue
                start = time.perf_counter()
                size = await _called(clients[server.name], *what)
                if turn >= WARM_UP:
                    waits[server.name].append(time.perf_counter() - start)
                    sizes[server.name].append(size or 0)
                    failed[server.name] += size is None
    return {
        name: {
            "p50_ms": round(statistics.median(times) * 1000, 2),
            "p95_ms": round(statistics.quantiles(times, n=20)[-1] * 1000, 2),
            "calls": len(times),
            "answer_bytes": round(statistics.fmean(sizes[name])),
        }
        | ({"failed": failed[name]} if failed[name] else {})
        for name, times in waits.items()
    }


async def _called(client: Client, tool: str, given: dict[str, Any]) -> int | None:
    """How long the answer is; None where there was none."""
    if tool == "ping":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the protocol of today has no ping; the handshake's has
            await client.send_ping()
        return 0
    try:
        result = await client.call_tool(tool, given)
        answer_of(result)
    except (MCPError, ValueError):
        return None
    return sum(len(part.text) for part in result.content if part.type == "text")


# Throughput


async def throughput(server: Server, made: World, clients: int, batches: int) -> Row:
    """Each client has a server process of its own on the one file; then another is asked what is there."""
    given = made.new(f"Batch of {clients}", clients * batches * BATCH)
    parts = [given[place * BATCH : (place + 1) * BATCH] for place in range(clients * batches)]
    ready, go = [anyio.Event() for _ in range(clients)], anyio.Event()
    acknowledged: list[str] = []
    refused: list[str] = []
    ends: list[float] = []

    async def write(place: int) -> None:
        async with connected(server) as client:
            await client.call_tool(server.recall, {"query": _question(server, made, place)})
            ready[place].set()
            await go.wait()
            begun = time.perf_counter()
            for part in parts[place::clients]:
                if time.perf_counter() - begun > LONGEST:
                    break
                try:
                    result = await client.call_tool("create_entities", {"entities": part})
                    acknowledged.extend(entity["name"] for entity in answer_of(result))
                except (MCPError, ValueError) as error:
                    refused.append(str(error)[:120])
            ends.append(time.perf_counter())

    async with anyio.create_task_group() as group:
        for place in range(clients):
            group.start_soon(write, place)
        for one in ready:
            await one.wait()
        start = time.perf_counter()
        go.set()
    seconds = max(ends) - start
    kept = await _kept(server, acknowledged)
    return {
        "kept_per_second": round(kept / seconds, 1),
        "acknowledged_per_second": round(len(acknowledged) / seconds, 1),
        "acknowledged": len(acknowledged),
        "kept": kept,
        "lost": len(acknowledged) - kept,
    } | ({"calls_refused": len(refused), "first_refusal": refused[0]} if refused else {})


async def _kept(server: Server, names: Sequence[str]) -> int:
    found: set[str] = set()
    async with connected(server) as client:
        for place in range(0, len(names), NAMES_AT_ONCE):
            some = list(names[place : place + NAMES_AT_ONCE])
            answer = answer_of(await client.call_tool("open_nodes", {"names": some}))
            found.update(entity["name"] for entity in answer["entities"])
    return len(found & set(names))


# Memory


async def memory(server: Server, made: World) -> Row:
    """`added` is what the machine has less with a second process: shared pages are counted once."""
    async with _asked_once(server, made) as first:
        alone = _memory_of(first)
        async with _asked_once(server, made) as second:
            beside, new = _memory_of(first), _memory_of(second)
    return {
        "rss_mb": alone["rss"],
        "pss_mb": alone["share"],
        "private_mb": alone["private"],
        "second_rss_mb": new["rss"],
        "second_pss_mb": new["share"],
        "second_private_mb": new["private"],
        "second_adds_mb": round(beside["share"] + new["share"] - alone["share"], 1),
    }


@asynccontextmanager
async def _asked_once(server: Server, made: World) -> AsyncIterator[int]:
    before = _children()
    async with connected(server) as client:
        (process,) = _children() - before
        await client.list_tools()
        await client.call_tool(server.recall, {"query": _question(server, made, 0)})
        await anyio.sleep(1)  # for what goes on in the background
        yield process


def cpu_of(process: int) -> float:
    """Seconds of CPU that a process has used, all its threads together."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _children() -> set[int]:
    tasks = Path("/proc/self/task").glob("*/children")
    return {int(child) for task in tasks for child in task.read_text(encoding="ascii").split()}


def _memory_of(process: int) -> dict[str, float]:
    """In MB, from the kernel: resident, of this process alone, and with its share of what it shares."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
    kb = {line.split(":")[0]: int(line.split()[1]) for line in lines}
    private = kb["Private_Clean"] + kb["Private_Dirty"]
    return {
        "rss": round(kb["Rss"] / 1024, 1),
        "private": round(private / 1024, 1),
        "share": round(kb["Pss"] / 1024, 1),
    }


def _from(servers: Sequence[Server], turn: int) -> list[Server]:
    """Another one begins each time: a busy machine disturbs all alike."""
    first = turn % len(servers)
    return [*servers[first:], *servers[:first]]
