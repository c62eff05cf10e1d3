"""Edits JSON as text, comments and all: places of values, and members put in or taken out."""

from __future__ import annotations

import json
import re
from typing import Any

from recollect.clients.entry import NotEditable
from recollect.lazy_dataclass import dataclass

BOM = "\ufeff"
BLANKS = " \t\r\n"
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_TRIVIA = re.compile(rf"(?>[{BLANKS}]|{_COMMENT.pattern})*+", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_LAST_COMMA = re.compile(rf",(?={_TRIVIA.pattern}[}}\]])", re.DOTALL)
_NOT_STRICT = re.compile(f"{_STRING.pattern}|{_COMMENT.pattern}|{_LAST_COMMA.pattern}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class JsonMember:
    """Where a member of an object stands: its key, its value, the end of that, and the comma behind it.

    An element of a list begins with its value.
    """

    start: int
    value: int
    end: int
    comma: int | None


@dataclass(frozen=True, slots=True)
class JsonMembers:
    start: int
    end: int
    members: dict[str | int, JsonMember]
    """By key; of a list, by place."""


def plain_json(text: str, *, comments: bool) -> str:
    """JSON of the same length, with blanks for what only some clients read."""

    def blank(found: re.Match[str]) -> str:
        written = found.group()
        if written.startswith('"'):
            return written
        if not comments:
            what = "comma after the last value" if written == "," else "comment"
            line = text.count("\n", 0, found.start()) + 1
            raise NotEditable(f"line {line}: there is a {what}, which this client's JSON may not have")
        return re.sub(r"[^\r\n]", " ", written)

    return _NOT_STRICT.sub(blank, text.replace(BOM, " ", 1) if text.startswith(BOM) else text)


def json_object(text: str, *, comments: bool) -> dict[str, Any]:
    """What a file holds; nothing for one that is empty."""
    plain = plain_json(text, comments=comments)
    content = _decoded(plain) if plain.strip(BLANKS) else {}
    if not isinstance(content, dict):
        raise NotEditable("it holds no JSON object")
    return content


def _decoded(plain: str) -> Any:
    try:
        return json.loads(plain, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise NotEditable("it is nested too deeply") from error
    except json.JSONDecodeError as error:
        ended = error.pos >= len(plain.rstrip(BLANKS))
        raise NotEditable(f"line {error.lineno}: {'it ends too early' if ended else error.msg}") from error
    except ValueError as error:
        raise NotEditable(str(error)) from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for key, value in pairs:
        if key in content:
            raise ValueError(f"the key {key!r} is there twice")
        content[key] = value
    return content


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def members_at(text: str, plain: str, start: int) -> JsonMembers:
    """The object or the list that begins at this place. `plain` is known to be JSON."""
    decoder = json.JSONDecoder()
    members: dict[str | int, JsonMember] = {}
    is_list = text[start] == "["
    at = _after_trivia(text, start + 1)
    while text[at] not in "}]":
        key: str | int = len(members)
        value = at
        if not is_list:
            key, key_end = decoder.raw_decode(plain, at)
            value = _after_trivia(text, plain.index(":", key_end) + 1)
        end = decoder.raw_decode(plain, value)[1]
        behind = _after_trivia(text, end)
        comma = behind if text[behind] == "," else None
        members[key] = JsonMember(at, value, end, comma)
        at = behind if comma is None else _after_trivia(text, comma + 1)
    return JsonMembers(start, at + 1, members)


def _after_trivia(text: str, at: int) -> int:
    found = _TRIVIA.match(text, at)
    return found.end() if found else at


def _comments(text: str, start: int, end: int) -> str:
    """What stands between two places, up to the end of the last comment; empty where there is none."""
    ends = [found.end() for found in _COMMENT.finditer(text, start, end)]
    return text[start : ends[-1]] if ends else ""


def added_member(text: str, to: JsonMembers, key: str | None, value: Any) -> str:
    """The text with one member more at the end; a list's element has no key."""
    if not to.members:
        newline, step = newline_of(text), _step(text)
        outer = re.split(r"[^ \t]", text[: to.start].rpartition("\n")[2])[0]
        kept = text[to.start] + _comments(text, to.start + 1, to.end - 1)
        name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
        member = f"{name}{_pretty(value, outer + step, step, newline)}"
        return f"{text[: to.start]}{kept}{newline}{outer}{step}{member}{newline}{outer}{text[to.end - 1 :]}"
    last = list(to.members.values())[-1]
    colon = blank_after_colon(text, last)
    gap = gap_before(text, last.start) or colon
    after = last.end if last.comma is None else last.comma + 1
    # After a comment that follows the last member, which belongs to that member.
    comments = _comments(text, after, to.end - 1)
    if "\n" not in gap and comments and _COMMENT.findall(comments)[-1].startswith("//"):
        gap = newline_of(text)  # else the rest of the line would be part of that comment
    name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}:{colon}"
    member = f"{name}{rendered_json(text, value, gap, colon)}"
    comma_before, comma_after = (",", "") if last.comma is None else ("", ",")
    return f"{text[:after]}{comma_before}{comments}{gap}{member}{comma_after}{text[after + len(comments) :]}"


def cut_member(text: str, of: JsonMembers, name: str | int) -> str:
    members = list(of.members.values())
    index = list(of.members).index(name)
    member, comma_before = members[index], members[index - 1].comma if index else None
    floor = of.start + 1 if comma_before is None else comma_before + 1
    start = floor + len(_comments(text, floor, member.start))
    cuts = [(start, member.end)]
    if member.comma is not None:
        cuts.append((member.comma, member.comma + 1))
    elif comma_before is not None:
        cuts.append((comma_before, comma_before + 1))
    elif start == floor and not _comments(text, member.end, of.end - 1):
        cuts = [(start, of.end - 1)]  # the only one: the line breaks around it were for it
    for first, last in sorted(cuts, reverse=True):
        text = text[:first] + text[last:]
    return text


def rendered_json(text: str, value: Any, gap: str, colon: str) -> str:
    """Over several lines where the members around it are; else on one."""
    if "\n" in gap:
        return _pretty(value, gap.rpartition("\n")[2], _step(text), newline_of(text))
    return json.dumps(value, ensure_ascii=False, separators=None if colon else (",", ":"))


def _pretty(value: Any, indent: str, step: str, newline: str) -> str:
    return json.dumps(value, indent=step, ensure_ascii=False).replace("\n", f"{newline}{indent}")


def blank_after_colon(text: str, member: JsonMember) -> str:
    """The blank that this file writes after a colon, if any."""
    return "" if text[member.value - 1] == ":" else " "


def gap_before(text: str, start: int) -> str:
    """The blanks before a place."""
    return text[len(text[:start].rstrip(BLANKS)) : start]


def _step(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found.group(1) if found else "  "


def newline_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
