"""ChatGPT's export: the branch that the user ended on, and what was shown on it."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from chat_reading import conversations, read_chats, saved, texts, turn_tuples

import recollect_importers.conversations as archives_module
from recollect.domain.errors import InvalidInput
from recollect.domain.limits import TEXT_LIMIT
from recollect.transfer import recognise
from recollect_importers.conversations import json_values

if TYPE_CHECKING:
    from pathlib import Path

NOON = 1_714_996_800.0  # 2024-05-06 12:00 UTC


def node(
    id_: str, parent: str | None, role: str = "user", content: Any = "Hello", **more: Any
) -> dict[str, dict[str, Any]]:
    """One node of the tree; `content` is a text, or the value that the file has."""
    plain = {"content_type": "text", "parts": [content]} if isinstance(content, str) else content
    author = {"role": role, "name": None}
    message = {"id": f"m-{id_}", "author": author, "create_time": NOON, "content": plain}
    return {id_: {"id": id_, "parent": parent, "children": [], "message": message | more}}


def talk(*nodes: dict[str, dict[str, Any]], current: str | None = None, **more: Any) -> dict[str, Any]:
    mapping: dict[str, Any] = {"root": {"id": "root", "parent": None, "children": [], "message": None}}
    for one in nodes:
        mapping |= one
    last = current or list(mapping)[-1]
    known = {"id": "c-1", "title": "Tides", "create_time": NOON, "mapping": mapping, "current_node": last}
    return known | more


ONE = talk(node("a", "root"))


def test_a_conversation_is_read_with_its_roles_times_and_marks(tmp_path: Path) -> None:
    asked = node("a", "root", content="When is high tide?")
    path = saved(tmp_path, talk(asked, node("b", "a", "assistant", "At six.")))
    (found,) = conversations(path)
    assert recognise(path) == "chatgpt"
    assert (found.session, found.title, found.bad) == ("chatgpt:c-1", "Tides", ())
    noon = datetime(2024, 5, 6, 12, tzinfo=UTC)
    assert turn_tuples(found) == [
        ("When is high tide?", "user", None, noon, "chatgpt:m-a"),
        ("At six.", "assistant", "ChatGPT", noon, "chatgpt:m-b"),
    ]


def test_of_several_branches_the_one_is_followed_on_which_the_user_ended(tmp_path: Path) -> None:
    draft, first = node("a", "root", content="Draft"), node("b1", "a", "assistant", "First answer")
    second, after = node("b2", "a", "assistant", "Second answer"), node("c1", "b1", content="After")
    for current, branch in (("b2", ["Draft", "Second answer"]), ("c1", ["Draft", "First answer", "After"])):
        (found,) = read_chats(tmp_path, talk(draft, first, second, after, current=current))
        assert texts(found) == branch
    # Without an end, it is the newest leaf.
    newer = node("new", "a", "assistant", "Newer", create_time=NOON + 9)
    for unknown in (None, "gone", 7, ["a"]):
        tree = talk(draft, newer, node("old", "a", "assistant", "Older"))
        (found,) = read_chats(tmp_path, tree | {"current_node": unknown})
        assert texts(found) == ["Draft", "Newer"]


HIDDEN = [
    node("x", "a", "system", "You are helpful"),
    node("x", "a", "tool", "stdout"),
    node("x", "a", metadata={"is_visually_hidden_from_conversation": True}),
    node("x", "a", "assistant", "search('tides')", recipient="web"),
    node("x", "a", "assistant", {"content_type": "code", "text": "search('tides')"}, recipient="browser"),
    node("x", "a", "assistant", {"content_type": "thoughts", "thoughts": [{"content": "Hmm"}]}),
    node("x", "a", "assistant", {"content_type": "reasoning_recap", "content": "Thought for 3s"}),
    node("x", "a", content={"content_type": "user_editable_context", "user_profile": "I sail"}),
    node("x", "a", content=" \n"),
    node("x", "a", content={"content_type": "text", "parts": []}),
    node("x", "a", content={"content_type": "text"}),
    {"x": {"id": "x", "parent": "a", "message": None}},
]
PARTS = [
    {"content_type": "image_asset_pointer", "asset_pointer": "file-service://1"},
    "What bird is this?",
    {"content_type": "audio_transcription", "text": "It sings at dawn"},
    {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://2"},
    {"content_type": "real_time_user_audio_video_asset_pointer"},
]
FILES = [
    {"name": "chart.pdf", "mime_type": "application/pdf"}, {"name": "a.png", "mime_type": "image/png"}, 3,
]  # fmt: skip
REFERENCES = (
    "High at six. \ue200cite\ue202turn0search1\ue202turn0search2\ue201 In "
    '\ue200entity\ue202["city","Vigo","Spain"]\ue201, see '
    "\ue200url\ue202the table\ue202turn0search1\ue201."
    "\ue200entity\ue202broken\ue201\ue203"
)
CODE = {"content_type": "code", "language": "unknown", "text": "print(1)"}
SHOWN: dict[str, dict[str, Any]] = {
    # Speech is kept as its transcription.
    "[image]\n\nWhat bird is this?\n\nIt sings at dawn": {
        "content": {"content_type": "multimodal_text", "parts": PARTS}
    },
    "See\n\n[attachment: chart.pdf]": {"content": "See", "metadata": {"attachments": FILES}},
    "```\nprint(1)\n```": {"role": "assistant", "content": CODE, "recipient": "python"},
    # The words that a reference showed stay.
    "High at six.  In Vigo, see the table.": {"role": "assistant", "content": REFERENCES},
    "a\ufffdbc": {"content": "a\ud800b\0c"},
}


def test_what_the_user_was_shown_is_kept_and_nothing_else(tmp_path: Path) -> None:
    for hidden in HIDDEN:
        before, after = node("a", "root", content="Before"), node("z", "x", content="After")
        (found,) = read_chats(tmp_path, talk(before, hidden, after))
        assert (texts(found), found.bad) == (["Before", "After"], ()), hidden
    for text, given in SHOWN.items():
        (found,) = read_chats(tmp_path, talk(node("a", "root", **given), title="T\udfff"))
        assert (texts(found), found.title) == ([text], "T\ufffd")


def test_a_turn_without_a_time_takes_that_of_the_turn_before(tmp_path: Path) -> None:
    # start 12:00, the second at 12:05; null, NaN and text are no times
    wrong = [None, float("nan"), "noon", True, 1e300]
    nodes = [node("n0", "root", create_time=None), node("n1", "n0", create_time=NOON + 300)]
    nodes += [node(f"n{n + 2}", f"n{n + 1}", create_time=given) for n, given in enumerate(wrong)]
    (found,) = read_chats(tmp_path, talk(*nodes))
    assert [turn.at and turn.at.minute for turn in found.turns] == [0, 5, 5, 5, 5, 5, 5]
    (found,) = read_chats(tmp_path, talk(node("a", "root", create_time=None), create_time=None))
    assert [turn.at for turn in found.turns] == [None]


def test_a_grown_conversation_gives_its_old_turns_the_same_marks(tmp_path: Path) -> None:
    start = (node("a", "root"), node("b", "a", "assistant", "Hi"))
    (before,) = read_chats(tmp_path, talk(*start))
    (after,) = read_chats(tmp_path, talk(*start, node("c", "b", content="More"), title="Renamed"))
    assert (after.session, after.turns[:2]) == (before.session, before.turns)
    assert after.turns[2].source == "chatgpt:m-c"
    # Without an id, it is known by its title and start.
    one, same, other = read_chats(
        tmp_path, ONE | {"id": None}, talk(*start, id=None), ONE | {"id": 0, "title": "O"}
    )
    assert one.session == same.session != other.session


def test_bad_messages_and_conversations_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    tree = talk(
        node("a", "root", content="Good"),
        node("b", "a", content=["no", "object"]),
        {"c": {"id": "c", "parent": "b", "message": "text"}},
        node("d", "c", content="x" * (TEXT_LIMIT + 1)),
        node("e", "d", author=None),
        node("f", "e", content="Good too"),
    )
    found, first, second, good = read_chats(tmp_path, tree, 7, {"mapping": "none"}, ONE)
    place = "conversations.json, conversation"
    assert texts(found) == ["Good", "Good too"]
    named = [f"{place} 1, 'Tides', message '{id_}'" for id_ in "bcde"]
    assert [reason.split(":")[0] for reason in found.bad] == named
    assert first.bad == (f"{place} 2: It is a number, where an object was expected.",)
    assert "conversation 3: It has no `mapping`" in second.bad[0]
    assert (first.turns, second.turns, texts(good)) == ((), (), ["Hello"])


def test_a_broken_path_is_named_and_what_follows_it_is_read(tmp_path: Path) -> None:
    gone, circle = read_chats(
        tmp_path,
        talk(node("b", "gone", content="Later"), id="c-1"),
        talk(node("a", "b", content="One"), node("b", "a", content="Two"), id="c-2"),
    )
    assert texts(gone) == ["Later"]
    assert "'gone': The message is not in the export" in gone.bad[0]
    assert texts(circle) == ["One", "Two"]
    assert "its own ancestor" in circle.bad[0]


def test_conversations_in_which_nothing_was_said_are_passed_over(tmp_path: Path) -> None:
    assert (
        read_chats(tmp_path, talk(node("a", "root", "system", {"content_type": "text", "parts": [""]}))) == []
    )
    (silent,) = read_chats(tmp_path, talk(node("a", "root", "system")))
    assert (silent.turns, silent.bad) == ((), ())


def test_an_export_in_several_files_is_read_in_their_order(tmp_path: Path) -> None:
    for number in (10, 0, 9):
        saved(tmp_path, ONE | {"id": f"c-{number}"}, name=f"conversations-{number}.json")
    (tmp_path / "user.json").write_text("{}")
    assert recognise(tmp_path) == "chatgpt"
    assert [one.session for one in conversations(tmp_path)] == ["chatgpt:c-0", "chatgpt:c-9", "chatgpt:c-10"]


def test_zips_are_read_alone_and_several_in_a_folder(tmp_path: Path) -> None:
    for number in (1, 2):
        with zipfile.ZipFile(tmp_path / f"export-{number}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for part in (0, 1):
                one = json.dumps([ONE | {"id": f"c-{number}-{part}"}])
                archive.writestr(f"inner/conversations-00{part}.json", one)
            archive.writestr("inner/user.json", "{}")
            archive.writestr("__MACOSX/inner/conversations-000.json", b"\0\0")
            archive.writestr("../shared_conversations.json", "[]")
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as archive:
        archive.writestr("a.txt", "a")

    alone = [one.session for one in conversations(tmp_path / "export-1.zip")]
    together = [one.session for one in conversations(tmp_path)]

    assert (recognise(tmp_path / "export-1.zip"), recognise(tmp_path)) == ("chatgpt", "chatgpt")
    assert alone == ["chatgpt:c-1-0", "chatgpt:c-1-1"]
    assert together == [*alone, "chatgpt:c-2-0", "chatgpt:c-2-1"]
    assert len(list(tmp_path.iterdir())) == 3


def test_a_zip_of_something_else_a_large_a_damaged_and_a_locked_one_are_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, large, damaged, locked = (tmp_path / f"{name}.zip" for name in ("other", "large", "bad", "locked"))
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("notes.txt", "a")
    with zipfile.ZipFile(damaged, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([talk(node("a", "root", content="x" * 99_999))]))
    content = damaged.read_bytes()
    large.write_bytes(content)
    damaged.write_bytes(content[:60] + bytes(40) + content[100:])
    # Bit 0 of the flags, at 8 in the entry of the directory, says that a member is locked.
    entry = content.index(b"PK\x01\x02")
    locked.write_bytes(content[: entry + 8] + b"\x01" + content[entry + 9 :])

    with pytest.raises(InvalidInput, match="a zip without a known export"):
        recognise(other)
    with pytest.raises(InvalidInput, match="could not be read"):
        list(conversations(damaged, "chatgpt"))
    with pytest.raises(InvalidInput, match="password"):
        recognise(locked)
    monkeypatch.setattr(archives_module, "SIZE_LIMIT", 4_000)
    with pytest.raises(InvalidInput, match=r"GB of conversations.*unpack it"):
        recognise(large)


UNREADABLE = [
    (b'[{"mapping": 0}, \xff]', "It has no `mapping`"),
    (b"[\xff]", "byte 2 is wrong"),
    (b"[1, 2]", "is a number"),
    (b'"text"', "is a text"),
    (b"[" * 100_000, "is not valid JSON"),
    (b"[" + b"1" * 5_000 + b"]", "is not valid JSON"),
    (b"<html>", "a value cannot start with '<'"),
    (b"[{} {}]", "It has no `mapping`"),
    (b"[{}] x", "It has no `mapping`"),
    (b"[{},", "It has no `mapping`"),
]


def test_a_file_of_which_nothing_can_be_read_says_why(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    for content, reason in UNREADABLE:
        path.write_bytes(content)
        with pytest.raises(InvalidInput, match="Known formats"):
            recognise(path)
        with pytest.raises(InvalidInput, match=reason):
            list(conversations(path, "chatgpt"))
    path.write_bytes("[]".encode("utf-16"))
    with pytest.raises(InvalidInput, match="UTF-16"):
        recognise(path)
    path.write_bytes(b'[{"mapping": {\xff')
    with pytest.raises(InvalidInput, match=r"byte 15 is wrong.*Known formats"):
        recognise(path)


def test_an_error_in_a_list_names_its_place_and_conversations_before_it_are_read(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    wrong = {
        b"[@ {}]": "there is '{' where ',' was expected",
        b"[@,": "the file ends too early",
        b"[@": "the file ends too early",
        b"[@] x": "something follows the list",
        b'[@, {"mapping": {}': "is not valid JSON at character",
        b'[@, "\xff"]': "is wrong",
    }
    one = json.dumps(ONE).encode()
    for content, reason in wrong.items():
        path.write_bytes(content.replace(b"@", one))
        good, rest = conversations(path)
        assert texts(good) == ["Hello"]
        assert reason in rest.bad[0]
        assert "Conversations before the error that were read: 1." in rest.bad[0]
    assert f"byte {len(one) + 5:,} is wrong" in rest.bad[0]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_byte_order_mark_and_a_wrapping_object_do_no_harm(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(mark + json.dumps({"conversations": [ONE]}, indent=2), encoding="utf-8")
    assert [one.session for one in conversations(path)] == ["chatgpt:c-1"]


def test_a_long_list_is_read_one_conversation_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    one = json.dumps(talk(node("a", "root", content="ä" * 50_000)), ensure_ascii=False)
    path.write_text("[" + ", ".join([one] * 40) + "]", encoding="utf-8")
    found = conversations(path)
    assert texts(next(found)) == ["ä" * 50_000]
    path.write_bytes(b"")  # the rest is not in memory
    assert len(list(found)) < 39


def test_a_value_without_an_end_is_given_up_and_a_comma_before_the_end_is_refused() -> None:
    endless = io.BytesIO(b'[{"a": "' + b"x" * 300_000)
    limit = r"export is not valid JSON at character 2: .* within 70,000 characters"
    with pytest.raises(InvalidInput, match=limit):
        list(json_values(endless, "export", limit=70_000))
    assert endless.tell() < 300_000
    with pytest.raises(InvalidInput, match="character 4: a value cannot start with ']'"):
        list(json_values(io.BytesIO(b"[1,]"), "export"))
