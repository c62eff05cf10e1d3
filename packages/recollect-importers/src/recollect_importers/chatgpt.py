"""Read ChatGPT exports: a conversation is a tree of messages, of which the current branch is imported."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from recollect.domain.errors import InvalidInput
from recollect.transfer.files import json_type
from recollect.transfer.importers import Conversation
from recollect.transfer.turns import make_turn, object_at, session_of, time_of_seconds
from recollect_importers.conversations import (
    OTHER_BRANCHES,
    conversation_of,
    export_format,
    text_of,
    title_line,
)
from recollect_importers.fields import object_of, objects_of

if TYPE_CHECKING:
    from recollect.domain.changes import Turn

_SPEAKERS = {"user": None, "assistant": "ChatGPT"}
# Content types that ChatGPT does not show: thoughts, context, tool output and system errors.
_HIDDEN_TYPE_NAMES = """
computer_output execution_output model_editable_context reasoning_recap system_error tether_browsing_code
tether_browsing_display thoughts user_editable_context
"""
_HIDDEN_TYPES = frozenset(_HIDDEN_TYPE_NAMES.split())
# A reference in the text, between private-use characters: its kind, then its target.
_REFERENCE = re.compile("\ue200([^\ue200-\ue202]*)(?:\ue202([^\ue200\ue201]*))?\ue201")
_STRAY_MARKS = re.compile("[\ue200-\ue206]")


def chatgpt_conversation(plain: dict[str, Any], place: str) -> Conversation:
    mapping = plain.get("mapping")
    if not isinstance(mapping, dict):
        raise InvalidInput(f"It has no `mapping` object, unlike ChatGPT exports; found {json_type(mapping)}.")
    title = title_line(plain.get("title"), "(no title)")
    id_ = text_of(plain.get("conversation_id")) or text_of(plain.get("id"))
    if id_ is None:
        identity = f"{title}\n{plain.get('create_time')}"
        id_ = hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()[:16]
    bad: list[str] = []
    branch = [(key, mapping[key]) for key in _branch(plain, mapping, bad)]
    left_out: Counter[str] = Counter()
    if others := sum(map(_is_spoken_message, mapping.values())) - sum(
        _is_spoken_message(node) for _, node in branch
    ):
        left_out[OTHER_BRANCHES] = others

    session, start = session_of(f"chatgpt:{id_}"), time_of_seconds(plain.get("create_time"))
    turn = partial(_turn, left_out=left_out)
    return conversation_of(session, title, place, branch, turn, start=start, bad=bad, left_out=left_out)


def _is_spoken_message(node: object) -> bool:
    match node:
        case {"message": {"author": {"role": str(role)}}}:
            return role in _SPEAKERS
    return False


def _branch(plain: dict[str, Any], mapping: dict[str, Any], bad: list[str]) -> list[str]:
    """Return the path from the root to the current node, or to the newest leaf if the export names none."""
    key: object = plain.get("current_node")
    if not isinstance(key, str) or key not in mapping:
        parents = {_parent(node) for node in mapping.values()}
        leaves = [key for key in mapping if key not in parents] or list(mapping)

        def created_at(key: str) -> float:
            match mapping[key]:
                case {"message": {"create_time": seconds}} if at := time_of_seconds(seconds):
                    return at.timestamp()
            return float("-inf")

        # Among leaves with the same time, take the last: exports append messages.
        key = max(reversed(leaves), key=created_at, default=None)
    path: dict[str, None] = {}
    while isinstance(key, str):
        if key in path:
            bad.append(f"message {key!a}: The message is its own ancestor; earlier messages were not read.")
            break
        if key not in mapping:
            bad.append(
                f"message {key!a}: The message is not in the export, and neither are earlier messages."
            )
            break
        path[key] = None
        key = _parent(mapping[key])
    return list(reversed(path))


def _parent(node: object) -> str | None:
    match node:
        case {"parent": str(parent)}:
            return parent
    return None


def _turn(key: str, node: dict[str, Any], left_out: Counter[str]) -> Turn | None:
    """Return the turn of a message; None if the user did not see it."""
    if node.get("message") is None:
        return None
    message = object_at(node["message"], "`message`")
    author = object_at(message.get("author"), "`author`")
    role = author.get("role")
    if not isinstance(role, str) or role not in _SPEAKERS:
        left_out["system and tool messages"] += _has_content(message)
        return None
    content = _visible_text(message)
    if not content.strip():
        left_out["hidden messages, thoughts and tool calls"] += _has_content(message)
        return None
    id_ = text_of(message.get("id")) or key
    speaker = text_of(author.get("name")) or _SPEAKERS[role]
    return make_turn(content, role, speaker, time_of_seconds(message.get("create_time")), f"chatgpt:{id_}")


def _has_content(message: dict[str, Any]) -> bool:
    match message.get("content"):
        case {"content_type": _, **content}:
            return any(
                value not in (None, "", [], [""]) for key, value in content.items() if key != "language"
            )
    return False


def _visible_text(message: dict[str, Any]) -> str:
    """Return the visible text of a message; empty if it is hidden, for a tool, or of a hidden type."""
    details = object_of(message.get("metadata"))
    if details.get("is_visually_hidden_from_conversation") is True or message.get("content") is None:
        return ""
    content = object_at(message["content"], "`content`")
    kind = content.get("content_type")
    # Users see the code sent to the Python tool, but no other tool calls.
    readers = {"all", "python"} if kind == "code" else {"all"}
    recipient = message.get("recipient")
    is_for_tool = isinstance(recipient, str) and recipient and recipient not in readers
    if is_for_tool or (isinstance(kind, str) and kind in _HIDDEN_TYPES):
        return ""
    parts = content.get("parts")
    text = text_of(content.get("text")) or ""
    if isinstance(parts, list):
        text = "\n\n".join(filter(None, map(_part, parts)))
    if kind == "code" and (code := text_of(content.get("text"))) is not None:
        language = content.get("language")
        known = isinstance(language, str) and language.isalnum() and language != "unknown"
        text = f"```{language if known else ''}\n{code}\n```"
    shown = _STRAY_MARKS.sub("", _REFERENCE.sub(_reference_text, text)).strip()
    # Images are skipped here: they are already among the parts.
    files = [each for each in objects_of(details.get("attachments")) if text_of(each["name"])]
    named = [text_of(each["name"]) for each in files if not str(each["mime_type"]).startswith("image/")]
    return "\n\n".join(filter(None, [shown, *(f"[attachment: {name}]" for name in named)]))


def _part(part: object) -> str:
    match part:
        case str():
            return part if part.strip() else ""
        case {"content_type": "image_asset_pointer"}:
            return "[image]"
        case {"content_type": "audio_asset_pointer" | "video_container_asset_pointer"}:
            return ""  # the transcription is a separate part
        case {"text": text}:
            return text_of(text) or ""
    return ""


def _reference_text(found: re.Match[str]) -> str:
    """Return the displayed text of a reference: a name, or a link's title. A citation has none."""
    target = found[2] or ""
    if found[1] == "url":
        return target.split("\ue202")[0]
    if found[1] == "entity":
        with suppress(ValueError, RecursionError):
            match json.loads(target):
                case [_, str(name), *_]:
                    return name
    return ""


FORMAT = export_format("chatgpt", "a ChatGPT export", "mapping", dict, chatgpt_conversation)
