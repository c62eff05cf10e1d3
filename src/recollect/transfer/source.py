"""The lines of a file or a stream, to be read as often as needed."""

from __future__ import annotations

import gzip
import shutil
import tempfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, NamedTuple, cast

from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.ports import Progress

_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_GZIP_MARK = b"\x1f\x8b"
# Far above any line that we write; below it, a file without line ends is not read into memory whole.
LINE_LIMIT = 256 * 1024 * 1024
_TOLD_EVERY = 1_000


class Line(NamedTuple):
    """A line that holds something, under its number in the file, from 1. None: it is too long to read."""

    number: int
    content: bytes | None


@dataclass(slots=True)
class Source:
    """One open file. It is opened once, so that every pass reads the same content, whoever replaces it."""

    name: str
    _raw: BinaryIO
    _size: int
    _passes: int = field(default=1, init=False)
    _done: int = field(default=0, init=False)
    read: int = field(default=0, init=False)
    """How many lines the last pass found that hold something."""
    progress: Progress | None = None

    def plan(self, passes: int) -> None:
        """Say how often the lines will be read: progress counts the bytes of every pass."""
        self._passes = passes

    def lines(self) -> Iterator[Line]:
        """Every line that is not empty, from the start; ends (LF or CRLF) and a byte-order mark taken off."""
        self.read = 0
        for number, content in self._numbered():
            if content is None or content.strip():
                self.read += 1
                yield Line(number, content)
            if number % _TOLD_EVERY == 0:
                self._tell()
        self._done += 1
        self._raw.seek(0)
        self._tell()

    def finish(self) -> None:
        """Say that the passes still planned are not needed."""
        if self.progress is not None and self._done < self._passes:
            self.progress(self._passes * self._size, self._passes * self._size)

    def first(self) -> Line | None:
        """The first line that holds something."""
        return next(
            (Line(number, line) for number, line in self._numbered() if line is None or line.strip()), None
        )

    def _numbered(self) -> Iterator[tuple[int, bytes | None]]:
        self._raw.seek(0)
        try:
            with _unpacked(self._raw) as file:
                yield from enumerate(_raw_lines(file), 1)
        except (OSError, EOFError, zlib.error) as error:
            raise InvalidInput(f"{self.name} could not be read to its end: {error}.") from error

    def _tell(self) -> None:
        if self.progress is not None:
            here = min(self._raw.tell(), self._size)
            self.progress(self._done * self._size + here, self._passes * self._size)


@contextmanager
def open_source(source: str | Path | IO[str] | IO[bytes], progress: Progress | None) -> Iterator[Source]:
    """A file by its path; a stream is copied to a temporary file first, since it is read more than once."""
    if isinstance(source, str | Path):
        path = Path(source)
        with _opened(path) as raw:
            yield Source(str(path), raw, path.stat().st_size, progress=progress)
    else:
        with tempfile.TemporaryFile() as spool:
            _spool(source, spool)
            yield Source("the stream", spool, spool.tell(), progress=progress)


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


def _spool(stream: IO[str] | IO[bytes], spool: IO[bytes]) -> None:
    while piece := stream.read(1 << 20):
        # Half a surrogate pair passes here, so that its own line is named later.
        spool.write(piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else piece)


@contextmanager
def _unpacked(raw: BinaryIO) -> Iterator[IO[bytes]]:
    start = raw.read(2)
    raw.seek(0)
    if start == _GZIP_MARK:
        with gzip.GzipFile(fileobj=raw, mode="rb") as file:
            yield cast("IO[bytes]", file)
    elif start in _UTF16_MARKS:
        raise InvalidInput("The file is in UTF-16; save it as UTF-8 and import that.")
    else:
        yield raw


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
