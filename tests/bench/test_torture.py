"""A short run of every part of `make torture`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ledger import missing, write_of
from torture_run import Part, Run

import recollect

ROOT = Path(__file__).parents[2]


def tortured(folder: Path, *options: str, status: int = 0) -> dict[str, Any]:
    """Runs in a process of its own, in the folder; its parts by name."""
    paths = (ROOT / "src", ROOT / "benchmarks" / "quality", os.environ.get("PYTHONPATH", ""))
    done = subprocess.run(
        [
            *(sys.executable, str(ROOT / "benchmarks" / "torture" / "torture.py"), "--resume", str(folder)),
            *("--json", str(folder / "figures.json"), *options),
        ],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
    )
    assert done.returncode == status, done.stderr
    run: dict[str, Any] = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    assert run["facts"]["commit"]
    parts: dict[str, Any] = run["parts"]
    return parts


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_little_of_every_part_finds_nothing_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    tortured(tmp_path, "--part", "kills", "--count", "2")
    parts = tortured(tmp_path, "--count", "4", "--seconds", "1", "--processes", "2", "--jobs", "2")
    assert {name: (part["done"], part["findings"]) for name, part in parts.items()} == {
        name: (1 if name == "writers" else 4, []) for name in ("fuzz", "writers", "kills", "cuts", "soak")
    }
    # Two of them before the second run, and each way once.
    assert parts["kills"]["figures"]["kills"] == {"python": 1, "cli": 1, "stdio": 1, "http": 1}
    assert parts["cuts"]["figures"]["checks_of_writes"] > 0
    assert parts["soak"]["figures"]["over_time"][-1]["calls"] == 4
    assert sum(parts["fuzz"]["figures"]["calls_by_tool"].values()) == 4


def test_what_was_found_is_told_by_the_exit_status(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.parts["cuts"] = Part("cuts", planned=1, done=1)
    run.parts["cuts"].report_finding("after a cut: something is lost", seed=3)
    run.save("cuts")
    assert tortured(tmp_path, "--part", "cuts", status=1)["cuts"]["findings"][0]["seed"] == 3


@pytest.mark.skipif(sys.platform == "win32", reason="the torture needs Linux or macOS")
def test_two_runs_do_not_torture_the_same_part(tmp_path: Path) -> None:
    import fcntl

    with (tmp_path / "cuts.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert tortured(tmp_path, "--part", "cuts", "--count", "1", status=1)["cuts"]["done"] == 0
    assert tortured(tmp_path, "--part", "cuts", "--count", "1")["cuts"]["done"] == 1


def test_the_ledger_finds_what_is_lost_or_half_there(tmp_path: Path) -> None:
    """The control: a loss after a kill would be seen."""
    store = tmp_path / "memory.db"
    notes, batch = [write_of("t", number, []) for number in (0, 1)], write_of("t", 2, [])
    rows = batch["given"]["entities"]
    with recollect.open(store, model="hashing") as memory:
        for note in notes:
            note["done"] = {"id": memory.remember(note["given"]["text"]).id}
        memory.create_entities(rows[:3])
    assert missing(store, notes) == []
    assert missing(store, [*notes, batch]) == [f"a batch is partly stored: 3 of 8 from {rows[0]['name']}"]
    with recollect.open(store, model="hashing") as memory:
        memory.create_entities(rows)
        memory.forget([notes[0]["done"]["id"]])
    forgotten = f"note {notes[0]['done']['id']} is forgotten without a `forget`"
    assert missing(store, [*notes, batch | {"done": {}}]) == [forgotten]
    lost = {"tool": "remember", "given": {"text": "Never written"}, "done": {"id": 999}}
    assert "note 999 is lost: Never written" in missing(store, [*notes, lost])
