"""Pydantic AI: a store for the `Memory` capability of pydantic-ai-harness. Each memory file is one note.

The note's text is the content of the file, so `search_memory` finds it by words and by meaning, as does every
other program that uses the same memory. Edits keep the former text. Deleting a file forgets its note.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from recollect import Conflict, Engine, Kind, Memory, NotFound, RecallOptions
from recollect.aio import AsyncEngine
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import MOST_PER_PAGE, QUERY_LIMIT, TYPE_LIMIT
from recollect.plugin import BrowseFilter, Internals, memory_text, memory_version, needs_extra
from recollect_integrations.adapter import all_pages, own_scope_of, require_open, searchable_text

with needs_extra("The adapter for Pydantic AI", "pydantic-ai"):
    from pydantic_ai_harness.memory import (
        MemoryConflictError,
        MemoryFile,
        MemoryMutation,
        MemoryOperation,
        MemoryOperationConflictError,
        MemorySearchMatch,
        MemorySearchResult,
    )

_TAG = "pydantic-ai"
_OPERATION_TAG = "pydantic-ai-operation:"
# How many operations a file remembers, so that it recognises a retry.
_MAX_RECEIPTS = 32
_MAX_METADATA = 4_096
_SEGMENT = re.compile(r"[A-Za-z0-9_.-]{1,200}")


@dataclass(frozen=True, slots=True)
class _FileNote:
    """A note that stores a file."""

    note: Memory

    @property
    def fields(self) -> Mapping[str, Any]:
        return self.note.metadata or {}

    @property
    def path(self) -> str:
        return str(self.fields.get("path", ""))

    @property
    def content(self) -> str:
        """The written content, or the note's text if the note was edited since."""
        written = str(self.fields.get("content", self.note.text))
        return written if _storable(written) == self.note.text else self.note.text

    @property
    def version(self) -> str:
        """A version that changes with each write here, and with each edit by a person or another program."""
        return _version(self.fields.get("generation", 0), self.fields.get("writes", 0), self.note.revisions)


class RecollectHarnessStore:
    """A `MemoryStore` with metadata and search, for `Memory(store=…)`. Several programs may share one."""

    def __init__(self, memory: Engine) -> None:
        """Use a memory that the caller opens and closes."""
        self._memory = AsyncEngine(own_scope_of(require_open(memory)))

    async def read(self, path: str, *, max_chars: int) -> MemoryFile | None:
        _check_path(path)
        _check_positive(max_chars=max_chars)
        found = await self._memory.run(_file, path)
        if found is None:
            return None
        return MemoryFile(
            content=found.content[:max_chars],
            version=found.version,
            operation_id=found.fields.get("operation"),
            truncated=len(found.content) > max_chars,
            metadata=found.fields.get("metadata"),
        )

    async def get_operation(self, operation: MemoryOperation) -> MemoryMutation | None:
        return await self._memory.run(_find_receipt, operation)

    async def write(
        self,
        path: str,
        content: str,
        *,
        expected_version: str | None,
        operation: MemoryOperation | None = None,
    ) -> MemoryMutation:
        return await self.write_with_metadata(
            path, content, expected_version=expected_version, metadata=None, operation=operation
        )

    async def write_with_metadata(
        self,
        path: str,
        content: str,
        *,
        expected_version: str | None,
        metadata: Mapping[str, str] | None,
        operation: MemoryOperation | None = None,
    ) -> MemoryMutation:
        _check_path(path)
        checked = _checked_metadata(metadata)
        return await self._memory.run(_write, path, content, expected_version, checked, operation)

    async def delete(
        self, path: str, *, expected_version: str | None, operation: MemoryOperation | None = None
    ) -> MemoryMutation:
        _check_path(path)
        return await self._memory.run(_delete, path, expected_version, operation)

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        _check_prefix(prefix)
        _check_positive(limit=limit)
        paths = await self._memory.run(lambda memory: [file.path for file in _files(memory)])
        return sorted(path for path in paths if path.startswith(prefix))[:limit]

    async def search(
        self, prefix: str, query: str, *, limit: int, max_files: int, max_chars: int, max_file_chars: int
    ) -> MemorySearchResult:
        """Return the relevant files directly below the prefix, best first."""
        _check_prefix(prefix)
        if not query.split() or min(limit, max_files, max_chars, max_file_chars) <= 0:
            return MemorySearchResult(matches=[], scanned=0, truncated=False)
        answer = await self._memory.recall(
            query[:QUERY_LIMIT], kinds=["note"], tags=[_tag(prefix)], options=RecallOptions(abstain=True)
        )
        found = [(_FileNote(hit.memory), hit) for hit in answer.hits if _is_file(hit.memory)]
        direct = [(file, hit) for file, hit in found if _folder(file.path) == prefix][:max_files]
        matches: list[MemorySearchMatch] = []
        characters_left = max_chars
        for file, hit in direct[:limit]:
            characters_left -= len(file.path.removeprefix(prefix))
            if characters_left <= 0:
                break
            snippet = memory_text(hit.memory, hit.piece)[: min(characters_left, max_file_chars)]
            matches.append(MemorySearchMatch(path=file.path, snippet=snippet, score=hit.score))
            characters_left -= len(snippet)
        return MemorySearchResult(
            matches, scanned=len(direct), truncated=len(matches) < len(direct) or characters_left <= 0
        )


def _write(
    memory: Engine,
    path: str,
    content: str,
    expected: str | None,
    metadata: Mapping[str, str] | None,
    operation: MemoryOperation | None,
) -> MemoryMutation:
    if (earlier := _find_receipt(memory, operation)) is not None:
        return earlier
    # Read the generation before the file. If another program creates the file in between, both use the same
    # key, and one write is refused.
    generation = _generation(memory, path) if expected is None else 0
    file = _file(memory, path)
    _check_version(file, expected, path, "written")
    text = _storable(content)
    generation = generation if file is None else file.fields.get("generation", 0)
    writes = 1 if file is None else file.fields.get("writes", 0) + 1
    edited = file is not None and file.note.text != text
    revisions = 0 if file is None else file.note.revisions + edited
    result = MemoryMutation(_version(generation, writes, revisions), replayed=False, existed=file is not None)
    kept = {
        "path": path,
        "generation": generation,
        "writes": writes,
        "operation": None if operation is None else operation.id,
        "metadata": metadata,
        "receipts": _updated_receipts(file, operation, result),
    }
    if text != content:
        kept["content"] = content
    try:
        if file is None:
            _create(memory, path, text, kept)
        else:
            _if_unchanged(memory, file).update(
                file.note.id, text=text, tags=_tags(path, kept, file.note.tags), metadata=kept
            )
    except Conflict as error:
        raise _conflict(path, "written") from error
    return result


def _create(memory: Engine, path: str, text: str, kept: Mapping[str, Any]) -> None:
    """Create the file. Of two concurrent creations with the same key, one is refused."""
    for purges in count():
        key = f"{_TAG} {path} {kept['generation']} {purges}"
        try:
            memory.remember(text, ref=_ref(path), tags=_tags(path, kept), metadata=kept, key=key)
        except NotFound:  # the file that had this key was purged
            continue
        return


def _delete(
    memory: Engine, path: str, expected: str | None, operation: MemoryOperation | None
) -> MemoryMutation:
    if (earlier := _find_receipt(memory, operation)) is not None:
        return earlier
    file = _file(memory, path)
    _check_version(file, expected, path, "deleted")
    result = MemoryMutation(None, replayed=False, existed=file is not None)
    kept = {
        **({} if file is None else file.fields),
        "path": path,
        "receipts": _updated_receipts(file, operation, result),
        "deleted": True,
    }
    if file is None and operation is not None:
        # There is nothing to delete, but a retry must get the same answer.
        deleted = memory.remember(f"({path})", tags=_tags(path, kept), metadata=kept)
        memory.forget([deleted.id])
    elif file is not None:
        try:
            # From here on the file counts as deleted, even if the process ends before forget().
            _if_unchanged(memory, file).update(
                file.note.id, tags=_tags(path, kept, file.note.tags), metadata=kept
            )
        except Conflict as error:
            raise _conflict(path, "deleted") from error
        memory.forget([file.note.id])
    return result


def _file(memory: Engine, path: str) -> _FileNote | None:
    for note in memory.list(refs=[_ref(path)]).memories:
        if _is_file(note):
            return _FileNote(note)
        memory.forget([note.id])  # finish an interrupted deletion
    return None


def _files(memory: Engine) -> Iterator[_FileNote]:
    return map(_FileNote, filter(_is_file, all_pages(memory, tags=[_TAG])))


def _is_file(note: Memory) -> bool:
    kept = note.metadata or {}
    return note.ref == _ref(str(kept.get("path"))) and not kept.get("deleted")


def _generation(memory: Engine, path: str) -> int:
    """Return the id of the newest note that ever had this path; 0 if there was none."""
    wanted = BrowseFilter(frozenset({Kind.NOTE}), "all", tags=frozenset({_tag(path)}))
    after = None
    while True:
        page = memory.browse.page(wanted, limit=MOST_PER_PAGE, after=after)
        same = (note.id for note in page.memories if (note.metadata or {}).get("path") == path)
        if (last := next(same, None)) is not None or (after := page.cursor) is None:
            return last or 0


def _find_receipt(memory: Engine, operation: MemoryOperation | None) -> MemoryMutation | None:
    """Return the earlier result of the operation, even if its file was deleted since."""
    if operation is None:
        return None
    wanted = BrowseFilter(frozenset({Kind.NOTE}), "all", tags=frozenset({_operation_tag(operation.id)}))
    for note in memory.browse.page(wanted, limit=MOST_PER_PAGE).memories:
        kept = ((note.metadata or {}).get("receipts") or {}).get(operation.id)
        if kept is None:
            continue
        fingerprint, version, existed = kept
        if fingerprint != operation.fingerprint:
            raise MemoryOperationConflictError(
                f"The operation {operation.id!r} was already used with other arguments; use another id."
            )
        return MemoryMutation(version, replayed=True, existed=existed)
    return None


def _updated_receipts(
    file: _FileNote | None, operation: MemoryOperation | None, result: MemoryMutation
) -> dict[str, list[Any]]:
    known = dict({} if file is None else file.fields.get("receipts") or {})
    if operation is not None:
        known[operation.id] = [operation.fingerprint, result.version, result.existed]
    return dict(list(known.items())[-_MAX_RECEIPTS:])


def _if_unchanged(memory: Engine, file: _FileNote) -> Engine:
    return Internals(memory).expecting(file.note.id, [memory_version(file.note)])


def _check_version(file: _FileNote | None, expected: str | None, path: str, action: str) -> None:
    if (None if file is None else file.version) != expected:
        raise _conflict(path, action)


def _conflict(path: str, action: str) -> MemoryConflictError:
    return MemoryConflictError(
        f"The file {path!r} does not have the expected version, so it was not {action}. Read it again."
    )


def _version(generation: int, writes: int, revisions: int) -> str:
    return f"{generation}.{writes}.{revisions}"


def _storable(content: str) -> str:
    """Return the content in a form that a note can store. Metadata keeps the content if it differs."""
    return searchable_text(content, "(an empty file)")


def _ref(path: str) -> str:
    return f"{_TAG}/{path}"


def _folder(path: str) -> str:
    return path[: path.rfind("/") + 1]


def _tags(path: str, kept: Mapping[str, Any], before: Sequence[str] = ()) -> list[str]:
    """Return the tags that find a file, and the tags that users added."""
    others = [tag for tag in before if not tag.startswith(_OPERATION_TAG)]
    operations = [_operation_tag(id_) for id_ in kept["receipts"]]
    return list(dict.fromkeys([_TAG, _tag(path), _tag(_folder(path)), *others, *operations]))


def _tag(path: str) -> str:
    return _short_tag(f"{_TAG}:{path}")


def _operation_tag(id_: str) -> str:
    return _short_tag(f"{_OPERATION_TAG}{id_}")


def _short_tag(tag: str) -> str:
    """Shorten a long tag with a digest at its end."""
    if len(tag) <= TYPE_LIMIT:
        return tag
    digest = hashlib.blake2b(tag.encode(), digest_size=16).hexdigest()
    return f"{tag[: TYPE_LIMIT - len(digest)]}{digest}"


def _check_path(path: str) -> None:
    segments = path.split("/")
    if not all(_SEGMENT.fullmatch(each) and ".." not in each and each != "." for each in segments):
        raise ValueError(
            f"{path!r} is not a valid path: use names of 1 to 200 letters, digits, _ . or -, separated by /, "
            'without "..".'
        )


def _check_prefix(prefix: str) -> None:
    if prefix:
        _check_path(prefix.removesuffix("/"))


def _check_positive(**numbers: int) -> None:
    for name, number in numbers.items():
        if number <= 0:
            raise ValueError(f"{name} must be positive, not {number}")


def _checked_metadata(metadata: Mapping[str, str] | None) -> dict[str, str] | None:
    if not metadata:
        return None
    if not all(isinstance(each, str) for pair in metadata.items() for each in pair):
        raise TypeError("Metadata of a memory file must map strings to strings.")
    length = len(json.dumps(dict(metadata), ensure_ascii=False, separators=(",", ":")))
    if length > _MAX_METADATA:
        raise ValueError(f"Metadata may have {_MAX_METADATA:,} characters as JSON; this has {length:,}.")
    if any("\0" in each for pair in metadata.items() for each in pair):
        raise ValueError("Metadata must not contain NUL characters.")
    return dict(metadata)
