"""New files for their owner alone: what one remembers is nobody else's."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

OWNER_ALONE = 0o600


def make(path: Path) -> None:
    """Make the file, empty, unless it is there. SQLite gives its log and journals the mode of their file.

    Where that fails SQLite fails too, and says why.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ALONE))


def like(store: Path) -> int:
    """The mode for a file beside a store: who may read the one may read the other."""
    try:
        return stat.S_IMODE(store.stat().st_mode)
    except OSError:
        return OWNER_ALONE
