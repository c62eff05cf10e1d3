"""Writing a store's memories to a file or a folder."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.learnt import LEARNT_PARTS
from recollect.records import Kind
from recollect.transfer.export_folder import open_folder
from recollect.transfer.files import open_target
from recollect.transfer.full import full_header, full_line
from recollect.transfer.official import official_line
from recollect.transfer.progress_count import counted
from recollect.transfer.reports import ExportFormat, ExportReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from recollect.engine.engine import Engine
    from recollect.engine.upkeep.transfer import Export
    from recollect.ports import Progress

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
        from recollect.transfer.markdown_export import write_markdown  # noqa: PLC0415  # one format of five

        return write_markdown
    if format_ == "csv":
        from recollect.transfer.table_export import write_csv  # noqa: PLC0415  # the same

        return write_csv
    from recollect.transfer.table_export import write_parquet  # noqa: PLC0415  # the same

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
