"""Parts of an export that cannot be imported are counted in the report."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import test_chats_claude as claude
from chat_reading import saved
from test_chats_chatgpt import node, talk

from recollect.transfer import ForeignReport, preview_path


def unplaced(path: Path) -> dict[str, int]:
    report = preview_path(path)
    assert isinstance(report, ForeignReport)
    assert (report.messages, report.bad_count) == (1, 0)
    return {each.what: each.count for each in report.no_place}


def test_of_chatgpt(tmp_path: Path) -> None:
    tree = talk(
        node("nothing", "root", "system", ""),
        node("system", "nothing", "system", "Be kind"),
        node("asked", "system"),
        node("other", "asked", "assistant", "Another answer"),
        node("tool", "asked", "tool", {"content_type": "execution_output", "text": "7"}),
        node("thought", "tool", "assistant", {"content_type": "thoughts", "thoughts": [{"content": "Hm"}]}),
    )
    assert unplaced(saved(tmp_path, tree)) == {
        "hidden messages, thoughts and tool calls": 1,
        "messages of other branches": 1,
        "system and tool messages": 2,
    }


def test_of_claude(tmp_path: Path) -> None:
    blocks = [
        {"type": "thinking", "thinking": "Hm"},
        {"type": "tool_use", "name": "web_search", "input": {}},
        {"type": "tool_result", "content": []},
        claude.block("At six."),
    ]
    root = {"parent_message_uuid": "root"}
    paper = {"file_name": "tides.pdf", "extracted_content": "High water"}
    other = claude.turn("a", "assistant", text="Another answer", created_at="2024-01-01T00:00:00Z", **root)
    answer = claude.turn("b", "assistant", *blocks, attachments=[paper], **root)
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps([claude.talk(other, answer)]))
        archive.writestr("memories.json", json.dumps([{"conversations_memory": "Ana sails."}]))
        archive.writestr("users.json", "[]")
    assert unplaced(tmp_path / "export.zip") == {
        "tool calls and their results": 2,
        "messages of other branches": 1,
        "texts extracted from attachments": 1,
        "thoughts": 1,
        "Claude's memory and projects; unpack the zip, then import each separately": 1,
        "other files of the export": 1,
    }


def test_of_turns_and_markdown_in_a_folder(tmp_path: Path) -> None:
    talks, vault = tmp_path / "talks", tmp_path / "vault"
    for folder in (talks, vault):
        folder.mkdir()
        (folder / "photo.png").write_bytes(b"")
    messages = [{"role": "system", "content": "Be kind"}, {"role": "user", "content": "Hello"}]
    (talks / "talk.jsonl").write_text(json.dumps({"messages": messages}))
    (talks / "odd.json").write_text('{"some": "thing"}')
    unsaid = "system and tool messages, and tool calls"
    assert unplaced(talks) == {unsaid: 1, "other files of the folder": 2}
    (vault / "talk.md").write_text("## System\n\nBe kind\n\n## User\n\nHello\n\n## Assistant\n")
    assert unplaced(vault) == {"system prompts": 1, "other files of the folder": 1}
