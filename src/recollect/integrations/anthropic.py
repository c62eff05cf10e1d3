"""Anthropic's memory tool on a Recollect memory: the files that Claude keeps below `/memories` are notes.

What a command answers, and how it refuses, is worded as Anthropic's documentation of the tool has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from recollect.aio import AsyncEngine
from recollect.engine.engine import Engine
from recollect.errors import Conflict, Outdated, RecollectError
from recollect.extras import needs_extra
from recollect.integrations.memory_files import ROOT, MemoryFile, MemoryFiles, checked_path
from recollect.integrations.opening import awaited_memory, opened_memory

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


MOST_LINES = 999_999
_WIDTH = len(str(MOST_LINES))
_DEPTH = 2
_AROUND = 2  # lines before and after a change that its snippet shows


class MemoryCommands:
    """Runs the tool's commands and returns their answers; raises `ToolError` for a refused one."""

    def __init__(self, memory: Engine) -> None:
        self._files = MemoryFiles(memory)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        path = _path(command.path)
        file = self._files.read(path)
        if file is not None:
            return _numbered_file(command.path, file.text, command.view_range)
        files = self._files.within(path)
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
        removed: str | None = command.new_str  # a model may leave it out
        old, new = _text(command.old_str, "old_str"), _text(removed or "", "new_str")
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
        changed = text.count("\n", 0, places[0])
        lines_of_text = text.split("\n")[: changed + new.count("\n") + 1 + _AROUND]
        first = max(0, changed - _AROUND)
        return "\n".join(["The memory file has been edited.", *_numbered(lines_of_text[first:], first + 1)])

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        text = _text(command.insert_text, "insert_text")
        file = self._file(command.path, f"Error: The path {command.path} does not exist")
        # A line break ends a line; it begins no other.
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
        self._files.remove(self._at(command.path, "delete"))
        return f"Successfully deleted {command.path}"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        old, new = _path(command.old_path), _path(command.new_path)
        files = self._at(command.old_path, "rename")
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
        self._files.remove(self._files.within(ROOT))
        return "All memory cleared"

    def _file(self, path: str, missing: str) -> MemoryFile:
        file = self._files.read(_path(path))
        if file is None:
            raise ToolError(missing)
        return file

    def _at(self, given: str, verb: str) -> Sequence[MemoryFile]:
        """The file of this path, or those of the folder."""
        path = _path(given)
        if path == ROOT:
            raise ToolError(f"Error: Cannot {verb} the {ROOT} directory itself")
        file = self._files.read(path)
        found = self._files.within(path) if file is None else [file]
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
                f"Error: {file.path} was changed by somebody else just now; view it again, then edit it."
            ) from error
        except RecollectError as error:
            raise ToolError(f"Error: {error}") from error


class RecollectMemoryTool(BetaAbstractMemoryTool):
    """Claude's memory tool on an open memory, or on the store at a path.

    The files belong to the memory's owner and agent.
    """

    def __init__(
        self, memory: Engine | str | Path, *, cache_control: BetaCacheControlEphemeralParam | None = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self.memory = opened_memory(memory)
        self._commands = MemoryCommands(self.memory)

    def execute(self, command: BetaMemoryTool20250818Command) -> BetaFunctionToolResultType:
        _check(command)
        return super().execute(command)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return self._commands.view(command)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return self._commands.create(command)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return self._commands.str_replace(command)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return self._commands.insert(command)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return self._commands.delete(command)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return self._commands.rename(command)

    def clear_all_memory(self) -> str:
        return self._commands.clear_all_memory()


class AsyncRecollectMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for `AsyncAnthropic`: no command blocks the event loop."""

    def __init__(
        self,
        memory: AsyncEngine | Engine | str | Path,
        *,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self.memory = awaited_memory(memory)

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
    """The SDK checks nothing of what a model wrote."""
    name = getattr(command, "command", None)
    if name not in _FIELDS:
        raise ToolError(f"Error: There is no command {name!r}; there are: {', '.join(_FIELDS)}.")
    lacking = [field for field in _FIELDS[name] if getattr(command, field, None) is None]
    if lacking:
        raise ToolError(f"Error: The command {name} needs {' and '.join(lacking)}.")


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
    """Where a part of a text begins, each time; overlapping ones count."""
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
        [f"Here's the content of {path} with line numbers:", *_numbered(lines[first - 1 : last], first)]
    )


def _range(view_range: Sequence[int], count: int) -> tuple[int, int]:
    match view_range:
        case [int(first), int(last)] if 1 <= first <= count and (last == -1 or last >= first):
            return first, count if last == -1 else last
    raise ToolError(
        f"Error: Invalid `view_range` parameter: {view_range}. It should be two lines of the file, "
        f"from [1, {count}]; -1 as the second is its end."
    )


def _too_long(path: str) -> str:
    return f"File {path} exceeds maximum line limit of {MOST_LINES:,} lines."


def _numbered(lines: Iterable[str], first: int) -> list[str]:
    return [f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, start=first)]


def _entries(folder: str, files: Sequence[MemoryFile]) -> list[str]:
    """Files and folders of the first levels, each with its size; of a folder, that of all its files."""
    entries: dict[str, list[MemoryFile]] = {}
    for file in files:
        parts = file.path.removeprefix(f"{folder}/").split("/")
        if any(part.startswith(".") or part == "node_modules" for part in parts):
            continue
        for depth in range(1, min(_DEPTH, len(parts)) + 1):
            mark = "/" if depth < len(parts) else ""
            entries.setdefault("/".join([folder, *parts[:depth]]) + mark, []).append(file)
    return [f"{_size(held)}\t{path}" for path, held in entries.items()]


def _size(files: Sequence[MemoryFile]) -> str:
    """As `du -h` writes it: 0B, 512B, 1.5K, 2M."""
    size = float(sum(len(file.text.encode()) for file in files))
    unit = "B"
    for unit in "BKMG":
        if size < 1024 or unit == "G":
            break
        size /= 1024
    return f"{size:.1f}".removesuffix(".0") + unit
