"""Reading a file of memories into a store."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from recollect.changes import NewEntity
from recollect.engine.results import EmbedResult
from recollect.errors import InvalidInput
from recollect.records import Memory
from recollect.transfer.files import open_lines
from recollect.transfer.full import check_header, is_header
from recollect.transfer.full_import import FullImport
from recollect.transfer.json_lines import record_batches, records
from recollect.transfer.markdown_import import MARKDOWN_EXPORT, import_markdown, is_markdown_export
from recollect.transfer.official import OfficialImport
from recollect.transfer.reports import ImportReport, Tally

if TYPE_CHECKING:
    from recollect.engine.engine import Engine
    from recollect.ports import Progress
    from recollect.transfer.files import LineFile

ImportFormat = Literal["auto", "official", "full", "markdown-export"]


def import_file(
    engine: Engine,
    source: str | Path | IO[str] | IO[bytes],
    *,
    format: ImportFormat = "auto",  # noqa: A002  # the word a caller expects
    keep_going: bool = True,
    embed: bool = True,
    progress: Progress | None = None,
    embed_progress: Progress | None = None,
) -> ImportReport:
    """Import a file, or a stream; one that is packed with gzip is unpacked on the way.

    A folder that an export to Markdown made goes the same way. `auto` tells the formats apart by the first
    line. The official format goes into the engine's scope, by
    name; the full one into the scopes that it names, each memory under its own id where that is free.
    Importing the same file again changes nothing.

    A line that cannot be read is left out and named in the report; with `keep_going=False`, the first one
    stops the import before anything is written. Relations may stand before their entities. What only a
    relation of the official format names is created with the type `unknown`; a full export names its ends by
    id, and a relation that leads nowhere is named in the report and is no reason to stop.

    What a full export learnt from use comes along whole into an empty store. Into one that has memories, it
    follows its memories; what is here already stays, and what cannot follow is named in the report.

    The rows are written in batches, each durable by itself. Then, unless `embed` is false, what waits for a
    vector is embedded. `progress` gets bytes of the file, for each time it is read; `embed_progress` gets
    numbers of passages.
    """
    if isinstance(source, str | Path) and (format == MARKDOWN_EXPORT or is_markdown_export(source)):
        return import_markdown(
            engine,
            source,
            keep_going=keep_going,
            embed=embed,
            progress=progress,
            embed_progress=embed_progress,
        )
    tally = Tally()
    with open_lines(source, progress, passes=2 if keep_going else 3) as file:
        first = file.first()
        is_full = format == "full" or (format == "auto" and first is not None and is_header(first.content))
        into = engine.upkeep.importing()
        target: FullImport | OfficialImport = (
            FullImport(into, tally, version=check_header(first)) if is_full else OfficialImport(into, tally)
        )
        _import(file, target, tally, keep_going=keep_going)
    if isinstance(source, str | Path) and tally.counts["lines"] > tally.counts["bad_count"]:
        into.record_file(source)
    done = engine.upkeep.embed_pending(embed_progress, past=is_full) if embed else EmbedResult()
    return ImportReport(
        "full" if is_full else "official",
        embedded=done.embedded,
        note=done.problem,
        model_note=done.model_note,
        **tally.fields(),
    )


def _import(file: LineFile, target: FullImport | OfficialImport, tally: Tally, *, keep_going: bool) -> None:
    """Memories first, then what leads to them, wherever they are in the file."""
    if not keep_going:
        for _ in records(file, target.format, _refuse_line):
            pass
    rest = 0
    for batch in record_batches(records(file, target.format, tally.bad_line)):
        memories: list[Any] = [item.record for item in batch if isinstance(item.record, NewEntity | Memory)]
        rest += len(batch) - len(memories)
        if memories:
            target.add_memories(memories)
    tally.counts["lines"] = file.read
    target.link()
    if rest:
        # What is wrong with a line was reported before.
        for batch in record_batches(records(file, target.format, lambda *_: None, target.memory_kind)):
            target.add_rest(batch)
        target.link()
    file.finish()


def _refuse_line(line: int, reason: str) -> None:
    raise InvalidInput(
        f"Line {line}: {reason} Nothing was imported; correct the line, or let the import leave out bad ones."
    )
