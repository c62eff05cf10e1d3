"""Writes a store's memories to a file or a folder."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import fields
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from recollect.domain.errors import InvalidInput, needs_extra
from recollect.domain.learnt import LEARNT_PARTS
from recollect.domain.records import Kind, Memory, Observation, Relation
from recollect.transfer.files import (
    EXPORT_TABLES,
    counted,
    open_folder,
    open_target,
    private_file,
    write_manifest,
)
from recollect.transfer.full import full_header, full_line
from recollect.transfer.official import official_line
from recollect.transfer.reports import ExportFormat, ExportReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from recollect.engine import Engine
    from recollect.stores.port import Progress
    from recollect.transfer.moved_rows import Export

# Writing a store's memories to a file or a folder.


_LINE_FORMATS = ("full", "official")
_SUFFIXES: dict[str, ExportFormat] = {".csv": "csv", ".parquet": "parquet"}
_OFFICIAL_LACKS_TEXTS = (
    "Left out: notes, messages, times, history and what was learnt from use. This format cannot hold them; "
    "the full format can."
)
_OFFICIAL_LACKS = (
    "Left out: times, history and what was learnt from use. This format cannot hold them; the full format "
    "can."
)
_TABLES_LACK = (
    "Left out: earlier texts, earlier periods in which a memory was forgotten or superseded, and what was "
    "learnt from use. The full format contains all of it."
)
_MARKDOWN_LACKS = (
    "Left out: forgotten and superseded memories, earlier texts and what was learnt from use. The folder "
    "contains only what is in force; the full format contains all of it."
)


def format_for(target: str | Path) -> ExportFormat:
    """What the name of a file or folder asks for: without one of the known endings, everything."""
    text = str(target)
    path = Path(text.lower())
    if path.suffix == ".zip":
        path = path.with_suffix("")
        return _SUFFIXES.get(path.suffix, "markdown")
    if path.suffix in _SUFFIXES:
        return _SUFFIXES[path.suffix]
    is_folder = text.endswith(("/", "\\")) or Path(text).is_dir()
    return "markdown" if is_folder else "full"


def export_file(
    engine: Engine,
    target: str | Path | IO[str] | IO[bytes],
    *,
    format: ExportFormat | None = None,  # noqa: A002  # the word a caller expects
    scope_only: bool = False,
    learning: bool = True,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> ExportReport:
    """Export to a file or a folder, or to a stream that takes text or bytes.

    `full` keeps everything there is, forgotten things and what was learnt from use too, of every scope, or of
    the engine's with `scope_only`; imported into an empty store, it gives the same store again, ids included.
    Without `learning`, it holds memories and relations alone. `official` is what the official memory server
    reads and writes: the entities of the engine's scope, the observations and relations in force, in the
    order in which they came. `markdown`, `csv` and `parquet` make a folder, or a zip where the name ends so.
    None: what `format_for` tells of the name. The scope of an engine that is `scoped(owner, None)` is that of
    all the owner's agents.

    All of it is of one moment. A file or folder appears only when it is whole, and one that is there is kept
    unless `overwrite` says otherwise; a file whose name ends in .gz is packed. `progress` gets numbers of
    lines or memories.
    """
    if format is None:
        format = format_for(target) if isinstance(target, str | Path) else "full"  # noqa: A001
    if format not in _LINE_FORMATS and not isinstance(target, str | Path):
        raise InvalidInput(f"The format {format} makes a folder or a zip; name a path, not a stream.")
    everything = format != "official" and not scope_only
    with engine.upkeep.export(everything=everything) as found:
        if format in _LINE_FORMATS:
            full = format == "full"
            with open_target(target, overwrite=overwrite) as write:
                counts = _write_lines(found, write, progress, full=full, learning=learning)
            return ExportReport(format, note=None if full else _official_note(found), **counts)
        with open_folder(str(target), overwrite=overwrite) as folder:
            counts = _writer(format)(found, folder, progress)
        note = _MARKDOWN_LACKS if format == "markdown" else _TABLES_LACK
        return ExportReport(format, note=note, **counts)


def _writer(format_: ExportFormat) -> Callable[[Export, Path, Progress | None], Counter[str]]:
    if format_ == "markdown":
        from recollect.transfer.markdown import write_markdown  # noqa: PLC0415  # one format of five

        return write_markdown
    if format_ == "csv":
        return write_csv
    return write_parquet


def _write_lines(
    found: Export, write: Callable[[str], object], progress: Progress | None, *, full: bool, learning: bool
) -> Counter[str]:
    counts = Counter(lines=int(full))
    line = partial(full_line, learning=learning) if full else official_line
    if full:
        write(full_header(learning=learning))

    def records() -> Iterator[Any]:
        for memory in found.memories() if full else found.entities():
            yield memory
            counts["entities" if memory.kind is Kind.ENTITY else "texts"] += 1
            counts["observations"] += len(memory.observations if full else memory.in_force)
            counts["forgotten"] += memory.deleted_at is not None
        for relation in found.relations() if full else found.relations_in_force():
            yield relation
            counts["relations"] += 1
        for part in LEARNT_PARTS if full and learning else ():
            for _, learnt in found.learnt(part):
                yield learnt
                # A setting is no more than how learning goes about.
                counts["learnt"] += part != "setting"

    for record in counted(records(), _total(found, full=full, learning=learning), progress):
        write(line(record))
        counts["lines"] += 1
    return counts


def _official_note(found: Export) -> str | None:
    if found.has_texts():
        return _OFFICIAL_LACKS_TEXTS
    return _OFFICIAL_LACKS if found.has_learnt() else None


def _total(found: Export, *, full: bool, learning: bool) -> int | None:
    """About how many lines there will be; None where that would have to be read first."""
    if not full:
        return None
    tables: Iterable[Any] = ("memory", "recall", "shadow", "tuned", "dream") if learning else ("memory",)
    # Relations belong to no scope by themselves, and one memory in two is used: near enough for a bar.
    return sum(map(found.count, tables))


# A store as three tables, memories, observations and relations: as CSV or as Parquet.


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
