"""`recollect history`: what happened to a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recollect.cli.command import command
from recollect.cli.replies import Timeline
from recollect.cli.which import memory_of

if TYPE_CHECKING:
    from recollect.cli.call import Call


@command("history", "recollect history 12", "recollect history 'Marisol Vega' --json")
@click.argument("memory", metavar="ID|NAME")
def history(call: Call, memory: str) -> None:
    """Tell what happened to a memory, oldest first.

    What it said before, what corrected it, what it corrected, and for an entity its observations and
    relations.

    In a pipe, the fields of a line are: time, what happened, about what.
    """
    with call.memory() as engine:
        told = engine.history(memory_of(engine, memory).id)
        call.show(Timeline(told, engine.parts.zone))
