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
    import sqlite3
    from collections.abc import Iterator

    from recollect.transfer.formats.source import ForeignSource

_ENTITY = "has_entity"
"""The kind of a link that leads from a memory to the name of an entity."""
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
                if _kind(row) == _ENTITY:
                    about[row["source_hash"]].append(row["target_hash"])
                    type_ = text_value(object_of(row["metadata"]).get("entity_type"))
                    yield ForeignEntity(row["target_hash"], type_, created_at=moment_of(row["created_at"]))
                else:
                    ends = (row["source_hash"][:8], row["target_hash"][:8])
                    yield NoPlace("links between memories", f"{ends[0]} {_kind(row)} {ends[1]}")
        for row in rows.execute("SELECT * FROM memories ORDER BY id"):
            yield _memory(row, tuple(about.get(row["content_hash"], ())))
        if "beliefs" in source.tables:
            yield from map(_belief, rows.execute("SELECT * FROM beliefs ORDER BY id"))


def _memory(row: sqlite3.Row, about: tuple[str, ...]) -> ForeignItem:
    has = set(row.keys())
    metadata = object_of(row["metadata"])
    later = (row["superseded_by"] if "superseded_by" in has else None) or metadata.get("superseded_by")
    store = (row["store"] if "store" in has else None) or "default"
    updated = moment_of(row["updated_at"]) or moment_of(row["updated_at_iso"])
    certain = {"confidence": row["confidence"]} if "confidence" in has and row["confidence"] != 1 else {}
    return ForeignNote(
        key=row["content_hash"],
        text=row["content"],
        created_at=moment_of(row["created_at"]) or moment_of(row["created_at_iso"]),
        updated_at=updated,
        category=row["memory_type"] or "",
        tags=tuple(tag for tag in words_of(row["tags"]) if tag != _NO_TAG),
        metadata=other_fields({**metadata, **certain}, _PLACED),
        importance=share_of(metadata.get("importance", metadata.get("importance_score"))),
        session=text_value(metadata.get("session_id")),
        about=about,
        superseded_by=text_value(later) or None,
        forgotten_at=moment_of(row["deleted_at"]) if "deleted_at" in has else None,
        agent="" if store == "default" else store,
    )


def _belief(row: sqlite3.Row) -> ForeignItem:
    updated = moment_of(row["updated_at"])
    return ForeignNote(
        key=f"belief:{row['belief_hash']}",
        text=row["content"],
        created_at=moment_of(row["created_at"]),
        updated_at=updated,
        category="belief",
        tags=(row["status"],),
        importance=share_of(row["confidence"]),
        superseded_at=updated if row["status"] == "superseded" else None,
    )


def _kind(row: sqlite3.Row) -> str:
    return str(row["relationship_type"]) if "relationship_type" in set(row.keys()) else "related"


FORMAT = ForeignFormat("mcp-memory-service", "mcp-memory-service's SQLite file", _recognises, _read)
