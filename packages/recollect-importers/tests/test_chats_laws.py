"""Laws of reading talks: whatever a file holds, it is read, named as bad, or refused with a reason."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from chat_reading import FORMATS, conversations
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.errors import InvalidInput
from recollect.domain.limits import clean_text
from recollect.transfer.importers import Conversation

KEYS = (
    "mapping", "current_node", "message", "author", "role", "content", "content_type", "parts", "parent",
    "id", "metadata", "create_time", "title", "text", "recipient", "attachments", "chat_messages", "uuid",
    "sender", "created_at", "parent_message_uuid", "name", "files", "type", "messages", "session", "speaker",
    "at", "input", "conversations",
)  # fmt: skip
WORDS = (
    "user", "assistant", "human", "text", "code", "a", "b", "multimodal_text", "2024-05-06", "all",
    "\ud800\0",
)  # fmt: skip
plain_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(WORDS)
    | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS + WORDS) | st.text(max_size=3), inner, max_size=6)
    ),
    max_leaves=30,
)


def nodes() -> st.SearchStrategy[dict[str, Any]]:
    """Mostly right, so that the deeper steps are reached."""
    ids = st.sampled_from(["a", "b", "c"])
    content = st.fixed_dictionaries(
        {"content_type": st.sampled_from(WORDS) | plain_values, "parts": st.lists(plain_values, max_size=3)},
        optional={"text": plain_values, "language": plain_values},
    )
    message = st.fixed_dictionaries(
        {
            "author": st.fixed_dictionaries({"role": st.sampled_from(WORDS), "name": plain_values}),
            "content": content,
        },
        optional={
            "id": plain_values,
            "create_time": plain_values,
            "metadata": plain_values,
            "recipient": plain_values,
        },
    )
    node = st.fixed_dictionaries({"parent": ids | plain_values, "message": message | plain_values})
    return st.fixed_dictionaries(
        {"mapping": st.dictionaries(ids, node, max_size=3), "current_node": ids | plain_values},
        optional={"id": plain_values, "title": plain_values, "create_time": plain_values},
    )


def messages() -> st.SearchStrategy[dict[str, Any]]:
    block = st.fixed_dictionaries({"type": st.sampled_from(WORDS), "text": plain_values}) | plain_values
    message = st.fixed_dictionaries(
        {"sender": st.sampled_from(WORDS)},
        optional={
            "uuid": st.sampled_from(["a", "b"]) | plain_values,
            "parent_message_uuid": st.sampled_from(["a", "b", "root"]) | plain_values,
            "content": st.lists(block, max_size=3) | plain_values,
            "text": plain_values,
            "created_at": plain_values,
            "attachments": plain_values,
        },
    )
    return st.fixed_dictionaries(
        {"uuid": st.text(min_size=1), "chat_messages": st.lists(message | plain_values, max_size=4)}
    )


def outcome(content: bytes, name: str, format_: str | None) -> list[Conversation] | InvalidInput:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            return list(conversations(path, format_))
        except InvalidInput as error:
            return error


def holds(found: list[Conversation] | InvalidInput) -> None:
    """Every turn can be stored, has a mark, and its time has a zone."""
    if isinstance(found, InvalidInput):
        assert str(found).endswith((".", "--help"))
        return
    for one in found:
        assert one.turns or one.bad or one.left_out
        assert one.session.strip()
        for turn in one.turns:
            assert clean_text(turn.content) == turn.content
            assert turn.source
            assert turn.at is None or turn.at.utcoffset() is not None


@given(plain=plain_values | st.lists(nodes(), max_size=3) | st.lists(messages(), max_size=3))
def test_any_json_in_place_of_an_export_is_read_or_refused(plain: Any) -> None:
    content = json.dumps(plain).encode()
    for format_ in (None, *FORMATS):
        found = outcome(content, "conversations.json", format_)
        holds(found)
        assert type(outcome(content, "conversations.json", format_)) is type(found)


@given(rows=st.lists(plain_values, max_size=6))
def test_any_json_on_the_lines_of_a_turns_file_is_read_or_refused(rows: list[Any]) -> None:
    holds(outcome("".join(json.dumps(row) + "\n" for row in rows).encode(), "talk.jsonl", "turns"))


@given(
    content=st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace"))
)
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    for name in ("a.json", "a.jsonl", "a.md", "a.zip", "a"):
        for format_ in (None, *FORMATS):
            holds(outcome(content, name, format_))


pieces = st.lists(
    st.sampled_from(
        ["# ", "## User", "Ada: ", "Bob: ", "**User:** ", "**Claude** ", "> ", "```", "---", "===",
         "2024-05-06", "[10:30] ", "word ", "\n", "\n\n", "\r\n", "\0", ": ", "99:99", "- ", "Note: "]
    )
    | st.text(max_size=4),
    max_size=40,
)  # fmt: skip


@given(text=pieces.map("".join))
def test_markdown_read_twice_gives_the_same_marks_each_once(text: str) -> None:
    content = text.encode("utf-8", "replace")
    first, again = (outcome(content, "a.md", "markdown") for _ in range(2))
    holds(first)
    if not isinstance(first, InvalidInput):
        assert first == again
        sources = [turn.source for one in first for turn in one.turns]
        assert len(set(sources)) == len(sources)
