"""Every number of a profile by a readable name, and a profile with other numbers.

Names are `owner.field`, the owner being the step, or the factor that a step multiplies or adds by:
`cooccurrence.gamma`, `blend.meaning`. A name that comes again gets a number: `rrf.k`, `rrf.k_2`.

How many candidates the searches fetch is no knob: a log holds only what was fetched, so no other number can
be tried on it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.factors.catalogue import FACTORS
from recollect.rank.plain import STEPS, from_plain, to_plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from recollect.rank.pipeline import Profile

EASE = 0.1
"""Share of a new number in what is applied; the rest is the old one (exponential moving average)."""
_NAMES: dict[type, str] = {kind: name for known in (STEPS, FACTORS) for name, kind in known.items()}


@dataclass(frozen=True, slots=True)
class Knob:
    """Where a number stands: which step, and the way through its fields."""

    name: str
    step: int
    path: tuple[str, ...]
    value: float


def knobs_of(profile: Profile) -> dict[str, float]:
    """Every number of the steps, in the order in which they are used."""
    return {knob.name: knob.value for knob in located(profile)}


def located(profile: Profile) -> tuple[Knob, ...]:
    """The same, with where each stands."""
    seen: dict[str, int] = {}
    found = []
    for place, step in enumerate(profile.steps):
        for path, owner, value in _numbers(step, ()):
            name = f"{owner}.{path[-1]}"
            seen[name] = seen.get(name, 0) + 1
            unique = name if seen[name] == 1 else f"{name}_{seen[name]}"
            found.append(Knob(unique, place, path, value))
    return tuple(found)


def with_knobs(profile: Profile, values: Mapping[str, float]) -> Profile:
    """The profile with these numbers, checked as any profile is; names may be short, see `full_names`."""
    given = full_names(profile, values)
    steps = list(profile.steps)
    for knob in located(profile):
        if knob.name in given:
            steps[knob.step] = _replaced(steps[knob.step], knob.path, given[knob.name])
    try:
        return from_plain(to_plain(replace(profile, steps=tuple(steps))))
    except InvalidInput as error:
        numbers = ", ".join(f"{name} = {value:g}" for name, value in given.items())
        raise InvalidInput(f"{numbers} cannot be used: {error}") from error


def full_names(profile: Profile, values: Mapping[str, float]) -> dict[str, float]:
    """The numbers under their full names. A short name will do where one knob alone has it, in any case:
    `GAMMA`, `beta-sal`, `Cooccurrence.gamma`."""
    known = knobs_of(profile)
    found: dict[str, float] = {}
    for given, value in values.items():
        name = _full_name(given, tuple(known), profile)
        if name in found:
            raise InvalidInput(f"{name} is given twice; give it once.")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidInput(f"{name} must be a number, not {value!r}.")
        found[name] = float(value)
    return found


def eased(old: Mapping[str, float], new: Mapping[str, float], share: float = EASE) -> dict[str, float]:
    """(1 - share) * old + share * new, for each name in `new`."""
    if not 0 < share <= 1:
        raise InvalidInput(f"The share of the new numbers must be above 0 and at most 1, not {share!r}.")
    return {name: (1 - share) * old[name] + share * value for name, value in new.items()}


def _full_name(given: str, known: tuple[str, ...], profile: Profile) -> str:
    wanted = given.strip().lower().replace("-", "_")
    matches = [name for name in known if name == wanted] or [
        name for name in known if name.split(".")[1] == wanted
    ]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise InvalidInput(f"{given[:40]!r} could be {' or '.join(matches)}; give the full name.")
    raise InvalidInput(
        f"Profile {profile.name!r} has no number named {given[:40]!r} that can be tuned; "
        f"there are: {', '.join(known) or 'none'}."
    )


def _numbers(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str, float]]:
    """Every number in a step: where it is, and what it belongs to."""
    owner = _NAMES[type(value)]
    inner = [getattr(value, each.name) for each in fields(value)]
    named = next((_NAMES[type(one)] for one in inner if is_dataclass(one) and type(one) in _NAMES), None)
    if owner in ("times", "plus") and named:
        owner = named
    for each, content in zip(fields(value), inner, strict=True):
        here = (*path, each.name)
        if is_dataclass(content):
            yield from _numbers(content, here)
        elif isinstance(content, int | float) and not isinstance(content, bool):
            yield here, owner, float(content)


def _replaced(value: Any, path: tuple[str, ...], number: float) -> Any:
    first, *rest = path
    inner = _replaced(getattr(value, first), tuple(rest), number) if rest else number
    return replace(value, **{first: inner})
