"""Writing a store's memories to a file."""

from __future__ import annotations

from collections import Counter
from typing import IO, TYPE_CHECKING, Literal

from recollect.records import Kind
from recollect.transfer.files import open_target
from recollect.transfer.full import full_header, full_line
from recollect.transfer.official import official_line
from recollect.transfer.reports import ExportReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from recollect.engine.engine import Engine
    from recollect.engine.upkeep.transfer import Export
    from recollect.ports import Progress
    from recollect.records import Memory

ExportFormat = Literal["official", "full"]
_PROGRESS_EVERY = 500
_LEFT_OUT = "Notes and messages were left out: this format has no place for them, and the full one has."


def export_file(
    engine: Engine,
    target: str | Path | IO[str] | IO[bytes],
    *,
    format: ExportFormat = "official",  # noqa: A002  # the word a caller expects
    scope_only: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> ExportReport:
    """Export to a file, or to a stream that takes text or bytes.

    `official` is what the official memory server reads and writes: the entities of the engine's scope, the
    observations and relations in force, in the order in which they came. `full` keeps everything there is,
    forgotten things too, of every scope, or of the engine's with `scope_only`; imported into an empty store,
    it gives the same store again, ids included. The scope of an engine that is `scoped(owner, None)` is that
    of all the owner's agents.

    All of it is of one moment. A file appears only when it is whole, and one that is there is kept unless
    `overwrite` says otherwise; a name that ends in .gz is packed. `progress` gets numbers of memories.
    """
    everything = format == "full" and not scope_only
    with (
        engine.upkeep.export(everything=everything) as found,
        open_target(target, overwrite=overwrite) as write,
    ):
        counts = _write(found, write, progress, full=format == "full")
        note = _LEFT_OUT if format != "full" and found.has_texts() else None
        return ExportReport(format, note=note, **counts)


def _write(
    found: Export, write: Callable[[str], object], progress: Progress | None, *, full: bool
) -> Counter[str]:
    counts = Counter(lines=int(full))
    line = full_line if full else official_line
    if full:
        write(full_header())
    for memory in _reported(found.memories() if full else found.entities(), found, progress):
        write(line(memory))
        counts["entities" if memory.kind is Kind.ENTITY else "texts"] += 1
        counts["observations"] += len(memory.observations if full else memory.in_force)
        counts["forgotten"] += memory.deleted_at is not None
        counts["lines"] += 1
    for relation in found.relations() if full else found.relations_in_force():
        write(line(relation))
        counts["relations"] += 1
        counts["lines"] += 1
    return counts


def _reported(memories: Iterable[Memory], found: Export, progress: Progress | None) -> Iterator[Memory]:
    total = found.total() if progress else None
    done = 0
    for done, memory in enumerate(memories, start=1):
        yield memory
        if progress and done % _PROGRESS_EVERY == 0:
            progress(done, total)
    if progress and done % _PROGRESS_EVERY:
        progress(done, total)
