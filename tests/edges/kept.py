"""A place for what tests fetch from elsewhere, so that they fetch it once."""

from __future__ import annotations

from pathlib import Path

_CACHE = Path(__file__).parents[2] / ".cache"


def kept(name: str) -> Path:
    """A folder that outlives the test run and that git does not see."""
    folder = _CACHE / name
    folder.mkdir(parents=True, exist_ok=True)
    (_CACHE / ".gitignore").write_text("*\n")
    return folder
