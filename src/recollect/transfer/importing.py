"""Reading a file of memories into a store."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from recollect.transfer import full
from recollect.transfer.files import open_lines
from recollect.transfer.full_import import import_full
from recollect.transfer.official import import_official
from recollect.transfer.reports import Tally

if TYPE_CHECKING:
    from recollect.engine.engine import Engine
    from recollect.ports import Progress
    from recollect.transfer.reports import ImportReport

ImportFormat = Literal["auto", "official", "full"]


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

    `auto` tells the formats apart by the first line. The official format goes into the engine's scope, by
    name; the full one into the scopes that it names, each memory under its own id where that is free.
    Importing the same file again changes nothing.

    A line that cannot be read is left out and named in the report; with `keep_going=False`, the first one
    stops the import before anything is written. Relations may stand before their entities. What only a
    relation of the official format names is created with the type `unknown`; a full export names its ends by
    id, and a relation that leads nowhere is named in the report and is no reason to stop.

    The rows are written in batches, each durable by itself. Then, unless `embed` is false, what waits for a
    vector is embedded. `progress` gets bytes of the file, for each time it is read; `embed_progress` gets
    numbers of passages.
    """
    tally = Tally()
    with open_lines(source, progress) as file:
        first = file.first()
        is_full = format == "full" or (
            format == "auto" and first is not None and full.is_header(first.content)
        )
        into = engine.upkeep.importing()
        (import_full if is_full else import_official)(into, file, tally, keep_going=keep_going)
    if isinstance(source, str | Path) and tally.found_something:
        into.record_file(source)
    embedded, note = engine.upkeep.embed_pending(embed_progress) if embed else (0, None)
    return tally.report("full" if is_full else "official", embedded, note)
