"""Parameters of a dream. The defaults are published values or our measurements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from enum import StrEnum
from math import isfinite
from typing import Any

from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Kind


class Phase(StrEnum):
    """The steps of a dream, in order."""

    CONSOLIDATE = "consolidate"
    DOWNSCALE = "downscale"
    MERGE = "merge"
    CORRECT = "correct"
    PRUNE = "prune"
    PLACE = "place"
    PROMOTE = "promote"
    LINK = "link"
    REPORT = "report"


@dataclass(frozen=True, slots=True)
class ByKind:
    entity: float
    note: float
    message: float

    def column(self) -> tuple[float, ...]:
        """Return the values in the order of `Kind`."""
        return tuple(float(getattr(self, kind.value)) for kind in Kind)


@dataclass(frozen=True, slots=True)
class Knobs:
    max_delta: float = 0.1
    """Maximum increase of a strength by one replay."""
    floor: float = 0.01
    """Lower bound of a strength."""
    daily: float = 0.95
    """Share of a strength that remains after a day."""
    decay: ByKind = ByKind(entity=0.25, note=0.5, message=1.0)
    """Increase of staleness by a day without use."""
    weight: ByKind = ByKind(entity=1.5, note=1.0, message=0.5)
    """Weight of an access, by the kind of memory."""
    prune_staleness: float = 90.0
    prune_signal: float = 0.1
    prune_strength: float = 0.2
    prune_revisions: int = 1
    prune_echo: float = 0.8
    """Minimum cosine to another memory that says the same. With 0, no other memory is needed."""
    prune_most: int = 1_000
    """Maximum number of memories examined in one dream; a random sample if there are more."""
    place_days: float = 1.0
    archive_staleness: float = 180.0
    archive_strength: float = 0.1
    promote_signal: float = 1.0
    promote_spread: int = 3
    link_together: int = 3
    """Minimum number of answers that show both memories before they are linked."""
    link_share: float = 0.5
    """Minimum share of the answers with one memory that also show the other."""
    gate_questions: int = 100
    gate_seen: int = 5
    """Number of first hits of a past answer that the gate must find again."""
    gate_top: int = 10
    """Number of first hits among which the gate looks for them."""
    gate_margin: float = 0.02
    """Maximum share of the wanted memories that the dream may lose."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            numbers = value.column() if isinstance(value, ByKind) else (value,)
            if any(isinstance(number, bool) or not 0 <= number < float("inf") for number in numbers):
                raise InvalidInput(f"{each.name} is {value!r}; it must be a number of at least 0.")
            if each.name in _SHARES and value > 1:
                raise InvalidInput(f"{each.name} is {value!r}; it must be between 0 and 1.")


_SHARES = {"max_delta", "floor", "daily", "prune_echo", "link_share", "gate_margin"}


def knobs_from_mapping(given: Mapping[str, object]) -> Knobs:
    """Parse the parameters in a settings file. Parameters that it does not name keep their defaults."""
    defaults = {each.name: getattr(Knobs(), each.name) for each in fields(Knobs)}
    _refuse_unknown("knob", given, defaults)
    numbers: dict[str, Any] = {name: _knob(name, value, defaults[name]) for name, value in given.items()}
    return Knobs(**numbers)


def changed_knobs(knobs: Knobs) -> Iterator[str]:
    """Yield parameters that differ from their defaults, as in `daily = 0.9`."""
    for each in fields(Knobs):
        value = getattr(knobs, each.name)
        if value == each.default:
            continue
        if isinstance(value, ByKind):
            value = ", ".join(f"{kind.name} {getattr(value, kind.name):g}" for kind in fields(ByKind))
        yield f"{each.name} = {value}"


def _knob(name: str, given: object, default: float | ByKind) -> float | ByKind:
    if isinstance(default, ByKind):
        if not isinstance(given, dict):
            raise InvalidInput(f"{name} is a table with a number for each kind, such as {{ note = 0.5 }}.")
        _refuse_unknown(f"kind in {name}", given, [each.name for each in fields(ByKind)])
        return replace(default, **{kind: _number(f"{name}.{kind}", each) for kind, each in given.items()})
    number = _number(name, given)
    if isinstance(default, int) and number != int(number):
        raise InvalidInput(f"{name} is a whole number, not {given!r}.")
    return int(number) if isinstance(default, int) else number


def _number(name: str, given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not isfinite(given):
        raise InvalidInput(f"{name} is a number, not {given!r}.")
    return given


def _refuse_unknown(what: str, given: Iterable[str], known: Iterable[str]) -> None:
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise InvalidInput(f"there is no {what} named {unknown[0]!r}; there are: {', '.join(known)}.")
