"""mcp-memory-service: memories with tags and metadata in a SQLite file, links between them, and beliefs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.transfer.formats import ForeignFormat
from recollect.transfer.formats.items import ForeignItem, ForeignNote, NoPlace
from recollect.transfer.formats.values import (
    moment_of,
    object_of,
    share_of,
    text_value,
    unplaced_fields,
    words_of,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from recollect.transfer.formats.source import ForeignSource

_NO_TAG = "untagged"
"""The tag of a memory that has none."""
_PLACED = {"tags", "type", "importance", "importance_score", "session_id", "superseded_by"}


def _recognises(source: ForeignSource) -> bool:
    return source.has_table("memories", "content_hash", "content", "tags", "memory_type", "metadata")


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    with source.database() as rows:
        for row in rows.execute("SELECT * FROM memories ORDER BY id"):
            yield from _memory(row)
        if "beliefs" in source.tables:
            yield from map(_belief, rows.execute("SELECT * FROM beliefs ORDER BY id"))
        if "memory_graph" in source.tables:
            yield from map(_link, rows.execute("SELECT * FROM memory_graph"))


def _memory(row: sqlite3.Row) -> Iterator[ForeignItem]:
    has = set(row.keys())
    metadata = object_of(row["metadata"])
    later = (row["superseded_by"] if "superseded_by" in has else None) or metadata.get("superseded_by")
    store = (row["store"] if "store" in has else None) or "default"
    updated = moment_of(row["updated_at"]) or moment_of(row["updated_at_iso"])
    yield ForeignNote(
        key=row["content_hash"],
        text=row["content"],
        created_at=moment_of(row["created_at"]) or moment_of(row["created_at_iso"]),
        updated_at=updated,
        category=row["memory_type"] or "",
        tags=tuple(tag for tag in words_of(row["tags"]) if tag != _NO_TAG),
        importance=share_of(metadata.get("importance", metadata.get("importance_score"))),
        session=text_value(metadata.get("session_id")),
        superseded_by=text_value(later) or None,
        forgotten_at=moment_of(row["deleted_at"]) if "deleted_at" in has else None,
        agent="" if store == "default" else store,
    )
    yield from unplaced_fields(metadata, _PLACED)
    if "confidence" in has and row["confidence"] not in (None, 1.0):
        yield NoPlace("values of `confidence`", str(row["confidence"]))


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


def _link(row: sqlite3.Row) -> ForeignItem:
    kind = row["relationship_type"] if "relationship_type" in row.keys() else "related"  # noqa: SIM118  # a sqlite3.Row
    return NoPlace("links between memories", f"{row['source_hash'][:8]} {kind} {row['target_hash'][:8]}")


FORMAT = ForeignFormat("mcp-memory-service", "mcp-memory-service's SQLite file", _recognises, _read)
