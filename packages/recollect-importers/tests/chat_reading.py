"""Reads conversations as an import does, without writing them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recollect.transfer import recognise
from recollect.transfer.importers import Conversation, ForeignSource
from recollect.transfer.importing import foreign_formats

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FORMATS = ("chatgpt", "claude", "markdown", "turns")


def conversations(path: Path, format_: str | None = None) -> Iterator[Conversation]:
    name = format_ or recognise(path)
    for each in foreign_formats():
        if each.name == name:
            yield from (item for item in each.read(ForeignSource(path)) if isinstance(item, Conversation))


def saved(folder: Path, *talks: Any, name: str = "conversations.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(list(talks)), encoding="utf-8")
    return path


def read_chats(folder: Path, *talks: Any) -> list[Conversation]:
    return list(conversations(saved(folder, *talks)))


def texts(conversation: Conversation) -> list[str]:
    return [turn.content for turn in conversation.turns]


def turn_tuples(conversation: Conversation) -> list[tuple[Any, ...]]:
    return [(turn.content, turn.role, turn.speaker, turn.at, turn.source) for turn in conversation.turns]
