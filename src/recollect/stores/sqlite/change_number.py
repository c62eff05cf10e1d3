"""The number of a store's last change, kept outside its log: a log that is missing after a crash is noticed.

SQLite cannot tell a store whose log was deleted from one that was closed in good order. So while the log is
in use, the last number that was acknowledged stands in a file of its own; who closes last removes it.
"""

from __future__ import annotations

import os
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from recollect.stores import private_files

if TYPE_CHECKING:
    from pathlib import Path

LOST_CHANGES = "lost_changes"
"""The setting that says how many changes were lost, until a repair takes note of it."""
_FORM = struct.Struct("<8sQQ")
_MAGIC = b"rcltchg\n"


class Noted(NamedTuple):
    """What the file beside a store says."""

    inode: int
    """Of the store's file: a copy has another."""
    number: int


class ChangeNumberFile:
    """The file beside a store. Whatever fails here fails in silence: it guards, and nothing depends on it."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._path = store.with_name(store.name + "-changes")
        self._file: int | None = None

    def read(self) -> Noted | None:
        try:
            packed = self._path.read_bytes()
        except OSError:
            return None
        if len(packed) != _FORM.size:
            return None
        magic, inode, number = _FORM.unpack(packed)
        return Noted(inode, number) if magic == _MAGIC else None

    def write(self, number: int) -> None:
        # Not synced: what a power cut takes from it only makes it less watchful.
        with suppress(OSError):
            if self._file is None:
                flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0)
                self._file = os.open(self._path, flags, private_files.like(self._store))
            os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, _FORM.pack(_MAGIC, self._store.stat().st_ino, number))

    def close(self, *, remove: bool) -> None:
        """With `remove`, all that was written is in the store's own file."""
        with suppress(OSError):
            if self._file is not None:
                os.close(self._file)
            self._file = None
            if remove:
                self._path.unlink(missing_ok=True)
