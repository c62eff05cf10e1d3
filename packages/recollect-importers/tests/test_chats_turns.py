"""JSON turns: a line each, in a list, or a conversation to each line."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from chat_reading import conversations, texts, turn_tuples

import recollect_importers.turns as turns_module
from recollect.domain.errors import InvalidInput
from recollect.transfer import recognise
from recollect.transfer.importers import Conversation

if TYPE_CHECKING:
    from pathlib import Path


def lines(*rows: Any) -> str:
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)


def read_chats(folder: Path, *rows: Any, name: str = "talk.jsonl") -> list[Conversation]:
    path = folder / name
    path.write_text(lines(*rows), encoding="utf-8")
    return list(conversations(path))


def test_a_turn_says_what_it_knows(tmp_path: Path) -> None:
    first = {"content": "Hi", "role": "user", "speaker": "Ada", "at": "2024-05-06T12:00:00+02:00"}
    (found,) = read_chats(
        tmp_path,
        {**first, "session": "s"},
        {"text": "Hello", "name": "Bob", "session": "s", "at": 1_714_996_800},
        {"content": "Bye", "session": "s", "at": 1_714_996_800_000, "role": "", "speaker": None},
    )
    ten, noon = (datetime(2024, 5, 6, hour, tzinfo=UTC) for hour in (10, 12))
    assert (found.session, found.title, found.bad) == ("s", "s", ())
    assert [turn[:4] for turn in turn_tuples(found)] == [
        ("Hi", "user", "Ada", ten),
        ("Hello", None, "Bob", noon),
        ("Bye", None, None, noon),  # milliseconds
    ]


def test_turns_without_a_session_go_to_one_named_after_the_file(tmp_path: Path) -> None:
    mixed = read_chats(tmp_path, {"content": "a"}, {"content": "b", "session": 7}, {"content": "c"})
    assert [(one.session, texts(one)) for one in mixed] == [("turns:talk", ["a", "c"]), ("7", ["b"])]


TWO = [{"content": "a"}, {"content": "b"}]
SHAPES = [
    ("talk.jsonl", lines(*TWO).encode("utf-8-sig")),
    ("talk.jsonl", lines(TWO[0], "", TWO[1]).replace("\n", "\r\n").encode()),
    ("talk.jsonl.gz", gzip.compress(lines(*TWO).encode())),
    ("talk.ndjson", lines(*TWO).encode()),
    ("talk.json", json.dumps(TWO).encode()),
    ("talk.json", json.dumps(TWO, indent=2).encode()),
    ("talk.json.gz", gzip.compress(json.dumps(TWO).encode())),
    ("talk", lines(*TWO).encode()),
]


def test_a_file_may_come_in_many_shapes(tmp_path: Path) -> None:
    for name, content in SHAPES:
        path = tmp_path / name
        path.write_bytes(content)
        assert recognise(path) == "turns"
        assert [(one.session, texts(one)) for one in conversations(path)] == [("turns:talk", ["a", "b"])]


def test_a_line_may_hold_a_whole_conversation(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "Be kind"},
        {"role": "user", "content": "Look"},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool", "content": "42"},
        {"role": "assistant", "content": [{"type": "text", "text": "Seen"}, {"type": "image_url"}, "too", 3]},
    ]
    first, second = read_chats(
        tmp_path, {"messages": messages}, {"messages": messages[:2], "session": "mine"}
    )
    assert (first.session, texts(first)) == ("turns:talk#1", ["Look", "Seen\n\n[image]\n\ntoo"])
    assert [turn.role for turn in first.turns] == ["user", "assistant"]
    assert (second.session, texts(second)) == ("mine", ["Look"])
    path = tmp_path / "talk.json"  # over several lines
    path.write_text(json.dumps({"messages": messages[:2]}, indent=1))
    assert [(one.session, texts(one)) for one in conversations(path)] == [("turns:talk#1", ["Look"])]


def test_a_grown_file_gives_its_old_turns_the_same_marks(tmp_path: Path) -> None:
    rows = [{"content": "yes"}, {"content": "yes"}, {"content": "a", "session": "s"}]
    before = read_chats(tmp_path, *rows)
    after = read_chats(tmp_path, *rows[:2], {"content": "new"}, rows[2], {"content": "b", "session": "s"})
    old = [turn.source for one in before for turn in one.turns]
    new = [turn.source for one in after for turn in one.turns]
    assert len(set(new)) == 5
    assert set(old) < set(new)
    assert old[0] is not None
    assert old[0].startswith("turns:talk#1:")
    # A turn that is mended leaves the marks of those after it.
    broken = read_chats(tmp_path, {"content": 1}, {"content": "b"})
    mended = read_chats(tmp_path, {"content": "a"}, {"content": "b"})
    assert broken[0].turns[-1].source == mended[0].turns[-1].source


def test_bad_lines_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    bad: list[Any] = [
        '{"content": "cut', [1], {"role": "user"}, {"content": 7}, {"content": " \u200b"},
        {"content": "x", "at": "noon"}, {"content": "x", "at": True}, {"content": "x", "at": 1e300},
        {"content": "x", "role": 3}, {"content": "x", "session": []}, {"content": None},
    ]  # fmt: skip
    (found,) = read_chats(tmp_path, {"content": "Good"}, *bad, {"content": "Good too"})
    assert texts(found) == ["Good", "Good too"]
    assert [reason.split(":")[0] for reason in found.bad] == [f"talk.jsonl, line {n}" for n in range(2, 13)]
    assert "`at` is 'noon'; it must be an ISO 8601 time" in found.bad[5]
    # A broken first line does not hide the format.
    (found,) = read_chats(tmp_path, "oops", {"content": "a"})
    assert (texts(found), "line 1" in found.bad[0]) == (["a"], True)
    path = tmp_path / "talk.jsonl"
    path.write_bytes(b'{"content": "a"}\n{"content": "\xff"}\n')
    (found,) = conversations(path)
    assert texts(found) == ["a"]
    assert found.bad == ("talk.jsonl, line 2: The line is not UTF-8 text: byte 14 is wrong.",)


def test_bad_messages_of_a_line_and_of_a_list_that_is_cut_short_are_named(tmp_path: Path) -> None:
    (found,) = read_chats(tmp_path, {"messages": [1, {"role": "user", "content": {}}, {"content": "Good"}]})
    assert texts(found) == ["Good"]
    assert found.bad == (
        "talk.jsonl, line 1, message 1: It is a number, where an object was expected.",
        "talk.jsonl, line 1, message 2: `content` is an object, where text was expected.",
    )
    path = tmp_path / "talk.json"
    path.write_text('[{"content": "a"}, 5, {"content": "b"')
    (found,) = conversations(path)
    assert texts(found) == ["a"]
    assert "item 2: It is a number" in found.bad[0]
    assert "is not valid JSON" in found.bad[1]


def test_surrogates_and_nuls_are_mended(tmp_path: Path) -> None:
    (found,) = read_chats(
        tmp_path, '{"content": "a\\ud800b\\u0000c", "speaker": "X\\udc00", "session": "s\\u0000"}'
    )
    assert (found.session, found.turns[0].content, found.turns[0].speaker) == ("s", "a\ufffdbc", "X\ufffd")


def test_a_long_file_is_read_in_batches_that_keep_sessions_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns_module, "BATCH", 4)
    rows = [{"content": str(n), "session": "even" if n % 2 == 0 else "odd"} for n in range(6)]
    found = read_chats(tmp_path, *rows)
    assert [(one.session, texts(one)) for one in found] == [
        ("even", ["0", "2"]),
        ("odd", ["1", "3"]),
        ("even", ["4"]),
        ("odd", ["5"]),
    ]
    sources = [turn.source for one in found for turn in one.turns if one.session == "even"]
    assert [str(source).split(":")[1] for source in sources] == ["even#1", "even#2", "even#3"]


def test_a_folder_of_files_is_read_in_order(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.jsonl").write_text(lines({"content": "b"}))
    (tmp_path / "a.jsonl").write_text(lines({"content": "a"}))
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(b'{"content": "c"}\n' * 50)[:40])
    found = list(conversations(tmp_path))
    assert recognise(tmp_path) == "turns"
    assert [one.session for one in found] == ["turns:a", "turns:c.jsonl.gz", "turns:sub/b"]
    assert "could not be read to its end" in found[1].bad[0]


def test_what_is_none_of_the_formats_says_what_was_looked_for(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    for content in (b"", b"\n\n", b"plain words", b"{}", b'{"a": 1}\n', b"[]", b"\xff\xfe{\0}\0", b"\0"):
        path.write_bytes(content)
        with pytest.raises(InvalidInput, match=r"Known formats|UTF-16|nothing was imported"):
            recognise(path)


def test_a_missing_path_and_an_empty_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"There is no file or folder .*absent"):
        recognise(tmp_path / "absent")
    with pytest.raises(InvalidInput, match="There is no file or folder"):
        list(conversations(tmp_path / "absent", "turns"))
    with pytest.raises(InvalidInput, match="is empty; nothing was imported"):
        recognise(tmp_path)
    with pytest.raises(InvalidInput, match=r"contains no conversations.json"):
        list(conversations(tmp_path, "claude"))
