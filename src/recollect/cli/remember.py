"""`recollect remember`: notes, one or a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import command
from recollect.cli.failures import REFUSED
from recollect.cli.given import lines_of, text_of
from recollect.cli.replies import Done, Rows
from recollect.cli.when import start_of
from recollect.cli.wording import counted, shortened
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recollect.cli.call import Call
    from recollect.cli.replies import Mark
    from recollect.engine.engine import Engine
    from recollect.engine.results import Alike, Remembered

_MANY = 10
"""Lines that are named one by one on standard error; the rest is counted."""


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
@click.option(
    "--keep-going/--stop-at-bad-line",
    default=True,
    show_default=True,
    help="With --lines: leave out what cannot be stored and name it, or store nothing.",
)
def remember(
    call: Call, text: tuple[str, ...], lines: bool, keep_going: bool, happened: str | None, **given: Any
) -> int | None:
    """Remember something: a note, in your own words.

    Without TEXT, or with `-`, standard input is the note. The same words again are counted, not stored twice.
    A note links by itself to the entities whose names it mentions.

    In a pipe, the fields of a line with --lines are: id, `new` or `known`, text, names of entities.
    """
    shared = {name: value for name, value in given.items() if value is not None}
    if happened is not None:
        shared["happened_at"] = start_of(happened, call.now(), "--happened")
    if lines:
        return _remember_lines(call, text, shared, keep_going=keep_going)
    _remember_one(call, text_of(text, "text to remember"), shared)
    return None


def _remember_one(call: Call, text: str, shared: dict[str, Any]) -> None:
    with call.memory(create=True) as memory:
        # As a batch, which says why a note cannot be found by meaning yet.
        batch = memory.remember_many([{"text": text, **shared}], keep_going=True)
        if batch.rejected:
            raise InvalidInput(batch.rejected[0].reason)
        (note,) = batch.notes
        times = _times(memory, note)
    details = [*_about(note), *_likeness(note.similar, note.id)]
    mark: Mark = "note" if note.similar is not None else "ok"
    message = f"Remembered as #{note.id}." if note.created else f"#{note.id} says so already{_said(times)}."
    call.show(Done(message, {**note_data(note), "times": times, "note": batch.note}, details, mark))
    _tell_waiting(call, batch.note)


def _remember_lines(
    call: Call, text: tuple[str, ...], shared: dict[str, Any], *, keep_going: bool
) -> int | None:
    if text and text != ("-",):
        raise click.UsageError("--lines reads standard input; leave TEXT out.")
    rows = lines_of()
    if not rows:
        raise click.UsageError("There is nothing to remember: standard input is empty.")
    with call.memory(create=True) as memory:
        batch = memory.remember_many([{"text": line, **shared} for _, line in rows], keep_going=keep_going)
        waiting = batch.note or _left_to_embed(memory)
    rejected = [(rows[each.index][0], each.reason) for each in batch.rejected]
    data = {
        "notes": [note_data(note) for note in batch.notes],
        "rejected": [{"line": line, "reason": reason} for line, reason in rejected],
        "note": batch.note,
    }
    call.show(Rows(data, *note_table(batch.notes), footer=_summary(batch.notes)))
    for line, reason in rejected[:_MANY]:
        call.tell(f"left out, line {line}: {reason}")
    if len(rejected) > _MANY:
        call.tell(f"left out {len(rejected) - _MANY:,} more lines; --json names them.")
    _tell_waiting(call, waiting)
    return None if batch.notes else REFUSED


def note_table(notes: Iterable[Remembered]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Columns and rows for notes that were stored at once."""
    rows: list[tuple[str, ...]] = [
        (
            f"{note.id}",
            "new" if note.created else "known",
            shortened(note.text, 200),
            ", ".join(note.mentions),
        )
        for note in notes
    ]
    return ("id", "", "Note", "Speaks of"), rows


def note_data(note: Remembered) -> dict[str, Any]:
    from dataclasses import asdict  # noqa: PLC0415  # --help needs none

    return asdict(note)


def new_and_known(notes: Sequence[Remembered]) -> str:
    """`3 new notes`, `3 new notes, 2 known`."""
    new = sum(note.created for note in notes)
    known = len(notes) - new
    return f"{counted(new, 'new note')}{f', {known:,} known' if known else ''}"


def _summary(notes: Sequence[Remembered]) -> str:
    return f"{new_and_known(notes)}."


def _times(memory: Engine, note: Remembered) -> int:
    """How often it was said, the first time included."""
    stored = memory.get(note.id)
    return 1 if stored is None else stored.duplicates + 1


def _said(times: int) -> str:
    return f"; that makes {times:,} times" if times > 1 else ""


def _about(note: Remembered) -> list[str]:
    return [f"Speaks of: {', '.join(note.mentions)}"] if note.mentions else []


def _likeness(alike: Alike | None, new: int) -> list[str]:
    if alike is None:
        return []
    return [
        f"Nearly repeats #{alike.id} ({alike.similarity:.2f}): “{shortened(alike.text)}”",
        f"Both are kept; if this one corrects it: recollect supersede {alike.id} {new}",
    ]


def _left_to_embed(memory: Engine) -> str | None:
    due = memory.counts().due
    return f"{counted(due, 'passage')} wait; run: recollect reindex" if due else None


def _tell_waiting(call: Call, note: str | None) -> None:
    if note:
        call.tell(f"stored, but not yet found by meaning: {note}")
