"""`recollect import` of other programs' memories, and of talks."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from click.shell_completion import ShellComplete

import recollect as library
from recollect.cli.main import cli
from recollect.transfer import ForeignReport, import_formats, import_path

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
    assert re.search(r"notes +2\n", said)
    assert not recollect.store.exists()


def test_imported_rows_are_found_by_owner_and_known_the_second_time(
    recollect: CommandLine, file: Path
) -> None:
    said = recollect("import", str(file)).stdout
    assert "By owner: ana (1)." in said
    assert re.search(r"notes +2 +2\n", said)
    assert "customs house" in recollect("recall", "where is the archive?", "-n", "1").stdout
    assert "at ten" in recollect("recall", "when does the ferry leave?", "--owner", "ana", "-n", "1").stdout
    again = recollect.json("import", str(file))
    assert (again["notes"], again["notes_new"], again["format"]) == (2, 0, "mem0")


def test_owners_are_told_and_can_be_merged(recollect: CommandLine, file: Path) -> None:
    recollect("import", str(file), "--merge-owners")
    assert recollect.json("stats")["notes"] == 2
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
    assert all(name in str(said) for name in import_formats())
    assert not recollect.store.exists()


def test_a_format_that_another_package_registers_is_named_completed_and_read(
    recollect: CommandLine, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "their_importer-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: their-importer\nVersion: 1\n")
    (about / "entry_points.txt").write_text(
        "[recollect.importers]\nmade-up = recollect_importers.mem0:FORMAT\n"
    )
    assert "'mem0'" in recollect.refused("import", str(file), "--format", "made-up", status=2)
    monkeypatch.syspath_prepend(tmp_path)
    assert recollect.json("import", str(file), "--format", "made-up")["notes_new"] == 2
    assert "'made-up'" in recollect.refused("import", str(file), "--format", "unknown", status=2)
    completion = ShellComplete(cli, {}, "recollect", "_RECOLLECT_COMPLETE")
    assert [item.value for item in completion.get_completions(["import", "--format"], "ma")] == [
        "markdown-export", "made-up", "markdown",
    ]  # fmt: skip


def test_an_entity_is_shown_with_its_tags_and_its_source(recollect: CommandLine, tmp_path: Path) -> None:
    text = "---\ntitle: Ferry\ntype: ship\npermalink: ferry\ntags: [sea]\n---\n\n- [fact] leaves at ten\n"
    (tmp_path / "Ferry.md").write_text(text, "utf-8")
    recollect("import", str(tmp_path / "Ferry.md"), "--format", "basic-memory")
    entity = recollect.json("show", "Ferry")["entities"][0]
    assert (entity["tags"], entity["source"]) == (["sea"], "basic-memory:entity:Ferry")
    assert ["tags", "sea"] in recollect.rows("show", "Ferry")
    assert "basic-memory:entity:Ferry" in recollect("show", "Ferry", "--color").stdout


def test_what_has_no_date_gets_none_from_the_import(recollect: CommandLine, file: Path) -> None:
    recollect("import", str(file), "--merge-owners")
    when = {row["text"]: row["id"] for row in recollect.json("list")["memories"]}
    shown = [line for line in recollect("list", "--color").stdout.splitlines() if "customs house" in line]
    assert "unknown" in shown[0]
    undated = str(when["The archive is in the customs house"])
    assert ["noted", "date unknown"] in recollect.rows("show", undated)


def test_the_command_for_claudes_memory_is_named_and_works(recollect: CommandLine, tmp_path: Path) -> None:
    talk = {"uuid": "u", "name": "", "chat_messages": [{"uuid": "m", "sender": "human", "text": "Hello"}]}
    memory = [{"conversations_memory": "Ana is a skipper."}]
    for name, rows in (("conversations", [talk]), ("memories", memory), ("projects", [])):
        (tmp_path / f"{name}.json").write_text(json.dumps(rows), "utf-8")
    assert recollect.json("import", str(tmp_path), "--dry-run")["messages"] == 1
    data = recollect.json("import", str(tmp_path))
    assert (data["format"], data["messages_new"]) == ("claude", 1)
    said = recollect("import", str(tmp_path)).stdout
    memories, projects = tmp_path / "memories.json", tmp_path / "projects.json"
    assert "Not kept: Claude's memory and projects; import each separately (2): " in said
    assert f": recollect import {memories}; recollect import {projects}" in said
    assert recollect.json("import", str(memories))["notes_new"] == 1
    assert f"{projects} holds no projects; nothing" in recollect.refused("import", str(projects), status=1)


def test_lines_are_recognised_and_shown_without_being_stored(recollect: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    file.write_text('{"type":"entity","name":"Ana","entityType":"person","observations":["likes tea"]}\n')
    said = recollect("import", str(file), "--dry-run").stdout
    assert "official: 1 entity, 1 observation, 0 relations." in said
    assert not recollect.store.exists()


def test_without_the_package_of_importers_the_extra_is_named(
    recollect: CommandLine, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    for typed in (("import", str(file)), ("import", str(file), "--format", "mem0")):
        assert "pip install 'recollect-memory[importers]'" in recollect.refused(*typed, status=1)
    assert not recollect.store.exists()


# Conversations


def _turn(session: str, content: str, at: str) -> dict[str, Any]:
    return {"session": session, "role": "user", "speaker": "Ana", "content": content, "at": at}


TURNS = [
    _turn("harbour", "I moved to Vigo in May", "2024-05-06T10:00:00Z"),
    _turn("kitchen", "I'm allergic to nuts.", "2024-05-06T11:00:00Z"),
    _turn("harbour", "The sea is warm", "2024-05-06T12:00:00Z"),
]


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "talk.jsonl"
    path.write_text("".join(json.dumps(turn) + "\n" for turn in TURNS))
    return path


def test_turns_become_messages_of_their_sessions(recollect: CommandLine, talk: Path) -> None:
    # By the former name of the command.
    said = recollect("chat-import", str(talk)).stdout
    assert "Conversations: 2." in said
    assert re.search(r"messages +3 +3\n", said)
    turns = recollect.json("session", "show", "harbour")["turns"]
    assert [turn["text"] for turn in turns] == ["I moved to Vigo in May", "The sea is warm"]
    counts = recollect.json("stats")
    assert (counts["messages"], counts["notes"], counts["due"]) == (3, 0, 0)
    more = _turn("harbour", "The wind has turned", "2024-05-07T12:00:00Z")
    talk.write_text(talk.read_text() + json.dumps(more) + "\n")
    report = recollect.json("import", str(talk))
    assert (report["messages"], report["messages_new"]) == (4, 1)
    assert recollect.json("stats")["messages"] == 4


def test_notes_are_drawn_out_when_asked_for(recollect: CommandLine, talk: Path) -> None:
    report = recollect.json("import", str(talk), "--extract")
    assert report["notes_drawn"] == recollect.json("stats")["notes"] > 0
    assert recollect.json("import", str(talk), "--extract")["notes_drawn"] == 0
    recollect.refused("import", str(talk), "--no-embed", "--extract", status=2)


def test_bad_turns_are_named_or_stop_the_import(recollect: CommandLine, talk: Path) -> None:
    talk.write_text(talk.read_text() + '{"content": 7}\n')
    said = recollect("import", str(talk), "--dry-run").stdout
    assert re.search(r"messages +3", said)
    assert not recollect.store.exists()
    assert "line 4" in recollect.refused("import", str(talk), "--stop-at-bad-line", status=1)
    assert recollect.json("stats")["messages"] == 0
    assert "Left out, talk.jsonl, line 4: " in recollect("import", str(talk)).stdout
    report = recollect.json("import", str(talk))
    assert report["bad_count"] == len(report["bad"]) == 1
    assert recollect.json("stats")["messages"] == 3


def test_vectors_can_wait_for_a_reindex_and_without_a_model_words_find_what_was_imported(
    recollect: CommandLine, talk: Path
) -> None:
    assert "recollect reindex" in recollect("import", str(talk), "--no-embed").stderr
    assert recollect.json("stats")["due"] == 3
    assert "imported, but: " in recollect("import", str(talk), RECOLLECT_MODEL="none").stderr
    best, *beside = recollect.json("search", "warm sea", RECOLLECT_MODEL="none")["hits"]
    assert best["memory"]["session"] == "harbour"
    assert "words" in best["found_by"]
    assert not any("words" in hit["found_by"] for hit in beside)  # only through its neighbours
    recollect("reindex")
    assert recollect.json("stats")["due"] == 0


def test_python_imports_too(recollect: CommandLine, talk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.transfer.foreign._PROGRESS_EVERY", 1)
    told: list[tuple[int, int | None]] = []
    with library.open(recollect.store, model="hashing") as memory:
        report = import_path(memory, talk, progress=lambda *done: told.append(done))
        assert [session.name for session in memory.sessions.list()] == ["harbour", "kitchen"]
    assert isinstance(report, ForeignReport)
    assert (report.messages_new, report.embedded, report.waiting) == (3, 3, 0)
    assert {total for _, total in told[:-1]} == {told[-1][0]} == {3}
    assert recollect.json("import", str(talk))["messages_new"] == 0
