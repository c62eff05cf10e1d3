"""Commands that correct, forget, restore and delete memories."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import REFUSED, Call, command, option
from recollect.cli.options import (
    NOTE_OPTIONS,
    YES,
    complete_entity,
    confirm,
    id_in,
    iso_minute,
    memory_id,
    memory_of,
    no_session,
    parse_time_or_age,
    read_text,
    session_option,
)
from recollect.cli.rendering import Mark, Message, Result, progress
from recollect.cli.views import label, memory_data, memory_fields
from recollect.domain.records import Kind
from recollect.text.phrases import ellipsize, entities_text, memories_text, quantity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from datetime import timedelta

    from recollect.domain.records import Memory
    from recollect.engine import Engine

_SUFFIXES = ("-before-schema-", "-damaged", "-salvaged")
"""Suffixes of the copies that the store makes beside its file."""
_MAX_NAMED = 10
"""Maximum number of memories that a message names or describes."""


@command(
    "update",
    "recollect update 12 --text 'Marisol prefers oolong, not sencha'",
    "recollect update 12 --importance 0.9 --tag kitchen --tag tea --pin",
    "recollect update '#12' --happened 2024-05-06 --category preferences",
    "recollect update 'Marisol Vega' --mark vital",
    former_options={
        "--no-tags": ("--tag", ""),
        "--no-mark": ("--mark", ""),
        "--no-expiry": ("--expires", "never"),
    },
)
@click.argument("memory", metavar="ID|NAME", shell_complete=complete_entity)
@option("--text TEXT", "New text; the old one stays in the history.")
@NOTE_OPTIONS
@option("--tag TAG...", "New tags; repeatable; '' removes all.", to="tags")
@option("--status STATUS", "Status: active, paused, completed or archived.")
@option("--pin/--no-pin", "Keep it from fading, or let it fade.", to="pinned", default=None)
@option(
    "--mark WORD",
    "Your word for why it matters; a marked memory does not fade; '' removes the mark.",
    to="importance_tag",
)
def update_command(call: Call, memory: str, tags: tuple[str, ...], **given: Any) -> Result:
    """Change a memory; what you leave out stays.

    --text corrects wording. For a fact that is no longer true, use `recollect supersede`.
    """
    changes = {name: value for name, value in given.items() if value is not None}
    if tags:
        changes["tags"] = tuple(filter(None, tags))
    if "importance_tag" in changes:
        changes["importance_tag"] = changes["importance_tag"].strip()
    if not changes:
        raise click.UsageError("Give what to change, such as --text, --importance or --mark.")
    engine = call.memory()
    before = memory_of(engine, memory)
    changed = engine.update(before.id, **changes)
    details = [f"{name}: {value}" for name, value in memory_fields(changed, call.zone)]
    if changed.text:
        details.insert(0, ellipsize(changed.text, 200))
    if changed.text != before.text:
        details.append(f"Undo: recollect update {changed.id} --text {quote(before.text)}")
    name = f"{changed.name} (#{changed.id})" if changed.name else f"{changed.kind} #{changed.id}"
    return Result.message(f"Updated {name}.", memory_data(changed), details)


@command(
    "supersede",
    "recollect supersede 12 'Tidebook ships in June'",
    "recollect supersede 12 31        # by an existing note",
    "recollect supersede 12 31 --only",
)
@click.argument("old", metavar="OLD_ID", type=memory_id)
@click.argument("new", metavar="NEW_ID|TEXT...", nargs=-1, required=True)
@option("--only", "Do not retire its near-copies.")
def supersede_command(call: Call, old: int, new: tuple[str, ...], only: bool) -> Result:
    """Replace an outdated note or message by another.

    OLD_ID is retired: searches no longer find it. NEW_ID is the memory that replaces it; any other text
    becomes a new note. Near-copies of the old memory are retired with it. `recollect recall --superseded`
    still finds retired memories, and so does `--as-of`; `recollect restore` brings them back.
    """
    from recollect.services import unfinished_note  # slow; --help does not need it

    id_ = id_in(new[0]) if len(new) == 1 else None
    by: int | str = read_text(new, "text of the new note") if id_ is None else id_
    engine = call.memory()
    done = engine.supersede(old, by, copies=not only)
    data = {"by": memory_data(done.by), "retired": done.retired, "similar": done.similar}
    details = [f"Now valid, #{done.by.id}: {ellipsize(done.by.text or done.by.name)}"]
    for place, each in enumerate(done.retired):
        what = "Retired too, a near-copy" if place else "Retired"
        entities = [] if each.observation is None else _read_to_name(engine, [each.id])
        where = f"observed of {entities[0].name}" if entities else f"#{each.id}"
        details.append(f"{what}, {where}: {ellipsize(each.text)}")
    for alike in done.similar:
        left = f"Similar ({alike.similarity:.2f}) but still valid, #{alike.id}: {ellipsize(alike.text)}"
        details += [left, f"To retire it too: recollect supersede {alike.id} {done.by.id}"]
    ids = [str(each.id) for each in done.retired if each.observation is None]
    forget = "" if isinstance(by, int) else f"recollect forget {done.by.id} && "
    details.append(f"Undo: {forget}recollect restore {' '.join(ids)}")
    mark: Mark = "note" if done.similar else "ok"
    warnings = [note for note in (unfinished_note(done.note), done.model_note) if note]
    return Result.message(f"#{done.by.id} supersedes #{old}.", data, details, mark, warnings)


@command(
    "forget",
    "recollect forget 12 17",
    "recollect forget 'Old project'",
    "recollect forget --session harbour",
    "recollect restore 12   # bring it back",
    "recollect forget --all --owner ana",
)
@click.argument("what", metavar="ID|NAME...", nargs=-1, shell_complete=complete_entity)
@session_option("Forget a whole conversation.")
@option("--all", "Forget everything of this owner and agent.", to="everything")
@option("--names", "Read numbers as names too.", to="only_names", hidden=True)
@YES
def forget_command(
    call: Call, what: tuple[str, ...], session: str | None, everything: bool, only_names: bool, yes: bool
) -> Result:
    """Forget memories, a conversation, or everything.

    A number is an id; any other text is the exact name of an entity, which is forgotten with its relations.
    A conversation is forgotten with the notes made from it. `recollect restore` brings all of it back.

    If an id does not exist, the others are forgotten, and the exit status is 1. Missing names are counted.
    """
    if bool(what) + everything + (session is not None) != 1:
        raise click.UsageError("Give ids or names, --session, or --all.")
    memory = call.memory()
    details = ["To delete forgotten memories of every owner for good: recollect purge --before 0d"]
    if session is not None:
        if not memory.sessions.turns(session, last=1):
            raise no_session(session)
        confirm(f"Forget the conversation {session} and the notes made from it?", yes=yes)
        forgotten = memory.sessions.forget(session)
        text = f"Forgot {memories_text(len(forgotten))} of {session}."
        return Result.message(text, {"forgotten": forgotten}, details)
    if everything:
        scope = ", agent ".join(filter(None, (memory.scope.owner or "(none)", memory.scope.agent)))
        confirm(f"Forget all memories of owner {scope}?", yes=yes)
        from recollect.admin import Internals

        count = Internals(memory).forget_all()
        return Result.message(f"Forgot {memories_text(count)}.", {"forgotten": count}, details)
    numbers = [None if only_names else id_in(each) for each in what]
    names = [each for each, number in zip(what, numbers, strict=True) if number is None]
    ids = [number for number in numbers if number is not None]
    gone = [*(memory.graph.delete_entities(names) if names else ()), *(memory.forget(ids) if ids else ())]
    missing, absent = sorted(set(ids).difference(gone)), len(set(what)) - len(gone)
    unknown = absent - len(missing)  # names; a warning lists missing ids
    details = [f"Not found: {unknown:,} of {quantity(len(set(names)), 'name')}."] if unknown else []
    if ids:
        named = _read_to_name(memory, gone[:_MAX_NAMED])
        details += [f"{_name(each)}: {ellipsize(label(each) if each.text else each.type)}" for each in named]
    if gone:
        details.append(f"Undo: recollect restore {' '.join(map(str, gone))}")
    count_text = (memories_text if ids else entities_text)(len(gone))
    listed = f": {', '.join(f'#{id_}' for id_ in gone)}" if gone else ""
    said = Message(f"Forgot {count_text}{listed}.", details, "note" if absent else "ok")
    data, view = {"forgotten": gone, "absent": absent}, [said] if gone or unknown else []
    return Result(data, view, list(_missing_lines(memory, missing)), exit_code=REFUSED if missing else 0)


@command(
    "restore",
    "recollect restore 12 17",
    "recollect restore --observation 40",
    "recollect restore yesterday.db --yes",
    if_stopped="A backup is restored as a whole or not at all. Run the same command again.",
)
@click.argument("what", metavar="ID|NAME...|BACKUP", nargs=-1, required=True)
@option("--observation", "Restore observations that `observe --remove` removed, by id.")
@YES
def restore_command(call: Call, what: tuple[str, ...], observation: bool, yes: bool) -> Result:
    """Bring back a forgotten or replaced memory, or a backup.

    Numbers are ids, and other words are names. A replaced memory is valid again, beside its replacement.

    Any other text is the path of a file that `recollect backup` made. It replaces the whole store: what the
    store holds now is lost.
    """
    what = tuple(_forgotten_id(call, each) or each for each in what)
    if all(each.lstrip("#").isdecimal() for each in what):
        ids = [int(each.lstrip("#")) for each in what]
        memory = call.memory()
        if not observation:
            before = [memory.get(id_) for id_ in ids]
            back = [memory.restore(id_) for id_ in ids]
            replacing = {each.superseded_by for each in before if each and each.superseded_by}
            found = _read_to_name(memory, sorted(replacing))
            valid = {each.id for each in found if each.deleted_at is None}
            pairs = zip(before, back, strict=True)
            details = [line for was, now in pairs for line in _restored_lines(was, now, valid)]
            data = {"restored": [memory_data(each) for each in back]}
            return Result.message(f"Restored {', '.join(map(_name, back))}.", data, details)
        for id_ in ids:
            memory.graph.restore_observation(id_)
        return Result.message(f"Restored {quantity(len(ids), 'observation')}.", {"observations": ids})
    if len(what) > 1 or observation:
        raise click.UsageError("Give either ids, or the path of one backup.")
    from recollect.bootstrap import restore_backup  # loads the engine

    store, backup = call.settings()[0].store, Path(what[0])
    if not backup.is_file():
        raise click.ClickException(
            f"There is no file and no forgotten entity {backup}; give ids, names or a backup."
        )
    if store.exists():
        confirm(f"Replace everything in {store} by the contents of {backup}?", yes=yes)
    with progress("Restoring") as (restoring,):
        restore_backup(backup, call.settings()[0], restoring)
    return Result.message(
        f"{store} now has the contents of {backup}.", {"store": str(store), "backup": str(backup)}
    )


@command("purge", "recollect purge --before 30d", "recollect purge --before 2026-01-01 --yes")
@option(
    "--before WHEN|DAYSd",
    "ISO date or time, or an age in days such as 30d.",
    required=True,
    type=parse_time_or_age,
)
@YES
def purge_command(call: Call, before: datetime | timedelta, yes: bool) -> Result:
    """Delete forgotten memories for good.

    It deletes the memories of all owners that were forgotten before that time. It cannot be undone.
    """
    from recollect.bootstrap import backup_folder, now  # loads the engine

    moment = before if isinstance(before, datetime) else now() - before
    memory = call.memory()
    confirm(f"Delete for good everything forgotten before {iso_minute(moment)}?", yes=yes)
    gone = memory.purge(moment)
    settings = call.settings()[0]
    folder = backup_folder(settings)
    copies = [str(folder)] if folder.exists() else []
    if isinstance(settings.store, Path):
        beside = settings.store.parent.glob(f"{settings.store.name}-*")
        copies += sorted(
            str(each) for each in beside if each.name.removeprefix(settings.store.name).startswith(_SUFFIXES)
        )
    still = f"Backups still hold their text: {', '.join(copies)}. To remove it, delete them too."
    warnings = [still] if copies else []
    own = "Your own backups and exports still hold their text."
    data = {"purged": int(gone), "before": moment}
    if gone.note is not None:
        text = f"Deleted {quantity(gone, 'forgotten row')}, but files of the store still hold their text."
        return Result.message(text, {**data, "note": gone.note}, [gone.note, own], "note", warnings)
    text = f"Deleted {quantity(gone, 'forgotten row')} for good."
    return Result.message(text, data, [own] if gone else [], warnings=warnings)


def _forgotten_id(call: Call, name: str) -> str | None:
    """Return the id of the forgotten entity of this name, unless the name is an id or a file."""
    from recollect.plugin import BrowseFilter  # loads the engine
    from recollect.text.tokens import fold

    if name.lstrip("#").isdecimal() or Path(name).exists() or not call.settings()[0].store.exists():
        return None
    with call.open_memory() as memory:
        found = memory.browse.page(
            BrowseFilter(frozenset({Kind.ENTITY}), "forgotten", contains=name)
        ).memories
    return next((str(each.id) for each in found if fold(each.name) == fold(name)), None)


def _read_to_name(memory: Engine, ids: Sequence[int]) -> list[Memory]:
    """Read memories that were just written, to name them. A failed read does not undo the write."""
    from recollect.services import attempt_follow_up  # slow; --help does not need it

    found, _ = attempt_follow_up(lambda: memory.get_many(ids))
    found = found or {}
    return [found[id_] for id_ in ids if id_ in found]


def _restored_lines(was: Memory | None, now: Memory, valid: Collection[int]) -> Iterator[str]:
    """Yield a memory's text, and a note if it is still superseded or its replacement is `valid` too."""
    if now.text:
        yield f"#{now.id}: {ellipsize(label(now))}"
    if now.superseded_at is not None:
        by = f" by #{now.superseded_by}" if now.superseded_by else ""
        yield f"#{now.id} is still superseded{by}; to make it valid again: recollect restore {now.id}"
    elif was is not None and was.superseded_by in valid:
        id_ = was.superseded_by
        yield f"#{id_}, which replaced it, is valid too. To forget it: recollect forget {id_}"


def _name(memory: Memory) -> str:
    return memory.name or f"{memory.kind} #{memory.id}"


def _missing_lines(memory: Engine, ids: Sequence[int]) -> Iterator[str]:
    """Yield why these were not forgotten: they were forgotten before, or do not exist."""
    before = [id_ for id_ in ids if memory.get(id_) is not None]
    undo = f"to restore: recollect restore {' '.join(map(str, before[:_MAX_NAMED]))}"
    for known, one, several, hint in (
        (before, "was already forgotten", "were already forgotten", undo),
        (
            [id_ for id_ in ids if id_ not in before],
            "does not exist",
            "do not exist",
            "`recollect list` shows ids.",
        ),
    ):
        more = f" and {len(known) - _MAX_NAMED:,} more" if len(known) > _MAX_NAMED else ""
        names = ", ".join(f"#{id_}" for id_ in known[:_MAX_NAMED])
        if known:
            yield f"{names}{more} {one if len(known) == 1 else several}; {hint}"
