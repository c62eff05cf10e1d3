"""A folder of text files that are notes, so `recall` finds what an agent writes in a file.

The path of a file is the note's ref, by which it is looked up, and its speaker, so that a search finds it by
its name, too, and an answer shows where it stands. Edits are updates, so that former texts stay; to remove is
to forget; a file that is moved supersedes the one at its former path.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from recollect.engine.engine import Engine
from recollect.engine.limits import MOST_PER_PAGE
from recollect.engine.versions import memory_version
from recollect.errors import Conflict, InvalidInput
from recollect.integrations.opening import of_own_scope
from recollect.records import Memory
from recollect.text.limits import clean_text, is_blank

ROOT = "/memories"
CATEGORY = "memory file"
LONGEST_PATH = 500
# A note says something; what a file holds that says nothing is kept beside it.
_BLANK_TEXT = "(a file without text)"
_CARRIED_OVER = ("category", "importance", "happened_at", "expires_at", "source", "tags")


@dataclass(frozen=True, slots=True)
class MemoryFile:
    path: str
    text: str
    note: Memory


def checked_path(path: object) -> str:
    """A path within the root as it is kept: composed, without empty parts or a slash at its end."""
    if not isinstance(path, str) or not re.match(rf"{ROOT}(/|\Z)", path):
        raise InvalidInput(f"Path must start with {ROOT}, got: {path}")
    # Nothing here is a path of the machine's; it is refused since whoever writes it means no file of ours.
    if ".." in re.split(r"[/\\]", unquote(path)):
        raise InvalidInput(f"Path {path} would escape {ROOT} directory")
    if any(unicodedata.category(letter) in {"Cc", "Cs"} for letter in path):
        raise InvalidInput(f"Path {path!r} contains a control character; remove it.")
    parts = [part for part in unicodedata.normalize("NFC", path).split("/") if part not in {"", "."}]
    if any(part != part.strip() for part in parts):
        raise InvalidInput(f"Path {path!r} has a name that begins or ends with a space; remove it.")
    cleaned = "/" + "/".join(parts)
    if len(cleaned) > LONGEST_PATH:
        raise InvalidInput(f"The path has {len(cleaned)} characters; at most {LONGEST_PATH} are kept.")
    return cleaned


class MemoryFiles:
    """The files of one scope, by paths that `checked_path` returned."""

    def __init__(self, memory: Engine) -> None:
        self._memory = of_own_scope(memory)

    def read(self, path: str) -> MemoryFile | None:
        return next(map(_file, self._memory.list(category=CATEGORY, refs=[path]).memories), None)

    def within(self, folder: str) -> Sequence[MemoryFile]:
        """Every file below a folder, in order of their paths."""
        found = [file for file in self._all() if file.path.startswith(f"{folder}/")]
        return sorted(found, key=lambda file: file.path.split("/"))

    def create(self, path: str, text: str) -> None:
        """`Conflict` where there is a file or folder of this path, or a file in the place of a folder."""
        self._check_free(path)
        self._memory.remember_many([{"category": CATEGORY, **_said(path, text)}])

    def edit(self, file: MemoryFile, text: str) -> None:
        """`Outdated` where somebody edited the file since it was read."""
        expecting = self._memory.upkeep.expecting(file.note.id, [memory_version(file.note)])
        said = _said(file.path, text)
        expecting.update(file.note.id, text=said["text"], metadata=said["metadata"])

    def remove(self, files: Sequence[MemoryFile]) -> None:
        self._memory.forget([file.note.id for file in files])

    def move(self, files: Sequence[MemoryFile], old: str, new: str) -> None:
        """A file, or all files of a folder; `Conflict` as for `create`."""
        self._check_free(new)
        moved = [(file, checked_path(new + file.path.removeprefix(old))) for file in files]
        for file, path in moved:
            kept = {name: getattr(file.note, name) for name in _CARRIED_OVER}
            by = self._memory.supersede(file.note.id, {**kept, **_said(path, file.text)}, copies=False).by
            if file.note.pinned:
                self._memory.update(by.id, pinned=True)

    def _check_free(self, path: str) -> None:
        above = path
        while (above := above.rpartition("/")[0]) and above != ROOT:
            if self.read(above) is not None:
                raise InvalidInput(f"{above} is a file, not a folder; choose another path.")
        if path == ROOT or self.read(path) is not None or self.within(path):
            raise Conflict(f"{path} already exists; choose another path, or remove it first.")

    def _all(self) -> Iterator[MemoryFile]:
        after: int | None = 0
        while after is not None:
            page = self._memory.list(category=CATEGORY, limit=MOST_PER_PAGE, after=after)
            yield from map(_file, page.memories)
            after = page.cursor


def _file(note: Memory) -> MemoryFile:
    # A file without text that somebody wrote into since has the note's text.
    blank = (note.metadata or {}).get("text") if note.text == _BLANK_TEXT else None
    return MemoryFile(note.ref or "", note.text if blank is None else blank, note)


def _said(path: str, text: str) -> dict[str, Any]:
    blank = is_blank(text) and "\0" not in text
    return {
        "ref": path,
        "speaker": path,
        "text": _BLANK_TEXT if blank else clean_text(text),
        "metadata": {"text": text} if blank else {},
    }
