"""The store port on one SQLite file."""

from __future__ import annotations

import threading
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from queue import Empty, LifoQueue
from typing import TYPE_CHECKING

import apsw

from recollect.errors import StoreUnavailable
from recollect.stores import private_files
from recollect.stores.sqlite.connection import connect, failures_of, prepare
from recollect.stores.sqlite.copying import copy_to
from recollect.stores.sqlite.snapshot import SqliteSnapshot, SqliteTransaction
from recollect.stores.vectors.cache import VectorCache
from recollect.tables import COPY_MARK

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from recollect.ports import Progress, Result, Transaction
    from recollect.records import Problem, Scope
    from recollect.tables import Row

# Five writers that each wait for the other four, with room to spare.
BUSY_MS = 10_000


class SqliteStore:
    """One writer at a time, across threads and processes; readers never wait."""

    def __init__(
        self,
        path: str | Path,
        *,
        busy_ms: int = BUSY_MS,
        progress: Progress | None = None,
        copying: bool = False,
    ) -> None:
        """`progress` is told how many memories of a scope are indexed, where that has to be done first.

        With `copying`, a copy that is not complete may be opened too.
        """
        self.path = Path(path)
        self._busy_ms = busy_ms
        prepare(self.path, busy_ms)
        self._cache = VectorCache(
            self.path.with_name(self.path.name + "-vectors"), private_files.like(self.path)
        )
        self._writer = connect(self.path, busy_ms, writes=True)
        self._inode = _inode(self.path)
        self._writing = threading.Lock()
        self._watching = threading.Lock()
        self._watcher: apsw.Connection | None = None
        self._readers: LifoQueue[apsw.Connection] = LifoQueue()
        self._closed = False
        if copying:
            return
        with failures_of(self.path):
            mark = self._writer.execute("SELECT value FROM setting WHERE name = ?", (COPY_MARK,)).get
            wordless = _scopes_without_words(self._writer) if mark is None else []
        if mark is not None:
            from recollect.stores.unfinished import unfinished_copy  # noqa: PLC0415  # few are

            self.close()
            raise unfinished_copy(str(self.path))
        if wordless:
            from recollect.stores.check import refill_words  # noqa: PLC0415  # few starts have to

            with self._transaction() as connection:
                for scope in wordless:
                    refill_words(SqliteTransaction(connection, self._cache), scope, progress)

    @contextmanager
    def read(self, within: Scope | None = None) -> Iterator[SqliteSnapshot]:  # noqa: ARG002  # all is in one place
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
            rows.finish()
            return result

    def version(self) -> int:
        self._refuse_unusable()
        with failures_of(self.path), self._watching:
            # SQLite counts for each connection what the others have written: so one stays that only looks.
            if self._watcher is None:
                self._watcher = connect(self.path, self._busy_ms, writes=False)
            return int(self._watcher.pragma("data_version"))

    def backup(self, path: str, progress: Progress | None = None) -> None:
        with failures_of(self.path), self._reader() as connection:
            copy_to(connection, Path(path), progress)

    def compact(self) -> None:
        self._refuse_unusable()
        with self._writing, failures_of(self.path):
            # The whole file anew: pages that are free keep what they held until they are used again.
            self._writer.execute("VACUUM")
            # Who reads at this moment keeps the log, and with it what it holds, until the next one to close.
            with suppress(apsw.BusyError):
                self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def verify(self) -> Sequence[Problem]:
        from recollect.stores.sqlite import check  # noqa: PLC0415  # few processes check

        # On a connection of its own: one that has read an index before may check it by what it remembers.
        with failures_of(self.path), closing(connect(self.path, self._busy_ms, writes=False)) as connection:
            connection.execute("BEGIN")
            return check.problems(connection, self._cache)

    def repair(self) -> Sequence[Problem]:
        from recollect.stores.sqlite import check  # noqa: PLC0415  # few processes repair

        self._cache.forget()
        with self._transaction() as connection:
            check.rebuild(SqliteTransaction(connection, self._cache))
        return self.verify()

    def size(self) -> tuple[int, int]:
        with failures_of(self.path), self._reader() as connection:
            pages, page = int(connection.pragma("page_count")), int(connection.pragma("page_size"))
            return pages * page, int(connection.pragma("user_version"))

    @property
    def cache_trouble(self) -> str | None:
        """Why vectors are kept in private memory instead of the shared file, if they are."""
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

    @contextmanager
    def _transaction(self) -> Iterator[apsw.Connection]:
        self._refuse_unusable()
        with self._writing, failures_of(self.path):
            # IMMEDIATE takes the write lock at once: a transaction that reads first and then cannot
            # write would have to start over.
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            finally:
                # A full disk may have rolled back already; a failed commit has not.
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")

    @contextmanager
    def _reader(self) -> Iterator[apsw.Connection]:
        self._refuse_unusable()
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

    def _refuse_unusable(self) -> None:
        if self._closed:
            raise StoreUnavailable(f"{self.path} was closed; open it again.")
        if _inode(self.path) != self._inode:
            # SQLite would go on with the file that had this name, and who opens the name would miss it all.
            raise StoreUnavailable(
                f"{self.path} was moved, deleted or replaced while it was open; open it again. "
                "Nothing was written."
            )


def _scopes_without_words(connection: apsw.Connection) -> list[int]:
    """Those that have memories and no words, as after a repair by hand: cheap enough for every start."""
    rows: list[Row] = connection.execute(
        "SELECT id FROM scope AS s WHERE documents = 0 AND EXISTS (SELECT 1 FROM memory AS m "
        "WHERE m.scope_id = s.id AND m.deleted_at IS NULL AND m.superseded_at IS NULL) ORDER BY id"
    ).fetchall()
    return [scope for (scope,) in rows]


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
