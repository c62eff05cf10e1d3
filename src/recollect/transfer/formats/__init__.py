"""The formats of other programs that can be imported, one module for each.

A format is one `ForeignFormat`, named once in `catalogue.FOREIGN`:

- `recognises(source)` says whether a file or folder is of this format. It looks at `source.tables` (a SQLite
  file's tables and their columns), `source.document` (a file that is one JSON document), `source.head`, or
  the files of a folder; it is quick, opens nothing for writing and raises nothing. The first format in
  `FOREIGN` that recognises a source has it, so one that asks for
  more stands before one that asks for less.
- `read(source)` yields `ForeignItem`s (`items.py`) in any order: entities with their observations, notes,
  messages and relations, each with the times, tags, importance, owner and state that the source has, and
  with what else it says as `metadata`; a `NoPlace` for whatever has no place with us, never nothing; a
  `BadRow` for a row that makes no sense.
  A reader need not check lengths, empty texts or numbers: what our store would refuse becomes a bad row.

Everything else is the same for all formats (`recollect.transfer.foreign_import`): an item's key, or an
entity's name, says whether it was imported before; importing again adds only what is new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recollect.transfer.formats.items import ForeignItem
    from recollect.transfer.formats.source import ForeignSource


@dataclass(frozen=True, slots=True)
class ForeignFormat:
    """One format of another program."""

    name: str
    """As `--format` takes it; it begins the `source` of every memory that was imported from it."""
    title: str
    """What it is, for a person."""
    recognises: Callable[[ForeignSource], bool]
    read: Callable[[ForeignSource], Iterator[ForeignItem]]
