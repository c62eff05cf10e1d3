"""What of an export nobody said, or what has no place here, is counted in the report."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from recollect.transfer import ForeignReport, preview_path


def unplaced(path: Path) -> dict[str, int]:
    report = preview_path(path)
    assert isinstance(report, ForeignReport)
    assert (report.messages, report.bad_count) == (1, 0)
    return {each.what: each.count for each in report.no_place}


def saved(file: Path, content: Any) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(content), "utf-8")
    return file


def node(id_: str, parent: str | None, role: str, content: dict[str, Any]) -> dict[str, Any]:
    message = {"id": id_, "author": {"role": role}, "content": content}
    return {id_: {"id": id_, "parent": parent, "children": [], "message": message}}


def spoken(text: str) -> dict[str, Any]:
    return {"content_type": "text", "parts": [text]}


def test_of_chatgpt(tmp_path: Path) -> None:
    mapping = {
        **node("nothing", None, "system", spoken("")),
        **node("system", "nothing", "system", spoken("Be kind")),
        **node("asked", "system", "user", spoken("Hello")),
        **node("other", "asked", "assistant", spoken("Another answer")),
        **node("tool", "asked", "tool", {"content_type": "execution_output", "text": "7"}),
        **node("thought", "tool", "assistant", {"content_type": "thoughts", "thoughts": [{"content": "Hm"}]}),
    }
    talk = {"id": "c", "title": "Tides", "mapping": mapping, "current_node": "thought"}
    assert unplaced(saved(tmp_path / "conversations.json", [talk])) == {
        "hidden messages, thoughts and tool calls": 1,
        "messages of other branches": 1,
        "system and tool messages": 2,
    }


def test_of_claude(tmp_path: Path) -> None:
    blocks = [
        {"type": "thinking", "thinking": "Hm"},
        {"type": "tool_use", "name": "web_search", "input": {}},
        {"type": "tool_result", "content": []},
        {"type": "text", "text": "At six."},
    ]
    said = {"sender": "assistant", "parent_message_uuid": "root", "created_at": "2026-01-02T00:00:00Z"}
    paper = {"file_name": "tides.pdf", "extracted_content": "High water"}
    messages = [
        {**said, "uuid": "a", "text": "Another answer", "created_at": "2026-01-01T00:00:00Z"},
        {**said, "uuid": "b", "content": blocks, "attachments": [paper]},
    ]
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        talk = {"uuid": "c", "name": "Tides", "chat_messages": messages}
        archive.writestr("conversations.json", json.dumps([talk]))
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
    messages = [{"role": "system", "content": "Be kind"}, {"role": "user", "content": "Hello"}]
    saved(tmp_path / "talks" / "talk.jsonl", {"messages": messages})
    (tmp_path / "talks" / "photo.png").write_bytes(b"")
    saved(tmp_path / "talks" / "odd.json", {"some": "thing"})
    assert unplaced(tmp_path / "talks") == {
        "system and tool messages, and tool calls": 1,
        "other files of the folder": 2,
    }
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "talk.md").write_text("## System\n\nBe kind\n\n## User\n\nHello\n\n## Assistant\n")
    (tmp_path / "vault" / "photo.png").write_bytes(b"")
    assert unplaced(tmp_path / "vault") == {"system prompts": 1, "other files of the folder": 1}
