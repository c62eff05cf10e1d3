"""Where an export goes: a file that appears whole or not at all, or a stream."""

from __future__ import annotations

import gzip
import io
import os
import secrets
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from recollect.errors import Conflict, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_DATABASE = b"SQLite format 3\0"
# Windows parts text from bytes even here.
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


@contextmanager
def open_target(
    target: str | Path | IO[str] | IO[bytes], *, overwrite: bool
) -> Iterator[Callable[[str], object]]:
    """What to call with each line. A name that ends in .gz is packed; a stream is left open."""
    if isinstance(target, str | Path):
        with _file(Path(target), overwrite=overwrite) as write:
            yield write
    elif isinstance(target, io.TextIOBase):
        yield target.write
    else:
        binary: IO[bytes] = target  # type: ignore[assignment]  # what is no text stream takes bytes
        yield lambda line: binary.write(line.encode("utf-8"))


@contextmanager
def _file(given: Path, *, overwrite: bool) -> Iterator[Callable[[str], object]]:
    path = given.resolve()  # a link stays, and what it leads to is replaced
    _refuse(given, path, overwrite=overwrite)
    # In the same folder, so that the last step is a rename, which is done or not done.
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        # For its owner alone: it holds what the store holds.
        with os.fdopen(os.open(draft, _NEW, 0o600), "wb") as raw:
            if path.suffix == ".gz":
                # No name and no time in it, so that equal exports are equal files.
                with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
                    yield lambda line: packed.write(line.encode("utf-8"))
            else:
                yield lambda line: raw.write(line.encode("utf-8"))
            raw.flush()
            os.fsync(raw.fileno())
        _refuse(given, path, overwrite=overwrite)  # it may have come into being meanwhile
        if path.exists():
            shutil.copymode(path, draft)
        draft.replace(path)
    except OSError as error:
        raise InvalidInput(f"{given} cannot be written: {error.strerror}.") from error
    finally:
        draft.unlink(missing_ok=True)


def _refuse(given: Path, path: Path, *, overwrite: bool) -> None:
    if path.is_dir():
        raise InvalidInput(f"{given} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise InvalidInput(f"There is no folder {given.parent}; create it first.")
    if not path.exists():
        return
    if not path.is_file():
        raise InvalidInput(f"{given} is no ordinary file; name one, or write to a stream.")
    if not overwrite:
        raise Conflict(f"{given} exists already; name another file, or say that it may be overwritten.")
    with path.open("rb") as file:
        if file.read(len(_DATABASE)) == _DATABASE:
            raise Conflict(f"{given} is a database, and perhaps this very store; name another file.")
