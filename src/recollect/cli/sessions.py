"""`recollect session`: conversations, turn by turn."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import Group, command
from recollect.cli.failures import REFUSED
from recollect.cli.given import STDIN, content_of, existing, text_of, turns_in
from recollect.cli.remember import new_and_known, note_data, note_table
from recollect.cli.replies import Done, Rows, Talk
from recollect.cli.when import start_of
from recollect.cli.which import sessions_begun
from recollect.cli.wording import counted, shortened
from recollect.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.cli.call import Call
    from recollect.engine.engine import Engine
    from recollect.engine.results import Told
    from recollect.records import Session

_MANY = 10
"""Turns that are named one by one on standard error; the rest is counted."""
_NAME = click.argument("name", shell_complete=sessions_begun)


@command("list", "recollect session list", "recollect session list --json | jq -r '.sessions[].name'")
def list_(call: Call) -> None:
    """List the conversations, the newest first.

    In a pipe, the fields of a line are: name, turns, first, last, who.
    """
    with call.memory() as memory:
        found = memory.sessions.list()
        rows = [_row(session, memory) for session in found]
    data = {"sessions": [_session_data(session) for session in found]}
    footer = "Read one: recollect session show NAME" if found else "No conversations here yet."
    call.show(Rows(data, ("Session", "Turns", "First", "Last", "Who"), rows, footer=footer, right=(1,)))


@command("show", "recollect session show harbour", "recollect session show harbour --last 20")
@_NAME
@click.option("--last", type=click.IntRange(1, 1000), metavar="N", help="Only so many turns from the end.")
def show(call: Call, name: str, last: int | None) -> None:
    """Print a conversation in the order in which it was held.

    In a pipe, the fields of a line are: id, time, who, text.
    """
    with call.memory() as memory:
        turns = memory.sessions.turns(name, last=last)
        if not turns:
            raise _no_such(name)
        call.show(Talk(name, tuple(turns), memory.parts.zone))


@command(
    "add",
    "recollect session add harbour talk.jsonl",
    "recollect session add harbour --role user --speaker Ana 'I moved to Vigo in May'",
    "tail -n 2 talk.jsonl | recollect session add harbour -",
)
@_NAME
@click.argument("words", metavar="[FILE|-|TEXT...]", nargs=-1)
@click.option("--role", metavar="ROLE", help="Who speaks, as models know it: user, assistant, …")
@click.option("--speaker", metavar="NAME", help="Who speaks, by name.")
@click.option(
    "--at", metavar="WHEN", help="When it was said: an ISO date or time, or words; now if not given."
)
@click.option(
    "--extract/--no-extract",
    default=True,
    show_default=True,
    help="Draw notes out of what is worth keeping.",
)
@click.option(
    "--keep-going/--stop-at-bad-line",
    default=True,
    show_default=True,
    help="Leave out turns that cannot be read and name them, or store nothing.",
)
def add(
    call: Call,
    name: str,
    words: tuple[str, ...],
    role: str | None,
    speaker: str | None,
    at: str | None,
    extract: bool,
    keep_going: bool,
) -> int | None:
    """Add turns to a conversation; the first makes it.

    FILE holds JSON: one object to a line, or a list, with `content` and, where they are known, `role`,
    `speaker` and `at`. `-`, or nothing, reads that from standard input. With --role or --speaker, the words
    are one turn, as it was said.

    Turns are added each time. To bring in files again and again, use `recollect chat-import`.
    """
    turns: Sequence[Any]
    if role is None and speaker is None:
        if at is not None:
            raise click.UsageError("--at goes with --role or --speaker; in a file, each turn has its own.")
        turns, wrong = _from_file(words, keep_going=keep_going)
    else:
        said_at = None if at is None else start_of(at, call.now(), "--at")
        text = text_of(words, "text of the turn")
        turns, wrong = [{"content": text, "role": role, "speaker": speaker, "at": said_at}], []
    with call.memory(create=True) as memory:
        told = memory.add_messages(name, turns, extract=extract, keep_going=keep_going)
    wrong += [f"turn {each.index + 1}: {each.reason}" for each in told.rejected]
    _show_told(call, told, wrong)
    return None if told.ids else REFUSED


@command("extract", "recollect session extract harbour")
@_NAME
def extract(call: Call, name: str) -> None:
    """Draw notes out of a conversation that is stored.

    The setting `extractor` says by what: plain rules, or a language model. What was drawn before is
    only counted.

    In a pipe, the fields of a line are: id, `new` or `known`, text, names of entities.
    """
    with call.memory() as memory:
        if not memory.sessions.turns(name, last=1):
            raise _no_such(name)
        notes = memory.sessions.extract(name)
    data = {"session": name, "notes": [note_data(note) for note in notes]}
    if notes:
        footer = f"{new_and_known(notes)}, drawn out of {name}."
        call.show(Rows(data, *note_table(notes), footer=footer))
    else:
        call.show(Done(f"Nothing in {name} was found worth a note.", data, mark="note"))


@click.command(
    "session",
    cls=Group,
    sections={"Commands": (list_, show, add, extract)},
    examples=(
        "recollect session list",
        "recollect session show harbour --last 20",
        "recollect session add harbour talk.jsonl",
        "recollect session extract harbour",
    ),
    invoke_without_command=True,
)
@click.pass_context
def session(ctx: click.Context) -> None:
    """Keep conversations: list, read, add turns, draw notes.

    Every turn is a message that recall can find, with who said it and when. What is worth keeping in them
    also becomes notes, each pointing to its message. `recollect chat-import` brings in whole exports.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _from_file(words: tuple[str, ...], *, keep_going: bool) -> tuple[Sequence[Any], list[str]]:
    said = " To add what someone said, name who: --role user, or --speaker Ana."
    if len(words) > 1:
        raise click.UsageError(f"Give one FILE.{said}")
    file = words[0] if words else STDIN
    if file != STDIN:
        existing(file, said)
    elif not words and sys.stdin.isatty():
        raise click.UsageError(f"There is nothing to add; give a FILE, or pipe one in.{said}")
    turns, wrong = turns_in(content_of(file))
    if wrong and (not keep_going or not turns):
        raise InvalidInput(f"{'Standard input' if file == STDIN else file}, {wrong[0]} Nothing was stored.")
    if not turns:
        raise InvalidInput(f"There are no turns in {'standard input' if file == STDIN else file}.")
    return turns, wrong


def _show_told(call: Call, told: Told, wrong: Sequence[str]) -> None:
    data = {
        "session": told.session,
        "ids": list(told.ids),
        "created": told.created,
        "notes": [note_data(note) for note in told.notes],
        "rejected": list(wrong),
        "note": told.note,
    }
    known = len(told.ids) - told.created
    also = f"; {known:,} {'was' if known == 1 else 'were'} there already" if known else ""
    details = [f"#{note.id} {note.category or 'note'}: {shortened(note.text)}" for note in told.notes]
    if details:
        details.insert(
            0, f"Drawn out of {'it' if told.created == 1 else 'them'}: {new_and_known(told.notes)}."
        )
    message = f"Added {counted(told.created, 'turn')} to {told.session}{also}."
    call.show(Done(message, data, details, "note" if wrong else "ok"))
    for each in wrong[:_MANY]:
        call.tell(f"left out, {each}")
    if len(wrong) > _MANY:
        call.tell(f"left out {len(wrong) - _MANY:,} more; --json names them.")
    if told.note:
        call.tell(f"stored, but: {told.note}")


def _row(session: Session, memory: Engine) -> tuple[str, ...]:
    from recollect.cli.dates import day  # noqa: PLC0415  # --help needs none

    zone = memory.parts.zone
    first, last = day(session.first_at, zone), day(session.last_at, zone)
    return session.name, f"{session.turns:,}", first, last, ", ".join(session.speakers)


def _session_data(session: Session) -> dict[str, Any]:
    return {
        "name": session.name,
        "turns": session.turns,
        "first_at": session.first_at.isoformat(),
        "last_at": session.last_at.isoformat(),
        "speakers": list(session.speakers),
    }


def _no_such(name: str) -> NotFound:
    return NotFound(f"There is no session named {name!r}. See those there are: recollect session list")
