"""Commands that count, check and renew a store."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from recollect.cli.command import command
from recollect.cli.dates import moment
from recollect.cli.failures import REFUSED
from recollect.cli.progress import progress
from recollect.cli.replies import Done, Rows
from recollect.cli.wording import counted, size

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recollect.cli.call import Call
    from recollect.engine.engine import Engine
    from recollect.records import Counts, DreamRecord, Model, Problem
    from recollect.settings import Settings

_LOOKED_AT = 1000
"""Dreams, from the newest."""


@command("stats", "recollect stats", "recollect stats --json | jq .entities")
def stats(call: Call) -> None:
    """Count what the memory holds, in every scope."""
    settings, _ = call.settings()
    with call.memory() as memory:
        counts, model = memory.counts(), memory.model
        sessions = session_count(memory)
        last = last_dream(memory)
        said = "never" if last is None else f"{moment(last.at, memory.parts.zone)} (dream {last.id})"
    table = _stats(settings.store, counts, sessions, model)
    data = {
        **table.data,
        "last_dream": None if last is None else last.at.isoformat(),
        "dream": settings.dream,
    }
    rows = [*table.rows, ("last dream", said), ("dreams by itself", schedule(settings))]
    call.show(replace(table, data=data, rows=rows))


@command("verify", "recollect verify", "recollect verify --repair")
@click.option(
    "--repair", is_flag=True, help="Rebuild what is derived from the rows: indexes, vectors, the cache."
)
def verify(call: Call, repair: bool) -> int | None:
    """Check the file, its rows and every index.

    With --repair, what is derived from the rows is rebuilt. Exits with 1 while anything is wrong.
    """
    with call.memory() as memory:
        found = memory.upkeep.verify()
        left = memory.upkeep.repair() if repair and found else found
    call.show(_verified(found, left))
    return REFUSED if left else None


@command("reindex", "recollect reindex", "recollect reindex --model e5-small")
def reindex(call: Call) -> None:
    """Embed what waits for a vector, or all with another model.

    With --model NAME, everything is embedded anew and the memory switches to that model.

    Stopped midway, it goes on where it was. Until it is done, searches use the old model.
    """
    with call.memory() as memory, progress("Embedding") as (told,):
        done = memory.reindex(call.model, told)
    switched = f"The memory now uses {done.model.name}. " if done.switched else ""
    said = f"{switched}Embedded {counted(done.embedded, 'passage')} with {done.model.name}."
    data = {"model": done.model.name, "embedded": done.embedded, "switched": done.switched}
    call.show(Done(said, data))


def session_count(memory: Engine) -> int:
    """In every scope."""
    with memory.store.read() as view:
        return sum(len(view.sessions(scope)) for scope in view.scopes())


def last_dream(memory: Engine) -> DreamRecord | None:
    """Of this scope; those that were undone do not count."""
    return next((each for each in memory.dreams.history(_LOOKED_AT) if each.undone_at is None), None)


def schedule(settings: Settings) -> str:
    """Whether and when `serve` and the library dream."""
    return f"every {settings.dream_every_minutes:g} minutes" if settings.dream else "off"


def _stats(store: Path, counts: Counts, sessions: int, model: Model | None) -> Rows:
    from dataclasses import asdict  # noqa: PLC0415  # --help needs none

    used = model.name if model is not None else None
    rows = [
        ("entities", f"{counts.entities:,}"),
        ("observations", f"{counts.observations:,}"),
        ("relations", f"{counts.relations:,}"),
        ("notes", f"{counts.notes:,}"),
        ("messages", f"{counts.messages:,}"),
        ("sessions", f"{sessions:,}"),
        ("forgotten", f"{counts.forgotten:,}"),
        ("scopes", f"{counts.scopes:,}"),
        ("passages", f"{counts.passages:,}"),
        ("with a vector", f"{counts.vectors:,}"),
        ("waiting for one", f"{counts.due:,}"),
        ("model", used or "none yet"),
        ("size", size(counts.bytes)),
    ]
    data = {"store": str(store), "model": used, **asdict(counts), "sessions": sessions}
    return Rows(data, ("", ""), rows, title=str(store))


def _verified(found: Sequence[Problem], left: Sequence[Problem]) -> Done:
    from dataclasses import asdict  # noqa: PLC0415  # --help needs none

    data = {
        "ok": not left,
        "found": [asdict(each) for each in found],
        "left": [asdict(each) for each in left],
    }
    if not found:
        return Done("The file is whole, and every index is in step with it.", data)
    if not left:
        return Done(f"Repaired {counted(len(found), 'problem')}; all is well now.", data, _said(found))
    remedy = "Rebuild what can be: recollect verify --repair"
    if not any(each.repairable for each in left):
        remedy = "This cannot be rebuilt; put back a backup: recollect restore BACKUP"
    return Done(f"Found {counted(len(left), 'problem')}.", data, [*_said(left), remedy], "problem")


def _said(problems: Sequence[Problem]) -> list[str]:
    return [f"{each.where}: {each.what}" for each in problems]
