"""A conversation as it was read, whatever file it stood in; how its turns are made, and its times read."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Mapping  # a dataclass field: read at run time by typing.get_type_hints
from dataclasses import field, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.changes import Turn
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.text.limits import clean_name, clean_text, clean_type
from recollect.transfer.json_lines import json_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_Key = TypeVar("_Key", str, int)

OTHER_BRANCHES = "messages of other branches"
"""What was said before somebody went back and went on in another way."""
_SURROGATES = re.compile("[\ud800-\udfff]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# As seconds, these lie after the year 5000: nobody has written then, but programs do count milliseconds.
_MILLISECONDS = 1e11
# Who writes a date puts it near the start.
_STAMP_LIMIT = 200
_DATE = r"(?P<date>\d{4}-\d{2}-\d{2})"
_CLOCK = (
    r"(?P<clock>\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?)"
    r"\s*(?P<half>[ap]\.?m\b\.?)?\s*(?P<zone>Z\b|UTC\b|[+-]\d{2}:?\d{2}\b)?"
)
_MOMENT = re.compile(rf"(?:\b{_DATE})?(?:(?:^|\b|T)[T,\s]{{0,3}}{_CLOCK})?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns of one session. A long session may come in several of these, each with its next turns."""

    session: str
    """The same for the same conversation of a later export."""
    title: str
    turns: tuple[Turn, ...]
    bad: tuple[str, ...] = ()
    """What could not be read, each with its place and the reason."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """How much there is of each sort of thing that nobody said, or that has no place here."""

    @property
    def is_empty(self) -> bool:
        return not (self.turns or self.bad or self.left_out)

    @classmethod
    def unreadable(cls, session: str, title: str, reason: str) -> Conversation:
        return cls(session, title, (), (reason,))


def storable_text(text: str) -> str:
    """Text of a file as a store takes it: without NULs and halves of surrogate pairs."""
    return _SURROGATES.sub("\ufffd", text.replace("\0", ""))


def make_turn(
    content: str, role: str | None, speaker: str | None, at: datetime | None, source: str | None = None
) -> Turn:
    """A turn that a store will take; `InvalidInput` says why it would not."""
    return Turn(
        content=clean_text(storable_text(content), "turn"),
        role=None if role is None else clean_type(storable_text(role), "role"),
        speaker=None if speaker is None else clean_name(storable_text(speaker), "speaker"),
        at=at,
        source=None if source is None else storable_text(source),
    )


def with_mark(turn: Turn, where: str, number: int) -> Turn:
    """The turn with a mark of its own, for formats that give none: its place among the like, and a hash."""
    content = json.dumps([turn.role, turn.speaker, turn.content], ensure_ascii=True)
    return replace(turn, source=f"{where}#{number}:{hashlib.sha256(content.encode()).hexdigest()[:16]}")


def with_marks(turns: Iterable[Turn], where: str) -> tuple[Turn, ...]:
    """Each is numbered among those that say the same, so that one put between others leaves their marks."""
    seen: defaultdict[tuple[str | None, str | None, str], Iterator[int]] = defaultdict(lambda: count(1))
    return tuple(with_mark(turn, where, next(seen[turn.role, turn.speaker, turn.content])) for turn in turns)


def with_times(turns: Sequence[Turn], start: datetime | None) -> tuple[Turn, ...]:
    """A turn without a time takes that of the turn before; the first takes the start, or the next known."""
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
    """The turns of messages, each under its key; what cannot be read is named with its place.

    `turn_of` may count in `left_out` what it leaves out.
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
    """What a key holds, if it is text that says something."""
    return storable_text(value) if isinstance(value, str) and value.strip() else None


def session_of(name: str) -> str:
    """A session's name as it is kept; `InvalidInput` if it cannot be one."""
    return clean_name(storable_text(name), "session")


def title_line(value: object, otherwise: str) -> str:
    """A title on one line."""
    return " ".join((text_of(value) or otherwise).split())


def object_at(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInput(f"{what} is {json_type(value)}, where an object was expected.")
    return value


# Times: one that names no zone is read as UTC


def time_of_seconds(value: object) -> datetime | None:
    """Seconds since 1970; None if it is no number, or of no year that there is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return _EPOCH + timedelta(seconds=value / 1000 if abs(value) > _MILLISECONDS else value)
    except (OverflowError, ValueError):
        return None


def time_of_iso(value: object) -> datetime | None:
    """ISO 8601, with or without a time of day."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def time_in_words(text: str, day: date | None = None) -> datetime | None:
    """The first date, or time of `day`, in a heading or a stamp: 2024-05-06, 2024-05-06 14:30, 2:30 PM.

    A date of figures in another order is not read, since 05/06 is two days.
    """
    for found in _MOMENT.finditer(text[:_STAMP_LIMIT]):
        if not found[0].strip():
            continue
        try:
            on = date.fromisoformat(found["date"]) if found["date"] else day
            if on is not None:
                return time_of_iso(f"{on.isoformat()}T{_clock(found)}")
        except ValueError:
            continue
    return None


def _clock(found: re.Match[str]) -> str:
    if not found["clock"]:
        return "00:00"
    hour, _, rest = found["clock"].partition(":")
    of_day = int(hour)
    if half := found["half"]:
        of_day = of_day % 12 + (12 if half[0] in "pP" else 0)
    zone = (found["zone"] or "").upper().replace("UTC", "Z")
    clock = f"{of_day:02d}:{rest}"
    time.fromisoformat(clock)  # or it is none
    return clock + zone
