"""Read conversations from other programs' files: find the files, and build the turns."""

from __future__ import annotations

import codecs
import hashlib
import json
import lzma
import re
import shlex
import unicodedata
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import date, datetime, time
from itertools import count, islice
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeVar

from recollect.domain.changes import Turn
from recollect.domain.errors import InvalidInput
from recollect.transfer.files import UTF16_MARKS, check_unpacked, open_unpacked
from recollect.transfer.importers import Conversation, ForeignFormat, ForeignItem, NotImported
from recollect.transfer.turns import object_at, storable_text, time_of_iso

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from recollect.transfer.importers import ForeignSource

_Key = TypeVar("_Key", str, int)

OTHER_BRANCHES = "messages of other branches"
"""Messages that were replaced when the user edited an earlier one."""
# How many characters of a heading are searched for a date.
_STAMP_LIMIT = 200
_DATE = r"(?P<date>\d{4}-\d{2}-\d{2})"
_CLOCK = (
    r"(?P<clock>\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?)"
    r"\s*(?P<half>[ap]\.?m\b\.?)?\s*(?P<zone>Z\b|UTC\b|[+-]\d{2}:?\d{2}\b)?"
)
_MOMENT = re.compile(rf"(?:\b{_DATE})?(?:(?:^|\b|T)[T,\s]{{0,3}}{_CLOCK})?", re.IGNORECASE)


def with_stable_id(turn: Turn, where: str, number: int) -> Turn:
    """For formats without ids, set `source` to a stable id: a number and a hash of the turn."""
    content = json.dumps([turn.role, turn.speaker, turn.content], ensure_ascii=True)
    return replace(turn, source=f"{where}#{number}:{hashlib.sha256(content.encode()).hexdigest()[:16]}")


def with_stable_ids(turns: Iterable[Turn], where: str) -> tuple[Turn, ...]:
    """Set stable ids. Only equal turns are counted, so an inserted turn does not change other ids."""
    seen: defaultdict[tuple[str | None, str | None, str], Iterator[int]] = defaultdict(lambda: count(1))
    return tuple(
        with_stable_id(turn, where, next(seen[turn.role, turn.speaker, turn.content])) for turn in turns
    )


def with_times(turns: Sequence[Turn], start: datetime | None) -> tuple[Turn, ...]:
    """Give turns without a time that of the turn before, or `start`, or else the first known time."""
    last = start or next((turn.at for turn in turns if turn.at is not None), None)
    return tuple(replace(turn, at=(last := turn.at or last)) for turn in turns)


def conversation_of(
    session: str,
    title: str,
    place: str,
    messages: Iterable[tuple[_Key, object]],
    turn_of: Callable[[_Key, dict[str, Any]], Turn | None],
    *,
    start: datetime | None,
    bad: Iterable[str] = (),
    left_out: Mapping[str, int] | None = None,
) -> Conversation:
    """Build a conversation from keys and messages. Unreadable messages add their reasons to `bad`.

    `turn_of` may count messages that it drops in `left_out`.
    """
    turns: list[Turn] = []
    reasons = list(bad)
    for key, message in messages:
        try:
            turn = turn_of(key, object_at(message, "It"))
        except InvalidInput as error:
            reasons.append(f"message {key!a}: {error}")
            continue
        if turn is not None:
            turns.append(turn)
    named = tuple(f"{place}, {title!r}, {reason}" for reason in reasons)
    counted = {what: number for what, number in (left_out or {}).items() if number}
    return Conversation(session, title, with_times(turns, start), named, counted)


def text_of(value: object) -> str | None:
    """Return the value if it is a text that is not blank, otherwise None."""
    return storable_text(value) if isinstance(value, str) and value.strip() else None


def title_line(value: object, otherwise: str) -> str:
    """Return the title on one line."""
    return " ".join((text_of(value) or otherwise).split())


# Times without a time zone are read as UTC.


def time_in_words(text: str, day: date | None = None) -> datetime | None:
    """Return the first date, or time on `day`, in a heading: 2024-05-06, 2024-05-06 14:30, 2:30 PM.

    Dates in another order are not read, since 05/06 is ambiguous.
    """
    for found in _MOMENT.finditer(text[:_STAMP_LIMIT]):
        if not found[0].strip():
            continue
        clock = "00:00"
        try:
            on = date.fromisoformat(found["date"]) if found["date"] else day
            if found["clock"]:
                hour, _, rest = found["clock"].partition(":")
                hour_of_day = int(hour)
                if half := found["half"]:
                    hour_of_day = hour_of_day % 12 + (12 if half[0] in "pP" else 0)
                clock = f"{hour_of_day:02d}:{rest}"
                time.fromisoformat(clock)  # raises ValueError for an invalid time
        except ValueError:
            continue
        if on is not None:
            return time_of_iso(f"{on}T{clock}{(found['zone'] or '').upper().replace('UTC', 'Z')}")
    return None


# JSON values are read one at a time, so that a long list is never in memory at once.


VALUE_LIMIT = 32 * 1024 * 1024
"""Maximum characters of one value. A longer one is not a conversation, and might not fit into memory."""
_PIECE_LENGTH = 1 << 16
_FIRST_CHARS = frozenset('{["-0123456789tfnNI')
_decoder = json.JSONDecoder()


def json_values(file: IO[bytes], name: str, limit: int = VALUE_LIMIT) -> Iterator[Any]:
    """Yield the elements of the list in a file, or each value if the file has no list.

    Raises `InvalidInput` at the first error; earlier values are valid.
    """
    text = _Text(file, name, limit)
    if text.next_char() != "[":
        while text.next_char():
            yield text.value()
        return
    text.take("[")
    ended = text.next_char() == "]"
    while not ended:
        yield text.value()
        ended = text.next_char() == "]"
        if not ended:
            text.take(",")
    text.take("]")
    if text.next_char():
        raise text.error("something follows the list")


class _Text:
    """A window that slides over the text of a file."""

    def __init__(self, file: IO[bytes], name: str, limit: int) -> None:
        self._file = file
        self._name = name
        self._limit = limit
        self._decode = codecs.getincrementaldecoder("utf-8")("strict")
        self._window = ""
        self._at = 0
        self._passed = 0  # characters that have left the window
        self._bytes = 0
        self._wrong_byte: int | None = None  # the first byte that is not UTF-8, counted from 1
        self._ended = False

    def next_char(self) -> str:
        """Skip white space and return the next character; empty at the end."""
        while True:
            while self._at < len(self._window):
                char = self._window[self._at]
                if char not in " \t\r\n":
                    return char
                self._at += 1
            if self._ended:
                return ""
            self._read_more(_PIECE_LENGTH)

    def take(self, char: str) -> None:
        found = self.next_char()
        if found != char:
            raise self.error(
                f"there is {found!a} where {char!r} was expected" if found else "the file ends too early"
            )
        self._at += 1

    def value(self) -> Any:
        if (char := self.next_char()) not in _FIRST_CHARS:
            raise self.error(f"a value cannot start with {char!a}" if char else "the file ends too early")
        piece = _PIECE_LENGTH
        while True:
            try:
                value, end = _decoder.raw_decode(self._window, self._at)
            except json.JSONDecodeError as error:
                if self._ended:
                    raise self.error(error.msg, error.pos) from None
            except (ValueError, RecursionError) as error:  # a very long number; very deep nesting
                raise self.error(str(error)) from None
            else:
                # A number at the window's end may continue.
                if end < len(self._window) or self._ended:
                    self._at = end
                    return value
            if len(self._window) - self._at > self._limit:
                raise self.error(f"a value does not end within {self._limit:,} characters")
            self._read_more(piece)
            piece *= 2

    def error(self, why: str, at: int | None = None) -> InvalidInput:
        place = self._passed + (self._at if at is None else at) + 1
        return InvalidInput(f"{self._name} is not valid JSON at character {place:,}: {why}.")

    def _read_more(self, piece: int) -> None:
        if self._wrong_byte is not None:
            raise InvalidInput(f"{self._name} is not UTF-8 text: byte {self._wrong_byte:,} is wrong.")
        try:
            content = self._file.read(piece)
        except (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
            raise InvalidInput(f"{self._name} could not be read to its end: {error}.") from error
        if self._bytes == 0 and content.startswith(UTF16_MARKS):
            raise InvalidInput(f"{self._name} is in UTF-16; save it as UTF-8 and import that.")
        waiting = self._decode.getstate()[0]
        try:
            text = self._decode.decode(content, final=not content)
        except UnicodeDecodeError as error:
            # Keep the text before the wrong byte.
            text = (waiting + content)[: error.start].decode("utf-8")
            self._wrong_byte = self._bytes - len(waiting) + error.start + 1
        if self._bytes == 0:
            text = text.removeprefix("\ufeff")
        self._bytes += len(content)
        self._ended = not content and self._wrong_byte is None
        self._passed += self._at
        self._window = self._window[self._at :] + text
        self._at = 0


# Files of conversations: a JSON file, a member of a zip, or files below a folder.


SIZE_LIMIT = 2 * 1024**3
"""Maximum unpacked bytes of the conversations in a zip."""
_CONVERSATIONS = re.compile(r"conversations(?:[-_]?(\d+))?\.json", re.IGNORECASE)
_ENCRYPTED_FLAG = 0x1


class Member(NamedTuple):
    """One file of conversations: by itself, or inside a zip."""

    name: str
    path: Path
    inside: zipfile.ZipInfo | None = None

    @contextmanager
    def open_content(self) -> Iterator[IO[bytes]]:
        try:
            if self.inside is None:
                with self.path.open("rb") as raw, open_unpacked(raw) as file:
                    yield file
            else:
                with zipfile.ZipFile(self.path) as archive, archive.open(self.inside) as file:
                    yield file
        except (OSError, zipfile.BadZipFile, NotImplementedError) as error:
            raise InvalidInput(f"{self.name} cannot be read: {error}.") from error

    def rows(self) -> Iterator[object]:
        """Yield the conversations as plain data, from a list or from an object with a list."""
        with self.open_content() as file:
            for plain in json_values(file, self.name):
                if isinstance(plain, dict) and isinstance(plain.get("conversations"), list):
                    yield from plain["conversations"]
                else:
                    yield plain


def archive_members(path: Path) -> tuple[Member, ...]:
    """Return the files of conversations at this path, in the order of their numbers."""
    if path.is_dir():
        found: list[Member] = []
        for file in files_below(path, _is_candidate)[0]:
            if is_zip(file):
                found += _zip_members(file, relative(file, path))
            elif not file.name.lower().endswith(".zip"):
                found.append(Member(relative(file, path), file))
        return tuple(sorted(found, key=_sort_key))
    if not is_zip(path):
        return (Member(path.name, path),)
    inside = _zip_members(path, path.name)
    if not inside:
        raise InvalidInput(
            f"{path} contains no conversations.json or conversations-000.json, which exports of ChatGPT "
            "and Claude have. If it contains other zips, unpack it and import the folder."
        )
    return tuple(sorted(inside, key=_sort_key))


def is_zip(path: Path) -> bool:
    try:
        return path.is_file() and zipfile.is_zipfile(path)
    except OSError:
        return False


def _is_candidate(name: str) -> bool:
    return name.lower().endswith(".zip") or _CONVERSATIONS.fullmatch(name) is not None


def _zip_members(path: Path, name: str) -> list[Member]:
    try:
        with zipfile.ZipFile(path) as archive:
            found = [info for info in archive.infolist() if _is_conversations(info)]
    # A damaged zip directory may raise any of these.
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise InvalidInput(f"{name} is a damaged zip: {error}. Download it again.") from error
    if any(info.flag_bits & _ENCRYPTED_FLAG for info in found):
        raise InvalidInput(f"{name} is locked by a password; unpack it and import the folder.")
    size = sum(info.file_size for info in found)
    if size > SIZE_LIMIT:
        raise InvalidInput(
            f"{name} has {size / 1024**3:,.1f} GB of conversations, more than the limit of "
            f"{SIZE_LIMIT / 1024**3:,.0f} GB for a zip. If this is expected, unpack it and import the folder."
        )
    for info in found:
        check_unpacked(f"{name}/{info.filename}", info.file_size, info.compress_size)
    return [Member(f"{name}/{info.filename}", path, info) for info in found]


def _is_conversations(info: zipfile.ZipInfo) -> bool:
    *folders, file = info.filename.split("/")
    return "__MACOSX" not in folders and _CONVERSATIONS.fullmatch(file) is not None


def _sort_key(member: Member) -> tuple[str, int]:
    folder, _, file = member.name.rpartition("/")
    number = _CONVERSATIONS.fullmatch(file)
    return folder, int(number[1]) if number and number[1] else -1


def files_below(folder: Path, wanted: Callable[[str], bool]) -> tuple[list[Path], list[str]]:
    """Return the files with a wanted name, in a fixed order, and the unreadable folders with reasons.

    Hidden files and folders are skipped. A folder reached by several links is read once.
    """
    files: list[Path] = []
    unreadable: list[str] = []
    seen: set[Path] = set()
    pending = [folder]
    while pending:
        current = pending.pop()
        real = current.resolve()
        if real in seen:
            continue
        seen.add(real)
        try:
            entries = [entry for entry in current.iterdir() if not entry.name.startswith(".")]
        except OSError as error:
            unreadable.append(f"{relative(current, folder)} cannot be read: {error.strerror}.")
            continue
        files += [entry for entry in entries if wanted(entry.name) and entry.is_file()]
        # Read linked folders last, so that a file gets the path in its real folder.
        folders = [entry for entry in entries if entry.is_dir()]
        pending[:0] = sorted((entry for entry in folders if entry.is_symlink()), reverse=True)
        pending += sorted((entry for entry in folders if not entry.is_symlink()), reverse=True)
    return sorted(files, key=lambda file: relative(file, folder)), sorted(unreadable)


def relative(path: Path, folder: Path) -> str:
    """Return the path relative to the folder, in the same form on every system."""
    return unicodedata.normalize("NFC", path.relative_to(folder).as_posix())


# Formats of conversations

_MAX_INSPECTED = 20
"""Number of rows to inspect when recognising a file."""
_MAX_BAD_ROWS = 10_000
"""A file is refused if this many rows are unreadable and none was readable."""
_JSON_LINES = re.compile(r"\.(?:jsonl|ndjson)(?:\.gz)?$", re.IGNORECASE)


def has_lines_of_turns(name: str) -> bool:
    """Whether this is the name of a file with one turn per line."""
    return _JSON_LINES.search(name) is not None


def export_format(
    name: str, title: str, row_key: str, row_type: type, read: Callable[[dict[str, Any], str], Conversation]
) -> ForeignFormat:
    """Return the format of an export whose conversations have their messages under one key."""

    def recognises(source: ForeignSource) -> bool:
        path = source.path
        if source.is_database or is_markdown(path.name) or has_lines_of_turns(path.name):
            return False
        for member in _zip_members(path, path.name) if is_zip(path) else archive_members(path):
            with suppress(InvalidInput):  # the import reports it
                rows = islice(member.rows(), _MAX_INSPECTED)
                if any(isinstance(row, dict) and isinstance(row.get(row_key), row_type) for row in rows):
                    return True
        return False

    def conversations(path: Path) -> Iterator[Conversation]:
        members = archive_members(path)
        if not members:
            raise InvalidInput(
                f"{path} contains no conversations.json, conversations-000.json or zip file with one."
            )
        for member in members:
            session, number = f"{name}:{member.name}", 0
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
                # Conversations before the error stay imported.
                more = f" Conversations before the error that were read: {number:,}." if number else ""
                yield Conversation.unreadable(session, member.name, f"{error}{more}")

    def items(source: ForeignSource) -> Iterator[ForeignItem]:
        yield from _refuse_if_all_bad(conversations(source.path), source.path, name)
        yield from _other_files(source.path, "export", None)

    return ForeignFormat(name, title, recognises, items, order=1, signs=(f'"{row_key}"'.encode(),))


def file_format(
    name: str,
    title: str,
    order: int,
    recognises: Callable[[ForeignSource], bool],
    wanted: Callable[[str], bool],
    read: Callable[[Path, str], Iterator[Conversation]],
) -> ForeignFormat:
    """Return the format of a file, or of each file below a folder with a wanted name."""

    def conversations(path: Path) -> Iterator[Conversation]:
        if not path.is_dir():
            yield from read(path, path.name)
            return
        files, unreadable = files_below(path, wanted)
        if not files and not unreadable:
            what = f"has no files of the format {name}" if any(path.iterdir()) else "is empty"
            raise InvalidInput(f"{path} {what}; nothing was imported.")
        for reason in unreadable:
            yield Conversation.unreadable(f"{name}:{path.name}", path.name, reason)
        for file in files:
            place = relative(file, path)
            try:
                yield from read(file, place)
            except InvalidInput as error:
                yield Conversation.unreadable(f"{name}:{place}", place, str(error))

    def items(source: ForeignSource) -> Iterator[ForeignItem]:
        yield from _refuse_if_all_bad(conversations(source.path), source.path, name)
        yield from _other_files(source.path, "folder", wanted)

    return ForeignFormat(name, title, recognises, items, order)


def is_markdown(name: str) -> bool:
    return name.lower().endswith((".md", ".markdown"))


def _refuse_if_all_bad(found: Iterator[Conversation], path: Path, name: str) -> Iterator[Conversation]:
    """Yield the conversations; raise `InvalidInput` if none can be read."""
    first: list[Conversation] = []
    bad: list[str] = []
    for conversation in found:
        first.append(conversation)
        bad += conversation.bad
        if conversation.turns or len(bad) >= _MAX_BAD_ROWS:
            break
    if bad and not first[-1].turns:
        raise InvalidInput(
            f"Nothing in {path} could be read as {name}. {bad[0]} If it has another format, name it; "
            "recollect import --help lists the formats."
        )
    yield from first
    first.clear()
    yield from found


def _other_files(path: Path, what: str, wanted: Callable[[str], bool] | None) -> Iterator[NotImported]:
    """Report the files that this format does not import, with a command for those of `claude-memory`."""
    others: list[str] = []
    if path.is_dir():
        is_read = wanted or _is_candidate
        others = [relative(file, path) for file in files_below(path, lambda name: not is_read(name))[0]]
    elif is_zip(path):
        with zipfile.ZipFile(path) as archive:
            files = [info for info in archive.infolist() if not info.is_dir() and not _is_conversations(info)]
        others = sorted(info.filename for info in files if "__MACOSX" not in info.filename)
    # Files of the format `claude-memory` have these names.
    memory_files = [
        name for name in others if wanted is None and name.endswith(("memories.json", "projects.json"))
    ]
    first = "" if path.is_dir() else "unpack the zip, then "
    for name in memory_files:
        command = f"recollect import {shlex.quote(str(path / name) if path.is_dir() else name)}"
        yield NotImported(f"Claude's memory and projects; {first}import each separately", command)
    for name in others:
        if name not in memory_files:
            yield NotImported(f"other files of the {what}", name)
