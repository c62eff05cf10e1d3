"""`recollect chat-import`: talks out of other programs' files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import recollect as library
from recollect.cli.commands.imports import FORMATS
from recollect.transfer import chat_import
from recollect.transfer.chats import FORMATS as KNOWN

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import CommandLine

pytest_plugins = ["command_line"]


def _turn(session: str, content: str, at: str) -> dict[str, Any]:
    return {"session": session, "role": "user", "speaker": "Ana", "content": content, "at": at}


TURNS = [
    _turn("harbour", "I moved to Vigo in May", "2024-05-06T10:00:00Z"),
    _turn("kitchen", "I'm allergic to nuts.", "2024-05-06T11:00:00Z"),
    _turn("harbour", "The sea is warm", "2024-05-06T12:00:00Z"),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "talk.jsonl"
    path.write_text("".join(json.dumps(turn) + "\n" for turn in TURNS))
    return path


def _broken(file: Path) -> Path:
    file.write_text(file.read_text() + '{"content": 7}\n')
    return file


def test_turns_become_messages_of_their_sessions(recollect: CommandLine, file: Path) -> None:
    lines = recollect("chat-import", str(file)).stdout.splitlines()
    assert lines == [
        "format\tturns",
        "conversations\t2",
        "turns, new\t3",
        "turns, known\t0",
        "could not be read\t0",
    ]
    turns = recollect.json("session", "show", "harbour")["turns"]
    assert [turn["text"] for turn in turns] == ["I moved to Vigo in May", "The sea is warm"]
    counts = recollect.json("stats")
    assert (counts["messages"], counts["notes"], counts["due"]) == (3, 0, 0)


def test_importing_again_adds_only_what_is_new(recollect: CommandLine, file: Path) -> None:
    recollect("chat-import", str(file))
    more = _turn("harbour", "The wind has turned", "2024-05-07T12:00:00Z")
    file.write_text(file.read_text() + json.dumps(more) + "\n")
    report = recollect.json("chat-import", str(file))
    assert (report["turns_new"], report["turns_known"]) == (1, 3)
    assert recollect.json("stats")["messages"] == 4


def test_a_dry_run_stores_nothing(recollect: CommandLine, file: Path) -> None:
    result = recollect("chat-import", str(_broken(file)), "--dry-run")
    assert result.stdout.splitlines() == [
        "format\tturns",
        "conversations\t2",
        "turns\t3",
        "could not be read\t1",
    ]
    assert "line 4" in result.stderr
    assert not recollect.store.exists()


def test_notes_are_drawn_out_when_asked_for(recollect: CommandLine, file: Path) -> None:
    report = recollect.json("chat-import", str(file), "--extract")
    assert report["notes"] == recollect.json("stats")["notes"] > 0
    assert f"notes drawn\t{0}" in recollect("chat-import", str(file), "--extract").stdout


def test_bad_rows_are_named_and_the_rest_is_imported(recollect: CommandLine, file: Path) -> None:
    result = recollect("chat-import", str(_broken(file)))
    assert "could not be read\t1" in result.stdout
    assert "recollect: left out, talk.jsonl, line 4: " in result.stderr
    report = recollect.json("chat-import", str(file))
    assert report["bad_count"] == len(report["bad"]) == 1
    assert recollect.json("stats")["messages"] == 3


def test_a_bad_row_can_stop_the_import(recollect: CommandLine, file: Path) -> None:
    said = recollect.refused("chat-import", str(_broken(file)), "--stop-at-bad-line", status=1)
    assert "line 4" in said
    assert recollect.json("stats")["messages"] == 0


def test_vectors_can_wait_for_a_reindex(recollect: CommandLine, file: Path) -> None:
    result = recollect("chat-import", str(file), "--no-embed")
    assert "recollect reindex" in result.stderr
    assert recollect.json("stats")["due"] == 3
    recollect("reindex")
    assert recollect.json("stats")["due"] == 0
    recollect.refused("chat-import", str(file), "--no-embed", "--extract", status=2)


def test_without_a_model_words_find_what_was_imported(recollect: CommandLine, file: Path) -> None:
    result = recollect("chat-import", str(file), RECOLLECT_MODEL="none")
    assert "imported, but: " in result.stderr
    best, *beside = recollect.json("search", "warm sea", RECOLLECT_MODEL="none")["hits"]
    assert best["memory"]["session"] == "harbour"
    assert "words" in best["found_by"]
    assert not any("words" in hit["found_by"] for hit in beside)  # only what stands next to it


def test_markdown_is_told_by_its_name(recollect: CommandLine, tmp_path: Path) -> None:
    page = tmp_path / "vault" / "2024-05-06.md"
    page.parent.mkdir()
    page.write_text("# Boats\n\nThe crane was painted.\n")
    assert recollect.json("chat-import", str(page.parent))["format"] == "markdown"
    (hit,) = recollect.json("search", "painted crane", "-n", "1")["hits"]
    assert "The crane was painted." in hit["memory"]["text"]


@pytest.mark.parametrize("content", ["", "no json\n", '{"type": "entity", "name": "Ana"}\n'])
def test_what_is_no_talk_makes_no_store(recollect: CommandLine, tmp_path: Path, content: str) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text(content)
    recollect.refused("chat-import", str(path), status=1)
    recollect.refused("chat-import", str(tmp_path / "missing"), status=1)
    assert not recollect.store.exists()


def test_python_imports_as_the_command_does(recollect: CommandLine, file: Path) -> None:
    told: list[int] = []
    with library.open(recollect.store, model="hashing") as memory:
        report = chat_import(memory, file, progress=lambda done, _: told.append(done))
        assert [session.name for session in memory.sessions.list()] == ["harbour", "kitchen"]
    assert (report.turns_new, report.embedded, report.waiting) == (3, 3, 0)
    assert told[-1] == 3
    assert recollect.json("chat-import", str(file))["turns_known"] == 3


def test_the_formats_on_offer_are_the_formats_there_are() -> None:
    assert FORMATS == KNOWN
