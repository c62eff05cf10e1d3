"""Commands that move memories in and out: import, export, backup."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from recollect.cli.command import command
from recollect.cli.failures import REFUSED
from recollect.cli.progress import progress
from recollect.cli.replies import Done
from recollect.cli.wording import counted, size

if TYPE_CHECKING:
    from recollect.cli.call import Call
    from recollect.transfer import ExportReport, ImportReport

_NAMED = 5
"""Bad lines that are named for a person; `--json` names more."""


@command(
    "import",
    "recollect import memory.jsonl",
    "recollect import everything.jsonl --format full --stop-at-bad-line",
    "ssh work cat memory.jsonl | recollect import -",
)
@click.argument("file")
@click.option(
    "--format", "format_", type=click.Choice(["auto", "official", "full"]), default="auto", show_default=True
)
@click.option(
    "--keep-going/--stop-at-bad-line",
    default=True,
    show_default=True,
    help="Leave out lines that cannot be read and name them, or write nothing after the first.",
)
def import_(
    call: Call,
    file: str,
    format_: Literal["auto", "official", "full"],
    keep_going: bool,
) -> int | None:
    """Bring in a JSONL file, the official server's or our own.

    `-` reads standard input. Importing the same file again changes nothing. What only a relation of the
    official format names is created with the type `unknown`, and told.
    """
    from recollect.transfer import import_file  # noqa: PLC0415  # loads the engine

    source = sys.stdin.buffer if file == "-" else _existing(file)
    with call.memory(create=True) as memory, progress("Reading", "Embedding") as (reading, embedding):
        report = import_file(
            memory,
            source,
            format=format_,
            keep_going=keep_going,
            progress=reading,
            embed_progress=embedding,
        )
    call.show(_imported(report))
    if report.note:
        call.tell(f"imported, but not yet found by meaning: {report.note}")
    return REFUSED if report.bad_count and report.bad_count >= report.lines else None


@command(
    "export",
    "recollect export memory.jsonl",
    "recollect export everything.jsonl --format full",
    "recollect export - | gzip > memory.jsonl.gz",
)
@click.argument("file")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["official", "full"]),
    default="official",
    show_default=True,
    help="What the official memory server reads, or everything that we keep.",
)
@click.option("--scope-only", is_flag=True, help="Only this owner's and agent's memories.")
@click.option("--overwrite", is_flag=True, help="Replace the file if it is there.")
def export(
    call: Call,
    file: str,
    format_: Literal["official", "full"],
    scope_only: bool,
    overwrite: bool,
) -> None:
    """Write the memory to a JSONL file.

    `-` writes to standard output.
    """
    from recollect.transfer import export_file  # noqa: PLC0415  # loads the engine

    target = sys.stdout.buffer if file == "-" else file
    with call.memory() as memory, progress("Writing") as (told,):
        report = export_file(
            memory, target, format=format_, scope_only=scope_only, overwrite=overwrite, progress=told
        )
    reply = _exported(report, file)
    if file == "-":
        call.tell(reply.message)
    else:
        call.show(reply)


@command("backup", "recollect backup memory-2026-03-01.db", "recollect restore memory-2026-03-01.db")
@click.argument("file")
def backup(call: Call, file: str) -> None:
    """Copy the store to a new file, even while it is in use."""
    with call.memory() as memory, progress("Copying") as (told,):
        memory.upkeep.backup(file, told)
    bytes_ = Path(file).stat().st_size
    message = f"Backed up to {file} ({size(bytes_)})."
    call.show(Done(message, {"file": file, "bytes": bytes_}, [f"Put it back: recollect restore {file}"]))


def _existing(file: str) -> str:
    if not Path(file).is_file():
        # Before a store is created for it.
        raise click.ClickException(f"There is no file {file}.")
    return file


def _imported(report: ImportReport) -> Done:
    from dataclasses import asdict  # noqa: PLC0415  # --help needs none

    data: dict[str, Any] = asdict(report)
    details = [*_known(report), *_types(report), *_also_created(report), *_left_out(report)]
    notable = report.bad_count or report.dangling_count or report.also_created_count
    mark: Literal["ok", "note"] = "note" if notable else "ok"
    return Done(_gained(report), data, details, mark)


def _gained(report: ImportReport) -> str:
    gains = [
        counted(report.entities_created, "entity", "entities"),
        counted(report.observations_added, "observation"),
        counted(report.relations_created, "relation"),
    ]
    if report.texts_created:
        gains.append(counted(report.texts_created, "note or message", "notes and messages"))
    if report.changed:
        return f"Imported {', '.join(gains)}."
    nothing_good = report.bad_count and report.bad_count >= report.lines
    return "Nothing was imported." if nothing_good else "Nothing new: all of it was known."


def _known(report: ImportReport) -> list[str]:
    known = [
        (report.entities_merged, counted(report.entities_merged, "entity", "entities")),
        (report.relations_known, counted(report.relations_known, "relation")),
        (report.texts_known, counted(report.texts_known, "note or message", "notes and messages")),
    ]
    there = [said for number, said in known if number]
    return [f"Already there: {', '.join(there)}."] if there else []


def _types(report: ImportReport) -> list[str]:
    lines = []
    if report.types_taken:
        taken = counted(report.types_taken, "entity", "entities")
        lines.append(f"Typed, having been unknown: {taken}.")
    if report.types_kept:
        kept = counted(report.types_kept, "entity", "entities")
        lines.append(f"Kept another type than the file has: {kept}.")
    return lines


def _also_created(report: ImportReport) -> list[str]:
    if not report.also_created:
        return []
    named = ", ".join(report.also_created[:_NAMED])
    more = report.also_created_count - _NAMED
    rest = f" and {more:,} more" if more > 0 else ""
    return [f"Created with the type unknown, since relations lead there: {named}{rest}."]


def _left_out(report: ImportReport) -> list[str]:
    lines = [f"Left out, line {bad.line}: {bad.reason}" for bad in report.bad_lines[:_NAMED]]
    lines += [
        f"Left out, line {each.line}: {each.source} {each.type} {each.target}: {each.reason}"
        for each in report.dangling[:_NAMED]
    ]
    more = report.bad_count + report.dangling_count - len(lines)
    return [*lines, f"… and {counted(more, 'more line')}; --json names more."] if more > 0 else lines


def _exported(report: ExportReport, file: str) -> Done:
    from dataclasses import asdict  # noqa: PLC0415  # --help needs none

    texts = f", {counted(report.texts, 'note or message', 'notes and messages')}" if report.texts else ""
    said = (
        f"Exported {counted(report.entities, 'entity', 'entities')}{texts} and "
        f"{counted(report.relations, 'relation')}"
    )
    where = "" if file == "-" else f" to {file}"
    details = [report.note] if report.note else []
    return Done(f"{said}{where}.", {"file": file, **asdict(report)}, details)
