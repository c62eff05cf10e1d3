"""Databases of other programs: a row of each of their tables, by format."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

Row = dict[str, Any]
ROWS: dict[str, dict[str, Row]] = {
    "mcp-memory-v2": {
        "entities": {"id": 1, "name": "Ana", "entity_type": "person", "status": "active",
                     "created_at": "2026-01-01", "updated_at": "2026-01-02"},
        "observations": {"id": 1, "entity_id": 1, "content": "sails", "kind": "fact",
                         "created_at": "2026-01-01", "supersedes": None, "superseded_at": None},
        "relations": {"id": 1, "from_entity": 1, "to_entity": 1, "relation_type": "knows", "context": "",
                      "active": 1, "created_at": "2026-01-01", "ended_at": None},
        "reflections": {"id": 1, "target_type": "entity", "target_id": 1, "content": "is kind",
                        "mood": "calm", "author": "Bo", "created_at": "2026-01-01"},
    },
    "mcp-memory-service": {
        "memories": {"id": 1, "content_hash": "h", "content": "sails", "tags": "sea", "memory_type": "note",
                     "metadata": "{}", "created_at": 1.0, "updated_at": 1.0, "created_at_iso": "2026-01-01",
                     "updated_at_iso": "2026-01-01", "deleted_at": None, "store": "default", "confidence": 1,
                     "superseded_by": None},
        "memory_graph": {"source_hash": "h", "target_hash": "Ana", "metadata": "{}", "created_at": 1.0,
                         "relationship_type": "has_entity"},
        "beliefs": {"id": 1, "belief_hash": "b", "content": "sails", "confidence": 0.5, "status": "active",
                    "created_at": 1.0, "updated_at": 1.0},
    },
    "cognis": {
        "memories": {"memory_id": "m", "owner_id": "ana", "agent_id": "bot", "session_id": "s",
                     "content": "sails", "original_content": "", "status": "current", "is_current": 1,
                     "replaces_id": "l", "valid_until": None, "created_at": 1.0, "updated_at": 1.0,
                     "event_time": None, "category": "habit", "importance": 0.5, "access_count": 1,
                     "sector": "semantic", "scope": "user", "source_role": None, "confidence": 0.8},
        "messages": {"id": 1, "message_id": "m", "owner_id": "ana", "agent_id": "bot", "session_id": "s",
                     "role": "user", "content": "Hello", "timestamp": 1.0, "created_at": 1.0},
        "memory_conflicts": {"memory_id": "m", "conflict_memory_id": "l"},
    },
    "mem0": {
        "history": {"id": "1", "memory_id": "p", "old_memory": "rows", "new_memory": "sails",
                    "event": "UPDATE", "created_at": "2026-01-01", "updated_at": "2026-01-02",
                    "is_deleted": 0, "actor_id": "ana", "role": "user"},
        "messages": {"id": "m", "session_scope": "user_id=ana", "role": "user", "content": "Hello",
                     "name": "Ana", "created_at": "2026-01-01"},
    },
    "langgraph": {
        "store": {"prefix": "ana", "key": "k", "value": '{"text": "sails"}', "created_at": "2026-01-01",
                  "updated_at": "2026-01-01", "expires_at": None, "ttl_minutes": 5},
    },
    "mnemosyne": {
        "working_memory": {"id": "w", "content": "sails", "importance": 0.5, "metadata_json": "{}",
                           "created_at": "2026-01-01", "timestamp": "2026-01-01", "superseded_by": None},
        "episodic_memory": {"id": "e", "content": "sails", "summary_of": "w", "valid_until": None},
        "annotations": {"memory_id": "w", "kind": "fact", "value": "sails", "created_at": "2026-01-01"},
        "triples": {"subject": "Ana", "predicate": "knows", "object": "Bo", "valid_from": "2026-01-01"},
        "canonical_facts": {"owner_id": "ana", "category": "c", "name": "n", "body": "b", "version": 1},
        "memoria_persona": {"id": 1, "content": "sails", "topic": "sea", "confidence": 0.5, "tier": "x"},
    },
}  # fmt: skip


def write_database(file: Path, tables: dict[str, list[Row]]) -> Path:
    """Write rows to a new SQLite file. A table has the columns of all its rows."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    with closing(sqlite3.connect(file)) as connection:
        for table, rows in tables.items():
            columns = list(dict.fromkeys(name for row in rows for name in row))
            connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
            marks = ", ".join("?" for _ in columns)
            values = [tuple(row.get(name) for name in columns) for row in rows]
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", values)
        connection.commit()
    return file
