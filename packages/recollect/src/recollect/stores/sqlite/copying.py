"""Make and restore backups, and keep one per day."""

from __future__ import annotations

import os
import re
import secrets
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import apsw

from recollect.domain.errors import InvalidInput, NotFound, StoreDamaged, StoreUnavailable
from recollect.stores.sqlite.connection import (
    connect,
    failures_of,
    migrations,
    prepare,
    refuse_strangers,
    renew_identity,
    schema_version,
)
from recollect.stores.vectors import file as private_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date
    from pathlib import Path

    from recollect.stores.port import Progress
    from recollect.write.repository import Repository

_PAGES = 1_000


def copy_to(
    source: apsw.Connection, path: Path, progress: Progress | None = None, older_than: int | None = None
) -> None:
    """Copy a store, even while it is used. The new file appears complete, or not at all.

    With `older_than`, it appears only if its schema is older and no such file exists yet.
    """
    if older_than is None and path.exists():
        raise InvalidInput(f"{path} exists already; name a new file.")
    if not path.parent.is_dir():
        raise InvalidInput(f"There is no folder {path.parent}; create it first.")
    with _failures_of_copy(path):
        with _temporary_path(path) as unfinished:
            _copy(source, unfinished, progress)
            is_wanted = True
            if older_than is not None:
                with closing(apsw.Connection(str(unfinished), flags=apsw.SQLITE_OPEN_READONLY)) as copied:
                    is_wanted = schema_version(copied) < older_than and not path.exists()
            if is_wanted:
                unfinished.replace(path)
        _sync_folder(path.parent)


def restore_copy(backup: Path, path: Path, busy_ms: int, progress: Progress | None = None) -> None:
    """Replace the content of the store with that of the backup, in one transaction.

    The backup is not changed. The store gets a new identity, which invalidates caches of its old content.
    """
    if not backup.is_file() or not backup.stat().st_size:
        raise NotFound(f"There is no backup at {backup}; name the file that `recollect backup` made.")
    if path.exists() and backup.samefile(path):
        raise InvalidInput(f"{backup} is the store itself; name the file that `recollect backup` made.")
    prepare(path, busy_ms)
    # The copy is migrated and gets its identity before the store changes: a crash leaves the store either
    # unchanged or fully restored.
    with _failures_of_copy(path), _temporary_path(path) as ready:
        with failures_of(path), closing(connect(path, busy_ms, writes=False)) as connection:
            number = int(connection.execute("SELECT number FROM change_number").get or 0)
        _make_ready(backup, ready, busy_ms, number)
        replace_content(ready, path, busy_ms, progress)


def replace_content(source: Path, path: Path, busy_ms: int, progress: Progress | None = None) -> None:
    """Replace the content of the store with that of another current one, in one transaction."""
    with (
        failures_of(path),
        closing(connect(source, busy_ms, writes=False)) as new,
        closing(connect(path, busy_ms, writes=True)) as target,
    ):
        _copy_pages(new, target, progress)


def _make_ready(backup: Path, ready: Path, busy_ms: int, after: int) -> None:
    """Migrate a copy of the backup, and number its changes after those of the store."""
    from recollect.stores.sqlite.store import SqliteStore  # noqa: PLC0415  # it builds on this module

    with failures_of(backup):
        refuse_strangers(backup, len(migrations()))
        with closing(apsw.Connection(str(backup), flags=apsw.SQLITE_OPEN_READONLY)) as source:
            source.set_busy_timeout(busy_ms)
            _copy(source, ready, None)
    prepare(ready, busy_ms, keep_older=False)
    # Build the word index of an older backup now: processes with an open store will not open it again.
    SqliteStore(ready, busy_ms=busy_ms).close()
    with failures_of(backup), closing(connect(ready, busy_ms, writes=True)) as target:
        broken = target.execute("PRAGMA integrity_check(1)").get
        if broken != "ok":
            raise StoreDamaged(f"{backup} is damaged ({broken}); the store was not changed.")
        renew_identity(target)
        # Leave room for changes that other processes write before the store is replaced.
        target.execute("UPDATE change_number SET number = max(number, ?) + 1000000", (after,))


def _copy(source: apsw.Connection, path: Path, progress: Progress | None) -> None:
    private_files.create_private_file(path)
    with closing(apsw.Connection(str(path))) as target:
        _copy_pages(source, target, progress)
        # No separate log, which would be missing if someone moved only the file.
        target.pragma("journal_mode", "delete")
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _copy_pages(source: apsw.Connection, target: apsw.Connection, progress: Progress | None) -> None:
    # One read transaction for all steps: otherwise a write between two steps restarts the copy, which
    # would never end under steady writes.
    source.execute("BEGIN")
    try:
        source.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
        with target.backup("main", source, "main") as copy:
            while not copy.done:
                copy.step(_PAGES)
                if progress is not None:
                    progress(copy.page_count - copy.remaining, copy.page_count)
    finally:
        if source.in_transaction:
            source.execute("ROLLBACK")


@contextmanager
def _temporary_path(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside `path`, and delete its files at the end."""
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield unfinished
    finally:
        for rest in ("", "-journal", "-wal", "-shm"):
            unfinished.with_name(unfinished.name + rest).unlink(missing_ok=True)


@contextmanager
def _failures_of_copy(path: Path) -> Iterator[None]:
    try:
        with failures_of(path):
            yield
    except OSError as error:
        raise StoreUnavailable(f"{path} could not be written: {error.strerror}.") from error


def _sync_folder(folder: Path) -> None:
    """Sync the folder, so that the new name survives a power cut. Windows needs no such call."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# Daily backups

# The backup of a day, or an unfinished one that a crashed process left.
_NAME = re.compile(r"(\d{4}-\d\d-\d\d)\.db(\..+)?")


def keep_daily_backup(store: Repository, folder: Path, day: date, max_count: int) -> None:
    """Make the backup of the day if it is missing, and keep only the newest `max_count`."""
    path = folder / f"{day.isoformat()}.db"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            if not path.exists():
                store.backup(str(path))
        except InvalidInput:
            if not path.exists():  # otherwise another process has made it
                raise
        named = {path: match for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))}
        whole = sorted((path for path, match in named.items() if not match[2]), reverse=True)
        # Another process may still write the unfinished backup of today.
        unfinished = [path for path, match in named.items() if match[2] and match[1] != day.isoformat()]
        for old in (*whole[max_count:], *unfinished):
            old.unlink(missing_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"No backup could be made in {folder}: {error.strerror}.") from error
