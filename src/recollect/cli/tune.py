"""`recollect tune`: a profile's numbers, fitted to how this memory is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recollect.cli.asking import PROFILE
from recollect.cli.command import Group, command
from recollect.cli.confirm import confirm
from recollect.cli.replies import Rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.cli.call import Call

_DRY_RUN = click.option("--dry-run", is_flag=True, help="Only say what it would do.")
_YES = click.option("-y", "--yes", is_flag=True, help="Do not ask.")


@command("analyze", "recollect tune analyze", "recollect tune analyze --profile limbic --json")
@PROFILE
def analyze(call: Call, profile: str | None) -> None:
    """Say how a profile fares in the log of answers.

    Its ranking against the one it is compared with, by what became of what was shown: opened, found again by
    another question, or judged with `recollect feedback`. Without --profile, the default one; limbic, where
    only that was used. docs/tuning.md defines the measures.

    In a pipe, each line begins with what it is: `log`, `answers`, `measure`, `drafts`, `number`.
    """
    from recollect.cli.tune_reply import analyzed  # noqa: PLC0415  # loads the engine's records

    with call.memory() as memory:
        call.show(analyzed(memory.tuning.analyze(profile)))


@command(
    "run",
    "recollect tune run --dry-run",
    "recollect tune run",
    "recollect tune run --profile limbic --gamma-range 0.001,0.01,0.1 --beta-sal-range 0.1,0.5,1",
    "recollect tune run --range blend.meaning=0.4,0.5,0.6,0.7",
)
@PROFILE
@click.option(
    "--range",
    "ranges",
    multiple=True,
    metavar="NAME=N,N,…",
    help="Try these values of a number; repeatable, all combinations are tried.",
)
@click.option("--gamma-range", metavar="N,N,…", help="As --range gamma=…")
@click.option("--beta-sal-range", metavar="N,N,…", help="As --range beta_sal=…")
@_DRY_RUN
def run(
    call: Call,
    profile: str | None,
    ranges: tuple[str, ...],
    gamma_range: str | None,
    beta_sal_range: str | None,
    dry_run: bool,
) -> None:
    """Look for better numbers, and take a step towards them.

    The numbers are chosen on questions that came up first and judged on those that came up later. Only if
    they are better there beyond chance is anything written: a tenth of the way, from the next answer on, in
    every process. `recollect tune rollback` takes it back. It needs 50 answers at least.

    In a pipe, each line begins with what it is: `verdict`, `number`, `better`, `worse`.
    """
    from recollect.cli.progress import steps  # noqa: PLC0415  # --help needs none
    from recollect.cli.tune_reply import searched  # noqa: PLC0415  # loads the engine's records

    listed = [*ranges]
    listed += [f"gamma={gamma_range}"] if gamma_range is not None else []
    listed += [f"beta_sal={beta_sal_range}"] if beta_sal_range is not None else []
    wanted = dict(_range(each) for each in listed)
    if len(wanted) < len(listed):
        raise click.UsageError("A number has several ranges; give one, with commas between its values.")
    with call.memory() as memory:
        with steps("Trying numbers"):
            found = memory.tuning.run(profile, ranges=wanted or None, dry_run=dry_run)
        call.show(searched(found, dry_run=dry_run))


@command(
    "set",
    "recollect tune set gamma=0.05 beta_sal=0.75 --profile limbic",
    "recollect tune set blend.meaning=0.7 --exactly",
)
@click.argument("values", metavar="NAME=N...", nargs=-1, required=True)
@PROFILE
@click.option("--exactly", is_flag=True, help="All the way; without it, a tenth of the way.")
@_DRY_RUN
def set_(call: Call, values: tuple[str, ...], profile: str | None, exactly: bool, dry_run: bool) -> None:
    """Move numbers of a profile, from the next answer on.

    A tenth of the way from what they are, so that no single guess turns the ranking over; say it again to
    move on, or --exactly to jump. `recollect profile show NAME` lists the numbers.
    """
    from recollect.cli.tune_reply import changed  # noqa: PLC0415  # loads the engine's records

    wanted = dict(_value(each) for each in values)
    if len(wanted) < len(values):
        raise click.UsageError("A number is given twice; give it once.")
    with call.memory() as memory:
        done = memory.tuning.set(wanted, profile, exactly=exactly, dry_run=dry_run)
        call.show(changed(done, dry_run=dry_run))


@command("reset", "recollect tune reset", "recollect tune reset --profile limbic --yes")
@PROFILE
@_DRY_RUN
@_YES
def reset(call: Call, profile: str | None, dry_run: bool, yes: bool) -> None:
    """Give a profile its published numbers back.

    What they were stays in the history; `recollect tune rollback` brings it back.
    """
    from recollect.cli.tune_reply import changed  # noqa: PLC0415  # loads the engine's records

    with call.memory() as memory:
        would = memory.tuning.reset(profile, dry_run=True)
        if would.before and not dry_run:
            confirm(f"Reset the profile {would.profile} to its published numbers?", yes=yes)
        call.show(changed(memory.tuning.reset(profile, dry_run=dry_run), dry_run=dry_run))


@command("history", "recollect tune history", "recollect tune history --profile limbic --json")
@PROFILE
@click.option(
    "-n", "--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Versions at most."
)
def history(call: Call, profile: str | None, limit: int) -> None:
    """List every set of numbers that a profile was given, the newest first.

    In a pipe, the fields of a line are: version, when, profile, why, numbers, gain.
    """
    from recollect.cli.tune_reply import listed  # noqa: PLC0415  # loads the engine's records

    with call.memory() as memory:
        found = memory.tuning.history(profile, limit)
        reply: Rows = listed(found, memory.parts.zone)
    call.show(reply)


@command(
    "rollback", "recollect tune rollback", "recollect tune rollback 3", "recollect tune rollback 0 --yes"
)
@click.argument("version", type=click.IntRange(0), required=False)
@PROFILE
@_DRY_RUN
@_YES
def rollback(call: Call, version: int | None, profile: str | None, dry_run: bool, yes: bool) -> None:
    """Give a profile the numbers of an earlier version back.

    Without a version, those before the last change, and said again, those before that. 0 is the profile as
    published. It is itself a new version; `recollect tune rollback VERSION` goes to any, so nothing is lost.
    """
    from recollect.cli.tune_reply import changed  # noqa: PLC0415  # loads the engine's records

    with call.memory() as memory:
        would = memory.tuning.rollback(version, profile, dry_run=True)
        if would.before and not dry_run:
            confirm(f"Give the profile {would.profile} its earlier numbers back?", yes=yes)
        call.show(changed(memory.tuning.rollback(version, profile, dry_run=dry_run), dry_run=dry_run))


@click.command(
    "tune",
    cls=Group,
    sections={"Commands": (analyze, run, set_, reset, history, rollback)},
    examples=(
        "recollect tune analyze",
        "recollect tune run --dry-run",
        "recollect tune run",
        "recollect tune history",
        "recollect tune rollback",
    ),
    invoke_without_command=True,
)
@click.pass_context
def tune(ctx: click.Context) -> None:
    """Fit a profile's numbers to how this memory is used.

    Every answer is logged on this machine with the ranking it would have had otherwise, and with what became
    of it. From that, `recollect tune run` finds better numbers, if there are any. The setting `shadow`
    switches the log off.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _range(given: str) -> tuple[str, tuple[float, ...]]:
    name, sign, values = given.partition("=")
    listed = [value for value in values.split(",") if value.strip()]
    if not name.strip() or not sign or not listed:
        raise click.UsageError(f"{given!r} is no range; write it as NAME=0.1,0.5,1.")
    return name.strip(), tuple(_number(value, given) for value in listed)


def _value(given: str) -> tuple[str, float]:
    name, sign, value = given.partition("=")
    if not name.strip() or not sign:
        raise click.UsageError(f"{given!r} says no number; write it as NAME=0.5.")
    return name.strip(), _number(value, given)


def _number(text: str, given: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise click.UsageError(f"In {given!r}, {text.strip()!r} is no number.") from None


def numbers_said(numbers: Mapping[str, float]) -> str:
    """`cooccurrence.gamma 0.014, salience.beta_sal 0.55`."""
    return ", ".join(f"{name} {value:.6g}" for name, value in numbers.items())
