"""A conversation of a ChatGPT export: a tree of messages, of which we follow the branch the user ended on."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.transfer.chats.chatgpt_text import shown
from recollect.transfer.chats.conversation import (
    Conversation,
    dated,
    kind_of,
    named,
    object_at,
    session_of,
    spoken,
    text_of,
)
from recollect.transfer.chats.times import of_seconds

if TYPE_CHECKING:
    from recollect.changes import Turn

_SPEAKERS = {"user": None, "assistant": "ChatGPT"}


def conversation(plain: dict[str, Any], place: str) -> Conversation:
    mapping = plain.get("mapping")
    if not isinstance(mapping, dict):
        raise InvalidInput(f"It has no `mapping` of messages, as ChatGPT's have, but {kind_of(mapping)}.")
    turns: list[Turn] = []
    bad: list[str] = []
    for key in _branch(plain, mapping, bad):
        try:
            turn = _turn(key, object_at(mapping[key], "It"))
        except InvalidInput as error:
            bad.append(f"message {key!a}: {error}")
            continue
        if turn is not None:
            turns.append(turn)
    title = named(plain.get("title"), "(no title)")
    return Conversation(
        session=_session(plain, title),
        title=title,
        turns=dated(turns, of_seconds(plain.get("create_time"))),
        bad=tuple(f"{place}, {title!r}, {reason}" for reason in bad),
    )


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
    at = of_seconds(message.get("create_time")) if isinstance(message, dict) else None
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
    content = shown(message)
    if not content.strip():
        return None
    id_ = text_of(message.get("id")) or key
    speaker = text_of(author.get("name")) or _SPEAKERS[role]
    return spoken(content, role, speaker, of_seconds(message.get("create_time")), f"chatgpt:{id_}")
