"""Commands that store notes, entities and conversations; and `context`, which an agent reads."""

from __future__ import annotations

import sys
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import REFUSED, Call, command, group, option
from recollect.cli.options import (
    AS_OF,
    KEEP_GOING,
    NOTE_OPTIONS,
    STDIN,
    complete_entity,
    complete_session,
    existing_file,
    id_in,
    iso_day,
    iso_day_or_minute,
    long_day,
    no_session,
    not_found,
    other_owners,
    parse_time,
    read_bytes,
    read_text,
    session_option,
    when,
)
from recollect.cli.rendering import Column, Result, Styled, Table, Verbatim, fields_of, muted, picked
from recollect.cli.views import memory_data, speaker_of, superseded_text, with_remedy
from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.limits import DEFAULT_PROFILE
from recollect.text.phrases import ellipsize, one_line, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime, tzinfo

    from recollect.cli.rendering import Block, Words
    from recollect.domain.records import Memory
    from recollect.domain.results import ObservedBatch, Remembered, RememberedBatch


_MAX_LISTED = 10


@command(
    "remember",
    "recollect remember 'Marisol Vega is allergic to nuts' --tag kitchen",
    "recollect remember 'The crane was inspected' --happened 'last tuesday'",
    "pbpaste | recollect remember --category work --source email",
    "cat notes.txt | recollect remember --lines",
)
@click.argument("text", metavar="[TEXT...|-]", nargs=-1)
@NOTE_OPTIONS
@option("--tag TAG...", "Tag; repeatable.", to="tags")
@option("--about NAME...", "Entity that it is about; repeatable.", shell_complete=complete_entity)
@option("--source TEXT", "Where it comes from.")
@option("--lines", "Store each line of standard input as a note.")
@KEEP_GOING
def remember_command(
    call: Call, text: tuple[str, ...], lines: bool, keep_going: bool, **given: Any
) -> Result:
    """Store a note, in your own words.

    Without TEXT, or with `-`, the note is read from standard input. A text that is stored
    already is only counted. A note that seems to contradict another is stored; the answer names the other one
    and the command that replaces it. A note is linked to the entities whose names it mentions.

    With --lines, lines that cannot be stored are left out and named.
    """
    from recollect.services import attempt_follow_up  # not loaded for --help

    shared = {name: value for name, value in given.items() if value not in {None, "never"}}
    if lines:
        return _remember_lines(call, text, shared, keep_going=keep_going)
    content = read_text(text, "text to remember")
    memory = call.memory(create=True)
    # Only a batch reports why a note has no vector yet.
    batch = memory.remember_many([{"text": content, **shared}], keep_going=True)
    if batch.rejected:
        raise InvalidInput(batch.rejected[0].reason)
    (note,) = batch.notes
    stored, _ = attempt_follow_up(lambda: None if note.created else memory.get(note.id))
    times = 1 if stored is None else stored.duplicates + 1
    again = f"; stored {times:,} times" if times > 1 else ""
    until = f" Expires {iso_day_or_minute(given['expires_at'], call.zone)}." if "expires_at" in shared else ""
    alike, details = note.similar, [f"Mentions: {', '.join(note.mentions)}"] if note.mentions else []
    for other in note.contradicts:
        old, new = (note.id, other.id) if other.is_newer else (other.id, note.id)
        details += [
            f"Seems to contradict #{other.id}: “{ellipsize(other.text)}”",
            f"Both are kept. To replace the older one: recollect supersede {old} {new}",
        ]
    if alike is not None and not note.contradicts:
        details += [
            f"Nearly repeats #{alike.id} ({alike.similarity:.2f}): “{ellipsize(alike.text)}”",
            f"Both are kept. To replace the older one: recollect supersede {alike.id} {note.id}",
        ]
    return Result.message(
        f"Remembered as #{note.id}.{until}" if note.created else f"#{note.id} already has this text{again}.",
        {**fields_of(note), "times": times, **picked(batch, "note", "model_note")},
        details,
        "ok" if alike is None and not note.contradicts else "note",
        _embedding_warnings(batch),
    )


def _remember_lines(call: Call, text: tuple[str, ...], shared: dict[str, Any], *, keep_going: bool) -> Result:
    from recollect.services import attempt_follow_up  # not loaded for --help

    if text and text != (STDIN,):
        raise click.UsageError("--lines reads standard input; leave TEXT out.")
    given = read_bytes(STDIN).decode("utf-8", "surrogateescape").split("\n")
    rows = [(number, line.strip()) for number, line in enumerate(given, 1) if line.strip()]
    if not rows:
        raise click.UsageError("There is nothing to store: standard input is empty.")
    memory = call.memory(create=True)
    batch = memory.remember_many([{"text": line, **shared} for _, line in rows], keep_going=keep_going)
    rejected = [{"line": rows[each.index][0], "reason": each.reason} for each in batch.rejected]
    left_out = _rejection_warnings([f"line {each['line']}: {each['reason']}" for each in rejected], "lines")
    due, _ = attempt_follow_up(lambda: memory.counts().due)
    waiting = f"{quantity(due, 'passage')} without a vector; run: recollect reindex" if due else None
    return Result(
        {**fields_of(batch), "rejected": rejected},
        _notes_view(batch.notes),
        warnings=[*left_out, *_embedding_warnings(replace(batch, note=batch.note or waiting))],
        exit_code=0 if batch.notes else REFUSED,
    )


def _notes_view(notes: Sequence[Remembered], origin: str = "") -> Iterator[Block]:
    rows = [
        (
            str(each.id),
            "new" if each.created else "known",
            ellipsize(each.text, 200),
            ", ".join(each.mentions),
        )
        for each in notes
    ]
    yield Table(("ID", "", "Note", "Mentions"), rows)
    yield from muted(f"{_new_and_known(notes)}{origin}.")


def _new_and_known(notes: Sequence[Remembered]) -> str:
    """Return `3 new notes` or `3 new notes, 2 known`."""
    new = sum(note.created for note in notes)
    known = len(notes) - new
    return f"{quantity(new, 'new note')}{f', {known:,} known' if known else ''}"


def _rejection_warnings(left_out: Sequence[str], things: str = "") -> list[str]:
    """Return warnings that name the first lines left out, and count the others."""
    warnings = [f"left out, {each}" for each in left_out[:_MAX_LISTED]]
    more = len(left_out) - _MAX_LISTED
    if more > 0:
        warnings.append(f"left out {f'{more:,} more {things}'.strip()}; --json names them.")
    return warnings


def _embedding_warnings(batch: RememberedBatch | ObservedBatch) -> list[str]:
    """Return why search by meaning does not find the new texts yet, and a note on the model's languages."""
    return [note for note in (_unfinished_warning(batch.note), batch.model_note) if note]


def _unfinished_warning(note: str | None) -> str | None:
    from recollect.services import UNFINISHED  # not loaded for --help

    if note is None or note.startswith(UNFINISHED):
        return note
    return f"stored, but not yet found by meaning: {note}"


@command(
    "add",
    "recollect add 'Marisol Vega' --type person -o 'Leads the harbour team'",
    "recollect add Tidebook -t project",
)
@click.argument("name", shell_complete=complete_entity)
@option("-t --type TYPE", "Type: person, project, …")
@option("-o --observation TEXT...", "Fact about it; repeatable.", to="observations")
@option("--status STATUS")
@option("--importance 0..1", type=float)
def add_command(call: Call, **given: Any) -> Result:
    """Create an entity, or add to an existing one.

    An entity is a person, project, place or thing, with observations: facts in a sentence each. An existing
    entity gains the new observations. Its status stays, and so does its type unless that is `unknown`.
    """
    entity = {field: value for field, value in given.items() if value is not None}
    return _observed_result(call.memory(create=True).create_entities([entity]))


@command(
    "observe",
    "recollect observe Tidebook 'Ships in spring' --happened-at 2026-02-03",
    "recollect observe Tidebook 'Ships in May' --supersedes 'Ships in spring'",
    "recollect observe Tidebook 'Ships in June' --supersedes '#12'",
    "recollect observe 'Marisol Vega' 'Drinks oolong after lunch' --remove",
)
@click.argument("name", shell_complete=complete_entity)
@click.argument("texts", metavar="TEXT...", nargs=-1, required=True)
@option("-k --kind TEXT", "Kind: fact, decision, state, spec, metric, metadata, …", default="generic")
@option("--supersedes TEXT|#ID", "Observation to replace; it stays in the history.")
@option("--happened-at WHEN", "When it was true: ISO date or time.", type=parse_time)
@option("--remove", "Remove observations instead, by exact text.")
def observe_command(
    call: Call, name: str, texts: tuple[str, ...], supersedes: str | None, remove: bool, **shared: Any
) -> Result:
    """Add observations to an entity, or remove some.

    An observation that nearly repeats an older one is stored, and the answer names the older one. To correct
    an observation and keep its history, use --supersedes.
    """
    if supersedes is not None and len(texts) > 1:
        raise click.UsageError("--supersedes takes one TEXT, which replaces the old observation.")
    memory = call.memory()
    graph = memory.graph
    if not remove:
        is_id = supersedes is not None and supersedes.startswith("#")
        shared["supersedes"] = (id_in(str(supersedes)) if is_id else None) or supersedes
        observations = [{"content": text, **shared} for text in texts]
        return _observed_result(graph.add_observations({name: observations}), replaced=supersedes)
    entity = next(iter(graph.open_nodes([name], record=False).entities), None)
    if entity is None:
        raise NotFound(not_found(memory, name))
    found = {each.id: each.content for each in entity.in_force if each.content in texts}
    removed = graph.delete_observations({entity.name: texts})
    absent = [text for text in texts if text not in found.values()]
    undo = [f"Undo: recollect restore --observation {id_}" for id_ in found]
    return Result.message(
        f"Removed {quantity(removed, 'observation')} from {entity.name}.",
        {"name": entity.name, "removed": removed, "observations": list(found), "absent": absent},
        [*(f"Not there: {text}" for text in absent), *undo],
        "note" if absent else "ok",
    )


def _observed_result(batch: ObservedBatch, *, replaced: str | None = None) -> Result:
    (observed,) = batch.entities
    name, added = f"{observed.name} (#{observed.id})", len(observed.added)
    if observed.created:
        text = f"Created {name} with {quantity(added, 'observation')}." if added else f"Created {name}."
    elif not observed.changed:
        text = f"{name} already exists with all of this."
    else:
        gains = [f"is now of type {observed.took_type}"] if observed.took_type is not None else []
        gains += [f"has {quantity(added, 'new observation')}"] if added else []
        text = f"{name} {' and '.join(gains)}."
    details = [
        f"#{pair.observation} nearly repeats #{pair.similar_to} ({pair.similarity:.2f}): "
        f"“{ellipsize(pair.content)}” ~ “{ellipsize(pair.similar_content)}”"
        for pair in observed.similar
    ]
    for each in observed.contradicts:
        old = f"#{each.contradicts}"
        correct = f"recollect observe {quote(observed.name)} {quote(each.content)} --supersedes '{old}'"
        details += [
            f"#{each.observation} seems to contradict {old}: “{ellipsize(each.contradicted_content)}”",
            f"Both are kept. To replace the older one: {correct}",
        ]
    if observed.kept_type is not None:
        details.append(f"It keeps its type {observed.kept_type}.")
    replaces = [] if replaced is None else [f"It replaces: {ellipsize(replaced)}"]
    texts = [] if observed.created or replaces else [quote(each.content) for each in observed.added]
    undo = [f"Undo: recollect observe {quote(observed.name)} {' '.join(texts)} --remove"] if texts else []
    return Result.message(
        text,
        {**fields_of(observed), **picked(batch, "note", "model_note")},
        [*details, *replaces, *undo],
        "note" if details else "ok",
        _embedding_warnings(batch),
    )


@command("status", "recollect status Tidebook paused", hidden=True)
@click.argument("name", shell_complete=complete_entity)
@click.argument("status")
def status_command(call: Call, name: str, status: str) -> Result:
    """Mark an entity as active, paused, completed or archived."""
    now = call.memory().graph.set_status(name, status)
    return Result.message(f"{name} is {now}.", {"name": name, "status": str(now)})


@command(
    "relate",
    "recollect relate 'Marisol Vega' leads Tidebook",
    "recollect relate Bosun lives_in Boathouse --since 2025-11-02",
    "recollect relate Tidebook part_of 'Harbour Works' --create-missing",
    "recollect relate Bosun lives_in Boathouse --ended 2026-04-01",
    "recollect relate Bosun lives_in Boathouse --remove",
)
@click.argument("source", shell_complete=complete_entity)
@click.argument("type_", metavar="TYPE")
@click.argument("target", shell_complete=complete_entity)
@option("--context TEXT", "Why, or how.", default="")
@option("--since WHEN", "When it began: ISO date or time.", type=parse_time)
@option("--until WHEN", type=parse_time)
@option("--create-missing", "Create missing entities, with type `unknown`.")
@option("--ended --at WHEN", "When the relation ended; the history keeps it.", to="ended", type=when("now"))
@option("--remove", "Remove a relation that was a mistake.")
def relate_command(
    call: Call, type_: str, create_missing: bool, ended: datetime | str | None, remove: bool, **relation: Any
) -> Result:
    """Connect two entities, or end their relation.

    Some types come in pairs, such as contains and part_of: storing one stores the other too.
    """
    memory = call.memory(create=create_missing)
    source, target = relation["source"], relation["target"]
    triple, data = f"{source} {type_} {target}", {"source": source, "type": type_, "target": target}
    if ended is not None:
        at = None if isinstance(ended, str) else ended
        memory.graph.end_relation(source, type_, target, at=at)
        return Result.message(f"Ended: {triple}.", {**data, "at": at})
    if remove:
        removed = memory.graph.delete_relations([(source, type_, target)])
        data["removed"] = removed
        if not removed:
            return Result.message(f"There was no such relation: {triple}.", data, mark="note")
        return Result.message(f"Removed: {triple}{' and its inverse' if removed > 1 else ''}.", data)
    made = memory.graph.create_relations([{"type": type_, **relation}], create_missing=create_missing)
    (related,) = made.relations
    details = [f"Created {name}, of type unknown." for name in related.also_created]
    if related.inverse:
        details.append("The inverse relation was stored too.")
    triple = f"{related.source} {related.type} {related.target}"
    note = _unfinished_warning(made.note)
    return Result.message(
        f"Related: {triple}." if related.created else f"Already stored: {triple}.",
        related,
        details,
        warnings=[note] if note else [],
    )


# Commands about conversations: session, and context, which an agent reads before it answers

_NAME = click.argument("name", shell_complete=complete_session)


@command(
    "show",
    "recollect session show",
    "recollect session show harbour --last 20",
    "recollect session show --json | jq -r '.sessions[].name'",
)
@click.argument("name", required=False, shell_complete=complete_session)
@option("--last N", "Only the last N turns.", type=click.IntRange(1, 1000))
def session_show_command(call: Call, name: str | None, last: int | None) -> Result:
    """Print a conversation, or list them all, the newest first."""
    sessions, zone = call.memory().sessions, call.zone
    if name is None:
        found = sessions.list()
        rows = [
            (
                *(each.name, each.turns, iso_day(each.first_at, zone), iso_day(each.last_at, zone)),
                ", ".join(each.speakers),
            )
            for each in found
        ]
        next_ = "Read one: recollect session show NAME" if found else "There are no conversations yet."
        return Result.table({"sessions": found}, ("Session", "Turns", "First", "Last", "Who"), rows, next_)
    turns = sessions.turns(name, last=last)
    if not turns:
        raise no_session(name)
    return Result(
        {"session": name, "turns": [memory_data(turn) for turn in turns]}, _conversation(turns, zone)
    )


@command(
    "add",
    "recollect session add harbour talk.jsonl",
    "recollect session add harbour --speaker Ana 'I moved to Vigo in May'",
    "tail -n 2 talk.jsonl | recollect session add harbour -",
)
@_NAME
@click.argument("words", metavar="[FILE|-|TEXT...]", nargs=-1)
@option("--role ROLE", "Role of the speaker: user, assistant, …")
@option("--speaker NAME", "Name of the speaker.")
@option("--at", type=when())
@option("--extract/--no-extract", "Make notes of what is worth keeping.", default=True)
@KEEP_GOING
def session_add_command(
    call: Call, name: str, words: tuple[str, ...], extract: bool, keep_going: bool, **said: Any
) -> Result:
    """Add turns to a new or existing conversation.

    FILE holds JSON: one object per line, or a list. An object has `content` and, if known, `role`, `speaker`
    and `at`. Without FILE, or with `-`, it is standard input. With --role or --speaker, TEXT is one turn.

    Each run adds the turns again. For a file that grows, use `recollect import`, which skips known turns.
    """
    turns: Sequence[Any]
    if said["role"] is None and said["speaker"] is None:
        if said["at"] is not None:
            raise click.UsageError("--at needs --role or --speaker; in a file, each turn has its own `at`.")
        turns, wrong = _turns_of_file(words, keep_going=keep_going)
    else:
        turns, wrong = [{"content": read_text(words, "text of the turn"), **said}], []
    added = call.memory(create=True).add_messages(name, turns, extract=extract, keep_going=keep_going)
    wrong += [f"turn {each.index + 1}: {each.reason}" for each in added.rejected]
    known = len(added.ids) - added.created
    also = f"; {known:,} {'was' if known == 1 else 'were'} stored before" if known else ""
    details = [f"#{note.id} {note.category or 'note'}: {ellipsize(note.text)}" for note in added.notes]
    if details:
        details.insert(0, f"Extracted: {_new_and_known(added.notes)}.")
    note = f"stored, but: {added.note}" if added.note else None
    return Result.message(
        f"Added {quantity(added.created, 'turn')} to {added.session}{also}.",
        {**fields_of(added), "rejected": wrong},
        details,
        "note" if wrong else "ok",
        [*_rejection_warnings(wrong), *filter(None, (note, added.model_note))],
        0 if added.ids else REFUSED,
    )


@command("extract", "recollect session extract harbour", hidden=True)
@_NAME
def session_extract_command(call: Call, name: str) -> Result:
    """Make notes of what is worth keeping in a stored conversation.

    The setting `extractor` chooses between rules and a language model. Existing notes are only counted.
    """
    sessions = call.memory().sessions
    if not sessions.turns(name, last=1):
        raise no_session(name)
    notes = sessions.extract(name)
    data = {"session": name, "notes": notes}
    if not notes:
        return Result.message(f"{name} has nothing new worth a note.", data, mark="note")
    return Result(data, _notes_view(notes, f", extracted from {name}"))


@group(
    "session",
    (session_show_command, session_add_command, session_extract_command),
    "recollect session show",
    "recollect session show harbour --last 20",
)
def session_command(_: Call) -> None:
    """Keep conversations: list, read, add turns.

    Each turn is a message that recall can find, with its speaker and time. Facts worth keeping also become
    notes that name their message. `recollect import` reads the exports of chat programs.
    """


def _turns_of_file(words: tuple[str, ...], *, keep_going: bool) -> tuple[Sequence[Any], list[str]]:
    remedy = " To add a turn as text, name the speaker: --role user, or --speaker Ana."
    if len(words) > 1:
        raise click.UsageError(f"Give one FILE.{remedy}")
    file = words[0] if words else STDIN
    if file != STDIN:
        existing_file(file, remedy)
    elif not words and sys.stdin.isatty():
        raise click.UsageError(f"There is nothing to add: give a FILE, or pipe one in.{remedy}")
    from recollect.transfer.turns import read_turns  # loads the engine

    turns, wrong = read_turns(read_bytes(file))
    if wrong and (not keep_going or not turns):
        raise InvalidInput(f"{'Standard input' if file == STDIN else file}, {wrong[0]} Nothing was stored.")
    if not turns:
        raise InvalidInput(f"There are no turns in {'standard input' if file == STDIN else file}.")
    return turns, wrong


def _conversation(turns: Sequence[Memory], zone: tzinfo) -> Iterator[Block]:
    """Yield the turns in order, each day under its own heading."""
    columns = (
        Column(role="muted", width=5),
        Column(wrap="cut", width=min(16, max(len(one_line(speaker_of(turn))) for turn in turns))),
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
        who = Styled(one_line(speaker_of(turn)), "entity" if turn.role == "assistant" else "speaker")
        text: Words = turn.text
        if turn.superseded_at is not None:
            text = Styled(turn.text, "muted"), Styled(f"  {superseded_text(turn)}", "bad")
        clock = "" if turn.undated else f"{at:%H:%M}"
        yield Table(columns, [(clock, who, text, f"#{turn.id}")], grid=True)


@command(
    "context",
    "recollect context 'what does Marisol drink?' --budget 500",
    "recollect context 'where were we?' --session harbour | pbcopy",
    "tail -n 5 talk.jsonl | recollect context --messages - --json",
)
@click.argument("query", metavar="[QUERY...]", nargs=-1)
@option(
    "--budget", "Maximum number of tokens, roughly.", to="budget_tokens", type=click.IntRange(1), default=1000
)
@session_option("Current conversation; its last turns are printed too.")
@AS_OF
@option("-p --profile TEXT")
@option("--messages FILE|-", "Instead of QUERY: the last messages, as JSON (role, speaker, content, at).")
def context_command(
    call: Call, query: tuple[str, ...], messages: str | None, profile: str | None, **options: Any
) -> Result:
    """Print what an agent should read before it answers.

    The text has the memories relevant to QUERY, then the last turns of the session, oldest first, without
    repeats. Paste it into a prompt: standard output has nothing else. Nothing is recorded.
    """
    if query and messages is not None:
        raise click.UsageError("Give either QUERY or --messages.")
    asked: Any
    if messages is None:
        asked = read_text(query, "query")
    else:
        from recollect.transfer.turns import read_turns  # loads the engine

        asked, wrong = read_turns(read_bytes(messages))
        where = "standard input" if messages == STDIN else messages
        if wrong:
            raise InvalidInput(f"The messages in {where} cannot all be read; {wrong[0]}")
        if not asked:
            raise InvalidInput(f"There are no messages in {where}.")
    memory = call.memory()
    found = memory.context(asked, profile=profile or DEFAULT_PROFILE, **options)
    hint = ""
    if found.text or found.left_out:
        memories = quantity(len(found.memories), "memory", "memories")
        turns = f" and {quantity(len(found.turns), 'turn')}" if found.turns else ""
        left = f"; {quantity(found.left_out, 'memory', 'memories')} did not fit" if found.left_out else ""
        hint = f"{found.tokens:,} of {found.budget_tokens:,} tokens: {memories}{turns}{left}."
    hint = hint or other_owners(memory) or "No memory is relevant to that."
    fields = ("query", "text", "tokens", "budget_tokens", "left_out", "note", "memories", "turns")
    return Result(
        picked(found, *fields),
        [Verbatim(found.text)] if found.text else [],
        hints=[hint],
        warnings=[with_remedy(found.note)] if found.note else [],
    )
