"""Commands that bring memories in: import, chat-import."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import click

from recollect.cli.command import REFUSED, Call, command
from recollect.cli.input import STDIN
from recollect.cli.options import KEEP_GOING
from recollect.cli.progress import progress
from recollect.cli.rendering import Block, Message, Result, Table, fields_of, muted, right_aligned
from recollect.errors import InvalidInput
from recollect.store_url import without_password
from recollect.text.phrases import entities_text, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.transfer import ChatReport, ForeignReport, ImportReport
    from recollect.transfer.previewing import ImportPreview

FORMATS = ("chatgpt", "claude", "markdown", "turns")
FOREIGN_FORMATS = (
    "mcp-memory-v2",
    "mnemosyne",
    "cognis",
    "mcp-memory-service",
    "langgraph",
    "mem0",
    "letta",
    "graphiti",
    "claude-memory",
    "basic-memory",
)
"""Those of `recollect.transfer.formats.catalogue`, which is not loaded to show a command's help."""
_OWN = ("official", "full", "markdown-export")
_MOST_NAMED = 5
"""Bad lines that are named for a person; `--json` names more."""
_MOST_CHATS_NAMED = 10
_STREAM = "Standard input"


@command(
    "import",
    "recollect import memory.jsonl",
    "recollect import mnemosyne.db --dry-run",
    "recollect import chatgpt-export.zip",
    "recollect import postgresql://ana@db.example.org/agents",
    "recollect import memory.jsonl --format full --stop-at-bad-line",
    "recollect import notes/",
    "ssh work cat memory.jsonl | recollect import -",
)
@click.argument("path")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["auto", *_OWN, *FORMATS, *FOREIGN_FORMATS]),
    default="auto",
    show_default=True,
    help="The format; by default, it is recognised by its content.",
)
@click.option("--dry-run", is_flag=True, help="Read everything, store nothing, and show some of it.")
@click.option(
    "--merge-owners",
    is_flag=True,
    help="Store all memories under this owner and agent, whoever owns them in the source.",
)
@KEEP_GOING
def import_command(
    call: Call, path: str, format_: str, dry_run: bool, merge_owners: bool, keep_going: bool
) -> Result:
    """Import another program's memory, or an export.

    PATH is a file, a folder or the URL of a PostgreSQL database. The command recognises the format by the
    content. It only reads PATH, which may be in use. Importing it again changes nothing, and importing a
    later state adds what is new. The report counts what cannot be kept.

    `-` reads the official server's JSONL or our own from standard input. If only a relation names an entity,
    the command creates it with the type `unknown` and names it in the report.
    """
    from recollect import transfer  # loads the engine
    from recollect.transfer.formats.servers import is_server_url

    if path == STDIN:
        return _import_stream(call, format_, dry_run=dry_run, keep_going=keep_going)
    known = transfer.recognise(path) if format_ == "auto" else format_  # refused before a store is made
    if not (is_server_url(path) or Path(path).exists()):
        raise InvalidInput(f"There is no file or folder {path}.")
    if dry_run:
        with progress("Reading") as (reading,):
            seen = transfer.preview_path(path, format=known, merge_owners=merge_owners, progress=reading)
        return _preview_result(seen, call, path)
    memory = call.memory(create=True)
    with progress("Reading", "Embedding") as (reading, embedding):
        report = transfer.import_path(
            memory,
            path,
            format=known,
            keep_going=keep_going,
            merge_owners=merge_owners,
            progress=reading,
            embed_progress=embedding,
        )
    match report:
        case transfer.ImportReport():
            return _lines_result(report, path)
        case transfer.ChatReport():
            return _chat_result(report, call, path)
        case _:
            return _foreign_result(report, path)


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
    """Import talks: ChatGPT or Claude exports, Markdown, turns.

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
    return _chat_result(report, call, path, dry_run=dry_run, extract=extract)


def _import_stream(call: Call, format_: str, *, dry_run: bool, keep_going: bool) -> Result:
    from recollect.transfer import import_file
    from recollect.transfer.previewing import import_preview

    if format_ not in {"auto", "official", "full"}:
        raise click.UsageError(f"Standard input is read as official or full; give {format_} as a file.")
    if dry_run:
        with progress("Reading") as (reading,):
            return _preview_result(import_preview(sys.stdin.buffer, reading), call, _STREAM)
    memory = call.memory(create=True)
    with progress("Reading", "Embedding") as (reading, embedding):
        report = import_file(
            memory,
            sys.stdin.buffer,
            format=cast('Literal["auto", "official", "full"]', format_),
            keep_going=keep_going,
            progress=reading,
            embed_progress=embedding,
        )
    return _lines_result(report, _STREAM)


def _preview_result(seen: ImportPreview | ChatReport | ForeignReport, call: Call, path: str) -> Result:
    from recollect.transfer import ChatReport, ForeignReport

    match seen:
        case ChatReport():
            return _chat_result(seen, call, path, dry_run=True)
        case ForeignReport():
            return _foreign_result(seen, path, dry_run=True)
    if not seen.lines:
        return _nothing_in(path, "is empty", {**fields_of(seen), "dry_run": True})
    counts = [
        entities_text(seen.entities),
        quantity(seen.observations, "observation"),
        *([_texts(seen.texts)] if seen.texts else ()),
        quantity(seen.relations, "relation"),
        *([f"{quantity(seen.learnt, 'line')} of what was learnt"] if seen.learnt else ()),
    ]
    bad = [f"Would be left out, line {each.line}: {each.reason}" for each in seen.bad_lines[:_MOST_NAMED]]
    return Result(
        {**fields_of(seen), "dry_run": True},
        [Message(f"{seen.format}: {', '.join(counts)}.", bad, "note" if bad else "ok"), *muted(_DRY)],
        exit_code=REFUSED if seen.bad_count and seen.bad_count >= seen.lines else 0,
    )


_DRY = "Nothing was stored: this was a dry run."
_SORTS = ("entities", "observations", "notes", "messages", "relations")


def _nothing_in(path: str, why: str, data: dict[str, Any]) -> Result:
    return Result(data, [Message(f"{path} {why}; nothing was imported.", [], "note")], exit_code=REFUSED)


def _foreign_result(report: ForeignReport, path: str, *, dry_run: bool = False) -> Result:
    shown = without_password(path) if "://" in path else path
    counts = {sort: (getattr(report, sort), getattr(report, f"{sort}_new")) for sort in _SORTS}
    if dry_run:
        table = Table(
            ("", *right_aligned("read")), [(sort, read) for sort, (read, _) in counts.items() if read]
        )
        text = f"Recognised as {report.title}."
    else:
        rows = [(sort, read, new) for sort, (read, new) in counts.items() if read]
        table = Table(("", *right_aligned("read", "new")), rows)
        text = f"Imported from {report.title}." if report.changed else "Nothing new: it was all here already."
    if not report.read:
        text = (
            "Nothing was imported."
            if report.bad_count
            else f"{shown} holds no memories; nothing was imported."
        )
    view: list[Block] = [Message(text, list(_foreign_details(report, dry_run=dry_run)))]
    if table.rows:
        view.append(table)
    return Result(
        {**fields_of(report), "dry_run": dry_run},
        [*view, *muted(_DRY if dry_run else "")],
        warnings=[
            *([f"imported, but not yet found by meaning: {report.note}"] if report.note else ()),
            *([report.model_note] if report.model_note else ()),
        ],
        exit_code=0 if report.read else REFUSED,
    )


def _foreign_details(report: ForeignReport, *, dry_run: bool) -> Iterator[str]:
    if dry_run:
        yield from (f"For example: {line}" for line in report.examples)
    if report.forgotten or report.superseded:
        yield f"As history: {report.forgotten:,} forgotten, {report.superseded:,} superseded."
    if report.notes_changed:
        yield f"Changed in the source since the last import: {quantity(report.notes_changed, 'note')}."
    if report.also_created:
        names = ", ".join(report.also_created[:_MOST_NAMED])
        rest = _and_more(report.also_created_count)
        yield f"Created with the type unknown, because other memories name them: {names}{rest}."
    named = [(owner, number) for owner, number in report.owners if owner]
    if named:
        listed = ", ".join(f"{owner} ({number:,})" for owner, number in named[:_MOST_NAMED])
        listed += _and_more(len(named))
        yield f"By owner: {listed}. Read them with --owner and --agent, or import with --merge-owners."
    for each in report.no_place:
        shown = f": {'; '.join(each.examples)}" if each.examples else ""
        yield f"Not kept: {each.what} ({each.count:,}){shown}"
    yield from (f"Left unchanged, {reason}" for reason in report.left[:_MOST_NAMED])
    if report.left_count > _MOST_NAMED:
        yield f"… and {quantity(report.left_count - _MOST_NAMED, 'more such thing')}; --json names more."
    yield from (f"Left out, {reason}" for reason in report.bad[:_MOST_NAMED])
    more = report.bad_count - _MOST_NAMED
    if more > 0:
        yield f"… and {quantity(more, 'more bad row')}; --json names more."


def _and_more(count: int) -> str:
    return f" and {count - _MOST_NAMED:,} more" if count > _MOST_NAMED else ""


def _lines_result(report: ImportReport, path: str) -> Result:
    if not report.lines:
        return _nothing_in(path, "is empty", fields_of(report))
    nothing_good = bool(report.bad_count) and report.bad_count >= report.lines
    text = "Nothing was imported." if nothing_good else "Nothing new: it was all here already."
    if report.changed:
        texts = f", {_texts(report.texts_created)}" if report.texts_created else ""
        observations = quantity(report.observations_added, "observation")
        relations = quantity(report.relations_created, "relation")
        learnt = f", {quantity(report.learnt, 'line')} of what was learnt" if report.learnt else ""
        new = f"{entities_text(report.entities_created)}, {observations}, {relations}{texts}{learnt}"
        text = f"Imported {new}."
    some_left = report.bad_count or report.dangling_count or report.learnt_left_count
    return Result.message(
        text,
        fields_of(report),
        list(_import_details(report)),
        "note" if some_left or report.also_created_count else "ok",
        [
            *([f"imported, but not yet found by meaning: {report.note}"] if report.note else ()),
            *([report.model_note] if report.model_note else ()),
        ],
        REFUSED if nothing_good else 0,
    )


def _chat_result(
    report: ChatReport, call: Call, path: str, *, dry_run: bool = False, extract: bool = False
) -> Result:
    rows: list[tuple[str, str | int]] = [("format", report.format), ("conversations", report.conversations)]
    if dry_run:
        rows.append(("turns", report.turns))
    else:
        rows += [("turns, new", report.turns_new), ("turns, known", report.turns_known)]
    rows.append(("could not be read", report.bad_count))
    if extract:
        rows.append(("notes drawn", report.notes))
    next_ = _DRY if dry_run else "Read them: recollect session list"
    nothing = [] if report.turns else [f"{path} holds no conversations; nothing was imported."]
    return Result(
        {**fields_of(report), "dry_run": dry_run},
        [Table(("", *right_aligned("")), rows), *muted("" if nothing else next_)],
        warnings=[*nothing, *_chat_warnings(report, is_json=bool(call.json))],
        exit_code=REFUSED if report.turns == report.turns_rejected else 0,
    )


def _import_details(report: ImportReport) -> Iterator[str]:
    known = [
        entities_text(report.entities_merged) if report.entities_merged else "",
        quantity(report.relations_known, "relation") if report.relations_known else "",
        _texts(report.texts_known) if report.texts_known else "",
    ]
    if any(known):
        yield f"Already there: {', '.join(filter(None, known))}."
    if report.types_taken:
        yield f"Got a type, which was unknown before: {entities_text(report.types_taken)}."
    if report.types_kept:
        yield f"Kept a type that differs from the file's: {entities_text(report.types_kept)}."
    if report.also_created:
        rest = _and_more(report.also_created_count)
        names = ", ".join(report.also_created[:_MOST_NAMED])
        yield f"Created with the type unknown, because relations name them: {names}{rest}."
    if report.learnt_left_count:
        left = quantity(report.learnt_left_count, "line")
        yield f"{left} of what was learnt could not be taken over:"
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
    for each in report.no_place:
        shown = f": {', '.join(each.examples)}" if each.examples else ""
        yield f"not imported: {each.what} ({each.count:,}){shown}"
    if report.model_note:
        yield report.model_note
    if report.note:
        yield f"imported, but: {report.note}"
    elif report.waiting:
        waiting = quantity(report.waiting, "passage")
        yield f"{waiting} wait for a vector, and only words find them; run: recollect reindex"


def _texts(count: int) -> str:
    return quantity(count, "note or message", "notes and messages")
