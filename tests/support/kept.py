"""A place for what tests fetch from elsewhere, so that they fetch it once."""

from __future__ import annotations

import fcntl
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_CACHE = Path(__file__).parents[2] / ".cache"


@contextmanager
def cache_folder(name: str) -> Iterator[Path]:
    """A folder that outlives the test run and that git does not see, for one process at a time."""
    folder = _CACHE / name
    folder.mkdir(parents=True, exist_ok=True)
    (_CACHE / ".gitignore").write_text("*\n")
    with (_CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
