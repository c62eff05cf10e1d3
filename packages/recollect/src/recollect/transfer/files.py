"""Read and write files of imports and exports. A written file or folder appears only when complete."""

from __future__ import annotations

import gzip
import io
import json
import os
import secrets
import shutil
import tempfile
import zipfile
import zlib
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NamedTuple

from recollect.domain.errors import Conflict, InvalidInput
from recollect.domain.lazy_dataclass import dataclass as lazy_dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from recollect.stores.port import Progress

_GZIP_MARK = b"\x1f\x8b"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_UTF8_MARK = b"\xef\xbb\xbf"
LINE_LIMIT = 256 * 1024 * 1024
"""Maximum bytes of a line, enough for a hundred long former texts. Without it, a file without line ends would
be read into memory whole."""
MOST_UNPACKED = 100
"""Maximum ratio of unpacked to packed size; texts have five to twenty."""
_UNPACKED_ANYWAY = 16 * 1024 * 1024
_LINES_PER_REPORT, _ITEMS_PER_REPORT = 1_000, 500
_DATABASE = b"SQLite format 3\0"
HOW_TO_OVERWRITE = "replace it with --overwrite (in Python: overwrite=True)"
# Without O_BINARY, Windows would change line ends.
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


class FileLine(NamedTuple):
    """A line that is not empty. Numbers start at 1. The content is None if the line is too long."""

    number: int
    content: bytes | None


@dataclass(slots=True)
class LineFile:
    """An open file. Every pass reads the same content, even if another file takes its path."""

    name: str
    _raw: BinaryIO
    _size: int
    progress: Progress | None = None
    _passes: int = 1
    """The number of planned passes over the lines. Progress counts the bytes of every pass."""
    _done: int = field(default=0, init=False)
    read: int = field(default=0, init=False)
    """The number of lines in the last pass, not counting empty ones."""

    def lines(self) -> Iterator[FileLine]:
        """Yield the lines that are not empty, from the start, without line ends and byte-order mark."""
        self.read = 0
        for number, content in self._numbered_lines():
            if content is None or content.strip():
                self.read += 1
                yield FileLine(number, content)
            if number % _LINES_PER_REPORT == 0:
                self._report()
        self._done += 1
        self._raw.seek(0)
        self._report()

    def finish(self) -> None:
        """Report the remaining planned passes as done."""
        if self.progress is not None and self._done < self._passes:
            self.progress(self._passes * self._size, self._passes * self._size)

    def first(self) -> FileLine | None:
        """Return the first line that is not empty."""
        numbered = (FileLine(*line) for line in self._numbered_lines())
        return next((line for line in numbered if line.content is None or line.content.strip()), None)

    def _numbered_lines(self) -> Iterator[tuple[int, bytes | None]]:
        self._raw.seek(0)
        try:
            if self._raw.read(2) in UTF16_MARKS:
                raise InvalidInput("The file is in UTF-16; save it as UTF-8 and import that.")
            self._raw.seek(0)
            with open_unpacked(self._raw) as file:
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
    """Open a path or a stream. A stream is copied to a temporary file, since it is read several times."""
    if not isinstance(source, str | Path):
        with tempfile.TemporaryFile() as spool:
            while piece := source.read(1 << 20):
                # Accept a lone surrogate here; a later error names the line that has it.
                spool.write(piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else piece)
            yield LineFile("the stream", spool, spool.tell(), progress, passes)
        return
    path = Path(source)
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder; name a file in it.")
    try:
        file: BinaryIO = path.open("rb")
    except FileNotFoundError:
        raise InvalidInput(f"There is no file {path}.") from None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
    with file:
        if file.seekable():
            yield LineFile(str(path), file, path.stat().st_size, progress, passes)
            return
        with tempfile.TemporaryFile() as spool:  # a named pipe
            shutil.copyfileobj(file, spool)
            yield LineFile(str(path), spool, path.stat().st_size, progress, passes)


@contextmanager
def open_unpacked(raw: BinaryIO) -> Iterator[BinaryIO]:
    """Open the content of a file that may be packed with gzip."""
    start = raw.read(2)
    raw.seek(0)
    if start == _GZIP_MARK:
        with _UnpackedFile(raw) as file:
            yield file  # type: ignore[misc]  # GzipFile has the methods of BinaryIO
    else:
        yield raw


class _UnpackedFile(gzip.GzipFile):
    """A gzip file with a limit on its unpacked size: a few kilobytes can unpack to gigabytes."""

    def __init__(self, packed: BinaryIO) -> None:
        super().__init__(fileobj=packed, mode="rb")
        self._packed = packed

    def read(self, size: int | None = -1) -> bytes:
        return self._check_size(super().read(size))

    def readline(self, size: int | None = -1) -> bytes:
        return self._check_size(super().readline(size))

    def _check_size(self, content: bytes) -> bytes:
        check_unpacked("The file", self.tell(), self._packed.tell())
        return content


def check_unpacked(what: str, unpacked: int, packed: int) -> None:
    """Raise `InvalidInput` if the content is packed more tightly than texts can be."""
    if unpacked > max(_UNPACKED_ANYWAY, MOST_UNPACKED * packed):
        raise InvalidInput(
            f"{what} is packed too tightly for an export: {packed:,} bytes unpack to {unpacked:,} or more, "
            f"over {MOST_UNPACKED} times as many. If this is expected, unpack it and import that."
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
    """Yield a function that writes a line. A file ending in .gz is packed. A stream stays open."""
    if isinstance(target, io.TextIOBase):
        yield target.write
        return
    with ExitStack() as stack:
        binary: Any = target
        if isinstance(target, str | Path):
            binary = stack.enter_context(new_file(Path(target), overwrite=overwrite))
            if Path(target).suffix.lower() == ".gz":
                # Leave out name and time, so that equal exports give equal files.
                packed = gzip.GzipFile(filename="", fileobj=binary, mode="wb", mtime=0)
                binary = stack.enter_context(packed)
        yield lambda line: binary.write(line.encode("utf-8"))


@contextmanager
def new_file(given: Path, *, overwrite: bool) -> Iterator[BinaryIO]:
    """Open a temporary file, and rename it when it is complete."""
    path = given.resolve()  # keep a link, and replace its target
    _check_target(given, path, overwrite=overwrite)
    # The draft is in the same folder, so that the rename is atomic.
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        # Only the owner may read the file, as with the store.
        with os.fdopen(os.open(draft, NEW_FILE, 0o600), "wb") as raw:
            yield raw
            raw.flush()
            os.fsync(raw.fileno())
        _check_target(given, path, overwrite=overwrite)  # another program may have created it
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
        raise InvalidInput(f"{given} is not an ordinary file; name one, or write to a stream.")
    if not overwrite:
        raise Conflict(f"{given} exists already; name another file, or {HOW_TO_OVERWRITE}.")
    with path.open("rb") as file:
        if file.read(len(_DATABASE)) == _DATABASE:
            raise Conflict(f"{given} is a database, and perhaps this very store; name another file.")


# Files of JSON lines


# Most lines and bytes of one write.
_BATCH_LINES = 1_000
_BATCH_BYTES = 4_000_000
_JSON_TYPES = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}


def read_object(content: bytes | None) -> dict[str, Any]:
    """Return the JSON object on a line; for other content, raise `InvalidInput` with the reason."""
    if content is None:
        raise InvalidInput(f"The line is too long to be read: it has over {LINE_LIMIT:,} bytes.")
    try:
        plain = json.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InvalidInput(f"The line is not UTF-8 text: byte {error.start + 1} is wrong.") from None
    except json.JSONDecodeError as error:
        raise InvalidInput(f"The line is not JSON: {error.msg} at character {error.colno}.") from None
    except (ValueError, RecursionError) as error:  # a very long number; very deep nesting
        raise InvalidInput(f"The line cannot be read as JSON: {error}.") from None
    if not isinstance(plain, dict):
        raise InvalidInput(f"The line is {json_type(plain)}, where an object was expected.")
    return plain


def write_object(plain: dict[str, object]) -> str:
    """Write a line like the official server: without spaces between values or escaped Unicode."""
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def json_type(value: object) -> str:
    """Name the type of a JSON value in words."""
    return _JSON_TYPES.get(type(value), "a number")


@lazy_dataclass(frozen=True, slots=True)
class LineFormat:
    """A format of the lines of a file."""

    key: str
    """The key whose value is the kind of record on a line."""
    parsers: Mapping[str, Callable[[dict[str, Any]], tuple[Any, str | None]]]
    """A parser for each kind. It returns the record, and a note on what it left out."""
    headed: bool = False
    """Whether the first line is a header, without a record."""

    def parse(self, plain: dict[str, Any]) -> tuple[Any, str | None]:
        kind = plain.pop(self.key, None)
        if isinstance(kind, str) and kind in self.parsers:
            return self.parsers[kind](plain)
        known = " or ".join(self.parsers)
        if kind is None:
            raise InvalidInput(f"The line has no `{self.key}`; it must be {known}.")
        raise InvalidInput(f"The line's `{self.key}` is {str(kind)[:40]!a}; it must be {known}.")


class NumberedRecord(NamedTuple):
    """A record, with its line's number and size in bytes."""

    line: int
    size: int
    record: Any


def records(
    source: LineFile, format_: LineFormat, bad: Callable[[int, str], None], without: str | None = None
) -> Iterator[NumberedRecord]:
    """Yield the records of readable lines, except one kind. `bad` gets what was unreadable or left out."""
    for number, content in islice(source.lines(), int(format_.headed), None):
        try:
            plain = read_object(content)
            if without is not None and plain.get(format_.key) == without:
                continue
            record, left_out = format_.parse(plain)
        except InvalidInput as error:
            bad(number, str(error))
            continue
        if left_out is not None:
            bad(number, left_out)
        yield NumberedRecord(number, len(content or b""), record)


def record_batches(numbered: Iterable[NumberedRecord]) -> Iterator[list[NumberedRecord]]:
    batch: list[NumberedRecord] = []
    size = 0
    for one in numbered:
        batch.append(one)
        size += one.size
        if len(batch) >= _BATCH_LINES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def report_each(items: Iterable[Any], total: int | None, progress: Progress | None) -> Iterator[Any]:
    """Yield the items, and report progress every few hundred."""
    done = 0
    for done, item in enumerate(items, start=1):
        yield item
        if progress and done % _ITEMS_PER_REPORT == 0:
            progress(done, None if total is None else max(done, total))
    if progress:
        progress(done, None if total is None else done)


# Exported folders, or zips of them: only the owner can read them, and they appear only when complete


MANIFEST = "recollect.json"
"""A file in every exported folder that names the format."""
EXPORT_TABLES = ("memories", "observations", "relations")
"""Names of the files of an export to tables, without endings."""
_MANIFEST_BYTES = 1_000
_TABLE_FORMATS = ("csv", "parquet")
_OWN_NAMES = {MANIFEST, *(f"{table}.{ending}" for table in EXPORT_TABLES for ending in _TABLE_FORMATS)}
MARKDOWN_START = b"---\nrecollect: "
"""The first bytes of every exported Markdown file."""


@contextmanager
def open_folder(target: str, *, overwrite: bool) -> Iterator[Path]:
    """Yield an empty temporary folder to fill. Then rename it, or pack it if the target ends in .zip."""
    given = Path(target)
    path = given.resolve()  # keep a link, and replace its target
    if not path.parent.is_dir():
        raise InvalidInput(f"There is no folder {given.parent}; create it first.")
    is_zip = path.suffix.lower() == ".zip"
    if not is_zip:
        _check_folder(given, path, overwrite=overwrite)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        draft.mkdir(mode=0o700)
        if is_zip:
            with new_file(given, overwrite=overwrite) as raw:
                yield draft
                with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as packed:
                    for file in _files(draft):
                        # Leave out the time, so that equal exports give equal files.
                        entry = zipfile.ZipInfo(file.relative_to(draft).as_posix())
                        entry.compress_type = zipfile.ZIP_DEFLATED
                        entry.external_attr = 0o100600 << 16
                        with file.open("rb") as source, packed.open(entry, "w", force_zip64=True) as into:
                            shutil.copyfileobj(source, into)
        else:
            yield draft
            _check_folder(given, path, overwrite=overwrite)  # another program may have created it
            _replace_folder(draft, path)
    except OSError as error:
        raise InvalidInput(f"{given} cannot be written: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def write_manifest(folder: Path, format_: str) -> None:
    text = json.dumps({"recollect": format_, "version": 1}) + "\n"
    with private_file(folder / MANIFEST) as file:
        file.write(text.encode())


def read_manifest(path: Path) -> str | None:
    """Return the format of an exported folder or zip; None for any other."""
    try:
        if path.is_dir():
            content = (path / MANIFEST).read_bytes()[:_MANIFEST_BYTES]
        elif path.suffix.lower() != ".zip" or not path.is_file():
            return None
        else:
            with zipfile.ZipFile(path) as packed, packed.open(MANIFEST) as file:
                content = file.read(_MANIFEST_BYTES)
        plain = json.loads(content)
    except (OSError, ValueError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error):
        return None
    format_ = plain.get("recollect") if isinstance(plain, dict) else None
    return format_ if isinstance(format_, str) else None


def is_table_export(path: Path) -> bool:
    """Whether this is an export to tables: its folder, a zip of it, or one of its files."""
    is_part = path.name in _OWN_NAMES and path.is_file()
    return read_manifest(path.parent if is_part else path) in _TABLE_FORMATS


@contextmanager
def unpacked_folder(path: Path) -> Iterator[Path]:
    """Yield the folder itself; for a zip, a temporary folder with its Markdown files."""
    if path.is_dir():
        yield path
        return
    with TemporaryDirectory(prefix="recollect-") as folder:
        try:
            with zipfile.ZipFile(path) as packed:
                entries = [each for each in packed.infolist() if each.filename.endswith((".md", MANIFEST))]
                check_unpacked(str(path), sum(each.file_size for each in entries), path.stat().st_size)
                # `extractall` writes nothing outside the folder, whatever paths the entries have.
                packed.extractall(folder, entries)
        except (OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
            raise InvalidInput(f"{path} could not be unpacked: {error}.") from error
        yield Path(folder)


@contextmanager
def private_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file that only its owner can read, like the store."""
    with os.fdopen(os.open(path, NEW_FILE, 0o600), "wb") as file:
        yield file


def _files(folder: Path) -> list[Path]:
    """Return all files in a folder and its subfolders. Links count as files."""
    return sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())


def _replace_folder(draft: Path, path: Path) -> None:
    for file in _files(draft):
        # Sync before the rename, so that the files are complete even after a power cut.
        with file.open("r+b") as written:
            os.fsync(written.fileno())
    if not path.exists():
        draft.replace(path)
        return
    backup = path.with_name(f".{path.name}.{secrets.token_hex(4)}.old")
    path.replace(backup)
    try:
        draft.replace(path)
    except OSError:
        backup.replace(path)
        raise
    shutil.rmtree(backup)


def _check_folder(given: Path, path: Path, *, overwrite: bool) -> None:
    """Refuse to replace a folder with files that no export wrote."""
    if not path.exists():
        return
    if not path.is_dir():
        raise Conflict(f"{given} is a file, and this format makes a folder; name another, or a .zip.")
    files = _files(path)
    if not files:
        return
    if not overwrite:
        raise Conflict(f"{given} exists already; name another folder, or {HOW_TO_OVERWRITE}.")
    foreign = [file for file in files if not _is_own(file)]
    if read_manifest(path) is None or foreign:
        which = (foreign or files)[0].relative_to(path)
        raise Conflict(f"{given} contains files that no export wrote, such as {which}; name another folder.")


def _is_own(file: Path) -> bool:
    if file.is_symlink() or not file.is_file():
        return False
    if file.suffix == ".md":
        with file.open("rb") as opened:
            return opened.read(len(MARKDOWN_START)) == MARKDOWN_START
    return file.name in _OWN_NAMES
