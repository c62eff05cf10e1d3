"""Commands that forget, bring back, and destroy."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.command import command
from recollect.cli.confirm import confirm
from recollect.cli.progress import progress
from recollect.cli.replies import Done
from recollect.cli.when import when_or_age
from recollect.cli.which import memory_id
from recollect.cli.wording import counted, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import timedelta

    from recollect.cli.call import Call
    from recollect.records import Memory

_NAMED = 10
"""Memories that are named when they are forgotten; of more, the ids say enough."""


@command("delete", "recollect delete 'Old project'", "recollect restore 12   # to bring it back")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
def delete(call: Call, names: tuple[str, ...]) -> None:
    """Forget entities by their exact name, with their relations. They can be restored."""
    with call.memory() as memory:
        ids = memory.graph.delete_entities(names)
    _show_forgotten(call, ids, asked=len(set(names)), noun="entity", plural="entities")


@command("forget", "recollect forget 12 17", "recollect restore 12   # to bring it back")
@click.argument("ids", metavar="ID...", nargs=-1, required=True, type=memory_id)
def forget(call: Call, ids: tuple[int, ...]) -> None:
    """Forget memories of any kind by their id. They can be restored."""
    with call.memory() as memory:
        gone = memory.forget(ids)
        said = [f"{_named(each)}: {_short(each)}" for id_ in gone[:_NAMED] if (each := memory.get(id_))]
    _show_forgotten(call, gone, asked=len(set(ids)), noun="memory", plural="memories", said=said)


@command(
    "restore",
    "recollect restore 12 17",
    "recollect restore --observation 40",
    "recollect restore yesterday.db --yes",
)
@click.argument("what", metavar="ID...|BACKUP", nargs=-1, required=True)
@click.option("--observation", is_flag=True, help="The ids are of observations that `unobserve` removed.")
@click.option("-y", "--yes", is_flag=True, help="Replace the store without asking.")
def restore(call: Call, what: tuple[str, ...], observation: bool, yes: bool) -> None:
    """Bring back what was forgotten or superseded, or a backup.

    Numbers are ids. What was superseded is in force again, beside what took its place.

    Anything else is the path of a file that `recollect backup` made: the store becomes what that file holds,
    and what it holds now is lost.
    """
    if all(each.lstrip("#").isdecimal() for each in what):
        ids = [int(each.lstrip("#")) for each in what]
        (_restore_observations if observation else _restore_memories)(call, ids)
    elif len(what) == 1 and not observation:
        _restore_backup(call, Path(what[0]), yes=yes)
    else:
        raise click.UsageError("Give either ids, or the path of one backup.")


@command("purge", "recollect purge --before 30d", "recollect purge --before 2026-01-01 --yes")
@click.option(
    "--before",
    required=True,
    type=when_or_age,
    metavar="WHEN|DAYSd",
    help="An ISO date or time, or an age in days.",
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def purge(call: Call, before: datetime | timedelta, yes: bool) -> None:
    """Destroy for good what was forgotten before a time.

    It reaches what every owner forgot, and there is no way back.
    """
    from recollect.bootstrap import backups, now  # noqa: PLC0415  # loads the engine

    moment = before if isinstance(before, datetime) else now() - before
    with call.memory() as memory:
        confirm(f"Destroy for good what was forgotten before {moment.astimezone():%Y-%m-%d %H:%M}?", yes=yes)
        gone = memory.purge(moment)
    kept = backups(call.settings()[0])
    if kept.exists():
        call.tell(f"Backups in {kept} still hold what they held; remove them to be rid of it.")
    data = {"purged": gone, "before": moment.isoformat()}
    call.show(Done(f"Destroyed {counted(gone, 'forgotten thing')} for good.", data))


def _restore_memories(call: Call, ids: Sequence[int]) -> None:
    from recollect.cli.data import memory_data  # noqa: PLC0415  # loads the engine's records

    with call.memory() as memory:
        before = [memory.get(id_) for id_ in ids]
        back = [memory.restore(id_) for id_ in ids]
    message = f"Restored {', '.join(_named(each) for each in back)}."
    details = [line for was, now in zip(before, back, strict=True) for line in _returned(was, now)]
    call.show(Done(message, {"restored": [memory_data(each) for each in back]}, details))


def _returned(was: Memory | None, now: Memory) -> Iterator[str]:
    """What a text says that is back, and how it stands."""
    if now.text:
        yield f"#{now.id}: {_short(now)}"
    if now.superseded_at is not None:
        by = f" by #{now.superseded_by}" if now.superseded_by else ""
        yield f"#{now.id} is still superseded{by}; in force again: recollect restore {now.id}"
    elif was is not None and was.superseded_at is not None:
        by = f" by #{was.superseded_by}, which stays; to take that away: recollect forget {was.superseded_by}"
        yield f"#{now.id} was superseded{by if was.superseded_by else ''}"


def _restore_observations(call: Call, ids: Sequence[int]) -> None:
    with call.memory() as memory:
        for id_ in ids:
            memory.graph.restore_observation(id_)
    call.show(Done(f"Restored {counted(len(ids), 'observation')}.", {"observations": list(ids)}))


def _restore_backup(call: Call, backup: Path, *, yes: bool) -> None:
    from recollect.bootstrap import put_back  # noqa: PLC0415  # loads the engine

    settings, _ = call.settings()
    if not backup.is_file():
        raise click.ClickException(f"There is no file {backup}; give ids, or the path of a backup.")
    if settings.store.exists():
        confirm(f"Replace everything in {settings.store} by what {backup} holds?", yes=yes)
    with progress("Restoring") as (told,):
        put_back(backup, settings, told)
    data = {"store": str(settings.store), "backup": str(backup)}
    call.show(Done(f"{settings.store} now holds what {backup} held.", data))


def _named(memory: Memory) -> str:
    return memory.name or f"{memory.kind} #{memory.id}"


def _short(memory: Memory) -> str:
    said = memory.text or f"{memory.name} ({memory.type})"
    return shortened(f"{memory.speaker}: {said}" if memory.speaker else said)


def _show_forgotten(
    call: Call, ids: Sequence[int], *, asked: int, noun: str, plural: str, said: Sequence[str] = ()
) -> None:
    details = [*said, f"Bring back: recollect restore {' '.join(map(str, ids))}"] if ids else []
    absent = asked - len(ids)
    if absent:
        details.insert(0, f"{absent:,} of those asked for {'was' if absent == 1 else 'were'} not there.")
    named = f": {', '.join(f'#{id_}' for id_ in ids)}" if ids else ""
    message = f"Forgot {counted(len(ids), noun, plural)}{named}."
    call.show(Done(message, {"forgotten": list(ids), "absent": absent}, details, "note" if absent else "ok"))
