"""A profile taken apart: its searches and steps, their numbers, and what differs between two."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Literal

from recollect.ranking.factors.catalogue import FACTORS
from recollect.ranking.steps.plain import RETRIEVERS, STEPS, to_plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.ranking.pipeline import Profile

Where = Literal["retrieve", "steps"]
_SIGNS = {"times": "× ", "plus": "+ "}


@dataclass(frozen=True, slots=True)
class ProfilePart:
    """One search, or one step."""

    where: Where
    name: str
    """`meaning`, `rrf`, `× salience`, `+ importance`, `keep limbic_score`."""
    numbers: Mapping[str, Any]
    about: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class ProfileDifference:
    """A part that one profile lacks (None), or the numbers in which both differ."""

    where: Where
    name: str
    first: Mapping[str, Any] | None
    second: Mapping[str, Any] | None


def profile_parts(profile: Profile) -> list[ProfilePart]:
    """The searches and the steps, in order."""
    plain = to_plain(profile)
    searches = [_part("retrieve", "by", item, RETRIEVERS) for item in plain["retrieve"]]
    return [*searches, *(_part("steps", "step", item, STEPS) for item in plain["steps"])]


def profile_differences(first: Profile, second: Profile) -> list[ProfileDifference]:
    """Empty for profiles that rank alike. A step that moved is missing in one place and new in another."""
    one, other = profile_parts(first), profile_parts(second)
    matcher = SequenceMatcher(
        a=[(part.where, part.name) for part in one],
        b=[(part.where, part.name) for part in other],
        autojunk=False,
    )
    found: list[ProfileDifference] = []
    for tag, start, end, other_start, other_end in matcher.get_opcodes():
        here, there = one[start:end], other[other_start:other_end]
        if tag == "equal":
            for part, its in zip(here, there, strict=True):
                names = [name for name in part.numbers if part.numbers[name] != its.numbers[name]]
                sides = [{name: each.numbers[name] for name in names} for each in (part, its)]
                found += [ProfileDifference(part.where, part.name, *sides)] if names else []
        else:
            found += [ProfileDifference(part.where, part.name, part.numbers, None) for part in here]
            found += [ProfileDifference(part.where, part.name, None, part.numbers) for part in there]
    return found


def numbers_text(numbers: Mapping[str, Any]) -> str:
    """`k 60`; `beta_sal 0.5, d_max 15, off`. What is off is left out, unless there is nothing else to say."""
    texts = []
    for name, value in numbers.items():
        if isinstance(value, bool):
            texts += [name] if value and name != "on" else ["off"] if not value and name == "on" else []
        elif value is not None:
            texts.append(f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}")
    no = [f"no {name}" for name, value in numbers.items() if value is False]
    return ", ".join(texts or no)


def profile_toml(profile: Profile) -> str:
    """As it is written in the settings file."""
    plain = to_plain(profile)
    lists = (
        f"{key} = [\n" + "".join(f"  {_toml(item)},\n" for item in plain[key]) + "]"
        for key in ("retrieve", "steps")
    )
    named = (f"{key} = {_toml(plain[key])}" for key in ("name", "about"))
    return "\n".join(["[[profiles]]", *named, *lists])


def _part(where: Where, key: str, item: Mapping[str, Any], known: Mapping[str, type]) -> ProfilePart:
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
    return ProfilePart(where, name, numbers, (kind.__doc__ or "").partition("\n")[0])


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        pairs = [f"{key} = {_toml(each)}" for key, each in value.items() if each is not None]
        return f"{{ {', '.join(pairs)} }}"
    # What JSON makes of a text, a number or a truth is TOML too.
    return json.dumps(value, ensure_ascii=False)
