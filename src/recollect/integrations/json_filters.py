"""Filters on JSON values, as LangGraph has them: equality by field, or operators such as `{"$gt": 3}`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from recollect.errors import InvalidInput

_ORDER: Mapping[str, Callable[[float, float], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_OPERATORS = ("$eq", "$ne", *_ORDER)


def check_filter(wanted: object) -> None:
    """`InvalidInput` for an operator that there is not, wherever it stands."""
    if isinstance(wanted, Mapping):
        for name, inner in wanted.items():
            if str(name).startswith("$") and name not in _OPERATORS:
                raise InvalidInput(f"No operator {name!r} in a filter; there are: {', '.join(_OPERATORS)}.")
            check_filter(inner)
    elif isinstance(wanted, list | tuple):
        for inner in wanted:
            check_filter(inner)


def matches_filter(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether each field that is named has what is wanted of it; one that is absent counts as None."""
    return all(_matches(value.get(name), inner) for name, inner in wanted.items())


def _matches(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(str(name).startswith("$") for name in wanted):
            return all(_compares(value, name, than) for name, than in wanted.items())
        return isinstance(value, Mapping) and matches_filter(value, wanted)
    if isinstance(wanted, list | tuple):
        return (
            isinstance(value, list | tuple)
            and len(value) == len(wanted)
            and all(_matches(one, inner) for one, inner in zip(value, wanted, strict=True))
        )
    return bool(value == wanted)


def _compares(value: Any, name: str, than: Any) -> bool:
    if name == "$eq":
        return bool(value == than)
    if name == "$ne":
        return bool(value != than)
    try:
        return _ORDER[name](float(value), float(than))
    except (TypeError, ValueError):
        return False  # what is no number is neither more nor less
