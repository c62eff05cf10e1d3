"""`recollect remember`: notes, one or a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import REFUSED, Call, command
from recollect.cli.input import STDIN, read_lines, read_text
from recollect.cli.options import KEEP_GOING
from recollect.cli.phrases import ellipsize, quantity
from recollect.cli.rendering import Result, Table, fields_of, muted
from recollect.cli.times import start_of
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recollect.engine.results import Remembered

_MOST_NAMED = 10


@command(
    "remember",
    "recollect remember 'Marisol Vega is allergic to nuts' --importance 0.9 --tag kitchen",
    "recollect remember 'The crane was inspected' --happened 'last tuesday' --about Boathouse",
    "pbpaste | recollect remember --category work --source email",
    "cat notes.txt | recollect remember --lines",
)
@click.argument("text", metavar="[TEXT...|-]", nargs=-1)
@click.option(
    "--importance", type=click.FloatRange(0, 1), metavar="0..1", help="How much it matters; 0.5 if not given."
)
@click.option("--category", metavar="NAME", help="What sort of thing it is: preferences, plans_goals, …")
@click.option(
    "--happened", metavar="WHEN", help="When it was so: an ISO date or time, or words such as 'last tuesday'."
)
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="A word to find it by; repeatable.")
@click.option(
    "--about", multiple=True, metavar="NAME", help="An entity that it is about, by name; repeatable."
)
@click.option("--source", metavar="TEXT", help="Where it comes from.")
@click.option("--lines", is_flag=True, help="Each line of standard input is a note of its own.")
@KEEP_GOING
def remember_command(
    call: Call, text: tuple[str, ...], lines: bool, keep_going: bool, happened: str | None, **given: Any
) -> Result:
    """Remember something: a note, in your own words.

    Without TEXT, or with `-`, standard input is the note. The same words again are counted, not stored twice.
    A note links by itself to the entities whose names it mentions. With --lines, --keep-going leaves out
    lines that cannot be stored and names them.

    In a pipe, the fields of a line with --lines are: id, `new` or `known`, text, names of entities.
    """
    shared = {name: value for name, value in given.items() if value is not None}
    if happened is not None:
        shared["happened_at"] = start_of(happened, call.now(), "--happened")
    if lines:
        return _remember_lines(call, text, shared, keep_going=keep_going)
    return _remember_one(call, read_text(text, "text to remember"), shared)


def _remember_one(call: Call, text: str, shared: dict[str, Any]) -> Result:
    memory = call.memory(create=True)
    # As a batch, which says why a note cannot be found by meaning yet.
    batch = memory.remember_many([{"text": text, **shared}], keep_going=True)
    if batch.rejected:
        raise InvalidInput(batch.rejected[0].reason)
    (note,) = batch.notes
    stored, alike = memory.get(note.id), note.similar
    times = 1 if stored is None else stored.duplicates + 1
    again = f"; that makes {times:,} times" if times > 1 else ""
    details = [f"Mentions: {', '.join(note.mentions)}"] if note.mentions else []
    if alike is not None:
        details += [
            f"Nearly repeats #{alike.id} ({alike.similarity:.2f}): “{ellipsize(alike.text)}”",
            f"Both are kept; if this one corrects it: recollect supersede {alike.id} {note.id}",
        ]
    return Result.message(
        f"Remembered as #{note.id}." if note.created else f"#{note.id} says so already{again}.",
        {**fields_of(note), "times": times, "note": batch.note},
        details,
        "ok" if alike is None else "note",
        not_embedded(batch.note),
    )


def _remember_lines(call: Call, text: tuple[str, ...], shared: dict[str, Any], *, keep_going: bool) -> Result:
    if text and text != (STDIN,):
        raise click.UsageError("--lines reads standard input; leave TEXT out.")
    rows = read_lines()
    if not rows:
        raise click.UsageError("There is nothing to remember: standard input is empty.")
    memory = call.memory(create=True)
    batch = memory.remember_many([{"text": line, **shared} for _, line in rows], keep_going=keep_going)
    rejected = [{"line": rows[each.index][0], "reason": each.reason} for each in batch.rejected]
    left_out = left_out_warnings([f"line {each['line']}: {each['reason']}" for each in rejected], "lines")
    due = memory.counts().due
    waiting = f"{quantity(due, 'passage')} wait; run: recollect reindex" if due else None
    return Result(
        {**fields_of(batch), "rejected": rejected},
        [notes_table(batch.notes), *muted(f"{new_and_known(batch.notes)}.")],
        warnings=[*left_out, *not_embedded(batch.note or waiting)],
        exit_code=0 if batch.notes else REFUSED,
    )


def notes_table(notes: Iterable[Remembered]) -> Table:
    rows = []
    for note in notes:
        text, mentions = ellipsize(note.text, 200), ", ".join(note.mentions)
        rows.append((str(note.id), "new" if note.created else "known", text, mentions))
    return Table(("id", "", "Note", "Mentions"), rows)


def new_and_known(notes: Sequence[Remembered]) -> str:
    """`3 new notes`, `3 new notes, 2 known`."""
    new = sum(note.created for note in notes)
    known = len(notes) - new
    return f"{quantity(new, 'new note')}{f', {known:,} known' if known else ''}"


def left_out_warnings(left_out: Sequence[str], things: str = "") -> list[str]:
    """Name the first ones, and count the rest."""
    warnings = [f"left out, {each}" for each in left_out[:_MOST_NAMED]]
    more = len(left_out) - _MOST_NAMED
    if more > 0:
        warnings.append(f"left out {f'{more:,} more {things}'.strip()}; --json names them.")
    return warnings


def not_embedded(note: str | None) -> list[str]:
    return [f"stored, but not yet found by meaning: {note}"] if note else []
