"""mcp-memory-service: memories with tags and metadata in a SQLite file, links between them, and beliefs."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from recollect.transfer.formats import ForeignFormat
from recollect.transfer.formats.items import ForeignEntity, ForeignItem, ForeignNote, NoPlace
from recollect.transfer.formats.values import (
    moment_of,
    object_of,
    other_fields,
    share_of,
    text_value,
    words_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.transfer.formats.source import ForeignRow, ForeignSource

_ENTITY = "has_entity"
"""The kind of a link that leads from a memory to the name of an entity."""
_LINK = ("source_hash", "relationship_type", "target_hash")
_NO_TAG = "untagged"
"""The tag of a memory that has none."""
_PLACED = {"tags", "type", "importance", "importance_score", "session_id", "superseded_by"}


def _recognises(source: ForeignSource) -> bool:
    return source.has_table("memories", "content_hash", "content", "tags", "memory_type", "metadata")


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    with source.database() as rows:
        about: defaultdict[str, list[str]] = defaultdict(list)
        if "memory_graph" in source.tables:
            for row in rows.execute("SELECT * FROM memory_graph"):
                start, kind, end = (row.text(name) for name in _LINK)
                if kind == _ENTITY:
                    about[start].append(end)
                    type_ = text_value(object_of(row["metadata"]).get("entity_type"))
                    yield ForeignEntity(end, type_, created_at=moment_of(row["created_at"]))
                else:
                    yield NoPlace("links between memories", f"{start[:8]} {kind or 'related'} {end[:8]}")
        for row in rows.execute("SELECT * FROM memories ORDER BY id"):
            yield _memory(row, tuple(about.get(row.text("content_hash"), ())))
        if "beliefs" in source.tables:
            yield from map(_belief, rows.execute("SELECT * FROM beliefs ORDER BY id"))


def _memory(row: ForeignRow, about: tuple[str, ...]) -> ForeignItem:
    metadata = object_of(row["metadata"])
    later = row["superseded_by"] or metadata.get("superseded_by")
    store = row.text("store")
    updated = moment_of(row["updated_at"]) or moment_of(row["updated_at_iso"])
    certain = {"confidence": row["confidence"]} if row["confidence"] != 1 else {}
    return ForeignNote(
        key=row.text("content_hash"),
        text=row.text("content"),
        created_at=moment_of(row["created_at"]) or moment_of(row["created_at_iso"]),
        updated_at=updated,
        category=row.text("memory_type"),
        tags=tuple(tag for tag in words_of(row["tags"]) if tag != _NO_TAG),
        metadata=other_fields({**metadata, **certain}, _PLACED),
        importance=share_of(metadata.get("importance", metadata.get("importance_score"))),
        session=text_value(metadata.get("session_id")),
        about=about,
        superseded_by=text_value(later) or None,
        forgotten_at=moment_of(row["deleted_at"]),
        agent="" if store == "default" else store,
    )


def _belief(row: ForeignRow) -> ForeignItem:
    updated = moment_of(row["updated_at"])
    return ForeignNote(
        key=f"belief:{row['belief_hash']}",
        text=row.text("content"),
        created_at=moment_of(row["created_at"]),
        updated_at=updated,
        category="belief",
        tags=(row.text("status"),),
        importance=share_of(row["confidence"]),
        superseded_at=updated if row["status"] == "superseded" else None,
    )


FORMAT = ForeignFormat("mcp-memory-service", "mcp-memory-service's SQLite file", _recognises, _read)
