"""`recollect eval`: how well this memory is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recollect.cli.asking import profiles_begun
from recollect.cli.command import Group, command
from recollect.cli.progress import progress

if TYPE_CHECKING:
    from recollect.cli.call import Call
    from recollect.engine.engine import Engine


@command(
    "self",
    "recollect eval self",
    "recollect eval self --sample 0 --profile recollect --profile limbic",
    "recollect eval self --json | jq '.missed[].id'",
)
@click.option(
    "--sample",
    type=click.IntRange(0),
    default=200,
    show_default=True,
    metavar="N",
    help="Memories to ask for, of each kind some; 0: all.",
)
@click.option(
    "-p",
    "--profile",
    "profiles",
    multiple=True,
    metavar="NAME",
    shell_complete=profiles_begun,
    help="Only these; repeatable. Without it, all.",
)
@click.option(
    "-n", "--limit", type=click.IntRange(1, 1000), default=5, show_default=True, help="Hits that count."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Another one asks for other memories.")
def self_(call: Call, sample: int, profiles: tuple[str, ...], limit: int, seed: int) -> None:
    """Ask for memories by their own words, names and days.

    Questions are made by rule out of what is stored, so that the right answers are known. Shown are how many
    of them each profile answers among the first hits, with a 95 % interval; how long an answer takes; which
    memories cannot be found by their own words, and why; and what to do about it. No language model is
    asked, nothing leaves this machine, and nothing is noted in the memory.

    In a pipe, each line begins with what it is: `profile`, `kind`, `missed` (by cause), `advice`.
    """
    from recollect.cli.self_report import tested  # noqa: PLC0415  # loads the engine's records

    with call.memory() as memory, progress("Asking") as (told,):
        result = memory.self_test(
            profiles=profiles,
            sample=sample,
            limit=limit,
            seed=seed,
            languages=_languages(memory),
            progress=told,
        )
    call.show(tested(result))


@click.command(
    "eval",
    cls=Group,
    sections={"Commands": (self_,)},
    examples=("recollect eval self",),
    invoke_without_command=True,
)
@click.pass_context
def evaluate(ctx: click.Context) -> None:
    """Test how well this memory is found."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _languages(memory: Engine) -> tuple[str, ...] | None:
    """Those that the store's model knows, where it says so."""
    from recollect.models.registry import packaged_model  # noqa: PLC0415  # --help needs none

    model = memory.model
    described = None if model is None else packaged_model(model.name.partition("@")[0])
    return None if described is None else described.languages
