"""A conversation of a ChatGPT export: a tree of messages, of which we follow the branch the user ended on.

Of each message we keep what was shown: its text, with marks for what is no text.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.transfer.chats.conversation import (
    Conversation,
    conversation_of,
    make_turn,
    object_at,
    session_of,
    text_of,
    time_of_seconds,
    title_line,
)
from recollect.transfer.json_lines import json_type

if TYPE_CHECKING:
    from recollect.changes import Turn

_SPEAKERS = {"user": None, "assistant": "ChatGPT"}
# What the model thought, what it knew of the user, and what tools and the system answered.
_UNSHOWN_TYPES = """
computer_output execution_output model_editable_context reasoning_recap system_error tether_browsing_code
tether_browsing_display thoughts user_editable_context
"""
_UNSHOWN = frozenset(_UNSHOWN_TYPES.split())
# A reference in the text, between characters for private use: its kind, then what it refers to.
_REFERENCE = re.compile("\ue200([^\ue200-\ue202]*)(?:\ue202([^\ue200\ue201]*))?\ue201")
_LEFT_OVER = re.compile("[\ue200-\ue206]")


def chatgpt_conversation(plain: dict[str, Any], place: str) -> Conversation:
    mapping = plain.get("mapping")
    if not isinstance(mapping, dict):
        raise InvalidInput(f"It has no `mapping` of messages, as ChatGPT's have, but {json_type(mapping)}.")
    title = title_line(plain.get("title"), "(no title)")
    bad: list[str] = []
    branch = [(key, mapping[key]) for key in _branch(plain, mapping, bad)]
    start = time_of_seconds(plain.get("create_time"))
    return conversation_of(_session(plain, title), title, place, branch, _turn, start=start, bad=bad)


def _session(plain: dict[str, Any], title: str) -> str:
    id_ = text_of(plain.get("conversation_id")) or text_of(plain.get("id"))
    if id_ is None:
        begun = f"{title}\n{plain.get('create_time')}"
        id_ = hashlib.sha256(begun.encode("utf-8", "replace")).hexdigest()[:16]
    return session_of(f"chatgpt:{id_}")


def _branch(plain: dict[str, Any], mapping: dict[str, Any], bad: list[str]) -> list[str]:
    """From the root to the node on which the user ended; to the newest leaf, if the export does not say."""
    here: object = plain.get("current_node")
    if not isinstance(here, str) or here not in mapping:
        here = _newest_leaf(mapping)
    path: dict[str, None] = {}
    while isinstance(here, str):
        if here in path:
            bad.append(f"message {here!a}: It is its own ancestor; what stood before it was not read.")
            break
        if here not in mapping:
            bad.append(f"message {here!a}: It is not in the export, nor is what stood before it.")
            break
        path[here] = None
        here = _parent(mapping[here])
    return list(reversed(path))


def _newest_leaf(mapping: dict[str, Any]) -> str | None:
    parents = {_parent(node) for node in mapping.values()}
    leaves = [key for key in mapping if key not in parents] or list(mapping)
    # The last of equals: messages are added at the end.
    return max(reversed(leaves), key=lambda key: _created(mapping[key]), default=None)


def _parent(node: object) -> str | None:
    parent = node.get("parent") if isinstance(node, dict) else None
    return parent if isinstance(parent, str) else None


def _created(node: object) -> float:
    message = node.get("message") if isinstance(node, dict) else None
    at = time_of_seconds(message.get("create_time")) if isinstance(message, dict) else None
    return at.timestamp() if at is not None else float("-inf")


def _turn(key: str, node: dict[str, Any]) -> Turn | None:
    """None: nothing that the user was shown."""
    if node.get("message") is None:
        return None
    message = object_at(node["message"], "`message`")
    author = object_at(message.get("author"), "`author`")
    role = author.get("role")
    if not isinstance(role, str) or role not in _SPEAKERS:
        return None
    content = _shown(message)
    if not content.strip():
        return None
    id_ = text_of(message.get("id")) or key
    speaker = text_of(author.get("name")) or _SPEAKERS[role]
    return make_turn(content, role, speaker, time_of_seconds(message.get("create_time")), f"chatgpt:{id_}")


def _shown(message: dict[str, Any]) -> str:
    """Empty: it was hidden, or for a tool, or is of a kind that nobody reads."""
    metadata = message.get("metadata")
    details: dict[str, Any] = metadata if isinstance(metadata, dict) else {}
    if details.get("is_visually_hidden_from_conversation") is True or message.get("content") is None:
        return ""
    content = object_at(message["content"], "`content`")
    kind = content.get("content_type")
    if kind in _UNSHOWN if isinstance(kind, str) else False:
        return ""
    # Code for the interpreter is part of the answer; searches, prompts for images and the like are not.
    readers = {"all", "python"} if kind == "code" else {"all"}
    recipient = message.get("recipient")
    if isinstance(recipient, str) and recipient and recipient not in readers:
        return ""
    text = _code(content) if kind == "code" else _parts(content)
    pieces = [_without_references(text), *_attachments(details)]
    return "\n\n".join(piece for piece in pieces if piece)


def _code(content: dict[str, Any]) -> str:
    code = text_of(content.get("text"))
    if code is None:
        return _parts(content)
    language = content.get("language")
    known = language if isinstance(language, str) and language.isalnum() and language != "unknown" else ""
    return f"```{known}\n{code}\n```"


def _parts(content: dict[str, Any]) -> str:
    parts = content.get("parts")
    if not isinstance(parts, list):
        return text_of(content.get("text")) or ""
    return "\n\n".join(filter(None, map(_part, parts)))


def _part(part: object) -> str:
    if isinstance(part, str):
        return part if part.strip() else ""
    if not isinstance(part, dict):
        return ""
    match part.get("content_type"):
        case "image_asset_pointer":
            return "[image]"
        case "audio_asset_pointer" | "video_container_asset_pointer":
            return ""  # what was said stands beside it, as a transcription
        case _:
            return text_of(part.get("text")) or ""


def _attachments(details: dict[str, Any]) -> list[str]:
    """Images are left out here: they stand among the parts."""
    given = details.get("attachments")
    found = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    return [
        f"[attachment: {name}]"
        for one in found
        if (name := text_of(one.get("name"))) and not str(one.get("mime_type")).startswith("image/")
    ]


def _without_references(text: str) -> str:
    return _LEFT_OVER.sub("", _REFERENCE.sub(_named, text)).strip()


def _named(found: re.Match[str]) -> str:
    """The words that a reference showed: a thing's name, a link's title; of a citation, none."""
    about = found[2] or ""
    if found[1] == "url":
        return about.split("\ue202")[0]
    if found[1] != "entity":
        return ""
    try:
        thing = json.loads(about)
    except (ValueError, RecursionError):
        return ""
    return thing[1] if isinstance(thing, list) and len(thing) > 1 and isinstance(thing[1], str) else ""
