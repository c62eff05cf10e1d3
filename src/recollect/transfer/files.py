"""The files of imports and exports: lines to be read again, and files that appear whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
import secrets
import shutil
import tempfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, NamedTuple, cast

from recollect.errors import Conflict, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recollect.ports import Progress

GZIP_MARK = b"\x1f\x8b"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_UTF8_MARK = b"\xef\xbb\xbf"
LINE_LIMIT = 256 * 1024 * 1024
"""Bytes of one line: room for a hundred long former texts. Beyond it, a file without line ends would be read
into memory whole."""
MOST_UNPACKED = 100
"""How many times its packed size a file may have once unpacked: texts have five to twenty times."""
_UNPACKED_FREELY = 16 * 1024 * 1024
_PROGRESS_EVERY = 1_000
_DATABASE = b"SQLite format 3\0"
HOW_TO_OVERWRITE = "replace it with --overwrite (in Python: overwrite=True)"
# Windows distinguishes text from bytes even here.
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


class FileLine(NamedTuple):
    """A line that holds something, under its number in the file, from 1. None: it is too long to read."""

    number: int
    content: bytes | None


@dataclass(slots=True)
class LineFile:
    """One open file. It is opened once, so that every pass reads the same content, even if it is replaced."""

    name: str
    _raw: BinaryIO
    _size: int
    progress: Progress | None = None
    _passes: int = 1
    """How often the lines will be read: progress counts the bytes of every pass."""
    _done: int = field(default=0, init=False)
    read: int = field(default=0, init=False)
    """How many lines the last pass found that hold something."""

    def lines(self) -> Iterator[FileLine]:
        """Every line that is not empty, from the start; without line ends and a byte-order mark."""
        self.read = 0
        for number, content in self._numbered():
            if content is None or content.strip():
                self.read += 1
                yield FileLine(number, content)
            if number % _PROGRESS_EVERY == 0:
                self._report()
        self._done += 1
        self._raw.seek(0)
        self._report()

    def finish(self) -> None:
        """Say that the passes still planned are not needed."""
        if self.progress is not None and self._done < self._passes:
            self.progress(self._passes * self._size, self._passes * self._size)

    def first(self) -> FileLine | None:
        """The first line that holds something."""
        numbered = (FileLine(*line) for line in self._numbered())
        return next((line for line in numbered if line.content is None or line.content.strip()), None)

    def _numbered(self) -> Iterator[tuple[int, bytes | None]]:
        self._raw.seek(0)
        try:
            with _unpacked(self._raw) as file:
                yield from enumerate(_raw_lines(file), 1)
        except (OSError, EOFError, zlib.error) as error:
            raise InvalidInput(f"{self.name} could not be read to its end: {error}.") from error

    def _report(self) -> None:
        if self.progress is not None:
            here = min(self._raw.tell(), self._size)
            self.progress(self._done * self._size + here, self._passes * self._size)


@contextmanager
def open_lines(
    source: str | Path | IO[str] | IO[bytes], progress: Progress | None = None, passes: int = 1
) -> Iterator[LineFile]:
    """A file by its path; a stream is copied to a temporary file first, since it is read more than once."""
    if isinstance(source, str | Path):
        path = Path(source)
        with _opened(path) as raw:
            yield LineFile(str(path), raw, path.stat().st_size, progress, passes)
        return
    with tempfile.TemporaryFile() as spool:
        while piece := source.read(1 << 20):
            # Half a surrogate pair passes here, so that its own line is named later.
            spool.write(piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else piece)
        yield LineFile("the stream", spool, spool.tell(), progress, passes)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder; name a file in it.")
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise InvalidInput(f"There is no file {path}.") from None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
    with file:
        if file.seekable():
            yield file
            return
        with tempfile.TemporaryFile() as spool:  # a pipe under a name
            shutil.copyfileobj(file, spool)
            yield spool


@contextmanager
def _unpacked(raw: BinaryIO) -> Iterator[IO[bytes]]:
    start = raw.read(2)
    raw.seek(0)
    if start == GZIP_MARK:
        with gzip.GzipFile(fileobj=raw, mode="rb") as file:
            yield cast("IO[bytes]", UnpackedFile(file, raw))
    elif start in UTF16_MARKS:
        raise InvalidInput("The file is in UTF-16; save it as UTF-8 and import that.")
    else:
        yield raw


class UnpackedFile:
    """What a gzip file holds, refused once it grows beyond measure: a few kilobytes can hold gigabytes."""

    def __init__(self, file: gzip.GzipFile, packed: BinaryIO) -> None:
        self._file = file
        self._packed = packed

    def read(self, size: int) -> bytes:
        return self._checked(self._file.read(size))

    def readline(self, size: int) -> bytes:
        return self._checked(self._file.readline(size))

    def _checked(self, content: bytes) -> bytes:
        check_unpacked("It", self._file.tell(), self._packed.tell())
        return content


def check_unpacked(what: str, unpacked: int, packed: int) -> None:
    """Refuse what has more bytes unpacked than texts ever have."""
    if unpacked > max(_UNPACKED_FREELY, MOST_UNPACKED * packed):
        raise InvalidInput(
            f"{what} is packed so tightly that it is no export: {packed:,} bytes hold {unpacked:,} or more, "
            f"over {MOST_UNPACKED} times as many. If that is no mistake, unpack it and import that."
        )


def _raw_lines(file: IO[bytes]) -> Iterator[bytes | None]:
    content = file.readline(LINE_LIMIT).removeprefix(_UTF8_MARK)
    while content:
        if content.endswith(b"\n") or len(content) < LINE_LIMIT:
            yield content
        else:
            while content and not content.endswith(b"\n"):
                content = file.readline(1 << 20)
            yield None
        content = file.readline(LINE_LIMIT)


@contextmanager
def open_target(
    target: str | Path | IO[str] | IO[bytes], *, overwrite: bool
) -> Iterator[Callable[[str], object]]:
    """What to call with each line. A name that ends in .gz is packed; a stream is left open."""
    if isinstance(target, str | Path):
        with _line_file(Path(target), overwrite=overwrite) as write:
            yield write
    elif isinstance(target, io.TextIOBase):
        yield target.write
    else:
        binary: IO[bytes] = target  # type: ignore[assignment]  # what is no text stream takes bytes
        yield lambda line: binary.write(line.encode("utf-8"))


@contextmanager
def _line_file(given: Path, *, overwrite: bool) -> Iterator[Callable[[str], object]]:
    with new_file(given, overwrite=overwrite) as raw:
        if given.suffix.lower() == ".gz":
            # No name and no time in it, so that equal exports are equal files.
            with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
                yield lambda line: packed.write(line.encode("utf-8"))
        else:
            yield lambda line: raw.write(line.encode("utf-8"))


@contextmanager
def new_file(given: Path, *, overwrite: bool) -> Iterator[BinaryIO]:
    """A file that gets its name when it is whole."""
    path = given.resolve()  # a link stays, and what it leads to is replaced
    _check_target(given, path, overwrite=overwrite)
    # In the same folder, so that the last step is a rename, which is done or not done.
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        # For its owner alone: it holds what the store holds.
        with os.fdopen(os.open(draft, NEW_FILE, 0o600), "wb") as raw:
            yield raw
            raw.flush()
            os.fsync(raw.fileno())
        _check_target(given, path, overwrite=overwrite)  # it may have come into being meanwhile
        if path.exists():
            shutil.copymode(path, draft)
        draft.replace(path)
    except OSError as error:
        raise InvalidInput(f"{given} cannot be written: {error.strerror or error}.") from error
    finally:
        draft.unlink(missing_ok=True)


def _check_target(given: Path, path: Path, *, overwrite: bool) -> None:
    if path.is_dir():
        raise InvalidInput(f"{given} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise InvalidInput(f"There is no folder {given.parent}; create it first.")
    if not path.exists():
        return
    if not path.is_file():
        raise InvalidInput(f"{given} is no ordinary file; name one, or write to a stream.")
    if not overwrite:
        raise Conflict(f"{given} exists already; name another file, or {HOW_TO_OVERWRITE}.")
    with path.open("rb") as file:
        if file.read(len(_DATABASE)) == _DATABASE:
            raise Conflict(f"{given} is a database, and perhaps this very store; name another file.")
