"""Names of things as names of files that every system takes, each of them once in its folder."""

from __future__ import annotations

import re
import unicodedata

# What Windows refuses, and what a wiki link cannot hold.
_REFUSED = re.compile(r'[<>:"/\\|?*#^\[\]\x00-\x1f\x7f\u2028\u2029\x85]+')
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
_LONGEST_BYTES = 120
"""Room is left for a number, an ending, and what programs that synchronise folders add."""


class FileNames:
    """Gives each thing of a folder a name, in the order in which it asks."""

    def __init__(self) -> None:
        self._given: dict[tuple[str, object], str] = {}
        self._taken: set[tuple[str, str]] = set()
        self._last: dict[tuple[str, str], int] = {}
        """The number that the last of those got who wanted the same."""

    def name(self, folder: str, key: object, wanted: str) -> str:
        """The same name for the same key; no two keys get names that differ only in case or form."""
        known = self._given.get((folder, key))
        if known is not None:
            return known
        plain = safe_name(wanted)
        place = folder, _folded(plain)
        name, number = plain, self._last.get(place, 1)
        while (folder, _folded(name)) in self._taken:
            number += 1
            name = f"{plain} ({number})"
        self._last[place] = number
        self._taken.add((folder, _folded(name)))
        self._given[folder, key] = name
        return name


def safe_name(wanted: str) -> str:
    """A file name without its ending, near to what is wanted."""
    name = _REFUSED.sub("-", unicodedata.normalize("NFC", wanted))
    while len(name.encode()) > _LONGEST_BYTES:
        name = name[: len(name) * _LONGEST_BYTES // len(name.encode())]
    name = name.strip(" .") or "unnamed"
    return f"{name}_" if _DEVICES.fullmatch(name) else name


def _folded(name: str) -> str:
    # As file systems do that ignore case, and more than they: accents are told apart by none of them twice.
    return unicodedata.normalize("NFD", name).casefold()
