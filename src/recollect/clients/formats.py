"""Puts a server's entry into a client's JSON or TOML settings, or takes it out, and leaves all else alone."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any, ClassVar

import tomlkit
from tomlkit.exceptions import TOMLKitError

from recollect.clients.entry import NotEditable
from recollect.clients.json_text import (
    BLANKS,
    BOM,
    JsonMembers,
    added_member,
    blank_after_colon,
    cut_member,
    gap_before,
    json_object,
    members_at,
    newline_of,
    plain_json,
    rendered_json,
)
from recollect.lazy_dataclass import dataclass


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

    def without_empty_servers(self, text: str) -> str:
        """The text without a list of servers that holds none."""
        return text

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
class JsonFormat(SettingsFormat):
    """The standard decoder reads the text with its comments blanked out: places in both are the same."""

    comments: bool = False
    """Whether the client reads comments, and a comma after the last value."""
    table = "JSON object"

    def snippet(self, name: str, entry: Mapping[str, Any]) -> str:
        return json.dumps({self.key: {name: entry}}, indent=2, ensure_ascii=False)

    def content_of(self, text: str) -> dict[str, Any]:
        return json_object(text, comments=self.comments)

    def _put(self, text: str, name: str, entry: Mapping[str, Any], *, is_new: bool) -> str:
        if not text.strip(BOM + BLANKS):
            return text.strip(BLANKS) + self.snippet(name, entry) + "\n"
        root, servers = self._places(text)
        if servers is None:
            return added_member(text, root, self.key, {name: entry})
        if is_new:
            return added_member(text, servers, name, entry)
        there = servers.members[name]
        written = rendered_json(text, entry, gap_before(text, there.start), blank_after_colon(text, there))
        return text[: there.value] + written + text[there.end :]

    def without_empty_servers(self, text: str) -> str:
        root, servers = self._places(text)
        return text if servers is None or servers.members else cut_member(text, root, self.key)

    def _removed(self, text: str, name: str) -> str:
        _, servers = self._places(text)
        assert servers is not None  # noqa: S101  # it holds this entry
        return cut_member(text, servers, name)

    def _places(self, text: str) -> tuple[JsonMembers, JsonMembers | None]:
        """Where the file's object stands, and in it the list of servers."""
        plain = self._plain(text)
        root = members_at(text, plain, plain.index("{"))
        servers = root.members.get(self.key)
        return root, None if servers is None else members_at(text, plain, servers.value)

    def _plain(self, text: str) -> str:
        return plain_json(text, comments=self.comments)


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
        section = f"{gap if text.strip(BOM) else ''}{self.snippet(name, entry)}\n"
        return text + section.replace("\n", newline_of(text))

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
        bare = text.removeprefix(BOM)
        old, new = bare.splitlines(keepends=True), tomlkit.dumps(document).splitlines(keepends=True)
        lines: list[str] = []
        for kind, start, end, new_start, new_end in SequenceMatcher(None, old, new, False).get_opcodes():
            if kind == "equal":
                lines += old[start:end]
                continue
            lines += [line.rstrip("\r\n") + newline_of(text) for line in new[new_start:new_end]]
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
        return tomlkit.parse(text.removeprefix(BOM))
    except (TOMLKitError, RecursionError) as error:
        raise NotEditable(f"it is no TOML: {error}") from error
