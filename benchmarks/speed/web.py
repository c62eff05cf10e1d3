"""How fast the HTTP side is: the first answer, the first paint and each screen, and many callers at once.

    python benchmarks/speed/web.py --sizes 1k,100k --json benchmarks/results/web.json
    python benchmarks/speed/web.py --sizes 1k --peer http://127.0.0.1:8000

Screens are opened in Chromium; load is made by wrk, with a query of its own in each request. `--peer` names a
running server of mcp-memory-service on this machine, which gets the same load on its own search, on as many
memories of the same texts as the smallest size has. Both programs are Debian's packages.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
from facts import facts, write_json
from playwright.sync_api import Browser, sync_playwright
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from stand_in import MODEL

from stores import filled, world

SIZES = {"1k": 1_000, "10k": 10_000, "100k": 100_000, "1M": 1_000_000}
QUERIES = 200
ROUNDS = 5
CONNECTIONS = (1, 8, 64)
LOAD_SECONDS = 8
PATIENCE_SECONDS = 600.0
SCREENS = {
    "recall": "/recall",
    "recall with a query": "/recall?q={query}",
    "why not": "/why-not?q={query}&id=1",
    "memory": "/memory/1",
    "browse": "/browse",
    "graph": "/graph",
    "timeline": "/timeline",
    "dreams": "/dreams",
    "to settle": "/settle",
    "answers": "/answers",
    "quality": "/quality",
    "health": "/health",
}
_COLUMNS = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
_say = Console(stderr=True).print


@contextmanager
def server(store: Path) -> Iterator[tuple[str, float]]:
    """A server in a process of its own, and how long it took from its start to its first answer."""
    program = [sys.executable, "-m", "recollect.cli.main", "--store", str(store)]
    log = store.with_name("server.log")
    start = time.perf_counter()
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [*program, "serve", "--http", "--port", "0", "--no-token"], stdout=errors, stderr=errors
        )
    try:
        found = None
        while found is None and process.poll() is None:
            found = re.search(r"at (http://\S+:\d+)/mcp", log.read_text(encoding="utf-8"))
            time.sleep(0.005)
        if found is None:
            raise SystemExit(log.read_text(encoding="utf-8"))
        answer = httpx2.post(f"{found[1]}/v1/recall", json={"query": "harbour"}, timeout=PATIENCE_SECONDS)
        answer.raise_for_status()
        yield found[1], time.perf_counter() - start
    finally:
        process.terminate()
        process.wait()


def screens(browser: Browser, url: str, query: str) -> dict[str, Any]:
    """Of each screen: the server's part, the first paint, and when it was all there; medians of a few."""
    told = {}
    context = browser.new_context(base_url=url)
    context.set_default_timeout(PATIENCE_SECONDS * 1000)
    page = context.new_page()
    for name, path in SCREENS.items():
        rows = []
        for _ in range(ROUNDS + 1):
            page.goto(path.format(query=query.replace(" ", "+")))
            rows.append(
                page.evaluate(
                    """async () => {
                        // The paint is told a frame after the page is there.
                        await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30)));
                        const [visit] = performance.getEntriesByType("navigation");
                        const paint = performance.getEntriesByName("first-contentful-paint")[0];
                        const served = visit.responseEnd - visit.requestStart;
                        return [served, paint?.startTime ?? 0, visit.loadEventStart];
                    }"""
                )
            )
        # The first fills the browser's cache.
        server_ms, paint_ms, load_ms = (statistics.median(column) for column in zip(*rows[1:], strict=True))
        told[name] = {
            "server_ms": round(server_ms, 1),
            "paint_ms": round(paint_ms, 1),
            "load_ms": round(load_ms, 1),
        }
        _say(f"  {name}: {told[name]}")
    context.close()
    return told


def load(url: str, path: str, bodies: Sequence[dict[str, Any]], folder: Path) -> dict[str, Any]:
    """What wrk tells of so many connections that ask one question after the other."""
    script = folder / "ask.lua"
    texts = ",\n".join(json.dumps(json.dumps(body)) for body in bodies)
    script.write_text(
        f"local bodies = {{{texts}}}\nlocal at = 0\n"
        "request = function()\n at = at % #bodies + 1\n"
        f' return wrk.format("POST", "{path}", {{["Content-Type"] = "application/json"}}, bodies[at])\nend\n',
        encoding="utf-8",
    )
    told = {}
    for connections in CONNECTIONS:
        command = ["wrk", "--latency", "-t1", f"-c{connections}", f"-d{LOAD_SECONDS}s", "--timeout", "30s"]
        said = subprocess.run(
            [*command, "-s", str(script), url], capture_output=True, text=True, check=True
        ).stdout
        failed = re.search(r"Non-2xx or 3xx responses: (\d+)", said)
        told[str(connections)] = {
            "per_second": float(_found(r"Requests/sec:\s+([\d.]+)", said)),
            "median_ms": _milliseconds(_found(r"50%\s+(\S+)", said)),
            "p99_ms": _milliseconds(_found(r"99%\s+(\S+)", said)),
            "refused": int(failed[1]) if failed else 0,
        }
        _say(f"  {connections} connections: {told[str(connections)]}")
    return told


def _found(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    if found is None:
        raise SystemExit(f"wrk said no {pattern!r}:\n{text}")
    return found[1]


def _milliseconds(text: str) -> float:
    units = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}
    value, unit = re.fullmatch(r"([\d.]+)(\w+)", text).groups()  # type: ignore[union-attr]  # wrk's own form
    return round(float(value) * units[unit], 2)


def peer_load(url: str, texts: Sequence[str], queries: Sequence[str], folder: Path) -> dict[str, Any]:
    """The same texts in mcp-memory-service, and the same load on its search."""
    with httpx2.Client(base_url=url, timeout=PATIENCE_SECONDS) as client:
        for text in texts:
            client.post("/api/memories", json={"content": text, "tags": ["bench"]}).raise_for_status()
    bodies = [{"query": query, "n_results": 10} for query in queries]
    return load(url, "/api/search", bodies, folder)


def _told(bar: Progress, task: TaskID, done: int, _: int) -> None:
    bar.update(task, completed=done)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", default="1k,100k,1M", help="of " + ", ".join(SIZES))
    parser.add_argument("--peer", help="where mcp-memory-service listens")
    parser.add_argument("--peer-version", default="", help="its version, for the results")
    parser.add_argument(
        "--folder", type=Path, help="where stores are made and kept; without it, a temporary one"
    )
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None or shutil.which("wrk") is None:
        raise SystemExit("Install the packages chromium and wrk.")
    root = given.folder or Path(tempfile.mkdtemp(prefix="recollect-web-"))
    results: dict[str, Any] = {"facts": facts("starlette", "uvicorn"), "model": MODEL, "sizes": {}}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        results["browser"] = browser.version
        for size in given.sizes.split(","):
            made = world("notes", SIZES[size], QUERIES)
            folder = root / size
            if not folder.exists():
                with Progress(*_COLUMNS, console=Console(stderr=True)) as bar:
                    task = bar.add_task(f"{size}: filling", total=made.size)
                    filled(made, folder, partial(_told, bar, task))
            with server(folder / "memory.db") as (url, first):
                _say(f"{size}: first answer after {first:.2f} s")
                bodies = [{"query": query} for query in made.queries]
                results["sizes"][size] = {
                    "first_answer_seconds": round(first, 2),
                    "screens": screens(browser, url, made.queries[0]),
                    "load": load(url, "/v1/recall", bodies, root),
                }
        browser.close()
    if given.peer:
        smallest = world("notes", SIZES[given.sizes.split(",")[0]], QUERIES)
        results["peer"] = {
            "name": "mcp-memory-service",
            "version": given.peer_version,
            "memories": smallest.size,
            "load": peer_load(given.peer, smallest.texts, smallest.queries, root),
        }
    if given.json:
        write_json(given.json, results)
    if given.folder is None:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
