"""Open a store's file: check it, migrate it, and explain SQLite's errors."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import struct
import time
from contextlib import closing, contextmanager, suppress
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import apsw

from recollect.domain.errors import NotAStore, StoreDamaged, StoreUnavailable
from recollect.stores.check import FIXED_WORDS, refuse_newer, words_checksum
from recollect.stores.sqlite.access import why_unreadable, why_unwritable
from recollect.stores.url import IN_MEMORY
from recollect.stores.vectors import file as private_files
from recollect.text.names import name_beginning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from recollect.domain.tables import Row
    from recollect.stores.port import Progress


# Waiting for a lock

_LONGEST_PAUSE_SECONDS = 0.02
_SHORTEST_PAUSE_SECONDS = 0.001
_SHORTEST_AFTER_SECONDS = 1.0


class BusyWait:
    """A busy handler that retries more often the longer it has waited, up to a time limit.

    SQLite keeps no queue: the next connection to ask gets a free lock. Its own busy timeout pauses longer and
    longer, which favours connections that come late. Among ten writers, one waited ten seconds while the
    others wrote a hundred times each. Here, the connection that has waited longest asks most often.
    """

    def __init__(
        self,
        limit_seconds: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._limit_seconds = limit_seconds
        self._clock = clock
        self._sleep = sleep
        self._since = 0.0

    def __call__(self, asked_before: int) -> bool:
        """Pause, and return whether to ask again. SQLite counts from 0 for each lock."""
        now = self._clock()
        if asked_before == 0:
            self._since = now
        waited = now - self._since
        if waited >= self._limit_seconds:
            return False
        self._sleep(min(pause_after(waited), self._limit_seconds - waited))
        return True


def pause_after(waited_seconds: float) -> float:
    """Return the next pause: 20 ms at first, falling to 1 ms after a second."""
    share = max(0.0, 1.0 - waited_seconds / _SHORTEST_AFTER_SECONDS)
    return _SHORTEST_PAUSE_SECONDS + share * (_LONGEST_PAUSE_SECONDS - _SHORTEST_PAUSE_SECONDS)


def new_memory_path() -> Path:
    """Return a name for a new database in memory, in the form of a path."""
    return Path(f"/{secrets.token_hex(8)}/{IN_MEMORY}")


def is_in_memory(path: Path) -> bool:
    return path.name == IN_MEMORY


APPLICATION_ID = 0x52434C54  # "RCLT", in the file's header
# Before 3.51.3, a writer and a checkpoint could reset the log at the same moment and corrupt the file.
_OLDEST_SQLITE = (3, 51, 3)
_MAGIC = b"SQLite format 3\0"
_TRIES = 100
# Bytes. SQLite grows its shared-memory file by 32 kB at a time, and the log by whole pages.
_LEAST_ROOM = 65_536
# The file, its log, the log's index, the folder, and one that SQLite keeps in reserve.
_FILES_OF_A_STORE = 5
_NO_MORE_FILES = {errno.EMFILE, errno.ENFILE}
# The first schema in which entities store the first word of their name.
_WITH_FIRST_WORDS = 6
# The first schema with our own word index.
_WITH_TERMS = 8
# The first schema with checksums, and how many rows get theirs at a time.
_WITH_CHECKSUMS = 11
_AT_ONCE = 5_000


def migrations() -> tuple[str, ...]:
    """Return all schema changes in order. Add new ones at the end; never change one."""
    folder = resources.files(__package__) / "migrations"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return tuple((folder / name).read_text(encoding="utf-8") for name in names)


def prepare(
    path: Path,
    busy_ms: int,
    steps: Sequence[str] | None = None,
    *,
    keep_older: bool = True,
    progress: Progress | None = None,
) -> None:
    """Make the file a store of the current version, or refuse it and leave it unchanged.

    An older store is backed up first if `keep_older`. `progress` reports the migration of its rows.
    """
    if tuple(map(int, apsw.sqlite_lib_version().split("."))) < _OLDEST_SQLITE:
        needed = ".".join(map(str, _OLDEST_SQLITE))
        raise StoreUnavailable(
            f"SQLite {apsw.sqlite_lib_version()} can corrupt a file that several programs write; "
            f"{needed} or later is needed: pip install --upgrade apsw"
        )
    with failures_of(path):
        steps = migrations() if steps is None else steps
        if is_in_memory(path):
            with closing(_open(path, busy_ms)) as connection:
                _migrate(connection, path, steps, progress)
            return
        refuse_strangers(path, len(steps))
        if why := why_unwritable(path):
            with closing(_open_unwritable(path, busy_ms)) as connection:
                version = schema_version(connection)
            if version < len(steps):
                raise StoreUnavailable(
                    f"{path} has the older schema {version} and cannot be upgraded: {why}. Copy it to "
                    "a folder that you can write to, and open the copy."
                )
            return
        private_files.create_private_file(path)
        with closing(_open(path, busy_ms)) as connection:
            try:
                backup = path.with_name(f"{path.name}-before-schema-{len(steps)}")
                if keep_older and 0 < schema_version(connection) < len(steps) and not backup.exists():
                    from recollect.stores.sqlite.copying import copy_to  # noqa: PLC0415  # builds on this

                    copy_to(connection, backup, older_than=len(steps))
                _migrate(connection, path, steps, progress)
                _use_log(connection)
            except NotAStore:
                # Closing would move the log into the file, and this file must stay unchanged.
                connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
                raise


def connect(path: Path, busy_ms: int, *, writes: bool) -> apsw.Connection:
    """Connect to a file that `prepare` has checked."""
    with failures_of(path):
        connection = (
            _open_unwritable(path, busy_ms) if why_unwritable(path) else _open(path, busy_ms, create=False)
        )
        connection.pragma("foreign_keys", 1)
        # FULL, not NORMAL: an acknowledged write must survive a power cut.
        connection.pragma("synchronous", "FULL")
        connection.pragma("temp_store", "MEMORY")
        connection.pragma("trusted_schema", 0)
        if not writes:
            connection.pragma("query_only", 1)
        return connection


def has_log(path: Path) -> bool:
    """Whether the log holds changes: another process has the store open, or did not close it."""
    try:
        return path.with_name(path.name + "-wal").stat().st_size > 0
    except FileNotFoundError:
        return False


def _open_unwritable(path: Path, busy_ms: int) -> apsw.Connection:
    """Connect without writing anything: neither the log nor its shared-memory file.

    Without a log, `immutable` reads the file without locks; the store notices if another process changes it.
    """
    how = "mode=ro" if has_log(path) else "immutable=1"
    if how == "mode=ro" and not path.with_name(path.name + "-shm").exists():
        raise StoreUnavailable(
            f"{path} was not closed properly, and reading its log needs a file that cannot be written here. "
            f"Copy it with {path.name}-wal to a place that you can write to, and open the copy."
        )
    connection = apsw.Connection(
        f"file:{quote(str(path.absolute()))}?{how}",
        flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
        statementcachesize=200,
    )
    connection.set_busy_timeout(busy_ms)
    return connection


def renew_identity(connection: apsw.Connection) -> None:
    """Assign a new id to the store, so that no process uses its old caches."""
    connection.execute("INSERT OR REPLACE INTO setting VALUES ('store_id', ?)", (secrets.token_hex(16),))


@contextmanager
def failures_of(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into Recollect's, which name a remedy."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError, apsw.ProtocolError) as error:
        raise StoreUnavailable(
            f"{path} is locked by another program, and waiting did not help. "
            "Close that program, or try again later. Nothing was written."
        ) from error
    except apsw.FullError as error:
        raise StoreUnavailable(_full_disk_message(path)) from error
    except (apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError) as error:
        why = _missing_right(path) or "SQLite reports it as read-only"
        raise StoreUnavailable(
            f"{path} cannot be written to: {why}. Change that, or name another file with --store."
        ) from error
    except apsw.CantOpenError as error:
        raise StoreUnavailable(
            _exhaustion(path) or f"{path} cannot be opened or written to: {_missing_right(path) or error}."
        ) from error
    except apsw.NotADBError as error:
        raise NotAStore(f"{path} is not a Recollect store; it was left as it is.") from error
    except apsw.CorruptError as error:
        raise StoreDamaged(
            f"{path} is damaged ({error}). Run `recollect doctor --repair`, or restore a backup."
        ) from error
    except apsw.SQLError as error:
        if not str(error).startswith(("no such table", "no such column")):
            raise
        raise StoreUnavailable(
            f"{path} has another schema now ({error}): another version of Recollect upgraded it. "
            "Restart this program with the same version. Nothing was written."
        ) from error
    except (apsw.IOError, apsw.NoMemError) as error:
        raise StoreUnavailable(
            _exhaustion(path) or f"{path} could not be read or written: {error}. Nothing was written."
        ) from error
    except OSError as error:
        if error.errno not in _NO_MORE_FILES:
            raise
        raise StoreUnavailable(_too_many_files_message(path)) from error


def _missing_right(path: Path) -> str:
    """Return the right that this user lacks, or ""; for a new file, the right to create it."""
    return why_unreadable(path) or why_unwritable(path if path.exists() else path.parent)


def _exhaustion(path: Path) -> str | None:
    """Return a message if files or disk space have run out. SQLite does not name these causes."""
    opened: list[int] = []
    try:
        # Open other files, not the store's: closing that would release this process's locks on it. Open as
        # many as a store needs: SQLite has closed its own by now.
        opened.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(_FILES_OF_A_STORE))
    except OSError as error:
        if error.errno in _NO_MORE_FILES:
            return _too_many_files_message(path)
    finally:
        for each in opened:
            os.close(each)
    with suppress(OSError):
        if shutil.disk_usage(path.parent).free < _LEAST_ROOM:
            return _full_disk_message(path)
    return None


def _too_many_files_message(path: Path) -> str:
    return (
        f"{path} could not be opened or read: this process has too many open files. Close some, or raise "
        "the limit (`ulimit -n`), and try again. Nothing was written."
    )


def _full_disk_message(path: Path) -> str:
    return f"There is no space left to write {path}. Free some and try again. Nothing was written."


def refuse_strangers(path: Path, known: int) -> None:
    """Refuse files that are not Recollect's, by their header; `known` is the newest schema of this version.

    SQLite opens the file only afterwards, since it could write to it.
    """
    try:
        if path.is_dir():
            raise NotAStore(f"{path} is a folder; name a file in it.")
        if not path.parent.is_dir():
            raise StoreUnavailable(f"There is no folder {path.parent}; create it first.")
        if not os.path.lexists(path):
            return
    except OSError as error:
        why = why_unreadable(path) or error.strerror
        raise StoreUnavailable(f"{path} cannot be reached: {why}.") from error
    # Through SQLite's file layer: a plain close would release all locks of this process on the file.
    # Another program could then remove the log of an open store.
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0])
    try:
        # `xRead` strips the zeros at the end of a short read.
        header = file.xRead(100, 0).ljust(min(100, file.xFileSize()), b"\0")
    finally:
        file.xClose()
    # If a power cut interrupted the creation of the file, SQLite rolls it back from the journal.
    is_half_made = not any(header) and path.with_name(path.name + "-journal").exists()
    if not header or is_half_made:
        return
    if not header.startswith(_MAGIC):
        raise NotAStore(f"{path} is not a Recollect store; it was left as it is.")
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise NotAStore(f"{path} is an SQLite file of another program; it was left as it is.")
    refuse_newer(int.from_bytes(header[60:64], "big"), known, path)


def _open(path: Path, busy_ms: int, *, create: bool = True) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    # `memdb` shares a database among the connections of a process that open the same absolute path.
    name, vfs = (path.as_posix(), "memdb") if is_in_memory(path) else (str(path), None)
    connection = apsw.Connection(name, flags=flags, vfs=vfs, statementcachesize=200)
    connection.set_busy_handler(BusyWait(busy_ms / 1000))
    return connection


def _migrate(
    connection: apsw.Connection, path: Path, steps: Sequence[str], progress: Progress | None
) -> None:
    version = schema_version(connection)
    refuse_newer(version, len(steps), path)
    if version == len(steps):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have migrated it while we waited for the lock.
        version = schema_version(connection)
        refuse_newer(version, len(steps), path)
        if version == 0:
            _refuse_tables(connection, path)
        for step in steps[version:]:
            connection.execute(step)
        if version < _WITH_FIRST_WORDS <= len(steps):
            rows = connection.execute("SELECT id, folded_name FROM memory WHERE kind = 'entity'").fetchall()
            connection.executemany(
                "UPDATE memory SET first_word = ? WHERE id = ?",
                [(name_beginning(str(folded)), id_) for id_, folded in rows],
            )
        if version < _WITH_TERMS <= len(steps):
            # The store fills the new index when it is opened.
            for (scope,) in connection.execute("SELECT id FROM scope").fetchall():
                for table in ("word_count", "words", "stems", "pairs"):
                    connection.execute(f"DROP TABLE IF EXISTS {table}_{scope}")
        if version < _WITH_CHECKSUMS <= len(steps):
            _fill_checksums(connection, progress)
        if version == 0:
            connection.pragma("application_id", APPLICATION_ID)
            renew_identity(connection)
        connection.pragma("user_version", len(steps))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _fill_checksums(connection: apsw.Connection, progress: Progress | None) -> None:
    total: int = sum(connection.execute(f"SELECT count(*) FROM {table}").get for table in FIXED_WORDS)
    done = 0
    for table, words in FIXED_WORDS.items():
        after = 0
        listed = f"SELECT id, {', '.join(words)} FROM {table} WHERE id > ? ORDER BY id LIMIT ?"
        rows: list[Row]
        while rows := connection.execute(listed, (after, _AT_ONCE)).fetchall():
            connection.executemany(
                f"UPDATE {table} SET checksum = ? WHERE id = ?",
                [(words_checksum(table, each), id_) for id_, *each in rows],
            )
            after, done = rows[-1][0], done + len(rows)
            if progress is not None:
                progress(done, total)


def schema_version(connection: apsw.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").get)


def _refuse_tables(connection: apsw.Connection, path: Path) -> None:
    """Refuse a file that was empty when first checked, but now has tables of another program."""
    if connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").get is not None:
        raise NotAStore(f"{path} is an SQLite file of another program; it was left as it is.")


def _use_log(connection: apsw.Connection) -> None:
    """Switch to write-ahead logging: readers and writers do not wait for each other.

    The switch needs exclusive access, and ignores the busy handler, so we retry.
    """
    for _ in range(_TRIES):
        try:
            if connection.pragma("journal_mode", "wal") == "wal":
                return
        except apsw.BusyError:
            pass
        time.sleep(0.05)
    raise apsw.BusyError("journal_mode")


# The number of the last change, stored outside the log. After a crash, it shows whether the log is missing

LOST_CHANGES = "lost_changes"
"""The setting with the number of lost changes, until a repair deletes it."""
_LAYOUT = struct.Struct("<8sQQ")
_CHANGE_NUMBER_MAGIC = b"rcltchg\n"


class ChangeNumberFile:
    """The file with that number, beside the store. Errors are ignored: it only guards against a lost log."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._path = store.with_name(store.name + "-changes")
        self._file: int | None = None

    def read(self) -> tuple[int, int] | None:
        """Return the inode of the store's file (a copy has another) and the number of the last change."""
        try:
            magic, inode, number = _LAYOUT.unpack(self._path.read_bytes())
        except (OSError, struct.error):
            return None
        return (inode, number) if magic == _CHANGE_NUMBER_MAGIC else None

    def write(self, number: int) -> None:
        # Not synced: after a power cut, the number may be too low, and hide some lost changes.
        with suppress(OSError):
            if self._file is None:
                flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0)
                self._file = os.open(self._path, flags, private_files.mode_of_store(self._store))
            os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, _LAYOUT.pack(_CHANGE_NUMBER_MAGIC, self._store.stat().st_ino, number))

    def close(self, *, remove: bool) -> None:
        """Close the file; with `remove`, delete it too, because the store's file holds all changes."""
        with suppress(OSError):
            if self._file is not None:
                os.close(self._file)
            self._file = None
            if remove:
                self._path.unlink(missing_ok=True)
