"""Commands that write notes, the graph and conversations, and the context that an agent reads."""

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
    complete_session,
    existing_file,
    id_in,
    iso_day,
    long_day,
    no_session,
    parse_time,
    read_bytes,
    read_text,
    read_turns,
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


_MOST_NAMED = 10


@command(
    "remember",
    "recollect remember 'Marisol Vega is allergic to nuts' --importance 0.9 --tag kitchen",
    "recollect remember 'The crane was inspected' --happened 'last tuesday' --about Boathouse",
    "pbpaste | recollect remember --category work --source email",
    "cat notes.txt | recollect remember --lines",
)
@click.argument("text", metavar="[TEXT...|-]", nargs=-1)
@NOTE_OPTIONS
@option("--tag TAG...", "A word to find it by; repeatable.", to="tags")
@option("--about NAME...", "The name of an entity it is about; repeatable.")
@option("--source TEXT", "Where it comes from.")
@option("--lines", "Each line of standard input is a note of its own.")
@KEEP_GOING
def remember_command(
    call: Call, text: tuple[str, ...], lines: bool, keep_going: bool, **given: Any
) -> Result:
    """Remember something: a note, in your own words.

    Without TEXT, or with `-`, standard input is the note. The same words again are counted, not stored twice.
    A note that seems to contradict another is kept beside it, and the answer names the other and the command
    that settles it. A note links by itself to the entities whose names it mentions. With --lines,
    --keep-going leaves out lines that cannot be stored and names them.
    """
    from recollect.services import attempt_follow_up  # --help needs none

    shared = {name: value for name, value in given.items() if value not in {None, "never"}}
    if lines:
        return _remember_lines(call, text, shared, keep_going=keep_going)
    said = read_text(text, "text to remember")
    memory = call.memory(create=True)
    # As a batch, which says why a note cannot be found by meaning yet.
    batch = memory.remember_many([{"text": said, **shared}], keep_going=True)
    if batch.rejected:
        raise InvalidInput(batch.rejected[0].reason)
    (note,) = batch.notes
    stored, _ = attempt_follow_up(lambda: None if note.created else memory.get(note.id))
    times = 1 if stored is None else stored.duplicates + 1
    again = f"; that makes {times:,} times" if times > 1 else ""
    alike, details = note.similar, [f"Mentions: {', '.join(note.mentions)}"] if note.mentions else []
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
        {**fields_of(note), "times": times, **picked(batch, "note", "model_note")},
        details,
        "ok" if alike is None and not note.contradicts else "note",
        _embedding_warnings(batch),
    )


def _remember_lines(call: Call, text: tuple[str, ...], shared: dict[str, Any], *, keep_going: bool) -> Result:
    from recollect.services import attempt_follow_up  # --help needs none

    if text and text != (STDIN,):
        raise click.UsageError("--lines reads standard input; leave TEXT out.")
    given = read_bytes(STDIN).decode("utf-8", "surrogateescape").split("\n")
    rows = [(number, line.strip()) for number, line in enumerate(given, 1) if line.strip()]
    if not rows:
        raise click.UsageError("There is nothing to remember: standard input is empty.")
    memory = call.memory(create=True)
    batch = memory.remember_many([{"text": line, **shared} for _, line in rows], keep_going=keep_going)
    rejected = [{"line": rows[each.index][0], "reason": each.reason} for each in batch.rejected]
    left_out = _left_out([f"line {each['line']}: {each['reason']}" for each in rejected], "lines")
    due, _ = attempt_follow_up(lambda: memory.counts().due)
    waiting = f"{quantity(due, 'passage')} wait; run: recollect reindex" if due else None
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
    yield Table(("id", "", "Note", "Mentions"), rows)
    yield from muted(f"{_new_and_known(notes)}{origin}.")


def _new_and_known(notes: Sequence[Remembered]) -> str:
    """`3 new notes`, `3 new notes, 2 known`."""
    new = sum(note.created for note in notes)
    known = len(notes) - new
    return f"{quantity(new, 'new note')}{f', {known:,} known' if known else ''}"


def _left_out(left_out: Sequence[str], things: str = "") -> list[str]:
    """Warnings that name the first ones, and count the rest."""
    warnings = [f"left out, {each}" for each in left_out[:_MOST_NAMED]]
    more = len(left_out) - _MOST_NAMED
    if more > 0:
        warnings.append(f"left out {f'{more:,} more {things}'.strip()}; --json names them.")
    return warnings


def _embedding_warnings(batch: RememberedBatch | ObservedBatch) -> list[str]:
    """Why what was stored is not found by meaning yet, and what its languages mean for the model."""
    return [note for note in (_unfinished(batch.note), batch.model_note) if note]


def _unfinished(note: str | None) -> str | None:
    from recollect.services import UNFINISHED  # --help needs none

    if note is None or note.startswith(UNFINISHED):
        return note
    return f"stored, but not yet found by meaning: {note}"


@command(
    "add",
    "recollect add 'Marisol Vega' --type person -o 'Leads the harbour team' -o 'Speaks Galician'",
    "recollect add Tidebook -t project",
)
@click.argument("name")
@option("-t --type TYPE", "What it is: person, project, …")
@option("-o --observation TEXT...", "Something known; repeatable.", to="observations")
@option("--status STATUS")
@option("--importance 0..1", type=float)
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
    "recollect observe 'Marisol Vega' 'Drinks oolong after lunch' --remove",
)
@click.argument("name")
@click.argument("texts", metavar="TEXT...", nargs=-1, required=True)
@option("-k --kind TEXT", "fact, decision, state, spec, metric, metadata, …", default="generic")
@option("--supersedes TEXT|#ID", "The observation that this one replaces; it stays as history.")
@option("--happened-at WHEN", "When it was so: an ISO date or time.", type=parse_time)
@option("--remove", "Remove observations instead, by their exact text.")
def observe_command(
    call: Call, name: str, texts: tuple[str, ...], supersedes: str | None, remove: bool, **shared: Any
) -> Result:
    """Add observations to an entity, or remove some.

    One that nearly repeats an older one is kept, and pointed out. To correct one and keep the history, use
    --supersedes.
    """
    if supersedes is not None and len(texts) > 1:
        raise click.UsageError("--supersedes goes with one TEXT: the one that takes the old one's place.")
    graph = call.memory().graph
    if not remove:
        is_id = supersedes is not None and supersedes.startswith("#")
        shared["supersedes"] = (id_in(str(supersedes)) if is_id else None) or supersedes
        observations = [{"content": text, **shared} for text in texts]
        return _observed(graph.add_observations({name: observations}), replaced=supersedes)
    entity = next(iter(graph.open_nodes([name], record=False).entities), None)
    if entity is None:
        raise NotFound(f"There is no entity named {name!r}; `recollect graph --find` looks for one.")
    gone = {each.id: each.content for each in entity.in_force if each.content in texts}
    removed = graph.delete_observations({entity.name: texts})
    absent = [text for text in texts if text not in gone.values()]
    undo = [f"Bring it back: recollect restore --observation {id_}" for id_ in gone]
    return Result.message(
        f"Removed {quantity(removed, 'observation')} from {entity.name}.",
        {"name": entity.name, "removed": removed, "observations": list(gone), "absent": absent},
        [*(f"Not there: {text}" for text in absent), *undo],
        "note" if absent else "ok",
    )


def _observed(batch: ObservedBatch, *, replaced: str | None = None) -> Result:
    (observed,) = batch.entities
    name, added = f"{observed.name} (#{observed.id})", len(observed.added)
    if observed.created:
        text = f"Created {name} with {quantity(added, 'observation')}." if added else f"Created {name}."
    elif not observed.changed:
        text = f"{name} was there already, and knew all of this."
    else:
        gains = [f"took its type, {observed.took_type}"] if observed.took_type is not None else []
        gains += [f"gained {quantity(added, 'new observation')}"] if added else []
        text = f"{name} {', and '.join(gains)}."
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
            f"Both are kept; if it replaces it: {correct}",
        ]
    if observed.kept_type is not None:
        details.append(f"It keeps its type {observed.kept_type}.")
    replaces = [] if replaced is None else [f"It replaces: {ellipsize(replaced)}"]
    return Result.message(
        text,
        {**fields_of(observed), **picked(batch, "note", "model_note")},
        [*details, *replaces],
        "note" if details else "ok",
        _embedding_warnings(batch),
    )


@command("status", "recollect status Tidebook paused", hidden=True)
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
    "recollect relate Bosun lives_in Boathouse --ended 2026-04-01",
    "recollect relate Bosun lives_in Boathouse --remove",
)
@click.argument("source")
@click.argument("type_", metavar="TYPE")
@click.argument("target")
@option("--context TEXT", "Why, or in what way.", default="")
@option("--since WHEN", "When it began: an ISO date or time.", type=parse_time)
@option("--until WHEN", type=parse_time)
@option("--create-missing", "Create an entity that is not there, of type `unknown`.")
@option(
    "--ended --at WHEN", "It no longer holds, since then, and stays as history.", to="ended", type=when("now")
)
@option("--remove", "Remove a relation that should never have been there.")
def relate_command(
    call: Call, type_: str, create_missing: bool, ended: datetime | str | None, remove: bool, **relation: Any
) -> Result:
    """Connect two entities, or end that: SOURCE TYPE TARGET.

    Declared pairs, such as contains and part_of, get their inverse by themselves.
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
        details.append("The inverse holds too.")
    triple = f"{related.source} {related.type} {related.target}"
    note = _unfinished(made.note)
    return Result.message(
        f"Related: {triple}." if related.created else f"That was known already: {triple}.",
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
@option("--last N", "Only so many turns from the end.", type=click.IntRange(1, 1000))
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
        next_ = "Read one: recollect session show NAME" if found else "No conversations here yet."
        return Result.table({"sessions": found}, ("Session", "Turns", "First", "Last", "Who"), rows, next_)
    turns = sessions.turns(name, last=last)
    if not turns:
        raise no_session(name)
    return Result(
        {"session": name, "turns": [memory_data(turn) for turn in turns]},
        _conversation(turns, zone),
    )


@command(
    "add",
    "recollect session add harbour talk.jsonl",
    "recollect session add harbour --role user --speaker Ana 'I moved to Vigo in May'",
    "tail -n 2 talk.jsonl | recollect session add harbour -",
)
@_NAME
@click.argument("words", metavar="[FILE|-|TEXT...]", nargs=-1)
@option("--role ROLE", "Who speaks, as models know it: user, assistant, …")
@option("--speaker NAME", "Who speaks, by name.")
@option("--at", type=when())
@option("--extract/--no-extract", "Make notes of what is worth keeping.", default=True)
@KEEP_GOING
def session_add_command(
    call: Call, name: str, words: tuple[str, ...], extract: bool, keep_going: bool, **said: Any
) -> Result:
    """Add turns to a conversation; the first makes it.

    FILE holds JSON: one object to a line, or a list, with `content` and, where they are known, `role`,
    `speaker` and `at`. `-`, or nothing, reads that from standard input. With --role or --speaker, the words
    are one turn, as it was said.

    Turns are added each time. To bring in files again and again, use `recollect import`.
    """
    turns: Sequence[Any]
    if said["role"] is None and said["speaker"] is None:
        if said["at"] is not None:
            raise click.UsageError("--at goes with --role or --speaker; in a file, each turn has its own.")
        turns, wrong = _turns_of_file(words, keep_going=keep_going)
    else:
        turns, wrong = [{"content": read_text(words, "text of the turn"), **said}], []
    added = call.memory(create=True).add_messages(name, turns, extract=extract, keep_going=keep_going)
    wrong += [f"turn {each.index + 1}: {each.reason}" for each in added.rejected]
    known = len(added.ids) - added.created
    also = f"; {known:,} {'was' if known == 1 else 'were'} there already" if known else ""
    details = [f"#{note.id} {note.category or 'note'}: {ellipsize(note.text)}" for note in added.notes]
    if details:
        them = "it" if added.created == 1 else "them"
        details.insert(0, f"Drawn out of {them}: {_new_and_known(added.notes)}.")
    note = f"stored, but: {added.note}" if added.note else None
    return Result.message(
        f"Added {quantity(added.created, 'turn')} to {added.session}{also}.",
        {**fields_of(added), "rejected": wrong},
        details,
        "note" if wrong else "ok",
        [*_left_out(wrong), *filter(None, (note, added.model_note))],
        0 if added.ids else REFUSED,
    )


@command("extract", "recollect session extract harbour", hidden=True)
@_NAME
def session_extract_command(call: Call, name: str) -> Result:
    """Make notes of what is worth keeping in a stored conversation.

    The setting `extractor` says how: by plain rules, or by a language model. Notes that were made before are
    only counted.
    """
    sessions = call.memory().sessions
    if not sessions.turns(name, last=1):
        raise no_session(name)
    notes = sessions.extract(name)
    data = {"session": name, "notes": notes}
    if not notes:
        return Result.message(f"Nothing in {name} was found worth a note.", data, mark="note")
    return Result(data, _notes_view(notes, f", drawn out of {name}"))


@group(
    "session",
    (session_show_command, session_add_command, session_extract_command),
    "recollect session show",
    "recollect session show harbour --last 20",
)
def session_command(_: Call) -> None:
    """Keep conversations: list, read, add turns.

    Every turn is a message that recall can find, with who said it and when. What is worth keeping in them
    also becomes notes, each pointing to its message. `recollect import` brings in whole exports.
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


def _conversation(turns: Sequence[Memory], zone: tzinfo) -> Iterator[Block]:
    """The turns in order, under the days on which they were said."""
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
@option("--budget", "Tokens at most, estimated.", to="budget_tokens", type=click.IntRange(1), default=1000)
@session_option("The current conversation, whose last turns are shown; memories come from all.")
@AS_OF
@option("-p --profile TEXT")
@option(
    "--messages FILE|-",
    "Instead of QUERY: the last messages, as JSON objects with role, speaker, content and at.",
)
def context_command(
    call: Call, query: tuple[str, ...], messages: str | None, profile: str | None, **options: Any
) -> Result:
    """Print what to read before answering, within a budget.

    Memories that are relevant to QUERY, and the last turns of the session, oldest first, without repeats:
    text to paste into a prompt. Nothing else goes to standard output. Asking leaves no trace.
    """
    if query and messages is not None:
        raise click.UsageError("Give either QUERY or --messages.")
    asked: Any
    if messages is None:
        asked = read_text(query, "query")
    else:
        asked, wrong = read_turns(read_bytes(messages))
        where = "standard input" if messages == STDIN else messages
        if wrong:
            raise InvalidInput(f"The messages in {where} cannot all be read; {wrong[0]}")
        if not asked:
            raise InvalidInput(f"There are no messages in {where}.")
    found = call.memory().context(asked, profile=profile or DEFAULT_PROFILE, **options)
    hint = "Nothing is known that bears on it."
    if found.text or found.left_out:
        memories = quantity(len(found.memories), "memory", "memories")
        turns = f" and {quantity(len(found.turns), 'turn')}" if found.turns else ""
        left = f"; {quantity(found.left_out, 'memory', 'memories')} did not fit" if found.left_out else ""
        hint = f"{found.tokens:,} of {found.budget_tokens:,} tokens: {memories}{turns}{left}."
    fields = ("query", "text", "tokens", "budget_tokens", "left_out", "note", "memories", "turns")
    return Result(
        picked(found, *fields),
        [Verbatim(found.text)] if found.text else [],
        hints=[hint],
        warnings=[with_remedy(found.note)] if found.note else [],
    )
