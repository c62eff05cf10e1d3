"""`recollect profile`: the ways to rank, ours and the user's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recollect.cli.command import command, group
from recollect.cli.options import default_profile
from recollect.cli.resolve import all_profiles, complete_profile
from recollect.cli.results import Column, Paragraph, Result, Styled, Table, Verbatim, stacked, table_result
from recollect.cli.shapes import fields_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from recollect.cli.call import Call
    from recollect.cli.profile_parts import ProfileDifference, ProfilePart
    from recollect.cli.results import Block, Words
    from recollect.engine.tuning.tuning import ProfileNumbers
    from recollect.ranking.pipeline import Profile

_ABOVE_TOML = "# For the end of the settings file. Give it a name of its own.\n"


@command("list", "recollect profile list", "recollect profile list --json | jq -r '.profiles[].name'")
def profile_list_command(call: Call) -> Result:
    """List the profiles, and say which is the default."""
    default = default_profile()
    own = {each.name for each in call.settings()[0].profiles}
    profiles = [
        {"name": each.name, "about": each.about, "default": each.name == default, "own": each.name in own}
        for each in all_profiles(call).values()
    ]
    rows = []
    for each in profiles:
        marks = [word for word, key in (("default", "default"), ("yours", "own")) if each[key]]
        rows.append((str(each["name"]), ", ".join(marks), str(each["about"])))
    columns = ("Profile", "", "What it does")
    data = {"default": default, "profiles": profiles}
    return table_result(data, columns, rows, "Look inside one: recollect profile show NAME")


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
    from recollect.cli.profile_parts import numbers_text, profile_parts, profile_toml  # loads NumPy
    from recollect.ranking.steps.plain import to_plain

    profile = _profile_named(call, name)
    if as_toml:
        text = profile_toml(profile)
        return Result({"toml": text}, [Verbatim(f"{_ABOVE_TOML}{text}")])
    parts, numbers = profile_parts(profile), _tuned_numbers(call, name)
    data = to_plain(profile)
    lines: list[tuple[str, ...]] = [
        (part.where, part.name, numbers_text(part.numbers), part.about) for part in parts
    ]
    if numbers is not None:
        data = {**data, "tuned": fields_of(numbers)}
        lines += [
            ("tuned", name, f"{value:.6g}", f"{numbers.published[name]:.6g}")
            for name, value in numbers.tuned.items()
        ]
    return Result(data, _profile_view(profile, parts, numbers), lines)


@command("diff", "recollect profile diff recollect limbic", "recollect profile diff limbic mine --json")
@click.argument("first", shell_complete=complete_profile)
@click.argument("second", shell_complete=complete_profile)
def profile_diff_command(call: Call, first: str, second: str) -> Result:
    """Show what differs between two profiles.

    In a pipe, the fields of a line are: `retrieve` or `steps`, name, numbers in the first, numbers in the
    second; `absent` where a profile lacks it.
    """
    from recollect.cli.profile_parts import profile_differences  # loads NumPy

    one, other = _profile_named(call, first), _profile_named(call, second)
    found = profile_differences(one, other)
    data = {"first": one.name, "second": other.name, "differences": found}
    lines = [
        (each.where, each.name, _numbers(each.first, "absent"), _numbers(each.second, "absent"))
        for each in found
    ]
    return Result(data, _difference_view(one, other, found), lines)


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


def _tuned_numbers(call: Call, name: str) -> ProfileNumbers | None:
    """The profile's numbers in this memory, if there is one and it has tuned them."""
    if not call.settings()[0].store.exists():
        return None
    numbers = call.memory().tuning.numbers(name)
    return numbers if numbers.version else None


def _profile_view(
    profile: Profile, parts: Sequence[ProfilePart], tuned: ProfileNumbers | None
) -> Iterator[Block]:
    yield Paragraph((Styled(profile.name, "entity"), f"  {profile.about}"))
    for title, where in (("Searches", "retrieve"), ("Steps", "steps")):
        rows = [
            (str(place), part.name, stacked(_numbers(part.numbers), Styled(part.about, "muted")))
            for place, part in enumerate((part for part in parts if part.where == where), start=1)
        ]
        columns = (Column(role="muted", right=True, width=3), Column(role="name", wrap="whole"), Column())
        yield Paragraph(Styled(f"\n{title}", "strong"))
        yield Table(columns, rows, grid=True)
    if tuned is not None:
        columns = (Column(role="name", wrap="whole"), Column(right=True), Column(role="muted"))
        numbers = [
            (name, f"{value:.6g}", f"published {tuned.published[name]:.6g}")
            for name, value in tuned.tuned.items()
        ]
        yield Paragraph(Styled(f"\nTuned, version {tuned.version}", "strong"))
        yield Table(columns, numbers, grid=True) if numbers else Paragraph(Styled("as published", "muted"))
        if tuned.note:
            yield Paragraph(Styled(tuned.note, "changed"))


def _difference_view(
    first: Profile, second: Profile, differences: Sequence[ProfileDifference]
) -> Iterator[Block]:
    if not differences:
        yield Paragraph(Styled(f"{first.name} and {second.name} rank alike.", "good"))
        return
    columns = ("", Column(first.name, fill=True), Column(second.name, fill=True))
    rows = [
        (f"by {each.name}" if each.where == "retrieve" else each.name, _side(each.first), _side(each.second))
        for each in differences
    ]
    yield Table(columns, rows)


def _side(numbers: Mapping[str, Any] | None) -> Words:
    return Styled("–", "muted") if numbers is None else _numbers(numbers) or "✓"


def _numbers(numbers: Mapping[str, Any] | None, otherwise: str = "") -> str:
    from recollect.cli.profile_parts import numbers_text  # loads NumPy

    return otherwise if numbers is None else numbers_text(numbers)
