"""Commands that connect entities, and take connections back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recollect.cli.command import command
from recollect.cli.replies import Done
from recollect.cli.when import when

if TYPE_CHECKING:
    from datetime import datetime

    from recollect.cli.call import Call
    from recollect.engine.results import Related


@command(
    "relate",
    "recollect relate 'Marisol Vega' leads Tidebook",
    "recollect relate Bosun lives_in Boathouse --since 2025-11-02 --context 'arrived with the fish'",
    "recollect relate Tidebook part_of 'Harbour Works' --create-missing",
)
@click.argument("source")
@click.argument("type_", metavar="TYPE")
@click.argument("target")
@click.option("--context", default="", metavar="TEXT", help="Why, or in what way.")
@click.option("--since", type=when, metavar="WHEN", help="When it began: an ISO date or time.")
@click.option("--until", type=when, metavar="WHEN", help="When it ended, if it is over.")
@click.option("--create-missing", is_flag=True, help="Create an entity that is not there, of type `unknown`.")
def relate(
    call: Call,
    source: str,
    type_: str,
    target: str,
    context: str,
    since: datetime | None,
    until: datetime | None,
    create_missing: bool,
) -> None:
    """Connect two entities: SOURCE TYPE TARGET.

    Declared pairs, such as contains and part_of, get their inverse by themselves.
    """
    span = {"context": context, "since": since, "until": until}
    wanted = {"source": source, "type": type_, "target": target, **span}
    with call.memory(create=create_missing) as memory:
        (related,) = memory.graph.create_relations([wanted], create_missing=create_missing).relations
    _show(call, related)


@command("end-relation", "recollect end-relation Bosun lives_in Boathouse --at 2026-04-01")
@click.argument("source")
@click.argument("type_", metavar="TYPE")
@click.argument("target")
@click.option("--at", type=when, metavar="WHEN", help="When it ended: an ISO date or time; now if not given.")
def end_relation(call: Call, source: str, type_: str, target: str, at: datetime | None) -> None:
    """Say that a relation holds no more. It stays, as history."""
    with call.memory() as memory:
        memory.graph.end_relation(source, type_, target, at=at)
    data = {"source": source, "type": type_, "target": target, "at": at.isoformat() if at else None}
    call.show(Done(f"Ended: {source} {type_} {target}.", data))


@command("unrelate", "recollect unrelate Bosun lives_in Boathouse")
@click.argument("source")
@click.argument("type_", metavar="TYPE")
@click.argument("target")
def unrelate(call: Call, source: str, type_: str, target: str) -> None:
    """Remove a relation that should never have been there.

    For one that was true and is over, use `recollect end-relation`.
    """
    with call.memory() as memory:
        removed = memory.graph.delete_relations([(source, type_, target)])
    data = {"source": source, "type": type_, "target": target, "removed": removed}
    if removed:
        inverse = " and its inverse" if removed > 1 else ""
        call.show(Done(f"Removed: {source} {type_} {target}{inverse}.", data))
    else:
        call.show(Done(f"There was no such relation: {source} {type_} {target}.", data, mark="note"))


def _show(call: Call, related: Related) -> None:
    from recollect.cli.data import related_data  # noqa: PLC0415  # loads the engine's records

    said = f"{related.source} {related.type} {related.target}"
    details = [f"Created {name}, of type unknown." for name in related.also_created]
    if related.inverse:
        details.append("The inverse holds too.")
    message = f"Related: {said}." if related.created else f"That was known already: {said}."
    call.show(Done(message, related_data(related), details))
