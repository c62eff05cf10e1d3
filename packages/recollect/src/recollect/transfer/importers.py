"""Protocol of importers: the source that a format reads, and the records that it yields."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Mapping  # dataclass fields: read at run time by typing.get_type_hints
from contextlib import contextmanager, suppress
from dataclasses import field
from datetime import datetime  # likewise
from functools import cached_property
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,  # likewise
)
from urllib.parse import quote

from recollect.domain.changes import Turn  # likewise
from recollect.domain.errors import InvalidInput, needs_extra
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Revision, Status  # likewise
from recollect.stores.url import SCHEMES, parse_store_url, without_password

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


@dataclass(frozen=True, slots=True)
class ForeignObservation:
    """A fact about an entity."""

    content: str
    kind: str = "generic"
    created_at: datetime | None = None
    """Default: the time of its entity."""
    happened_at: datetime | None = None
    superseded_at: datetime | None = None
    superseded_by: str | None = None
    """The content of the observation of the same entity that replaced it."""
    forgotten_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ForeignEntity:
    """An entity. Its name is unique in its scope."""

    name: str
    type: str = ""
    """Empty: `unknown`."""
    observations: tuple[ForeignObservation, ...] = ()
    created_at: datetime | None = None
    """Default: the time of the import."""
    updated_at: datetime | None = None
    tags: tuple[str, ...] = ()
    importance: float | None = None
    """From 0 to 1."""
    status: Status = Status.ACTIVE
    pinned: bool = False
    forgotten_at: datetime | None = None
    owner: str = ""
    """Empty: the importing owner."""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class ForeignNote:
    """A note: one independent text."""

    key: str
    """The source's id, or another text that stays the same in a later export."""
    text: str
    created_at: datetime | None = None
    updated_at: datetime | None = None
    happened_at: datetime | None = None
    category: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the source, as a JSON object."""
    importance: float | None = None
    speaker: str = ""
    session: str = ""
    about: tuple[str, ...] = ()
    """Entities that it is about, by name. A missing entity is created with the type `unknown`."""
    former: tuple[Revision, ...] = ()
    """Earlier texts, oldest first."""
    status: Status = Status.ACTIVE
    pinned: bool = False
    superseded_by: str | None = None
    """The key of the note that replaced it."""
    superseded_at: datetime | None = None
    forgotten_at: datetime | None = None
    expires_at: datetime | None = None
    """The time from which no search finds it. It may be in the past."""
    owner: str = ""
    agent: str = ""
    ref: str = ""
    """The ref by which our adapter for that program finds it; empty without an adapter."""


@dataclass(frozen=True, slots=True)
class ForeignMessage:
    """A turn of a conversation. A reader yields the turns of a session in order."""

    session: str
    key: str
    """Like a note's key, but unique only within its session."""
    text: str
    role: str = ""
    speaker: str = ""
    created_at: datetime | None = None
    """The time of the turn; None if unknown."""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    importance: float | None = None
    owner: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class ForeignRelation:
    """A link between two entities, by name. A missing entity is created with the type `unknown`."""

    source: str
    type: str
    target: str
    context: str = ""
    created_at: datetime | None = None
    since: datetime | None = None
    until: datetime | None = None
    forgotten_at: datetime | None = None
    owner: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class NotImported:
    """Data of the source that Recollect cannot keep. The report counts it and shows examples."""

    what: str
    """The kind of data, in the plural: `access counts`. The report has one line for each kind."""
    example: str = ""
    count: int = 1
    merged: ForeignRelation | None = None
    """The relation, if only its owner is unknown. It is imported when all owners are merged."""


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be read. It is reported, or stops the import before anything is written."""

    place: str
    """The place in the source: `memories, row 7`."""
    reason: str
    """The reason, as a sentence."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns of one session. A long session may be split into several conversations, in order."""

    session: str
    """The session's name, which must be the same in a later export."""
    title: str
    turns: tuple[Turn, ...]
    bad: tuple[str, ...] = ()
    """Unreadable parts, each with its place and the reason."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Counts of content that is not part of the conversation or cannot be stored, by kind."""

    @property
    def is_empty(self) -> bool:
        return not (self.turns or self.bad or self.left_out)

    @classmethod
    def unreadable(cls, session: str, title: str, reason: str) -> Conversation:
        return cls(session, title, (), (reason,))


ForeignItem = (
    ForeignEntity | Conversation | ForeignNote | ForeignMessage | ForeignRelation | NotImported | BadRow
)


@dataclass(frozen=True, slots=True)
class ForeignFormat:
    """A format of another program. An entry point of `recollect.importers` names it.

    A reader need not check lengths, empty texts or numbers: items that a store would refuse become bad rows.
    Importing again adds only new items: an item's key, or an entity's name, identifies it.
    """

    name: str
    """The name for `--format`; the `source` of every imported memory begins with it."""
    title: str
    """A description for people."""
    recognises: Callable[[ForeignSource], bool]
    """Whether a source has this format. It must be quick and write nothing. It raises only `InvalidInput`,
    for a source of this format that cannot be read."""
    read: Callable[[ForeignSource], Iterator[ForeignItem]]
    """Read the items of a source, in any order. Data that Recollect cannot keep is a `NotImported`."""
    order: int = 0
    """Formats with a lower number are tried first. Recollect's own line formats come before those from 1 on,
    which need not recognise a source if the user names the format."""
    signs: tuple[bytes, ...] = ()
    """Bytes near the start of its files. A large file that has one is recognised without reading it whole."""


# The file, folder or database to import. It is only read, and inspected once for all formats.


_DATABASE = b"SQLite format 3\0"
# The offset of the read version in a SQLite header. The value 2 means a write-ahead log.
_READ_VERSION = 19
_WAL = 2
_HEAD_BYTES = 64 * 1024
DOCUMENT_LIMIT = 512 * 1024 * 1024
"""Maximum bytes of a JSON document, which is read whole; conversations have a reader for any size."""


class ForeignRow(dict[str, Any]):
    """A row of a SQLite file, by column.

    A missing column is None: other versions of the program may lack it."""

    def __missing__(self, column: str) -> None:
        return None

    def text(self, column: str) -> str:
        """Return a column of any type as text; empty for NULL."""
        value = self[column]
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        return "" if value is None else str(value)


class ForeignSource:
    """A path or URL to import, with access to its files, tables or JSON."""

    def __init__(self, path: str | Path) -> None:
        self.path: Path = Path(path)
        self.url: str = str(path) if is_server_url(path) else ""
        """The URL of a PostgreSQL database. Empty for a path."""
        if self.url:
            return
        try:
            exists = self.path.exists()
        except PermissionError as error:
            raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
        except (OSError, ValueError):  # a name too long, or with a NUL
            exists = False
        if not exists:
            raise InvalidInput(f"There is no file or folder {path}.")
        if not self.path.is_file() and not self.path.is_dir():
            # A pipe can be read only once, and a source is inspected before it is read.
            raise InvalidInput(
                f"{path} is not an ordinary file; save it as one, or pipe it into: recollect import -"
            )

        if not self.path.is_dir():
            return
        # Check the folder now. Later, a format would name one of its own files, which may not exist.
        try:
            with os.scandir(self.path):
                pass
            os.stat(os.path.join(self.path, os.curdir))  # noqa: PTH116, PTH118  # Path would drop the dot
        except OSError as error:
            raise InvalidInput(f"The folder {self.path} cannot be read: {error.strerror}.") from error

    @property
    def display_name(self) -> str:
        """The path or URL for messages, without a password."""
        return without_password(self.url) if self.url else str(self.path)

    @property
    def is_folder(self) -> bool:
        return self.path.is_dir()

    @cached_property
    def head(self) -> bytes:
        """The first bytes of a file; empty for a folder."""
        if not self.path.is_file():
            return b""
        try:
            with self.path.open("rb") as file:
                return file.read(_HEAD_BYTES)
        except OSError as error:
            raise InvalidInput(f"{self.path} cannot be read: {error.strerror}.") from error

    @property
    def is_database(self) -> bool:
        """Whether it is a SQLite file."""
        return self.head.startswith(_DATABASE)

    @cached_property
    def tables(self) -> dict[str, tuple[str, ...]]:
        """The columns of every table of a SQLite file or a PostgreSQL database; empty for other sources."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        if self.url:
            for row in self.select(_SERVER_COLUMNS):
                found[row["table_name"]].append(row["column_name"])
        elif self.is_database:
            with self.database() as rows:
                for row in rows.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall():
                    columns = found[row["name"]]
                    with suppress(sqlite3.Error):  # a virtual table whose module is not loaded
                        named = rows.execute("SELECT name FROM pragma_table_info(?)", (row["name"],))
                        columns += [column["name"] for column in named]
        return {name: tuple(columns) for name, columns in found.items()}

    def has_table(self, name: str, *columns: str) -> bool:
        """Whether a SQLite file has this table with at least these columns."""
        return self.is_database and name in self.tables and set(columns) <= set(self.tables[name])

    def select(self, statement: str) -> Iterator[Mapping[str, Any]]:
        """Return the rows of a query on a SQLite file or a PostgreSQL database, by column."""
        if self.url:
            yield from _select_rows(self.url, statement)
            return
        with self.database() as rows:
            yield from rows.execute(statement)

    @contextmanager
    def database(self) -> Iterator[sqlite3.Connection]:
        """Open a read-only snapshot of the SQLite file; rows are read by name."""
        with open_database(self.path) as rows:
            yield rows

    @property
    def document(self) -> Any:
        """The value of a JSON document; None for any other file, such as JSON lines."""
        return self._document[0]

    def broken_document(self) -> str:
        """Return the error in a file that begins like JSON, as the end of a sentence; empty without one."""
        return self._document[1]

    @cached_property
    def _document(self) -> tuple[Any, str]:
        start = self.head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if not start.startswith((b"{", b"[")) or self.path.stat().st_size > DOCUMENT_LIMIT:
            return None, ""
        try:
            return json.loads(self.path.read_bytes().decode("utf-8").removeprefix("\ufeff")), ""
        except UnicodeDecodeError as error:
            return None, f"it is not UTF-8 text: byte {error.start + 1:,} is wrong."
        except json.JSONDecodeError as error:
            # JSON lines continue after the first line.
            is_lines = error.msg == "Extra data"
            place = f"line {error.lineno:,}, column {error.colno:,}"
            return None, "" if is_lines else f"as JSON, it is cut short or wrong at {place}: {error.msg}."
        except (ValueError, RecursionError) as error:
            return None, f"as JSON, it cannot be read: {error}."

    def file(self, *names: str) -> Path | None:
        """Return the first of these files that the folder contains."""
        return next((found for name in names if (found := self.path / name).is_file()), None)


@contextmanager
def open_database(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a SQLite file read-only. No file beside it changes, and another program may use it."""
    # SQLite keeps the log beside the real file, not beside a link to it.
    with _prepare_file(path.resolve()) as (place, options):
        try:
            connection = sqlite3.connect(f"file:{quote(str(place))}?{options}", uri=True)
        except sqlite3.Error as error:
            raise InvalidInput(f"{path} cannot be opened: {error}.") from error
        try:
            connection.row_factory = _row
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            connection.execute("PRAGMA query_only = 1")
            connection.execute("BEGIN")  # all queries see the same snapshot
            yield connection
        except sqlite3.Error as error:
            # The lowest byte of an extended code is the primary code.
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            advice = _ADVICE.get(code, _NO_ADVICE)
            raise InvalidInput(f"{path} could not be read: {error}. {advice}") from error
        finally:
            connection.close()


_ADVICE = {
    sqlite3.SQLITE_BUSY: "The program that uses it is writing; try again, or stop that program first.",
    sqlite3.SQLITE_CORRUPT: "The file is damaged or cut short; copy it again, or import a backup of it.",
    sqlite3.SQLITE_READONLY: (
        "The program that uses it may have died while writing; open it once with that program, then import "
        "it."
    ),
}
_ADVICE |= {
    sqlite3.SQLITE_LOCKED: _ADVICE[sqlite3.SQLITE_BUSY],
    sqlite3.SQLITE_NOTADB: _ADVICE[sqlite3.SQLITE_CORRUPT],
    sqlite3.SQLITE_CANTOPEN: _ADVICE[sqlite3.SQLITE_READONLY],
}
_NO_ADVICE = "This import may not support the version of the program that wrote it."


@contextmanager
def _prepare_file(path: Path) -> Iterator[tuple[Path, str]]:
    log, index = Path(f"{path}-wal"), Path(f"{path}-shm")
    with path.open("rb") as file:
        uses_log = file.read(_READ_VERSION + 1)[-1:] == bytes([_WAL])
    if not uses_log:
        yield path, "mode=ro"
    elif log.exists() and index.exists() and os.access(index, os.W_OK):
        # A reader and a writer share the log's index, which contains no data.
        yield path, "mode=ro"
    elif not log.exists() or not log.stat().st_size:
        # No program has it open. Opening it normally would create a log beside it. Without a log there are no
        # locks, so a program that starts to write is only noticed afterwards.
        before = path.stat()
        yield path, "mode=ro&immutable=1"
        after = path.stat()
        if (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
            raise InvalidInput(f"{path} changed while it was being read; import it again.")
    else:
        # A program died and left its log, or the folder is read-only, so SQLite cannot create an index.
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "copy.db"
            shutil.copyfile(path, copy)
            shutil.copyfile(log, f"{copy}-wal")
            yield copy, "mode=rw"


def _row(cursor: sqlite3.Cursor, values: tuple[Any, ...]) -> ForeignRow:
    return ForeignRow(zip((column[0] for column in cursor.description), values, strict=True))


# PostgreSQL databases of other programs: opened read-only, and read as of one moment.


_CONNECT_SECONDS = 10
_BATCH_ROWS = 500
_SERVER_COLUMNS = (
    "SELECT table_name, column_name FROM information_schema.columns "
    "WHERE table_schema = ANY(current_schemas(false)) ORDER BY table_name, ordinal_position"
)
"""The query for the columns of every table that the user can see on the search path."""


def is_server_url(path: str | Path) -> bool:
    """Whether it is the URL of a database rather than a path."""
    return isinstance(path, str) and path.startswith(tuple(f"{scheme}://" for scheme in SCHEMES))


def _select_rows(url: str, statement: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a query, by column; the server sends them in batches."""
    with needs_extra("Importing from PostgreSQL", "postgres"):
        import psycopg  # noqa: PLC0415  # installed by an extra
        from psycopg.rows import dict_row  # noqa: PLC0415  # the same

    place = parse_store_url(url)
    try:
        with psycopg.connect(place.server, connect_timeout=_CONNECT_SECONDS) as connection:
            connection.read_only = True
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            with connection.cursor("recollect_import", row_factory=dict_row) as cursor:
                cursor.itersize = _BATCH_ROWS
                yield from cursor.execute(statement)
    except psycopg.Error as error:
        # The message about an unreadable URL may show its password.
        if isinstance(error, psycopg.ProgrammingError) and not error.sqlstate:
            raise InvalidInput(
                "The URL is not valid; write it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE."
            ) from error
        raise InvalidInput(f"{place} could not be read: {error}") from error
