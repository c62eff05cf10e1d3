"""Markdown files as conversations: a transcript by its turns, a document or journal by its sections."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput
from recollect.transfer.chats.conversation import (
    Conversation,
    dated,
    fit,
    marked_by_likeness,
    named,
    session_of,
    spoken,
    unreadable,
)
from recollect.transfer.chats.frontmatter import front
from recollect.transfer.chats.lines import marked_lines
from recollect.transfer.chats.sections import sections
from recollect.transfer.chats.times import of_iso, of_words
from recollect.transfer.chats.transcript import Part, transcript
from recollect.transfer.chats.walk import files_below, relative

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from recollect.changes import Turn
    from recollect.transfer.chats.lines import Line

SIZE_LIMIT = 64 * 1024 * 1024
"""Bytes of one file, which is read whole."""
_SUFFIXES = (".md", ".markdown")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_DAILY = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[ _T-].*)?")


def is_markdown(name: str) -> bool:
    return name.lower().endswith(_SUFFIXES)


def markdown(path: Path) -> Iterator[Conversation]:
    """A file, or every Markdown file below a folder; one that cannot be read is named, and passed over."""
    if not path.is_dir():
        yield from _of(path, path.name)
        return
    found = files_below(path, is_markdown)
    for reason in found.closed:
        yield unreadable(f"markdown:{path.name}", path.name, reason)
    for file in found.files:
        yield from _of(file, relative(file, path))


def _of(path: Path, name: str) -> Iterator[Conversation]:
    session = f"markdown:{name}"
    try:
        found = conversation(_read(path), name, session_of(session))
    except InvalidInput as error:
        yield unreadable(session, name, f"{name}: {error}")
        return
    if found.turns or found.bad:
        yield found


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise InvalidInput(f"It cannot be read: {error.strerror}.") from error
    if len(content) > SIZE_LIMIT:
        raise InvalidInput(f"It is longer than {SIZE_LIMIT / 1024**2:,.0f} MB, which no text is; split it.")
    if content.startswith(_UTF16_MARKS):
        raise InvalidInput("It is in UTF-16; save it as UTF-8.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInput(
            f"It is not UTF-8 text: byte {error.start + 1:,}, on line {line:,}, is wrong."
        ) from None


def conversation(text: str, name: str, session: str) -> Conversation:
    lines = fit(text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    says, taken = front(lines)
    body = marked_lines(lines[taken:], taken + 1)
    stem = name.rpartition("/")[2].rpartition(".")[0] or name
    day = _day(says, stem)
    talk = transcript(body, day)
    parts = talk if talk is not None else _document(body, day)
    turns: list[Turn] = []
    bad: list[str] = []
    for part in parts:
        try:
            turns.append(spoken(part.text, part.role, part.speaker, part.at))
        except InvalidInput as error:
            bad.append(f"{name}, line {part.number}: {error}")
    return Conversation(
        session=session,
        title=named(says.get("title") or _first_heading(body), stem),
        turns=marked_by_likeness(dated(turns, day) if talk is not None else turns, session),
        bad=tuple(bad),
    )


def _document(lines: tuple[Line, ...], day: datetime | None) -> tuple[Part, ...]:
    return tuple(Part(one.number, one.text, "document", None, one.at) for one in sections(lines, day))


def _day(says: dict[str, str], stem: str) -> datetime | None:
    """The text's own date; that of a daily note's name; the day it was created, which may be later."""
    daily = _DAILY.fullmatch(stem)
    for given in (says.get("date"), daily[1] if daily else None, says.get("created")):
        if given and (at := of_iso(given) or of_words(given)):
            return at
    return None


def _first_heading(lines: tuple[Line, ...]) -> str | None:
    return next((line.heading for line in lines if line.level == 1 and line.heading), None)
