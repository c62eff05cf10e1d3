"""Puts a server's entry into a client's JSON or TOML settings, or takes it out, and leaves all else alone."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any, ClassVar

import tomlkit
from tomlkit.exceptions import TOMLKitError

from recollect.clients.entry import NotEditable
from recollect.lazy_dataclass import dataclass

_BOM = "\ufeff"
_BLANKS = " \t\r\n"
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_TRIVIA = re.compile(rf"(?>[{_BLANKS}]|{_COMMENT.pattern})*+", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_LAST_COMMA = re.compile(rf",(?={_TRIVIA.pattern}[}}\]])", re.DOTALL)
_NOT_STRICT = re.compile(f"{_STRING.pattern}|{_COMMENT.pattern}|{_LAST_COMMA.pattern}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SettingsFormat(ABC):
    """Servers by name under one key."""

    key: str = "mcpServers"
    typed: bool = True
    """Whether an entry says that the client talks to the server over standard input and output."""
    table: ClassVar[str]
    """What the format calls a value with named members."""

    def entry_in(self, text: str, name: str) -> Any:
        """The entry as it stands; None where there is none."""
        return self._servers(self.content_of(text)).get(name)

    def with_entry(self, text: str, name: str, entry: Mapping[str, Any]) -> str:
        """The text with this entry among the servers, in place of one of the same name."""
        content = self.content_of(text)
        servers = self._servers(content)
        after = self._put(text, name, entry, is_new=name not in servers)
        return self._checked(after, {**content, self.key: {**servers, name: entry}})

    def without_entry(self, text: str, name: str) -> str:
        """The text without this entry."""
        content = self.content_of(text)
        rest = dict(self._servers(content))
        if name not in rest:
            return text
        del rest[name]
        return self._checked(self._removed(text, name), {**content, self.key: rest})

    @abstractmethod
    def content_of(self, text: str) -> dict[str, Any]:
        """What the file holds; nothing for one that is empty."""

    @abstractmethod
    def snippet(self, name: str, entry: Mapping[str, Any]) -> str:
        """What to paste where we know of no file to write, or could not change it."""

    @abstractmethod
    def _put(self, text: str, name: str, entry: Mapping[str, Any], *, is_new: bool) -> str: ...

    @abstractmethod
    def _removed(self, text: str, name: str) -> str: ...

    def _servers(self, content: Mapping[str, Any]) -> dict[str, Any]:
        servers = content.get(self.key, {})
        if not isinstance(servers, dict):
            raise NotEditable(f"its {self.key!r} is no {self.table}")
        return servers

    def _checked(self, after: str, wanted: dict[str, Any]) -> str:
        """Nothing is written that does not read back as what was meant."""
        refusal = NotEditable("its servers are written in a way that we cannot change safely")
        try:
            content = self.content_of(after)
        except NotEditable as error:
            raise refusal from error
        if not wanted[self.key] and self.key not in content:
            del wanted[self.key]
        if content != wanted or list(content) != list(wanted):
            raise refusal
        return after


# JSON


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


@dataclass(frozen=True, slots=True)
class JsonFormat(SettingsFormat):
    """The standard decoder reads the text with its comments blanked out: places in both are the same."""

    comments: bool = False
    """Whether the client reads comments, and a comma after the last value."""
    table = "JSON object"

    def snippet(self, name: str, entry: Mapping[str, Any]) -> str:
        return json.dumps({self.key: {name: entry}}, indent=2, ensure_ascii=False)

    def content_of(self, text: str) -> dict[str, Any]:
        plain = self._plain(text)
        content = _decoded(plain) if plain.strip(_BLANKS) else {}
        if not isinstance(content, dict):
            raise NotEditable("it holds no JSON object")
        return content

    def _put(self, text: str, name: str, entry: Mapping[str, Any], *, is_new: bool) -> str:
        if not text.strip(_BOM + _BLANKS):
            return text.strip(_BLANKS) + self.snippet(name, entry) + "\n"
        root, servers = self._places(text)
        if servers is None:
            return _added(text, root, self.key, {name: entry})
        if is_new:
            return _added(text, servers, name, entry)
        there = servers.members[name]
        written = _rendered(text, entry, _gap(text, there.start), _after_colon(text, there))
        return text[: there.value] + written + text[there.end :]

    def _removed(self, text: str, name: str) -> str:
        _, servers = self._places(text)
        assert servers is not None  # noqa: S101  # it holds this entry
        return _cut(text, servers, name)

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
    content: dict[str, Any] = {}
    for key, value in pairs:
        if key in content:
            raise ValueError(f"the key {key!r} is there twice")
        content[key] = value
    return content


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


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


def _cut(text: str, of: _Object, name: str) -> str:
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
    return json.dumps(value, indent=step, ensure_ascii=False).replace("\n", f"{newline}{indent}")


def _after_colon(text: str, member: _Member) -> str:
    """The blank that this file writes after a colon, if any."""
    return "" if text[member.value - 1] == ":" else " "


def _gap(text: str, start: int) -> str:
    """The blanks before a place."""
    return text[len(text[:start].rstrip(_BLANKS)) : start]


def _step(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found.group(1) if found else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


# TOML


@dataclass(frozen=True, slots=True)
class TomlFormat(SettingsFormat):
    """Servers as sections, one for each."""

    table = "table"

    def snippet(self, name: str, entry: Mapping[str, Any]) -> str:
        return tomlkit.dumps({self.key: {name: entry}}).rstrip()

    def content_of(self, text: str) -> dict[str, Any]:
        return _parsed(text).unwrap()

    def _put(self, text: str, name: str, entry: Mapping[str, Any], *, is_new: bool) -> str:
        """As a section: where one of the same name was, or at the end."""
        if not is_new:
            return self._edited(text, name, entry)
        gap = "\n" if text.endswith("\n") else "\n\n"
        section = f"{gap if text.strip(_BOM) else ''}{self.snippet(name, entry)}\n"
        return text + section.replace("\n", _newline(text))

    def _removed(self, text: str, name: str) -> str:
        """Without the comments in it, too."""
        return self._edited(text, name, None)

    def _edited(self, text: str, name: str, entry: Mapping[str, Any] | None) -> str:
        """The text with the entry changed; without it where there is no new one."""
        document = _parsed(text)
        servers: Any = document[self.key]
        if entry is None:
            del servers[name]
        else:
            servers[name] = entry
        bare = text.removeprefix(_BOM)
        old, new = bare.splitlines(keepends=True), tomlkit.dumps(document).splitlines(keepends=True)
        lines: list[str] = []
        for kind, start, end, new_start, new_end in SequenceMatcher(None, old, new, False).get_opcodes():
            if kind == "equal":
                lines += old[start:end]
                continue
            lines += [line.rstrip("\r\n") + _newline(text) for line in new[new_start:new_end]]
            # tomlkit takes the comments before the next section for the end of ours: they stay.
            first = end
            while first > start and old[first - 1].lstrip()[:1] in {"", "#"}:
                first -= 1
            comments = old[first:end]
            doubled = comments and not comments[0].strip() and not "".join(lines[-1:]).strip()
            lines += comments[1:] if doubled else comments
        after = "".join(lines).rstrip("\r\n")
        ending = bare[len(bare.rstrip("\r\n")) :]
        return text[: len(text) - len(bare)] + after + (ending if after else "")


def _parsed(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text.removeprefix(_BOM))
    except (TOMLKitError, RecursionError) as error:
        raise NotEditable(f"it is no TOML: {error}") from error
