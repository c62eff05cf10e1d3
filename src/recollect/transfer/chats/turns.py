"""Files of turns: JSON, one to a line or in a list, read as they come. A row is a turn or a conversation."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.transfer.chats.archives import Member
from recollect.transfer.chats.conversation import (
    Conversation,
    make_turn,
    object_at,
    session_of,
    time_of_iso,
    time_of_seconds,
    title_line,
    with_mark,
)
from recollect.transfer.chats.json_values import json_values
from recollect.transfer.files import open_lines
from recollect.transfer.json_lines import json_type, read_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from pathlib import Path

    from recollect.changes import Turn

BATCH = 1_000
"""So many turns are in memory at once, over all sessions, so that a file that mixes them can be long."""
_BATCH_LETTERS = 4_000_000
_LINED = re.compile(r"\.(?:jsonl|ndjson)(?:\.gz)?$", re.IGNORECASE)
_SUFFIX = re.compile(r"(?:\.(?:jsonl|ndjson|json))?(?:\.gz)?$", re.IGNORECASE)
# An object that is written over several lines: its first line ends with one of these.
_OPEN = (b"{", b"[", b",", b":")
# Instructions and tools: in a file of conversations, nobody said them.
_UNSAID = frozenset({"system", "developer", "tool", "function"})
_UNSAID_SORT = "system and tool messages, and tool calls"


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn, or the messages of a whole conversation; for one that cannot be read, why."""

    session: str | None
    """As the row names it, if it does."""
    turns: tuple[Turn | InvalidInput, ...]
    is_conversation: bool = False
    unsaid: int = 0
    """Messages of the system and of tools, and calls of tools, which are left out."""


def is_turn_row(plain: object) -> bool:
    """Whether it looks like one; what it holds may still be wrong."""
    match plain:
        case {"content": str() | list()} | {"text": str()} | {"messages": list()}:
            return True
    return False


def parse_turn_row(plain: dict[str, Any]) -> TurnRow:
    session = _session_in(plain)
    messages = plain.get("messages")
    if isinstance(messages, list):
        turns = tuple(_messages(messages))
        return TurnRow(session, turns, is_conversation=True, unsaid=len(messages) - len(turns))
    return TurnRow(session, (_turn(plain),))


def _session_in(plain: dict[str, Any]) -> str | None:
    """The session that a row names, even if the rest of it is wrong."""
    given = plain.get("session")
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    return None if given is None else session_of(_text(given, "session"))


def _messages(messages: list[Any]) -> Iterator[Turn | InvalidInput]:
    for number, message in enumerate(messages, 1):
        try:
            plain = object_at(message, "It")
            # An assistant that calls a tool says nothing.
            is_call = plain.get("content") is None and "text" not in plain
            if plain.get("role") not in _UNSAID and not is_call:
                yield _turn(plain)
        except InvalidInput as error:
            yield InvalidInput(f"message {number}: {error}")


def _turn(plain: dict[str, Any]) -> Turn:
    key = "content" if "content" in plain else "text"
    if key not in plain:
        raise InvalidInput("It has neither `content` nor `text`.")
    content = plain[key]
    return make_turn(
        # Text, or a list of parts of which some are.
        "\n\n".join(filter(None, map(_part, content))) if isinstance(content, list) else _text(content, key),
        role=_word(plain, "role"),
        speaker=_word(plain, "speaker") or _word(plain, "name"),
        at=_at(plain.get("at")),
    )


def _part(part: object) -> str:
    match part:
        case str(text) | {"text": str(text)}:
            return text
        case {"type": type_} if "image" in str(type_):
            return "[image]"
        case _:
            return ""


def _word(plain: dict[str, Any], key: str) -> str | None:
    given = plain.get(key)
    return None if given is None or given == "" else _text(given, key)


def _text(given: object, key: str) -> str:
    if not isinstance(given, str):
        raise InvalidInput(f"`{key}` is {json_type(given)}, where text was expected.")
    return given


def _at(given: object) -> datetime | None:
    if given is None or given == "":
        return None
    at = time_of_iso(given) or time_of_seconds(given)
    if at is None:
        raise InvalidInput(f"`at` is {str(given)[:40]!a}; it is an ISO 8601 time, or seconds since 1970.")
    return at


class _FileRow(NamedTuple):
    number: int
    place: str
    plain: dict[str, Any] | InvalidInput


def has_lines_of_turns(name: str) -> bool:
    """Whether this is the name of a file with a turn to each line."""
    return _LINED.search(name) is not None


def turn_conversations(path: Path, name: str) -> Iterator[Conversation]:
    """The sessions of a file, in batches: one may come repeatedly."""
    batch = _Batch(session_of(f"turns:{_SUFFIX.sub('', name)}"))
    for row in _rows(path, name):
        batch.add(row)
        if batch.is_full:
            yield from batch.emptied()
    yield from batch.emptied()


def _rows(path: Path, name: str) -> Iterator[_FileRow]:
    with open_lines(path) as source:
        first = source.first()
        if first is None:
            return
        start = (first.content or b"").strip()
        if not start.startswith(b"[") and not start.endswith(_OPEN):
            for number, content in source.lines():
                yield _row(number, f"{name}, line {number}", partial(read_object, content))
            return
    # A list, or an object over several lines.
    number = 0
    try:
        with Member(name, path).opened() as file:
            for number, plain in enumerate(json_values(file, name), 1):
                yield _row(number, f"{name}, item {number}", partial(object_at, plain, "It"))
    except InvalidInput as error:
        if number == 0:
            raise
        yield _FileRow(number + 1, name, error)


def _row(number: int, place: str, read: Callable[[], dict[str, Any]]) -> _FileRow:
    try:
        return _FileRow(number, place, read())
    except InvalidInput as error:
        return _FileRow(number, place, error)


@dataclass(slots=True)
class _Batch:
    """Turns by their sessions, until there are enough to hand on."""

    default_session: str
    """Of turns that name none."""
    _turns: defaultdict[str, list[Turn]] = field(default_factory=lambda: defaultdict(list))
    _bad: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _unsaid: Counter[str] = field(default_factory=Counter)
    _numbers: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    """How many turns each session has had, in this batch and before."""
    _size: int = 0
    _letters: int = 0

    @property
    def is_full(self) -> bool:
        return self._size >= BATCH or self._letters >= _BATCH_LETTERS

    def add(self, row: _FileRow) -> None:
        if isinstance(row.plain, InvalidInput):
            self._reject(self.default_session, f"{row.place}: {row.plain}")
            return
        name = self.default_session
        try:
            name = _session_in(row.plain) or name
            read = parse_turn_row(row.plain)
        except InvalidInput as error:
            self._numbers[name] += 1  # so that the turns after it keep their marks when it is mended
            self._reject(name, f"{row.place}: {error}")
            return
        is_unnamed = read.is_conversation and read.session is None
        if is_unnamed:
            name = f"{name}#{row.number}"
        where = name if name.startswith("turns:") else f"turns:{name}"
        if read.unsaid:
            self._unsaid[name] += read.unsaid
        for place, turn in enumerate(read.turns, 1):
            number = place
            if not is_unnamed:
                self._numbers[name] += 1
                number = self._numbers[name]
            if isinstance(turn, InvalidInput):
                self._reject(name, f"{row.place}, {turn}")
            else:
                self._turns[name].append(with_mark(turn, where, number))
                self._size += 1
                self._letters += len(turn.content)

    def emptied(self) -> Iterator[Conversation]:
        for session in dict.fromkeys([*self._turns, *self._bad, *self._unsaid]):
            title = title_line(session.removeprefix("turns:"), "(no title)")
            unsaid = {_UNSAID_SORT: self._unsaid[session]} if session in self._unsaid else {}
            yield Conversation(session, title, tuple(self._turns[session]), tuple(self._bad[session]), unsaid)
        self._turns.clear()
        self._bad.clear()
        self._unsaid.clear()
        self._size = self._letters = 0

    def _reject(self, session: str, reason: str) -> None:
        self._bad[session].append(reason)
        self._size += 1
