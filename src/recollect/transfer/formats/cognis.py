"""Cognis: extracted memories with their versions, and the messages they come from, in `cognis.db`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.transfer.formats import ForeignFormat
from recollect.transfer.formats.items import ForeignItem, ForeignMessage, ForeignNote, NoPlace
from recollect.transfer.formats.source import ForeignRow, ForeignSource
from recollect.transfer.formats.values import moment_of, share_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_FILE = "cognis.db"
_USUAL = {"sector": "semantic", "scope": "user", "source_role": None, "confidence": 0.8}


def _database(source: ForeignSource) -> ForeignSource:
    """The file itself, or that of a data folder."""
    found = source.file(_FILE) if source.is_folder else None
    return source if found is None else ForeignSource(found)


def _recognises(source: ForeignSource) -> bool:
    found = _database(source)
    return found.has_table("memories", "memory_id", "owner_id", "is_current", "replaces_id")


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    found = _database(source)
    with found.database() as rows:
        # A later version names the one that it replaces.
        replacing = rows.execute("SELECT replaces_id, memory_id FROM memories WHERE replaces_id IS NOT NULL")
        later = {row["replaces_id"]: row.text("memory_id") for row in replacing}
        for row in rows.execute("SELECT * FROM memories ORDER BY rowid"):
            yield from _memory(row, later.get(row["memory_id"]))
        if "messages" in found.tables:
            yield from map(_message, rows.execute("SELECT * FROM messages ORDER BY id"))
        if "memory_conflicts" in found.tables:
            for row in rows.execute("SELECT * FROM memory_conflicts"):
                pair = f"{row['memory_id']} and {row['conflict_memory_id']}"
                yield NoPlace("flags for contradicting memories", pair)


def _memory(row: ForeignRow, later: str | None) -> Iterator[ForeignItem]:
    status = row["status"] or "current"
    closed = moment_of(row["valid_until"]) or moment_of(row["updated_at"])
    is_gone = status == "deleted"
    is_old = not is_gone and (status == "historical" or not row["is_current"])
    yield ForeignNote(
        key=row.text("memory_id"),
        text=row.text("content"),
        created_at=moment_of(row["created_at"]),
        updated_at=moment_of(row["updated_at"]),
        happened_at=moment_of(row["event_time"]),
        category=row.text("category"),
        metadata=_marks(row),
        importance=share_of(row["importance"]),
        session=row.text("session_id"),
        superseded_by=later if is_old else None,
        superseded_at=closed if is_old else None,
        forgotten_at=closed if is_gone else None,
        expires_at=moment_of(row["valid_until"]) if status == "current" else None,
        owner=row.text("owner_id"),
        agent=row.text("agent_id"),
    )
    if row["access_count"]:
        yield NoPlace("access counts")


def _marks(row: ForeignRow) -> dict[str, Any]:
    found = {name: row[name] for name, usual in _USUAL.items() if row[name] not in (None, usual)}
    if row["original_content"] not in (None, "", row["content"]):
        found["original_content"] = row["original_content"]
    return found


def _message(row: ForeignRow) -> ForeignItem:
    return ForeignMessage(
        session=row.text("session_id"),
        key=row.text("message_id") or row.text("id"),
        text=row.text("content"),
        role=row.text("role"),
        created_at=moment_of(row["timestamp"]) or moment_of(row["created_at"]),
        owner=row.text("owner_id"),
        agent=row.text("agent_id"),
    )


FORMAT = ForeignFormat("cognis", "Cognis's store", _recognises, _read)
