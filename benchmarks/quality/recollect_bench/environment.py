"""Facts that every result names: machine, versions, commit, date."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Sequence
from datetime import datetime
from importlib import metadata
from pathlib import Path

import apsw

import recollect

_PACKAGES = ("recollect-memory", "apsw", "numpy", "onnxruntime", "tokenizers", "pytrec-eval-terrier")


def facts(at: datetime, packages: Sequence[str] = _PACKAGES) -> dict[str, str]:
    """Return facts about this machine, the running commit and these packages."""
    return {
        "date": at.isoformat(timespec="seconds"),
        "commit": _commit(Path(recollect.__file__).resolve()),
        "system": platform.platform(),
        "cpu": _cpu(),
        "cores": str(os.cpu_count()),
        "memory_gb": _ram_gb(),
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        **{name: _version(name) for name in packages},
    }


def _commit(file: Path) -> str:
    """Return the commit of our clone (not of an outer one), with "+" if files were changed."""
    top = _git(file.parent, "rev-parse", "--show-toplevel")
    if not top or not file.is_relative_to(Path(top) / "packages"):
        return "unknown"
    head = _git(file.parent, "rev-parse", "HEAD")
    changed = _git(file.parent, "status", "--porcelain", "--untracked-files=no")
    return f"{head}{'+' if changed else ''}" if head else "not committed"


def _git(folder: Path, *words: str) -> str:
    program = shutil.which("git")
    if program is None:
        return ""
    done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


def _ram_gb() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.1f}"
    except (AttributeError, ValueError):  # not on Windows
        return "unknown"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
