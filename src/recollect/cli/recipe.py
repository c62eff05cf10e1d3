"""A profile taken apart: its searches and steps, their numbers, and what differs between two."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Literal

from recollect.factors.catalogue import FACTORS
from recollect.rank.plain import RETRIEVERS, STEPS, to_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.rank.pipeline import Profile

Where = Literal["retrieve", "steps"]
_SIGNS = {"times": "× ", "plus": "+ "}


@dataclass(frozen=True, slots=True)
class Part:
    """One search, or one step."""

    where: Where
    name: str
    """`meaning`, `rrf`, `× salience`, `+ importance`, `keep limbic_score`."""
    numbers: Mapping[str, Any]
    about: str = field(compare=False)

    @property
    def said(self) -> str:
        """`k 60`; `beta_sal 0.5, d_max 15, off`. Empty where there is nothing to set."""
        return said(self.numbers)


@dataclass(frozen=True, slots=True)
class Difference:
    """A part that one profile lacks (None), or the numbers in which both differ."""

    where: Where
    name: str
    first: Mapping[str, Any] | None
    second: Mapping[str, Any] | None


def parts(profile: Profile) -> list[Part]:
    """The searches and the steps, in order."""
    plain = to_plain(profile)
    searches = [_part("retrieve", "by", item, RETRIEVERS) for item in plain["retrieve"]]
    return [*searches, *(_part("steps", "step", item, STEPS) for item in plain["steps"])]


def differences(first: Profile, second: Profile) -> tuple[Difference, ...]:
    """Empty for profiles that rank alike. A step that moved is missing in one place and new in another."""
    one, other = parts(first), parts(second)
    matcher = SequenceMatcher(
        a=[_key(part) for part in one], b=[_key(part) for part in other], autojunk=False
    )
    found: list[Difference] = []
    for tag, start, end, other_start, other_end in matcher.get_opcodes():
        here, there = one[start:end], other[other_start:other_end]
        if tag == "equal":
            found += [
                _numbers_apart(a, b) for a, b in zip(here, there, strict=True) if a.numbers != b.numbers
            ]
        else:
            found += [Difference(part.where, part.name, part.numbers, None) for part in here]
            found += [Difference(part.where, part.name, None, part.numbers) for part in there]
    return tuple(found)


def said(numbers: Mapping[str, Any]) -> str:
    """Something that is off is not worth a word, unless there is nothing else to say."""
    return ", ".join(_said(numbers)) or ", ".join(
        f"no {name}" for name, value in numbers.items() if value is False and name != "on"
    )


def toml(profile: Profile) -> str:
    """As it is written in the settings file."""
    plain = to_plain(profile)
    lists = (
        f"{key} = [\n" + "".join(f"  {_toml(item)},\n" for item in plain[key]) + "]"
        for key in ("retrieve", "steps")
    )
    named = (f"{key} = {_toml(plain[key])}" for key in ("name", "about"))
    return "\n".join(["[[profiles]]", *named, *lists])


def _part(where: Where, key: str, item: Mapping[str, Any], known: Mapping[str, type]) -> Part:
    name = item[key]
    numbers = {field_: value for field_, value in item.items() if field_ != key}
    about = known[name]
    factor = next((value for value in numbers.values() if isinstance(value, dict)), None)
    if factor is not None:
        numbers = {field_: value for field_, value in numbers.items() if value is not factor}
        numbers = {**factor, **numbers}
        del numbers["factor"]
        if name in _SIGNS:
            about = FACTORS[factor["factor"]]
            name = f"{_SIGNS[name]}{factor['factor']}"
    elif name == "keep":
        name = f"keep {numbers.pop('name')}"
    return Part(where, name, numbers, _about(about))


def _about(kind: type) -> str:
    """The first line of what its author says of it; factors say it at the top of their file."""
    own = kind.__doc__ or ""
    if own and not own.startswith(f"{kind.__name__}("):  # else made by dataclass
        return own.partition("\n")[0]
    above = (sys.modules[kind.__module__].__doc__ or "").partition("\n")[0]
    said_of_it = above.partition(": ")[2] or above
    return said_of_it[:1].upper() + said_of_it[1:]


def _key(part: Part) -> tuple[str, str]:
    return part.where, part.name


def _numbers_apart(a: Part, b: Part) -> Difference:
    apart = [name for name in a.numbers if a.numbers[name] != b.numbers[name]]
    return Difference(
        a.where, a.name, {name: a.numbers[name] for name in apart}, {name: b.numbers[name] for name in apart}
    )


def _said(numbers: Mapping[str, Any]) -> Iterator[str]:
    for name, value in numbers.items():
        if name == "on":
            if not value:
                yield "off"
        elif isinstance(value, bool):
            if value:
                yield name
        elif value is not None:
            yield f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        inside: Sequence[str] = [f"{key} = {_toml(each)}" for key, each in value.items() if each is not None]
        return f"{{ {', '.join(inside)} }}"
    # What JSON makes of a text, a number or a truth is TOML too.
    return json.dumps(value, ensure_ascii=False)
