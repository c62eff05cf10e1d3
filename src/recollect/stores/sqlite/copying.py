"""Backups, and putting one back."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw

from recollect.errors import InvalidInput, NotFound, StoreDamaged, StoreUnavailable
from recollect.stores import private_files
from recollect.stores.sqlite.connection import (
    connect,
    failures_of,
    migrations,
    prepare,
    refuse_strangers,
    renew_identity,
    schema_version,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recollect.ports import Progress

_PAGES = 1_000


def copy_to(source: apsw.Connection, path: Path, progress: Progress | None = None) -> None:
    """A consistent copy of a store in use. The file appears whole, or not at all."""
    if path.exists():
        raise InvalidInput(f"{path} exists already; name a new file.")
    if not path.parent.is_dir():
        raise InvalidInput(f"There is no folder {path.parent}; create it first.")
    with _failures_of_copy(path):
        with _unfinished(path) as unfinished:
            _copy(source, unfinished, progress)
            unfinished.replace(path)
        _sync_folder(path.parent)


def copy_older(source: apsw.Connection, path: Path, newest: int) -> None:
    """A copy of a store that is about to be brought from an older version to this one."""
    with _failures_of_copy(path):
        with _unfinished(path) as unfinished:
            _copy(source, unfinished, None)
            copied = apsw.Connection(str(unfinished), flags=apsw.SQLITE_OPEN_READONLY)
            try:
                is_older = schema_version(copied) < newest
            finally:
                copied.close()
            # Another process may have been quicker with all of it, and its copy is the one to keep.
            if is_older and not path.exists():
                unfinished.replace(path)
        _sync_folder(path.parent)


def restore_copy(backup: Path, path: Path, busy_ms: int, progress: Progress | None = None) -> None:
    """Make the store at `path` what the backup holds, in one transaction that other programs wait for.

    The backup stays as it is. The store gets a new identity, so that no cache of its former content is
    taken for current.
    """
    _refuse_no_backup(backup, path)
    prepare(path, busy_ms)
    # The copy is brought up to date and given its identity before the store changes: a crash leaves the
    # store as it was, or as it shall be.
    with _failures_of_copy(path), _unfinished(path) as ready:
        _make_ready(backup, ready, busy_ms, _change_number(path, busy_ms))
        replace_content(ready, path, busy_ms, progress)


def replace_content(source: Path, path: Path, busy_ms: int, progress: Progress | None = None) -> None:
    """Make the store at `path` what another, current one holds, in one transaction."""
    with failures_of(path):
        new, target = connect(source, busy_ms, writes=False), connect(path, busy_ms, writes=True)
        try:
            _pages(new, target, progress)
        finally:
            new.close()
            target.close()


def _refuse_no_backup(backup: Path, path: Path) -> None:
    if not backup.is_file() or not backup.stat().st_size:
        raise NotFound(f"There is no backup at {backup}; name the file that `recollect backup` made.")
    if path.exists() and backup.samefile(path):
        raise InvalidInput(f"{backup} is the store itself; name the file that `recollect backup` made.")


def _change_number(path: Path, busy_ms: int) -> int:
    with failures_of(path):
        connection = connect(path, busy_ms, writes=False)
        try:
            number: int | None = connection.execute("SELECT number FROM change_number").get
            return number or 0
        finally:
            connection.close()


def _make_ready(backup: Path, ready: Path, busy_ms: int, after: int) -> None:
    """Bring a copy of the backup up to date; its changes are numbered after those of the store."""
    with failures_of(backup):
        refuse_strangers(backup, len(migrations()))
        source = apsw.Connection(str(backup), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            source.set_busy_timeout(busy_ms)
            _copy(source, ready, None)
        finally:
            source.close()
    prepare(ready, busy_ms, keep_older=False)
    _fill_words(ready, busy_ms)
    with failures_of(backup):
        target = connect(ready, busy_ms, writes=True)
        try:
            broken = target.execute("PRAGMA integrity_check(1)").get
            if broken != "ok":
                raise StoreDamaged(f"{backup} is damaged ({broken}); the store was left as it is.")
            renew_identity(target)
            # With room for what others write before the store changes.
            target.execute("UPDATE change_number SET number = max(number, ?) + 1000000", (after,))
        finally:
            target.close()


def _fill_words(ready: Path, busy_ms: int) -> None:
    """Index the words of an older backup now: who has the store open will not open it again."""
    from recollect.stores.sqlite.store import SqliteStore  # noqa: PLC0415  # it builds on this module

    SqliteStore(ready, busy_ms=busy_ms).close()


def _copy(source: apsw.Connection, path: Path, progress: Progress | None) -> None:
    private_files.make(path)
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
