"""`recollect import` of other programs' memories, and of talks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from recollect.cli.commands.imports import FOREIGN_FORMATS
from recollect.transfer.formats.catalogue import FOREIGN

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import CommandLine

pytest_plugins = ["command_line"]
ROWS: list[Any] = [
    {"id": "1", "memory": "The ferry leaves at ten", "user_id": "ana", "created_at": "2026-01-01T00:00:00Z"},
    {"id": "2", "memory": "The archive is in the customs house", "metadata": {"ward": 7}},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "memories.json"
    path.write_text(json.dumps({"results": ROWS}), "utf-8")
    return path


def test_a_dry_run_shows_what_is_there_and_makes_no_store(recollect: CommandLine, file: Path) -> None:
    said = recollect("import", str(file), "--dry-run").stdout
    assert "Recognised as mem0's folder, history or JSON." in said
    assert "For example: note of 2026-01-01: The ferry leaves at ten" in said
    assert "notes\t2" in said
    assert not recollect.store.exists()


def test_what_is_imported_is_found_by_its_owner_and_known_the_second_time(
    recollect: CommandLine, file: Path
) -> None:
    said = recollect("import", str(file)).stdout
    assert "By owner: ana (1)." in said
    assert "notes\t2\t2" in said
    assert "customs house" in recollect("recall", "where is the archive?").stdout
    assert "at ten" in recollect("recall", "when does the ferry leave?", "--owner", "ana").stdout
    again = recollect.json("import", str(file))
    assert (again["notes"], again["notes_new"], again["format"]) == (2, 0, "mem0")


def test_owners_can_be_merged(recollect: CommandLine, file: Path) -> None:
    recollect("import", str(file), "--merge-owners")
    assert recollect.json("stats")["notes"] == 2


def test_a_dry_run_tells_whose_memories_these_become(recollect: CommandLine, file: Path) -> None:
    rows = [{"id": str(n), "memory": f"Memory {n}", "user_id": f"u{n}"} for n in range(7)]
    file.write_text(json.dumps(rows), "utf-8")
    said = recollect("import", str(file), "--dry-run").stdout
    assert "By owner: u0 (1), u1 (1), u2 (1), u3 (1), u4 (1) and 2 more." in said
    assert "By owner" not in recollect("import", str(file), "--dry-run", "--merge-owners").stdout


def test_a_bad_row_is_named_or_stops_everything(recollect: CommandLine, file: Path) -> None:
    file.write_text(json.dumps({"results": [*ROWS, {"id": "3", "memory": " "}]}), "utf-8")
    recollect.refused("import", str(file), "--stop-at-bad-line", status=1)
    assert recollect.json("stats")["notes"] == 0
    assert "Left out, note 3: The text is empty" in recollect("import", str(file)).stdout


def test_what_is_unknown_lists_what_is_known_and_makes_no_store(
    recollect: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "odd.bin").write_bytes(b"\x00\x01")
    said = recollect.refused("import", str(tmp_path / "odd.bin"), status=1)
    assert all(each.name in str(said) for each in FOREIGN)
    assert not recollect.store.exists()


def test_an_entity_is_shown_with_its_tags_and_its_source(recollect: CommandLine, tmp_path: Path) -> None:
    text = "---\ntitle: Ferry\ntype: ship\npermalink: ferry\ntags: [sea]\n---\n\n- [fact] leaves at ten\n"
    (tmp_path / "Ferry.md").write_text(text, "utf-8")
    recollect("import", str(tmp_path / "Ferry.md"), "--format", "basic-memory")
    entity = recollect.json("show", "Ferry")["entities"][0]
    assert (entity["tags"], entity["source"]) == (["sea"], "basic-memory:entity:Ferry")
    assert "field\tFerry\ttags\tsea\n" in recollect("show", "Ferry").stdout
    assert "basic-memory:entity:Ferry" in recollect("show", "Ferry", "--color").stdout


def test_what_has_no_date_gets_none_from_the_import(recollect: CommandLine, file: Path) -> None:
    recollect("import", str(file), "--merge-owners")
    when = {row["text"]: row["id"] for row in recollect.json("list")["memories"]}
    shown = [line for line in recollect("list", "--color").stdout.splitlines() if "customs house" in line]
    assert "unknown" in shown[0]
    undated = str(when["The archive is in the customs house"])
    assert f"field\t{undated}\tnoted\tdate unknown\n" in recollect("show", undated).stdout


def test_talks_are_recognised_too(recollect: CommandLine, tmp_path: Path) -> None:
    export = [
        {"uuid": "u", "name": "Sea", "chat_messages": [{"uuid": "m", "sender": "human", "text": "Hello"}]}
    ]
    (tmp_path / "conversations.json").write_text(json.dumps(export), "utf-8")
    assert recollect.json("import", str(tmp_path), "--dry-run")["turns"] == 1
    data = recollect.json("import", str(tmp_path))
    assert (data["format"], data["turns_new"]) == ("claude", 1)


def test_the_command_for_claudes_memory_is_named_and_works(recollect: CommandLine, tmp_path: Path) -> None:
    talk = {"uuid": "u", "name": "", "chat_messages": [{"uuid": "m", "sender": "human", "text": "Hello"}]}
    memory = [{"conversations_memory": "Ana is a skipper."}]
    for name, rows in (("conversations", [talk]), ("memories", memory), ("projects", [])):
        (tmp_path / f"{name}.json").write_text(json.dumps(rows), "utf-8")
    said = recollect("import", str(tmp_path)).stderr
    memories, projects = tmp_path / "memories.json", tmp_path / "projects.json"
    assert "not imported: Claude's memory and projects; import each separately (2): " in said
    assert f": recollect import {memories}, recollect import {projects}" in said
    assert recollect.json("import", str(memories))["notes_new"] == 1
    assert f"{projects} holds no projects; nothing" in recollect.refused("import", str(projects), status=1)


def test_lines_are_recognised_and_shown_without_being_stored(recollect: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    file.write_text('{"type":"entity","name":"Ana","entityType":"person","observations":["likes tea"]}\n')
    assert (
        "official: 1 entity, 1 observation, 0 relations."
        in recollect("import", str(file), "--dry-run").stdout
    )
    assert not recollect.store.exists()


def test_the_foreign_formats_on_offer_are_those_there_are() -> None:
    assert tuple(each.name for each in FOREIGN) == FOREIGN_FORMATS
