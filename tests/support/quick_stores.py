"""New stores in a fraction of the time: copies of one that was made before, which no power cut threatens."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import apsw

from recollect.stores.sqlite import store as sqlite_store
from recollect.stores.sqlite.connection import connect, prepare
from recollect.stores.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass
class QuickStores:
    """Whether stores are made quickly in this process; tests of how a store is made turn it off."""

    on: bool = True


class Template:
    """An empty store. Its copies differ from one another by their ids only, as new stores do."""

    def __init__(self) -> None:
        with TemporaryDirectory(prefix="recollect-") as folder:
            path = Path(folder) / "template.db"
            SqliteStore(path).close()
            connection = apsw.Connection(str(path))
            self._id: str = connection.execute("SELECT value FROM setting WHERE name = 'store_id'").get
            connection.close()
            self._bytes = path.read_bytes()
        assert self._bytes.count(self._id.encode()) == 1

    def copy_to(self, path: Path) -> None:
        """All at once, and only where there is no file yet: others may be making the same store."""
        new = path.with_name(f"{path.name}-{secrets.token_hex(4)}")
        new.touch(0o600)
        new.write_bytes(self._bytes.replace(self._id.encode(), secrets.token_hex(16).encode()))
        with suppress(FileExistsError):
            os.link(new, path)
        new.unlink()


@contextmanager
def quick_stores() -> Iterator[QuickStores]:
    quick, template = QuickStores(), Template()

    def copied(path: Path, busy_ms: int, steps: Sequence[str] | None = None, **how: Any) -> None:
        if quick.on and path.parent.is_dir() and not os.path.lexists(path):
            template.copy_to(path)
        prepare(path, busy_ms, steps, **how)

    def unsynchronised(*given: Any, **options: Any) -> apsw.Connection:
        connection = connect(*given, **options)
        if quick.on:
            connection.pragma("synchronous", "OFF")
        return connection

    with patch.object(sqlite_store, "prepare", copied), patch.object(sqlite_store, "connect", unsynchronised):
        yield quick
