"""Parse turns of conversations from JSON; clean texts and times from other programs' files."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from recollect.domain.changes import Turn
from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import clean_name, clean_text, clean_type
from recollect.transfer.files import json_type, read_object

if TYPE_CHECKING:
    from collections.abc import Iterator

_SURROGATES = re.compile("[\ud800-\udfff]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# A larger number is in milliseconds: as seconds, it would be after the year 5000.
_LARGEST_SECONDS = 1e11
# Roles whose messages are instructions or belong to tools; they are not part of a conversation.
_UNSAID = frozenset({"system", "developer", "tool", "function"})


def storable_text(text: str) -> str:
    """Remove NULs and lone surrogates, which a store cannot keep."""
    return _SURROGATES.sub("\ufffd", text.replace("\0", ""))


def make_turn(
    content: str, role: str | None, speaker: str | None, at: datetime | None, source: str | None = None
) -> Turn:
    """Create a turn; raise `InvalidInput` if a store would refuse it."""
    return Turn(
        content=clean_text(storable_text(content), "turn"),
        role=None if role is None else clean_type(storable_text(role), "role"),
        speaker=None if speaker is None else clean_name(storable_text(speaker), "speaker"),
        at=at,
        source=None if source is None else storable_text(source),
    )


def session_of(name: str) -> str:
    """Clean a session's name; raise `InvalidInput` if it is not valid."""
    return clean_name(storable_text(name), "session")


def object_at(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInput(f"{what} is {json_type(value)}, where an object was expected.")
    return value


def time_of_seconds(value: object) -> datetime | None:
    """Convert seconds since 1970 to a time; None if that is not possible."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return _EPOCH + timedelta(seconds=value / 1000 if abs(value) > _LARGEST_SECONDS else value)
    except (OverflowError, ValueError):
        return None


def time_of_iso(value: object) -> datetime | None:
    """Parse ISO 8601, with or without a time of day."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A row of a file: one turn, or all messages of a conversation, with errors for unreadable ones."""

    session: str | None
    """The session that the row names, if any."""
    turns: tuple[Turn | InvalidInput, ...]
    is_conversation: bool = False
    unsaid: int = 0
    """Messages that were left out: from the system or a tool, or calling a tool."""


def is_turn_row(plain: object) -> bool:
    """Whether a row looks like a turn; its content may still be wrong."""
    match plain:
        case {"content": str() | list()} | {"text": str()} | {"messages": list()}:
            return True
    return False


def parse_turn_row(plain: dict[str, Any]) -> TurnRow:
    session = row_session(plain)
    messages = plain.get("messages")
    if isinstance(messages, list):
        turns = tuple(_messages(messages))
        return TurnRow(session, turns, is_conversation=True, unsaid=len(messages) - len(turns))
    return TurnRow(session, (_turn(plain),))


def row_session(plain: dict[str, Any]) -> str | None:
    """Return the session that a row names, without checking the rest of the row."""
    given = plain.get("session")
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    return None if given is None else session_of(_text(given, "session"))


def _messages(messages: list[Any]) -> Iterator[Turn | InvalidInput]:
    for number, message in enumerate(messages, 1):
        try:
            plain = object_at(message, "It")
            # A message that only calls a tool has no content.
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
        # The content is a text, or a list of parts, some of which are texts.
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
        raise InvalidInput(f"`at` is {str(given)[:40]!a}; it must be an ISO 8601 time or seconds since 1970.")
    return at


def read_turns(content: bytes) -> tuple[list[Turn], list[str]]:
    """Read a JSON list, an object with `messages`, or JSON lines; return the turns and the errors.

    A file that is not one JSON document is read line by line. A bad line does not affect the others.
    """
    rows: list[tuple[str, object]]
    try:
        whole = json.loads(content)
        listed = isinstance(whole, list)
        rows = (
            [(f"item {place}", row) for place, row in enumerate(whole, 1)]
            if listed
            else [("top level", whole)]
        )
    except (ValueError, RecursionError):
        lines = enumerate(content.split(b"\n"), 1)
        rows = [(f"line {number}", line) for number, line in lines if line.strip()]
    turns: list[Turn] = []
    wrong: list[str] = []
    for place, row in rows:
        try:
            found = parse_turn_row(read_object(row) if isinstance(row, bytes) else object_at(row, "It")).turns
        except InvalidInput as error:
            found = (error,)
        wrong += [f"{place}: {each}" for each in found if isinstance(each, InvalidInput)]
        turns += [each for each in found if not isinstance(each, InvalidInput)]
    return turns, wrong
