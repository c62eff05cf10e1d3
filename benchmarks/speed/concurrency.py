"""Many concurrent callers on one store: threads, processes, and clients of one server; and their waits."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from by_hand import ByHand, has_by_hand
from children import all_at_once
from mcp import Client
from serving import cpu_of
from timing import Figures, milliseconds, tell, waits

from stores import Filled

AT_ONCE = (1, 2, 4, 8)
CLIENTS = (1, 8, 64)


def concurrency(store: Filled, seconds: float, at_once: Sequence[int] = AT_ONCE) -> Iterator[Figures]:
    for what in ("recall", "remember"):
        for count in at_once:
            for way in ("threads", "processes"):
                if count == 1 and way == "processes":
                    continue  # the same as one thread
                tell(f"at once: {what}, {count} {way}")
                with store.copy() as path:
                    tasks = _tasks(path, what, count, way, seconds)
                    yield (
                        _known(store)
                        | {"way": way, "operation": what, "at_once": count}
                        | _figures(all_at_once(tasks), seconds)
                    )
    for readers, writers in ((1, 1), (2, 2))[: len(at_once)]:
        tell(f"at once: {readers} ask and {writers} write")
        with store.copy() as path:
            tasks = [
                ("call", path, what, count, seconds, place)
                for place, (what, count) in enumerate((("recall", readers), ("remember", writers)))
            ]
            for what, seen in zip(("recall", "remember"), all_at_once(tasks), strict=True):
                way = f"{readers} ask and {writers} write, in two processes"
                yield (
                    _known(store)
                    | {"way": way, "operation": what, "at_once": readers + writers}
                    | _figures([seen], seconds)
                )

    if has_by_hand():
        for count in at_once[:2]:
            tell(f"at once: {count} write by hand")
            with TemporaryDirectory(dir=store.folder.parent) as folder:
                path = Path(folder) / "by-hand.db"
                ByHand(path).close()
                tasks = [("call", path, "by hand", 1, seconds, place) for place in range(count)]
                yield (
                    _known(store)
                    | {"way": "processes", "operation": "by hand", "at_once": count}
                    | _figures(all_at_once(tasks), seconds)
                )


def _known(store: Filled) -> Figures:
    return {"part": "at once", "kind": store.world.kind, "size": store.world.size}


def _tasks(path: Path, what: str, count: int, way: str, seconds: float) -> list[tuple[object, ...]]:
    if way == "threads":
        return [("call", path, what, count, seconds, 0)]
    return [("call", path, what, 1, seconds, place) for place in range(count)]


def _figures(seen: Sequence[dict[str, Any]], seconds: float) -> Figures:
    all_waits = [wait for each in seen for wait in each["waits"]]
    cpu = sum(each["cpu"] for each in seen)
    return {
        "seconds": seconds,
        "calls": len(all_waits),
        "per_second": round(len(all_waits) / max(each["wall"] for each in seen), 1),
        "cpu_ms": milliseconds(cpu / len(all_waits)),
    } | waits(all_waits)


# A server


def clients(store: Filled, seconds: float, counts: Sequence[int] = CLIENTS) -> Iterator[Figures]:
    """Measure clients of one HTTP server with the default model, including its time. Each repeats at once."""
    for count in counts:
        tell(f"at once: {count} clients of a server")
        with store.copy() as path, _server(path) as (url, process):
            seen, cpu = anyio.run(_asked, url, process, store.world.queries, count, seconds)
        yield (
            _known(store)
            | {
                "way": "clients of an HTTP server",
                "operation": "recall",
                "at_once": count,
                "seconds": seconds,
                "calls": len(seen),
                "per_second": round(len(seen) / seconds, 1),
                "cpu_ms": milliseconds(cpu / len(seen)),
            }
            | waits(seen)
        )


@contextmanager
def _server(path: Path) -> Iterator[tuple[str, int]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = "from recollect.cli.main import main; main()"
    words = ["serve", "--http", "--port", str(port), "--no-token", "--store", str(path)]
    with subprocess.Popen(
        [sys.executable, "-c", command, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            _wait_for(port)
            yield f"http://127.0.0.1:{port}/mcp", process.pid
        finally:
            process.terminate()


def _wait_for(port: int) -> None:
    for _ in range(300):
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError(f"No server answers on port {port}.")


async def _asked(
    url: str, process: int, queries: Sequence[str], count: int, seconds: float
) -> tuple[list[float], float]:
    seen: list[float] = []
    ready = [anyio.Event() for _ in range(count)]
    go = anyio.Event()

    async def ask(place: int) -> None:
        async with Client(url, read_timeout_seconds=120) as client:
            await client.call_tool("recall", {"query": queries[place % len(queries)]})
            ready[place].set()
            await go.wait()
            until, turn = time.perf_counter() + seconds, place
            while (start := time.perf_counter()) < until:
                await client.call_tool("recall", {"query": queries[turn % len(queries)]})
                seen.append(time.perf_counter() - start)
                turn += 1

    async with anyio.create_task_group() as group:
        for place in range(count):
            group.start_soon(ask, place)
        for one in ready:
            await one.wait()
        before = cpu_of(process)
        go.set()
    return seen, cpu_of(process) - before
