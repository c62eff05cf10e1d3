"""`recollect profile`: the ways to rank, ours and the user's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recollect.cli.command import Call, command, group
from recollect.cli.options import all_profiles, complete_profile, default_profile
from recollect.cli.rendering import (
    PIPE_ONLY,
    Column,
    Paragraph,
    Result,
    Styled,
    Table,
    Verbatim,
    fields_of,
    stacked,
    titled,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recollect.cli.profile_parts import ProfilePart
    from recollect.cli.rendering import Block
    from recollect.engine.tuning.tuning import ProfileNumbers
    from recollect.ranking.pipeline import Profile

_ABOVE_TOML = "# For the end of the settings file. Give it a name of its own.\n"


@command("list", "recollect profile list", "recollect profile list --json | jq -r '.profiles[].name'")
def profile_list_command(call: Call) -> Result:
    """List the profiles, and say which is the default."""
    default = default_profile()
    own = {each.name for each in call.settings()[0].profiles}
    profiles, rows = [], []
    for each in all_profiles(call).values():
        is_default, is_own = each.name == default, each.name in own
        profiles.append({"name": each.name, "about": each.about, "default": is_default, "own": is_own})
        marks = [word for word, holds in (("default", is_default), ("yours", is_own)) if holds]
        rows.append((each.name, ", ".join(marks), each.about))
    data = {"default": default, "profiles": profiles}
    columns = ("Profile", "", "What it does")
    return Result.table(data, columns, rows, "Look inside one: recollect profile show NAME")


@command(
    "show",
    "recollect profile show limbic",
    "recollect profile show limbic --toml   # to begin one of your own",
    "recollect profile show limbic --json",
)
@click.argument("name", shell_complete=complete_profile)
@click.option("--toml", "as_toml", is_flag=True, help="As it is written in the settings file.")
def profile_show_command(call: Call, name: str, as_toml: bool) -> Result:
    """Show a profile's searches and steps with their numbers.

    The numbers are those published; where this memory has tuned some, those stand beside them.

    In a pipe, the fields of a line are: `retrieve` or `steps`, name, numbers, what it does; then `tuned`,
    name, number, the published one.
    """
    from recollect.cli.profile_parts import profile_parts, profile_toml  # loads NumPy
    from recollect.ranking.steps.plain import to_plain

    profile = _profile_named(call, name)
    if as_toml:
        text = profile_toml(profile)
        return Result({"toml": text}, [Verbatim(f"{_ABOVE_TOML}{text}")])
    data, tuned = to_plain(profile), None
    if call.settings()[0].store.exists():
        numbers = call.memory().tuning.numbers(name)
        tuned = numbers if numbers.version else None
    if tuned is not None:
        data = {**data, "tuned": fields_of(tuned)}
    return Result(data, _profile_view(profile, profile_parts(profile), tuned))


@command("diff", "recollect profile diff recollect limbic", "recollect profile diff limbic mine --json")
@click.argument("first", shell_complete=complete_profile)
@click.argument("second", shell_complete=complete_profile)
def profile_diff_command(call: Call, first: str, second: str) -> Result:
    """Show what differs between two profiles.

    In a pipe, the fields of a line are: `retrieve` or `steps`, name, numbers in the first, numbers in the
    second; `absent` where a profile lacks it.
    """
    from recollect.cli.profile_parts import numbers_text, profile_differences  # loads NumPy

    one, other = _profile_named(call, first), _profile_named(call, second)
    found = profile_differences(one, other)
    data = {"first": one.name, "second": other.name, "differences": found}
    if not found:
        return Result(data, [titled(f"{one.name} and {other.name} rank alike.", "good")])
    columns = ("", "", Column(one.name, fill=True), Column(other.name, fill=True))
    rows = [
        (
            *(each.where, each.name),
            *("absent" if side is None else numbers_text(side) for side in (each.first, each.second)),
        )
        for each in found
    ]
    return Result(data, [Table(columns, rows)])


@group(
    "profile",
    (profile_list_command, profile_show_command, profile_diff_command),
    "recollect profile list",
    "recollect profile show limbic",
    "recollect profile diff recollect limbic",
)
def profile_command(_: Call) -> None:
    """List, show and compare the ways to rank.

    A profile says what to search for, and by which steps the hits are scored. `--profile NAME` of search,
    recall and why-not takes one. Your own are [[profiles]] tables in the settings file; begin with what
    `recollect profile show NAME --toml` prints.
    """


def _profile_named(call: Call, name: str) -> Profile:
    from recollect.ranking.profiles import profile_named  # loads NumPy

    return profile_named(name, all_profiles(call))


def _profile_view(
    profile: Profile, parts: Sequence[ProfilePart], tuned: ProfileNumbers | None
) -> Iterator[Block]:
    from recollect.cli.profile_parts import numbers_text  # loads NumPy

    yield Paragraph((Styled(profile.name, "entity"), f"  {profile.about}"))
    for title, where in (("Searches", "retrieve"), ("Steps", "steps")):
        rows = []
        for part in parts:
            if part.where == where:
                numbers = numbers_text(part.numbers)
                shown = stacked(numbers, Styled(part.about, "muted"))
                rows.append((part.name, numbers, part.about, shown))
        columns = (Column(role="name", wrap="whole"), *[PIPE_ONLY] * 2, Column(only="terminal"))
        yield titled(f"\n{title}")
        yield Table(columns, rows, where, grid=True)
    if tuned is not None:
        yield titled(f"\nTuned, version {tuned.version}")
        changed = [
            (name, f"{value:.6g}", f"{tuned.published[name]:.6g}") for name, value in tuned.tuned.items()
        ]
        if changed:
            yield Table(("Number", Column("now", right=True), Column("published")), changed, "tuned")
        else:
            yield titled("as published", "muted")
        if tuned.note:
            yield titled(tuned.note, "changed")
