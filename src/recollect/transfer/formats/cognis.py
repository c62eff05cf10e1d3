"""Cognis: extracted memories with their versions, and the messages they come from, in `cognis.db`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.transfer.formats import ForeignFormat
from recollect.transfer.formats.items import ForeignItem, ForeignMessage, ForeignNote, NoPlace
from recollect.transfer.formats.source import ForeignSource
from recollect.transfer.formats.values import moment_of, share_of

if TYPE_CHECKING:
    import sqlite3
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
        later = dict(
            rows.execute(
                "SELECT replaces_id, memory_id FROM memories WHERE replaces_id IS NOT NULL"
            ).fetchall()
        )
        for row in rows.execute("SELECT * FROM memories ORDER BY rowid"):
            yield from _memory(row, later.get(row["memory_id"]))
        if "messages" in found.tables:
            yield from map(_message, rows.execute("SELECT * FROM messages ORDER BY id"))
        if "memory_conflicts" in found.tables:
            for row in rows.execute("SELECT * FROM memory_conflicts"):
                pair = f"{row['memory_id']} and {row['conflict_memory_id']}"
                yield NoPlace("marks that two memories contradict each other", pair)


def _memory(row: sqlite3.Row, later: str | None) -> Iterator[ForeignItem]:
    status = row["status"] or "current"
    closed = moment_of(row["valid_until"]) or moment_of(row["updated_at"])
    is_gone = status == "deleted"
    is_old = not is_gone and (status == "historical" or not row["is_current"])
    yield ForeignNote(
        key=row["memory_id"],
        text=row["content"],
        created_at=moment_of(row["created_at"]),
        updated_at=moment_of(row["updated_at"]),
        happened_at=moment_of(row["event_time"]),
        category=row["category"] or "",
        metadata=_marks(row),
        importance=share_of(row["importance"]),
        session=row["session_id"] or "",
        superseded_by=later if is_old else None,
        superseded_at=closed if is_old else None,
        forgotten_at=closed if is_gone else None,
        expires_at=moment_of(row["valid_until"]) if status == "current" else None,
        owner=row["owner_id"] or "",
        agent=row["agent_id"] or "",
    )
    if row["access_count"]:
        yield NoPlace("access counts")


def _marks(row: sqlite3.Row) -> dict[str, Any]:
    found = {name: row[name] for name, usual in _USUAL.items() if row[name] not in (None, usual)}
    if row["original_content"] not in (None, "", row["content"]):
        found["original_content"] = row["original_content"]
    return found


def _message(row: sqlite3.Row) -> ForeignItem:
    return ForeignMessage(
        session=row["session_id"],
        key=row["message_id"] or str(row["id"]),
        text=row["content"],
        role=row["role"],
        created_at=moment_of(row["timestamp"]) or moment_of(row["created_at"]),
        owner=row["owner_id"] or "",
        agent=row["agent_id"] or "",
    )


FORMAT = ForeignFormat("cognis", "Cognis's store", _recognises, _read)
