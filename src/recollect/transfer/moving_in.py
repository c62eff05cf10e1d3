"""Importing a file, folder or database, whatever program wrote it: what it is shows from what it holds."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, cast

from recollect.engine.results import EmbedResult
from recollect.errors import InvalidInput
from recollect.records import Scope
from recollect.transfer.chats import FORMATS as CHATS
from recollect.transfer.chats import format_of
from recollect.transfer.chats.archives import is_zip
from recollect.transfer.chats.importing import ChatReport, chat_import, chat_preview
from recollect.transfer.export_folder import is_table_export
from recollect.transfer.files import UTF16_MARKS, open_lines
from recollect.transfer.foreign_import import ForeignImport, ForeignTally
from recollect.transfer.foreign_records import Placing
from recollect.transfer.formats.catalogue import FOREIGN
from recollect.transfer.formats.items import BadRow
from recollect.transfer.formats.source import DOCUMENT_LIMIT, ForeignSource
from recollect.transfer.full import is_header
from recollect.transfer.importing import import_file
from recollect.transfer.json_lines import read_object
from recollect.transfer.markdown_import import MARKDOWN_EXPORT, is_markdown_export, markdown_preview
from recollect.transfer.previewing import ImportPreview, import_preview
from recollect.transfer.reports import ForeignReport, ImportReport, Tally

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recollect.engine.engine import Engine
    from recollect.ports import Progress
    from recollect.transfer.foreign_records import ForeignRecord
    from recollect.transfer.formats import ForeignFormat
    from recollect.transfer.importing import ImportFormat

OWN = ("official", "full", MARKDOWN_EXPORT)
_TITLES = {
    "official": "the official memory server's JSONL",
    "full": "Recollect's own full export",
    MARKDOWN_EXPORT: "Recollect's own export to Markdown",
    "chatgpt": "a ChatGPT export",
    "claude": "a Claude export",
    "markdown": "Markdown files",
    "turns": "JSON or JSONL of turns",
}
_OF_TALKS = (b'"mapping"', b'"chat_messages"')
"""What every export of ChatGPT or Claude has near its start."""
_OWN_TABLES = {"memory", "observation", "passage", "scope"}
_LOOKED_AT = 20
# Of what has none, where nothing is stored.
_NO_TIME = datetime.min.replace(tzinfo=UTC)
_PROGRESS_EVERY = 500


def import_formats() -> dict[str, str]:
    """Every format that can be imported, by its name; what it is."""
    return {**{each.name: each.title for each in FOREIGN}, **_TITLES}


def recognise(path: str | Path) -> str:
    """The format of a file, folder or database, by its name; `InvalidInput` lists what is known."""
    source = ForeignSource(path)
    if is_table_export(source.path):
        raise InvalidInput(
            f"{source.path} is an export to tables, which are for other programs and cannot be imported. To "
            "move a memory, export it with --format full, or with --format markdown."
        )
    if is_markdown_export(source.path):
        return MARKDOWN_EXPORT
    if any(sign in source.head for sign in _OF_TALKS):
        # Before anything reads a document whole: such exports may have gigabytes.
        with suppress(InvalidInput):
            if (of_talks := format_of(source.path)) != "turns":
                return of_talks
    foreign = [each.name for each in FOREIGN if each.recognises(source)]
    if source.is_folder and len(foreign) > 1:
        raise InvalidInput(
            f"{source.path} holds the memories of several programs: {', '.join(foreign)}. "
            "Import one at a time, with --format NAME."
        )
    if foreign:
        return foreign[0]
    if source.url:
        raise InvalidInput(
            f"{source.shown} has no tables that can be imported; from PostgreSQL, only LangGraph's can. "
            "To copy a Recollect store: recollect copy URL NEW-STORE"
        )
    if not source.is_folder and not source.is_database:
        lines = _format_of_lines(source.path)
        if lines is not None:
            return lines
    try:
        found = format_of(source.path)
    except InvalidInput as error:
        # What ends so has been taken for the official format ever since, and each bad line is named.
        if not source.is_folder and source.path.name.removesuffix(".gz").endswith(".jsonl"):
            return "official"
        raise _unknown(source) from error
    if found == "turns" and source.is_folder and _importable_files(source.path):
        raise _unknown(source)
    return found


def _unknown(source: ForeignSource) -> InvalidInput:
    if source.tables.keys() >= _OWN_TABLES:
        return InvalidInput(
            f"{source.path} is a Recollect store; open it with --store, or copy it: recollect copy"
        )
    if source.is_folder and (files := _importable_files(source.path)):
        listed = ", ".join(f"{name} ({format_})" for name, format_ in files.items())
        return InvalidInput(
            f"{source.path} cannot be imported as a whole; import its files one by one: {listed}."
        )
    if source.is_folder and not any(source.path.iterdir()):
        return InvalidInput(f"{source.path} is empty; nothing was imported.")
    if source.document in ([], {}):
        what = "projects" if source.path.name == "projects.json" else "memories"
        return InvalidInput(f"{source.path} holds no {what}; nothing was imported.")
    return InvalidInput(
        f"{source.path} cannot be imported: {_why_unknown(source)} Known formats: "
        f"{', '.join(import_formats())}. More: recollect import --help"
    )


def _why_unknown(source: ForeignSource) -> str:
    if source.is_folder:
        return "no file in it is of a known format."
    if source.path.stat().st_size > DOCUMENT_LIMIT:
        return f"it is larger than {DOCUMENT_LIMIT // 1024**2} MiB, the limit for a JSON document."
    return source.broken_document() or _unknown_kind(source)


def _unknown_kind(source: ForeignSource) -> str:
    if source.is_database:
        return "it is a SQLite file without the tables of a known program."
    if is_zip(source.path):
        return "it is a zip without a known export."
    if b"\0" in source.head and not source.head.startswith(UTF16_MARKS):
        return "it is a binary file of no known kind."
    return "it is text of no known kind." if source.document is None else "it is JSON of no known kind."


def _importable_files(folder: Path) -> dict[str, str]:
    """The first files of a folder that are a memory by themselves, each with its format."""
    found: dict[str, str] = {}
    files = (file for file in sorted(folder.iterdir()) if file.is_file() and not file.name.startswith("."))
    for file in islice((file for file in files if file.stat().st_size), _LOOKED_AT):
        with suppress(InvalidInput):
            source = ForeignSource(file)
            known = next((each.name for each in FOREIGN if each.recognises(source)), None)
            known = known or (None if source.is_database else _format_of_lines(file))
            if known is not None:
                found[file.name] = known
    return found


def import_path(
    engine: Engine,
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002  # the word a caller expects
    keep_going: bool = True,
    embed: bool = True,
    merge_owners: bool = False,
    progress: Progress | None = None,
    embed_progress: Progress | None = None,
) -> ImportReport | ChatReport | ForeignReport:
    """Import a file, a folder or a database of any format in `import_formats`; without `format`, what it
    holds decides.

    The source is only read. Importing it again changes nothing, and importing a later state of it adds what
    is new. What cannot be read is left out and named in the report; with `keep_going=False`, the first such
    thing stops the import before anything is written. What has no place here is counted in the report.

    Memories of other programs keep their owners and agents, so that `scoped` reads them; with
    `merge_owners`, all go to the engine's own scope. `progress` gets numbers of things read, or of bytes;
    `embed_progress`, of passages.
    """
    known = format or recognise(path)
    if known in OWN:
        return import_file(
            engine,
            path,
            format=cast("ImportFormat", known),
            keep_going=keep_going,
            embed=embed,
            progress=progress,
            embed_progress=embed_progress,
        )
    if known in CHATS:
        return chat_import(
            engine,
            path,
            format=known,
            keep_going=keep_going,
            embed=embed,
            progress=progress,
            embed_progress=embed_progress,
        )
    of, source = _foreign_source(known, path)
    into = engine.upkeep.importing()
    placing = Placing(of.name, engine.scope, into.at, merge_owners)
    if not keep_going:
        _refuse_bad_rows(placing.records(of.read(source)))
    tally = Tally()
    counter = ForeignTally(tally)
    writer = ForeignImport(into, placing, tally)
    writer.add(_counted(placing.records(of.read(source)), counter, progress))
    writer.finish()
    done = engine.upkeep.embed_pending(embed_progress) if embed else EmbedResult()
    return ForeignReport(
        of.name,
        of.title,
        owners=tuple(sorted(counter.owners.items())),
        no_place=counter.unplaced(),
        examples=counter.examples(),
        embedded=done.embedded,
        note=done.problem,
        model_note=done.model_note,
        **tally.fields(),
    )


def preview_path(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002  # the word a caller expects
    merge_owners: bool = False,
    progress: Progress | None = None,
) -> ImportPreview | ChatReport | ForeignReport:
    """Read all that `import_path` would, without any memory: nothing is written."""
    known = format or recognise(path)
    if known == MARKDOWN_EXPORT:
        return markdown_preview(path, progress)
    if known in OWN:
        return import_preview(path, progress)
    if known in CHATS:
        return chat_preview(path, format=known, progress=progress)
    of, source = _foreign_source(known, path)
    tally = Tally()
    counter = ForeignTally(tally)
    placing = Placing(of.name, Scope(), _NO_TIME, merge_owners)
    for _ in _counted(placing.records(of.read(source)), counter, progress):
        pass
    return ForeignReport(
        of.name,
        of.title,
        owners=tuple(sorted(counter.owners.items())),
        no_place=counter.unplaced(),
        examples=counter.examples(),
        **tally.fields(),
    )


def _foreign_source(name: str, path: str | Path) -> tuple[ForeignFormat, ForeignSource]:
    found = next((each for each in FOREIGN if each.name == name), None)
    if found is None:
        raise InvalidInput(f"No format named {name!r}; there are: {', '.join(import_formats())}.")
    source = ForeignSource(path)
    if not found.recognises(source):
        raise InvalidInput(f"{source.shown} is not {found.title}: nothing in it matches that format.")
    return found, source


def _format_of_lines(path: Path) -> str | None:
    """One of our own two, if one of the first lines says so; `InvalidInput` for an empty file."""
    with open_lines(path) as file:
        for place, line in enumerate(islice(file.lines(), _LOOKED_AT)):
            if place == 0 and is_header(line.content):
                return "full"
            try:
                plain = read_object(line.content)
            except InvalidInput:
                continue
            if plain.get("type") in ("entity", "relation"):
                return "official"
        if not file.read:
            raise InvalidInput(f"{path} is empty; nothing was imported.")
        return None


def _counted(
    records: Iterator[ForeignRecord], counter: ForeignTally, progress: Progress | None
) -> Iterator[ForeignRecord]:
    number = 0
    for number, record in enumerate(records, 1):
        counter.count(record)
        if progress is not None and number % _PROGRESS_EVERY == 0:
            progress(number, None)
        yield record
    if progress is not None:
        progress(number, number)


def _refuse_bad_rows(records: Iterator[ForeignRecord]) -> None:
    for record in records:
        if isinstance(record, BadRow):
            raise InvalidInput(
                f"{record.place}: {record.reason} Nothing was imported; correct it, or let the import leave "
                "out bad rows."
            )
