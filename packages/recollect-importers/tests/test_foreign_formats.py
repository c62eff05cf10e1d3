"""Files of other programs, written after their schemas: what comes along, and what is named instead.

`benchmarks/moving_in` does the same with stores that the programs themselves have made.
"""

from __future__ import annotations

import copyreg
import json
import os
import pickle
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pytest
from foreign_rows import ROWS, write_database

import recollect
from recollect.domain.errors import InvalidInput
from recollect.transfer import ForeignReport, preview_path, recognise
from recollect.transfer.importers import (
    BadRow,
    ForeignEntity,
    ForeignItem,
    ForeignMessage,
    ForeignNote,
    ForeignRelation,
    ForeignSource,
    NotImported,
    open_database,
)
from recollect.transfer.importing import foreign_formats


def database(path: Path, script: str, *rows: tuple[str, tuple[object, ...]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
        for statement, values in rows:
            connection.execute(statement, values)
        connection.commit()
    return path


def items(path: Path, format_: str) -> list[ForeignItem]:
    """Read a source, and check that exactly one format recognises it."""
    source = ForeignSource(path)
    assert [each.name for each in foreign_formats() if not each.order and each.recognises(source)] == [
        format_
    ]
    assert recognise(path) == format_
    return [item for each in foreign_formats() if each.name == format_ for item in each.read(source)]


def notes(found: list[ForeignItem]) -> dict[str, ForeignNote]:
    return {item.key: item for item in found if isinstance(item, ForeignNote)}


def unplaced(found: list[ForeignItem]) -> dict[str, str]:
    return {item.what: item.example for item in found if isinstance(item, NotImported)}


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


# Mnemosyne

WORKING = {
    "id": "w1",
    "content": "Ana is allergic to walnuts",
    "source": "preference",
    "timestamp": "2026-11-17T10:36:16.295184",
    "session_id": "trip",
    "importance": 0.9,
    "metadata_json": '{"tags": ["food"], "ward": 7}',
    "created_at": "2026-11-17 09:36:16",
    "veracity": "stated",
    "recall_count": 2,
    "valid_until": None,
    "superseded_by": None,
    "author_id": "ana",
    "pinned": 1,
}
MNEMOSYNE: dict[str, list[dict[str, Any]]] = {
    "working_memory": [
        WORKING,
        {**WORKING, "id": "w2", "valid_until": "2026-11-18T00:00:00", "superseded_by": "w1", "pinned": 0},
        {**WORKING, "id": "w3", "valid_until": "2020-01-01T00:00:00", "timestamp": "2025-01-02T00:00:00"},
    ],
    "episodic_memory": [{**WORKING, "id": "e1", "session_id": "default", "summary_of": "w1,w2"}],
    "memories": [{"id": "w1", "content": "Ana is allergic to walnuts"}, {"id": "old", "content": None}],
    "scratchpad": [{"id": "s1", "content": "buy stamps", "session_id": "trip", "created_at": "2026-11-17"}],
    "triples": [
        {"subject": "Maya", "predicate": "assigned_to", "object": "billing", "valid_from": "2026-03-01",
         "valid_until": None, "confidence": 0.5, "created_at": "2026-03-02"}
    ],
    "annotations": [
        {"memory_id": "w1", "kind": "mentions", "value": "Ana", "source": "user", "created_at": ""},
        {"memory_id": "w1", "kind": "mentions", "value": "The", "source": "regex", "created_at": ""},
        {"memory_id": "w1", "kind": "fact", "value": "Ana avoids nuts", "source": "", "created_at": ""},
        {"memory_id": "w1", "kind": "occurred_on", "value": "2026-11-17", "source": "", "created_at": ""},
    ],
    "canonical_facts": [
        {"owner_id": "ana", "category": "identity", "name": "city", "body": "Porto", "version": 1,
         "valid_from": "2026-01-01", "valid_until": "2026-02-01", "created_at": "2026-01-01"},
        {"owner_id": "ana", "category": "identity", "name": "city", "body": "Lisbon", "version": 2,
         "valid_from": "2026-02-01", "valid_until": None, "created_at": "2026-02-01"},
    ],
}  # fmt: skip


@pytest.fixture(params=["database", "export"])
def mnemosyne(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    if request.param == "export":
        file = tmp_path / "export.json"
        sections = {
            ("legacy_memories" if name == "memories" else name): rows for name, rows in MNEMOSYNE.items()
        }
        file.write_text(json.dumps({"mnemosyne_export": {"version": "1.3"}, **sections}), "utf-8")
        return file
    return write_database(tmp_path / "mnemosyne.db", MNEMOSYNE)


def test_mnemosyne_has_the_same_in_its_database_and_in_its_export(mnemosyne: Path) -> None:
    found = items(mnemosyne, "mnemosyne")
    by_key = notes(found)
    first = by_key["w1"]
    assert (first.created_at, first.happened_at) == (at("2026-11-17T09:36:16"), None)  # another zone's clock
    assert (first.category, first.tags, first.importance, first.speaker, first.session, first.pinned) == (
        "preference", ("food",), 0.9, "ana", "trip", True,
    )  # fmt: skip
    assert (first.about, first.metadata) == (("Ana",), {"ward": 7, "veracity": "stated"})
    assert (by_key["w2"].superseded_by, by_key["w2"].superseded_at) == ("w1", at("2026-11-18"))
    assert (by_key["w3"].expires_at, by_key["w3"].happened_at) == (at("2020-01-01"), at("2025-01-02"))
    assert by_key["e1"].metadata["summary_of"] == "w1,w2"
    assert by_key["scratchpad:s1"].category == "scratchpad"
    assert by_key["annotation:w1:Ana avoids nuts"].category == "fact"
    porto, lisbon = (by_key[f"canonical:ana:identity:city:{version}"] for version in (1, 2))
    assert (porto.text, porto.superseded_by, lisbon.superseded_at) == ("city: Porto", lisbon.key, None)
    (triple,) = [item for item in found if isinstance(item, ForeignRelation)]
    assert (triple.source, triple.since, triple.until) == ("Maya", at("2026-03-01"), None)
    left = {"annotations of the kind mentions", "confidences of triples", "counts of recalls"}
    assert unplaced(found).keys() == left
    assert [item.place for item in found if isinstance(item, BadRow)] == ["legacy_memories, memory old"]


def test_banks_of_mnemosyne_are_read_as_agents(tmp_path: Path) -> None:
    tables = "CREATE TABLE episodic_memory (id); CREATE TABLE working_memory (id, content, importance);"
    for place in ("mnemosyne.db", "banks/work/mnemosyne.db"):
        database(tmp_path / place, f"{tables} INSERT INTO working_memory VALUES ('w', 'in {place}', 0.5)")
    found = [item for item in items(tmp_path, "mnemosyne") if isinstance(item, ForeignNote)]
    banks = {"": "in mnemosyne.db", "work": "in banks/work/mnemosyne.db"}
    assert {note.agent: note.text for note in found} == banks


# Cognis


def test_cognis_versions_deletions_and_messages_come_along(tmp_path: Path) -> None:
    usual = ROWS["cognis"]["memories"] | {"replaces_id": None, "access_count": 0, "original_content": None}
    old = {"memory_id": "a", "content": "ferry at nine", "status": "historical", "is_current": 0}
    new_text = {"memory_id": "b", "content": "ferry at ten", "original_content": "FERRY AT TEN"}
    more = {"sector": "episodic", "source_role": "user", "importance": 0.7, "access_count": 3}
    gone = {"memory_id": "c", "content": "key under mat", "status": "deleted", "is_current": 0}
    memories = [
        {**usual, **old, "valid_until": "2026-01-02"},
        {**usual, **new_text, **more, "event_time": "2026-01-05", "replaces_id": "a"},
        {**usual, **gone, "valid_until": "2026-01-03"},
    ]
    message = ROWS["cognis"]["messages"] | {"timestamp": "2026-01-01T08:00:00"}
    conflict = ROWS["cognis"]["memory_conflicts"]
    tables = {"memories": memories, "messages": [message], "memory_conflicts": [conflict]}
    write_database(tmp_path / "cognis.db", tables)
    found = items(tmp_path, "cognis")
    by_key = notes(found)
    assert (by_key["a"].superseded_by, by_key["a"].superseded_at) == ("b", at("2026-01-02"))
    assert (by_key["a"].expires_at, by_key["a"].forgotten_at) == (None, None)
    assert by_key["c"].forgotten_at == at("2026-01-03")
    new = by_key["b"]
    assert (new.owner, new.agent, new.happened_at, new.importance) == ("ana", "bot", at("2026-01-05"), 0.7)
    assert new.metadata == {"sector": "episodic", "source_role": "user", "original_content": "FERRY AT TEN"}
    (said,) = [item for item in found if isinstance(item, ForeignMessage)]
    assert (said.session, said.role, said.created_at) == ("s", "user", at("2026-01-01T08:00:00"))
    assert unplaced(found).keys() == {"access counts", "flags for contradicting memories"}
    assert items(tmp_path / "cognis.db", "cognis") == found


# mcp-memory-service


def test_memories_of_mcp_memory_service_come_with_entities_and_beliefs(tmp_path: Path) -> None:
    rows = ROWS["mcp-memory-service"]
    first_row = {
        "content_hash": "h1", "tags": "travel, porto", "memory_type": "observation", "confidence": 0.6,
        "metadata": '{"importance": 0.3, "host": "mac"}', "superseded_by": "h2",
        "created_at": 1767225600.0, "updated_at": 1767312000.0,
    }  # fmt: skip
    second_row = {
        "content_hash": "h2", "tags": "untagged", "metadata": "not json", "created_at": None,
        "created_at_iso": "2026-01-02T00:00:00Z", "deleted_at": 1767398400.0, "store": "work",
    }  # fmt: skip
    city = {"source_hash": "h1", "target_hash": "Porto", "metadata": '{"entity_type": "city"}'}
    causes = {"source_hash": "h1", "target_hash": "h2", "relationship_type": "causes"}
    belief_row = {"belief_hash": "b1", "confidence": 0.4, "status": "superseded", "updated_at": "2026-01-02"}
    tables = {
        "memories": [rows["memories"] | first_row, rows["memories"] | second_row],
        "memory_graph": [rows["memory_graph"] | city, rows["memory_graph"] | causes],
        "beliefs": [rows["beliefs"] | belief_row],
    }
    file = write_database(tmp_path / "sqlite_vec.db", tables)
    found = items(file, "mcp-memory-service")
    by_key = notes(found)
    first, second, belief = by_key["h1"], by_key["h2"], by_key["belief:b1"]
    assert (first.created_at, first.updated_at) == (at("2026-01-01"), at("2026-01-02"))
    assert (first.tags, first.category, first.importance) == (("travel", "porto"), "observation", 0.3)
    assert first.metadata == {"host": "mac", "confidence": 0.6}
    assert (first.about, first.superseded_by) == (("Porto",), "h2")
    assert (second.tags, second.agent, second.created_at) == ((), "work", at("2026-01-02"))
    assert second.forgotten_at == at("2026-01-03")
    assert (belief.category, belief.superseded_at, belief.importance) == ("belief", at("2026-01-02"), 0.4)
    (porto,) = [each for each in found if isinstance(each, ForeignEntity)]
    assert (porto.name, porto.type) == ("Porto", "city")
    assert list(unplaced(found).values()) == ["h1 causes h2"]


# mem0


def payload(text: str, **more: object) -> dict[str, object]:
    times = {"created_at": "2026-01-01T00:00:00+00:00", "updated_at": "2026-01-03T00:00:00+00:00"}
    return {"data": text, "hash": "x", "user_id": "ana", **times, **more}


POINTS: dict[str, dict[str, object]] = {
    "p1": payload("ferry at ten", run_id="trip", actor_id="ana", categories=["plans", "sea"], ward=7),
    "p2": payload("Noted", agent_id="bot", role="assistant", expiration_date="2026-05-01"),
    "e1": {"data": "Porto", "entity_type": "GPE", "linked_memory_ids": ["p1"], "user_id": "ana"},
}


@contextmanager
def qdrant_models() -> Iterator[type]:
    """Its class under its name, as when it writes a point."""
    name = "qdrant_client.http.models.models"
    parts = name.split(".")
    modules = {path: ModuleType(path) for path in (".".join(parts[:end]) for end in range(1, len(parts) + 1))}
    point = type("PointStruct", (), {"__module__": name, "__reduce_ex__": _reduced})
    modules[name].PointStruct = point  # type: ignore[attr-defined]
    with patch.dict(sys.modules, modules):
        yield point


def _reduced(self: Any, _: int) -> Any:
    state = {"__dict__": self.__dict__, "__pydantic_fields_set__": set()}
    return copyreg.__newobj__, (type(self),), state  # type: ignore[attr-defined]


def mem0_history(folder: Path) -> None:
    columns = "memory_id, old_memory, new_memory, event, created_at, updated_at, is_deleted, actor_id, role"
    database(
        folder / "history.db",
        f"""
        CREATE TABLE history (id, {columns});
        CREATE TABLE messages (id, session_scope, role, content, name, created_at);
        INSERT INTO history VALUES
            (1, 'p1', NULL, 'ferry at nine', 'ADD', '2026-01-01', '2026-01-01', 0, NULL, NULL),
            (2, 'p1', 'ferry at nine', 'ferry at ten', 'UPDATE', '2026-01-01', '2026-01-03', 0, NULL, NULL),
            (3, 'p9', 'key under mat', NULL, 'DELETE', '2026-01-01', '2026-01-04', 1, NULL, NULL);
        INSERT INTO messages VALUES
            ('m1', 'agent_id=bot&run_id=trip&user_id=ana', 'user', 'Hi', 'Ana', '2026-01-01');
        """,
    )


def qdrant_folder(folder: Path) -> None:
    with qdrant_models() as point:
        rows = []
        for key, fields in POINTS.items():
            made = point()
            made.__dict__.update(id=key, vector={"": [0.1]}, payload=fields)
            rows.append(("INSERT INTO points VALUES (?, ?)", (key, pickle.dumps(made))))
    database(folder / "vectors/collection/mem0/storage.sqlite", "CREATE TABLE points (id, point)", *rows)


def chroma_folder(folder: Path) -> None:
    rows: list[tuple[str, tuple[object, ...]]] = []
    for number, (key, fields) in enumerate(POINTS.items(), 1):
        rows.append(("INSERT INTO embeddings VALUES (?, 'segment', ?)", (number, key)))
        for name, value in fields.items():
            many = isinstance(value, list)
            for each in value if isinstance(value, list) else [value]:
                table = "embedding_metadata_array" if many else "embedding_metadata"
                whole = each if isinstance(each, int) else None
                text = None if whole is not None else each
                rows.append(
                    (f"INSERT INTO {table} VALUES (?, ?, ?, ?, NULL, NULL)", (number, name, text, whole))
                )
    value_columns = "(id, key, string_value, int_value, float_value, bool_value)"
    database(
        folder / "vectors/chroma.sqlite3",
        "CREATE TABLE embeddings (id, segment_id, embedding_id);"
        f"CREATE TABLE embedding_metadata {value_columns};"
        f"CREATE TABLE embedding_metadata_array {value_columns}",
        *rows,
    )


@pytest.mark.parametrize("store", [qdrant_folder, chroma_folder])
def test_mem0_comes_with_its_history_out_of_either_vector_store(tmp_path: Path, store: Any) -> None:
    store(tmp_path)
    mem0_history(tmp_path)
    found = items(tmp_path, "mem0")
    by_key = notes(found)
    first, second = by_key["p1"], by_key["p2"]
    assert (first.owner, first.session, first.speaker, first.about) == ("ana", "trip", "ana", ("Porto",))
    assert (first.category, first.tags, first.metadata) == ("plans", ("sea",), {"ward": 7})
    ((former, since, until),) = [(each.text, each.since, each.until) for each in first.former]
    assert (former, since, until) == ("ferry at nine", at("2026-01-01"), at("2026-01-03"))
    assert (second.agent, second.speaker, second.expires_at) == ("bot", "assistant", at("2026-05-01"))
    (message,) = [item for item in found if isinstance(item, ForeignMessage)]
    assert (message.session, message.owner, message.agent, message.text) == ("trip", "ana", "bot", "Hi")
    assert [(each.name, each.type) for each in found if isinstance(each, ForeignEntity)] == [("Porto", "gpe")]
    # The owner is unknown, so no other owner gets it.
    assert list(unplaced(found).values()) == ["key under mat"]
    assert items(tmp_path / "history.db", "mem0") == found


def test_a_history_alone_gives_what_memories_last_said(tmp_path: Path) -> None:
    mem0_history(tmp_path)
    by_key = notes(items(tmp_path / "history.db", "mem0"))
    assert (by_key["p1"].text, len(by_key["p1"].former)) == ("ferry at ten", 1)
    assert by_key["p9"].forgotten_at == at("2026-01-04")


GRAPH = {"source": "ana", "relationship": "takes", "target": "ferry"}


def get_all(folder: Path, *rows: object, relations: bool = True) -> Path:
    file = folder / "all.json"
    file.write_text(json.dumps({"results": rows, "relations": [GRAPH]} if relations else rows), "utf-8")
    return file


@pytest.mark.parametrize("around", [True, False])
def test_mem0_comes_as_get_all_returns_it(tmp_path: Path, around: bool) -> None:
    metadata = {"category": "plans", "ward": 7}
    row = {"id": "p1", "memory": "ferry at ten", "metadata": metadata, "user_id": "ana"}
    found = items(get_all(tmp_path, row, 3, relations=around), "mem0")
    note = notes(found)["p1"]
    assert (note.text, note.category, note.metadata) == ("ferry at ten", "plans", {"ward": 7})
    assert note.owner == "ana"
    bad, relation = BadRow("result 2", "It is not a JSON object."), ForeignRelation("ana", "takes", "ferry")
    rest = [item for item in found if not isinstance(item, ForeignNote)]
    assert rest == [bad, replace(relation, owner="ana")][: 2 if around else 1]


def test_mem0_is_known_though_its_vector_store_begins_with_another_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "POINTS", {"x": {"title": "not mem0's"}, **POINTS})
    qdrant_folder(tmp_path)
    assert set(notes(items(tmp_path, "mem0"))) == {"p1", "p2"}


def test_relations_of_get_all_go_to_the_one_owner_of_the_memories(tmp_path: Path) -> None:
    rows = [{"id": name, "memory": f"{name} sails", "user_id": name} for name in ("ana", "bo")]
    file = get_all(tmp_path, *rows)
    assert unplaced(items(file, "mem0")) == {"relations that do not name their owner": "ana takes ferry"}
    seen = preview_path(file, merge_owners=True)
    assert isinstance(seen, ForeignReport)
    assert (seen.relations, seen.no_place) == (1, ())
    # Of several agents, it goes to the owner.
    file = get_all(tmp_path, *({**row, "user_id": "ana", "agent_id": row["id"]} for row in rows))
    (relation,) = [item for item in items(file, "mem0") if not isinstance(item, ForeignNote)]
    assert relation == ForeignRelation("ana", "takes", "ferry", owner="ana")


def test_a_pickle_that_would_run_something_is_refused_and_named(tmp_path: Path) -> None:
    class Harm:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "harm"),)

    qdrant_folder(tmp_path)
    file = tmp_path / "vectors/collection/mem0/storage.sqlite"
    with closing(sqlite3.connect(file)) as rows:
        rows.execute("INSERT INTO points VALUES ('harm', ?)", (pickle.dumps(Harm()),))
        rows.commit()
    (bad,) = [item for item in items(tmp_path, "mem0") if isinstance(item, BadRow)]
    assert "mkdir, which is not part of a point" in bad.reason
    assert not (tmp_path / "harm").exists()


# The source


LINKED = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
STATES = ["in use", pytest.param("behind a link", marks=LINKED), "left by a program that died", "closed"]


@pytest.mark.parametrize("state", STATES)
def test_a_source_is_read_whole_and_never_touched(tmp_path: Path, state: str) -> None:
    """In each state a program keeps its last rows in the log beside the file, or in the file."""
    file = tmp_path / "their" / "memory.db"
    file.parent.mkdir()
    writer = sqlite3.connect(file)
    writer.executescript(
        "PRAGMA journal_mode=WAL; CREATE TABLE memories (id INTEGER PRIMARY KEY, content_hash, content, "
        "tags, memory_type, metadata, created_at, updated_at, created_at_iso, updated_at_iso)"
    )
    writer.execute("INSERT INTO memories (content_hash, content) VALUES ('h', 'in the log')")
    writer.commit()
    source = file
    if state == "closed":
        writer.close()
    elif state != "in use":
        source = tmp_path / "other" / "memory.db"
        source.parent.mkdir()
        if state == "behind a link":
            source.symlink_to(file)
        else:
            for part in ("", "-wal"):
                Path(f"{source}{part}").write_bytes(Path(f"{file}{part}").read_bytes())
    names = {each.name for each in source.parent.iterdir()}
    before = {name: (source.parent / name).read_bytes() for name in names if not name.endswith("-shm")}
    report = preview_path(source)
    assert isinstance(report, ForeignReport)
    assert (report.notes, report.examples) == (1, ("note: in the log",))
    assert {each.name for each in source.parent.iterdir()} == names
    assert {name: (source.parent / name).read_bytes() for name in before} == before
    writer.close()


def test_a_source_that_is_written_while_it_is_read_is_to_be_read_again(tmp_path: Path) -> None:
    """Reading a closed file takes no lock that would keep a program from writing."""
    file = tmp_path / "memory.db"
    with closing(sqlite3.connect(file)) as writer:
        writer.executescript("PRAGMA journal_mode=WAL; CREATE TABLE memories (id)")
    reading = open_database(file)
    reading.__enter__()
    with closing(sqlite3.connect(file)) as writer:
        writer.executescript("INSERT INTO memories VALUES (1)")
    os.utime(file, (1, 1))
    with pytest.raises(InvalidInput, match="import it again"):
        reading.__exit__(None, None, None)


def test_a_source_that_is_locked_or_damaged_is_refused_with_what_to_do(tmp_path: Path) -> None:
    file = database(tmp_path / "memory.db", "CREATE TABLE memories (id); INSERT INTO memories VALUES (1)")
    whole = file.read_bytes()
    with closing(sqlite3.connect(file, isolation_level=None)) as writer, patch("sqlite3.connect", impatient):
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(InvalidInput, match=r"database is locked\. The program that uses it is writing"):
            recognise(file)
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InvalidInput, match="The file is damaged or cut short"):
        recognise(file)


def impatient(*arguments: Any, connect: Any = sqlite3.connect, **options: Any) -> sqlite3.Connection:
    """Instead of the seconds that a reader waits for a lock."""
    connection: sqlite3.Connection = connect(*arguments, **options, timeout=0)
    return connection


KNOWN = "Known formats: basic-memory"
REFUSED = {
    b"SQLite format 3\0 and then nothing": "The file is damaged or cut short",
    b"\x00\x01\x02": f"cannot be imported: it is a binary file of no known kind. {KNOWN}",
    b'{"some": "thing"}': f"cannot be imported: it is JSON of no known kind. {KNOWN}",
    b"plain words": f"cannot be imported: it is text of no known kind. {KNOWN}",
    b"[]": "thing.bin holds no memories; nothing was imported.",
    b'[{"id": "1", "memory": "tea"}, {"id": "2", "mem': "cut short or wrong at line 1",
    '[{"id": "1", "memory": "café"}]'.encode("latin-1"): "not UTF-8 text: byte 28 is wrong",
}


def test_what_is_unknown_or_broken_is_refused_with_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"is empty; nothing was imported\.$"):
        recognise(tmp_path)
    file = tmp_path / "thing.bin"
    for content, reason in REFUSED.items():
        file.write_bytes(content)
        with pytest.raises(InvalidInput) as refused:
            recognise(file)
        assert reason in str(refused.value)
        if KNOWN in reason:
            assert str(refused.value).endswith(", markdown-export. More: recollect import --help")
    file.write_bytes(b"\0")
    with pytest.raises(InvalidInput, match=r"no file in it is of a known format\. Known formats: "):
        recognise(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_refused_before_anything_is_taken_out_of_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="recollect import -"):
        recognise(tmp_path / "pipe")


def test_an_unreadable_path_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(path: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", locked)
    with pytest.raises(InvalidInput) as refused:
        recognise(tmp_path)
    assert str(refused.value) == f"The folder {tmp_path} cannot be read: Permission denied."
    monkeypatch.setattr(Path, "stat", lambda path, **_: locked(path))
    with pytest.raises(InvalidInput, match="notes cannot be read: Permission denied"):
        recognise(tmp_path / "notes")


def test_a_folder_with_the_memories_of_two_programs_is_refused_until_one_is_named(tmp_path: Path) -> None:
    database(tmp_path / "mnemosyne.db", "CREATE TABLE working_memory (content, importance)")
    with closing(sqlite3.connect(tmp_path / "mnemosyne.db")) as connection:
        connection.execute("CREATE TABLE episodic_memory (id)")
    mem0_history(tmp_path)
    with pytest.raises(InvalidInput, match=r"several programs: mem0, mnemosyne\. Import one .* --format"):
        recognise(tmp_path)
    assert preview_path(tmp_path, format="mem0").format == "mem0"


def test_a_folder_of_files_that_are_memories_is_refused_with_their_names(tmp_path: Path) -> None:
    (tmp_path / "graph.jsonl").write_text('{"type": "entity", "name": "Ana", "entityType": "person"}\n')
    store = "CREATE TABLE store (prefix, key, value, created_at, updated_at)"
    database(tmp_path / "store.db", store)
    with pytest.raises(InvalidInput, match=r"one by one: graph\.jsonl \(official\), store\.db \(langgraph\)"):
        recognise(tmp_path)
    (tmp_path / "graph.jsonl").unlink()
    with pytest.raises(InvalidInput, match=r"one by one: store\.db \(langgraph\)"):
        recognise(tmp_path)


def test_a_format_that_is_named_must_fit(tmp_path: Path) -> None:
    file = tmp_path / "thing.json"
    file.write_text('{"some": "thing"}', "utf-8")
    for each in foreign_formats():
        if not each.order:
            with pytest.raises(InvalidInput, match="is not"):
                preview_path(file, format=each.name)


def test_a_store_of_ours_is_no_import_but_a_copy(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", model="none"):
        pass
    with pytest.raises(InvalidInput, match="recollect copy"):
        recognise(tmp_path / "memory.db")
