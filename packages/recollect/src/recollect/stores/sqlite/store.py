"""The store port on one SQLite file, or on a database in memory."""

from __future__ import annotations

import logging
import threading
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from queue import Empty, LifoQueue
from typing import TYPE_CHECKING

import apsw

from recollect.domain.errors import StoreDamaged, StoreUnavailable
from recollect.domain.records import Problem
from recollect.domain.tables import COPY_MARK
from recollect.stores.sqlite.access import why_unwritable
from recollect.stores.sqlite.connection import (
    LOST_CHANGES,
    ChangeNumberFile,
    connect,
    failures_of,
    has_log,
    is_in_memory,
    new_memory_path,
    prepare,
)
from recollect.stores.sqlite.copying import copy_to
from recollect.stores.sqlite.snapshot import SqliteSnapshot, SqliteTransaction
from recollect.stores.vectors import file as private_files
from recollect.stores.vectors.cache import VectorCache

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from recollect.domain.records import Scope
    from recollect.domain.tables import Row
    from recollect.stores.port import Progress, Result, Transaction

# Scopes with memories but an empty word index, as after a migration. Fast enough for every start.
_SCOPES_WITHOUT_WORDS = (
    "SELECT id FROM scope AS s WHERE documents = 0 AND EXISTS (SELECT 1 FROM memory AS m "
    "WHERE m.scope_id = s.id AND m.deleted_at IS NULL AND m.superseded_at IS NULL) ORDER BY id"
)
_log = logging.getLogger(__name__)
# Enough for five writers that wait for each other.
BUSY_MS = 10_000
_COMPACTING = "compacting"
# The log is emptied when it is larger than this, and than this multiple of the file.
_LOG_BYTES = 3 << 20
_LOG_SHARE = 4
# How long emptying the log waits for readers; writers wait for it.
_LOG_WAIT_MS = 1_000


class SqliteStore:
    """A store in one file. Across threads and processes, one writes at a time; readers never wait."""

    def __init__(
        self,
        path: str | Path,
        *,
        busy_ms: int = BUSY_MS,
        progress: Progress | None = None,
        copying: bool = False,
    ) -> None:
        """Open or create a store. `progress` reports the migration of an older one.

        With `copying`, an incomplete copy may be opened, too. A path that ends in `:memory:` opens a new
        database in memory. Its readers and writers wait for each other, and closing it deletes it.
        """
        self.path: Path = new_memory_path() if is_in_memory(Path(path)) else Path(path)
        self.location: str | Path = self.path.name if is_in_memory(self.path) else self.path
        self._busy_ms = busy_ms
        # A database in memory exists as long as it has a connection.
        first = connect(self.path, self._busy_ms, writes=True) if is_in_memory(self.path) else None
        prepare(self.path, self._busy_ms, progress=progress)
        self._writer = first or connect(self.path, self._busy_ms, writes=True)
        self._cache = VectorCache(
            None if is_in_memory(self.path) else self.path.with_name(self.path.name + "-vectors"),
            private_files.mode_of_store(self.path),
        )
        self.read_only: bool = bool(why_unwritable(self.path))
        """Whether the file, its folder or its disk cannot be written."""
        self._inode = _inode(self.path)
        self._writing = threading.Lock()
        self._watching = threading.Lock()
        self._watcher: apsw.Connection | None = None
        self._readers: LifoQueue[apsw.Connection] = LifoQueue()
        self._closed = False
        self._log = self.path.with_name(self.path.name + "-wal")
        self._retry_at_bytes = 0
        self._log_inode: tuple[int, int] | None = None
        self._changes = ChangeNumberFile(self.path)
        self._is_guarded = True
        self._number = 0
        """The number of the change that is being written, or 0."""
        self._compacting = False
        """Whether the log may still hold pages of purged texts."""
        if not copying:
            self._finish_opening(progress)

    def _finish_opening(self, progress: Progress | None) -> None:
        """Refuse an unfinished copy, finish what a crash interrupted, and fill empty word indexes."""
        unindexed: list[Row] = []
        try:
            with failures_of(self.path):
                settings: dict[str, str] = dict(
                    self._writer.execute(
                        "SELECT name, value FROM setting WHERE name IN (?, ?)", (COPY_MARK, _COMPACTING)
                    )
                )
                mark = settings.get(COPY_MARK)
                if mark is None:
                    unindexed = self._writer.execute(_SCOPES_WITHOUT_WORDS).fetchall()
                if _COMPACTING in settings and not self.read_only:
                    self._compacting = True
                    with suppress(apsw.Error):
                        self._finish_compacting(0)
                if not self.read_only:
                    self._log_inode = _inode(self._log)
                    self._look_for_lost_changes()
        except StoreDamaged:
            if self._closed:
                raise
            # Open it all the same: the caller may check and repair it.
            mark, unindexed = None, []
        if mark is not None:
            from recollect.stores.check import unfinished_copy  # noqa: PLC0415  # few are

            self.close()
            raise unfinished_copy(self.path)
        if unindexed and not self.read_only:
            from recollect.stores.check import refill_words  # noqa: PLC0415  # few starts have to

            with self._transaction() as connection:
                for (scope,) in unindexed:
                    refill_words(SqliteTransaction(connection, self._cache), scope, progress)

    @contextmanager
    def read(self, within: Scope | None = None) -> Iterator[SqliteSnapshot]:  # noqa: ARG002  # one file holds all scopes
        with failures_of(self.path), self._reader() as connection:
            connection.execute("BEGIN")
            try:
                yield SqliteSnapshot(connection, self._cache)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def transact(
        self,
        work: Callable[[Transaction], Result],
        within: Collection[Scope] | None = None,  # noqa: ARG002  # there is one writer to all scopes
    ) -> Result:
        with self._transaction() as connection:
            rows = SqliteTransaction(connection, self._cache)
            result = work(rows)
            self._number = rows.finish()
            return result

    def version(self) -> int:
        self._refuse_unusable()
        if self.read_only:
            return hash((_changed_at(self.path), _changed_at(self._log)))
        with failures_of(self.path), self._watching:
            # `data_version` changes when another connection writes, so this connection must never write.
            if self._watcher is None:
                self._watcher = connect(self.path, self._busy_ms, writes=False)
            return int(self._watcher.pragma("data_version"))

    def backup(self, path: str, progress: Progress | None = None) -> None:
        with failures_of(self.path), self._reader() as connection:
            copy_to(connection, Path(path), progress)

    def compact(self) -> bool:
        self._refuse_unusable()
        # The cache may still hold vectors of purged passages.
        self._cache.clear()
        with self._writing, failures_of(self.path):
            # After a crash, the next process that opens the store sees this mark and finishes.
            self._writer.execute("INSERT OR REPLACE INTO setting VALUES (?, '1')", (_COMPACTING,))
            # Rewrite the file: free pages keep their content until they are reused.
            self._writer.execute("VACUUM")
            self._compacting = True
            return self._finish_compacting()

    def _finish_compacting(self, busy_ms: int | None = None) -> bool:
        """Move the log into the file and empty it. False if an active reader prevents that."""
        if not self._empty_log(self._busy_ms if busy_ms is None else busy_ms):
            return False
        self._writer.execute("DELETE FROM setting WHERE name = ?", (_COMPACTING,))
        self._compacting = False
        return True

    def _empty_log(self, busy_ms: int) -> bool:
        self._writer.set_busy_timeout(busy_ms)
        try:
            self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.Error:
            # A reader is active, or the disk is full. Committed changes are safe in the log.
            return False
        finally:
            self._writer.set_busy_timeout(self._busy_ms)
        return True

    def _limit_log(self) -> None:
        """Keep the log small after a commit. Errors are ignored: the commit has succeeded."""
        with suppress(apsw.Error, OSError):
            if self._compacting:
                self._finish_compacting(0)
            log, file = self._log.stat().st_size, self.path.stat().st_size
            # Overlapping readers keep SQLite from restarting the log.
            if log > max(_LOG_BYTES, _LOG_SHARE * file, self._retry_at_bytes):
                done = self._empty_log(_LOG_WAIT_MS)
                # While a long read is active, do not retry at every write.
                self._retry_at_bytes = 0 if done else log * 5 // 4

    def verify(self, *, quick: bool = False) -> Sequence[Problem]:
        from recollect.stores.sqlite import check  # noqa: PLC0415  # few processes check

        self._refuse_unusable()
        # Use a new connection: an older one may check pages in its cache, not on the disk.
        with failures_of(self.path), closing(connect(self.path, self._busy_ms, writes=False)) as connection:
            connection.execute("BEGIN")
            return check.find_problems(connection, self._cache, quick=quick)

    def repair(self) -> Sequence[Problem]:
        from recollect.stores.sqlite import check  # noqa: PLC0415  # few processes repair

        self._cache.clear()
        is_sound = False
        with (
            failures_of(self.path),
            closing(connect(self.path, self._busy_ms, writes=False)) as connection,
            suppress(apsw.CorruptError, apsw.NotADBError, apsw.SQLError),
        ):
            is_sound = connection.execute("PRAGMA integrity_check(1)").get == "ok"
        if not is_sound:
            return self._salvage() or self.verify()
        with self._transaction() as connection:
            check.rebuild(SqliteTransaction(connection, self._cache))
        return self.verify()

    def _salvage(self) -> Sequence[Problem]:
        """Copy readable rows to a new file. If no user's row is lost, that file replaces the store."""
        from recollect.stores.sqlite.check import salvage  # noqa: PLC0415
        from recollect.stores.sqlite.copying import replace_content  # noqa: PLC0415  # few processes repair

        self._refuse_unusable()
        new = free_name(self.path, "salvaged")
        # Lock the file: the salvage would lose what other processes write in the meantime.
        with self._writing, failures_of(self.path):
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                result = salvage(self._writer, new, self._busy_ms, self._cache)
            finally:
                self._writer.execute("ROLLBACK")
        if result.lost:
            advice = (
                f"all readable rows were copied to {new}; check that file, then replace this store with it "
                f"(`recollect restore {new}`), or restore a backup"
            )
            return [*result.problems, Problem(advice, "the file", repairable=False)]
        kept = free_name(self.path, "damaged")
        self.backup(str(kept))
        with self._writing:
            replace_content(new, self.path, self._busy_ms)
        new.unlink()
        return ()

    def size(self) -> tuple[int, int]:
        with failures_of(self.path), self._reader() as connection:
            pages, page = int(connection.pragma("page_count")), int(connection.pragma("page_size"))
            return pages * page, int(connection.pragma("user_version"))

    @property
    def cache_trouble(self) -> str | None:
        """Why vectors are in private memory; None if they are in the shared file."""
        return self._cache.reason

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        with self._writing:
            self._writer.close()
        with self._watching:
            if self._watcher is not None:
                self._watcher.close()
        while True:
            try:
                self._readers.get_nowait().close()
            except Empty:
                break
        self._cache.close()
        # The last process to close the store moves the log into the file, and deletes it.
        self._changes.close(remove=self._is_guarded and not self._log.exists())

    @contextmanager
    def _transaction(self) -> Iterator[apsw.Connection]:
        self._refuse_unusable()
        with self._writing, failures_of(self.path):
            # IMMEDIATE takes the write lock at once: otherwise a transaction that read first might have to
            # start over.
            self._writer.execute("BEGIN IMMEDIATE")
            self._number = 0
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            finally:
                # A full disk may have rolled back already; a failed commit has not.
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
            if self._number:
                self._changes.write(self._number)
            self._limit_log()

    @contextmanager
    def _unwritable_reader(self) -> Iterator[apsw.Connection]:
        """Yield a connection to a file that this process may only read, for one snapshot.

        Without a log, SQLite reads it without locks. If another process changes the file during a read, the
        read may mix pages of two moments. It then fails, and the caller repeats it.
        """
        is_unlocked, before = not has_log(self.path), _changed_at(self.path)
        with closing(connect(self.path, self._busy_ms, writes=False)) as connection:
            try:
                yield connection
            finally:
                if is_unlocked and _changed_at(self.path) != before:
                    changed = StoreUnavailable(f"{self.path} was changed while it was read; try again.")
                    changed.ask_again = True
                    raise changed

    @contextmanager
    def _reader(self) -> Iterator[apsw.Connection]:
        self._refuse_unusable()
        if self.read_only:
            with self._unwritable_reader() as connection:
                yield connection
            return
        try:
            connection = self._readers.get_nowait()
        except Empty:
            connection = connect(self.path, self._busy_ms, writes=False)
        try:
            yield connection
        finally:
            if self._closed:
                connection.close()
            else:
                self._readers.put(connection)

    def _look_for_lost_changes(self) -> None:
        """Compare the number of the last acknowledged change with that of the last stored one."""
        inode, acknowledged = self._changes.read() or (0, 0)
        number: int = self._writer.execute("SELECT number FROM change_number").get
        if acknowledged <= number:
            return
        lost = acknowledged - number
        if inode != self.path.stat().st_ino:
            self._is_guarded = False  # so that the next process to open it gets the same error
            self.close()
            raise StoreDamaged(
                f"{self.path} is a copy of a store that was in use, and lacks its last {lost} changes. Copy "
                f"the store with `recollect backup`, not as a file; to use this copy anyway, remove "
                f"{self.path}-changes."
            )
        _log.warning("%s lacks %d changes: its log was missing", self.path, lost)
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO setting VALUES (?1, ?2) ON CONFLICT(name) DO UPDATE SET value = value + ?2",
                (LOST_CHANGES, str(lost)),
            )
        self._changes.write(number)

    def _refuse_unusable(self) -> None:
        if self._closed:
            raise StoreUnavailable(f"{self.location} was closed; open it again.")
        if _inode(self.path) != self._inode:
            # SQLite would write to the old file, and other processes would not see it.
            raise StoreUnavailable(
                f"{self.path} was moved, deleted or replaced while it was open; open it again. "
                "Nothing was written."
            )
        if self._log_inode is not None and _inode(self._log) != self._log_inode:
            # SQLite would write to a log that other processes cannot find and that a crash would lose.
            raise StoreUnavailable(
                f"{self._log}, the log of the store, was removed or replaced while it was in use. Close "
                "every program that uses the store, and open it again. Nothing was written."
            )


def free_name(path: Path, what: str) -> Path:
    """Return an unused name for a file beside the store."""
    names = (path.with_name(f"{path.name}-{what}{f'-{n}' if n > 1 else ''}") for n in count(1))
    return next(name for name in names if not name.exists())


def _changed_at(path: Path) -> int:
    """When the file was last written, in nanoseconds; 0 if it does not exist."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
