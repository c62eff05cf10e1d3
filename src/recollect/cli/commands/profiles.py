"""`recollect profile`: the ways to rank, ours and the user's own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from recollect.cli.command import Call, command, group
from recollect.cli.options import all_profiles, complete_profile
from recollect.cli.rendering import (
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
from recollect.ranking.default_profile import DEFAULT_PROFILE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recollect.cli.rendering import Block
    from recollect.engine.tuning.tuning import ProfileNumbers
    from recollect.ranking.pipeline import Profile

_SIGNS = {"times": "× ", "plus": "+ "}
_ABOVE_TOML = "# For the end of the settings file. Give it a name of its own.\n"


class _Part(NamedTuple):
    """One search, or one step."""

    where: str
    """`retrieve` or `steps`."""
    name: str
    """`meaning`, `rrf`, `× salience`, `+ importance`, `keep limbic_score`."""
    numbers: Mapping[str, Any]
    about: str


@command("list", "recollect profile list", "recollect profile list --json | jq -r '.profiles[].name'")
def profile_list_command(call: Call) -> Result:
    """List the profiles, and say which is the default."""
    default = DEFAULT_PROFILE
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
    from recollect.ranking.steps.plain import to_plain

    profile = _profile_named(call, name)
    if as_toml:
        text = _profile_toml(to_plain(profile))
        return Result({"toml": text}, [Verbatim(f"{_ABOVE_TOML}{text}")])
    data, tuned = to_plain(profile), None
    if call.settings()[0].store.exists():
        numbers = call.memory().tuning.numbers(name)
        tuned = numbers if numbers.version else None
    if tuned is not None:
        data = {**data, "tuned": fields_of(tuned)}
    return Result(data, _profile_view(profile, tuned))


@command("diff", "recollect profile diff recollect limbic", "recollect profile diff limbic mine --json")
@click.argument("first", shell_complete=complete_profile)
@click.argument("second", shell_complete=complete_profile)
def profile_diff_command(call: Call, first: str, second: str) -> Result:
    """Show what differs between two profiles.

    In a pipe, the fields of a line are: `retrieve` or `steps`, name, numbers in the first, numbers in the
    second; `absent` where a profile lacks it.
    """
    one, other = _profile_named(call, first), _profile_named(call, second)
    found = list(_differences(_profile_parts(one), _profile_parts(other)))
    names = ("where", "name", "first", "second")
    differences = [dict(zip(names, each, strict=True)) for each in found]
    data = {"first": one.name, "second": other.name, "differences": differences}
    if not found:
        return Result(data, [titled(f"{one.name} and {other.name} rank alike.", "good")])
    columns = ("", "", Column(one.name, fill=True), Column(other.name, fill=True))
    rows = [
        (where, name, *("absent" if side is None else _numbers_text(side) for side in sides))
        for where, name, *sides in found
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


def _profile_view(profile: Profile, tuned: ProfileNumbers | None) -> Iterator[Block]:
    parts = _profile_parts(profile)
    yield Paragraph((Styled(profile.name, "entity"), f"  {profile.about}"))
    for title, where in (("Searches", "retrieve"), ("Steps", "steps")):
        rows = []
        for part in parts:
            if part.where == where:
                numbers = _numbers_text(part.numbers)
                shown = stacked(numbers, Styled(part.about, "muted"))
                rows.append((part.name, numbers, part.about, shown))
        columns = (Column(role="name", wrap="whole"), *[Column(only="pipe")] * 2, Column(only="terminal"))
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


def _profile_parts(profile: Profile) -> list[_Part]:
    """The searches and the steps, in order."""
    from recollect.ranking.steps.plain import RETRIEVERS, STEPS, to_plain  # loads NumPy

    plain = to_plain(profile)
    searches = [_part("retrieve", "by", item, RETRIEVERS) for item in plain["retrieve"]]
    return [*searches, *(_part("steps", "step", item, STEPS) for item in plain["steps"])]


def _differences(one: Sequence[_Part], other: Sequence[_Part]) -> Iterator[tuple[Any, ...]]:
    """Where, name, the numbers of each that differ; None for one that lacks it.

    A step that moved is missing in one place and new in another.
    """
    from difflib import SequenceMatcher  # only this command needs it

    names, other_names = ([part[:2] for part in parts] for parts in (one, other))
    matcher = SequenceMatcher(None, names, other_names, autojunk=False)
    for tag, start, end, other_start, other_end in matcher.get_opcodes():
        here, there = one[start:end], other[other_start:other_end]
        if tag != "equal":
            yield from ((part.where, part.name, part.numbers, None) for part in here)
            yield from ((part.where, part.name, None, part.numbers) for part in there)
            continue
        for part, its in zip(here, there, strict=True):
            differ = [name for name in part.numbers if part.numbers[name] != its.numbers[name]]
            if differ:
                sides = ({name: each.numbers[name] for name in differ} for each in (part, its))
                yield part.where, part.name, *sides


def _numbers_text(numbers: Mapping[str, Any]) -> str:
    """`k 60`; `beta_sal 0.5, d_max 15, off`. What is off is left out, unless there is nothing else to say."""
    texts = []
    for name, value in numbers.items():
        if isinstance(value, bool):
            texts += [name] if value and name != "on" else ["off"] if not value and name == "on" else []
        elif value is not None:
            texts.append(f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}")
    no = [f"no {name}" for name, value in numbers.items() if value is False]
    return ", ".join(texts or no)


def _profile_toml(plain: Mapping[str, Any]) -> str:
    """As it is written in the settings file."""
    lists = (
        f"{key} = [\n" + "".join(f"  {_toml(item)},\n" for item in plain[key]) + "]"
        for key in ("retrieve", "steps")
    )
    named = (f"{key} = {_toml(plain[key])}" for key in ("name", "about"))
    return "\n".join(["[[profiles]]", *named, *lists])


def _part(where: str, key: str, item: Mapping[str, Any], known: Mapping[str, type]) -> _Part:
    from recollect.ranking.factors.catalogue import FACTORS  # loads NumPy

    name = item[key]
    numbers = {field_: value for field_, value in item.items() if field_ != key}
    kind = known[name]
    factor = next((value for value in numbers.values() if isinstance(value, dict)), None)
    if factor is not None:
        own = {field_: value for field_, value in numbers.items() if value is not factor}
        numbers = {field_: value for field_, value in factor.items() if field_ != "factor"} | own
        if name in _SIGNS:
            kind = FACTORS[factor["factor"]]
            name = f"{_SIGNS[name]}{factor['factor']}"
    elif name == "keep":
        name = f"keep {numbers.pop('name')}"
    return _Part(where, name, numbers, (kind.__doc__ or "").partition("\n")[0])


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        pairs = [f"{key} = {_toml(each)}" for key, each in value.items() if each is not None]
        return f"{{ {', '.join(pairs)} }}"
    # What JSON makes of a text, a number or a truth is TOML too.
    return json.dumps(value, ensure_ascii=False)
