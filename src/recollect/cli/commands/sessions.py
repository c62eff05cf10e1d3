"""Commands about conversations: session, and context, which an agent reads before it answers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import REFUSED, Call, command, group
from recollect.cli.commands.remember import left_out_warnings, new_and_known, notes_table
from recollect.cli.input import STDIN, confirm, existing_file, read_bytes, read_text, read_turns
from recollect.cli.memory_view import memory_data, speaker_of, spoken_at, superseded_text, with_remedy
from recollect.cli.options import AS_OF, KEEP_GOING, PROFILE, YES, as_of_time, complete_session
from recollect.cli.rendering import Column, Result, Styled, Table, Verbatim, fields_of, muted, picked
from recollect.cli.times import iso_day, long_day, start_of
from recollect.errors import InvalidInput, NotFound
from recollect.ranking.default_profile import DEFAULT_PROFILE
from recollect.text.phrases import ellipsize, quantity
from recollect.text.untrusted import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import tzinfo

    from recollect.changes import Turn
    from recollect.cli.rendering import Block, Words
    from recollect.engine.results import AddMessagesResult, Context
    from recollect.records import Memory

_NAME = click.argument("name", shell_complete=complete_session)


@command("list", "recollect session list", "recollect session list --json | jq -r '.sessions[].name'")
def session_list_command(call: Call) -> Result:
    """List the conversations, the newest first.

    In a pipe, the fields of a line are: name, turns, first, last, who.
    """
    found, zone = call.memory().sessions.list(), call.zone
    rows = []
    for each in found:
        first, last = iso_day(each.first_at, zone), iso_day(each.last_at, zone)
        rows.append((each.name, each.turns, first, last, ", ".join(each.speakers)))
    next_ = "Read one: recollect session show NAME" if found else "No conversations here yet."
    return Result.table({"sessions": found}, ("Session", "Turns", "First", "Last", "Who"), rows, next_)


@command("show", "recollect session show harbour", "recollect session show harbour --last 20")
@_NAME
@click.option("--last", type=click.IntRange(1, 1000), metavar="N", help="Only so many turns from the end.")
def session_show_command(call: Call, name: str, last: int | None) -> Result:
    """Print a conversation, from its first turn to its last.

    In a pipe, the fields of a line are: id, time, who, text.
    """
    turns = call.memory().sessions.turns(name, last=last)
    if not turns:
        raise _no_session(name)
    zone = call.zone
    return Result(
        {"session": name, "turns": [memory_data(turn) for turn in turns]},
        _conversation(turns, zone),
        [(str(turn.id), spoken_at(turn, zone), speaker_of(turn), turn.text) for turn in turns],
    )


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
    help="Make notes of what is worth keeping.",
)
@KEEP_GOING
def session_add_command(
    call: Call,
    name: str,
    words: tuple[str, ...],
    role: str | None,
    speaker: str | None,
    at: str | None,
    extract: bool,
    keep_going: bool,
) -> Result:
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
        turns, wrong = _turns_of_file(words, keep_going=keep_going)
    else:
        said_at = None if at is None else start_of(at, call.now(), "--at")
        text = read_text(words, "text of the turn")
        turns, wrong = [{"content": text, "role": role, "speaker": speaker, "at": said_at}], []
    memory = call.memory(create=True)
    added = memory.add_messages(name, turns, extract=extract, keep_going=keep_going)
    wrong += [f"turn {each.index + 1}: {each.reason}" for each in added.rejected]
    return _added(added, wrong)


@command("extract", "recollect session extract harbour")
@_NAME
def session_extract_command(call: Call, name: str) -> Result:
    """Make notes of what is worth keeping in a stored conversation.

    The setting `extractor` says how: by plain rules, or by a language model. Notes that were made before are
    only counted.

    In a pipe, the fields of a line are: id, `new` or `known`, text, names of entities.
    """
    memory = call.memory()
    if not memory.sessions.turns(name, last=1):
        raise _no_session(name)
    notes = memory.sessions.extract(name)
    data = {"session": name, "notes": notes}
    if not notes:
        return Result.message(f"Nothing in {name} was found worth a note.", data, mark="note")
    return Result(data, [notes_table(notes), *muted(f"{new_and_known(notes)}, drawn out of {name}.")])


@command("forget", "recollect session forget harbour", "recollect session forget harbour --yes")
@_NAME
@YES
def session_forget_command(call: Call, name: str, yes: bool) -> Result:
    """Forget a conversation: its messages, and the notes drawn out of them.

    They can be restored by their ids; `recollect purge` destroys them for good.
    """
    memory = call.memory()
    if not memory.sessions.turns(name, last=1):
        raise _no_session(name)
    confirm(f"Forget the conversation {name} and the notes drawn out of it?", yes=yes)
    gone = memory.sessions.forget(name)
    details = ["Destroy for good what any owner has forgotten: recollect purge --before 0d"]
    return Result.message(
        f"Forgot {quantity(len(gone), 'memory', 'memories')} of {name}.", {"forgotten": gone}, details
    )


@group(
    "session",
    (
        session_list_command,
        session_show_command,
        session_add_command,
        session_extract_command,
        session_forget_command,
    ),
    "recollect session list",
    "recollect session show harbour --last 20",
)
def session_command(_: Call) -> None:
    """Keep conversations: list, read, add turns, draw notes, forget.

    Every turn is a message that recall can find, with who said it and when. What is worth keeping in them
    also becomes notes, each pointing to its message. `recollect chat-import` brings in whole exports.
    """


def _turns_of_file(words: tuple[str, ...], *, keep_going: bool) -> tuple[Sequence[Any], list[str]]:
    remedy = " To add what someone said, name who: --role user, or --speaker Ana."
    if len(words) > 1:
        raise click.UsageError(f"Give one FILE.{remedy}")
    file = words[0] if words else STDIN
    if file != STDIN:
        existing_file(file, remedy)
    elif not words and sys.stdin.isatty():
        raise click.UsageError(f"There is nothing to add; give a FILE, or pipe one in.{remedy}")
    turns, wrong = read_turns(read_bytes(file))
    if wrong and (not keep_going or not turns):
        raise InvalidInput(f"{'Standard input' if file == STDIN else file}, {wrong[0]} Nothing was stored.")
    if not turns:
        raise InvalidInput(f"There are no turns in {'standard input' if file == STDIN else file}.")
    return turns, wrong


def _added(added: AddMessagesResult, wrong: Sequence[str]) -> Result:
    known = len(added.ids) - added.created
    also = f"; {known:,} {'was' if known == 1 else 'were'} there already" if known else ""
    details = [f"#{note.id} {note.category or 'note'}: {ellipsize(note.text)}" for note in added.notes]
    if details:
        them = "it" if added.created == 1 else "them"
        details.insert(0, f"Drawn out of {them}: {new_and_known(added.notes)}.")
    warnings = left_out_warnings(wrong)
    warnings += [f"stored, but: {added.note}"] if added.note else []
    warnings += [added.model_note] if added.model_note else []
    return Result.message(
        f"Added {quantity(added.created, 'turn')} to {added.session}{also}.",
        {**fields_of(added), "rejected": wrong},
        details,
        "note" if wrong else "ok",
        warnings,
        0 if added.ids else REFUSED,
    )


def _conversation(turns: Sequence[Memory], zone: tzinfo) -> Iterator[Block]:
    """The turns in order, under the days on which they were said."""
    widest = min(16, max(len(one_line(speaker_of(turn))) for turn in turns))
    columns = (
        Column(role="muted", width=5),
        Column(wrap="cut", width=widest),
        Column(fill=True),
        Column(role="muted", wrap="whole", right=True),
    )
    day = None
    for turn in turns:
        at = turn.created_at.astimezone(zone)
        today = "undated" if turn.undated else f"{at:%A}, {long_day(at)}"
        if today != day:
            yield from muted(f"\n── {today} ──")
            day = today
        time = "" if turn.undated else f"{at:%H:%M}"
        who = Styled(one_line(speaker_of(turn)), "entity" if turn.role == "assistant" else "speaker")
        text: Words = turn.text
        if turn.superseded_at is not None:
            text = Styled(turn.text, "muted"), Styled(f"  {superseded_text(turn)}", "bad")
        yield Table(columns, [(time, who, text, f"#{turn.id}")], grid=True)


def _no_session(name: str) -> NotFound:
    return NotFound(f"There is no session named {name!r}. See those there are: recollect session list")


@command(
    "context",
    "recollect context 'what does Marisol drink?' --budget 500",
    "recollect context 'where were we?' --session harbour | pbcopy",
    "tail -n 5 talk.jsonl | recollect context --messages - --json",
)
@click.argument("query", metavar="[QUERY...]", nargs=-1)
@click.option(
    "--budget",
    "budget_tokens",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Tokens at most, estimated.",
)
@click.option(
    "--session",
    metavar="NAME",
    shell_complete=complete_session,
    help="The current conversation, whose last turns are shown; memories come from all.",
)
@AS_OF
@PROFILE
@click.option(
    "--messages",
    metavar="FILE|-",
    help="Instead of QUERY: the last messages, as JSON objects with role, speaker, content and at.",
)
def context_command(
    call: Call,
    query: tuple[str, ...],
    messages: str | None,
    as_of: str | None,
    profile: str | None,
    **options: Any,
) -> Result:
    """Print what to read before answering, within a budget.

    Memories that bear on QUERY, and the last turns of the session, oldest first and nothing twice: text to
    paste into a prompt. Nothing else goes to standard output. Asking leaves no trace.
    """
    if query and messages is not None:
        raise click.UsageError("Give either QUERY or --messages.")
    asked = _messages(messages) if messages is not None else read_text(query, "query")
    options |= {"profile": profile or DEFAULT_PROFILE, "as_of": as_of_time(call, as_of)}
    found = call.memory().context(asked, **options)
    fields = ("query", "text", "tokens", "budget_tokens", "left_out", "note", "memories", "turns")
    return Result(
        picked(found, *fields),
        [Verbatim(found.text)] if found.text else [],
        hints=[_summary(found)],
        warnings=[with_remedy(found.note)] if found.note else [],
    )


def _messages(file: str) -> Sequence[Turn]:
    turns, wrong = read_turns(read_bytes(file))
    where = "standard input" if file == STDIN else file
    if wrong:
        raise InvalidInput(f"The messages in {where} cannot all be read; {wrong[0]}")
    if not turns:
        raise InvalidInput(f"There are no messages in {where}.")
    return turns


def _summary(found: Context) -> str:
    if not found.text and not found.left_out:
        return "Nothing is known that bears on it."
    memories = quantity(len(found.memories), "memory", "memories")
    turns = f" and {quantity(len(found.turns), 'turn')}" if found.turns else ""
    left = f"; {quantity(found.left_out, 'memory', 'memories')} did not fit" if found.left_out else ""
    return f"{found.tokens:,} of {found.budget_tokens:,} tokens: {memories}{turns}{left}."
