"""`recollect chat-import`: talks out of other programs' files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.command import command
from recollect.cli.failures import REFUSED
from recollect.cli.progress import progress
from recollect.cli.replies import Rows
from recollect.cli.wording import counted

if TYPE_CHECKING:
    from recollect.cli.call import Call
    from recollect.transfer import ChatReport

FORMATS = ("chatgpt", "claude", "markdown", "turns")
_NAMED = 10
"""Bad rows that are named for a person; `--json` names more."""


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
    help="What the files are; told by what is there if not given.",
)
@click.option("--extract", is_flag=True, help="Also draw notes out of what was said.")
@click.option("--dry-run", is_flag=True, help="Read everything, and store nothing.")
@click.option(
    "--keep-going/--stop-at-bad-line",
    default=True,
    show_default=True,
    help="Leave out what cannot be read and name it, or store nothing.",
)
@click.option(
    "--embed/--no-embed",
    default=True,
    show_default=True,
    help="Give everything its vector at once, or leave that to `recollect reindex`.",
)
def chat_import(
    call: Call,
    path: str,
    format_: str | None,
    extract: bool,
    dry_run: bool,
    keep_going: bool,
    embed: bool,
) -> int | None:
    """Bring in talks: ChatGPT or Claude exports, Markdown, turns.

    PATH is a file, a zip or a folder. Every turn becomes a message of a session. Importing a newer export
    adds only what is new.
    """
    from recollect import transfer  # noqa: PLC0415  # loads the engine

    if extract and not embed:
        raise click.UsageError(
            "--extract compares notes by their vectors, so it does not go with --no-embed."
        )
    _must_exist(path)
    if dry_run:
        with progress("Reading") as (reading,):
            report = transfer.chat_preview(path, format=format_, progress=reading)
    else:
        # Told before a store is made for it.
        known = format_ or _format_of(path)
        with call.memory(create=True) as memory, progress("Reading", "Embedding") as (reading, embedding):
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
    call.show(_table(report, dry_run=dry_run, extract=extract))
    _tell(call, report)
    return REFUSED if report.bad_count and report.turns == report.turns_rejected else None


def _must_exist(path: str) -> None:
    if not Path(path).exists():
        raise click.ClickException(f"There is no file or folder {path}.")


def _format_of(path: str) -> str:
    from recollect.transfer.chats import format_of  # noqa: PLC0415  # loads the engine

    return format_of(Path(path))


def _table(report: ChatReport, *, dry_run: bool, extract: bool) -> Rows:
    from dataclasses import asdict  # noqa: PLC0415  # --help needs none

    rows = [("format", report.format), ("conversations", f"{report.conversations:,}")]
    if dry_run:
        rows.append(("turns", f"{report.turns:,}"))
    else:
        rows += [("turns, new", f"{report.turns_new:,}"), ("turns, known", f"{report.turns_known:,}")]
    rows.append(("left out", f"{report.bad_count:,}"))
    if extract:
        rows.append(("notes drawn", f"{report.notes:,}"))
    footer = "Nothing was stored: this was a dry run." if dry_run else "Read them: recollect session list"
    return Rows({**asdict(report), "dry_run": dry_run}, ("", ""), rows, footer=footer, right=(1,))


def _tell(call: Call, report: ChatReport) -> None:
    if not call.json:
        for reason in report.bad[:_NAMED]:
            call.tell(f"left out, {reason}")
        if report.bad_count > _NAMED:
            more = counted(report.bad_count - _NAMED, "thing")
            call.tell(f"left out {more} more; --json names the first {len(report.bad):,}.")
    if report.note:
        call.tell(f"imported, but: {report.note}")
    elif report.waiting:
        call.tell(
            f"{counted(report.waiting, 'passage')} wait for a vector, and only words find them; "
            "run: recollect reindex"
        )
