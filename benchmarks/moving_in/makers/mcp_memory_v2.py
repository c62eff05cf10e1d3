"""MCP Memory v2, which is not on PyPI: a file with the tables that its documentation describes."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from world import CHANGED, FACTS

PACKAGES = ()
_TABLES = """
CREATE TABLE entities (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
    entity_type TEXT NOT NULL DEFAULT 'Generic', created_at TEXT NOT NULL DEFAULT (datetime('now')),
    updated_at TEXT NOT NULL DEFAULT (datetime('now')), status TEXT NOT NULL DEFAULT 'activo');
CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, entity_id INTEGER NOT NULL,
    content TEXT NOT NULL, created_at TEXT NOT NULL DEFAULT (datetime('now')),
    similarity_flag INTEGER NOT NULL DEFAULT 0, kind TEXT NOT NULL DEFAULT 'generic',
    supersedes INTEGER, superseded_at TEXT);
CREATE TABLE relations (id INTEGER PRIMARY KEY AUTOINCREMENT, from_entity INTEGER NOT NULL,
    to_entity INTEGER NOT NULL, relation_type TEXT NOT NULL, created_at TEXT DEFAULT (datetime('now')),
    context TEXT, active INTEGER NOT NULL DEFAULT 1, ended_at TEXT);
CREATE TABLE reflections (id INTEGER PRIMARY KEY AUTOINCREMENT, target_type TEXT NOT NULL, target_id INTEGER,
    author TEXT NOT NULL, content TEXT NOT NULL, mood TEXT, created_at TEXT DEFAULT (datetime('now')));
CREATE TABLE entity_access (entity_id INTEGER PRIMARY KEY, access_count INTEGER, last_access TEXT);
"""


def make(folder: Path) -> list[dict[str, Any]]:
    rows = sqlite3.connect(folder / "memory.db")
    rows.executescript("PRAGMA journal_mode=WAL;" + _TABLES)
    names = ("Marisol Vega", "Jun Watanabe", "Tidebook", "Harbour")
    rows.executemany(
        "INSERT INTO entities (name, entity_type) VALUES (?, 'thing')", [(each,) for each in names]
    )
    for fact in FACTS:
        whose = next((place for place, name in enumerate(names, 1) if name.split()[0] in fact), len(names))
        rows.execute("INSERT INTO observations (entity_id, content) VALUES (?, ?)", (whose, fact))
    old = rows.execute(
        "INSERT INTO observations (entity_id, content, superseded_at) VALUES (4, ?, datetime('now'))",
        (CHANGED[0],),
    ).lastrowid
    rows.execute(
        "INSERT INTO observations (entity_id, content, supersedes) VALUES (4, ?, ?)", (CHANGED[1], old)
    )
    rows.execute("INSERT INTO relations (from_entity, to_entity, relation_type) VALUES (1, 4, 'leads')")
    rows.execute("INSERT INTO entity_access VALUES (1, 3, datetime('now'))")
    rows.commit()
    rows.close()
    made = {"entities": len(names), "observations": len(FACTS) + 2, "relations": 1}
    return [{"path": "memory.db", "format": "mcp-memory-v2", "made": made, "answers": []}]
