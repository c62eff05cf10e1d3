"""Commands that forget, bring back, and destroy: delete, forget, restore, purge."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.command import command
from recollect.cli.input import confirm
from recollect.cli.memory_view import label, name_or_id
from recollect.cli.options import YES
from recollect.cli.phrases import ellipsize, quantity
from recollect.cli.progress import progress
from recollect.cli.resolve import memory_id
from recollect.cli.results import message_result
from recollect.cli.shapes import memory_data
from recollect.cli.times import iso_minute, parse_time_or_age

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import timedelta

    from recollect.cli.call import Call
    from recollect.cli.results import Result
    from recollect.records import Memory

_MOST_NAMED = 10
"""Memories that are named when they are forgotten; of more, the ids say enough."""


@command("delete", "recollect delete 'Old project'", "recollect restore 12   # to bring it back")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
def delete_command(call: Call, names: tuple[str, ...]) -> Result:
    """Forget entities by their exact name, with their relations. They can be restored."""
    ids = call.memory().graph.delete_entities(names)
    return _forgotten(ids, len(set(names)), quantity(len(ids), "entity", "entities"))


@command("forget", "recollect forget 12 17", "recollect restore 12   # to bring it back")
@click.argument("ids", metavar="ID...", nargs=-1, required=True, type=memory_id)
def forget_command(call: Call, ids: tuple[int, ...]) -> Result:
    """Forget memories of any kind by their id. They can be restored."""
    memory = call.memory()
    gone = memory.forget(ids)
    texts = [f"{name_or_id(each)}: {_short(each)}" for id_ in gone[:_MOST_NAMED] if (each := memory.get(id_))]
    return _forgotten(gone, len(set(ids)), quantity(len(gone), "memory", "memories"), texts)


@command(
    "restore",
    "recollect restore 12 17",
    "recollect restore --observation 40",
    "recollect restore yesterday.db --yes",
)
@click.argument("what", metavar="ID...|BACKUP", nargs=-1, required=True)
@click.option("--observation", is_flag=True, help="The ids are of observations that `unobserve` removed.")
@click.option("-y", "--yes", is_flag=True, help="Replace the store without asking.")
def restore_command(call: Call, what: tuple[str, ...], observation: bool, yes: bool) -> Result:
    """Bring back what was forgotten or superseded, or a backup.

    Numbers are ids. What was superseded is in force again, beside what replaced it.

    Anything else is the path of a file that `recollect backup` made: the store gets the contents of that
    file, and what it holds now is lost.
    """
    if all(each.lstrip("#").isdecimal() for each in what):
        ids = [int(each.lstrip("#")) for each in what]
        return _restore_observations(call, ids) if observation else _restore_memories(call, ids)
    if len(what) == 1 and not observation:
        return _restore_backup(call, Path(what[0]), yes=yes)
    raise click.UsageError("Give either ids, or the path of one backup.")


@command("purge", "recollect purge --before 30d", "recollect purge --before 2026-01-01 --yes")
@click.option(
    "--before",
    required=True,
    type=parse_time_or_age,
    metavar="WHEN|DAYSd",
    help="An ISO date or time, or an age in days.",
)
@YES
def purge_command(call: Call, before: datetime | timedelta, yes: bool) -> Result:
    """Destroy for good what was forgotten before a time.

    This affects every owner of the store, and cannot be undone.
    """
    from recollect.bootstrap import backups, now  # loads the engine

    moment = before if isinstance(before, datetime) else now() - before
    memory = call.memory()
    confirm(f"Destroy for good what was forgotten before {iso_minute(moment)}?", yes=yes)
    gone = memory.purge(moment)
    folder = backups(call.settings()[0])
    still = f"Backups in {folder} still hold what they held; remove them to be rid of it."
    return message_result(
        f"Destroyed {quantity(gone, 'forgotten thing')} for good.",
        {"purged": gone, "before": moment},
        warnings=[still] if folder.exists() else [],
    )


def _restore_memories(call: Call, ids: Sequence[int]) -> Result:
    memory = call.memory()
    before = [memory.get(id_) for id_ in ids]
    back = [memory.restore(id_) for id_ in ids]
    details = [line for was, now in zip(before, back, strict=True) for line in _restored(was, now)]
    names = ", ".join(name_or_id(each) for each in back)
    return message_result(f"Restored {names}.", {"restored": [memory_data(each) for each in back]}, details)


def _restored(was: Memory | None, now: Memory) -> Iterator[str]:
    """What a restored text says, and whether it is in force."""
    if now.text:
        yield f"#{now.id}: {_short(now)}"
    if now.superseded_at is not None:
        by = f" by #{now.superseded_by}" if now.superseded_by else ""
        yield f"#{now.id} is still superseded{by}; in force again: recollect restore {now.id}"
    elif was is not None and was.superseded_at is not None:
        by = f" by #{was.superseded_by}, which stays; to remove that: recollect forget {was.superseded_by}"
        yield f"#{now.id} was superseded{by if was.superseded_by else ''}"


def _restore_observations(call: Call, ids: Sequence[int]) -> Result:
    memory = call.memory()
    for id_ in ids:
        memory.graph.restore_observation(id_)
    return message_result(f"Restored {quantity(len(ids), 'observation')}.", {"observations": ids})


def _restore_backup(call: Call, backup: Path, *, yes: bool) -> Result:
    from recollect.bootstrap import put_back  # loads the engine

    settings, _ = call.settings()
    if not backup.is_file():
        raise click.ClickException(f"There is no file {backup}; give ids, or the path of a backup.")
    if settings.store.exists():
        confirm(f"Replace everything in {settings.store} by what {backup} holds?", yes=yes)
    with progress("Restoring") as (restoring,):
        put_back(backup, settings, restoring)
    data = {"store": str(settings.store), "backup": str(backup)}
    return message_result(f"{settings.store} now holds what {backup} held.", data)


def _short(memory: Memory) -> str:
    return ellipsize(label(memory)) if memory.text else ellipsize(f"{memory.name} ({memory.type})")


def _forgotten(ids: Sequence[int], asked: int, what: str, texts: Sequence[str] = ()) -> Result:
    details = [*texts, f"Bring back: recollect restore {' '.join(map(str, ids))}"] if ids else []
    absent = asked - len(ids)
    if absent:
        details.insert(0, f"{absent:,} of those asked for {'was' if absent == 1 else 'were'} not there.")
    named = f": {', '.join(f'#{id_}' for id_ in ids)}" if ids else ""
    data = {"forgotten": ids, "absent": absent}
    return message_result(f"Forgot {what}{named}.", data, details, "note" if absent else "ok")
