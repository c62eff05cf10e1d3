"""What every result of a benchmark names: machine, versions, commit, date."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import apsw


def facts(*packages: str) -> dict[str, str]:
    """Facts of this machine and this commit, and the versions of these packages beside our own."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "system": platform.platform(),
        "cpu": _cpu(),
        "cores": str(os.cpu_count()),
        "memory_gb": _memory(),
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        **{name: _version(name) for name in ("apsw", "numpy", *packages)},
    }


def write_json(path: Path, results: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def _commit() -> str:
    """The commit's hash, with a plus where files differ from it."""
    head = _git("rev-parse", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no")
    return f"{head}{'+' if changed else ''}" if head else "not committed"


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=Path(__file__).parent, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.1f}"
    except (AttributeError, ValueError):  # not on Windows
        return "unknown"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
