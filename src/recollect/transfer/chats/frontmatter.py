"""What the lines before a Markdown text say of it: `key: value` between two rules, and no more of YAML."""

from __future__ import annotations

import re
from typing import NamedTuple

_LINE = re.compile(r"([A-Za-z_][\w-]*):[ \t]+(.*)")


class Front(NamedTuple):
    says: dict[str, str]
    """By key, in lower case; the first of each."""
    lines: int
    """How many lines of the text it takes."""


def front(lines: list[str]) -> Front:
    """Nothing, if the text does not begin with a rule or there is no second one."""
    if not lines or lines[0].rstrip() != "---":
        return Front({}, 0)
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() in {"---", "..."}), None)
    if end is None:
        return Front({}, 0)
    says: dict[str, str] = {}
    for line in lines[1:end]:
        if found := _LINE.fullmatch(line.rstrip()):
            says.setdefault(found[1].lower(), _unquoted(found[2].lstrip()))
    return Front(says, end + 1)


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value.partition(" #")[0].rstrip()
