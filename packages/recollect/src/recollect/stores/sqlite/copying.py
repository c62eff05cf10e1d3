"""Backups, and putting one back."""

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
    """A consistent copy of a store in use. The file appears whole, or not at all.

    With `older_than`, it appears only if it is of an older schema and no other process was quicker.
    """
    if older_than is None and path.exists():
        raise InvalidInput(f"{path} exists already; name a new file.")
    if not path.parent.is_dir():
        raise InvalidInput(f"There is no folder {path.parent}; create it first.")
    with _failures_of_copy(path):
        with _unfinished(path) as unfinished:
            _copy(source, unfinished, progress)
            is_wanted = True
            if older_than is not None:
                with closing(apsw.Connection(str(unfinished), flags=apsw.SQLITE_OPEN_READONLY)) as copied:
                    is_wanted = schema_version(copied) < older_than and not path.exists()
            if is_wanted:
                unfinished.replace(path)
        _sync_folder(path.parent)


def restore_copy(backup: Path, path: Path, busy_ms: int, progress: Progress | None = None) -> None:
    """Make the store at `path` what the backup holds, in one transaction that other programs wait for.

    The backup stays as it is. The store gets a new identity, so that no cache of its former content is
    taken for current.
    """
    if not backup.is_file() or not backup.stat().st_size:
        raise NotFound(f"There is no backup at {backup}; name the file that `recollect backup` made.")
    if path.exists() and backup.samefile(path):
        raise InvalidInput(f"{backup} is the store itself; name the file that `recollect backup` made.")
    prepare(path, busy_ms)
    # The copy is brought up to date and given its identity before the store changes: a crash leaves the
    # store as it was, or as it shall be.
    with _failures_of_copy(path), _unfinished(path) as ready:
        with failures_of(path), closing(connect(path, busy_ms, writes=False)) as connection:
            number = int(connection.execute("SELECT number FROM change_number").get or 0)
        _make_ready(backup, ready, busy_ms, number)
        replace_content(ready, path, busy_ms, progress)


def replace_content(source: Path, path: Path, busy_ms: int, progress: Progress | None = None) -> None:
    """Make the store at `path` what another, current one holds, in one transaction."""
    with (
        failures_of(path),
        closing(connect(source, busy_ms, writes=False)) as new,
        closing(connect(path, busy_ms, writes=True)) as target,
    ):
        _pages(new, target, progress)


def _make_ready(backup: Path, ready: Path, busy_ms: int, after: int) -> None:
    """Bring a copy of the backup up to date; its changes are numbered after those of the store."""
    from recollect.stores.sqlite.store import SqliteStore  # noqa: PLC0415  # it builds on this module

    with failures_of(backup):
        refuse_strangers(backup, len(migrations()))
        with closing(apsw.Connection(str(backup), flags=apsw.SQLITE_OPEN_READONLY)) as source:
            source.set_busy_timeout(busy_ms)
            _copy(source, ready, None)
    prepare(ready, busy_ms, keep_older=False)
    # Index the words of an older backup now: a process that has the store open will not open it again.
    SqliteStore(ready, busy_ms=busy_ms).close()
    with failures_of(backup), closing(connect(ready, busy_ms, writes=True)) as target:
        broken = target.execute("PRAGMA integrity_check(1)").get
        if broken != "ok":
            raise StoreDamaged(f"{backup} is damaged ({broken}); the store was left as it is.")
        renew_identity(target)
        # With room for what others write before the store changes.
        target.execute("UPDATE change_number SET number = max(number, ?) + 1000000", (after,))


def _copy(source: apsw.Connection, path: Path, progress: Progress | None) -> None:
    private_files.make(path)
    with closing(apsw.Connection(str(path))) as target:
        _pages(source, target, progress)
        # One self-contained file: no log that could be left behind when it is moved.
        target.pragma("journal_mode", "delete")
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _pages(source: apsw.Connection, target: apsw.Connection, progress: Progress | None) -> None:
    # One read transaction for all steps: without it, a write between two steps starts the copy over,
    # and under steady writes it would never end.
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
def _unfinished(path: Path) -> Iterator[Path]:
    """A name beside `path` to work under; nothing stays there."""
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
    """The new name itself must survive a power cut. Windows has no such call, and needs none."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# Backups by day, beside a store: the newest few of them.

# A day's backup, or what a process that died while it wrote one has left behind.
_NAME = re.compile(r"(\d{4}-\d\d-\d\d)\.db(\..+)?")


def keep_daily_backup(store: Repository, folder: Path, day: date, most: int) -> None:
    """Back the store up under the day's name, unless it is; then remove all but the newest."""
    path = folder / f"{day.isoformat()}.db"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            if not path.exists():
                store.backup(str(path))
        except InvalidInput:
            if not path.exists():  # else another process was quicker
                raise
        named = {path: match for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))}
        whole = sorted((path for path, match in named.items() if not match[2]), reverse=True)
        # Another process may still write the unfinished backup of today.
        unfinished = [path for path, match in named.items() if match[2] and match[1] != day.isoformat()]
        for old in (*whole[most:], *unfinished):
            old.unlink(missing_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"No backup could be made in {folder}: {error.strerror}.") from error
