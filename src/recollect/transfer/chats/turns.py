"""Files of turns: JSON, one to a line or in a list, read as they come."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from recollect.errors import InvalidInput
from recollect.transfer.chats.conversation import (
    Conversation,
    marked,
    named,
    object_at,
    session_of,
    unreadable,
)
from recollect.transfer.chats.members import Member
from recollect.transfer.chats.rows import Said, Talk, parsed, session_in
from recollect.transfer.chats.values import values
from recollect.transfer.chats.walk import files_below, relative
from recollect.transfer.plain import object_of
from recollect.transfer.source import open_source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recollect.changes import Turn
    from recollect.transfer.source import Line

BATCH = 1_000
"""So many turns are held at once, over all sessions: a file that mixes them is still read as it comes."""
_BATCH_LETTERS = 4_000_000
_LINED = re.compile(r"\.(?:jsonl|ndjson)(?:\.gz)?$", re.IGNORECASE)
_SUFFIX = re.compile(r"(?:\.(?:jsonl|ndjson|json))?(?:\.gz)?$", re.IGNORECASE)
# An object that is written over several lines: its first line ends with one of these.
_OPEN = (b"{", b"[", b",", b":")


class _Row(NamedTuple):
    number: int
    place: str
    plain: dict[str, Any] | InvalidInput


def is_lined(name: str) -> bool:
    """Whether this is the name of a file with a turn to each line."""
    return _LINED.search(name) is not None


def turns(path: Path) -> Iterator[Conversation]:
    """The sessions of a file, or of all JSONL files below a folder, in batches: one may come repeatedly."""
    if not path.is_dir():
        yield from _of(path, path.name)
        return
    found = files_below(path, is_lined)
    for reason in found.closed:
        yield unreadable(f"turns:{path.name}", path.name, reason)
    for file in found.files:
        name = relative(file, path)
        try:
            yield from _of(file, name)
        except InvalidInput as error:
            yield unreadable(f"turns:{name}", name, str(error))


def _of(path: Path, name: str) -> Iterator[Conversation]:
    batch = _Batch(session_of(f"turns:{_SUFFIX.sub('', name)}"))
    for row in _rows(path, name):
        batch.add(row)
        if batch.is_full:
            yield from batch.emptied()
    yield from batch.emptied()


def _rows(path: Path, name: str) -> Iterator[_Row]:
    with open_source(path, None) as source:
        first = source.first()
        if first is None:
            return
        if not _in_pieces(first):
            for number, content in source.lines():
                place = f"{name}, line {number}"
                try:
                    yield _Row(number, place, object_of(content))
                except InvalidInput as error:
                    yield _Row(number, place, error)
            return
    yield from _elements(path, name)


def _elements(path: Path, name: str) -> Iterator[_Row]:
    number = 0
    try:
        with Member(name, path).opened() as file:
            for number, plain in enumerate(values(file, name), 1):
                place = f"{name}, item {number}"
                try:
                    yield _Row(number, place, object_at(plain, "It"))
                except InvalidInput as error:
                    yield _Row(number, place, error)
    except InvalidInput as error:
        if number == 0:
            raise
        yield _Row(number + 1, name, error)


def _in_pieces(first: Line) -> bool:
    """Whether a line is not a row by itself: a list, or an object over several lines."""
    content = (first.content or b"").strip()
    return content.startswith(b"[") or content.endswith(_OPEN)


@dataclass(slots=True)
class _Batch:
    """Turns by their sessions, until there are enough to hand on."""

    otherwise: str
    """The session of turns that name none."""
    _turns: dict[str, list[Turn]] = field(default_factory=dict)
    _bad: dict[str, list[str]] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)
    """How many turns each session has had, in this batch and before."""
    _held: int = 0
    _letters: int = 0

    @property
    def is_full(self) -> bool:
        return self._held >= BATCH or self._letters >= _BATCH_LETTERS

    def add(self, row: _Row) -> None:
        if isinstance(row.plain, InvalidInput):
            self._wrong(self.otherwise, f"{row.place}: {row.plain}")
            return
        try:
            read = parsed(row.plain)
        except InvalidInput as error:
            session = self._known_session(row.plain)
            self._numbered(session)  # so that the turns after it keep their marks when it is mended
            self._wrong(session, f"{row.place}: {error}")
            return
        match read:
            case Said(given, turn):
                name = given or self.otherwise
                self._hold(name, marked(turn, _prefixed(name), self._numbered(name)))
            case Talk(given, messages):
                self._talk(row, given, messages)

    def emptied(self) -> Iterator[Conversation]:
        for session in dict.fromkeys([*self._turns, *self._bad]):
            title = named(session.removeprefix("turns:"), "(no title)")
            yield Conversation(
                session, title, tuple(self._turns.get(session, ())), tuple(self._bad.get(session, ()))
            )
        self._turns.clear()
        self._bad.clear()
        self._held = self._letters = 0

    def _talk(self, row: _Row, session: str | None, messages: tuple[Turn | InvalidInput, ...]) -> None:
        name = session or f"{self.otherwise}#{row.number}"
        for number, message in enumerate(messages, 1):
            place = number if session is None else self._numbered(session)
            if isinstance(message, InvalidInput):
                self._wrong(name, f"{row.place}, {message}")
            else:
                self._hold(name, marked(message, _prefixed(name), place))

    def _known_session(self, plain: dict[str, Any]) -> str:
        try:
            return session_in(plain) or self.otherwise
        except InvalidInput:
            return self.otherwise

    def _numbered(self, session: str) -> int:
        self._numbers[session] = self._numbers.get(session, 0) + 1
        return self._numbers[session]

    def _hold(self, session: str, turn: Turn) -> None:
        self._turns.setdefault(session, []).append(turn)
        self._held += 1
        self._letters += len(turn.content)

    def _wrong(self, session: str, reason: str) -> None:
        self._bad.setdefault(session, []).append(reason)
        self._held += 1


def _prefixed(session: str) -> str:
    return session if session.startswith("turns:") else f"turns:{session}"
