"""Read and change the parameters of a profile by name (its knobs), and list values to try.

A name is `owner.field`, such as `blend.meaning` or `cooccurrence.gamma`. The owner is a step, or the factor
that the step applies. A repeated name gets a suffix: `rrf.k`, `rrf.k_2`.

The number of candidates to fetch is not a knob. The log has only candidates that were fetched, so other
numbers cannot be tried on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass
from recollect.ranking.factors import FACTORS
from recollect.ranking.profiles import from_plain, to_plain
from recollect.ranking.steps import STEPS

if TYPE_CHECKING:
    from recollect.ranking.candidates import Profile

EASE = 0.1
"""A change goes this share of the way to the new value (exponential moving average)."""
MOST_POINTS = 1_000
_LIMBIC: dict[str, tuple[float, ...]] = {
    "cooccurrence.gamma": (0.001, 0.005, 0.01, 0.05, 0.1),
    "salience.beta_sal": (0.1, 0.25, 0.5, 0.75, 1.0),
}
"""The two knobs of the published tuner, and the values that it tries in all combinations."""
_MULTIPLES = (0.25, 0.5, 0.8, 1.25, 2.0, 4.0)

Point = dict[str, float]
_NAMES: dict[type, str] = {kind: name for known in (STEPS, FACTORS) for name, kind in known.items()}


@dataclass(frozen=True, slots=True)
class Knob:
    """A parameter of a profile: its step, and the path of fields to it."""

    name: str
    step: int
    path: tuple[str, ...]
    value: float


def knobs_of(profile: Profile) -> dict[str, float]:
    """Return the value of every parameter, in the order of the steps."""
    return {knob.name: knob.value for knob in knobs_with_places(profile)}


def knobs_with_places(profile: Profile) -> tuple[Knob, ...]:
    uses: dict[str, int] = {}
    found = []
    for place, step in enumerate(profile.steps):
        for path, owner, value in _numbers(step, ()):
            name = f"{owner}.{path[-1]}"
            uses[name] = uses.get(name, 0) + 1
            unique = name if uses[name] == 1 else f"{name}_{uses[name]}"
            found.append(Knob(unique, place, path, value))
    return tuple(found)


def with_knobs(profile: Profile, values: Mapping[str, float]) -> Profile:
    """Return the profile with these values; raise if it rejects them. For short names, see `full_names`."""
    given = full_names(profile, values)
    steps = list(profile.steps)
    for knob in knobs_with_places(profile):
        if knob.name in given:
            steps[knob.step] = _replace_at(steps[knob.step], knob.path, given[knob.name])
    try:
        return from_plain(to_plain(replace(profile, steps=tuple(steps))))
    except InvalidInput as error:
        numbers = ", ".join(f"{name} = {value:g}" for name, value in given.items())
        raise InvalidInput(f"{numbers} cannot be used: {error}") from error


def full_names(profile: Profile, values: Mapping[str, float]) -> dict[str, float]:
    """Return the values under the full names of their parameters.

    A short name in any case is enough if it is unambiguous: `GAMMA`, `beta-sal`, `Cooccurrence.gamma`.
    """
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


def eased(old: Mapping[str, float], new: Mapping[str, float]) -> dict[str, float]:
    """Return 0.9 * old + 0.1 * new, for each name in `new`."""
    return {name: (1 - EASE) * old[name] + EASE * value for name, value in new.items()}


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
    """Yield the path, owner and value of every number in a step."""
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


def _replace_at(value: Any, path: tuple[str, ...], number: float) -> Any:
    first, *rest = path
    inner = _replace_at(getattr(value, first), tuple(rest), number) if rest else number
    return replace(value, **{first: inner})


def points_for(profile: Profile, ranges: Mapping[str, Sequence[float]] | None = None) -> list[Point]:
    """Return sets of values to try; the present ones come first.

    With ranges, these are all combinations. Without, they vary gamma and beta_sal if the profile has both, or
    else each parameter alone, from a quarter to four times its value.
    """
    now = knobs_of(profile)
    if ranges is None and not _LIMBIC.keys() <= now.keys():
        return [now, *_one_by_one(profile, now)]
    wanted = _LIMBIC if ranges is None else _check_ranges(profile, ranges)
    present = {name: now[name] for name in wanted}
    count = prod(len(values) for values in wanted.values())
    if count > MOST_POINTS:
        raise InvalidInput(
            f"These ranges make {count:,} combinations; at most {MOST_POINTS:,} are tried. "
            "Give fewer values, or search some numbers first and the others later."
        )
    combined = [dict(zip(wanted, values, strict=True)) for values in product(*wanted.values())]
    return [present, *(point for point in combined if point != present)]


def _check_ranges(profile: Profile, ranges: Mapping[str, Sequence[float]]) -> dict[str, tuple[float, ...]]:
    """Return the ranges under full names; raise if the profile rejects a value."""
    if not ranges:
        raise InvalidInput("Give at least one range of numbers to try, or none for the usual ones.")
    found: dict[str, tuple[float, ...]] = {}
    for given, values in ranges.items():
        if not len(values):
            raise InvalidInput(f"The range of {given!r} is empty; give at least one number.")
        for value in values:
            (name,) = full_names(profile, {given: value})
            with_knobs(profile, {name: value})
        if name in found:
            raise InvalidInput(f"{name} has two ranges; give it one.")
        found[name] = tuple(dict.fromkeys(float(value) for value in values))
    return found


def _one_by_one(profile: Profile, now: Point) -> list[Point]:
    points = []
    for name, value in now.items():
        # A value between 0 and 1 may be a share, so do not try values above 1.
        tried = dict.fromkeys(min(value * by, 1.0) if 0 < value <= 1 else value * by for by in _MULTIPLES)
        for number in tried:
            point = now | {name: number}
            with suppress(InvalidInput):  # a step may have its own bounds
                if number != value:
                    with_knobs(profile, point)
                    points.append(point)
    return points
