"""Ten processes that write to one file at the same time, and how long each waited."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from ledger import Entry, acknowledged, missing
from programs import PATIENCE_SECONDS, environment
from torture_run import Part
from writer import entries_of

PROCESSES = 10
SLICE_SECONDS = 60
"""After this many seconds, every acknowledged write is checked, and new processes use the same file."""
_POLL_SECONDS = 0.5


def write_together(folder: Path, part: Part) -> Iterator[None]:
    store = folder / "memory.db"
    folder.mkdir(parents=True, exist_ok=True)
    environment(store)
    while not part.is_over:
        seconds, slice_ = min(SLICE_SECONDS, part.left), part.figures.get("slices", 0)
        reports = [folder / f"{slice_}-{place}.jsonl" for place in range(PROCESSES)]
        for path in reports:
            path.unlink(missing_ok=True)
        processes = [_start(store, f"s{slice_}w{place}", seconds, path) for place, path in enumerate(reports)]
        try:
            _watch(processes, store, seconds, part)
        finally:
            for process in processes:
                process.kill()
                process.wait()
        for place, process in enumerate(processes):
            if process.returncode:
                part.report_finding("a writer failed", writer=place, slice=slice_, status=process.returncode)
        for path in reports:
            _count_writes(path, part)
        for problem in missing(store, _entries(folder)):
            part.report_finding(problem, slice=slice_)
        part.count("slices")
        part.done += seconds
        yield


def _start(store: Path, prefix: str, seconds: int, report: Path) -> subprocess.Popen[bytes]:
    with report.open("wb") as out, report.with_suffix(".stderr").open("wb") as errors:
        return subprocess.Popen(
            [
                sys.executable,
                str(Path(__file__).with_name("writer.py")),
                str(store),
                prefix,
                "0",
                str(seconds),
            ],
            env=environment(store),
            stdout=out,
            stderr=errors,
        )


def _watch(processes: list[subprocess.Popen[bytes]], store: Path, seconds: int, part: Part) -> None:
    """Wait until all processes have ended. Record the largest file sizes while they run."""
    until = time.monotonic() + seconds + PATIENCE_SECONDS
    log = store.with_name(f"{store.name}-wal")
    while any(process.poll() is None for process in processes) and time.monotonic() < until:
        time.sleep(_POLL_SECONDS)
        if store.exists() and log.exists():
            part.highest("largest_wal_mb", round(log.stat().st_size / 2**20, 2))
            part.figures["store_mb"] = round(store.stat().st_size / 2**20, 2)


def _count_writes(path: Path, part: Part) -> None:
    waits = []
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if "waited" in record:
            waits.append(record["waited"])
        if "refused" in record:
            part.report_finding(
                "a write was refused", why=record["refused"], waited_seconds=round(record["waited"], 2)
            )
        if "lost" in record:
            part.report_finding(record["lost"], told_in=path.name)
    entries = entries_of(path.read_text(encoding="utf-8").splitlines())
    part.count("acknowledged_writes", acknowledged(entries))
    part.count("waited_over_10_s", sum(wait > 10 for wait in waits))
    part.highest("longest_wait_s", max(waits, default=0.0))
    part.figures["fewest_writes_of_a_process"] = min(
        len(waits), part.figures.get("fewest_writes_of_a_process", len(waits))
    )


def _entries(folder: Path) -> list[Entry]:
    return [
        entry
        for path in sorted(folder.glob("*.jsonl"))
        for entry in entries_of(path.read_text(encoding="utf-8").splitlines())
    ]
