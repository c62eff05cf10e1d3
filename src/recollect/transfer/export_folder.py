"""A folder, or a zip of it, that appears whole or not at all, and is its owner's alone."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING

from recollect.errors import Conflict, InvalidInput
from recollect.transfer.files import HOW_TO_OVERWRITE, NEW_FILE, check_unpacked, new_file

if TYPE_CHECKING:
    from collections.abc import Iterator

MANIFEST = "recollect.json"
"""In every folder that we wrote: what kind of export it is."""
EXPORT_TABLES = ("memories", "observations", "relations")
"""The files of an export to tables, without their endings."""
_MANIFEST_BYTES = 1_000
_TABLE_FORMATS = ("csv", "parquet")
_OWN_NAMES = {MANIFEST, *(f"{table}.{ending}" for table in EXPORT_TABLES for ending in _TABLE_FORMATS)}
MARKDOWN_START = b"---\nrecollect: "
"""How each of our Markdown files begins."""


@contextmanager
def open_folder(target: str, *, overwrite: bool) -> Iterator[Path]:
    """An empty folder to fill; at the end it gets its name, or is packed where the name ends in .zip."""
    given = Path(target)
    path = given.resolve()  # a link stays, and what it leads to is replaced
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
                        _pack(packed, file, file.relative_to(draft).as_posix())
        else:
            yield draft
            _check_folder(given, path, overwrite=overwrite)  # it may have come into being meanwhile
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
    """The format of a folder or a zip that we wrote; None of any other."""
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
    """Whether this is a folder that an export to tables made, a zip of one, or one of its files."""
    is_part = path.name in _OWN_NAMES and path.is_file()
    return read_manifest(path.parent if is_part else path) in _TABLE_FORMATS


@contextmanager
def unpacked_folder(path: Path) -> Iterator[Path]:
    """The folder itself; of a zip, a temporary one with its Markdown files."""
    if path.is_dir():
        yield path
        return
    with TemporaryDirectory(prefix="recollect-") as folder:
        try:
            _unpack(path, folder)
        except (OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
            raise InvalidInput(f"{path} could not be unpacked: {error}.") from error
        yield Path(folder)


def _unpack(path: Path, folder: str) -> None:
    with zipfile.ZipFile(path) as packed:
        entries = [each for each in packed.infolist() if each.filename.endswith((".md", MANIFEST))]
        check_unpacked(str(path), sum(each.file_size for each in entries), path.stat().st_size)
        for entry in entries:
            packed.extract(entry, folder)  # which leaves out what would lead elsewhere


@contextmanager
def private_file(path: Path) -> Iterator[IO[bytes]]:
    """A new file, for its owner alone: it holds what the store holds."""
    with os.fdopen(os.open(path, NEW_FILE, 0o600), "wb") as file:
        yield file


def _files(folder: Path) -> list[Path]:
    """Everything in it but folders; a link is what it is, wherever it leads."""
    return sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())


def _pack(packed: zipfile.ZipFile, file: Path, name: str) -> None:
    # No time in it, so that equal exports are equal files.
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o100600 << 16
    with file.open("rb") as source, packed.open(entry, "w", force_zip64=True) as into:
        shutil.copyfileobj(source, into)


def _replace_folder(draft: Path, path: Path) -> None:
    for file in _files(draft):
        # Before the name: after a power cut, what has the name is whole.
        with file.open("r+b") as written:
            os.fsync(written.fileno())
    if not path.exists():
        draft.replace(path)
        return
    former = path.with_name(f".{path.name}.{secrets.token_hex(4)}.old")
    path.replace(former)
    try:
        draft.replace(path)
    except OSError:
        former.replace(path)
        raise
    shutil.rmtree(former)


def _check_folder(given: Path, path: Path, *, overwrite: bool) -> None:
    """Only what we wrote is ever replaced: a folder holds what nobody would get back."""
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
