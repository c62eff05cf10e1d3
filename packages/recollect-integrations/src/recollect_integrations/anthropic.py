"""Anthropic's memory tool on a Recollect memory: the files that Claude keeps below `/memories` are notes.

Answers and refusals use the wording of Anthropic's documentation of the tool.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from recollect import Conflict, Engine, InvalidInput, Memory, RecollectError
from recollect.aio import AsyncEngine
from recollect.domain.errors import Outdated
from recollect.domain.limits import clean_text, is_blank
from recollect.plugin import Internals, memory_version, needs_extra
from recollect_integrations.adapter import all_pages, ensure_async, ensure_open, own_scope_of

with needs_extra("The adapter for Anthropic's memory tool", "anthropic"):
    from anthropic.lib.tools import (
        BetaAbstractMemoryTool,
        BetaAsyncAbstractMemoryTool,
        BetaFunctionToolResultType,
        ToolError,
    )
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818Command,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )

ROOT = "/memories"
CATEGORY = "memory file"
LONGEST_PATH = 500
# A note needs visible text; the content of a blank file is in the metadata.
_BLANK_TEXT = "(a file without text)"
_CARRIED_OVER = ("category", "importance", "happened_at", "expires_at", "source", "tags")


@dataclass(frozen=True, slots=True)
class MemoryFile:
    path: str
    text: str
    note: Memory


def checked_path(path: object) -> str:
    """Check and normalise a path within the root: NFC, without empty parts or a final slash."""
    if not isinstance(path, str) or not re.match(rf"{ROOT}(/|\Z)", path):
        raise InvalidInput(f"Path must start with {ROOT}, got: {path}")
    # No path reaches the disk. These paths are refused because they would name another file.
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
    """The text files of one scope, by paths that `checked_path` returned. Each is a note.

    The path is the note's ref, for lookups, and its speaker, so that searches and answers show it. An edit is
    an update and keeps the former text. Removing a file forgets it. A moved file supersedes the one at its
    former path.
    """

    def __init__(self, memory: Engine) -> None:
        self._memory = own_scope_of(memory)

    def read(self, path: str) -> MemoryFile | None:
        return next(map(_file, self._memory.list(category=CATEGORY, refs=[path]).memories), None)

    def files_below(self, folder: str) -> Sequence[MemoryFile]:
        """Return the files below a folder, sorted by path."""
        files = map(_file, all_pages(self._memory, category=CATEGORY))
        found = [file for file in files if file.path.startswith(f"{folder}/")]
        return sorted(found, key=lambda file: file.path.split("/"))

    def create(self, path: str, text: str) -> None:
        """Create a file; `Conflict` if the path exists, or if a parent folder is a file."""
        self._check_free(path)
        self._memory.remember_many([{"category": CATEGORY, **_note_fields(path, text)}])

    def edit(self, file: MemoryFile, text: str) -> None:
        """Replace the text; raise `Outdated` if the file was edited since it was read."""
        expecting = Internals(self._memory).expecting(file.note.id, [memory_version(file.note)])
        fields = _note_fields(file.path, text)
        expecting.update(file.note.id, text=fields["text"], metadata=fields["metadata"])

    def remove(self, files: Sequence[MemoryFile]) -> None:
        self._memory.forget([file.note.id for file in files])

    def move(self, files: Sequence[MemoryFile], old: str, new: str) -> None:
        """Move a file, or all files of a folder; `Conflict` as for `create`."""
        self._check_free(new)
        moved = [(file, checked_path(new + file.path.removeprefix(old))) for file in files]
        for file, path in moved:
            kept = {name: getattr(file.note, name) for name in _CARRIED_OVER}
            by = self._memory.supersede(
                file.note.id, {**kept, **_note_fields(path, file.text)}, copies=False
            ).by
            if file.note.pinned:
                self._memory.update(by.id, pinned=True)

    def _check_free(self, path: str) -> None:
        parent = path
        while (parent := parent.rpartition("/")[0]) and parent != ROOT:
            if self.read(parent) is not None:
                raise InvalidInput(f"{parent} is a file, not a folder; choose another path.")
        if path == ROOT or self.read(path) is not None or self.files_below(path):
            raise Conflict(f"{path} already exists; choose another path, or remove it first.")


def _file(note: Memory) -> MemoryFile:
    # If a blank file was edited later, its content is the note's text.
    blank = (note.metadata or {}).get("text") if note.text == _BLANK_TEXT else None
    return MemoryFile(note.ref or "", note.text if blank is None else blank, note)


def _note_fields(path: str, text: str) -> dict[str, Any]:
    blank = is_blank(text) and "\0" not in text
    return {
        "ref": path,
        "speaker": path,
        "text": _BLANK_TEXT if blank else clean_text(text),
        "metadata": {"text": text} if blank else {},
    }


MOST_LINES = 999_999
_WIDTH = len(str(MOST_LINES))
_DEPTH = 2
_SNIPPET_MARGIN = 2  # lines before and after a change that its snippet shows


class MemoryCommands:
    """The tool's commands. Each returns its answer, or raises `ToolError`."""

    def __init__(self, memory: Engine) -> None:
        self._files = MemoryFiles(memory)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        path = _path(command.path)
        file = self._files.read(path)
        if file is not None:
            return _numbered_file(command.path, file.text, command.view_range)
        files = self._files.files_below(path)
        if not files and path != ROOT:
            raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")
        listed = [f"{_size(files)}\t{path}", *_entries(path, files)]
        head = (
            f"Here're the files and directories up to {_DEPTH} levels deep in {command.path}, "
            "excluding hidden items and node_modules:"
        )
        return "\n".join([head, *listed])

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        try:
            self._files.create(_path(command.path), _text(command.file_text, "file_text"))
        except Conflict as error:
            raise ToolError(f"Error: File {command.path} already exists") from error
        except RecollectError as error:
            raise ToolError(f"Error: {error}") from error
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        replacement: str | None = command.new_str  # a model may leave it out
        old, new = _text(command.old_str, "old_str"), _text(replacement or "", "new_str")
        if not old:
            raise ToolError("Error: old_str is empty; use `insert` to add text.")
        missing = f"Error: The path {command.path} does not exist. Please provide a valid path."
        file = self._file(command.path, missing)
        places = _places(file.text, old)
        if not places:
            raise ToolError(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in {command.path}."
            )
        if len(places) > 1:
            lines = ", ".join(str(1 + file.text.count("\n", 0, place)) for place in places)
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. "
                "Please ensure it is unique"
            )
        text = file.text.replace(old, new)
        self._edit(file, text)
        line = text.count("\n", 0, places[0])
        lines_of_text = text.split("\n")[: line + new.count("\n") + 1 + _SNIPPET_MARGIN]
        first = max(0, line - _SNIPPET_MARGIN)
        return "\n".join(
            ["The memory file has been edited.", *_with_numbers(lines_of_text[first:], first + 1)]
        )

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        text = _text(command.insert_text, "insert_text")
        file = self._file(command.path, f"Error: The path {command.path} does not exist")
        # The final line break does not begin another line.
        lines = file.text.removesuffix("\n").split("\n") if file.text else []
        line: object = command.insert_line
        if not isinstance(line, int) or not 0 <= line <= len(lines):
            raise ToolError(
                f"Error: Invalid `insert_line` parameter: {line}. "
                f"It should be within the range of lines of the file: [0, {len(lines)}]"
            )
        lines.insert(line, text.removesuffix("\n"))
        self._edit(file, "\n".join(lines) + "\n")
        return f"The file {command.path} has been edited."

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        self._files.remove(self._files_at(command.path, "delete"))
        return f"Successfully deleted {command.path}"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        old, new = _path(command.old_path), _path(command.new_path)
        files = self._files_at(command.old_path, "rename")
        if new.startswith(f"{old}/"):
            raise ToolError(f"Error: {command.new_path} is within {command.old_path}; choose another path.")
        try:
            self._files.move(files, old, new)
        except Conflict as error:
            raise ToolError(f"Error: The destination {command.new_path} already exists") from error
        except RecollectError as error:
            raise ToolError(f"Error: {error}") from error
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        self._files.remove(self._files.files_below(ROOT))
        return "All memory cleared"

    def _file(self, path: str, missing: str) -> MemoryFile:
        file = self._files.read(_path(path))
        if file is None:
            raise ToolError(missing)
        return file

    def _files_at(self, given: str, verb: str) -> Sequence[MemoryFile]:
        """Return the file at this path, or the files of the folder."""
        path = _path(given)
        if path == ROOT:
            raise ToolError(f"Error: Cannot {verb} the {ROOT} directory itself")
        file = self._files.read(path)
        found = self._files.files_below(path) if file is None else [file]
        if not found:
            raise ToolError(f"Error: The path {given} does not exist")
        return found

    def _edit(self, file: MemoryFile, text: str) -> None:
        if text.count("\n") >= MOST_LINES:
            raise ToolError(_too_long(file.path))
        try:
            self._files.edit(file, text)
        except Outdated as error:
            raise ToolError(
                f"Error: {file.path} was changed by another program just now; view it again, then edit it."
            ) from error
        except RecollectError as error:
            raise ToolError(f"Error: {error}") from error


class RecollectMemoryTool(MemoryCommands, BetaAbstractMemoryTool):
    """Claude's memory tool on an open memory, or on the store at a path.

    The files belong to the memory's owner and agent.
    """

    def __init__(
        self, memory: Engine | str | Path, *, cache_control: BetaCacheControlEphemeralParam | None = None
    ) -> None:
        BetaAbstractMemoryTool.__init__(self, cache_control=cache_control)
        self.memory = ensure_open(memory)
        MemoryCommands.__init__(self, self.memory)

    def execute(self, command: BetaMemoryTool20250818Command) -> BetaFunctionToolResultType:
        _check(command)
        return super().execute(command)


class AsyncRecollectMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool for `AsyncAnthropic`: no command blocks the event loop."""

    def __init__(
        self,
        memory: AsyncEngine | Engine | str | Path,
        *,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self.memory = ensure_async(memory)

    async def execute(self, command: BetaMemoryTool20250818Command) -> BetaFunctionToolResultType:
        _check(command)
        return await super().execute(command)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return await self.memory.run(lambda memory: MemoryCommands(memory).view(command))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return await self.memory.run(lambda memory: MemoryCommands(memory).create(command))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return await self.memory.run(lambda memory: MemoryCommands(memory).str_replace(command))

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return await self.memory.run(lambda memory: MemoryCommands(memory).insert(command))

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return await self.memory.run(lambda memory: MemoryCommands(memory).delete(command))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return await self.memory.run(lambda memory: MemoryCommands(memory).rename(command))

    async def clear_all_memory(self) -> str:
        return await self.memory.run(lambda memory: MemoryCommands(memory).clear_all_memory())


_FIELDS = {
    "view": ("path",),
    "create": ("path", "file_text"),
    "str_replace": ("path", "old_str"),
    "insert": ("path", "insert_line", "insert_text"),
    "delete": ("path",),
    "rename": ("old_path", "new_path"),
}


def _check(command: Any) -> None:
    """Check the model's arguments, which the SDK does not check."""
    name = getattr(command, "command", None)
    if name not in _FIELDS:
        raise ToolError(f"Error: There is no command {name!r}; there are: {', '.join(_FIELDS)}.")
    missing = [field for field in _FIELDS[name] if getattr(command, field, None) is None]
    if missing:
        raise ToolError(f"Error: The command {name} needs {' and '.join(missing)}.")


def _path(given: object) -> str:
    try:
        return checked_path(given)
    except RecollectError as error:
        raise ToolError(f"Error: {error}") from error


def _text(given: object, field: str) -> str:
    if not isinstance(given, str):
        raise ToolError(f"Error: {field} is text, not {type(given).__name__}.")
    return given


def _places(text: str, part: str) -> list[int]:
    """Return every start of a part in a text, including overlapping ones."""
    places, start = [], -1
    while (start := text.find(part, start + 1)) >= 0:
        places.append(start)
    return places


def _numbered_file(path: str, text: str, view_range: Sequence[int] | None) -> str:
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        raise ToolError(_too_long(path))
    first, last = 1, len(lines)
    if view_range is not None:
        first, last = _range(view_range, len(lines))
    return "\n".join(
        [f"Here's the content of {path} with line numbers:", *_with_numbers(lines[first - 1 : last], first)]
    )


def _range(view_range: Sequence[int], count: int) -> tuple[int, int]:
    match view_range:
        case [int(first), int(last)] if 1 <= first <= count and (last == -1 or last >= first):
            return first, count if last == -1 else last
    raise ToolError(
        f"Error: Invalid `view_range` parameter: {view_range}. It should be two lines of the file, "
        f"from [1, {count}]; -1 as the second means the last line."
    )


def _too_long(path: str) -> str:
    return f"File {path} exceeds maximum line limit of {MOST_LINES:,} lines."


def _with_numbers(lines: Iterable[str], first: int) -> list[str]:
    return [f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, start=first)]


def _entries(folder: str, files: Sequence[MemoryFile]) -> list[str]:
    """Return the files and folders of the first levels; the size of a folder is that of all its files."""
    entries: dict[str, list[MemoryFile]] = {}
    for file in files:
        parts = file.path.removeprefix(f"{folder}/").split("/")
        if any(part.startswith(".") or part == "node_modules" for part in parts):
            continue
        for depth in range(1, min(_DEPTH, len(parts)) + 1):
            mark = "/" if depth < len(parts) else ""
            entries.setdefault("/".join([folder, *parts[:depth]]) + mark, []).append(file)
    return [f"{_size(contents)}\t{path}" for path, contents in entries.items()]


def _size(files: Sequence[MemoryFile]) -> str:
    """Format a size like `du -h`: 0B, 512B, 1.5K, 2M."""
    size = float(sum(len(file.text.encode()) for file in files))
    unit = "B"
    for unit in "BKMG":
        if size < 1024 or unit == "G":
            break
        size /= 1024
    return f"{size:.1f}".removesuffix(".0") + unit
