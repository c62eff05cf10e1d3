"""`recollect forecast`: which memories fade if nobody uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recollect.cli.command import command
from recollect.cli.replies import Foretold

if TYPE_CHECKING:
    from recollect.cli.call import Call


@command(
    "forecast", "recollect forecast", "recollect forecast --days 30 --limit 50", "recollect forecast --json"
)
@click.option(
    "--days", type=click.IntRange(1, 3650), default=365, show_default=True, help="How far to look ahead."
)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(0, 1000),
    default=10,
    show_default=True,
    help="Memories to name, those that fade first.",
)
def forecast(call: Call, days: int, limit: int) -> None:
    """Foretell which memories fade if nobody uses them.

    Counts what nightly dreams would archive, and what would become weak and stale enough to be pruned, within
    a month and within a year; a dream prunes it only if another memory says the same. A curve shows the mean
    strength and how many have faded, day by day. Nothing is written.

    In a pipe, each line begins with what it is: `within`, days, kind, how many there are, prunable, archived;
    `memory`, id, the day when it is prunable, the day when it is archived, text; `day`, date, mean strength,
    prunable, archived.
    """
    from recollect.cli.outlook import outlook, soonest  # noqa: PLC0415  # loads the engine's records

    with call.memory() as memory:
        at = memory.parts.clock()
        found = memory.dreams.forecast(days)
        with memory.store.read() as view:
            named = view.memories(soonest(found, limit))
        zone = memory.parts.zone
    call.show(Foretold(outlook(found, named), at, zone))
