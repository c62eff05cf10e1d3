"""Markdown transcripts: whether a text clearly is one, and if so, who says what in it.

A turn begins with a label: `**Alice:** …`, `Alice: …`, `## User`, `> **You said**`.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Literal, NamedTuple

from recollect.transfer.chats.conversation import time_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from recollect.transfer.chats.markdown import MarkdownLine

Style = Literal["heading", "bold", "plain"]
Role = Literal["user", "assistant", "system"]

STYLES: tuple[Style, ...] = ("heading", "bold", "plain")

_ANYBODY: dict[str, Role] = {
    **dict.fromkeys(("user", "human", "you", "me", "myself", "prompt"), "user"),
    **dict.fromkeys(("assistant", "ai", "ai assistant", "bot", "chatbot", "model", "response"), "assistant"),
    **dict.fromkeys(("system", "system prompt", "tool"), "system"),
}
_ASSISTANT = re.compile(
    r"(?:chat ?gpt|gpt|claude|gemini|bard|copilot|grok|deepseek|llama|mistral|le chat|perplexity)"
    r"(?:[ -][\w.]+){0,3}",
    re.IGNORECASE,
)
_STAMP = (
    r"(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[,T]?\s*\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:\s*[ap]\.?m\.?)?"
    r"(?:\s*(?:Z|UTC|[+-]\d{2}:?\d{2}))?)?|\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]\.?m\.?)?)"
)
# A longer heading is no name with a time.
_TITLE_LIMIT = 100
_BEFORE = rf"(?:[\[(]?(?P<before>{_STAMP})[\])]?[\s,–—-]*)?"
_AFTER = rf"(?:\s{{0,3}}(?:[–—|@,-]|\bat\b|\bon\b)?\s{{0,3}}[\[(]?(?P<after>{_STAMP})[\])]?)?"
_NAME = r"(?P<name>[^\W\d_][\w.'’ -]{0,39}?)"
_BOLD = re.compile(
    rf"(?P<quote>> ?)?(?P<bullet>[-*+] +)?{_BEFORE}"
    r"(?P<mark>\*\*|__)(?P<inner>[^*]{1,80}?)(?P=mark)(?P<tail>.*)",
    re.IGNORECASE,
)
_INNER = re.compile(rf"{_BEFORE}\W*?{_NAME}{_AFTER}\s*(?P<colon>:?)\s*", re.IGNORECASE)
_TAIL = re.compile(rf"{_AFTER}\s*(?P<colon>:?)(?:\s+(?P<rest>.*))?", re.IGNORECASE)
_PLAIN = re.compile(rf"(?P<quote>> ?)?{_BEFORE}{_NAME}{_AFTER}\s{{0,3}}:(?:\s+(?P<rest>.*))?", re.IGNORECASE)
_TITLE = re.compile(rf"[^\w\[(]*{_BEFORE}[^\w\[(]*{_NAME}{_AFTER}[*_]*\s*:?[*_]*\s*", re.IGNORECASE)
_SAID = re.compile(r"\s+(?:said|says|wrote|asked|replied)$", re.IGNORECASE)
# What may stand before the first turn: a few lines on when and where it was, not an essay.
_PREFACE = 8
# With so many turns, nothing else in the text matters.
_MANY = 4
_RULE = re.compile(r"(?:> *)?(?:-{3,}|\*{3,}|_{3,}|(?:\* ){2,}\*)?")
# Labels of things, not of people. They may well alternate, and still nobody speaks.
_THING_WORDS = """
a action actions address advantages after afternoon age agenda aim amount answer answers aside
assignee attendees attention author background before benefits bonus breakfast bug category cause
caution caveat challenge city claim color colour comment comments conclusion cons context cost
country created critical danger date day deadline decision decisions definition deliverable demo
description details difficulty dinner disclaimer dose duration email error evening example examples
expected explanation fact fix focus from genre goal hint how impact important info ingredients input
instructions issue item key keywords language link links location lunch material materials method
mitigation mood morning motivation name new next night note notes number objective old option output
owner parent participants phone place plan price priority pro problem progress pros purpose q
quantity question questions quote rating reason reference references remember reminder requirements
result results risk role rule scope see serves size solution source sources start state status step
steps subject subtitle summary symptom tag tags task temperature text theme time tip tips title to
today todo tomorrow topic topics total type update updated url usage value version warning weather
week weight what when where who why year yesterday yield
monday tuesday wednesday thursday friday saturday sunday
aviso ejemplo fecha hora ingredientes nota precio pregunta respuesta resumen tarea tema título
"""
_THINGS = frozenset(_THING_WORDS.split())


class TranscriptPart(NamedTuple):
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


def transcript(lines: tuple[MarkdownLine, ...], day: datetime | None) -> tuple[TranscriptPart, ...] | None:
    """None, if it may as well be a document. `day` is that of the file, for times without a date."""
    labelled = [_Opening(at, label) for at, line in enumerate(lines) if (label := label_of(line))]
    # Words such as User and Claude are the surest sign, in whatever style, so they are looked for first.
    for judged in (_by_roles, _by_names):
        for style in STYLES:
            opened = judged(lines, [one for one in labelled if one.label.style == style], style)
            if opened:
                return tuple(_parts(lines, opened, day, dates=judged is _by_names))
    return None


def _by_roles(
    lines: tuple[MarkdownLine, ...], labelled: list[_Opening], style: Style
) -> list[_Opening] | None:
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


def _by_names(
    lines: tuple[MarkdownLine, ...], labelled: list[_Opening], style: Style
) -> list[_Opening] | None:
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
        line.level and time_in_words(line.heading) is None for line in lines[opened[0].at :]
    ):
        return None
    stamped = sum(bool(one.label.stamp) for one in opened)
    return opened if 2 * stamped >= len(opened) or median(_lengths(lines, opened)) >= 3 else None


def _lengths(lines: tuple[MarkdownLine, ...], opened: list[_Opening]) -> list[int]:
    """The words of each turn: those on its first line, or on the next ones if it has none there."""
    ends = [one.at for one in opened[1:]] + [len(lines)]
    return [
        len((label.rest or " ".join(line.text for line in lines[start + 1 : end])).split())
        for (start, label), end in zip(opened, ends, strict=True)
    ]


def _preface(lines: tuple[MarkdownLine, ...], opened: list[_Opening]) -> int:
    return sum(bool(line.text.strip()) and not line.level for line in lines[: opened[0].at]) if opened else 0


def _headings_beside(lines: tuple[MarkdownLine, ...], opened: list[_Opening]) -> int:
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
    lines: tuple[MarkdownLine, ...], opened: list[_Opening], day: datetime | None, *, dates: bool
) -> Iterator[TranscriptPart]:
    before = _trimmed([line.text for line in lines[: opened[0].at] if not line.level])
    if before:
        yield TranscriptPart(lines[0].number, before, "document", None, day)
    day = _latest_day(lines[: opened[0].at], day)
    ends = [one.at for one in opened[1:]] + [len(lines)]
    for (start, label), end in zip(opened, ends, strict=True):
        at = time_in_words(label.stamp, day.date() if day else None)
        day = at or day
        follow = [line for line in lines[start + 1 : end] if not (dates and _is_date(line))]
        texts = [_unquoted(line.text) for line in follow] if label.quoted else [line.text for line in follow]
        text = _trimmed([label.rest, *texts])
        if text and label.role != "system":
            yield TranscriptPart(lines[start].number, text, label.role, label.speaker, at)
        if dates:
            day = _latest_day(lines[start + 1 : end], day)


def _latest_day(lines: tuple[MarkdownLine, ...], day: datetime | None) -> datetime | None:
    for line in lines:
        if _is_date(line):
            day = time_in_words(line.heading)
    return day


def _is_date(line: MarkdownLine) -> bool:
    return line.level > 0 and time_in_words(line.heading) is not None


def _unquoted(text: str) -> str:
    return text.removeprefix(">").removeprefix(" ")


def _trimmed(texts: list[str]) -> str:
    """Without empty lines and rules around it, which separate turns and are nobody's words."""
    first, last = 0, len(texts)
    while first < last and _RULE.fullmatch(texts[first].strip()):
        first += 1
    while first < last and _RULE.fullmatch(texts[last - 1].strip()):
        last -= 1
    return "\n".join(texts[first:last]).strip()


class Label(NamedTuple):
    style: Style
    name: str
    role: Role | None
    stamp: str
    rest: str
    """What stands after it on its line."""
    quoted: bool = False
    bare: bool = False
    """Only a word that is known for a speaker makes this a label: it has no colon, or a bullet before it."""

    @property
    def speaker(self) -> str | None:
        """None for `User` and the like, which name nobody."""
        return None if self.name.lower() in _ANYBODY else self.name

    @property
    def is_of_a_thing(self) -> bool:
        return self.name.lower() in _THINGS


def label_of(line: MarkdownLine) -> Label | None:
    if line.coded:
        return None
    if line.level:
        return _heading(line.heading)
    return _bold(line.text) or _plain(line.text)


def _heading(text: str) -> Label | None:
    found = _TITLE.fullmatch(text) if len(text) <= _TITLE_LIMIT else None
    if found is None:
        return None
    stamp = found["before"] or found["after"] or ""
    return _label("heading", found["name"], stamp, "", bare=not stamp)


def _bold(text: str) -> Label | None:
    found = _BOLD.fullmatch(text.strip())
    inner = _INNER.fullmatch(found["inner"]) if found else None
    tail = _TAIL.fullmatch(found["tail"]) if found else None
    if found is None or inner is None or tail is None:
        return None
    stamp = found["before"] or inner["before"] or inner["after"] or tail["after"] or ""
    alone = not inner["colon"] and not tail["colon"]
    rest = tail["rest"] or ""
    if alone and rest:
        return None  # a sentence that begins with a word in bold
    return _label(
        "bold", inner["name"], stamp, rest, quoted=bool(found["quote"]), bare=alone or bool(found["bullet"])
    )


def _plain(text: str) -> Label | None:
    found = _PLAIN.fullmatch(text.rstrip())
    if found is None:
        return None
    stamp = found["before"] or found["after"] or ""
    return _label("plain", found["name"], stamp, found["rest"] or "", quoted=bool(found["quote"]))


def _label(
    style: Style, given: str, stamp: str, rest: str, *, quoted: bool = False, bare: bool = False
) -> Label | None:
    written = " ".join(given.split())
    name = _SAID.sub("", written)
    # Names have capitals, where a script has them; a sentence with a colon has more words than a name.
    if len(name.split()) > 4 or (name[0].islower() and name.lower() not in _ANYBODY):
        return None
    role = _ANYBODY.get(name.lower()) or ("assistant" if _ASSISTANT.fullmatch(name) else None)
    if bare and role is None and name == written:
        return None
    return Label(style, name, role, stamp, rest, quoted, bare)
