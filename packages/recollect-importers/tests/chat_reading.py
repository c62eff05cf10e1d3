"""Reads conversations as an import does, without writing them."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
