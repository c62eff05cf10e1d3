"""A server's entry put into TOML, or taken out of it, as sections of lines; all other lines stay."""

from __future__ import annotations

import json
import re
import tomllib
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from recollect.clients.failures import NotEditable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_BOM = "\ufeff"
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def entry_in(text: str, key: str, name: str) -> Any:
    """The entry as it stands; None where there is none."""
    return _servers(_parsed(text), key).get(name)


def with_entry(text: str, key: str, name: str, entry: Mapping[str, Any]) -> str:
    """The text with this entry as a section: where one of the same name was, or at the end."""
    before = _parsed(text)
    newline = _newline(text)
    section = snippet(key, name, entry).replace("\n", newline)
    spans = list(_sections(text, (key, name)))
    if spans:
        after = _cut(text, spans[1:])
        after = after[: spans[0][0]] + section + after[spans[0][1] :]
    else:
        after = text + _parting(text, newline) + section
    return _checked(after, {**before, key: {**_servers(before, key), name: entry}})


def without_entry(text: str, key: str, name: str) -> str:
    before = _parsed(text)
    servers = _servers(before, key)
    if name not in servers:
        return text
    spans = list(_sections(text, (key, name)))
    after = _cut(text, spans)
    if spans and not text[spans[-1][1] :].strip():
        after = after.rstrip("\r\n") + _newline(text) if after.strip() else ""
    rest = {each: value for each, value in servers.items() if each != name}
    wanted = {**before, key: rest}
    if not rest and key not in _parsed(after):
        del wanted[key]
    return _checked(after, wanted)


def snippet(key: str, name: str, entry: Mapping[str, Any]) -> str:
    lines = [f"[{_key(key)}.{_key(name)}]", *(f"{_key(each)} = {_value(entry[each])}" for each in entry)]
    return "\n".join(lines) + "\n"


def _sections(text: str, path: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Where the tables at and below a path stand, from the first header to the last line that says
    something: a comment before the next header belongs to that one."""
    headers = [*_headers(text), (len(text), ())]
    for (start, found), (end, _) in pairwise(headers):
        if found[: len(path)] == path:
            yield start, start + len(_without_tail(text[start:end]))


def _headers(text: str) -> list[tuple[int, tuple[str, ...]]]:
    found = []
    at = 0
    for line in _lines(text):
        # A line that only looks like a header, within a text or a list, leaves what is above it unclosed.
        if line.lstrip().startswith("[") and _reads(text[:at]) and _reads(line):
            found.append((at, _path(tomllib.loads(line))))
        at += len(line)
    return found


def _path(table: Any) -> tuple[str, ...]:
    """The keys of a header, of which tomllib made nested tables."""
    path: tuple[str, ...] = ()
    while isinstance(table, dict) and table:
        ((key, table),) = table.items()
        path = (*path, key)
    return path


def _without_tail(section: str) -> str:
    lines = _lines(section)
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return "".join(lines)


def _lines(text: str) -> list[str]:
    """As TOML parts them: `str.splitlines` would also part at signs that a text may hold."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _cut(text: str, spans: list[tuple[int, int]]) -> str:
    for start, end in reversed(spans):
        text = text[:start] + text[end:].removeprefix("\r\n" if text[end : end + 2] == "\r\n" else "\n")
    return text


def _parting(text: str, newline: str) -> str:
    """An empty line between what is there and what comes."""
    bare = text.removeprefix(_BOM)
    if not bare:
        return ""
    return newline if bare.endswith("\n") else newline * 2


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(_readable(text))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise NotEditable(f"it is no TOML: {error}") from error


def _reads(text: str) -> bool:
    try:
        tomllib.loads(_readable(text))
    except tomllib.TOMLDecodeError:
        return False
    return True


def _readable(text: str) -> str:
    return text.removeprefix(_BOM)


def _servers(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    servers = document.get(key, {})
    if not isinstance(servers, dict):
        raise NotEditable(f"its {key!r} is no table")
    return servers


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _value(value: Any) -> str:
    match value:
        case str():
            return _text(value)
        case list() | tuple():
            return f"[{', '.join(map(_value, value))}]"
        case dict():
            return "{ " + ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items()) + " }"
        case _:
            return json.dumps(value)


def _text(text: str) -> str:
    # What JSON escapes, TOML reads alike; of what TOML wants escaped, JSON leaves only this.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _checked(after: str, wanted: Mapping[str, Any]) -> str:
    """Nothing is written that does not read back as what was meant: an inline table takes no section."""
    try:
        same = _parsed(after) == wanted
    except NotEditable:
        same = False
    if not same:
        raise NotEditable("its servers are written in a way that we cannot change safely")
    return after
