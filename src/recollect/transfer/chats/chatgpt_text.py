"""What a message of ChatGPT showed: its text, with marks for what is no text."""

from __future__ import annotations

import json
import re
from typing import Any

from recollect.transfer.chats.conversation import object_at, text_of

# What the model thought, what it was told of the user, and what tools and machinery answered.
_UNSHOWN = frozenset(
    {
        "computer_output",
        "execution_output",
        "model_editable_context",
        "reasoning_recap",
        "system_error",
        "tether_browsing_code",
        "tether_browsing_display",
        "thoughts",
        "user_editable_context",
    }
)
# A reference in the text, between characters for private use: its kind, then what it refers to.
_REFERENCE = re.compile("\ue200([^\ue200-\ue202]*)(?:\ue202([^\ue200\ue201]*))?\ue201")
_LEFT_OVER = re.compile("[\ue200-\ue206]")


def shown(message: dict[str, Any]) -> str:
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
