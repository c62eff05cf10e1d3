"""`recollect feedback`: say whether a memory was what one looked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recollect.cli.command import command
from recollect.cli.replies import Done
from recollect.cli.which import memory_id

if TYPE_CHECKING:
    from recollect.cli.call import Call


@command(
    "feedback",
    "recollect feedback 12 --good",
    "recollect feedback 12 17 --bad --query 'who is allergic to something?'",
)
@click.argument("ids", metavar="ID...", type=memory_id, nargs=-1, required=True)
@click.option("--good/--bad", "good", default=None, help="It was what you looked for, or it was not.")
@click.option("--query", metavar="TEXT", help="For this question; without it, the last that showed it.")
def feedback(call: Call, ids: tuple[int, ...], good: bool | None, query: str | None) -> None:
    """Say whether memories were what you looked for.

    It is kept with the last answer of `recollect recall` or of an agent that showed them, and said again it
    is said anew. `recollect tune` learns from it.
    """
    if good is None:
        raise click.UsageError("Say --good or --bad.")
    with call.memory() as memory:
        memory.feedback(ids, 1.0 if good else -1.0, query=query)
    named = ", ".join(f"#{id_}" for id_ in ids)
    data = {"ids": list(ids), "grade": 1.0 if good else -1.0, "query": query}
    call.show(Done(f"Noted: {named} {'was' if good else 'was not'} what you looked for.", data))
