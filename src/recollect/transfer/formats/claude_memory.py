"""Claude's own memory of a person, and their projects: memories.json and projects.json of an export.

The conversations of the same export are read by `recollect.transfer.chats`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.transfer.formats import ForeignFormat
from recollect.transfer.formats.items import BadRow, ForeignItem, ForeignNote, NoPlace
from recollect.transfer.formats.values import list_of, moment_of, object_of, text_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.transfer.formats.source import ForeignSource

_PROJECT = ("description", "prompt_template")


def _recognises(source: ForeignSource) -> bool:
    match source.document:
        case [{"conversations_memory": _}, *_] | {"conversations_memory": _}:
            return True
        case [{"uuid": str(), "name": str(), "prompt_template": _, "docs": _}, *_]:
            return True
        case _:
            return False


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    document = source.document
    for number, row in enumerate(document if isinstance(document, list) else [document], 1):
        if not isinstance(row, dict):
            yield BadRow(f"row {number}", "It is not a JSON object.")
        elif "docs" in row:
            yield from _project(row)
        else:
            yield from _memory(row)


def _memory(row: dict[str, Any]) -> Iterator[ForeignItem]:
    texts = {"conversations": row.get("conversations_memory"), **object_of(row.get("project_memories"))}
    for key, text in texts.items():
        if text_value(text).strip():
            yield ForeignNote(
                key=f"memory:{key}",
                text=text_value(text),
                category="memory",
                tags=() if key == "conversations" else (f"project {key}",),
            )
    files = list_of(row.get("memory_files"))
    if files:
        yield NoPlace("files of memory", count=len(files))


def _project(row: dict[str, Any]) -> Iterator[ForeignItem]:
    project, name = text_value(row.get("uuid")), text_value(row.get("name"))
    created, updated = moment_of(row.get("created_at")), moment_of(row.get("updated_at"))
    texts = [(part, text_value(row.get(part)), created) for part in _PROJECT]
    for doc in list_of(row.get("docs")):
        held = object_of(doc)
        at = moment_of(held.get("created_at")) or created
        texts.append((text_value(held.get("filename")), text_value(held.get("content")), at))
    for part, text, at in texts:
        if text.strip():
            yield ForeignNote(
                key=f"project:{project}:{part}",
                text=text,
                created_at=at,
                updated_at=updated,
                category="project",
                tags=(f"project {project}",),
                metadata={"project": name, "part": part},
            )


FORMAT = ForeignFormat(
    "claude-memory", "memories.json or projects.json of a Claude export", _recognises, _read
)
