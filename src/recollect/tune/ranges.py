"""Which numbers to try."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput
from recollect.tune.knobs import full_names, knobs_of, with_knobs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recollect.rank.pipeline import Profile

MOST_POINTS = 1_000
LIMBIC: dict[str, tuple[float, ...]] = {
    "cooccurrence.gamma": (0.001, 0.005, 0.01, 0.05, 0.1),
    "salience.beta_sal": (0.1, 0.25, 0.5, 0.75, 1.0),
}
"""The two that the published tuner searches, where a profile has both: all combinations."""
_MULTIPLES = (0.25, 0.5, 0.8, 1.25, 2.0, 4.0)

Point = dict[str, float]


def points_for(profile: Profile, ranges: Mapping[str, Sequence[float]] | None = None) -> list[Point]:
    """Sets of numbers to try; the present ones come first.

    With ranges, all combinations of them. Without, gamma and beta_sal where there are both; else each number
    of the profile by itself, from a quarter to four times what it is.
    """
    now = knobs_of(profile)
    if ranges is None and not LIMBIC.keys() <= now.keys():
        return [now, *_one_by_one(profile, now)]
    wanted = LIMBIC if ranges is None else _checked(profile, ranges)
    present = {name: now[name] for name in wanted}
    count = prod(len(values) for values in wanted.values())
    if count > MOST_POINTS:
        raise InvalidInput(
            f"These ranges make {count:,} combinations; at most {MOST_POINTS:,} are tried. "
            "Give fewer values, or search some numbers first and the others later."
        )
    combined = [dict(zip(wanted, values, strict=True)) for values in product(*wanted.values())]
    return [present, *(point for point in combined if point != present)]


def _checked(profile: Profile, ranges: Mapping[str, Sequence[float]]) -> dict[str, tuple[float, ...]]:
    """By full names, and each value one that the profile can have."""
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
        # A share or a floor stays one: what lies between 0 and 1 is not tried beyond.
        tried = dict.fromkeys(min(value * by, 1.0) if 0 < value <= 1 else value * by for by in _MULTIPLES)
        for number in tried:
            point = now | {name: number}
            if number != value and _possible(profile, point):
                points.append(point)
    return points


def _possible(profile: Profile, point: Point) -> bool:
    try:
        with_knobs(profile, point)
    except InvalidInput:  # a step may have its own bounds
        return False
    return True
