"""Write a store's memories to a file or a folder."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from recollect.domain.errors import InvalidInput, needs_extra
from recollect.domain.learnt import LEARNT_PARTS
from recollect.domain.records import Memory, Observation, Relation
from recollect.transfer.files import (
    EXPORT_TABLES,
    open_folder,
    open_target,
    private_file,
    report_each,
    write_manifest,
)
from recollect.transfer.line_formats import full_header, full_line, official_line
from recollect.transfer.moved_rows import exporting
from recollect.transfer.reports import ExportFormat, ExportReport, count_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from recollect.domain.tables import Row
    from recollect.engine import Engine
    from recollect.stores.port import Progress
    from recollect.transfer.moved_rows import Export

_SUFFIXES: dict[str, ExportFormat] = {".csv": "csv", ".parquet": "parquet"}
_OFFICIAL_LACKS = (
    "times, history and what was learnt from use. This format cannot hold them; the full format can."
)
_TABLES_LACK = (
    "Left out: earlier texts, earlier periods in which a memory was forgotten or superseded, and what was "
    "learnt from use. The full format contains all of it."
)
_MARKDOWN_LACKS = (
    "Left out: forgotten and superseded memories, earlier texts and what was learnt from use. The folder "
    "contains only current memories; the full format contains all of it."
)


def format_for(target: str | Path) -> ExportFormat:
    """Return the format for the name of a file or folder; `full` if the name says nothing else."""
    text = str(target)
    path = Path(text.lower())
    if path.suffix == ".zip":
        return _SUFFIXES.get(path.with_suffix("").suffix, "markdown")
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

    `full` contains all scopes, with forgotten memories and data learnt from use; with `scope_only`, only the
    engine's scope. An import into an empty store restores the same store, ids included. Without `learning`,
    only memories and relations are exported. `official` is the format of the official memory server: the
    current entities, observations and relations of the engine's scope, oldest first. `markdown`, `csv` and
    `parquet` write a folder, or a zip if the name ends in .zip. Without a format, `format_for` chooses one
    by the name. The scope of an engine that is `scoped(owner, None)` includes all the owner's agents.

    The export is one snapshot. A file or folder appears only when it is complete. An existing one is kept
    unless `overwrite` is true. A file whose name ends in .gz is packed. `progress` gets the number of lines
    or memories written.
    """
    if format is None:
        format = format_for(target) if isinstance(target, str | Path) else "full"  # noqa: A001
    is_lines = format in ("full", "official")
    if not is_lines and not isinstance(target, str | Path):
        raise InvalidInput(f"The format {format} makes a folder or a zip; name a path, not a stream.")
    counts: Counter[str] = Counter()
    with exporting(engine, everything=format != "official" and not scope_only) as found:
        if is_lines:
            full = format == "full"
            with open_target(target, overwrite=overwrite) as write:
                _write_lines(found, write, counts, progress, full=full, learning=learning)
            return ExportReport(format, note=None if full else _official_note(found), **counts)
        with open_folder(str(target), overwrite=overwrite) as folder:
            if format == "markdown":
                from recollect.transfer.markdown import write_markdown  # noqa: PLC0415  # one format of five

                write_markdown(found, folder, counts, progress)
            else:
                _write_tables(found, folder, format, counts, progress)
            write_manifest(folder, format)
    return ExportReport(format, note=_MARKDOWN_LACKS if format == "markdown" else _TABLES_LACK, **counts)


def _write_lines(
    found: Export,
    write: Callable[[str], object],
    counts: Counter[str],
    progress: Progress | None,
    *,
    full: bool,
    learning: bool,
) -> None:
    def records() -> Iterator[Any]:
        for memory in found.memories() if full else found.entities():
            yield memory
            count_memory(counts, memory, memory.observations if full else memory.in_force)
        for relation in found.relations() if full else found.relations_in_force():
            yield relation
            counts["relations"] += 1
        for part in LEARNT_PARTS if full and learning else ():
            for _, learnt in found.read_learnt(part):
                yield learnt
                # A setting configures learning but is not learnt, so it does not count.
                counts["learnt"] += part != "setting"

    total = None
    if full:
        write(full_header(learning=learning))
        counts["lines"] = 1
        # An estimate for a progress bar, without relations: they have no scope column to count by.
        logs: tuple[Any, ...] = ("recall", "answer_log", "tuning", "dream") if learning else ()
        total = sum(map(found.count, ("memory", *logs)))
    for record in report_each(records(), total, progress):
        write(full_line(record, learning=learning) if full else official_line(record))
        counts["lines"] += 1


def _official_note(found: Export) -> str | None:
    if found.has_texts():
        return f"Left out: notes, messages, {_OFFICIAL_LACKS}"
    return f"Left out: {_OFFICIAL_LACKS}" if found.has_learnt() else None


# Exports of three tables as CSV or Parquet: memories, observations and relations


_ROWS_AT_ONCE = 2_000
# Fields that are exported as other columns or tables, or not at all.
_ELSEWHERE = {"scope", "observations", "former", "absences", "mentions"}
# Texts that begin like a formula get the mark `'`. So do texts that begin with it, so that a reader can
# always remove one mark.
_MARKED_STARTS = ("=", "+", "-", "@", "\t", "\r", "'")


def _columns(record: type[Any], *first: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """Return names and types of columns: `first`, then the record's fields in order."""
    own = ((field.name, str(field.type)) for field in fields(record) if field.name not in _ELSEWHERE)
    return (*first, *own)


_COLUMNS = (
    _columns(Memory, ("owner", "str"), ("agent", "str")),
    _columns(Observation, ("memory", "int")),
    _columns(Relation),
)
TABLE_COLUMNS = dict(zip(EXPORT_TABLES, _COLUMNS, strict=True))


def _write_tables(
    found: Export, folder: Path, format_: ExportFormat, counts: Counter[str], progress: Progress | None
) -> None:
    open_table = _csv_table if format_ == "csv" else _parquet_table
    waiting: defaultdict[str, list[Row]] = defaultdict(list)
    with ExitStack() as stack:
        writers = {
            table: stack.enter_context(
                open_table(table, stack.enter_context(private_file(folder / f"{table}.{format_}")))
            )
            for table in TABLE_COLUMNS
        }
        for table, row in _table_rows(found, counts, progress):
            waiting[table].append(row)
            counts["lines"] += 1
            if len(waiting[table]) >= _ROWS_AT_ONCE:
                writers[table](waiting.pop(table))
        for table, rows in waiting.items():
            writers[table](rows)


def _table_rows(found: Export, counts: Counter[str], progress: Progress | None) -> Iterator[tuple[str, Row]]:
    """Yield every row with the name of its table."""
    names = {table: [name for name, _ in columns] for table, columns in TABLE_COLUMNS.items()}
    for memory in report_each(found.memories(), found.count("memory"), progress):
        own = (memory.scope.owner, memory.scope.agent)
        yield "memories", (*own, *(getattr(memory, name) for name in names["memories"][2:]))
        count_memory(counts, memory, memory.observations)
        for seen in memory.observations:
            yield "observations", (memory.id, *(getattr(seen, name) for name in names["observations"][1:]))
    for relation in found.relations():
        counts["relations"] += 1
        yield "relations", tuple(getattr(relation, name) for name in names["relations"])


@contextmanager
def _csv_table(table: str, file: IO[bytes]) -> Iterator[Callable[[Sequence[Row]], None]]:
    """Write CSV (RFC 4180, UTF-8). Put a `'` before each text that a spreadsheet would take for a formula."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)
    writer = csv.writer(text)  # lines end with CR LF, quotes are doubled
    writer.writerow([name for name, _ in TABLE_COLUMNS[table]])
    yield lambda rows: writer.writerows(map(_cell, row) for row in rows)
    text.flush()
    text.detach()  # the caller closes the file


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


@contextmanager
def _parquet_table(table: str, file: IO[bytes]) -> Iterator[Callable[[Sequence[Row]], None]]:
    with needs_extra("Parquet", "parquet"):
        import pyarrow as arrow  # noqa: PLC0415  # an optional package
        from pyarrow.parquet import ParquetWriter  # noqa: PLC0415  # likewise
    types = {
        "int": arrow.int64(),
        "float": arrow.float64(),
        "bool": arrow.bool_(),
        "datetime": arrow.timestamp("us", tz="UTC"),
        "tuple[int, ...]": arrow.list_(arrow.int64()),
        "tuple[str, ...]": arrow.list_(arrow.string()),
    }
    columns = TABLE_COLUMNS[table]
    schema = arrow.schema(
        [(name, types.get(type_.removesuffix(" | None"), arrow.string())) for name, type_ in columns]
    )

    def write(rows: Sequence[Row]) -> None:
        arrays = [
            arrow.array([_plain_value(value) for value in column], type=field.type)
            for column, field in zip(zip(*rows, strict=True), schema, strict=True)
        ]
        writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))

    with ParquetWriter(file, schema, compression="zstd") as writer:
        yield write


def _plain_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _as_json(value)
    # Members of an enumeration become plain text.
    return str(value) if isinstance(value, str) else value


def _as_json(value: tuple[Any, ...] | Mapping[str, Any]) -> str:
    return json.dumps(dict(value) if isinstance(value, Mapping) else list(value), ensure_ascii=False)
