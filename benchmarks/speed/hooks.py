"""How long a prompt waits for a hook: the hook's process from its start to its end, as a client runs it.

    python benchmarks/speed/hooks.py [--quick] [--json benchmarks/results/hooks.json]

Stores of 1,000 and 100,000 notes, whose vectors are a stand-in's and whose prompts are embedded by the real
model. A resident answers, as in daily use. Half of the prompts ask for something that may be stored, half for
nothing.

`wall_ms` is what a client waits, and `bare_python_ms` what it would wait, at the same time, for a Python that
does nothing. `cpu_ms` is what the hook's process used; `resident_cpu_ms` is what the resident used to answer
and to capture the prompt afterwards. `late` counts hooks that ended at their deadline of 300 ms, silently.
`within_limit` is the share decided, with an answer or none, and over in 300 ms. `first_answer_ms` is how long
after the very first hook, which starts the resident, an answer is there. On a
machine that others use, `nice -n -15` (as root) keeps their work out of the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from facts import facts, write_json
from timing import percentile

from recollect.agents.hook_files import logged_events
from recollect.agents.wire import NoListener, ask, read_address
from stores import filled, world

SIZES = (1_000, 100_000)
PROMPTS = 200
NO_NEED = (
    "Write a haiku about rain.",
    "Rename this function to snake case, please.",
    "thanks, that works!",
    "Why does this loop never end?",
    "Translate the last paragraph into French.",
)
LIMIT_MS = 300


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="1,000 notes only, and few prompts")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    sizes, count = (SIZES[:1], 20) if given.quick else (SIZES, PROMPTS)
    results: dict[str, Any] = {"facts": facts(), "limit_ms": LIMIT_MS, "prompts": count, "stores": []}
    for size in sizes:
        with TemporaryDirectory() as folder:
            results["stores"].append(measured(Path(folder), size, count))
        print(json.dumps(results["stores"][-1]))
    if given.json:
        write_json(given.json, results)


def measured(folder: Path, size: int, count: int) -> dict[str, Any]:
    made = world("notes", size, count)
    store = filled(made, folder / "store", lambda _, __: None)
    asked = [
        query if place % 2 else NO_NEED[place % len(NO_NEED)] for place, query in enumerate(made.queries)
    ]
    with hooks_of(store.path, folder / "state") as (environ, state):
        began = time.perf_counter()
        while not hook(environ, state, "start", made.queries[1])[
            2
        ]:  # until the resident has published its address
            time.sleep(0.02)
        first = time.perf_counter() - began
        for prompt in asked[:5]:
            hook(environ, state, "prompt", prompt)
        settle(state)
        walls, bare, cpus, answering = [], [], [], []
        for prompt in asked:
            before = _resident_cpu(state)
            wall, cpu, _ = hook(environ, state, "prompt", prompt)
            walls.append(wall)
            bare.append(bare_python())
            cpus.append(cpu)
            settle(state)
            answering.append(_resident_cpu(state) - before)
        outcomes = [line["outcome"] for line in _log(state) if line["event"] == "prompt"][5:]
        memory = _memory_mb(state)
    return {
        "memories": size,
        "wall_ms": _figures(walls),
        "bare_python_ms": _figures(bare),
        "cpu_ms": _figures(cpus),
        "resident_cpu_ms": _figures(answering),
        "within_limit": sum(
            1000 * wall <= LIMIT_MS and outcome in {"answered", "silent"}
            for wall, outcome in zip(walls, outcomes, strict=True)
        )
        / len(walls),
        "outcomes": {name: outcomes.count(name) for name in sorted(set(outcomes))},
        "first_answer_ms": round(1000 * first, 1),
        "resident_mb": memory,
        "load_average": round(os.getloadavg()[0], 2),
        "niceness": os.nice(0),
    }


def hook(environ: dict[str, str], state: Path, event: str, prompt: str) -> tuple[float, float, bool]:
    """Run a hook. Return its wall seconds, its CPU seconds, and whether a resident answers hooks now."""
    given = json.dumps({"session_id": f"s{time.monotonic_ns()}", "prompt": prompt})
    words = [sys.executable, "-m", "recollect.hooks", "claude-code", event, "--folder", str(state)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(words, input=given.encode(), env=environ, stdout=subprocess.DEVNULL, check=True)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, bool(_addresses(state))


def bare_python() -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - start


@contextmanager
def hooks_of(store: Path, state: Path) -> Iterator[tuple[dict[str, str], Path]]:
    environ = {**os.environ, "RECOLLECT_STORE": str(store), "RECOLLECT_CONFIG": os.devnull}
    try:
        yield environ, state
    finally:
        for path in _addresses(state):
            address = read_address(str(path))
            if address is not None:
                try:
                    ask(address, {"do": "stop"}, 10)
                except NoListener:
                    continue
        for _ in range(200):
            if not _addresses(state):
                break
            time.sleep(0.05)


def settle(state: Path) -> None:
    """Wait until the prompt is captured: a user's next prompt never comes sooner."""
    for _ in range(200):
        time.sleep(0.05)
        if not list(state.glob("*.waiting/*.json")):
            break


def _addresses(state: Path) -> list[Path]:
    return [path for path in state.glob("*.json") if not path.name.startswith("settings-")]


def _log(state: Path) -> list[dict[str, Any]]:
    days = sorted(path.stem for path in (state / "log").glob("*.jsonl"))
    return [line for day in days for line in logged_events(str(state), day)]


def _memory_mb(state: Path) -> float:
    """Return the CPU seconds of the resident, from /proc."""
    lines = (_resident(state) / "status").read_text().splitlines()
    return round(int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024, 1)


def _resident_cpu(state: Path) -> float:
    """Seconds; the system counts in hundredths."""
    fields = (_resident(state) / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident(state: Path) -> Path:
    address = read_address(str(_addresses(state)[0]))
    assert address is not None
    return Path(f"/proc/{address.process_id}")


def _figures(seconds: Sequence[float]) -> dict[str, float]:
    return {
        "p50": round(1000 * statistics.median(seconds), 1),
        "p95": round(1000 * percentile(seconds, 0.95), 1),
        "longest": round(1000 * max(seconds), 1),
    }


if __name__ == "__main__":
    main()
