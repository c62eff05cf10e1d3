"""Puts a server's entry into a client's TOML settings, or takes it out, and leaves all other lines alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from recollect.clients.errors import NotEditable

_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class TomlFormat:
    """Servers as sections, one for each."""

    key: str
    typed: bool = False

    def entry_in(self, text: str, name: str) -> Any:
        """The entry as it stands; None where there is none."""
        return self._servers(_parsed(text).unwrap()).get(name)

    def with_entry(self, text: str, name: str, entry: Mapping[str, Any]) -> str:
        """The text with this entry as a section: where one of the same name was, or at the end."""
        document = _parsed(text)
        before = document.unwrap()
        servers = self._servers(before)
        if name in servers:
            after = _edited(text, document, self.key, name, entry)
        else:
            gap = "\n" if text.endswith("\n") else "\n\n"
            section = f"{gap if text.strip(_BOM) else ''}{self.snippet(name, entry)}\n"
            after = text + section.replace("\n", _newline(text))
        return _checked(after, {**before, self.key: {**servers, name: entry}})

    def without_entry(self, text: str, name: str) -> str:
        """The text without this entry, and without the comments in it."""
        document = _parsed(text)
        before = document.unwrap()
        servers = self._servers(before)
        if name not in servers:
            return text
        after = _edited(text, document, self.key, name, None)
        rest = {each: value for each, value in servers.items() if each != name}
        wanted = {**before, self.key: rest}
        if not rest and self.key not in _parsed(after):
            del wanted[self.key]
        return _checked(after, wanted)

    def snippet(self, name: str, entry: Mapping[str, Any]) -> str:
        """What to paste where we could not change the file."""
        return tomlkit.dumps({self.key: {name: entry}}).rstrip()

    def _servers(self, content: Mapping[str, Any]) -> dict[str, Any]:
        servers = content.get(self.key, {})
        if not isinstance(servers, dict):
            raise NotEditable(f"its {self.key!r} is no table")
        return servers


def _parsed(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text.removeprefix(_BOM))
    except (TOMLKitError, RecursionError) as error:
        raise NotEditable(f"it is no TOML: {error}") from error


def _edited(
    text: str, document: tomlkit.TOMLDocument, key: str, name: str, entry: Mapping[str, Any] | None
) -> str:
    """The text with the entry changed; without it where there is no new one."""
    servers: Any = document[key]
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
        else:
            lines += [line.rstrip("\r\n") + _newline(text) for line in new[new_start:new_end]]
            # tomlkit takes the comments before the next section for the end of ours: they stay.
            comments = _trailing_comments(old[start:end])
            doubled = comments and not comments[0].strip() and not "".join(lines[-1:]).strip()
            lines += comments[1:] if doubled else comments
    after = "".join(lines).rstrip("\r\n")
    ending = bare[len(bare.rstrip("\r\n")) :]
    return text[: len(text) - len(bare)] + after + (ending if after else "")


def _trailing_comments(lines: list[str]) -> list[str]:
    """The comments at the end, with the blank lines before and between them."""
    start = len(lines)
    while start and lines[start - 1].lstrip()[:1] in {"", "#"}:
        start -= 1
    return lines[start:]


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _checked(after: str, wanted: Mapping[str, Any]) -> str:
    """Nothing is written that does not read back as what was meant."""
    try:
        is_meant = _parsed(after).unwrap() == wanted
    except NotEditable:
        is_meant = False
    if not is_meant:
        raise NotEditable("its servers are written in a way that we cannot change safely")
    return after
