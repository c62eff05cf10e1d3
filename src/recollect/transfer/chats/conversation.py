"""A conversation as it was read, whatever file it stood in, and how its turns are made."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from recollect.changes import Turn
from recollect.errors import InvalidInput
from recollect.text.limits import clean_name, clean_text, clean_type

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns of one session. A long session may come in several of these, each with its next turns."""

    session: str
    """The same for the same conversation of a later export."""
    title: str
    turns: tuple[Turn, ...]
    bad: tuple[str, ...] = ()
    """What could not be read, each with its place and the reason."""


def fit(text: str) -> str:
    """Text as JSON may hold it, made fit to be kept: without NULs and halves of surrogate pairs."""
    return _SURROGATES.sub("\ufffd", text.replace("\0", ""))


def spoken(
    content: str, role: str | None, speaker: str | None, at: datetime | None, source: str | None = None
) -> Turn:
    """A turn that a store will take; `InvalidInput` says why it would not."""
    return Turn(
        content=clean_text(fit(content), "turn"),
        role=None if role is None else clean_type(fit(role), "role"),
        speaker=None if speaker is None else clean_name(fit(speaker), "speaker"),
        at=at,
        source=None if source is None else fit(source),
    )


def marked(turn: Turn, where: str, number: int) -> Turn:
    """The turn with a mark of its own, for formats that give none: its place among the like, and a hash."""
    told = json.dumps([turn.role, turn.speaker, turn.content], ensure_ascii=True)
    return replace(turn, source=f"{where}#{number}:{hashlib.sha256(told.encode()).hexdigest()[:16]}")


def marked_by_likeness(turns: Iterable[Turn], where: str) -> tuple[Turn, ...]:
    """Each is numbered among those that say the same, so that one put between others leaves their marks."""
    seen: dict[tuple[str | None, str | None, str], int] = {}
    found: list[Turn] = []
    for turn in turns:
        said = (turn.role, turn.speaker, turn.content)
        seen[said] = seen.get(said, 0) + 1
        found.append(marked(turn, where, seen[said]))
    return tuple(found)


def dated(turns: Iterable[Turn], start: datetime | None) -> tuple[Turn, ...]:
    """A turn without a time takes that of the turn before; the first takes the start, or the next known."""
    given = tuple(turns)
    last = start or next((turn.at for turn in given if turn.at is not None), None)
    found: list[Turn] = []
    for turn in given:
        last = turn.at or last
        found.append(replace(turn, at=last))
    return tuple(found)


def unreadable(session: str, title: str, reason: str) -> Conversation:
    """Nothing but the reason why there is nothing."""
    return Conversation(session, title, (), (reason,))


def text_of(value: object) -> str | None:
    """What a key holds, if it is text that says something."""
    return fit(value) if isinstance(value, str) and value.strip() else None


def session_of(name: str) -> str:
    """A session's name as it is kept; `InvalidInput` if it cannot be one."""
    return clean_name(fit(name), "session")


def named(value: object, otherwise: str) -> str:
    """A title on one line."""
    return " ".join((text_of(value) or otherwise).split())


def kind_of(value: object) -> str:
    """What a JSON value is, in words."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")


def object_at(value: object, what: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise InvalidInput(f"{what} is {kind_of(value)}, where an object was expected.")
    return value
