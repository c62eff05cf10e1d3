"""Going over the conversations of an export, whichever program wrote it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.transfer.chats.conversation import Conversation, object_at, unreadable
from recollect.transfer.chats.members import members
from recollect.transfer.chats.values import values

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.transfer.chats.members import Member

Read = Callable[[dict[str, Any], str], Conversation]


def exported(path: Path, format: str, read: Read) -> Iterator[Conversation]:  # noqa: A002  # as in the façade
    """Every conversation of every file; `read` is given one, and its place for messages."""
    found = members(path)
    if not found:
        raise InvalidInput(
            f"There is no conversations.json or conversations-000.json in {path}, nor a zip of it."
        )
    for member in found:
        yield from _of(member, format, read)


def elements(member: Member) -> Iterator[object]:
    """The conversations of a file, as plain data: a list of them, or an object that keeps them in a list."""
    with member.opened() as file:
        for plain in values(file, member.name):
            if isinstance(plain, dict) and isinstance(plain.get("conversations"), list):
                yield from plain["conversations"]
            else:
                yield plain


def _of(member: Member, format: str, read: Read) -> Iterator[Conversation]:  # noqa: A002
    session = f"{format}:{member.name}"
    number = 0
    try:
        for number, plain in enumerate(elements(member), 1):
            place = f"{member.name}, conversation {number}"
            try:
                conversation = read(object_at(plain, "It"), place)
            except InvalidInput as error:
                yield unreadable(session, member.name, f"{place}: {error}")
                continue
            if conversation.turns or conversation.bad:
                yield conversation
    except InvalidInput as error:
        # What was read of it stays read.
        more = f" What stands before it, {number:,} conversations, was read." if number else ""
        yield unreadable(session, member.name, f"{error}{more}")
