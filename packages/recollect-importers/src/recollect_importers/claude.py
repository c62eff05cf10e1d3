"""Read Claude's exports: conversations, and Claude's memory of a person and their projects."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from recollect.domain.errors import InvalidInput
from recollect.transfer.files import json_type
from recollect.transfer.importers import (
    BadRow,
    Conversation,
    ForeignFormat,
    ForeignItem,
    ForeignNote,
    NotImported,
)
from recollect.transfer.turns import make_turn, session_of, time_of_iso
from recollect_importers.conversations import (
    OTHER_BRANCHES,
    conversation_of,
    export_format,
    text_of,
    title_line,
    with_stable_id,
)
from recollect_importers.fields import (
    checked_objects,
    list_of,
    moment_of,
    object_of,
    objects_of,
    text_value,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.domain.changes import Turn
    from recollect.transfer.importers import ForeignSource

_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_TOOLS = "tool calls and their results"
_LEFT_OUT_KINDS = {"thinking": "thoughts", "tool_use": _TOOLS, "tool_result": _TOOLS}
_ROLES = {"human": ("user", None), "user": ("user", None), "assistant": ("assistant", "Claude")}


def claude_conversation(plain: dict[str, Any], place: str) -> Conversation:
    messages = plain.get("chat_messages")
    if not isinstance(messages, list):
        raise InvalidInput(
            f"It has no list of `chat_messages`, as in Claude's exports; found {json_type(messages)}."
        )
    id_ = text_of(plain.get("uuid"))
    if id_ is None:
        raise InvalidInput("It has no `uuid`, so a second import could not recognise it.")
    session = session_of(f"claude:{id_}")

    branch = _branch(plain, messages)
    left_out: Counter[str] = Counter()
    if others := len(messages) - len(branch):
        left_out[OTHER_BRANCHES] = others

    def turn(number: int, message: dict[str, Any]) -> Turn | None:
        left_out.update(_kinds_left_out(message))
        return _turn(message, session, number)

    title = title_line(plain.get("name"), "(no title)")
    start = time_of_iso(plain.get("created_at"))
    return conversation_of(session, title, place, branch, turn, start=start, left_out=left_out)


def _branch(plain: dict[str, Any], messages: list[Any]) -> list[tuple[int, Any]]:
    """Return the branch with the newest message, numbered; all messages if they form no tree."""
    numbered = list(enumerate(messages, 1))
    by_id = {
        message["uuid"]: (number, message)
        for number, message in numbered
        if isinstance(message, dict) and isinstance(message.get("uuid"), str)
    }
    parents = [message.get("parent_message_uuid") for _, message in by_id.values()]
    if len(by_id) < len(messages) or not all(isinstance(parent, str) for parent in parents):
        return numbered
    # All first messages have one artificial parent. If there are several, messages are missing.
    if len({parent for parent in parents if parent not in by_id}) != 1:
        return numbered
    leaf = plain.get("current_leaf_message_uuid")
    if not isinstance(leaf, str) or leaf not in by_id:
        created = {id_: time_of_iso(message.get("created_at")) for id_, (_, message) in by_id.items()}
        leaf = max(by_id, key=lambda id_: (created[id_] or _LONG_AGO, by_id[id_][0]))
    path: list[tuple[int, Any]] = []
    while leaf in by_id and len(path) <= len(by_id):
        path.append(by_id[leaf])
        leaf = path[-1][1]["parent_message_uuid"]
    return path[::-1] if len(path) <= len(by_id) else numbered  # longer: a cycle


def _turn(message: dict[str, Any], session: str, number: int) -> Turn | None:
    sender = message.get("sender")
    if not isinstance(sender, str) or sender not in _ROLES:
        raise InvalidInput(f"Its `sender` is {str(sender)[:40]!a}; it is human or assistant.")
    blocks = objects_of(message.get("content"))
    shown = [text for block in blocks if (text := _block_text(block))]
    # The message's own `text` repeats the blocks, with placeholders for tools.
    whole = text_of(message.get("text"))
    if not shown and whole and all(block["type"] == "text" for block in blocks):
        shown.append(whole)
    for one in objects_of(message.get("attachments")) + objects_of(message.get("files")):
        # Only the names of attachments: their texts are not part of the conversation.
        name = text_of(one["file_name"])
        shown.append(f"[attachment: {name}]" if name else "[attachment]")
    content = "\n\n".join(shown)
    if not content.strip():
        return None
    role, speaker = _ROLES[sender]
    id_ = text_of(message.get("uuid"))
    source = f"claude:{id_}" if id_ else None
    turn = make_turn(content, role, speaker, time_of_iso(message.get("created_at")), source)
    return turn if id_ else with_stable_id(turn, session, number)


def _kinds_left_out(message: dict[str, Any]) -> Iterator[str]:
    """Yield the kind of each item that the turn leaves out."""
    for block in objects_of(message.get("content")):
        if _block_text(block) is None and (sort := _LEFT_OUT_KINDS.get(str(block.get("type")))):
            yield sort
    for one in objects_of(message.get("attachments")):
        if text_of(one.get("extracted_content")):
            yield "texts extracted from attachments"


def _block_text(block: dict[str, Any]) -> str | None:
    match block:
        case {"type": "text", "text": text}:
            return text_of(text)
        case {"type": "image"}:
            return "[image]"
        case {"type": "tool_use", "name": "artifacts", "input": {"title": given}} if title := text_of(given):
            return f"[artifact: {title}]"
    return None


# Claude's own memory of a person, and their projects: memories.json and projects.json of an export.


_PROJECT_TEXTS = ("description", "prompt_template")


def _recognises(source: ForeignSource) -> bool:
    match source.document:
        case [{"conversations_memory": _}, *_] | {"conversations_memory": _}:
            return True
        case [{"uuid": str(), "name": str(), "prompt_template": _, "docs": _}, *_]:
            return True
        case _:
            return False


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    document = source.document
    for row in checked_objects(document if isinstance(document, list) else [document], "row"):
        if isinstance(row, BadRow):
            yield row
        elif "docs" in row:
            yield from _project(row)
        else:
            texts = {"conversations": row["conversations_memory"], **object_of(row["project_memories"])}
            for key, text in texts.items():
                if text_value(text).strip():
                    tags = () if key == "conversations" else (f"project {key}",)
                    yield ForeignNote(f"memory:{key}", text, category="memory", tags=tags)
            if files := list_of(row["memory_files"]):
                yield NotImported("files of memory", count=len(files))


def _project(row: dict[str, Any]) -> Iterator[ForeignItem]:
    project, name = text_value(row.get("uuid")), text_value(row.get("name"))
    created, updated = moment_of(row.get("created_at")), moment_of(row.get("updated_at"))
    texts = [(part, text_value(row.get(part)), created) for part in _PROJECT_TEXTS]
    for doc in objects_of(row.get("docs")):
        at = moment_of(doc["created_at"]) or created
        texts.append((text_value(doc["filename"]), text_value(doc["content"]), at))
    for part, text, at in texts:
        if text.strip():
            yield ForeignNote(
                key=f"project:{project}:{part}",
                text=text,
                created_at=at,
                updated_at=updated,
                category="project",
                tags=(f"project {project}",),
                metadata={"project": name, "part": part},
            )


FORMAT = export_format("claude", "a Claude export", "chat_messages", list, claude_conversation)
MEMORY_FORMAT = ForeignFormat(
    "claude-memory", "memories.json or projects.json of a Claude export", _recognises, _read
)
