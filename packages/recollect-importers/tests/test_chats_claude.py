"""Claude's export: messages, their blocks, and what was attached to them."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from chat_reading import conversations, saved, texts, turn_tuples

from recollect.domain.errors import InvalidInput
from recollect.transfer import recognise
from recollect.transfer.importers import Conversation

if TYPE_CHECKING:
    from pathlib import Path

ROOT = "00000000-0000-4000-8000-000000000000"


def turn(id_: str | None, sender: str = "human", *blocks: Any, text: str = "", **more: Any) -> dict[str, Any]:
    message = {"uuid": id_, "sender": sender, "text": text, "created_at": "2024-05-06T12:00:00.5Z"}
    return message | ({"content": list(blocks)} if blocks else {}) | more


def block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def talk(*messages: Any, **more: Any) -> dict[str, Any]:
    known = {"uuid": "c-1", "name": "Tides", "created_at": "2024-05-06T11:00:00Z"}
    return {**known, "chat_messages": list(messages), **more}


def read_chat(folder: Path, *messages: Any, **more: Any) -> Conversation:
    (found,) = conversations(saved(folder, talk(*messages, **more)))
    return found


def test_a_conversation_is_read_with_its_roles_times_and_sources(tmp_path: Path) -> None:
    asked = turn("a", text="When is high tide?")
    path = saved(tmp_path, talk(asked, turn("b", "assistant", block("At six."))))
    (found,) = conversations(path)
    assert recognise(path) == "claude"
    assert (found.session, found.title, found.bad) == ("claude:c-1", "Tides", ())
    at = datetime(2024, 5, 6, 12, 0, 0, 500_000, tzinfo=UTC)
    assert turn_tuples(found) == [
        ("When is high tide?", "user", None, at, "claude:a"),
        ("At six.", "assistant", "Claude", at, "claude:b"),
    ]


def test_only_text_blocks_and_titles_of_artifacts_are_kept(tmp_path: Path) -> None:
    filler = "Let me look.\n```\nThis block is not supported on your current device yet.\n```\nAt six."
    answer = turn(
        "b",
        "assistant",
        {"type": "thinking", "thinking": "Hmm"},
        block("Let me look."),
        {"type": "tool_use", "name": "web_search", "input": {"query": "tides"}},
        {"type": "tool_result", "content": [block("a page")]},
        {"type": "tool_use", "name": "artifacts", "input": {"title": "Tide table", "content": "…"}},
        {"type": "token_budget"},
        block("At six."),
        text=filler,
    )
    assert texts(read_chat(tmp_path, answer)) == ["Let me look.\n\n[artifact: Tide table]\n\nAt six."]
    # A message with only tool blocks is left out, even if its text has a filler.
    tools = turn("b", "assistant", {"type": "tool_use", "name": "x"}, text="This block is not supported")
    assert texts(read_chat(tmp_path, turn("a", text="Go"), tools)) == ["Go"]
    # The text is used if its blocks are empty.
    assert texts(read_chat(tmp_path, turn("a", "human", block(""), text="Go"))) == ["Go"]


def test_attachments_are_mentioned_by_name_and_their_content_is_not_kept(tmp_path: Path) -> None:
    message = turn(
        "a",
        text="Please read",
        attachments=[{"file_name": "log.txt", "extracted_content": "SECRET"}, {"extracted_content": "x"}, 3],
        files=[{"file_name": "boat.png"}],
    )
    assert texts(read_chat(tmp_path, message)) == [
        "Please read\n\n[attachment: log.txt]\n\n[attachment]\n\n[attachment: boat.png]"
    ]


def test_the_newest_branch_of_edited_messages_is_kept(tmp_path: Path) -> None:
    tree = [
        turn("a", text="Draft", parent_message_uuid=ROOT),
        turn("b", "assistant", text="Old answer", parent_message_uuid="a"),
        turn("c", text="Edited", parent_message_uuid=ROOT, created_at="2024-05-06T12:05:00Z"),
        turn("d", "assistant", text="New answer", parent_message_uuid="c", created_at="2024-05-06T12:06:00Z"),
    ]
    assert texts(read_chat(tmp_path, *tree)) == ["Edited", "New answer"]
    assert texts(read_chat(tmp_path, *tree, current_leaf_message_uuid="b")) == ["Draft", "Old answer"]
    # Messages without a tree, with a gap or in a cycle keep their order.
    for first, second in ((None, None), (ROOT, "gone"), ("b", "a")):
        one = turn("a", text="One", parent_message_uuid=first)
        assert texts(read_chat(tmp_path, one, turn("b", text="Two", parent_message_uuid=second))) == [
            "One",
            "Two",
        ]


def test_a_turn_without_a_time_gets_the_time_of_the_turn_before(tmp_path: Path) -> None:
    found = read_chat(
        tmp_path,
        turn("a", text="One", created_at=None),
        turn("b", text="Two", created_at="2024-05-06T12:00:00+02:00"),
        turn("c", text="Three", created_at="yesterday"),
    )
    # The conversation starts at 11:00 UTC; 12:00+02:00 is 10:00 UTC.
    assert [turn.at and turn.at.hour for turn in found.turns] == [11, 10, 10]
    # Without a zone, it is UTC.
    found = read_chat(tmp_path, turn("a", text="One", created_at="2024-05-06T12:00:00"))
    assert found.turns[0].at == datetime(2024, 5, 6, 12, tzinfo=UTC)


def test_old_turns_of_a_longer_conversation_keep_their_sources(tmp_path: Path) -> None:
    start = [turn("a", text="One"), turn(None, "assistant", text="Two")]
    before = read_chat(tmp_path, *start)
    after = read_chat(tmp_path, *start, turn("c", text="Three"), name="Renamed")
    assert (after.session, after.turns[:2]) == (before.session, before.turns)
    assert len({turn.source for turn in after.turns}) == 3


def test_bad_messages_and_conversations_are_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    found = read_chat(tmp_path, "text", turn("b", "martian", text="Beep"), turn("c", text="Good"))
    assert texts(found) == ["Good"]
    place = "conversations.json, conversation 1, 'Tides', message"
    assert found.bad == (
        f"{place} 1: It is a text, where an object was expected.",
        f"{place} 2: Its `sender` is 'martian'; it is human or assistant.",
    )
    good = talk(turn("a", text="Good"), name="")
    rows = saved(tmp_path, {"chat_messages": 1}, good | {"uuid": None}, good)
    bad, nameless, kept = conversations(rows, "claude")
    assert "has no list of `chat_messages`" in bad.bad[0]
    assert "has no `uuid`" in nameless.bad[0]
    assert (texts(kept), kept.title) == (["Good"], "(no title)")


def test_several_zips_in_a_folder_are_one_import(tmp_path: Path) -> None:
    for number in (0, 1):
        with zipfile.ZipFile(tmp_path / f"data-batch-000{number}.zip", "w") as archive:
            one = talk(turn("a", text="Hi"), uuid=f"c-{number}")
            archive.writestr("conversations.json", json.dumps([one]))
            archive.writestr("users.json", "[]")
    assert recognise(tmp_path) == "claude"
    assert [one.session for one in conversations(tmp_path)] == ["claude:c-0", "claude:c-1"]


def test_a_folder_with_exports_of_two_programs_is_refused(tmp_path: Path) -> None:
    saved(tmp_path, talk(turn("a", text="Hi")))
    (tmp_path / "conversations-000.json").write_text('[{"mapping": {}}]')
    with pytest.raises(InvalidInput, match="several programs: chatgpt, claude"):
        recognise(tmp_path)


def test_a_wrong_format_is_refused_with_a_list_of_formats(tmp_path: Path) -> None:
    path = saved(tmp_path, talk(turn("a", text="Hi")))
    with pytest.raises(InvalidInput, match=r"read as chatgpt.*It has no `mapping`.*recollect import --help"):
        list(conversations(path, "chatgpt"))
    with pytest.raises(InvalidInput, match="No format named 'gemini'; there are: basic-memory"):
        recognise(path, "gemini")
