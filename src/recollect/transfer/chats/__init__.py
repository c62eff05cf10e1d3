"""Talks out of other programs' files: ChatGPT and Claude exports, Markdown, and JSONL of turns."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput
from recollect.transfer.chats.archives import (
    Member,
    archive_members,
    archived_conversations,
    each_file,
    files_below,
    is_zip,
)
from recollect.transfer.chats.chatgpt import chatgpt_conversation
from recollect.transfer.chats.claude import claude_conversation
from recollect.transfer.chats.conversation import Conversation
from recollect.transfer.chats.markdown import is_markdown, markdown_conversations
from recollect.transfer.chats.turns import has_lines_of_turns, is_turn_row, turn_conversations
from recollect.transfer.files import open_lines
from recollect.transfer.json_lines import read_object

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["FORMATS", "Conversation", "conversations", "format_of"]

FORMATS: tuple[str, ...] = ("chatgpt", "claude", "markdown", "turns")
_LOOKED_FOR = (
    "a ChatGPT or Claude export (its zip, its folder, or conversations.json), Markdown (.md, .markdown), "
    "and JSON turns (.jsonl, .ndjson or .json, with `content` or `text`, or `messages`)"
)
# How many rows are looked at before we give up, and how many reasons we collect before one is raised.
_LOOKED_AT = 20
_HOPELESS = 10_000


def conversations(path: Path, format: str | None = None) -> Iterator[Conversation]:  # noqa: A002  # callers' word
    """Every conversation at this path that says something, or that has something in it that cannot be read
    or has no place.

    A session may come in several conversations, each with its next turns. `InvalidInput`, at the latest when
    the first one is asked for, if there is nothing that can be read.
    """
    _must_exist(path)
    match known := format or format_of(path):
        case "chatgpt":
            found = archived_conversations(path, known, chatgpt_conversation)
        case "claude":
            found = archived_conversations(path, known, claude_conversation)
        case "markdown":
            found = each_file(path, known, is_markdown, markdown_conversations)
        case "turns":
            found = each_file(path, known, has_lines_of_turns, turn_conversations)
        case _:
            raise InvalidInput(f"No format named {known!r}; there are: {', '.join(FORMATS)}.")
    return _unless_all_bad(found, path, known)


def format_of(path: Path) -> str:
    """One of `FORMATS`, by the names of files and by what the first rows hold."""
    _must_exist(path)
    found = _of_folder(path) if path.is_dir() else _of_file(path)
    if found is None:
        raise InvalidInput(f"{path} cannot be imported. Looked for: {_LOOKED_FOR}.")
    return found


def _must_exist(path: Path) -> None:
    try:
        there = path.exists()
    except (OSError, ValueError):  # a name too long, or with a NUL
        there = False
    if not there:
        raise InvalidInput(f"There is no file or folder {path}.")


def _unless_all_bad(found: Iterator[Conversation], path: Path, known: str) -> Iterator[Conversation]:
    """The same, unless nothing of it can be read: that is no list of bad rows, but the wrong file."""
    first: list[Conversation] = []
    bad: list[str] = []
    for conversation in found:
        first.append(conversation)
        bad += conversation.bad
        if conversation.turns or len(bad) >= _HOPELESS:
            break
    if bad and not first[-1].turns:
        raise InvalidInput(
            f"Nothing in {path} could be read as {known}. {bad[0]} If it is in another "
            f"format, name that; there are: {', '.join(FORMATS)}."
        )
    yield from first
    first.clear()
    yield from found


def _of_folder(path: Path) -> str | None:
    kinds: set[str | None] = set()
    for member in archive_members(path):
        with suppress(InvalidInput):  # reported when it is read
            kinds.add(_kind(member))
    kinds &= {"chatgpt", "claude"}
    if len(kinds) > 1:
        raise InvalidInput(f"{path} holds exports of both ChatGPT and Claude; import them one by one.")
    if kinds:
        return "chatgpt" if "chatgpt" in kinds else "claude"
    if files_below(path, is_markdown)[0]:
        return "markdown"
    return "turns" if files_below(path, has_lines_of_turns)[0] else None


def _of_file(path: Path) -> str | None:
    if is_zip(path):
        kinds = map(_kind, archive_members(path))
        return next((kind for kind in kinds if kind in {"chatgpt", "claude"}), None)
    if is_markdown(path.name):
        return "markdown"
    try:
        if not has_lines_of_turns(path.name) and (kind := _kind(Member(path.name, path))):
            return kind
    except InvalidInput as error:
        # Lines of which the first is broken are no JSON as a whole.
        if not _has_rows(path):
            raise InvalidInput(f"{path} cannot be imported. {error} Looked for: {_LOOKED_FOR}.") from error
        return "turns"
    return "turns" if _has_rows(path) else None


def _kind(member: Member) -> str | None:
    """As the first rows say that are of some kind."""
    for plain in islice(member.rows(), _LOOKED_AT):
        match plain:
            case {"mapping": dict()}:
                return "chatgpt"
            case {"chat_messages": list()}:
                return "claude"
        if is_turn_row(plain):
            return "turns"
    return None


def _has_rows(path: Path) -> bool:
    """Whether one of the first lines holds a turn, though others may be broken."""
    with open_lines(path) as source:
        for _, content in islice(source.lines(), _LOOKED_AT):
            try:
                if is_turn_row(read_object(content)):
                    return True
            except InvalidInput:
                continue
    return False
