"""Markdown files as conversations: a transcript by its turns, a document or journal by its sections."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from recollect.errors import InvalidInput
from recollect.transfer.chats.conversation import (
    Conversation,
    make_turn,
    session_of,
    storable_text,
    time_in_words,
    time_of_iso,
    title_line,
    with_marks,
    with_times,
)
from recollect.transfer.chats.transcript import TranscriptPart, transcript
from recollect.transfer.files import UTF16_MARKS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from recollect.changes import Turn

SIZE_LIMIT = 64 * 1024 * 1024
"""Bytes of one file, which is read whole."""
_SUFFIXES = (".md", ".markdown")
_DAILY = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[ _T-].*)?")
_FRONT_LINE = re.compile(r"([A-Za-z_][\w-]*):[ \t]+(.*)")
_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*")
_FENCE = re.compile(r" {0,3}(?:> ?)?(`{3,}|~{3,})(.*)")


class MarkdownLine(NamedTuple):
    number: int
    """In the file, from 1."""
    text: str
    level: int = 0
    """A heading's, from 1; 0 for what is none."""
    heading: str = ""
    coded: bool = False
    """In code, where nothing means anything."""


def is_markdown(name: str) -> bool:
    return name.lower().endswith(_SUFFIXES)


def markdown_conversations(path: Path, name: str) -> Iterator[Conversation]:
    """One at most; for a file that cannot be read, why."""
    session = f"markdown:{name}"
    try:
        found = _conversation(_content(path), name, session_of(session))
    except InvalidInput as error:
        found = Conversation.unreadable(session, name, f"{name}: {error}")
    if not found.is_empty:
        yield found


def markdown_lines(path: Path) -> list[str]:
    """The lines of a file; `InvalidInput` says why it cannot be read."""
    return _lines(_content(path))


def _lines(text: str) -> list[str]:
    return storable_text(text).replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _content(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise InvalidInput(f"It cannot be read: {error.strerror}.") from error
    if len(content) > SIZE_LIMIT:
        raise InvalidInput(f"It is longer than {SIZE_LIMIT / 1024**2:,.0f} MB, which no text is; split it.")
    if content.startswith(UTF16_MARKS):
        raise InvalidInput("It is in UTF-16; save it as UTF-8.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInput(
            f"It is not UTF-8 text: byte {error.start + 1:,}, on line {line:,}, is wrong."
        ) from None


def _conversation(text: str, name: str, session: str) -> Conversation:
    lines = _lines(text)
    front, taken = _front_matter(lines)
    body = marked_lines(lines[taken:], taken + 1)
    stem = name.rpartition("/")[2].rpartition(".")[0] or name
    day = _day(front, stem)
    talk = transcript(body, day)
    turns: list[Turn] = []
    bad: list[str] = []
    left_out: Counter[str] = Counter()
    for part in _sections(body, day) if talk is None else talk:
        if part.role == "system":
            left_out["system prompts"] += 1
            continue
        try:
            turns.append(make_turn(part.text, part.role, part.speaker, part.at))
        except InvalidInput as error:
            bad.append(f"{name}, line {part.number}: {error}")
    first_heading = next((line.heading for line in body if line.level == 1 and line.heading), None)
    return Conversation(
        session=session,
        title=title_line(front.get("title") or first_heading, stem),
        turns=with_marks(with_times(turns, day) if talk is not None else turns, session),
        bad=tuple(bad),
        left_out=left_out,
    )


def _day(front: dict[str, str], stem: str) -> datetime | None:
    """The text's own date; that of a daily note's name; the day it was created, which may be later."""
    daily = _DAILY.fullmatch(stem)
    for given in (front.get("date"), daily[1] if daily else None, front.get("created")):
        if given and (at := time_of_iso(given) or time_in_words(given)):
            return at
    return None


def _front_matter(lines: list[str]) -> tuple[dict[str, str], int]:
    """What `key: value` lines between two rules say, and how many lines they take; no more of YAML.

    By key, in lower case; the first of each. Nothing, if the text does not begin with a rule.
    """
    if not lines or lines[0].rstrip() != "---":
        return {}, 0
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() in {"---", "..."}), None)
    if end is None:
        return {}, 0
    front: dict[str, str] = {}
    for line in lines[1:end]:
        if found := _FRONT_LINE.fullmatch(line.rstrip()):
            front.setdefault(found[1].lower(), _unquoted(found[2].lstrip()))
    return front, end + 1


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value.partition(" #")[0].rstrip()


def marked_lines(lines: list[str], first: int) -> tuple[MarkdownLine, ...]:
    """Which lines are headings, and which are code. An underlined heading is one line here, not two."""
    found: list[MarkdownLine] = []
    fence = ""
    for number, text in enumerate(lines, first):
        if fence:
            closing = _FENCE.fullmatch(text)
            found.append(MarkdownLine(number, text, coded=True))
            if closing and closing[1].startswith(fence) and not closing[2].strip():
                fence = ""
        elif opening := _FENCE.fullmatch(text):
            # Backticks after backticks: code within a line.
            fence = opening[1] if not (opening[1][0] == "`" and "`" in opening[2]) else ""
            found.append(MarkdownLine(number, text, coded=bool(fence)))
        elif heading := _HEADING.match(text):
            title = text[heading.end() :].strip()
            unclosed = title.rstrip("#")
            title = title if unclosed.rstrip(" \t") == unclosed != "" else unclosed.rstrip()
            found.append(MarkdownLine(number, text, len(heading[1]), title))
        elif (under := _UNDERLINE.fullmatch(text)) and _is_title(found, under[1][0]):
            last = found.pop()
            level = 1 if under[1][0] == "=" else 2
            found.append(MarkdownLine(last.number, last.text, level, last.text.strip()))
        else:
            found.append(MarkdownLine(number, text))
    return tuple(found)


def _is_title(found: list[MarkdownLine], under: str) -> bool:
    """One line of text by itself, which an underline makes a heading."""
    if not found or not found[-1].text.strip() or found[-1].level or found[-1].coded:
        return False
    text = found[-1].text.lstrip()
    # Under `Alice: good night`, dashes separate one turn from the next.
    if text.startswith((">", "-", "*", "+", "|")) or (under == "-" and ":" in text):
        return False
    return len(found) == 1 or not found[-2].text.strip() or found[-2].level > 0


def _sections(lines: tuple[MarkdownLine, ...], day: datetime | None) -> Iterator[TranscriptPart]:
    """Each with its headings before its text. A heading with deeper ones alone under it is no section."""
    headings: tuple[tuple[int, str], ...] = ()  # that lead to the section, each with its level
    number, texts = lines[0].number if lines else 1, list[str]()
    for line in (*lines, MarkdownLine(0, "", 1)):  # as if a heading ended the last section
        if not line.level:
            texts.append(line.text)
            continue
        above = tuple(heading for heading in headings if heading[0] < line.level)
        part = _section(number, [heading for _, heading in headings], texts, day)
        if part.text.strip() and (any(map(str.strip, texts)) or len(above) < len(headings)):
            yield part
        number, headings, texts = line.number, (*above, (line.level, line.heading)), []


def _section(number: int, headings: list[str], texts: list[str], day: datetime | None) -> TranscriptPart:
    """Its time is what the headings say, the inner ones last; a time alone is of the day found so far."""
    for heading in headings:
        day = time_in_words(heading, day.date() if day else None) or day
    title, body = " › ".join(filter(None, headings)), "\n".join(texts).strip("\n").rstrip()
    text = f"{title}\n\n{body}" if title and body else title or body
    return TranscriptPart(number, text, "document", None, day)
