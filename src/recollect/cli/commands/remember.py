"""Commands that write notes and the graph: entities, their observations and status, and relations."""

from __future__ import annotations

from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import REFUSED, Call, command
from recollect.cli.input import STDIN, read_lines, read_text
from recollect.cli.options import KEEP_GOING, id_in
from recollect.cli.rendering import Mark, Result, Table, fields_of, muted, picked
from recollect.cli.times import parse_time, start_of
from recollect.errors import InvalidInput, NotFound
from recollect.text.phrases import ellipsize, quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from recollect.engine.engine import Engine
    from recollect.engine.results import ObservedBatch, ObservedEntity, Remembered, RememberedBatch

_MOST_NAMED = 10
_SOURCE = click.argument("source")
_TYPE = click.argument("type_", metavar="TYPE")
_TARGET = click.argument("target")


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
    "--happened",
    "--at",
    "happened",
    metavar="WHEN",
    help="When it was so: an ISO date or time, or words such as 'last tuesday'.",
)
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="A word to find it by; repeatable.")
@click.option(
    "--about", multiple=True, metavar="NAME", help="An entity that it is about, by name; repeatable."
)
@click.option("--source", metavar="TEXT", help="Where it comes from.")
@click.option(
    "--expires", metavar="WHEN", help="From when no search finds it: an ISO date or time, or words."
)
@click.option("--lines", is_flag=True, help="Each line of standard input is a note of its own.")
@KEEP_GOING
def remember_command(
    call: Call,
    text: tuple[str, ...],
    lines: bool,
    keep_going: bool,
    happened: str | None,
    expires: str | None,
    **given: Any,
) -> Result:
    """Remember something: a note, in your own words.

    Without TEXT, or with `-`, standard input is the note. The same words again are counted, not stored twice.
    A note that seems to contradict another is kept beside it, and the answer names the other and the command
    that settles it. A note links by itself to the entities whose names it mentions. With --lines,
    --keep-going leaves out lines that cannot be stored and names them.

    In a pipe, the fields of a line with --lines are: id, `new` or `known`, text, names of entities.
    """
    shared = {name: value for name, value in given.items() if value is not None}
    if happened is not None:
        shared["happened_at"] = start_of(happened, call.now(), "--happened")
    if expires is not None:
        shared["expires_at"] = start_of(expires, call.now(), "--expires")
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
    alike, times = note.similar, _times_said(memory, note)
    again = f"; that makes {times:,} times" if times > 1 else ""
    details = [f"Mentions: {', '.join(note.mentions)}"] if note.mentions else []
    for other in note.contradicts:
        old, new = (note.id, other.id) if other.is_newer else (other.id, note.id)
        details += [
            f"Seems to contradict #{other.id}: “{ellipsize(other.text)}”",
            f"Both are kept; if the later one replaces it: recollect supersede {old} {new}",
        ]
    if alike is not None and not note.contradicts:
        details += [
            f"Nearly repeats #{alike.id} ({alike.similarity:.2f}): “{ellipsize(alike.text)}”",
            f"Both are kept; if this one corrects it: recollect supersede {alike.id} {note.id}",
        ]
    return Result.message(
        f"Remembered as #{note.id}." if note.created else f"#{note.id} says so already{again}.",
        {**fields_of(note), "times": times, "note": batch.note, "model_note": batch.model_note},
        details,
        "ok" if alike is None and not note.contradicts else "note",
        _embedding_warnings(batch),
    )


def _times_said(memory: Engine, note: Remembered) -> int:
    from recollect.engine.after_commit import attempt_follow_up  # --help needs none

    stored, _ = attempt_follow_up(lambda: None if note.created else memory.get(note.id))
    return 1 if stored is None else stored.duplicates + 1


def _remember_lines(call: Call, text: tuple[str, ...], shared: dict[str, Any], *, keep_going: bool) -> Result:
    if text and text != (STDIN,):
        raise click.UsageError("--lines reads standard input; leave TEXT out.")
    from recollect.engine.after_commit import attempt_follow_up  # --help needs none

    rows = read_lines()
    if not rows:
        raise click.UsageError("There is nothing to remember: standard input is empty.")
    memory = call.memory(create=True)
    batch = memory.remember_many([{"text": line, **shared} for _, line in rows], keep_going=keep_going)
    rejected = [{"line": rows[each.index][0], "reason": each.reason} for each in batch.rejected]
    left_out = left_out_warnings([f"line {each['line']}: {each['reason']}" for each in rejected], "lines")
    due, _ = attempt_follow_up(lambda: memory.counts().due)
    waiting = f"{quantity(due, 'passage')} wait; run: recollect reindex" if due else None
    told = batch if batch.note else replace(batch, note=waiting)
    return Result(
        {**fields_of(batch), "rejected": rejected},
        [notes_table(batch.notes), *muted(f"{new_and_known(batch.notes)}.")],
        warnings=[*left_out, *_embedding_warnings(told)],
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


def _embedding_warnings(batch: RememberedBatch | ObservedBatch) -> list[str]:
    """Why what was stored is not found by meaning yet, and what its languages mean for the model."""
    warnings = [note_warning(batch.note)] if batch.note else []
    return warnings + ([batch.model_note] if batch.model_note else [])


def note_warning(note: str) -> str:
    """A note on what was written, as a warning."""
    from recollect.engine.after_commit import UNFINISHED  # --help needs none

    return note if note.startswith(UNFINISHED) else f"stored, but not yet found by meaning: {note}"


@command(
    "add",
    "recollect add 'Marisol Vega' --type person -o 'Leads the harbour team' -o 'Speaks Galician'",
    "recollect add Tidebook -t project --status paused --importance 0.9",
)
@click.argument("name")
@click.option("-t", "--type", metavar="TYPE", help="What it is: person, project, …")
@click.option(
    "-o", "--observation", "observations", multiple=True, metavar="TEXT", help="Something known; repeatable."
)
@click.option("--status", metavar="STATUS", help="active, paused, completed or archived.")
@click.option("--importance", type=float, metavar="0..1", help="How much it matters; 0.5 if not given.")
def add_command(call: Call, **given: Any) -> Result:
    """Create an entity, or add to the one of that name.

    A name that exists keeps its status, and its type unless that is `unknown`, and gains the observations
    that are new.
    """
    entity = {field: value for field, value in given.items() if value is not None}
    return _observed(call.memory(create=True).create_entities([entity]))


@command(
    "observe",
    "recollect observe Tidebook 'Ships with the spring tide' --kind decision --happened-at 2026-02-03",
    "recollect observe Tidebook 'Ships in May' --supersedes 'Ships with the spring tide'",
    "recollect observe Tidebook 'Ships in June' --supersedes '#12'",
)
@click.argument("name")
@click.argument("texts", metavar="TEXT...", nargs=-1, required=True)
@click.option("-k", "--kind", default="generic", help="fact, decision, state, spec, metric, metadata, …")
@click.option(
    "--supersedes", metavar="TEXT|#ID", help="The observation that this one replaces; it stays as history."
)
@click.option("--happened-at", type=parse_time, metavar="WHEN", help="When it was so: an ISO date or time.")
def observe_command(
    call: Call, name: str, texts: tuple[str, ...], supersedes: str | None, **shared: Any
) -> Result:
    """Add observations to an entity that exists.

    One that nearly repeats an older one is kept, and pointed out.
    """
    if supersedes is not None and len(texts) > 1:
        raise click.UsageError("--supersedes goes with one TEXT: the one that takes the old one's place.")
    is_id = supersedes is not None and supersedes.startswith("#")
    shared["supersedes"] = (id_in(str(supersedes)) if is_id else None) or supersedes
    observations = [{"content": text, **shared} for text in texts]
    return _observed(call.memory().graph.add_observations({name: observations}), replaced=supersedes)


@command(
    "unobserve",
    "recollect unobserve 'Marisol Vega' 'Drinks oolong after lunch'",
)
@click.argument("name")
@click.argument("texts", metavar="TEXT...", nargs=-1, required=True)
def unobserve_command(call: Call, name: str, texts: tuple[str, ...]) -> Result:
    """Remove observations from an entity, by their exact text.

    To correct one and keep the history, use `recollect observe --supersedes` instead.
    """
    memory = call.memory()
    entity = next(iter(memory.graph.open_nodes([name], record=False).entities), None)
    if entity is None:
        raise NotFound(f"There is no entity named {name!r}; `recollect find` looks for one.")
    gone = {each.id: each.content for each in entity.in_force if each.content in texts}
    removed = memory.graph.delete_observations({entity.name: texts})
    absent = [text for text in texts if text not in gone.values()]
    undo = [f"Bring it back: recollect restore --observation {id_}" for id_ in gone]
    return Result.message(
        f"Removed {quantity(removed, 'observation')} from {entity.name}.",
        {"name": entity.name, "removed": removed, "observations": list(gone), "absent": absent},
        [*(f"Not there: {text}" for text in absent), *undo],
        "note" if absent else "ok",
    )


@command("status", "recollect status Tidebook paused", "recollect status Tidebook completado")
@click.argument("name")
@click.argument("status")
def status_command(call: Call, name: str, status: str) -> Result:
    """Mark an entity as active, paused, completed or archived."""
    now = call.memory().graph.set_status(name, status)
    return Result.message(f"{name} is {now}.", {"name": name, "status": str(now)})


@command(
    "relate",
    "recollect relate 'Marisol Vega' leads Tidebook",
    "recollect relate Bosun lives_in Boathouse --since 2025-11-02 --context 'arrived with the fish'",
    "recollect relate Tidebook part_of 'Harbour Works' --create-missing",
)
@_SOURCE
@_TYPE
@_TARGET
@click.option("--context", default="", metavar="TEXT", help="Why, or in what way.")
@click.option("--since", type=parse_time, metavar="WHEN", help="When it began: an ISO date or time.")
@click.option("--until", type=parse_time, metavar="WHEN", help="When it ended, if it is over.")
@click.option("--create-missing", is_flag=True, help="Create an entity that is not there, of type `unknown`.")
def relate_command(call: Call, type_: str, create_missing: bool, **relation: Any) -> Result:
    """Connect two entities: SOURCE TYPE TARGET.

    Declared pairs, such as contains and part_of, get their inverse by themselves.
    """
    memory = call.memory(create=create_missing)
    made = memory.graph.create_relations([{"type": type_, **relation}], create_missing=create_missing)
    (related,) = made.relations
    details = [f"Created {name}, of type unknown." for name in related.also_created]
    if related.inverse:
        details.append("The inverse holds too.")
    triple = f"{related.source} {related.type} {related.target}"
    return Result.message(
        f"Related: {triple}." if related.created else f"That was known already: {triple}.",
        picked(related, "source", "type", "target", "created", "inverse", "also_created"),
        details,
        warnings=[note_warning(made.note)] if made.note else [],
    )


@command("end-relation", "recollect end-relation Bosun lives_in Boathouse --at 2026-04-01")
@_SOURCE
@_TYPE
@_TARGET
@click.option(
    "--at", type=parse_time, metavar="WHEN", help="When it ended: an ISO date or time; now if not given."
)
def end_relation_command(call: Call, source: str, type_: str, target: str, at: datetime | None) -> Result:
    """Say that a relation no longer holds. It stays, as history."""
    call.memory().graph.end_relation(source, type_, target, at=at)
    data = {"source": source, "type": type_, "target": target, "at": at}
    return Result.message(f"Ended: {source} {type_} {target}.", data)


@command("unrelate", "recollect unrelate Bosun lives_in Boathouse")
@_SOURCE
@_TYPE
@_TARGET
def unrelate_command(call: Call, source: str, type_: str, target: str) -> Result:
    """Remove a relation that should never have been there.

    For one that was true and is over, use `recollect end-relation`.
    """
    removed = call.memory().graph.delete_relations([(source, type_, target)])
    data = {"source": source, "type": type_, "target": target, "removed": removed}
    if not removed:
        return Result.message(f"There was no such relation: {source} {type_} {target}.", data, mark="note")
    inverse = " and its inverse" if removed > 1 else ""
    return Result.message(f"Removed: {source} {type_} {target}{inverse}.", data)


def _observed(batch: ObservedBatch, *, replaced: str | None = None) -> Result:
    (observed,) = batch.entities
    details = [
        f"#{pair.observation} nearly repeats #{pair.similar_to} ({pair.similarity:.2f}): "
        f"“{ellipsize(pair.content)}” ~ “{ellipsize(pair.similar_content)}”"
        for pair in observed.similar
    ]
    for each in observed.contradicts:
        old = f"#{each.contradicts}"
        command = f"recollect observe {quote(observed.name)} {quote(each.content)} --supersedes '{old}'"
        details += [
            f"#{each.observation} seems to contradict {old}: “{ellipsize(each.contradicted_content)}”",
            f"Both are kept; if it replaces it: {command}",
        ]
    if observed.kept_type is not None:
        details.append(f"It keeps its type {observed.kept_type}.")
    notable = bool(details)
    if replaced is not None:
        details.append(f"It replaces: {ellipsize(replaced)}")
    data = {**fields_of(observed), "note": batch.note, "model_note": batch.model_note}
    mark: Mark = "note" if notable else "ok"
    return Result.message(_what_changed(observed), data, details, mark, _embedding_warnings(batch))


def _what_changed(observed: ObservedEntity) -> str:
    name = f"{observed.name} (#{observed.id})"
    if observed.created:
        added = f" with {quantity(len(observed.added), 'observation')}" if observed.added else ""
        return f"Created {name}{added}."
    if not observed.changed:
        return f"{name} was there already, and knew all of this."
    gains = [f"took its type, {observed.took_type}"] if observed.took_type is not None else []
    gains += [f"gained {quantity(len(observed.added), 'new observation')}"] if observed.added else []
    return f"{name} {', and '.join(gains)}."
