"""Read Markdown files as conversations: transcripts by turn, documents and journals by section."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from recollect.domain.errors import InvalidInput
from recollect.transfer.files import UTF16_MARKS
from recollect.transfer.importers import Conversation
from recollect.transfer.turns import make_turn, session_of, storable_text, time_of_iso
from recollect_importers.conversations import (
    file_format,
    files_below,
    is_markdown,
    time_in_words,
    title_line,
    with_stable_ids,
    with_times,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from recollect.domain.changes import Turn
    from recollect.transfer.importers import ForeignSource

SIZE_LIMIT = 64 * 1024 * 1024
"""Maximum bytes of a file, which is read whole."""
_DAILY_NOTE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[ _T-].*)?")
_FRONT_LINE = re.compile(r"([A-Za-z_][\w .-]*):(?:[ \t]+(.*))?")
_BLOCKS = frozenset({"|", ">", "|-", ">-", "|+", ">+"})
"""YAML marks for a text that begins on the next line."""
_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*")
_FENCE = re.compile(r" {0,3}(?:> ?)?(`{3,}|~{3,})(.*)")


class MarkdownLine(NamedTuple):
    number: int
    """The line number in the file, from 1."""
    text: str
    level: int = 0
    """The level of a heading, from 1; 0 for other lines."""
    heading: str = ""
    is_code: bool = False
    """Whether the line is code, in which Markdown has no meaning."""


_Lines = tuple[MarkdownLine, ...]
FrontMatter = dict[str, str | tuple[str, ...]]


def markdown_conversations(path: Path, name: str) -> Iterator[Conversation]:
    """Yield the conversation, or the reason why the file cannot be read."""
    session = f"markdown:{name}"
    try:
        found = _conversation(markdown_lines(path), name, session_of(session))
    except InvalidInput as error:
        found = Conversation.unreadable(session, name, f"{name}: {error}")
    if not found.is_empty:
        yield found


def markdown_lines(path: Path) -> list[str]:
    """Return the lines of a file; raise `InvalidInput` if it cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise InvalidInput(f"It cannot be read: {error.strerror}.") from error
    if len(content) > SIZE_LIMIT:
        raise InvalidInput(
            f"It is longer than {SIZE_LIMIT / 1024**2:,.0f} MB, the limit for a text; split it."
        )
    if content.startswith(UTF16_MARKS):
        raise InvalidInput("It is in UTF-16; save it as UTF-8.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInput(
            f"It is not UTF-8 text: byte {error.start + 1:,}, on line {line:,}, is wrong."
        ) from None
    return storable_text(text).replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _conversation(lines: list[str], name: str, session: str) -> Conversation:
    given, _, length = yaml_front_matter(lines)
    front = {key.lower(): value for key, value in given.items() if isinstance(value, str)}
    body = parse_lines(lines[length:], length + 1)
    stem = name.rpartition("/")[2].rpartition(".")[0] or name
    # Prefer `date`, then the date in a daily note's name, then `created`, which may be later.
    daily = _DAILY_NOTE.fullmatch(stem)
    given_days = filter(None, (front.get("date"), daily[1] if daily else None, front.get("created")))
    days = (time_of_iso(each) or time_in_words(each) for each in given_days)
    day = next(filter(None, days), None)
    parts = transcript(body, day)
    turns: list[Turn] = []
    bad: list[str] = []
    left_out: Counter[str] = Counter()
    for part in _sections(body, day) if parts is None else parts:
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
        turns=with_stable_ids(with_times(turns, day) if parts is not None else turns, session),
        bad=tuple(bad),
        left_out=left_out,
    )


def yaml_front_matter(lines: list[str]) -> tuple[FrontMatter, tuple[str, ...], int]:
    """Return the front matter: texts and lists by key, the keys with other values, and its line count."""
    if not lines or lines[0].rstrip() != "---":
        return {}, (), 0
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() in {"---", "..."}), None)
    if end is None:
        return {}, (), 0
    front: FrontMatter = {}
    nested: dict[str, None] = {}
    key = ""
    for line in lines[1:end]:
        if found := _FRONT_LINE.fullmatch(line.rstrip()):
            key = found[1]
            text = (found[2] or "").strip()
            is_list = text.startswith("[") and text.endswith("]")
            items = (_unquote(each.strip()) for each in text[1:-1].split(",") if each.strip())
            front[key] = tuple(items) if is_list else _unquote(text)
            continue
        inner = line.strip()
        if not inner or inner.startswith("#") or not key:
            continue
        value = front[key]
        if isinstance(value, tuple) or (not value and inner.startswith("- ")):
            front[key] = (*value, _unquote(inner.removeprefix("- ")))
        elif value:  # this line continues, or begins, a long text
            front[key] = _unquote(inner) if value in _BLOCKS else f"{value} {_unquote(inner)}"
        else:
            nested[key] = None
    return {name: value for name, value in front.items() if name not in nested}, tuple(nested), end + 1


def _unquote(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1].replace("''", "'") if text[0] == "'" else text[1:-1].replace('\\"', '"')
    return text.partition(" #")[0].rstrip()


def parse_lines(lines: list[str], first: int) -> tuple[MarkdownLine, ...]:
    """Mark headings and code. An underlined heading becomes one line."""
    found: list[MarkdownLine] = []
    fence = ""
    for number, text in enumerate(lines, first):
        if fence:
            closing = _FENCE.fullmatch(text)
            found.append(MarkdownLine(number, text, is_code=True))
            if closing and closing[1].startswith(fence) and not closing[2].strip():
                fence = ""
        elif opening := _FENCE.fullmatch(text):
            # With further backticks, the line has inline code, and opens no block.
            fence = opening[1] if not (opening[1][0] == "`" and "`" in opening[2]) else ""
            found.append(MarkdownLine(number, text, is_code=bool(fence)))
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
    """Whether an underline makes the last line a heading: it must be a single line of text."""
    if not found or not found[-1].text.strip() or found[-1].level or found[-1].is_code:
        return False
    text = found[-1].text.lstrip()
    # Under `Alice: good night`, dashes separate one turn from the next.
    if text.startswith((">", "-", "*", "+", "|")) or (under == "-" and ":" in text):
        return False
    return len(found) == 1 or not found[-2].text.strip() or found[-2].level > 0


def _sections(lines: tuple[MarkdownLine, ...], day: datetime | None) -> Iterator[TranscriptPart]:
    """Yield sections with their headings. A heading with only deeper headings below is not a section."""
    headings: tuple[tuple[int, str], ...] = ()  # those above the section, each with its level
    number, texts = lines[0].number if lines else 1, list[str]()
    for line in (*lines, MarkdownLine(0, "", 1)):  # as if a heading ended the last section
        if not line.level:
            texts.append(line.text)
            continue
        above = tuple(heading for heading in headings if heading[0] < line.level)
        # The innermost heading with a time dates the section; a time without a date is on the last known day.
        at = day
        for _, heading in headings:
            at = time_in_words(heading, at.date() if at else None) or at
        title = " › ".join(heading for _, heading in headings if heading)
        body = "\n".join(texts).strip("\n").rstrip()
        text = f"{title}\n\n{body}" if title and body else title or body
        if text.strip() and (any(map(str.strip, texts)) or len(above) < len(headings)):
            yield TranscriptPart(number, text, "document", None, at)
        number, headings, texts = line.number, (*above, (line.level, line.heading)), []


# Transcripts: decide whether a text is one, and find its speakers and turns.


_ROLES = {
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
# A longer heading is not a name with a time.
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
# Lines that may come before the first turn, such as a date and a place.
_MAX_PREFACE_LINES = 8
# With this many turns, a text is a transcript in any case.
_CERTAIN_TURNS = 4
_RULE = re.compile(r"(?:> *)?(?:-{3,}|\*{3,}|_{3,}|(?:\* ){2,}\*)?")
# Labels of things, not of people. They may alternate as speakers do.
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
    """A turn. Text before the first turn, and a section of a document, has the role "document"."""

    number: int
    text: str
    role: str | None
    speaker: str | None
    at: datetime | None


class Label(NamedTuple):
    """The beginning of a turn."""

    at: int
    """The index of the line."""
    style: str
    name: str
    role: str | None
    stamp: str
    rest: str
    """The rest of the label's line."""
    quoted: bool


def transcript(lines: _Lines, day: datetime | None) -> tuple[TranscriptPart, ...] | None:
    """Split a transcript into turns; None for a document. Times without a date are on `day`."""
    labelled = [label for at, line in enumerate(lines) if (label := _find_label(at, line))]
    # Labels such as User and Claude are the best sign in any style, so they are tried first.
    for find_turns in (_turns_by_roles, _turns_by_names):
        for style in ("heading", "bold", "plain"):
            starts = find_turns(lines, [label for label in labelled if label.style == style], style)
            if starts:
                return tuple(_parts(lines, starts, day, dates=find_turns is _turns_by_names))
    return None


def _turns_by_roles(lines: _Lines, labelled: list[Label], style: str) -> list[Label] | None:
    """Find turns of a user and an assistant by their labels; other labels are part of the text."""
    starts = [label for label in labelled if label.role is not None]
    if not {"user", "assistant"} <= {label.role for label in starts} or _has_long_preface(lines, starts):
        return None
    if len(starts) >= _CERTAIN_TURNS:
        return starts
    # A few such labels may also be a glossary, or a chapter on users and one on models.
    if style == "heading":
        openings = {label.at for label in starts}
        level = min(lines[at].level for at in openings)
        # A single higher heading before them is the title.
        has_other_headings = any(
            at not in openings and (line.level == level or (0 < line.level < level and at > starts[0].at))
            for at, line in enumerate(lines)
        )
        return None if has_other_headings else starts
    return None if len(labelled) - len(starts) >= len(starts) else starts


def _turns_by_names(lines: _Lines, labelled: list[Label], style: str) -> list[Label] | None:
    """Find turns of people by their names, which must alternate."""
    starts = [label for label in labelled if label.name.lower() not in _THINGS]
    names = [label.name for label in starts]
    repeated = [name for name, times in Counter(names).items() if times > 1]
    changes = sum(one != other for one, other in pairwise(names))
    if len(repeated) < 2 or changes < 3 or _has_long_preface(lines, starts):
        return None
    # Three or more labels that repeat in the same order are records, such as name, age and town.
    kinds = len(set(names))
    if kinds > 2 and all(name == names[at % kinds] for at, name in enumerate(names)):
        return None
    # Labels of things among them are a sign of minutes, a recipe or a list of facts.
    if len(labelled) - len(starts) > len(starts) // 4:
        return None
    if style != "heading" and any(line.level and not _date_of(line) for line in lines[starts[0].at :]):
        return None
    stamped = sum(bool(label.stamp) for label in starts)
    # The words of each turn: those on its first line, or else those on the lines after it.
    said = [label.rest or " ".join(line.text for line in rest) for label, rest in _turns(lines, starts)]
    return starts if 2 * stamped >= len(starts) or median(len(text.split()) for text in said) >= 3 else None


def _turns(lines: _Lines, starts: list[Label]) -> list[tuple[Label, _Lines]]:
    """Return each label with the lines up to the next."""
    ends = [label.at for label in starts[1:]] + [len(lines)]
    return [(label, lines[label.at + 1 : end]) for label, end in zip(starts, ends, strict=True)]


def _has_long_preface(lines: _Lines, starts: list[Label]) -> bool:
    before = lines[: starts[0].at] if starts else ()
    return sum(bool(line.text.strip()) and not line.level for line in before) > _MAX_PREFACE_LINES


def _parts(
    lines: _Lines, starts: list[Label], day: datetime | None, *, dates: bool
) -> Iterator[TranscriptPart]:
    preface = lines[: starts[0].at]
    before = _trim([line.text for line in preface if not line.level])
    if before:
        yield TranscriptPart(lines[0].number, before, "document", None, day)
    day = _latest_day(preface, day)
    for label, following in _turns(lines, starts):
        at = time_in_words(label.stamp, day.date() if day else None)
        day = at or day
        texts = [line.text for line in following if not (dates and _date_of(line))]
        if label.quoted:
            texts = [text.removeprefix(">").removeprefix(" ") for text in texts]
        text = _trim([label.rest, *texts])
        if text:
            # `User` and the like are not names.
            speaker = None if label.name.lower() in _ROLES else label.name
            yield TranscriptPart(lines[label.at].number, text, label.role, speaker, at)
        if dates:
            day = _latest_day(following, day)


def _latest_day(lines: _Lines, day: datetime | None) -> datetime | None:
    return next((date for line in reversed(lines) if (date := _date_of(line))), day)


def _date_of(line: MarkdownLine) -> datetime | None:
    """Return the date of a heading that is a date."""
    return time_in_words(line.heading) if line.level else None


def _trim(texts: list[str]) -> str:
    """Strip the empty lines and rules that separate turns."""
    said = [at for at, text in enumerate(texts) if not _RULE.fullmatch(text.strip())]
    return "\n".join(texts[said[0] : said[-1] + 1]).strip() if said else ""


def _find_label(at: int, line: MarkdownLine) -> Label | None:
    if line.is_code:
        return None
    if line.level:
        found = _TITLE.fullmatch(line.heading) if len(line.heading) <= _TITLE_LIMIT else None
        return _new_label(at, "heading", [found], bare=not (found and (found["before"] or found["after"])))
    bold = _BOLD.fullmatch(line.text.strip())
    inner = _INNER.fullmatch(bold["inner"]) if bold else None
    tail = _TAIL.fullmatch(bold["tail"]) if bold else None
    if bold and inner and tail:
        has_no_colon = not inner["colon"] and not tail["colon"]
        # Bold words with text after them, but without a colon, only begin a sentence.
        if not (has_no_colon and tail["rest"]):
            label = _new_label(at, "bold", [bold, inner, tail], bare=has_no_colon or bool(bold["bullet"]))
            if label is not None:
                return label
    return _new_label(at, "plain", [_PLAIN.fullmatch(line.text.rstrip())])


def _new_label(at: int, style: str, found: list[re.Match[str] | None], *, bare: bool = False) -> Label | None:
    """Read a label. If `bare`, it has no colon or has a bullet, so only known speakers count."""
    parts: dict[str, str] = {}
    for match in found:
        if match is None:
            return None
        parts = {name: text for name, text in match.groupdict().items() if text} | parts
    written = " ".join(parts["name"].split())
    name = _SAID.sub("", written)
    # Names have capitals, where a script has them; a sentence with a colon has more words than a name.
    if len(name.split()) > 4 or (name[0].islower() and name.lower() not in _ROLES):
        return None
    role = _ROLES.get(name.lower()) or ("assistant" if _ASSISTANT.fullmatch(name) else None)
    if bare and role is None and name == written:
        return None
    stamp = parts.get("before") or parts.get("after") or ""
    return Label(at, style, name, role, stamp, parts.get("rest", ""), "quote" in parts)


def _recognises(source: ForeignSource) -> bool:
    if source.is_folder:
        return bool(files_below(source.path, is_markdown)[0])
    return is_markdown(source.path.name)


FORMAT = file_format("markdown", "Markdown files", 2, _recognises, is_markdown, markdown_conversations)
