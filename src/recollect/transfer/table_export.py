"""A store as three tables, memories, observations and relations: as CSV or as Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import fields
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any, Protocol

from recollect.extras import needs_extra
from recollect.records import Kind, Memory, Observation, Relation
from recollect.transfer.export_folder import EXPORT_TABLES, private_file, write_manifest
from recollect.transfer.progress_count import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from recollect.engine.upkeep.transfer import Export
    from recollect.ports import Progress

_ROWS_AT_ONCE = 2_000
# In columns of their own, in tables of their own, or of no use in a table.
_ELSEWHERE = {"scope", "observations", "former", "absences", "mentions"}
# What a spreadsheet would run as a formula; and the mark, so that taking one off always gives the text.
_MARKED_STARTS = ("=", "+", "-", "@", "\t", "\r", "'")


def _columns(record: type[Any], *first: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """Names and types, in the order of the record's fields."""
    own = ((field.name, str(field.type)) for field in fields(record) if field.name not in _ELSEWHERE)
    return (*first, *own)


_COLUMNS = (
    _columns(Memory, ("owner", "str"), ("agent", "str")),
    _columns(Observation, ("memory", "int")),
    _columns(Relation),
)
TABLE_COLUMNS = dict(zip(EXPORT_TABLES, _COLUMNS, strict=True))


class _TableFile(Protocol):
    """One table under way."""

    def add(self, row: tuple[Any, ...]) -> None: ...

    def finish(self) -> None: ...


def write_csv(found: Export, folder: Path, progress: Progress | None) -> Counter[str]:
    """As RFC 4180 has it, in UTF-8; what a spreadsheet would take for a formula gets a `'` before it."""
    return _write(found, folder, progress, "csv", _CsvTable)


def write_parquet(found: Export, folder: Path, progress: Progress | None) -> Counter[str]:
    with needs_extra("Parquet", "parquet"):
        import pyarrow.parquet  # noqa: F401, PLC0415  # an extra
    return _write(found, folder, progress, "parquet", _ParquetTable)


def _write(
    found: Export,
    folder: Path,
    progress: Progress | None,
    format_: str,
    table_file: Callable[[str, IO[bytes]], _TableFile],
) -> Counter[str]:
    counts: Counter[str] = Counter()
    with ExitStack() as stack:
        tables = {
            table: table_file(table, stack.enter_context(private_file(folder / f"{table}.{format_}")))
            for table in TABLE_COLUMNS
        }
        for table, row in _rows(found, counts, progress):
            tables[table].add(row)
            counts["lines"] += 1
        for each in tables.values():
            each.finish()
    write_manifest(folder, format_)
    return counts


def _rows(
    found: Export, counts: Counter[str], progress: Progress | None
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Every row, after the name of its table."""
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


class _CsvTable:
    def __init__(self, table: str, file: IO[bytes]) -> None:
        self._text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)
        self._writer = csv.writer(self._text)  # lines end with CR LF, quotes are doubled
        self._writer.writerow([name for name, _ in TABLE_COLUMNS[table]])

    def add(self, row: tuple[Any, ...]) -> None:
        self._writer.writerow(map(_cell, row))

    def finish(self) -> None:
        self._text.flush()
        self._text.detach()  # whoever opened the file closes it


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        case tuple() | Mapping():
            return _as_json(value)
        case str():
            return f"'{value}" if value.startswith(_MARKED_STARTS) else str(value)
        case _:
            return repr(value)


class _ParquetTable:
    """Written in groups of rows, so that a large store takes little room on its way."""

    def __init__(self, table: str, file: IO[bytes]) -> None:
        import pyarrow as arrow  # noqa: PLC0415  # an extra
        from pyarrow.parquet import ParquetWriter  # noqa: PLC0415  # the same

        types = {
            "int": arrow.int64(),
            "float": arrow.float64(),
            "bool": arrow.bool_(),
            "datetime": arrow.timestamp("us", tz="UTC"),
            "tuple[int, ...]": arrow.list_(arrow.int64()),
            "tuple[str, ...]": arrow.list_(arrow.string()),
        }
        self._arrow = arrow
        self._schema = arrow.schema(
            [
                arrow.field(name, types.get(type_.removesuffix(" | None"), arrow.string()))
                for name, type_ in TABLE_COLUMNS[table]
            ]
        )
        self._writer = ParquetWriter(file, self._schema, compression="zstd")
        self._rows: list[tuple[Any, ...]] = []

    def add(self, row: tuple[Any, ...]) -> None:
        self._rows.append(row)
        if len(self._rows) >= _ROWS_AT_ONCE:
            self._flush()

    def finish(self) -> None:
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if not self._rows:
            return
        columns = [
            self._arrow.array([_plain_value(value) for value in column], type=field.type)
            for column, field in zip(zip(*self._rows, strict=True), self._schema, strict=True)
        ]
        self._writer.write_table(self._arrow.Table.from_arrays(columns, schema=self._schema))
        self._rows.clear()


def _plain_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _as_json(value)
    # A member of an enumeration is a text of its own kind.
    return str(value) if isinstance(value, str) else value


def _as_json(value: tuple[Any, ...] | Mapping[str, Any]) -> str:
    return json.dumps(dict(value) if isinstance(value, Mapping) else list(value), ensure_ascii=False)
