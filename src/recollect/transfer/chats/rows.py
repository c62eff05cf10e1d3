"""What a row of a turns file holds: one turn, or the messages of a conversation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.transfer.chats.conversation import kind_of, object_at, session_of, spoken
from recollect.transfer.chats.times import of_iso, of_seconds

if TYPE_CHECKING:
    from datetime import datetime

    from recollect.changes import Turn

# Instructions and tools: in a file of conversations, nobody said them.
_UNSAID = frozenset({"system", "developer", "tool", "function"})


@dataclass(frozen=True, slots=True)
class Said:
    """One turn, and the session that it names, if it does."""

    session: str | None
    turn: Turn


@dataclass(frozen=True, slots=True)
class Talk:
    """A whole conversation on one row; for a message that cannot be read, why."""

    session: str | None
    turns: tuple[Turn | InvalidInput, ...]


def is_row(plain: object) -> bool:
    """Whether it looks like one; what it holds may still be wrong."""
    return isinstance(plain, dict) and any(
        isinstance(plain.get(key), kind)
        for key, kind in (("content", str | list), ("text", str), ("messages", list))
    )


def session_in(plain: object) -> str | None:
    """The session that a row names, even if the rest of it is wrong."""
    given = plain.get("session") if isinstance(plain, dict) else None
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    if given is None:
        return None
    if not isinstance(given, str):
        raise InvalidInput(f"`session` is {kind_of(given)}, where text was expected.")
    return session_of(given)


def parsed(plain: dict[str, Any]) -> Said | Talk:
    session = session_in(plain)
    messages = plain.get("messages")
    if isinstance(messages, list):
        return Talk(session, tuple(_messages(messages)))
    return Said(session, _turn(plain))


def _messages(messages: list[Any]) -> Iterator[Turn | InvalidInput]:
    for number, message in enumerate(messages, 1):
        try:
            plain = object_at(message, "It")
            # An assistant that calls a tool says nothing.
            if plain.get("role") not in _UNSAID and not (
                plain.get("content") is None and "text" not in plain
            ):
                yield _turn(plain)
        except InvalidInput as error:
            yield InvalidInput(f"message {number}: {error}")


def _turn(plain: dict[str, Any]) -> Turn:
    key = "content" if "content" in plain else "text"
    if key not in plain:
        raise InvalidInput("It has neither `content` nor `text`.")
    return spoken(
        content=_content(plain[key], key),
        role=_word(plain, "role"),
        speaker=_word(plain, "speaker") or _word(plain, "name"),
        at=_at(plain.get("at")),
    )


def _content(given: object, key: str) -> str:
    """Text, or a list of parts of which some are."""
    if isinstance(given, list):
        return "\n\n".join(filter(None, map(_part, given)))
    if not isinstance(given, str):
        raise InvalidInput(f"`{key}` is {kind_of(given)}, where text was expected.")
    return given


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    if isinstance(part.get("text"), str):
        return str(part["text"])
    return "[image]" if "image" in str(part.get("type")) else ""


def _word(plain: dict[str, Any], key: str) -> str | None:
    given = plain.get(key)
    if given is None or given == "":
        return None
    if not isinstance(given, str):
        raise InvalidInput(f"`{key}` is {kind_of(given)}, where text was expected.")
    return given


def _at(given: object) -> datetime | None:
    if given is None or given == "":
        return None
    at = of_iso(given) or of_seconds(given)
    if at is None:
        raise InvalidInput(f"`at` is {str(given)[:40]!a}; it is an ISO 8601 time, or seconds since 1970.")
    return at
