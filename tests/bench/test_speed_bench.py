"""The benchmarks of speed run to their end, and write what the page about them reads. No time is judged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PARTS = {"recall", "write", "bulk", "import", "disk", "open", "past", "dream", "command", "serve", "at once"}


def written_by(script: str, results: Path, *options: str) -> dict[str, Any]:
    paths = (ROOT / "src", ROOT / "benchmarks" / "quality", os.environ.get("PYTHONPATH", ""))
    subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / script), "--quick", "--json", str(results), *options],
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
    )
    read: dict[str, Any] = json.loads(results.read_text(encoding="utf-8"))
    return read


def test_a_quick_run_measures_every_part_on_every_kind_of_store(tmp_path: Path) -> None:
    run = written_by("speed/speed.py", tmp_path / "speed.json", "--folder", str(tmp_path))
    rows = run["results"]
    assert run["facts"]["commit"]
    assert {row["part"] for row in rows} == PARTS
    recalls = {row["kind"] for row in rows if (row["part"], row["way"]) == ("recall", "recall")}
    assert recalls == {"notes", "conversations", "graph"}
    assert all(row["cpu_ms"] > 0 for row in rows if "cpu_ms" in row)


def test_a_quick_run_of_peers_measures_us_as_one_of_them(tmp_path: Path) -> None:
    run = written_by("peers/peers.py", tmp_path / "peers.json", "--only", "Recollect")
    (ours,) = run["results"]
    assert ours["sizes"]["200"]["search"]["cpu_ms"] > 0
