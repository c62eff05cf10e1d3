"""Commands that bring memories out: export, backup, copy."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.command import Call, command
from recollect.cli.input import STDIN
from recollect.cli.progress import progress
from recollect.cli.rendering import Result, fields_of, warn
from recollect.store_url import without_password
from recollect.text.phrases import entities_text, file_size, quantity

if TYPE_CHECKING:
    from recollect.transfer import ExportFormat


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
    help="What to write; by default, the ending of FILE decides, and any other ending means full.",
)
@click.option(
    "--scope-only", is_flag=True, help="Export only this owner and agent; --owner or --agent implies it."
)
@click.option(
    "--without-learning", is_flag=True, help="In full: leave out what was asked and what was learnt from it."
)
@click.option("--overwrite", is_flag=True, help="Replace the file or folder if it exists.")
def export_command(
    call: Call,
    file: str,
    format_: ExportFormat | None,
    scope_only: bool,
    without_learning: bool,
    overwrite: bool,
) -> Result | None:
    """Write the memory to a file or a folder.

    `full` is everything in JSONL, exactly. `official` is what the official server reads. `markdown` is a
    folder to read. `csv` and `parquet` are tables. A name that ends in .zip makes a zip of the folder. `-`
    writes to standard output. The export contains every owner's memories. If an option or the settings name
    an owner or an agent, it contains only theirs; the official format always does.
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


def _texts(count: int) -> str:
    return quantity(count, "note or message", "notes and messages")
