"""Where exports keep conversations: in a JSON file, in a zip, which stays packed, or below a folder."""

from __future__ import annotations

import gzip
import re
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from recollect.errors import InvalidInput
from recollect.transfer.chats.conversation import Conversation, object_at
from recollect.transfer.chats.json_values import json_values
from recollect.transfer.files import GZIP_MARK, UnpackedFile, check_unpacked

if TYPE_CHECKING:
    from pathlib import Path

SIZE_LIMIT = 2 * 1024**3
"""Bytes that a zip's conversations may have once unpacked."""
_CONVERSATIONS = re.compile(r"conversations(?:[-_]?(\d+))?\.json", re.IGNORECASE)
_ENCRYPTED = 0x1

ReadConversation = Callable[[dict[str, Any], str], Conversation]


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
                    packed = raw.read(2) == GZIP_MARK
                    raw.seek(0)
                    yield cast("IO[bytes]", UnpackedFile(gzip.GzipFile(fileobj=raw), raw)) if packed else raw
            else:
                with zipfile.ZipFile(self.path) as archive, archive.open(self.inside) as file:
                    yield file
        except (OSError, zipfile.BadZipFile, NotImplementedError) as error:
            raise InvalidInput(f"{self.name} cannot be read: {error}.") from error

    def rows(self) -> Iterator[object]:
        """The conversations, as plain data: a list of them, or an object that keeps them in a list."""
        with self.opened() as file:
            for plain in json_values(file, self.name):
                if isinstance(plain, dict) and isinstance(plain.get("conversations"), list):
                    yield from plain["conversations"]
                else:
                    yield plain


def archived_conversations(path: Path, format: str, read: ReadConversation) -> Iterator[Conversation]:  # noqa: A002  # as in the façade
    """Every conversation of every file; `read` gets one, and its place for messages."""
    found = archive_members(path)
    if not found:
        raise InvalidInput(
            f"There is no conversations.json or conversations-000.json in {path}, nor a zip of it."
        )
    for member in found:
        session, number = f"{format}:{member.name}", 0
        try:
            for number, plain in enumerate(member.rows(), 1):
                place = f"{member.name}, conversation {number}"
                try:
                    conversation = read(object_at(plain, "It"), place)
                except InvalidInput as error:
                    conversation = Conversation.unreadable(session, member.name, f"{place}: {error}")
                if not conversation.is_empty:
                    yield conversation
        except InvalidInput as error:
            # What was read of it stays read.
            more = f" What stands before it, {number:,} conversations, was read." if number else ""
            yield Conversation.unreadable(session, member.name, f"{error}{more}")


def archive_members(path: Path) -> tuple[Member, ...]:
    """The files of conversations at this path, in the order of their numbers; none if a folder has none."""
    if path.is_dir():
        found: list[Member] = []
        for file in files_below(path, _may_hold)[0]:
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


def other_files(path: Path, wanted: Callable[[str], bool] | None) -> tuple[str, ...]:
    """The names of what else a zip or folder holds, in their order; without `wanted`, of an export."""
    if path.is_dir():
        is_read = wanted or _may_hold
        files = files_below(path, lambda name: not is_read(name))[0]
        return tuple(relative(file, path) for file in files)
    if not is_zip(path):
        return ()
    with zipfile.ZipFile(path) as archive:
        others = (info for info in archive.infolist() if not info.is_dir() and not _is_conversations(info))
        return tuple(sorted(info.filename for info in others if "__MACOSX" not in info.filename))


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
    for info in found:
        check_unpacked(f"{name}/{info.filename}", info.file_size, info.compress_size)
    return [Member(f"{name}/{info.filename}", path, info) for info in found]


def _is_conversations(info: zipfile.ZipInfo) -> bool:
    *folders, file = info.filename.split("/")
    return "__MACOSX" not in folders and _CONVERSATIONS.fullmatch(file) is not None


def _order(member: Member) -> tuple[str, int]:
    folder, _, file = member.name.rpartition("/")
    number = _CONVERSATIONS.fullmatch(file)
    return folder, int(number[1]) if number and number[1] else -1


def files_below(folder: Path, wanted: Callable[[str], bool]) -> tuple[list[Path], list[str]]:
    """The files whose name is wanted, always in the same order; and folders that cannot be read, and why.

    Hidden ones are left out. A folder that a link leads to again is read once.
    """
    files: list[Path] = []
    closed: list[str] = []
    seen: set[Path] = set()
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        real = here.resolve()
        if real in seen:
            continue
        seen.add(real)
        try:
            entries = [entry for entry in here.iterdir() if not entry.name.startswith(".")]
        except OSError as error:
            closed.append(f"{relative(here, folder)} cannot be read: {error.strerror}.")
            continue
        files += [entry for entry in entries if wanted(entry.name) and entry.is_file()]
        # A folder behind a link comes after those that are really here, so that these give their paths.
        folders = [entry for entry in entries if entry.is_dir()]
        waiting[:0] = sorted((entry for entry in folders if entry.is_symlink()), reverse=True)
        waiting += sorted((entry for entry in folders if not entry.is_symlink()), reverse=True)
    return sorted(files, key=lambda file: relative(file, folder)), sorted(closed)


def relative(path: Path, folder: Path) -> str:
    """The path from the folder, the same on every system."""
    return unicodedata.normalize("NFC", path.relative_to(folder).as_posix())


def each_file(
    path: Path,
    format: str,  # noqa: A002  # as in the façade
    wanted: Callable[[str], bool],
    read: Callable[[Path, str], Iterator[Conversation]],
) -> Iterator[Conversation]:
    """The conversations of a file, or of every wanted file below a folder; what cannot be read is named."""
    if not path.is_dir():
        yield from read(path, path.name)
        return
    files, closed = files_below(path, wanted)
    if not files and not closed:
        what = f"has no files of the format {format}" if any(path.iterdir()) else "is empty"
        raise InvalidInput(f"{path} {what}; nothing was imported.")
    for reason in closed:
        yield Conversation.unreadable(f"{format}:{path.name}", path.name, reason)
    for file in files:
        name = relative(file, path)
        try:
            yield from read(file, name)
        except InvalidInput as error:
            yield Conversation.unreadable(f"{format}:{name}", name, str(error))
