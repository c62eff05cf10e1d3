"""Letta's agent files (.af): core memory as pinned notes, the conversation as messages, passages as notes.

Ids in such a file are numbers of its rows, so a later export has others: blocks are known by their labels,
messages by their times and texts.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from recollect.transfer.importers import (
    BadRow,
    ForeignFormat,
    ForeignItem,
    ForeignMessage,
    ForeignNote,
    NoPlace,
)
from recollect_importers.fields import list_of, made, object_of, objects_of, other_fields, text_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.transfer.importers import ForeignSource

_CORE, _ARCHIVE, _FILE = "core memory", "archival memory", "file"
_PASSAGES = ("passages", "archival_memory", "archival_passages")
# What makes an agent run, which is no memory of anything. Values of variables are never shown.
_SETTINGS = {
    "tools": "tools",
    "tool_rules": "rules for tools",
    "tool_exec_environment_variables": "environment variables of tools",
    "secrets": "secrets",
    "sources": "settings of data sources",
    "groups": "groups of agents",
    "mcp_servers": "MCP servers",
    "skills": "skills",
}
_NAMELESS = frozenset({"tool_exec_environment_variables", "secrets"})
# What a server tells an agent rather than a person: a JSON object with one of these types.
_EVENTS = frozenset({"login", "heartbeat", "system_alert", "function_response"})
_SPOKEN = frozenset({"user", "assistant"})


def _recognises(source: ForeignSource) -> bool:
    match source.document:
        case {"agents": [{"name": _, "messages": list()}, *_], "blocks": list()}:
            return True
        case {"core_memory": list(), "messages": list(), "agent_type": _}:
            return True
        case [{"id": str(id_), "text": str()}, *_]:
            return id_.startswith("passage-")
        case _:
            return False


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    document = source.document
    if isinstance(document, list):
        yield from _passages(document, "")
        return
    blocks = {text_value(block.get("id")): block for block in objects_of(document.get("blocks"))}
    # An older file is one agent by itself, with its blocks within.
    agents = objects_of(document["agents"]) if "agents" in document else [document]
    attached: set[str] = set()
    for agent in agents:
        name = text_value(agent.get("name"))
        ids = [id_ for id_ in list_of(agent.get("block_ids")) if isinstance(id_, str)]
        named = [blocks[id_] for id_ in ids if id_ in blocks]
        attached.update(ids)
        own = [*objects_of(agent.get("core_memory")), *objects_of(agent.get("memory_blocks"))]
        for block in (*named, *own):
            yield from _block(block, name)
        yield from _messages(agent, name)
        yield from _passages([each for key in _PASSAGES for each in list_of(agent.get(key))], name)
        if text_value(agent.get("system")).strip():
            yield NoPlace("system prompts", name)
        yield from _settings(agent)
    for id_, block in blocks.items():
        if id_ not in attached:
            yield from _block(block, "")
    if "agents" in document:
        yield from _passages([each for key in _PASSAGES for each in list_of(document.get(key))], "")
        yield from _settings(document)
    for file in objects_of(document.get("files")):
        yield from _file(file)


def _block(block: dict[str, Any], agent: str) -> Iterator[ForeignItem]:
    label = text_value(block.get("label")) or "block"
    text = text_value(block.get("value"))
    if not text.strip():
        yield NoPlace("empty blocks of core memory", label)
        return
    metadata = {**object_of(block.get("metadata")), **object_of(block.get("metadata_"))}
    yield made(
        ForeignNote,
        block,
        "created_at updated_at",
        key=f"{agent}:block:{label}",
        text=text,
        category=_CORE,
        tags=(label,),
        metadata=other_fields({"description": block.get("description"), **metadata}),
        # It always stands in the agent's context there.
        pinned=True,
        agent=agent,
    )


def _messages(agent: dict[str, Any], name: str) -> Iterator[ForeignItem]:
    for number, message in enumerate(list_of(agent.get("messages")), 1):
        if not isinstance(message, dict):
            yield BadRow(f"agent {name}, message {number}", "It is not a JSON object.")
            continue
        role = text_value(message.get("role"))
        if role == "system":
            yield NoPlace("system messages")
            continue
        yield from _turn(message, role, name)


def _turn(message: dict[str, Any], role: str, name: str) -> Iterator[ForeignItem]:
    parts = message.get("content")
    text, thoughts, others = _content(parts if isinstance(parts, list) else [parts, message.get("text")])
    calls = objects_of(message.get("tool_calls"))
    said = [each for call in calls if (each := _sent(call))]
    if role == "user" and text and not (text := _unpacked(text)):
        yield NoPlace("events that a server sent to the agent")
    if role not in _SPOKEN:
        yield NoPlace(f"{role or 'nameless'} messages", _line(text))
        return
    text = "\n\n".join(filter(str.strip, [text, *said]))
    if thoughts:
        yield NoPlace("thoughts of the model", _line(thoughts[0]), len(thoughts))
    if others:
        yield NoPlace("parts of messages that are not text", others[0], len(others))
    if len(calls) > len(said):
        yield NoPlace("calls of tools", count=len(calls) - len(said))
    if not text.strip():
        return
    created = text_value(message.get("created_at"))
    digest = hashlib.sha256(f"{role}:{text}".encode("utf-8", "replace")).hexdigest()[:16]
    yield made(
        ForeignMessage,
        message,
        "speaker=name created_at",
        session=f"letta:{name}",
        key=f"{created}:{digest}",
        text=text,
        role=role,
        agent=name,
    )


def _content(parts: list[Any]) -> tuple[str, list[str], list[str]]:
    """The texts of a message as one, what was thought, and the types of what else there is."""
    texts: list[str] = []
    thoughts: list[str] = []
    others: list[str] = []
    for part in parts:
        match part:
            case None | "":
                pass
            case str():
                texts.append(part)
            case {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": "reasoning" | "redacted_reasoning" | "omitted_reasoning"}:
                thoughts.append(text_value(part.get("reasoning")))
            case {"type": "tool_call" | "tool_return"}:
                pass  # the same stands in `tool_calls`, or in a message of its own
            case {"type": str(type_)}:
                others.append(type_)
            case _:
                others.append("unknown")
    return "\n\n".join(texts), thoughts, others


def _unpacked(text: str) -> str:
    """What a person said: a server may have packed it into JSON, as it packs events, which nobody said."""
    match object_of(text):
        case {"type": str(type_)} if type_ in _EVENTS:
            return ""
        case {"type": "user_message", "message": str(said)}:
            return said
        case _:
            return text


def _sent(call: dict[str, Any]) -> str:
    """What an agent says by calling a tool, as older ones do."""
    function = object_of(call.get("function"))
    if function.get("name") != "send_message":
        return ""
    return text_value(object_of(function.get("arguments")).get("message"))


def _passages(passages: list[Any], agent: str) -> Iterator[ForeignItem]:
    for number, passage in enumerate(passages, 1):
        if not isinstance(passage, dict):
            yield BadRow(f"passage {number}", "It is not a JSON object.")
            continue
        columns = "key=id text=text|content created_at updated_at tags metadata"
        yield made(ForeignNote, passage, columns, category=_ARCHIVE, agent=agent)


def _file(file: dict[str, Any]) -> Iterator[ForeignItem]:
    name = text_value(file.get("original_file_name") or file.get("file_name"))
    text = text_value(file.get("content"))
    if not text.strip():
        yield NoPlace("files whose content is not in the agent file", name)
        return
    yield made(
        ForeignNote,
        file,
        "text=content created_at=file_creation_date updated_at=file_last_modified_date",
        key=f"file:{text_value(file.get('file_path')) or name}",
        category=_FILE,
        metadata=other_fields({"file": name}),
    )


def _settings(holder: dict[str, Any]) -> Iterator[ForeignItem]:
    for key, what in _SETTINGS.items():
        held = holder.get(key)
        if isinstance(held, list | dict) and held:
            first = held[0] if isinstance(held, list) else next(iter(held))
            name = first.get("name", "") if isinstance(first, dict) else first
            yield NoPlace(what, "" if key in _NAMELESS else _line(str(name)), len(held))


def _line(text: str) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= 60 else f"{shown[:59]}…"


FORMAT = ForeignFormat("letta", "a Letta agent file (.af) or its passages", _recognises, _read)
