"""What the full-text indexes hold of each memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from recollect.conditions import IN_FORCE, OneOf
from recollect.ports import Document, Snapshot
from recollect.records import Kind

if TYPE_CHECKING:
    from recollect.tables import Row


def documents(snapshot: Snapshot, ids: Sequence[int]) -> list[Document]:
    """What the full-text indexes hold of those of these memories that are in force."""
    rows = snapshot.rows(
        "memory", ("id", "kind", "name", "type", "speaker", "text"), (OneOf("id", ids), *IN_FORCE)
    )
    entities = [id_ for id_, kind, *_ in rows if kind == Kind.ENTITY]
    observations: dict[int, list[str]] = {}
    if entities:
        for memory, content in snapshot.rows(
            "observation",
            ("memory_id", "content"),
            (OneOf("memory_id", entities), *IN_FORCE),
            order=("memory_id", "id"),
        ):
            observations.setdefault(memory, []).append(content)
    return [_document(row, observations) for row in rows]


def _document(row: Row, observations: Mapping[int, Sequence[str]]) -> Document:
    id_, kind, name, type_, speaker, text = row
    if kind == Kind.ENTITY:
        return Document(id_, name, type_, " | ".join(observations.get(id_, ())))
    return Document(id_, speaker or "", type_, text)
