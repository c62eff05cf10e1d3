"""Knobs as a settings file has them: only those that somebody turned."""

from __future__ import annotations

from dataclasses import fields, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from recollect.dream.knobs import ByKind, Knobs
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def from_plain(given: Mapping[str, object]) -> Knobs:
    """What is not named keeps its default; of a table by kind, too."""
    usual = {each.name: getattr(Knobs(), each.name) for each in fields(Knobs)}
    _refuse_unknown("knob", given, usual)
    turned: dict[str, Any] = {name: _knob(name, value, usual[name]) for name, value in given.items()}
    return Knobs(**turned)


def turned(knobs: Knobs) -> Iterator[str]:
    """`daily = 0.9`: those that are not as they come."""
    for each in fields(Knobs):
        value = getattr(knobs, each.name)
        if value == each.default:
            continue
        if isinstance(value, ByKind):
            value = ", ".join(f"{kind.name} {getattr(value, kind.name):g}" for kind in fields(ByKind))
        yield f"{each.name} = {value}"


def _knob(name: str, given: object, usual: float | ByKind) -> float | ByKind:
    if isinstance(usual, ByKind):
        if not isinstance(given, dict):
            raise InvalidInput(f"{name} is a table with a number for each kind, such as {{ note = 0.5 }}.")
        _refuse_unknown(f"kind in {name}", given, [each.name for each in fields(ByKind)])
        return replace(usual, **{kind: _number(f"{name}.{kind}", each) for kind, each in given.items()})
    number = _number(name, given)
    if isinstance(usual, int) and number != int(number):
        raise InvalidInput(f"{name} is a whole number, not {given!r}.")
    return int(number) if isinstance(usual, int) else number


def _number(name: str, given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not isfinite(given):
        raise InvalidInput(f"{name} is a number, not {given!r}.")
    return given


def _refuse_unknown(what: str, given: Iterable[str], known: Iterable[str]) -> None:
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise InvalidInput(f"there is no {what} named {unknown[0]!r}; there are: {', '.join(known)}.")
