"""A store as three tables, memories, observations and relations: as CSV or as Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from recollect.errors import MissingExtra
from recollect.records import Kind, Memory, Observation, Relation
from recollect.transfer.export_folder import private_file, write_manifest
from recollect.transfer.progress_count import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from recollect.engine.upkeep.transfer import Export
    from recollect.ports import Progress

_ROWS_AT_ONCE = 2_000
# Tables of their own, or what follows from the rest.
_ELSEWHERE = {"scope", "observations", "former", "absences", "mentions"}
# What a spreadsheet would run as a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def _columns(record: type[Any], *first: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """Names and types, in the order of the record's fields."""
    own = ((field.name, str(field.type)) for field in fields(record) if field.name not in _ELSEWHERE)
    return (*first, *own)


TABLE_COLUMNS = {
    "memories": _columns(Memory, ("owner", "str"), ("agent", "str")),
    "observations": _columns(Observation, ("memory", "int")),
    "relations": _columns(Relation),
}

Add = "Callable[[str, tuple[Any, ...]], None]"


def _rows(found: Export, counts: Counter[str], progress: Progress | None) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Every row, with the name of its table."""
    names = {table: [name for name, _ in columns] for table, columns in TABLE_COLUMNS.items()}
    for memory in counted(found.memories(), found.count("memory"), progress):
        own = (memory.scope.owner, memory.scope.agent)
        yield "memories", (*own, *(getattr(memory, name) for name in names["memories"][2:]))
        counts["entities" if memory.kind is Kind.ENTITY else "texts"] += 1
        counts["forgotten"] += memory.deleted_at is not None
        counts["observations"] += len(memory.observations)
        for seen in memory.observations:
            values = (getattr(seen, name) for name in names["observations"][1:])
            yield "observations", (memory.id, *values)
    for relation in found.relations():
        counts["relations"] += 1
        yield "relations", tuple(getattr(relation, name) for name in names["relations"])


def write_csv(found: Export, folder: Path, progress: Progress | None) -> Counter[str]:
    """As RFC 4180 has it, in UTF-8."""
    counts: Counter[str] = Counter()
    files = {table: _CsvFile(folder / f"{table}.csv", columns) for table, columns in TABLE_COLUMNS.items()}
    return counts


def write_parquet(found: Export, folder: Path, progress: Progress | None) -> Counter[str]:
    return Counter()
