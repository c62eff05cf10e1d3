"""`recollect profile`: the ways to rank, ours and the user's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recollect.cli.call import Call
from recollect.cli.command import Group, command
from recollect.cli.replies import Compared, Done, Profiled, Rows
from recollect.errors import RecollectError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from click.shell_completion import CompletionItem

    from recollect.engine.tuning import Numbers
    from recollect.rank.pipeline import Profile

_TO_BEGIN = "# For the end of the settings file. Give it a name of its own.\n"


def completed(ctx: click.Context, begun: str) -> list[CompletionItem]:
    """For the tab key: the profiles whose name begins so."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415  # only the tab key needs it

    try:
        known = _known(ctx.ensure_object(Call))
    except RecollectError:  # settings that cannot be read: the command itself will say so
        return []
    return [
        CompletionItem(each.name, help=each.about) for each in known.values() if each.name.startswith(begun)
    ]


def _completed(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    return completed(ctx, begun)


@command("list", "recollect profile list", "recollect profile list --json | jq -r '.profiles[].name'")
def list_(call: Call) -> None:
    """List the profiles, and say which is the default."""
    from recollect.rank.profiles import DEFAULT  # noqa: PLC0415  # loads NumPy

    own = {each.name for each in call.settings()[0].profiles}
    known = _known(call).values()
    data = {
        "default": DEFAULT,
        "profiles": [
            {"name": each.name, "about": each.about, "default": each.name == DEFAULT, "own": each.name in own}
            for each in known
        ],
    }
    rows = [(each.name, _mark(each.name, DEFAULT, own), each.about) for each in known]
    footer = "Look inside one: recollect profile show NAME"
    call.show(Rows(data, ("Profile", "", "What it does"), rows, footer=footer))


@command(
    "show",
    "recollect profile show limbic",
    "recollect profile show limbic --toml   # to begin one of your own",
    "recollect profile show limbic --json",
)
@click.argument("name", shell_complete=_completed)
@click.option("--toml", "as_toml", is_flag=True, help="As it is written in the settings file.")
def show(call: Call, name: str, as_toml: bool) -> None:
    """Show a profile's searches and steps with their numbers.

    As published; where this memory has tuned some of them, those stand beside.

    In a pipe, the fields of a line are: `retrieve` or `steps`, name, numbers, what it does; then `tuned`,
    name, number, the published one.
    """
    from recollect.cli.recipe import toml  # noqa: PLC0415  # loads NumPy

    chosen = _named(call, name)
    if as_toml:
        text = toml(chosen)
        call.show(Done(text, {"toml": text})) if call.json else click.echo(f"{_TO_BEGIN}{text}")
    else:
        call.show(Profiled(chosen, _tuned(call, name)))


@command("diff", "recollect profile diff recollect limbic", "recollect profile diff limbic mine --json")
@click.argument("first", shell_complete=_completed)
@click.argument("second", shell_complete=_completed)
def diff(call: Call, first: str, second: str) -> None:
    """Show what differs between two profiles.

    In a pipe, the fields of a line are: `retrieve` or `steps`, name, numbers in the first, numbers in the
    second; `absent` where a profile lacks it.
    """
    from recollect.cli.recipe import differences  # noqa: PLC0415  # loads NumPy

    one, other = _named(call, first), _named(call, second)
    call.show(Compared(one, other, differences(one, other)))


@click.command(
    "profile",
    cls=Group,
    sections={"Commands": (list_, show, diff)},
    examples=(
        "recollect profile list",
        "recollect profile show limbic",
        "recollect profile diff recollect limbic",
    ),
    invoke_without_command=True,
)
@click.pass_context
def profile(ctx: click.Context) -> None:
    """List, show and compare the ways to rank.

    A profile says what to search for, and by which steps the hits are scored. `--profile NAME` of search,
    recall and why-not takes one. Your own are [[profiles]] tables in the settings file; begin with what
    `recollect profile show NAME --toml` prints.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _known(call: Call) -> Mapping[str, Profile]:
    """The built-in ones, and the user's own, which may take the place of one."""
    from recollect.rank.profiles import PROFILES  # noqa: PLC0415  # loads NumPy

    return {**PROFILES, **{each.name: each for each in call.settings()[0].profiles}}


def _named(call: Call, name: str) -> Profile:
    from recollect.rank.profiles import profile_named  # noqa: PLC0415  # loads NumPy

    return profile_named(name, _known(call))


def _tuned(call: Call, name: str) -> Numbers | None:
    """The profile's numbers in this memory, if there is one and it has tuned them."""
    if not call.settings()[0].store.exists():
        return None
    with call.memory() as memory:
        numbers = memory.tuning.numbers(name)
    return numbers if numbers.version else None


def _mark(name: str, default: str, own: set[str]) -> str:
    return ", ".join([*(["default"] if name == default else []), *(["yours"] if name in own else [])])
