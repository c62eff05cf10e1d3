"""Where an export keeps its conversations: in a JSON file, in a zip, which stays packed, or in a folder."""

from __future__ import annotations

import gzip
import re
import zipfile
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, NamedTuple, cast

from recollect.errors import InvalidInput
from recollect.transfer.chats.walk import files_below, relative

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SIZE_LIMIT = 2 * 1024**3
"""Bytes that a zip's conversations may have once unpacked."""
_CONVERSATIONS = re.compile(r"conversations(?:[-_]?(\d+))?\.json", re.IGNORECASE)
_GZIP_MARK = b"\x1f\x8b"
_ENCRYPTED = 0x1


class Member(NamedTuple):
    """One file of conversations: by itself, or inside a zip."""

    name: str
    path: Path
    inside: zipfile.ZipInfo | None = None

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        try:
            if self.inside is None:
                with self.path.open("rb") as raw:
                    packed = raw.read(2) == _GZIP_MARK
                    raw.seek(0)
                    yield cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if packed else raw
            else:
                with zipfile.ZipFile(self.path) as archive, archive.open(self.inside) as file:
                    yield file
        except (OSError, zipfile.BadZipFile, NotImplementedError) as error:
            raise InvalidInput(f"{self.name} cannot be read: {error}.") from error


def members(path: Path) -> tuple[Member, ...]:
    """The files of conversations at this path, in the order of their numbers; none if a folder has none."""
    if path.is_dir():
        found: list[Member] = []
        for file in files_below(path, _may_hold).files:
            if is_zip(file):
                found += _inside(file, relative(file, path))
            elif not file.name.lower().endswith(".zip"):
                found.append(Member(relative(file, path), file))
        return tuple(sorted(found, key=_order))
    if not is_zip(path):
        return (Member(path.name, path),)
    inside = _inside(path, path.name)
    if not inside:
        raise InvalidInput(
            f"{path} has no conversations.json or conversations-000.json in it, as an export of ChatGPT or "
            "Claude has. If it holds other zips, unpack it and import the folder."
        )
    return tuple(sorted(inside, key=_order))


def is_zip(path: Path) -> bool:
    try:
        return path.is_file() and zipfile.is_zipfile(path)
    except OSError:
        return False


def _may_hold(name: str) -> bool:
    return name.lower().endswith(".zip") or _CONVERSATIONS.fullmatch(name) is not None


def _inside(path: Path, name: str) -> list[Member]:
    try:
        with zipfile.ZipFile(path) as archive:
            found = [info for info in archive.infolist() if _is_conversations(info)]
    # A zip's directory may be wrong in every way.
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise InvalidInput(f"{name} is a damaged zip: {error}. Download it again.") from error
    if any(info.flag_bits & _ENCRYPTED for info in found):
        raise InvalidInput(f"{name} is locked by a password; unpack it and import the folder.")
    size = sum(info.file_size for info in found)
    if size > SIZE_LIMIT:
        raise InvalidInput(
            f"{name} holds {size / 1024**3:,.1f} GB of conversations, more than the "
            f"{SIZE_LIMIT / 1024**3:,.0f} GB that are read out of a zip. If that is no mistake, "
            "unpack it and import the folder."
        )
    return [Member(f"{name}/{info.filename}", path, info) for info in found]


def _is_conversations(info: zipfile.ZipInfo) -> bool:
    *folders, file = info.filename.split("/")
    return "__MACOSX" not in folders and _CONVERSATIONS.fullmatch(file) is not None


def _order(member: Member) -> tuple[str, int]:
    folder, _, file = member.name.rpartition("/")
    number = _CONVERSATIONS.fullmatch(file)
    return folder, int(number[1]) if number and number[1] else -1
