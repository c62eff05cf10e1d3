"""`recollect dream`: sleep on what is remembered."""

from __future__ import annotations

import click

from recollect.cli.call import Call
from recollect.cli.command import Group
from recollect.cli.dreams import history, show, undo
from recollect.cli.failures import REFUSED
from recollect.cli.progress import steps
from recollect.errors import Conflict

PHASES = (
    "consolidate",
    "downscale",
    "merge",
    "correct",
    "prune",
    "place",
    "promote",
    "balance",
    "link",
    "report",
)
# What is under way when so many stages are done.
_STAGES = (
    "Looking at the day",
    "Who else says what fades",
    "Copies of old errors",
    "Asking what people ask",
    "Summing up",
    "Writing",
)


@click.command(
    "dream",
    cls=Group,
    sections={"Commands": (history, show, undo)},
    examples=(
        "recollect dream --dry-run",
        "recollect dream",
        "recollect dream --without prune --without merge",
        "recollect dream --phase link --phase report",
        "recollect dream undo 3",
    ),
    invoke_without_command=True,
)
@click.option("--dry-run", is_flag=True, help="Only say what it would do.")
@click.option(
    "--phase",
    "phases",
    type=click.Choice(PHASES),
    multiple=True,
    metavar="PHASE",
    help=f"Only this; repeatable. There are: {', '.join(PHASES)}.",
)
@click.option(
    "--without",
    type=click.Choice(PHASES),
    multiple=True,
    metavar="PHASE",
    help="All but this; repeatable.",
)
@click.option("--no-gate", is_flag=True, help="Write even if people would find less.")
@click.pass_context
def dream(
    ctx: click.Context, dry_run: bool, phases: tuple[str, ...], without: tuple[str, ...], no_gate: bool
) -> int | None:
    """Sleep on it: strengthen, fade, tidy up, report.

    What was recalled since the last dream grows stronger, the rest fades a little, repeats are merged, and
    what comes up together is linked. Nothing is destroyed, and `recollect dream undo` takes all of it back.

    Before anything is written, the plan is tried on what people asked. Where they would find less, nothing is
    written, and the exit status is 1.

    In a pipe, each line begins with what it is: `dream`, id, time; `gate`, open or closed, questions, share
    found before, after; `lost`, phase, id, question, text; `count`, what, number; and for each memory what
    became of it (stronger, faded, pruned, merged, …), id, change, the other's id, text.
    """
    if ctx.invoked_subcommand is not None:
        if dry_run or phases or without or no_gate:
            raise click.UsageError("These options are for dreaming itself; leave them out here.", ctx)
        return None
    chosen = [each for each in phases or PHASES if each not in without]
    if not chosen:
        raise click.UsageError("That leaves no phase to dream.", ctx)
    call = ctx.ensure_object(Call)
    from recollect.cli.dream_reply import of_dream  # noqa: PLC0415  # loads the engine's records

    with call.memory() as memory:
        try:
            with steps(*_STAGES) as told:
                done = memory.dream(
                    phases=phases or None, without=without, dry_run=dry_run, gate=not no_gate, progress=told
                )
        except Conflict as error:
            raise Conflict(
                "Another process is dreaming on this memory; try again when it is done. Nothing was changed."
            ) from error
        reply = of_dream(memory, done, dry_run=dry_run)
    call.show(reply)
    return REFUSED if reply.story.is_closed else None
