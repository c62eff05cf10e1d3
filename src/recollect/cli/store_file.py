"""What a store's file looks like from outside: its header is read, and nothing is opened or written."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

_MAGIC = b"SQLite format 3\0"

State = Literal["missing", "empty", "folder", "unreadable", "foreign", "newer", "older", "current"]


@dataclass(frozen=True)
class StoreFile:
    state: State
    bytes: int = 0
    schema: int = 0
    writable: bool = True
    """The file and its folder: a store keeps its log beside itself."""


def look_at(path: Path, application_id: int, known_schema: int) -> StoreFile:
    """`known_schema` is the newest that this program reads."""
    try:
        if path.is_dir():
            return StoreFile("folder")
        with path.open("rb") as file:
            header = file.read(100)
        bytes_ = path.stat().st_size
    except FileNotFoundError:
        return StoreFile("missing", writable=_can_be_made(path))
    except OSError:
        return StoreFile("unreadable", writable=False)
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    if not header:
        return StoreFile("empty", writable=writable)
    schema = int.from_bytes(header[60:64], "big")
    if not header.startswith(_MAGIC) or int.from_bytes(header[68:72], "big") != application_id:
        return StoreFile("foreign", bytes_, writable=writable)
    return StoreFile(_age(schema, known_schema), bytes_, schema, writable)


def _age(schema: int, known: int) -> State:
    if schema == known:
        return "current"
    return "newer" if schema > known else "older"


def _can_be_made(path: Path) -> bool:
    """Folders are created on the way, so the nearest one that is there decides."""
    nearest = next(folder for folder in path.absolute().parents if folder.exists())
    return nearest.is_dir() and os.access(nearest, os.W_OK)
