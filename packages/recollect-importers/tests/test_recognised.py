"""Formats are recognised by content, whatever the file's name and packing."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pytest
from transfer_world import import_foreign

from recollect.engine import Engine
from recollect.transfer import ImportReport, import_path, recognise

pytest_plugins = ["transfer_stores"]

OFFICIAL = (
    '{"type":"entity","name":"Ana","entityType":"person","observations":["is a skipper"]}\n'
    '{"type":"relation","from":"Ana","to":"Porto","relationType":"lives_in"}\n'
)
SPOKEN = {"id": "m1", "author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Hello"]}}
CHATGPT = {"id": "c1", "title": "Tides", "current_node": "m1",
           "mapping": {"m1": {"id": "m1", "message": SPOKEN, "parent": None, "children": []}}}  # fmt: skip
CLAUDE = {"uuid": "c1", "name": "Tides", "summary": "About tides", "created_at": "2024-05-06T11:00:00Z",
          "chat_messages": [{"uuid": "m1", "sender": "human", "text": "Hello",
                             "created_at": "2024-05-06T12:00:00Z"}]}  # fmt: skip

CLAUDE_MEMORY = {
    "conversations_memory": "Ana is a skipper.",
    "project_memories": {"p1": "Tides by the hour."},
}
DOC = {"uuid": "d1", "filename": "tides.md", "content": "High water at six", "created_at": "2024-05-06"}
CLAUDE_PROJECT = {"uuid": "p1", "name": "Tides", "description": "", "prompt_template": "Be brief.",
                  "docs": [DOC]}  # fmt: skip


def test_the_official_format_is_known_under_any_name(mine: Engine, tmp_path: Path) -> None:
    for number, name in enumerate(("memory.jsonl", "memory.bak", "memory", "memory.json.gz", "graph.txt")):
        for content in (OFFICIAL.encode(), gzip.compress(OFFICIAL.encode())):
            (tmp_path / name).write_bytes(content)
            assert recognise(tmp_path / name) == "official"
        report = import_path(mine.scoped(str(number)), tmp_path / name, embed=False)
        assert isinstance(report, ImportReport)
        assert (report.entities_created, report.relations_created) == (1, 1)


@pytest.mark.parametrize(("format_", "talk"), [("chatgpt", CHATGPT), ("claude", CLAUDE)])
def test_exports_of_chats_are_known_in_their_zip_and_out_of_it(
    mine: Engine, tmp_path: Path, format_: str, talk: dict[str, object]
) -> None:
    content = json.dumps([talk])
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("users.json", "[]")
        archive.writestr("conversations.json", content)
    created = []
    for name in ("export.zip", "conversations.json", "talks.json"):
        file = tmp_path / name
        if not file.exists():
            file.write_text(content, "utf-8")
        assert recognise(file) == format_
        report = import_foreign(mine, file)
        created.append(report.messages_new)
        others = [("other files of the export", ("users.json",))] if name.endswith(".zip") else []
        assert [(each.what, each.examples) for each in report.no_place] == others
    assert created == [1, 0, 0]  # the same talk is known out of another file


def test_what_claude_remembers_and_projects_hold_are_notes(mine: Engine, tmp_path: Path) -> None:
    for name, row in (("memories.json", CLAUDE_MEMORY), ("projects.json", CLAUDE_PROJECT)):
        (tmp_path / name).write_text(json.dumps([row]), "utf-8")
        assert recognise(tmp_path / name) == "claude-memory"
        import_foreign(mine, tmp_path / name)
    assert {(note.text, note.category) for note in mine.list().memories} == {
        ("Ana is a skipper.", "memory"),
        ("Tides by the hour.", "memory"),
        ("Be brief.", "project"),
        ("High water at six", "project"),
    }
    (tides,) = mine.list(tags=["project p1"], category="memory").memories
    assert tides.text == "Tides by the hour."
