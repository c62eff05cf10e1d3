"""Markdown transcripts: whether a text clearly is one, and if so, who says what in it.

A turn begins with a label: `**Alice:** …`, `Alice: …`, `## User`, `> **You said**`.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from recollect.transfer.chats.conversation import time_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from recollect.transfer.chats.markdown import MarkdownLine

    _Lines = tuple[MarkdownLine, ...]

_ANYBODY = {
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
a action actions address advantages after afternoon age agenda aim amount answer answers aside assignee
attendees attention author background before benefits bonus breakfast bug category cause caution caveat
challenge city claim color colour comment comments conclusion cons context cost country created critical
danger date day deadline decision decisions definition deliverable demo description details difficulty dinner
disclaimer dose duration email error evening example examples expected explanation fact fix focus from genre
goal hint how impact important info ingredients input instructions issue item key keywords language link links
location lunch material materials method mitigation mood morning motivation name new next night note notes
number objective old option output owner parent participants phone place plan price priority pro problem
progress pros purpose q quantity question questions quote rating reason reference references remember reminder
requirements result results risk role rule scope see serves size solution source sources start state status
step steps subject subtitle summary symptom tag tags task temperature text theme time tip tips title to today
todo tomorrow topic topics total type update updated url usage value version warning weather week weight what
when where who why year yesterday yield monday tuesday wednesday thursday friday saturday sunday aviso ejemplo
fecha hora ingredientes nota precio pregunta respuesta resumen tarea tema título
"""
_THINGS = frozenset(_THING_WORDS.split())


class TranscriptPart(NamedTuple):
    """What one said; with the role "document", what stands before the first turn."""

    number: int
    text: str
    role: str | None
    speaker: str | None
    at: datetime | None


class Label(NamedTuple):
    """The beginning of a turn."""

    at: int
    """Which of the lines."""
    style: str
    name: str
    role: str | None
    stamp: str
    rest: str
    """What stands after it on its line."""
    quoted: bool


def transcript(lines: _Lines, day: datetime | None) -> tuple[TranscriptPart, ...] | None:
    """None, if it may as well be a document. `day` is that of the file, for times without a date."""
    labelled = [label for at, line in enumerate(lines) if (label := _label_of(at, line))]
    # Words such as User and Claude are the surest sign, in whatever style, so they are looked for first.
    for judged in (_by_roles, _by_names):
        for style in ("heading", "bold", "plain"):
            opened = judged(lines, [label for label in labelled if label.style == style], style)
            if opened:
                return tuple(_parts(lines, opened, day, dates=judged is _by_names))
    return None


def _by_roles(lines: _Lines, labelled: list[Label], style: str) -> list[Label] | None:
    """A user and an assistant, known by their labels; other labels are part of what they say."""
    opened = [label for label in labelled if label.role is not None]
    if not {"user", "assistant"} <= {label.role for label in opened} or _has_preface(lines, opened):
        return None
    if len(opened) >= _MANY:
        return opened
    # A glossary, or a chapter on users and one on models.
    if style == "heading":
        return None if _has_headings_beside(lines, opened) else opened
    return None if len(labelled) - len(opened) >= len(opened) else opened


def _by_names(lines: _Lines, labelled: list[Label], style: str) -> list[Label] | None:
    """People, known by nothing but that they take turns."""
    opened = [label for label in labelled if label.name.lower() not in _THINGS]
    names = [label.name for label in opened]
    again = [name for name, times in Counter(names).items() if times > 1]
    changes = sum(one != other for one, other in pairwise(names))
    if len(again) < 2 or changes < 3 or _has_preface(lines, opened) or _is_table(names):
        return None
    # Things between them make it minutes, a recipe, a list of facts.
    if len(labelled) - len(opened) > len(opened) // 4:
        return None
    if style != "heading" and any(line.level and not _date_of(line) for line in lines[opened[0].at :]):
        return None
    stamped = sum(bool(label.stamp) for label in opened)
    # The words of each turn: those on its first line, or on the next ones if it has none there.
    said = [label.rest or " ".join(line.text for line in rest) for label, rest in _turns(lines, opened)]
    return opened if 2 * stamped >= len(opened) or median(len(text.split()) for text in said) >= 3 else None


def _turns(lines: _Lines, opened: list[Label]) -> list[tuple[Label, _Lines]]:
    """Each label, with the lines that follow it up to the next."""
    ends = [label.at for label in opened[1:]] + [len(lines)]
    return [(label, lines[label.at + 1 : end]) for label, end in zip(opened, ends, strict=True)]


def _has_preface(lines: _Lines, opened: list[Label]) -> bool:
    before = lines[: opened[0].at] if opened else ()
    return sum(bool(line.text.strip()) and not line.level for line in before) > _PREFACE


def _has_headings_beside(lines: _Lines, opened: list[Label]) -> bool:
    openings = {label.at for label in opened}
    level = min(lines[at].level for at in openings)
    # One above them all is the title.
    return any(
        at not in openings and (line.level == level or (0 < line.level < level and at > opened[0].at))
        for at, line in enumerate(lines)
    )


def _is_table(names: list[str]) -> bool:
    """Three or more labels in the same order again and again: records, such as name, age and town."""
    kinds = len(set(names))
    return kinds > 2 and all(name == names[at % kinds] for at, name in enumerate(names))


def _parts(
    lines: _Lines, opened: list[Label], day: datetime | None, *, dates: bool
) -> Iterator[TranscriptPart]:
    preface = lines[: opened[0].at]
    before = _trimmed([line.text for line in preface if not line.level])
    if before:
        yield TranscriptPart(lines[0].number, before, "document", None, day)
    day = _latest_day(preface, day)
    for label, following in _turns(lines, opened):
        at = time_in_words(label.stamp, day.date() if day else None)
        day = at or day
        texts = [line.text for line in following if not (dates and _date_of(line))]
        if label.quoted:
            texts = [text.removeprefix(">").removeprefix(" ") for text in texts]
        text = _trimmed([label.rest, *texts])
        if text:
            # `User` and the like name nobody.
            speaker = None if label.name.lower() in _ANYBODY else label.name
            yield TranscriptPart(lines[label.at].number, text, label.role, speaker, at)
        if dates:
            day = _latest_day(following, day)


def _latest_day(lines: _Lines, day: datetime | None) -> datetime | None:
    return next((date for line in reversed(lines) if (date := _date_of(line))), day)


def _date_of(line: MarkdownLine) -> datetime | None:
    """Of a heading that is a date."""
    return time_in_words(line.heading) if line.level else None


def _trimmed(texts: list[str]) -> str:
    """Without empty lines and rules around it, which separate turns and are nobody's words."""
    said = [at for at, text in enumerate(texts) if not _RULE.fullmatch(text.strip())]
    return "\n".join(texts[said[0] : said[-1] + 1]).strip() if said else ""


def _label_of(at: int, line: MarkdownLine) -> Label | None:
    if line.coded:
        return None
    if line.level:
        found = _TITLE.fullmatch(line.heading) if len(line.heading) <= _TITLE_LIMIT else None
        return _label(at, "heading", [found], bare=not (found and (found["before"] or found["after"])))
    bold = _BOLD.fullmatch(line.text.strip())
    inner = _INNER.fullmatch(bold["inner"]) if bold else None
    tail = _TAIL.fullmatch(bold["tail"]) if bold else None
    if bold and inner and tail:
        alone = not inner["colon"] and not tail["colon"]
        # Otherwise a sentence that begins with a word in bold.
        if not (alone and tail["rest"]):
            label = _label(at, "bold", [bold, inner, tail], bare=alone or bool(bold["bullet"]))
            if label is not None:
                return label
    return _label(at, "plain", [_PLAIN.fullmatch(line.text.rstrip())])


def _label(at: int, style: str, found: list[re.Match[str] | None], *, bare: bool = False) -> Label | None:
    """`bare`: only a word that is known for a speaker makes this a label: it has no colon, or a bullet."""
    parts: dict[str, str] = {}
    for match in found:
        if match is None:
            return None
        parts = {name: text for name, text in match.groupdict().items() if text} | parts
    written = " ".join(parts["name"].split())
    name = _SAID.sub("", written)
    # Names have capitals, where a script has them; a sentence with a colon has more words than a name.
    if len(name.split()) > 4 or (name[0].islower() and name.lower() not in _ANYBODY):
        return None
    role = _ANYBODY.get(name.lower()) or ("assistant" if _ASSISTANT.fullmatch(name) else None)
    if bare and role is None and name == written:
        return None
    stamp = parts.get("before") or parts.get("after") or ""
    return Label(at, style, name, role, stamp, parts.get("rest", ""), "quote" in parts)
