"""Puts a server's entry into a client's JSON settings, or takes it out, and leaves all other bytes alone.

The standard decoder reads the text with its comments blanked out, so that places in both are the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recollect.clients.errors import NotEditable

_BOM = "\ufeff"
_BLANKS = " \t\r\n"
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_TRIVIA = re.compile(rf"(?>[{_BLANKS}]|{_COMMENT.pattern})*+", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_LAST_COMMA = re.compile(rf",(?={_TRIVIA.pattern}[}}\]])", re.DOTALL)
_NOT_STRICT = re.compile(f"{_STRING.pattern}|{_COMMENT.pattern}|{_LAST_COMMA.pattern}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class JsonFormat:
    """Servers by name under one key."""

    key: str = "mcpServers"
    comments: bool = False
    """Whether the client reads comments, and a comma after the last value."""
    typed: bool = True
    """Whether an entry says that the client talks to the server over standard input and output."""

    def entry_in(self, text: str, name: str) -> Any:
        """The entry as it stands; None where there is none."""
        return self._servers(self.content_of(text)).get(name)

    def with_entry(self, text: str, name: str, entry: Mapping[str, Any]) -> str:
        """The text with this entry among the servers, in place of one of the same name."""
        content = self.content_of(text)
        wanted = {**content, self.key: {**self._servers(content), name: entry}}
        if not text.strip(_BOM + _BLANKS):
            return text.strip(_BLANKS) + self.snippet(name, entry) + "\n"
        root, servers = self._places(text)
        if servers is None:
            after = _added(text, root, self.key, {name: entry})
        elif name not in servers.members:
            after = _added(text, servers, name, entry)
        else:
            there = servers.members[name]
            written = _rendered(text, entry, _gap(text, there.start), _after_colon(text, there))
            after = text[: there.value] + written + text[there.end :]
        return self._checked(after, wanted)

    def without_entry(self, text: str, name: str) -> str:
        """The text without this entry. The list of servers stays, even when it is empty."""
        content = self.content_of(text)
        rest = {each: value for each, value in self._servers(content).items() if each != name}
        servers = self._places(text)[1] if content else None
        if servers is None or name not in servers.members:
            return text
        return self._checked(_removed(text, servers, name), {**content, self.key: rest})

    def snippet(self, name: str, entry: Mapping[str, Any]) -> str:
        """What to paste where we know of no file to write."""
        return json.dumps({self.key: {name: entry}}, indent=2, ensure_ascii=False)

    def content_of(self, text: str) -> dict[str, Any]:
        """The object that the file is; an empty one for a file that holds nothing."""
        plain = self._plain(text)
        content = _decoded(plain) if plain.strip(_BLANKS) else {}
        if not isinstance(content, dict):
            raise NotEditable("it holds no JSON object")
        return content

    def _servers(self, content: Mapping[str, Any]) -> dict[str, Any]:
        servers = content.get(self.key, {})
        if not isinstance(servers, dict):
            raise NotEditable(f"its {self.key!r} is no JSON object")
        return servers

    def _places(self, text: str) -> tuple[_Object, _Object | None]:
        """Where the file's object stands, and in it the list of servers."""
        plain = self._plain(text)
        root = _object(text, plain, plain.index("{"))
        servers = root.members.get(self.key)
        return root, None if servers is None else _object(text, plain, servers.value)

    def _plain(self, text: str) -> str:
        """JSON of the same length, with blanks for what only some clients read."""

        def blank(found: re.Match[str]) -> str:
            written = found.group()
            if written.startswith('"'):
                return written
            if not self.comments:
                what = "comma after the last value" if written == "," else "comment"
                line = text.count("\n", 0, found.start()) + 1
                raise NotEditable(f"line {line}: there is a {what}, which this client's JSON may not have")
            return re.sub(r"[^\r\n]", " ", written)

        return _NOT_STRICT.sub(blank, text.replace(_BOM, " ", 1) if text.startswith(_BOM) else text)

    def _checked(self, after: str, wanted: Mapping[str, Any]) -> str:
        """Nothing is written that does not read back as what was meant."""
        content = self.content_of(after)
        if content != wanted or list(content) != list(wanted):
            raise NotEditable("it is written in a way that we cannot change safely")
        return after


def _decoded(plain: str) -> Any:
    try:
        return json.loads(plain, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise NotEditable("it is nested too deeply") from error
    except json.JSONDecodeError as error:
        ended = error.pos >= len(plain.rstrip(_BLANKS))
        raise NotEditable(f"line {error.lineno}: {'it ends too early' if ended else error.msg}") from error
    except ValueError as error:
        raise NotEditable(str(error)) from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} is there twice")
    return content


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


@dataclass(frozen=True, slots=True)
class _Member:
    """Where a member of an object stands: its key, its value, the end of that, and the comma behind it."""

    start: int
    value: int
    end: int
    comma: int | None


@dataclass(frozen=True, slots=True)
class _Object:
    start: int
    end: int
    members: dict[str, _Member]


def _object(text: str, plain: str, start: int) -> _Object:
    """The object that begins at this place. `plain` is known to be JSON."""
    decoder = json.JSONDecoder()
    members = {}
    at = _after_trivia(text, start + 1)
    while text[at] != "}":
        key, key_end = decoder.raw_decode(plain, at)
        value = _after_trivia(text, plain.index(":", key_end) + 1)
        end = decoder.raw_decode(plain, value)[1]
        behind = _after_trivia(text, end)
        comma = behind if text[behind] == "," else None
        members[key] = _Member(at, value, end, comma)
        at = behind if comma is None else _after_trivia(text, comma + 1)
    return _Object(start, at + 1, members)


def _after_trivia(text: str, at: int) -> int:
    found = _TRIVIA.match(text, at)
    return found.end() if found else at


def _comments(text: str, start: int, end: int) -> str:
    """What stands between two places, up to the end of the last comment; empty where there is none."""
    ends = [found.end() for found in _COMMENT.finditer(text, start, end)]
    return text[start : ends[-1]] if ends else ""


def _added(text: str, to: _Object, key: str, value: Any) -> str:
    name = json.dumps(key, ensure_ascii=False)
    if not to.members:
        newline, step = _newline(text), _step(text)
        outer = re.split(r"[^ \t]", text[: to.start].rpartition("\n")[2])[0]
        kept = "{" + _comments(text, to.start + 1, to.end - 1)
        member = f"{name}: {_pretty(value, outer + step, step, newline)}"
        return f"{text[: to.start]}{kept}{newline}{outer}{step}{member}{newline}{outer}{text[to.end - 1 :]}"
    last = list(to.members.values())[-1]
    colon = _after_colon(text, last)
    gap = _gap(text, last.start) or colon
    after = last.end if last.comma is None else last.comma + 1
    # After a comment that follows the last member, which belongs to that member.
    comments = _comments(text, after, to.end - 1)
    if "\n" not in gap and comments and _COMMENT.findall(comments)[-1].startswith("//"):
        gap = _newline(text)  # else the rest of the line would be part of that comment
    member = f"{name}:{colon}{_rendered(text, value, gap, colon)}"
    comma_before, comma_after = (",", "") if last.comma is None else ("", ",")
    return f"{text[:after]}{comma_before}{comments}{gap}{member}{comma_after}{text[after + len(comments) :]}"


def _removed(text: str, of: _Object, name: str) -> str:
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


def _rendered(text: str, value: Any, gap: str, colon: str) -> str:
    """Over several lines where the members around it are; else on one."""
    if "\n" in gap:
        return _pretty(value, gap.rpartition("\n")[2], _step(text), _newline(text))
    return json.dumps(value, ensure_ascii=False, separators=None if colon else (",", ":"))


def _pretty(value: Any, indent: str, step: str, newline: str) -> str:
    lines = json.dumps(value, indent=step, ensure_ascii=False).split("\n")
    return f"{newline}{indent}".join(lines)


def _after_colon(text: str, member: _Member) -> str:
    """The blank that this file writes after a colon, if any."""
    return "" if text[member.value - 1] == ":" else " "


def _gap(text: str, start: int) -> str:
    """The blanks before a place."""
    head = text[:start]
    return head[len(head.rstrip(_BLANKS)) :]


def _step(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found.group(1) if found else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
