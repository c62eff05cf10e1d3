"""SQLite's file layer, with a callback for every disk operation."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import apsw

if TYPE_CHECKING:
    from collections.abc import Iterator


class Op(NamedTuple):
    """One file operation: make, write at an offset, truncate, sync or delete."""

    what: Literal["make", "write", "truncate", "sync", "delete"]
    path: str
    offset: int = 0
    data: bytes = b""


Watcher = Callable[[Op], None]


class _File(apsw.VFSFile):
    def __init__(self, base: str, name: apsw.URIFilename | str, flags: list[int], watcher: Watcher) -> None:
        self._path = name if isinstance(name, str) else name.filename()
        self._seen = watcher
        path = Path(self._path)
        # The program creates an empty private file before SQLite opens it.
        is_empty_store = flags[0] & apsw.SQLITE_OPEN_MAIN_DB and path.exists() and not path.stat().st_size
        if not path.exists() or is_empty_store:
            watcher(Op("make", self._path))
        super().__init__(base, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._seen(Op("write", self._path, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._seen(Op("truncate", self._path, newsize))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        self._seen(Op("sync", self._path))


class _Disk(apsw.VFS):
    def __init__(self, watcher: Watcher) -> None:
        self._base = apsw.vfs_names()[0]
        self._watcher = watcher
        super().__init__("watched", self._base, makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        if name is None:  # a temporary file of SQLite's own
            return apsw.VFSFile(self._base, name, flags)
        return _File(self._base, name, flags, self._watcher)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        self._watcher(Op("delete", filename))
        super().xDelete(filename, syncdir)


@contextmanager
def record_disk(watcher: Watcher) -> Iterator[None]:
    """Report the disk operations of connections that are opened in the block. Close them before its end."""
    disk = _Disk(watcher)
    try:
        yield
    finally:
        disk.unregister()
