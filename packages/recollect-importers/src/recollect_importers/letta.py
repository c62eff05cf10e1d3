"""Read Letta's agent files (.af): core memory as pinned notes, conversations as messages, passages as notes.

Ids in such a file are row numbers, which change between exports. So labels identify blocks, and times and
texts identify messages.
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
    NotImported,
)
from recollect_importers.fields import (
    checked_objects,
    list_of,
    make_record,
    object_of,
    objects_of,
    other_fields,
    text_value,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.transfer.importers import ForeignSource

_FILE = """
key=file:{file_path} text=content created_at=file_creation_date updated_at=file_last_modified_date
category='file'
"""
_PASSAGES = ("passages", "archival_memory", "archival_passages")
# Settings of an agent, which are not memories. Secrets and variables are only counted.
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
_SECRET_SETTINGS = frozenset({"tool_exec_environment_variables", "secrets"})
# Types of the JSON events that Letta's server sends to an agent.
_EVENTS = frozenset({"login", "heartbeat", "system_alert", "function_response"})
_SPOKEN_ROLES = frozenset({"user", "assistant"})


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
        yield from _passages({"passages": document}, "")
        return
    blocks = {text_value(block.get("id")): block for block in objects_of(document.get("blocks"))}
    # An older file is a single agent that contains its blocks.
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
        yield from _passages(agent, name)
        if text_value(agent.get("system")).strip():
            yield NotImported("system prompts", name)
        yield from _settings(agent)
    for id_, block in blocks.items():
        if id_ not in attached:
            yield from _block(block, "")
    if "agents" in document:
        yield from _passages(document, "")
        yield from _settings(document)
    for file in objects_of(document.get("files")):
        name = text_value(file["original_file_name"] or file["file_name"])
        if text_value(file["content"]).strip():
            file["file_path"] = text_value(file["file_path"]) or name
            yield make_record(ForeignNote, file, _FILE, metadata=other_fields({"file": name}))
        else:
            yield NotImported("files whose content is not in the agent file", name)


def _block(block: dict[str, Any], agent: str) -> Iterator[ForeignItem]:
    label = text_value(block.get("label")) or "block"
    text = text_value(block.get("value"))
    if not text.strip():
        yield NotImported("empty blocks of core memory", label)
        return
    metadata = {**object_of(block.get("metadata")), **object_of(block.get("metadata_"))}
    yield make_record(
        ForeignNote,
        block,
        "created_at updated_at",
        key=f"{agent}:block:{label}",
        text=text,
        category="core memory",
        tags=(label,),
        metadata=other_fields({"description": block.get("description"), **metadata}),
        # Pinned, since Letta always keeps a block in the agent's context.
        pinned=True,
        agent=agent,
    )


def _messages(agent: dict[str, Any], name: str) -> Iterator[ForeignItem]:
    for message in checked_objects(list_of(agent.get("messages")), f"agent {name}, message"):
        if isinstance(message, BadRow):
            yield message
        elif message["role"] == "system":
            yield NotImported("system messages")
        else:
            yield from _turn(message, text_value(message["role"]), name)


def _turn(message: dict[str, Any], role: str, name: str) -> Iterator[ForeignItem]:
    parts = message.get("content")
    text, thoughts, others = _content(parts if isinstance(parts, list) else [parts, message.get("text")])
    calls = objects_of(message.get("tool_calls"))
    # Older agents speak by calling a tool.
    functions = [object_of(call["function"]) for call in calls]
    sent = [object_of(each.get("arguments")) for each in functions if each.get("name") == "send_message"]
    spoken = [each for arguments in sent if (each := text_value(arguments.get("message")))]
    if role == "user" and text:
        # Letta's server sends events as JSON, and sometimes wraps the user's words in it.
        match object_of(text):
            case {"type": str(type_)} if type_ in _EVENTS:
                text = ""
            case {"type": "user_message", "message": str(packed)}:
                text = packed
        if not text:
            yield NotImported("events that a server sent to the agent")
    if role not in _SPOKEN_ROLES:
        yield NotImported(f"{role or 'nameless'} messages", _shortened(text))
        return
    text = "\n\n".join(filter(str.strip, [text, *spoken]))
    if thoughts:
        yield NotImported("thoughts of the model", _shortened(thoughts[0]), len(thoughts))
    if others:
        yield NotImported("parts of messages that are not text", others[0], len(others))
    if len(calls) > len(spoken):
        yield NotImported("calls of tools", count=len(calls) - len(spoken))
    if not text.strip():
        return
    digest = hashlib.sha256(f"{role}:{text}".encode("utf-8", "replace")).hexdigest()[:16]
    yield make_record(
        ForeignMessage,
        message,
        "speaker=name created_at",
        session=f"letta:{name}",
        key=f"{text_value(message.get('created_at'))}:{digest}",
        text=text,
        role=role,
        agent=name,
    )


def _content(parts: list[Any]) -> tuple[str, list[str], list[str]]:
    """Return the text of a message, its thoughts, and the types of other content."""
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
                pass  # repeated in `tool_calls`, or in a message of its own
            case {"type": str(type_)}:
                others.append(type_)
            case _:
                others.append("unknown")
    return "\n\n".join(texts), thoughts, others


def _passages(holder: dict[str, Any], agent: str) -> Iterator[ForeignItem]:
    passages = [each for key in _PASSAGES for each in list_of(holder.get(key))]
    columns = "key=id text=text|content created_at updated_at tags metadata"
    for row in checked_objects(passages, "passage"):
        if isinstance(row, BadRow):
            yield row
        else:
            yield make_record(ForeignNote, row, columns, category="archival memory", agent=agent)


def _settings(holder: dict[str, Any]) -> Iterator[ForeignItem]:
    for key, what in _SETTINGS.items():
        settings = holder.get(key)
        if isinstance(settings, list | dict) and settings:
            first = settings[0] if isinstance(settings, list) else next(iter(settings))
            name = first.get("name", "") if isinstance(first, dict) else first
            yield NotImported(what, "" if key in _SECRET_SETTINGS else _shortened(str(name)), len(settings))


def _shortened(text: str) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= 60 else f"{shown[:59]}…"


FORMAT = ForeignFormat("letta", "a Letta agent file (.af) or its passages", _recognises, _read)
