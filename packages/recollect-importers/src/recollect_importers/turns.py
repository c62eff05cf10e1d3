"""Read files of turns: JSON, one per line or in a list. A row is a turn or a whole conversation."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass
from recollect.transfer.files import open_lines, read_object
from recollect.transfer.importers import Conversation
from recollect.transfer.turns import is_turn_row, object_at, parse_turn_row, row_session, session_of
from recollect_importers.conversations import (
    Member,
    file_format,
    files_below,
    has_lines_of_turns,
    is_zip,
    json_values,
    title_line,
    with_stable_id,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from recollect.domain.changes import Turn
    from recollect.transfer.importers import ForeignSource

BATCH = 1_000
"""Maximum number of turns in memory, over all sessions: a long file may mix many sessions."""
_BATCH_CHARACTERS = 4_000_000
_SUFFIX = re.compile(r"(?:\.(?:jsonl|ndjson|json))?(?:\.gz)?$", re.IGNORECASE)
# The first line of an object over several lines ends with one of these.
_OPEN = (b"{", b"[", b",", b":")
_MAX_INSPECTED = 20
"""Number of rows to inspect when recognising a file."""
_UNSAID_KIND = "system and tool messages, and tool calls"


class _FileRow(NamedTuple):
    number: int
    place: str
    plain: dict[str, Any] | InvalidInput


def turn_conversations(path: Path, name: str) -> Iterator[Conversation]:
    """Yield the sessions of a file in batches; several batches may have the same session."""
    batch = _Batch(session_of(f"turns:{_SUFFIX.sub('', name)}"))
    for row in _rows(path, name):
        batch.add(row)
        if batch.is_full:
            yield from batch.take_all()
    yield from batch.take_all()


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
        with Member(name, path).open_content() as file:
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
    """Turns by session, collected until the batch is full."""

    default_session: str
    """The session of turns without one."""
    _turns: defaultdict[str, list[Turn]] = field(default_factory=lambda: defaultdict(list))
    _bad: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _unsaid: Counter[str] = field(default_factory=Counter)
    _numbers: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    """How many turns of each session were read so far, in all batches."""
    _size: int = 0
    _characters: int = 0

    @property
    def is_full(self) -> bool:
        return self._size >= BATCH or self._characters >= _BATCH_CHARACTERS

    def add(self, row: _FileRow) -> None:
        if isinstance(row.plain, InvalidInput):
            self._reject(self.default_session, f"{row.place}: {row.plain}")
            return
        name = self.default_session
        try:
            name = row_session(row.plain) or name
            read = parse_turn_row(row.plain)
        except InvalidInput as error:
            self._numbers[name] += 1  # so that later turns keep their ids when the row is repaired
            self._reject(name, f"{row.place}: {error}")
            return
        is_unnamed = read.is_conversation and read.session is None
        if is_unnamed:
            name = f"{name}#{row.number}"
        where = name if name.startswith("turns:") else f"turns:{name}"
        if read.unsaid:
            self._unsaid[name] += read.unsaid
        for position, turn in enumerate(read.turns, 1):
            number = position
            if not is_unnamed:
                self._numbers[name] += 1
                number = self._numbers[name]
            if isinstance(turn, InvalidInput):
                self._reject(name, f"{row.place}, {turn}")
            else:
                self._turns[name].append(with_stable_id(turn, where, number))
                self._size += 1
                self._characters += len(turn.content)

    def take_all(self) -> Iterator[Conversation]:
        for session in dict.fromkeys([*self._turns, *self._bad, *self._unsaid]):
            title = title_line(session.removeprefix("turns:"), "(no title)")
            unsaid = {_UNSAID_KIND: self._unsaid[session]} if session in self._unsaid else {}
            yield Conversation(session, title, tuple(self._turns[session]), tuple(self._bad[session]), unsaid)
        self._turns.clear()
        self._bad.clear()
        self._unsaid.clear()
        self._size = self._characters = 0

    def _reject(self, session: str, reason: str) -> None:
        self._bad[session].append(reason)
        self._size += 1


def _recognises(source: ForeignSource) -> bool:
    if source.is_folder:
        return any(map(_has_rows, files_below(source.path, has_lines_of_turns)[0]))
    if source.is_database or is_zip(source.path):
        return False
    if not has_lines_of_turns(source.path.name):
        with suppress(InvalidInput):
            if any(map(is_turn_row, islice(Member(source.path.name, source.path).rows(), _MAX_INSPECTED))):
                return True
    return _has_rows(source.path)


def _has_rows(path: Path) -> bool:
    """Whether one of the first lines has a turn, even if others are broken."""
    with suppress(InvalidInput), open_lines(path) as source:
        for _, content in islice(source.lines(), _MAX_INSPECTED):
            with suppress(InvalidInput):
                if is_turn_row(read_object(content)):
                    return True
    return False


FORMAT = file_format(
    "turns", "JSON or JSONL of turns", 3, _recognises, has_lines_of_turns, turn_conversations
)
