"""A source that is damaged in any place is read as far as it goes: rows are named, and nothing else fails."""

from __future__ import annotations

import copy
import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from test_basic_memory import ANA
from test_graphiti import GRAPH
from test_letta import NEW, OLD
from test_recognised import CLAUDE_MEMORY, CLAUDE_PROJECT

from recollect.domain.errors import InvalidInput
from recollect.transfer import preview_path

JUNK: tuple[Any, ...] = (None, 7, -1.5, True, "", "x", "\ud800\0", [], [None], {}, {"a": [1]}, [["x"]], "{")
DOCUMENTS = (
    ("letta", NEW),
    ("letta", OLD),
    ("graphiti", GRAPH),
    ("claude-memory", [CLAUDE_MEMORY]),
    ("claude-memory", [CLAUDE_PROJECT]),
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container with every key or index in it."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [(value, key) for key in keys] + [place for key in keys for place in places(value[key])]


@pytest.mark.parametrize(("format_", "whole"), DOCUMENTS)
def test_any_value_may_be_another(tmp_path: Path, format_: str, whole: Any) -> None:
    chance = random.Random(7)  # noqa: S311  # a test, not a secret
    file = tmp_path / "source.json"
    formats = set()
    for container_place in range(len(places(whole))):
        for junk in chance.sample(JUNK, 4):
            document = copy.deepcopy(whole)
            container, key = places(document)[container_place]
            container[key] = junk
            file.write_text(json.dumps(document), "utf-8")
            try:
                formats.add(preview_path(file).format)
            except InvalidInput:
                continue  # it is no longer what it was
    assert format_ in formats


def test_any_line_may_be_cut_or_doubled(tmp_path: Path) -> None:
    chance = random.Random(7)  # noqa: S311  # a test, not a secret
    file = tmp_path / "ana.md"
    lines = ANA.splitlines()
    for place, line in enumerate(lines):
        half = line[: len(line) // 2]
        for other in ("", half, f"  {line}", f"{line}\n{line}", "---", "- [[", '- "a [[b]]'):
            file.write_text("\n".join([*lines[:place], other, *lines[place + 1 :]]), "utf-8")
            report = preview_path(file)
            assert report.bad_count <= 1, (other, report)
    letters = "[]()#-\"'|>: \nab`"
    for _ in range(300):
        body = "".join(chance.choice(letters) for _ in range(200))
        file.write_text(f"---\ntitle: a\ntype: b\npermalink: c\n---\n{body}", "utf-8")
        assert preview_path(file).format == "basic-memory"


ROWS: dict[str, dict[str, dict[str, object]]] = {
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


def write_database(file: Path, tables: dict[str, dict[str, object]]) -> Path:
    file.unlink(missing_ok=True)
    with closing(sqlite3.connect(file)) as connection:
        for table, row in tables.items():
            connection.execute(f"CREATE TABLE {table} ({', '.join(row)})")
            marks = ", ".join("?" for _ in row)
            connection.execute(f"INSERT INTO {table} VALUES ({marks})", tuple(row.values()))
        connection.commit()
    return file


@pytest.mark.parametrize("format_", ROWS)
def test_any_column_of_a_database_may_hold_another_type_or_be_missing(tmp_path: Path, format_: str) -> None:
    file = write_database(tmp_path / "source.db", ROWS[format_])
    whole = preview_path(file)
    assert (whole.format, whole.bad_count) == (format_, 0)
    for table, row in ROWS[format_].items():
        for column in row:
            for junk in (None, 7, -1.5, "", b"\xff\x00", "\ud800".encode("utf-8", "surrogatepass")):
                write_database(file, {**ROWS[format_], table: {**row, column: junk}})
                assert preview_path(file).format == format_
            # Another version of the program may lack a column, as long as it is known for what it is.
            without = {name: value for name, value in row.items() if name != column}
            write_database(file, {**ROWS[format_], table: without})
            try:
                assert preview_path(file).format == format_
            except InvalidInput as error:
                assert "cannot be imported" in str(error) or column in {"id", "memory_id"}  # noqa: PT017
