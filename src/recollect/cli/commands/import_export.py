"""Commands that bring memories in and out: import, chat-import, export, backup, copy."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.command import REFUSED, Call, command
from recollect.cli.input import STDIN, existing_file
from recollect.cli.options import KEEP_GOING
from recollect.cli.progress import progress
from recollect.cli.rendering import Result, Table, fields_of, muted, right_aligned, warn
from recollect.store_url import without_password
from recollect.text.phrases import entities_text, file_size, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.transfer import ChatReport, ExportFormat, ImportFormat, ImportReport

FORMATS = ("chatgpt", "claude", "markdown", "turns")
_MOST_NAMED = 5
"""Bad lines that are named for a person; `--json` names more."""
_MOST_CHATS_NAMED = 10


@command(
    "import",
    "recollect import memory.jsonl",
    "recollect import memory.jsonl --format full --stop-at-bad-line",
    "recollect import notes/",
    "ssh work cat memory.jsonl | recollect import -",
)
@click.argument("file")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["auto", "official", "full", "markdown"]),
    default="auto",
    show_default=True,
)
@KEEP_GOING
def import_command(call: Call, file: str, format_: ImportFormat, keep_going: bool) -> Result:
    """Bring in JSONL, the official server's or our own, or a Markdown export.

    `-` reads standard input. Importing the same file again changes nothing. What only a relation of the
    official format names is created with the type `unknown`, and named.
    """
    from recollect.transfer import import_file  # loads the engine

    source = sys.stdin.buffer if file == STDIN else file if Path(file).is_dir() else str(existing_file(file))
    memory = call.memory(create=True)
    with progress("Reading", "Embedding") as (reading, embedding):
        report = import_file(
            memory,
            source,
            format=format_,
            keep_going=keep_going,
            progress=reading,
            embed_progress=embedding,
        )
    nothing_good = bool(report.bad_count) and report.bad_count >= report.lines
    text = "Nothing was imported." if nothing_good else "Nothing new: all of it was known."
    if report.changed:
        texts = f", {_texts(report.texts_created)}" if report.texts_created else ""
        observations = quantity(report.observations_added, "observation")
        relations = quantity(report.relations_created, "relation")
        learnt = f", {quantity(report.learnt, 'line')} of what was learnt" if report.learnt else ""
        new = f"{entities_text(report.entities_created)}, {observations}, {relations}{texts}{learnt}"
        text = f"Imported {new}."
    return Result.message(
        text,
        fields_of(report),
        list(_import_details(report)),
        "note"
        if report.bad_count or report.dangling_count or report.also_created_count or report.learnt_left_count
        else "ok",
        [
            *([f"imported, but not yet found by meaning: {report.note}"] if report.note else ()),
            *([report.model_note] if report.model_note else ()),
        ],
        REFUSED if nothing_good else 0,
    )


@command(
    "chat-import",
    "recollect chat-import chatgpt-export.zip",
    "recollect chat-import ~/vault --format markdown --dry-run",
    "recollect chat-import talk.jsonl --extract",
)
@click.argument("path", type=click.Path())
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    help="What the files are; guessed from what is there if not given.",
)
@click.option("--extract", is_flag=True, help="Also make notes of what is worth keeping.")
@click.option("--dry-run", is_flag=True, help="Read everything, and store nothing.")
@KEEP_GOING
@click.option(
    "--embed/--no-embed",
    default=True,
    show_default=True,
    help="Give everything its vector at once, or leave that to `recollect reindex`.",
)
def chat_import_command(
    call: Call, path: str, format_: str | None, extract: bool, dry_run: bool, keep_going: bool, embed: bool
) -> Result:
    """Bring in talks: ChatGPT or Claude exports, Markdown, turns.

    PATH is a file, a zip or a folder. Every turn becomes a message of a session. Importing a newer export
    adds only what is new.
    """
    from recollect import transfer  # loads the engine
    from recollect.transfer.chats import format_of

    if extract and not embed:
        raise click.UsageError(
            "--extract compares notes by their vectors, so it does not go with --no-embed."
        )
    if not Path(path).exists():
        raise click.ClickException(f"There is no file or folder {path}.")
    if dry_run:
        with progress("Reading") as (reading,):
            report = transfer.chat_preview(path, format=format_, progress=reading)
    else:
        known = format_ or format_of(Path(path))  # refused before a store is made for it
        memory = call.memory(create=True)
        with progress("Reading", "Embedding") as (reading, embedding):
            report = transfer.chat_import(
                memory,
                path,
                format=known,
                extract=extract,
                keep_going=keep_going,
                embed=embed,
                progress=reading,
                embed_progress=embedding,
            )
    rows: list[tuple[str, str | int]] = [("format", report.format), ("conversations", report.conversations)]
    if dry_run:
        rows.append(("turns", report.turns))
    else:
        rows += [("turns, new", report.turns_new), ("turns, known", report.turns_known)]
    rows.append(("left out", report.bad_count))
    if extract:
        rows.append(("notes drawn", report.notes))
    next_ = "Nothing was stored: this was a dry run." if dry_run else "Read them: recollect session list"
    return Result(
        {**fields_of(report), "dry_run": dry_run},
        [Table(("", *right_aligned("")), rows), *muted(next_)],
        warnings=list(_chat_warnings(report, is_json=bool(call.json))),
        exit_code=REFUSED if report.bad_count and report.turns == report.turns_rejected else 0,
    )


@command(
    "export",
    "recollect export memory.jsonl",
    "recollect export notes/ --format markdown",
    "recollect export tables.csv",
    "recollect export graph.jsonl --format official",
    "recollect export ana.jsonl --owner ana --without-learning",
    "recollect export - | gzip > memory.jsonl.gz",
)
@click.argument("file")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["full", "official", "markdown", "csv", "parquet"]),
    help="What to write; if not given, the ending of FILE tells, and without one that is known it is full.",
)
@click.option(
    "--scope-only", is_flag=True, help="Only this owner's and agent's memories; so with --owner or --agent."
)
@click.option(
    "--without-learning", is_flag=True, help="Of full: leave out what was asked and what was learnt from it."
)
@click.option("--overwrite", is_flag=True, help="Replace the file or the folder if it is there.")
def export_command(
    call: Call,
    file: str,
    format_: ExportFormat | None,
    scope_only: bool,
    without_learning: bool,
    overwrite: bool,
) -> Result | None:
    """Write the memory to a file or a folder.

    `full` is everything in JSONL, exactly; `official` what the official server reads; `markdown` a folder
    to read; `csv` and `parquet` tables. A name that ends in .zip packs a folder; `-` writes lines to
    standard output. It holds every owner's memories, unless an owner or an agent is named, by an option or
    by the settings; then, as ever in the official format, theirs alone.
    """
    from recollect.transfer import export_file  # loads the engine

    target = sys.stdout.buffer if file == STDIN else file
    memory = call.memory()
    settings, _ = call.settings()
    own = scope_only or bool(settings.owner or settings.agent)
    with progress("Writing") as (writing,):
        report = export_file(
            memory,
            target,
            format=format_,
            scope_only=own,
            learning=not without_learning,
            overwrite=overwrite,
            progress=writing,
        )
    texts = f", {_texts(report.texts)}" if report.texts else ""
    done = f"Exported {entities_text(report.entities)}{texts} and {quantity(report.relations, 'relation')}"
    if file == STDIN:  # the export itself is on standard output
        warn(f"{done}.")
        return None
    details = [report.note] if report.note else []
    if report.learnt:
        details.append(f"With {quantity(report.learnt, 'line')} of what was learnt from use.")
    return Result.message(f"{done} to {file}.", {"file": file, **fields_of(report)}, details)


@command("backup", "recollect backup memory-2026-03-01.db", "recollect restore memory-2026-03-01.db")
@click.argument("file")
def backup_command(call: Call, file: str) -> Result:
    """Copy the store to a new file, even while it is in use."""
    memory = call.memory()
    with progress("Copying") as (copying,):
        memory.upkeep.backup(file, copying)
    size = Path(file).stat().st_size
    text = f"Backed up to {file} ({file_size(size)})."
    return Result.message(text, {"file": file, "bytes": size}, [f"Put it back: recollect restore {file}"])


@command(
    "copy",
    "recollect copy memory.db postgresql://ana@db.example/memory",
    "recollect copy 'postgresql://ana@db.example/memory?schema=ana' memory.db",
)
@click.argument("source")
@click.argument("destination")
def copy_command(_: Call, source: str, destination: str) -> Result:
    """Copy a memory into an empty one: file or PostgreSQL, both ways.

    SOURCE and DESTINATION are the path of a file or a postgresql:// URL. Everything comes along, with its
    ids, so that both give the same answers; the source may be in use. At the end, all rows of both are
    compared.

    If it is stopped, the same command continues where it stopped; if the source has changed meanwhile, it
    starts over. Until it is done, the destination cannot be opened.
    """
    from recollect.bootstrap import copy  # loads the engine

    with progress("Reading", "Copying", "Comparing") as (reading, copying, comparing):
        report = copy(source, destination, reading=reading, copying=copying, comparing=comparing)
    shown = without_password(destination) if "://" in destination else destination
    tables = [each for each in report.tables if each.rows]
    details = [f"Compared: {quantity(len(tables), 'table')}, and both stores hold the same in each."]
    if report.resumed:
        details.append(f"Of these, an earlier run had brought {quantity(report.resumed, 'row')}.")
    warnings = []
    if report.started_over:
        warnings = ["the source has changed since the earlier run, so the copy started over."]
    text = f"Copied {quantity(report.rows, 'row')} to {shown}."
    return Result.message(text, {"destination": shown, **fields_of(report)}, details, warnings=warnings)


def _import_details(report: ImportReport) -> Iterator[str]:
    known = [
        entities_text(report.entities_merged) if report.entities_merged else "",
        quantity(report.relations_known, "relation") if report.relations_known else "",
        _texts(report.texts_known) if report.texts_known else "",
    ]
    if any(known):
        yield f"Already there: {', '.join(filter(None, known))}."
    if report.types_taken:
        yield f"Typed, having been unknown: {entities_text(report.types_taken)}."
    if report.types_kept:
        yield f"Kept another type than the file has: {entities_text(report.types_kept)}."
    if report.also_created:
        more = report.also_created_count - _MOST_NAMED
        rest = f" and {more:,} more" if more > 0 else ""
        names = ", ".join(report.also_created[:_MOST_NAMED])
        yield f"Created with the type unknown, since relations lead there: {names}{rest}."
    if report.learnt_left_count:
        left = quantity(report.learnt_left_count, "line")
        yield f"Of what was learnt, {left} could not follow the memories:"
        for reason, count in Counter(each.reason for each in report.learnt_left).most_common(_MOST_NAMED):
            yield f"{count:,} times: {reason}"
    bad, dangling = report.bad_lines[:_MOST_NAMED], report.dangling[:_MOST_NAMED]
    for line in bad:
        yield f"Left out, line {line.line}: {line.reason}"
    for each in dangling:
        yield f"Left out, line {each.line}: {each.source} {each.type} {each.target}: {each.reason}"
    more = report.bad_count + report.dangling_count - len(bad) - len(dangling)
    if more > 0:
        yield f"… and {quantity(more, 'more line')}; --json names more."


def _chat_warnings(report: ChatReport, *, is_json: bool) -> Iterator[str]:
    if not is_json:
        yield from (f"left out, {reason}" for reason in report.bad[:_MOST_CHATS_NAMED])
        if report.bad_count > _MOST_CHATS_NAMED:
            more = quantity(report.bad_count - _MOST_CHATS_NAMED, "thing")
            yield f"left out {more} more; --json names the first {len(report.bad):,}."
    if report.model_note:
        yield report.model_note
    if report.note:
        yield f"imported, but: {report.note}"
    elif report.waiting:
        waiting = quantity(report.waiting, "passage")
        yield f"{waiting} wait for a vector, and only words find them; run: recollect reindex"


def _texts(count: int) -> str:
    return quantity(count, "note or message", "notes and messages")
