"""Whether a Markdown text is clearly a transcript, and if so, who says what in it."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from recollect.transfer.chats.labels import STYLES, Label, Style, label_of
from recollect.transfer.chats.times import of_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from recollect.transfer.chats.lines import Line

# What may stand before the first turn: a few lines on when and where it was, not an essay.
_PREFACE = 8
# So many turns, and what else is in the text no longer speaks against it.
_MANY = 4
_RULE = re.compile(r"(?:> *)?(?:-{3,}|\*{3,}|_{3,}|(?:\* ){2,}\*)?")


class Part(NamedTuple):
    """What one said; with the role "document", what stands before the first turn."""

    number: int
    text: str
    role: str | None
    speaker: str | None
    at: datetime | None


class _Opening(NamedTuple):
    at: int
    """Which of the lines."""
    label: Label


def transcript(lines: tuple[Line, ...], day: datetime | None) -> tuple[Part, ...] | None:
    """None, if it may as well be a document. `day` is that of the file, for times without a date."""
    labelled = [_Opening(at, label) for at, line in enumerate(lines) if (label := label_of(line))]
    # Words such as User and Claude are the surest sign, in whatever style, so they are looked for first.
    for judged in (_by_roles, _by_names):
        for style in STYLES:
            opened = judged(lines, [one for one in labelled if one.label.style == style], style)
            if opened:
                return tuple(_parts(lines, opened, day, dates=judged is _by_names))
    return None


def _by_roles(lines: tuple[Line, ...], labelled: list[_Opening], style: Style) -> list[_Opening] | None:
    """A user and an assistant, known by their labels; other labels are part of what they say."""
    opened = [one for one in labelled if one.label.role is not None]
    if not {"user", "assistant"} <= {one.label.role for one in opened} or _preface(lines, opened) > _PREFACE:
        return None
    if len(opened) < _MANY:
        others = (
            _headings_beside(lines, opened)
            if style == "heading"
            else len([one for one in labelled if one.label.role is None])
        )
        # A glossary, or a chapter on users and one on models.
        if others >= (1 if style == "heading" else len(opened)):
            return None
    return opened


def _by_names(lines: tuple[Line, ...], labelled: list[_Opening], style: Style) -> list[_Opening] | None:
    """People, known by nothing but that they take turns."""
    opened = [one for one in labelled if not one.label.is_of_a_thing]
    names = [one.label.name for one in opened]
    again = [name for name, times in Counter(names).items() if times > 1]
    changes = sum(one != other for one, other in pairwise(names))
    if len(again) < 2 or changes < 3 or _preface(lines, opened) > _PREFACE or _is_table(names):
        return None
    # Things between them make it minutes, a recipe, a list of facts.
    if len(labelled) - len(opened) > len(opened) // 4:
        return None
    if style != "heading" and any(
        line.level and of_words(line.heading) is None for line in lines[opened[0].at :]
    ):
        return None
    stamped = sum(bool(one.label.stamp) for one in opened)
    return opened if 2 * stamped >= len(opened) or median(_lengths(lines, opened)) >= 3 else None


def _lengths(lines: tuple[Line, ...], opened: list[_Opening]) -> list[int]:
    """The words of each turn: those on its first line, or on the next ones if it has none there."""
    ends = [one.at for one in opened[1:]] + [len(lines)]
    return [
        len((label.rest or " ".join(line.text for line in lines[start + 1 : end])).split())
        for (start, label), end in zip(opened, ends, strict=True)
    ]


def _preface(lines: tuple[Line, ...], opened: list[_Opening]) -> int:
    return sum(bool(line.text.strip()) and not line.level for line in lines[: opened[0].at]) if opened else 0


def _headings_beside(lines: tuple[Line, ...], opened: list[_Opening]) -> int:
    openings = {one.at for one in opened}
    level = min(lines[at].level for at in openings)
    # One above them all is the title.
    return sum(
        at not in openings and (line.level == level or (0 < line.level < level and at > opened[0].at))
        for at, line in enumerate(lines)
    )


def _is_table(names: list[str]) -> bool:
    """Three or more labels in the same order again and again: records, such as name, age and town."""
    kinds = len(set(names))
    return kinds > 2 and all(name == names[at % kinds] for at, name in enumerate(names))


def _parts(
    lines: tuple[Line, ...], opened: list[_Opening], day: datetime | None, *, dates: bool
) -> Iterator[Part]:
    before = _said([line.text for line in lines[: opened[0].at] if not line.level])
    if before:
        yield Part(lines[0].number, before, "document", None, day)
    day = _latest_day(lines[: opened[0].at], day)
    ends = [one.at for one in opened[1:]] + [len(lines)]
    for (start, label), end in zip(opened, ends, strict=True):
        at = of_words(label.stamp, day.date() if day else None)
        day = at or day
        follow = [line for line in lines[start + 1 : end] if not (dates and _is_date(line))]
        texts = [_unquoted(line.text) for line in follow] if label.quoted else [line.text for line in follow]
        text = _said([label.rest, *texts])
        if text and label.role != "system":
            yield Part(lines[start].number, text, label.role, label.speaker, at)
        if dates:
            day = _latest_day(lines[start + 1 : end], day)


def _latest_day(lines: tuple[Line, ...], day: datetime | None) -> datetime | None:
    for line in lines:
        if _is_date(line):
            day = of_words(line.heading)
    return day


def _is_date(line: Line) -> bool:
    return line.level > 0 and of_words(line.heading) is not None


def _unquoted(text: str) -> str:
    return text.removeprefix(">").removeprefix(" ")


def _said(texts: list[str]) -> str:
    """Without empty lines and rules around it, which part turns and are nobody's words."""
    first, last = 0, len(texts)
    while first < last and _RULE.fullmatch(texts[first].strip()):
        first += 1
    while first < last and _RULE.fullmatch(texts[last - 1].strip()):
        last -= 1
    return "\n".join(texts[first:last]).strip()
