"""Commands that write the graph: entities, their observations, their status."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import command
from recollect.cli.replies import Done
from recollect.cli.when import when
from recollect.cli.wording import counted, shortened
from recollect.errors import NotFound

if TYPE_CHECKING:
    from datetime import datetime

    from recollect.cli.call import Call
    from recollect.cli.replies import Mark
    from recollect.engine.results import Observed, ObservedBatch, Similar

_ID = re.compile(r"#(\d{1,18})")


@command(
    "add",
    "recollect add 'Marisol Vega' --type person -o 'Leads the harbour team' -o 'Speaks Galician'",
    "recollect add Tidebook -t project --status paused --importance 0.9",
)
@click.argument("name")
@click.option("-t", "--type", "type_", metavar="TYPE", help="What it is: person, project, …")
@click.option(
    "-o", "--observation", "texts", multiple=True, metavar="TEXT", help="Something known; repeatable."
)
@click.option("--status", metavar="STATUS", help="active, paused, completed or archived.")
@click.option("--importance", type=float, metavar="0..1", help="How much it matters; 0.5 if not given.")
def add(
    call: Call,
    name: str,
    type_: str | None,
    texts: tuple[str, ...],
    status: str | None,
    importance: float | None,
) -> None:
    """Create an entity, or add to the one of that name.

    A name that exists keeps its status, and its type unless that is `unknown`, and gains the observations
    that are new.
    """
    entity: dict[str, Any] = {"name": name, "observations": list(texts)}
    given = {"type": type_, "status": status, "importance": importance}
    entity |= {field: value for field, value in given.items() if value is not None}
    with call.memory(create=True) as memory:
        _show(call, memory.create_entities([entity]))


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
@click.option("--happened-at", type=when, metavar="WHEN", help="When it was so: an ISO date or time.")
def observe(
    call: Call,
    name: str,
    texts: tuple[str, ...],
    kind: str,
    supersedes: str | None,
    happened_at: datetime | None,
) -> None:
    """Add observations to an entity that exists.

    One that nearly repeats an older one is kept, and pointed out.
    """
    if supersedes is not None and len(texts) > 1:
        raise click.UsageError("--supersedes goes with one TEXT: the one that takes the old one's place.")
    shared = {"kind": kind, "happened_at": happened_at, "supersedes": _id_or_text(supersedes)}
    with call.memory() as memory:
        batch = memory.graph.add_observations({name: [{"content": text, **shared} for text in texts]})
        _show(call, batch, replaced=supersedes)


@command(
    "unobserve",
    "recollect unobserve 'Marisol Vega' 'Drinks oolong after lunch'",
)
@click.argument("name")
@click.argument("texts", metavar="TEXT...", nargs=-1, required=True)
def unobserve(call: Call, name: str, texts: tuple[str, ...]) -> None:
    """Remove observations from an entity, by their exact text.

    To correct one and keep the history, use `recollect observe --supersedes` instead.
    """
    with call.memory() as memory:
        entity = next(iter(memory.graph.open_nodes([name], record=False).entities), None)
        if entity is None:
            raise NotFound(f"There is no entity named {name!r}; `recollect find` looks for one.")
        gone = {each.id: each.content for each in entity.in_force if each.content in texts}
        removed = memory.graph.delete_observations({entity.name: texts})
    absent = [text for text in texts if text not in gone.values()]
    undo = [f"Bring it back: recollect restore --observation {id_}" for id_ in gone]
    details = [*(f"Not there: {text}" for text in absent), *undo]
    data = {"name": entity.name, "removed": removed, "observations": list(gone), "absent": absent}
    said = f"Removed {counted(removed, 'observation')} from {entity.name}."
    call.show(Done(said, data, details, "note" if absent else "ok"))


@command("status", "recollect status Tidebook paused", "recollect status Tidebook completado")
@click.argument("name")
@click.argument("status")
def status(call: Call, name: str, status: str) -> None:
    """Mark an entity as active, paused, completed or archived."""
    with call.memory() as memory:
        now = memory.graph.set_status(name, status)
    call.show(Done(f"{name} is {now}.", {"name": name, "status": str(now)}))


def _id_or_text(given: str | None) -> int | str | None:
    number = _ID.fullmatch(given) if given is not None else None
    return int(number[1]) if number else given


def _show(call: Call, batch: ObservedBatch, *, replaced: str | None = None) -> None:
    from recollect.cli.data import observed_data  # noqa: PLC0415  # loads the engine's records

    (observed,) = batch.entities
    details = [_likeness(pair) for pair in observed.similar]
    if observed.kept_type is not None:
        details.append(f"It keeps its type {observed.kept_type}.")
    mark: Mark = "note" if details else "ok"
    if replaced is not None:
        details.append(f"It replaces: {shortened(replaced)}")
    call.show(Done(_said(observed), {**observed_data(observed), "note": batch.note}, details, mark))
    if batch.note:
        call.tell(f"stored, but not yet found by meaning: {batch.note}")


def _said(observed: Observed) -> str:
    new = counted(len(observed.added), "new observation")
    if observed.created:
        gained = f" with {counted(len(observed.added), 'observation')}" if observed.added else ""
        return f"Created {observed.name} (#{observed.id}){gained}."
    if not observed.changed:
        return f"{observed.name} (#{observed.id}) was there already, and knew all of this."
    gains = [f"gained {new}"] if observed.added else []
    if observed.took_type is not None:
        gains.insert(0, f"took its type, {observed.took_type}")
    return f"{observed.name} (#{observed.id}) {', and '.join(gains)}."


def _likeness(pair: Similar) -> str:
    return (
        f"#{pair.observation} nearly repeats #{pair.similar_to} ({pair.similarity:.2f}): "
        f"“{shortened(pair.content)}” ~ “{shortened(pair.similar_content)}”"
    )
