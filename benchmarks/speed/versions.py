"""Compare two installed versions by the times that a user waits for, as ratios.

python versions.py OLD/bin/python NEW/bin/python [--json FILE] [--sizes 1000 100000] [--rounds 9]

Each round asks one version, then the other, so that other load on the machine slows both alike. Memories are
embedded with `potion`, because it takes little time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from sentences import Sentences

_FILL = """
import json, sys, recollect
texts = json.load(sys.stdin)
with recollect.open(sys.argv[1], model="potion") as engine:
    for start in range(0, len(texts), 1000):
        engine.remember_many(texts[start : start + 1000])
"""
_CALLS = """
import json, statistics, sys, time, recollect
questions, notes = json.load(sys.stdin)
with recollect.open(sys.argv[1], model="potion") as engine:
    def cpu_ms(call, texts):
        times = []
        for text in texts:
            start = time.process_time()
            call(text)
            times.append(time.process_time() - start)
        return 1000 * statistics.median(times)
    cpu_ms(engine.recall, questions[:5])
    medians = {"recall": cpu_ms(engine.recall, questions), "remember": cpu_ms(engine.remember, notes)}
    print(json.dumps(medians))
"""
_INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "versions", "version": "1"},
}


def _list_tools(command: list[str], environment: dict[str, str]) -> None:
    """Start a server over stdio and wait until it has listed its tools."""
    messages = (
        {"id": 1, "method": "initialize", "params": _INITIALIZE},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    )
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        assert server.stdin
        assert server.stdout
        for message in messages:
            server.stdin.write(json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n")
        server.stdin.flush()
        while json.loads(server.stdout.readline()).get("id") != 2:
            pass
        server.kill()


def _wall_ms(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - start)


def _run_round(python: Path, folder: Path, sizes: list[int], made: Sentences) -> dict[str, float]:
    program = str(python.with_name("recollect"))
    store = folder / f"{sizes[0]}.db"
    environment = os.environ | {"RECOLLECT_STORE": str(store), "RECOLLECT_MODEL": "potion"}

    def run(*words: str) -> float:
        return _wall_ms(
            lambda: subprocess.run([program, *words], check=True, env=environment, capture_output=True)
        )

    times = {
        "recollect --help": run("--help"),
        "recollect recall": run("recall", made.queries(1)[0]),
        "serve to tools/list": _wall_ms(lambda: _list_tools([program, "serve"], environment)),
    }
    for size in sizes:
        texts = json.dumps([made.queries(60), made.notes(60)])
        done = subprocess.run(
            [python, "-c", _CALLS, folder / f"{size}.db"],
            input=texts,
            check=True,
            capture_output=True,
            text=True,
        )
        times |= {f"{what}, {size:,} notes": value for what, value in json.loads(done.stdout).items()}
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare two installed versions.")
    parser.add_argument("pythons", nargs=2, type=Path, metavar="PYTHON")
    parser.add_argument("--sizes", nargs="+", type=int, default=[1_000, 100_000])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    measured: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    with tempfile.TemporaryDirectory() as folder:
        for size in given.sizes:
            print(f"filling {size:,}", file=sys.stderr)
            subprocess.run(
                [given.pythons[0], "-c", _FILL, Path(folder) / f"{size}.db"],
                input=json.dumps(Sentences().notes(size)),
                check=True,
                text=True,
            )
        copies = [Path(folder) / "old", Path(folder) / "new"]
        for copy in copies:
            copy.mkdir()
            for file in Path(folder).glob("*.db*"):
                shutil.copy(file, copy)
        for turn in range(given.rounds + 1):
            print(f"round {turn} of {given.rounds}", file=sys.stderr)
            for which, (python, copy) in enumerate(zip(given.pythons, copies, strict=True)):
                for name, value in _run_round(python.absolute(), copy, given.sizes, Sentences()).items():
                    if turn:  # round 0 warms caches and migrates the store
                        measured[name][which].append(value)
    figures = {
        name: {
            "old_ms": round(statistics.median(old), 2),
            "new_ms": round(statistics.median(new), 2),
            "ratio": round(
                statistics.median(after / before for before, after in zip(old, new, strict=True)), 3
            ),
        }
        for name, (old, new) in measured.items()
    }
    for name, each in figures.items():
        print(f"{name:28} {each['old_ms']:9.2f} {each['new_ms']:9.2f} ms  ratio {each['ratio']:.3f}")
    if given.json:
        machine = {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()}
        versions = [_version(python) for python in given.pythons]
        written = {
            "machine": machine,
            "python": platform.python_version(),
            "old": versions[0],
            "new": versions[1],
        }
        given.json.write_text(json.dumps(written | {"figures": figures}, indent=1) + "\n", encoding="utf-8")


def _version(python: Path) -> str:
    """Return the commit of the clone that the environment belongs to."""
    asked = ["git", "-C", str(python.absolute().parent), "describe", "--always", "--dirty"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
