"""Backups, and putting one back."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

import apsw

from recollect.errors import InvalidInput
from recollect.stores.sqlite.connection import connect, failures_of, prepare

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.ports import Progress

_PAGES = 1_000


def copy_to(source: apsw.Connection, path: Path, progress: Progress | None = None) -> None:
    """A consistent copy of a store in use. The file appears whole, or not at all."""
    if path.exists():
        raise InvalidInput(f"{path} exists already; name a new file.")
    if not path.parent.is_dir():
        raise InvalidInput(f"There is no folder {path.parent}; create it first.")
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        with failures_of(path):
            _copy(source, unfinished, progress)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def put_back(backup: Path, path: Path, busy_ms: int, progress: Progress | None = None) -> None:
    """Make the store at `path` what the backup holds, in one transaction that other programs wait for.

    The store gets a new identity, so that no cache of its former content is taken for current.
    """
    prepare(backup, busy_ms)
    prepare(path, busy_ms)
    with failures_of(path):
        source, target = connect(backup, busy_ms, writes=False), connect(path, busy_ms, writes=True)
        try:
            _pages(source, target, progress)
            target.execute("UPDATE setting SET value = ? WHERE name = 'store_id'", (secrets.token_hex(16),))
        finally:
            source.close()
            target.close()


def _copy(source: apsw.Connection, path: Path, progress: Progress | None) -> None:
    target = apsw.Connection(str(path))
    try:
        _pages(source, target, progress)
        # One self-contained file: no log that could be left behind when it is moved.
        target.pragma("journal_mode", "delete")
    finally:
        target.close()
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _pages(source: apsw.Connection, target: apsw.Connection, progress: Progress | None) -> None:
    with target.backup("main", source, "main") as copy:
        while not copy.done:
            copy.step(_PAGES)
            if progress is not None:
                progress(copy.page_count - copy.remaining, copy.page_count)
