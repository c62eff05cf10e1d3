"""MCP Memory v2's SQLite file, written after its published schema."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from transfer_world import import_foreign

from recollect.domain.records import Status
from recollect.engine import Engine
from recollect.transfer import recognise

pytest_plugins = ["transfer_stores"]

SCHEMA = """
CREATE TABLE entities (id INTEGER PRIMARY KEY, name TEXT, entity_type TEXT, created_at TEXT, updated_at TEXT,
    status TEXT NOT NULL DEFAULT 'activo');
CREATE TABLE observations (id INTEGER PRIMARY KEY, entity_id INTEGER, content TEXT, created_at TEXT,
    similarity_flag INTEGER DEFAULT 0, kind TEXT DEFAULT 'generic', supersedes INTEGER, superseded_at TEXT);
CREATE TABLE relations (id INTEGER PRIMARY KEY, from_entity INTEGER, to_entity INTEGER, relation_type TEXT,
    created_at TEXT, context TEXT, active INTEGER DEFAULT 1, ended_at TEXT);
CREATE TABLE reflections (id INTEGER PRIMARY KEY, target_type TEXT, target_id INTEGER, author TEXT,
    content TEXT, mood TEXT, created_at TEXT);
CREATE TABLE entity_access (entity_id INTEGER PRIMARY KEY, access_count INTEGER, last_access TEXT);
"""
ROWS = """
INSERT INTO entities VALUES (1, 'Ana', 'person', '2024-05-01 10:00:00', '2024-06-01 10:00:00', 'activo'),
    (2, 'Tidebook', 'Generic', '2024-05-02 10:00:00', '2024-05-02 10:00:00', 'pausado');
INSERT INTO observations VALUES (1, 1, 'lives in Porto', '2024-05-01', 0, 'generic', NULL, '2024-06-01'),
    (2, 1, 'lives in Lisbon', '2024-06-01 10:00:00', 0, 'decision', 1, NULL),
    (3, 9, 'of nobody', '2024-06-01 10:00:00', 0, 'generic', NULL, NULL);
INSERT INTO relations VALUES (1, 1, 2, 'writes', '2024-05-03 10:00:00', 'at night', 0, '2024-07-01 00:00:00');
INSERT INTO reflections VALUES (1, 'entity', 1, 'claude', 'Ana likes rivers', 'calm', '2024-06-02 10:00:00');
INSERT INTO entity_access VALUES (1, 4, '2024-06-01 10:00:00');
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    with sqlite3.connect(path) as rows:
        rows.executescript("PRAGMA journal_mode=WAL;" + SCHEMA + ROWS)
    rows.close()
    return path


def test_everything_comes_along_and_the_rest_is_named(mine: Engine, file: Path) -> None:
    assert recognise(file) == "mcp-memory-v2"
    before = file.read_bytes()
    report = import_foreign(mine, file)
    assert (report.entities_new, report.observations_new) == (2, 2)
    assert (report.notes_new, report.relations_new) == (1, 1)
    assert [(each.what, each.count) for each in report.no_place] == [("access counts", 1)]
    assert report.bad == ("1 observations: Their entity 9 is not in the file.",)
    assert file.read_bytes() == before
    assert {each.name for each in file.parent.iterdir() if each.name.startswith("memory")} == {"memory.db"}

    ana, tidebook = mine.graph.open_nodes(["Ana", "Tidebook"], history=True).entities
    assert (tidebook.type, tidebook.status) == ("unknown", Status.PAUSED)
    assert ana.updated_at.isoformat() == "2024-06-01T10:00:00+00:00"
    old, new = ana.observations
    assert (old.superseded_by, new.kind) == (new.id, "decision")
    (note,) = mine.list().memories
    assert (note.text, note.speaker) == ("Ana likes rivers", "claude")
    assert (note.tags, note.about) == (("calm",), (ana.id,))


def test_importing_again_changes_nothing_and_a_newer_state_adds_what_is_new(mine: Engine, file: Path) -> None:
    import_foreign(mine, file)
    again = import_foreign(mine, file)
    assert not again.changed
    with sqlite3.connect(file) as rows:
        new = "(4, 2, 'is a diary', '2024-08-01', 0, 'generic', NULL, NULL)"
        rows.execute(f"INSERT INTO observations VALUES {new}")
        rows.commit()
        later = import_foreign(mine, file)  # while the other program has it open
    rows.close()
    assert (later.observations_new, later.entities_new, later.relations_new) == (1, 0, 0)
