"""Commands that move memories: import, export, backup, copy."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import click

from recollect.cli.command import REFUSED, Call, command, option
from recollect.cli.options import KEEP_GOING, STDIN
from recollect.cli.rendering import (
    Block,
    Message,
    Result,
    Table,
    fields_of,
    muted,
    progress,
    right_aligned,
    warn,
)
from recollect.domain.errors import InvalidInput
from recollect.stores.url import without_password
from recollect.text.phrases import entities_text, file_size, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from click.shell_completion import CompletionItem

    from recollect.transfer import ForeignReport, ImportReport
    from recollect.transfer.reports import ImportPreview


_MAX_NAMED = 5
"""Maximum number of bad lines that the text names; `--json` names more."""
_STREAM = "Standard input"


class _ImportFormat(click.ParamType):  # type: ignore[type-arg]  # generic only in later versions of click
    """The name of a format. The names are loaded only when needed, so that the help stays fast."""

    name = "format"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value == "auto":
            return value
        from recollect.transfer.importing import OWN_FORMATS, format_names  # loads the engine

        known = format_names()
        if known == list(OWN_FORMATS):
            return value  # the command then names the package to install
        return click.Choice(["auto", *known]).convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from recollect.transfer.importing import format_names  # loads the engine

        return click.Choice(["auto", *format_names()]).shell_complete(ctx, param, incomplete)


@command(
    "import",
    "recollect import memory.jsonl",
    "recollect import mnemosyne.db --dry-run",
    "recollect import chatgpt-export.zip --extract",
    "recollect import postgresql://ana@db.example.org/agents",
    "recollect import ~/vault --format markdown",
    "ssh work cat memory.jsonl | recollect import -",
    if_stopped="Imported records are kept. Run the same command again to continue: it skips what is stored.",
)
@click.argument("path")
@option(
    "--format NAME", "Format. A wrong name lists all.", to="format_", type=_ImportFormat(), default="auto"
)
@option("--dry-run", "Read everything, store nothing, show examples.")
@option("--merge-owners", "Store all under this owner and agent.")
@option("--extract", "Also extract notes from conversations.")
@option("--embed/--no-embed", default=True)
@KEEP_GOING
def import_command(
    call: Call, path: str, format_: str, dry_run: bool, merge_owners: bool, extract: bool, **how: Any
) -> Result:
    """Import another program's memory, chats, or an export.

    PATH is a file, a folder or the URL of a PostgreSQL database. Its format is recognised. PATH is only
    read, and may be in use. Importing it again adds only what is new. The report counts what cannot be kept.
    Each turn of a conversation becomes a message of a session.

    `-` reads JSON lines from standard input: our own, or those of the official MCP memory server. An entity
    that only a relation names is created with the type `unknown`.
    """
    from recollect import transfer  # loads the engine
    from recollect.transfer.importers import is_server_url

    if extract and not how["embed"]:
        raise click.UsageError("--extract compares notes by their vectors; leave out --no-embed.")
    is_stream = path == STDIN
    known = None if format_ == "auto" else format_
    if is_stream:
        if known not in {None, "official", "full"}:
            raise click.UsageError(f"Standard input must be official or full; give a file for {format_}.")
    else:
        # Check the path before a store is created.
        known = transfer.recognise(path, known)
        if not (is_server_url(path) or Path(path).exists()):
            raise InvalidInput(f"There is no file or folder {path}.")
    if dry_run:
        with progress("Reading") as (reading,):
            if is_stream:
                return _preview_result(transfer.import_preview(sys.stdin.buffer, reading), _STREAM)
            seen = transfer.preview_path(path, format=known, merge_owners=merge_owners, progress=reading)
        return _preview_result(seen, path)
    memory = call.memory(create=True)
    report: ImportReport | ForeignReport
    with progress("Reading", "Embedding") as (reading, embedding):
        how |= {"progress": reading, "embed_progress": embedding}
        if is_stream:
            lines_format = cast('Literal["auto", "official", "full"]', format_)
            report = transfer.import_file(memory, sys.stdin.buffer, format=lines_format, **how)
        else:
            report = transfer.import_path(
                memory, path, format=known, extract=extract, merge_owners=merge_owners, **how
            )
    if isinstance(report, transfer.ImportReport):
        return _lines_result(report, _STREAM if is_stream else path)
    return _foreign_result(report, path)


def _preview_result(seen: ImportPreview | ForeignReport, path: str) -> Result:
    from recollect.transfer import ForeignReport

    if isinstance(seen, ForeignReport):
        return _foreign_result(seen, path, dry_run=True)
    if not seen.lines:
        return _nothing_in(path, "is empty", {**fields_of(seen), "dry_run": True})
    counts = [
        entities_text(seen.entities),
        quantity(seen.observations, "observation"),
        *([_texts(seen.texts)] if seen.texts else ()),
        quantity(seen.relations, "relation"),
        *([f"{quantity(seen.learnt, 'line')} learnt from use"] if seen.learnt else ()),
    ]
    bad = [f"Would be left out, line {each.line}: {each.reason}" for each in seen.bad_lines[:_MAX_NAMED]]
    return Result(
        {**fields_of(seen), "dry_run": True},
        [Message(f"{seen.format}: {', '.join(counts)}.", bad, "note" if bad else "ok"), *muted(_DRY_RUN)],
        exit_code=REFUSED if seen.bad_count and seen.bad_count >= seen.lines else 0,
    )


_DRY_RUN = "Nothing was stored: this was a dry run."
_COUNTED = ("entities", "observations", "notes", "messages", "relations")


def _nothing_in(path: str, why: str, data: dict[str, Any]) -> Result:
    return Result(data, [Message(f"{path} {why}; nothing was imported.", [], "note")], exit_code=REFUSED)


def _foreign_result(report: ForeignReport, path: str, *, dry_run: bool = False) -> Result:
    shown = without_password(path) if "://" in path else path
    counts = [(name, getattr(report, name), getattr(report, f"{name}_new")) for name in _COUNTED]
    rows = [row[:2] if dry_run else row for row in counts if row[1]]
    table = Table(("", *right_aligned("read", *(() if dry_run else ("new",)))), rows)
    text = f"Imported from {report.title}." if report.changed else "Nothing new: all of it is stored already."
    if dry_run:
        text = f"Recognised as {report.title}."
    if not report.read:
        empty = f"{shown} holds no memories; nothing was imported."
        text = "Nothing was imported." if report.bad_count else empty
    view: list[Block] = [Message(text, list(_foreign_details(report, dry_run=dry_run)))]
    if table.rows:
        view.append(table)
    next_ = "Read them: recollect session show" if report.sessions else ""
    warning = f"imported, but: {report.note}" if report.note else None
    if report.waiting and not report.note:
        waiting = quantity(report.waiting, "passage")
        warning = f"{waiting} without a vector, found by words only; run: recollect reindex"
    return Result(
        {**fields_of(report), "dry_run": dry_run},
        [*view, *muted(_DRY_RUN if dry_run else next_)],
        warnings=[*filter(None, (warning, report.model_note))],
        exit_code=0 if report.read else REFUSED,
    )


def _foreign_details(report: ForeignReport, *, dry_run: bool) -> Iterator[str]:
    if dry_run:
        yield from (f"For example: {line}" for line in report.examples)
    if report.sessions:
        yield f"Conversations: {report.sessions:,}."
    if report.notes_drawn:
        yield f"Extracted: {quantity(report.notes_drawn, 'new note')}."
    if report.forgotten or report.superseded:
        yield f"As history: {report.forgotten:,} forgotten, {report.superseded:,} superseded."
    if report.notes_changed:
        yield f"Changed since the last import: {quantity(report.notes_changed, 'note')}."
    if report.also_created:
        names = ", ".join(report.also_created[:_MAX_NAMED])
        rest = _and_more(report.also_created_count)
        yield f"Created with the type unknown, because others name them: {names}{rest}."
    named = [(owner, number) for owner, number in report.owners if owner]
    if named:
        listed = ", ".join(f"{owner} ({number:,})" for owner, number in named[:_MAX_NAMED])
        listed += _and_more(len(named))
        yield f"By owner: {listed}. Read them with --owner and --agent, or import with --merge-owners."
    for each in report.no_place:
        shown = f": {'; '.join(each.examples)}" if each.examples else ""
        yield f"Not kept: {each.what} ({each.count:,}){shown}"
    yield from (f"Left unchanged, {reason}" for reason in report.left[:_MAX_NAMED])
    if report.left_count > _MAX_NAMED:
        yield f"… and {quantity(report.left_count - _MAX_NAMED, 'more unchanged record')}; --json names more."
    yield from (f"Left out, {reason}" for reason in report.bad[:_MAX_NAMED])
    more = report.bad_count - _MAX_NAMED
    if more > 0:
        yield f"… and {quantity(more, 'more bad row')}; --json names more."


def _and_more(count: int) -> str:
    return f" and {count - _MAX_NAMED:,} more" if count > _MAX_NAMED else ""


def _lines_result(report: ImportReport, path: str) -> Result:
    if not report.lines:
        return _nothing_in(path, "is empty", fields_of(report))
    nothing_good = bool(report.bad_count) and report.bad_count >= report.lines
    text = "Nothing was imported." if nothing_good else "Nothing new: all of it is stored already."
    if report.changed:
        texts = f", {_texts(report.texts_created)}" if report.texts_created else ""
        observations = quantity(report.observations_added, "observation")
        relations = quantity(report.relations_created, "relation")
        learnt = f", {quantity(report.learnt, 'line')} learnt from use" if report.learnt else ""
        new = f"{entities_text(report.entities_created)}, {observations}, {relations}{texts}{learnt}"
        text = f"Imported {new}."
    some_left = report.bad_count or report.dangling_count or report.learnt_left_count
    warning = f"imported, but not yet found by meaning: {report.note}" if report.note else None
    return Result.message(
        text,
        report,
        list(_import_details(report)),
        "note" if some_left or report.also_created_count else "ok",
        [*filter(None, (warning, report.model_note))],
        REFUSED if nothing_good else 0,
    )


def _import_details(report: ImportReport) -> Iterator[str]:
    known = [
        entities_text(report.entities_merged) if report.entities_merged else "",
        quantity(report.relations_known, "relation") if report.relations_known else "",
        _texts(report.texts_known) if report.texts_known else "",
    ]
    if any(known):
        yield f"Already stored: {', '.join(filter(None, known))}."
    if report.types_taken:
        yield f"Type added, unknown before: {entities_text(report.types_taken)}."
    if report.types_kept:
        yield f"Type kept, which differs from the file's: {entities_text(report.types_kept)}."
    if report.also_created:
        rest = _and_more(report.also_created_count)
        names = ", ".join(report.also_created[:_MAX_NAMED])
        yield f"Created with the type unknown, because relations name them: {names}{rest}."
    if report.learnt_left_count:
        left = quantity(report.learnt_left_count, "line")
        yield f"{left} learnt from use could not be imported:"
        for reason, count in Counter(each.reason for each in report.learnt_left).most_common(_MAX_NAMED):
            yield f"{quantity(count, 'line')}: {reason}"
    bad, dangling = report.bad_lines[:_MAX_NAMED], report.dangling[:_MAX_NAMED]
    for line in bad:
        yield f"Left out, line {line.line}: {line.reason}"
    for each in dangling:
        yield f"Left out, line {each.line}: {each.source} {each.type} {each.target}: {each.reason}"
    more = report.bad_count + report.dangling_count - len(bad) - len(dangling)
    if more > 0:
        yield f"… and {quantity(more, 'more line')}; --json names more."


def _texts(count: int) -> str:
    return quantity(count, "note or message", "notes and messages")


# Commands that copy memories out: export, backup, copy


@command(
    "export",
    "recollect export memory.jsonl",
    "recollect export notes/ --format markdown",
    "recollect export tables.csv",
    "recollect export graph.jsonl --format official",
    "recollect export ana.jsonl --owner ana --without-learning",
    "recollect export - | gzip > memory.jsonl.gz",
    if_stopped="No file was written. Run the same command again.",
)
@click.argument("file")
@option(
    "--format",
    "Format (default: by the ending of FILE, else full).",
    type=click.Choice(["full", "official", "markdown", "csv", "parquet"]),
)
@option("--scope-only", "Only this owner and agent; --owner and --agent imply it.")
@option("--without-learning", "Format full: leave out logged questions and tuning.")
@option("--overwrite", "Replace the file or folder if it exists.")
def export_command(
    call: Call, file: str, scope_only: bool, without_learning: bool, **how: Any
) -> Result | None:
    """Write the memory to a file or a folder.

    `full` is everything, as JSON lines that `recollect import` reads back. `official` is for the official MCP
    memory server. `markdown` is a folder of pages, `csv` and `parquet` are tables. A name that ends in .zip
    makes a zip of the folder. `-` is standard output.

    The export has the memories of every owner, unless an option or the settings name an owner or an agent.
    The official format always has one owner.
    """
    from recollect.transfer import export_file  # loads the engine

    memory, settings = call.memory(), call.settings()[0]
    how["scope_only"] = scope_only or bool(settings.owner or settings.agent)
    how["learning"] = not without_learning
    with progress("Writing") as (writing,):
        report = export_file(memory, sys.stdout.buffer if file == STDIN else file, progress=writing, **how)
    texts = f", {_texts(report.texts)}" if report.texts else ""
    done = f"Exported {entities_text(report.entities)}{texts} and {quantity(report.relations, 'relation')}"
    if file == STDIN:  # the export itself is on standard output
        warn(f"{done}.")
        return None
    details = [report.note] if report.note else []
    if report.learnt:
        details.append(f"With {quantity(report.learnt, 'line')} learnt from use.")
    return Result.message(f"{done} to {file}.", {"file": file, **fields_of(report)}, details)


@command(
    "backup",
    "recollect backup memory-2026-03-01.db",
    "recollect restore memory-2026-03-01.db",
    if_stopped="No file was written. Run the same command again.",
)
@click.argument("file")
def backup_command(call: Call, file: str) -> Result:
    """Copy the store to a new file, even while it is in use.

    `recollect copy SOURCE DESTINATION` copies a store into an empty one, also from and to PostgreSQL.
    """
    memory = call.memory()
    with progress("Copying") as (copying,):
        memory.upkeep.backup(file, copying)
    size = Path(file).stat().st_size
    details = [f"To restore it: recollect restore {shlex.quote(file)}"]
    text = f"Backed up to {file} ({file_size(size)})."
    return Result.message(text, {"file": file, "bytes": size}, details)


@command(
    "copy",
    "recollect copy memory.db postgresql://ana@db.example/memory",
    "recollect copy 'postgresql://ana@db.example/memory?schema=ana' memory.db",
    hidden=True,
    if_stopped="Run the same command again to continue. Until it is done, the destination cannot be opened.",
)
@click.argument("source")
@click.argument("destination")
def copy_command(_: Call, source: str, destination: str) -> Result:
    """Copy a store into an empty one, also from and to PostgreSQL.

    SOURCE and DESTINATION are file paths or postgresql:// URLs. The copy has everything, with the same ids,
    so both give the same answers. The source may be in use. At the end, all rows are compared.

    A stopped copy continues with the same command; if the source has changed since, it starts over. Until it
    is done, the destination cannot be opened.
    """
    from recollect.bootstrap import copy  # loads the engine

    with progress("Reading", "Copying", "Comparing") as (reading, copying, comparing):
        report = copy(source, destination, reading=reading, copying=copying, comparing=comparing)
    shown = without_password(destination) if "://" in destination else destination
    tables = [each for each in report.tables if each.rows]
    details = [f"Compared {quantity(len(tables), 'table')}: both stores hold the same."]
    if report.resumed:
        details.append(f"An earlier run had copied {quantity(report.resumed, 'row')} of these.")
    warnings = []
    if report.started_over:
        warnings = ["the source has changed since the earlier run, so the copy started over."]
    text = f"Copied {quantity(report.rows, 'row')} to {shown}."
    return Result.message(text, {"destination": shown, **fields_of(report)}, details, warnings=warnings)
