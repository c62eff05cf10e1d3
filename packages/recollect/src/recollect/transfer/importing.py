"""Import files, folders and databases. The content shows which program's format it has."""

from __future__ import annotations

import zipfile
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, cast

from recollect.admin import Internals
from recollect.domain.changes import NewEntity, NewRelation
from recollect.domain.errors import InvalidInput, load_registered, missing_extra, registered
from recollect.domain.records import Memory, Relation, Scope
from recollect.domain.results import EmbedResult
from recollect.memories.sessions import add_messages
from recollect.transfer.files import (
    UTF16_MARKS,
    is_table_export,
    open_lines,
    read_object,
    record_batches,
    records,
)
from recollect.transfer.foreign import ForeignImport, ForeignTally, Placing, item_count
from recollect.transfer.importers import DOCUMENT_LIMIT, BadRow, Conversation, ForeignFormat, ForeignSource
from recollect.transfer.line_formats import FULL, FullImport, OfficialImport, check_header, is_header
from recollect.transfer.markdown import MARKDOWN_EXPORT, MARKDOWN_VERSION, is_markdown_export, open_markdown
from recollect.transfer.moved_rows import importing
from recollect.transfer.reports import ForeignReport, ImportPreview, ImportReport, Tally, count_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recollect.engine import Engine
    from recollect.stores.port import Progress
    from recollect.transfer.files import LineFile, NumberedRecord
    from recollect.transfer.foreign import ForeignRecord
    from recollect.transfer.markdown import MarkdownFiles
    from recollect.transfer.reports import Format

ImportFormat = Literal["auto", "official", "full", "markdown-export"]
OWN_FORMATS = {
    "official": "the official memory server's JSONL",
    "full": "Recollect's own full export",
    MARKDOWN_EXPORT: "Recollect's own export to Markdown",
}
_GROUP, _EXTRA = "recollect.importers", "importers"
_OWN_TABLES = {"memory", "observation", "passage", "scope"}
_MOST_EXAMINED = 20
# In a preview, the time of items without a time.
_NO_TIME = datetime.min.replace(tzinfo=UTC)


# Formats


def foreign_formats() -> tuple[ForeignFormat, ...]:
    """Return the formats that installed packages register, in the order in which they are tried."""
    return tuple(sorted((point.load() for point in registered(_GROUP)), key=lambda each: each.order))


def format_names() -> list[str]:
    """Return the names of `import_formats` without loading them."""
    return [*OWN_FORMATS, *sorted(point.name for point in registered(_GROUP))]


def import_formats() -> dict[str, str]:
    """Return all formats that can be imported: descriptions by name."""
    return {**{each.name: each.title for each in foreign_formats()}, **OWN_FORMATS}


def recognise(path: str | Path, format: str | None = None) -> str:  # noqa: A002  # the word a caller expects
    """Return the name of a source's format, or raise `InvalidInput` if it is unknown.

    A given `format` is returned, unless the source clearly has another one.
    """
    if format is not None:
        if format not in OWN_FORMATS:
            _foreign_source(format, path)
        return format
    source = ForeignSource(path)
    if is_table_export(source.path):
        raise InvalidInput(
            f"{source.path} is an export to tables, which are for other programs and cannot be imported. To "
            "move a memory, export it with --format full, or with --format markdown."
        )
    if is_markdown_export(source.path):
        return MARKDOWN_EXPORT
    formats = foreign_formats()
    # Look for signs at the beginning first: some exports are too large to be read as one document.
    for each in formats:
        if any(sign in source.head for sign in each.signs) and each.recognises(source):
            return each.name
    for order, group in groupby(formats, lambda each: each.order):
        if order and (own := _own_format(source)) is not None:
            return own
        found = [each.name for each in group if each.recognises(source)]
        if source.is_folder and len(found) > 1:
            raise InvalidInput(
                f"{source.path} holds the memories of several programs: {', '.join(found)}. "
                "Import one at a time, with --format NAME."
            )
        if found:
            return found[0]
    own = _own_format(source)
    # Read other files with this ending as the official format: its reader reports each bad line.
    if own is None and not source.is_folder and source.path.name.removesuffix(".gz").endswith(".jsonl"):
        own = "official"
    if own is None:
        raise _unknown_format(source, formats)
    return own


def _own_format(source: ForeignSource) -> str | None:
    if source.url:
        raise InvalidInput(
            f"{source.display_name} has no tables that can be imported; of PostgreSQL, only LangGraph's can. "
            "To copy a Recollect store: recollect copy URL NEW-STORE"
        )
    return None if source.is_folder or source.is_database else _format_of_lines(source.path)


def _format_of_lines(path: Path) -> str | None:
    """Return the format that the first lines have, or None. Raise `InvalidInput` if there are no lines."""
    with open_lines(path) as file:
        for place, line in enumerate(islice(file.lines(), _MOST_EXAMINED)):
            if place == 0 and is_header(line.content):
                return "full"
            with suppress(InvalidInput):
                if read_object(line.content).get("type") in ("entity", "relation"):
                    return "official"
        if not file.read:
            raise InvalidInput(f"{path} is empty; nothing was imported.")
        return None


def _unknown_format(source: ForeignSource, formats: tuple[ForeignFormat, ...]) -> InvalidInput:
    if source.tables.keys() >= _OWN_TABLES:
        return InvalidInput(
            f"{source.path} is a Recollect store; open it with --store, or copy it: recollect copy"
        )
    if not formats:
        raise missing_extra(f"Importing {source.path}", _EXTRA, "it is not one of Recollect's own formats")
    if source.is_folder and (files := _importable_files(source.path, formats)):
        listed = ", ".join(f"{name} ({format_})" for name, format_ in files.items())
        return InvalidInput(
            f"{source.path} cannot be imported as a whole; import its files one by one: {listed}."
        )
    if source.is_folder and not any(source.path.iterdir()):
        return InvalidInput(f"{source.path} is empty; nothing was imported.")
    if source.document in ([], {}):
        what = "projects" if source.path.name == "projects.json" else "memories"
        return InvalidInput(f"{source.path} holds no {what}; nothing was imported.")
    if source.is_folder:
        why = "no file in it is of a known format."
    elif source.path.stat().st_size > DOCUMENT_LIMIT:
        why = f"it is larger than {DOCUMENT_LIMIT // 1024**2} MiB, the limit for a JSON document."
    elif broken := source.broken_document():
        why = broken
    elif source.is_database:
        why = "it is a SQLite file without the tables of a known program."
    elif zipfile.is_zipfile(source.path):
        why = "it is a zip without a known export."
    elif b"\0" in source.head and not source.head.startswith(UTF16_MARKS):
        why = "it is a binary file of no known kind."
    else:
        why = "it is text of no known kind." if source.document is None else "it is JSON of no known kind."
    return InvalidInput(
        f"{source.path} cannot be imported: {why} Known formats: {', '.join(import_formats())}. "
        "More: recollect import --help"
    )


def _importable_files(folder: Path, formats: tuple[ForeignFormat, ...]) -> dict[str, str]:
    """Return formats by name for those of the first files in a folder that can be imported alone."""
    found: dict[str, str] = {}
    files = (file for file in sorted(folder.iterdir()) if file.is_file() and not file.name.startswith("."))
    for file in islice((file for file in files if file.stat().st_size), _MOST_EXAMINED):
        with suppress(InvalidInput):
            source = ForeignSource(file)
            known = next((each.name for each in formats if not each.order and each.recognises(source)), None)
            if (known := known or _own_format(source)) is not None:
                found[file.name] = known
    return found


# Any format


def import_path(
    engine: Engine,
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002  # the word a caller expects
    keep_going: bool = True,
    embed: bool = True,
    extract: bool = False,
    merge_owners: bool = False,
    progress: Progress | None = None,
    embed_progress: Progress | None = None,
) -> ImportReport | ForeignReport:
    """Import a file, a folder or a database of any format in `import_formats`.

    Without `format`, the content decides. The source is not changed. Importing it again adds what is new
    or changed. Unreadable items are left out and listed in the report; with `keep_going=False`, the first one
    stops the import before anything is written. The report also counts items that Recollect cannot keep.

    Memories of other programs keep their owners and agents, and `scoped` reads them. With `merge_owners`, all
    go to the engine's own scope. With `extract`, facts in conversations also become notes. These are compared
    by meaning, so they are embedded even without `embed`. `progress` gets the number of items or bytes read,
    `embed_progress` that of passages.
    """
    known = format or recognise(path)
    if known in OWN_FORMATS:
        return import_file(
            engine,
            path,
            format=cast("ImportFormat", known),
            keep_going=keep_going,
            embed=embed,
            progress=progress,
            embed_progress=embed_progress,
        )
    of, source = _foreign_source(known, path)
    into = importing(engine)
    placing = Placing(of.name, engine.scope, into.at, merge_owners)
    total = 0  # count everything first, so that a progress bar shows how much is left
    for record in () if keep_going and progress is None else placing.records(of.read(source)):
        total += item_count(record)
        reason = f"{record.place}: {record.reason}" if isinstance(record, BadRow) else None
        if isinstance(record, Conversation) and record.bad:
            reason = record.bad[0]
        if reason is not None and not keep_going:
            raise InvalidInput(
                f"{reason} Nothing was imported; correct it, or let the import leave out bad rows."
            )
    counter = ForeignTally()
    notes: dict[str, str | None] = {"note": None, "model_note": None}

    def others() -> Iterator[ForeignRecord]:
        """Write conversations at once, and yield all other records."""
        counts = counter.tally.counts
        for record in counter.count(placing.records(of.read(source)), progress, total):
            if not isinstance(record, Conversation):
                yield record
            elif record.turns:
                # Embed messages at the end, all at once. Extracted notes are embedded now, to compare them.
                result = add_messages(
                    into.services,
                    record.session,
                    record.turns,
                    extract=extract,
                    keep_going=True,
                    key=None,
                    embed=False,
                )
                counts["messages_new"] += result.created
                counts["messages"] -= len(result.rejected)
                counts["notes_drawn"] += sum(note.created for note in result.notes)
                for name, said in notes.items():
                    notes[name] = said or getattr(result, name)
                for row in result.rejected:
                    counter.tally.add("bad", f"{record.title}, turn {row.index + 1}: {row.reason}")

    writer = ForeignImport(into, placing, counter.tally)
    writer.add(others())
    writer.finish()
    done = Internals(engine).embed_pending(embed_progress) if embed else EmbedResult()
    return counter.report(
        of,
        embedded=done.embedded,
        waiting=engine.counts().due,
        note=notes["note"] or done.problem,
        model_note=notes["model_note"] or done.model_note,
    )


def preview_path(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002  # the word a caller expects
    merge_owners: bool = False,
    progress: Progress | None = None,
) -> ImportPreview | ForeignReport:
    """Read everything that `import_path` would read, without an engine, and count it."""
    known = format or recognise(path)
    if known in OWN_FORMATS:
        return import_preview(path, progress)
    of, source = _foreign_source(known, path)
    counter = ForeignTally()
    placing = Placing(of.name, Scope(), _NO_TIME, merge_owners)
    for _ in counter.count(placing.records(of.read(source)), progress):
        pass
    return counter.report(of)


def _foreign_source(name: str, path: str | Path) -> tuple[ForeignFormat, ForeignSource]:
    known = {point.name for point in registered(_GROUP)}
    if known and name not in known:
        raise InvalidInput(f"No format named {name!r}; there are: {', '.join(import_formats())}.")
    of: ForeignFormat = load_registered(_GROUP, name, what=f"The format {name!r}", extra=_EXTRA)
    source = ForeignSource(path)
    if not of.order and not of.recognises(source):
        raise InvalidInput(f"{source.display_name} is not {of.title}: nothing in it matches that format.")
    return of, source


# Our own formats, and the official server's


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
    """Import a file or a stream, which may be packed with gzip, or a folder of a Markdown export.

    `auto` recognises the format by the first line. Entities of the official format are matched by name in the
    engine's scope. Memories of the full format go into the scopes that they name, each under its own id if
    that is free. Importing the same file again changes nothing.

    A line that cannot be read is left out and listed in the report. With `keep_going=False`, the first one
    stops the import before anything is written. Relations may come before their entities. If a relation of
    the official format names a new entity, it is created with the type `unknown`. If a full export
    lacks an end of a relation, the report lists the relation, and the import goes on.

    An empty store takes all data learnt from use in a full export. A store with memories takes that of the
    imported memories and keeps its own values; the report lists those that could not be imported.

    Each batch of rows is committed by itself. Then waiting texts are embedded, unless `embed` is false.
    `progress` gets the bytes read, over all passes; `embed_progress` gets the number of passages.
    """
    tally = Tally()
    into = importing(engine)
    with _open_records(source, format, progress, passes=2 if keep_going else 3) as opened:
        is_official = opened.format == "official"
        target: FullImport | OfficialImport = (
            OfficialImport(into, tally) if is_official else FullImport(into, tally, version=opened.version)
        )
        _import(opened, target, tally, keep_going=keep_going)
    is_file = isinstance(source, str | Path) and opened.format != MARKDOWN_EXPORT
    if is_file and tally.counts["lines"] > tally.counts["bad_count"]:
        into.record_file(cast("str | Path", source))
    done = Internals(engine).embed_pending(embed_progress, past=not is_official) if embed else EmbedResult()
    return ImportReport(
        opened.format, embedded=done.embedded, note=done.problem, model_note=done.model_note, **tally.fields()
    )


class _OpenRecords(NamedTuple):
    """The records of an open file or folder."""

    format: Format
    version: int
    """The version of our own format; 0 for the official one."""
    file: LineFile | MarkdownFiles
    records: Callable[..., Iterator[NumberedRecord]]
    """A function that reads the records; it takes a callback for bad lines, and a kind to leave out."""


@contextmanager
def _open_records(
    source: str | Path | IO[str] | IO[bytes],
    format_: ImportFormat = "auto",
    progress: Progress | None = None,
    passes: int = 1,
) -> Iterator[_OpenRecords]:
    if isinstance(source, str | Path) and (format_ == MARKDOWN_EXPORT or is_markdown_export(source)):
        with open_markdown(source, progress, passes) as files:
            yield _OpenRecords(MARKDOWN_EXPORT, MARKDOWN_VERSION, files, files.records)
        return
    with open_lines(source, progress, passes) as file:
        first = file.first()
        if format_ == "full" or (format_ == "auto" and first is not None and is_header(first.content)):
            yield _OpenRecords("full", check_header(first), file, partial(records, file, FULL))
        else:
            yield _OpenRecords("official", 0, file, partial(records, file, OfficialImport.format))


def _import(
    opened: _OpenRecords, target: FullImport | OfficialImport, tally: Tally, *, keep_going: bool
) -> None:
    """Write all memories, then read again and write the records that refer to them."""
    if not keep_going:

        def refuse(line: int, reason: str) -> None:
            raise InvalidInput(
                f"Line {line}: {reason} Nothing was imported; correct the line, or let the import leave out "
                "bad ones."
            )

        for _ in opened.records(refuse):
            pass
    rest = 0
    for batch in record_batches(opened.records(tally.bad_line)):
        memories: list[Any] = [item.record for item in batch if isinstance(item.record, NewEntity | Memory)]
        rest += len(batch) - len(memories)
        if memories:
            target.add_memories(memories)
    tally.counts["lines"] = opened.file.read
    target.link()
    if rest:
        # Ignore bad lines: the first pass has reported them.
        for batch in record_batches(opened.records(lambda *_: None, target.memory_kind)):
            target.add_rest(batch)
        target.link()
    opened.file.finish()


def import_preview(
    source: str | Path | IO[str] | IO[bytes], progress: Progress | None = None
) -> ImportPreview:
    """Read a file as `import_file` does, and count its records."""
    tally, owners = Tally(), set[str]()
    with _open_records(source, progress=progress) as opened:
        for _, _, record in opened.records(tally.bad_line):
            if isinstance(record, NewEntity | Memory):
                count_memory(tally.counts, record, record.observations)
                if isinstance(record, Memory):
                    owners.add(record.scope.owner)
            else:
                tally.counts["relations" if isinstance(record, NewRelation | Relation) else "learnt"] += 1
        return ImportPreview(opened.format, opened.file.read, owners=tuple(sorted(owners)), **tally.fields())
