"""Profiles to plain data and back, for settings, tuning and machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, TypeVar, get_args, get_type_hints

from recollect.errors import InvalidInput
from recollect.ranking.factors.catalogue import FACTORS
from recollect.ranking.factors.recency import TemporalRelevance
from recollect.ranking.pipeline import ByContext, ByLinks, ByMeaning, ByWords, Profile, Retriever, Step
from recollect.ranking.steps.adjust import BaseRelevance, Keep, Plus, Rescale, TemporalBlend, Times
from recollect.ranking.steps.contradictions import NewestWins
from recollect.ranking.steps.evidence import (
    ConversationScore,
    DrawnNotes,
    MeaningScore,
    OriginScore,
    TokenScore,
    WordScore,
)
from recollect.ranking.steps.finish import Cut, DropEcho, DropRepeats, Order, Threshold
from recollect.ranking.steps.fuse import Blend, Linear, Rrf, WeightedRrf
from recollect.ranking.steps.links import LinkScore
from recollect.ranking.steps.route import Route
from recollect.ranking.steps.time import TimeFirst, TimeScore

STEPS: dict[str, type[Step]] = {
    "rrf": Rrf,
    "weighted_rrf": WeightedRrf,
    "linear": Linear,
    "blend": Blend,
    "base_relevance": BaseRelevance,
    "keep": Keep,
    "times": Times,
    "plus": Plus,
    "rescale": Rescale,
    "route": Route,
    "temporal_blend": TemporalBlend,
    "time_score": TimeScore,
    "time_first": TimeFirst,
    "meaning": MeaningScore,
    "words": WordScore,
    "tokens": TokenScore,
    "drawn_notes": DrawnNotes,
    "conversation": ConversationScore,
    "origin": OriginScore,
    "linked": LinkScore,
    "newest_wins": NewestWins,
    "threshold": Threshold,
    "drop_echo": DropEcho,
    "drop_repeats": DropRepeats,
    "order": Order,
    "cut": Cut,
}
RETRIEVERS: dict[str, type[Retriever]] = {
    "meaning": ByMeaning,
    "words": ByWords,
    "context": ByContext,
    "links": ByLinks,
}
_Value = TypeVar("_Value")


def to_plain(profile: Profile) -> dict[str, Any]:
    """Dictionaries, lists, text and numbers, ready for JSON."""
    return {
        "name": profile.name,
        "about": profile.about,
        "retrieve": [_plain("by", _name(RETRIEVERS, retriever), retriever) for retriever in profile.retrieve],
        "steps": [_plain("step", _name(STEPS, step), step) for step in profile.steps],
    }


def from_plain(plain: Mapping[str, Any]) -> Profile:
    """A profile from plain data; what is wrong in it is named, with what is allowed."""
    if not isinstance(plain, Mapping):
        raise InvalidInput(f"A profile is a table with name, about, retrieve and steps, not {plain!r}.")
    where = f"profile {plain.get('name', '')!r}"
    _only(plain, {"name", "about", "retrieve", "steps"}, where)
    name, about = plain.get("name"), plain.get("about", "")
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput("A profile needs a name.")
    if not isinstance(about, str):
        raise InvalidInput(f"In {where}, about must be text, not {about!r}.")
    profile = Profile(
        name=name,
        about=about,
        retrieve=tuple(_built("by", RETRIEVERS, item, where) for item in _list(plain, "retrieve", where)),
        steps=tuple(_built("step", STEPS, item, where) for item in _list(plain, "steps", where)),
    )
    _check_together(profile, where)
    return profile


def _check_together(profile: Profile, where: str) -> None:
    """What each part allows, and the whole does not."""
    asked = [_name(RETRIEVERS, retriever) for retriever in profile.retrieve]
    for by in RETRIEVERS:
        if asked.count(by) > 1:
            raise InvalidInput(f"In {where}, 'retrieve' may ask by {by!r} only once.")
    based = False
    for step in profile.steps:
        based = based or isinstance(step, BaseRelevance) or step == Keep("base")
        if isinstance(step, Route) and not based:
            raise InvalidInput(f"In {where}, step 'route' needs 'base_relevance' before it.")
    if profile.steps[-2:] != (Order(), Cut()):
        raise InvalidInput(f"In {where}, the last two steps must be 'order' and 'cut'.")


def _plain(key: str, name: str, value: object) -> dict[str, Any]:
    plain: dict[str, Any] = {key: name}
    for field in fields(value):  # type: ignore[arg-type]  # every step is a dataclass
        content = getattr(value, field.name)
        plain[field.name] = _factor_plain(content) if is_dataclass(content) else content
    return plain


def _factor_plain(factor: Any) -> dict[str, Any]:
    return _plain("factor", _name(FACTORS, factor), factor)


def _built(key: str, known: Mapping[str, type[_Value]], item: object, where: str) -> _Value:
    if not isinstance(item, dict) or key not in item:
        raise InvalidInput(f"In {where}, each item needs {key!r}, one of: {', '.join(known)}; not {item!r}.")
    name = item[key]
    if not isinstance(name, str) or name not in known:
        raise InvalidInput(f"In {where}, there is no {key} {name!r}; there are: {', '.join(known)}.")
    kind = known[name]
    place = f"{where}, {key} {name!r}"
    given = _in_present_names({field: value for field, value in item.items() if field != key}, kind, place)
    allowed = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]  # every step is a dataclass
    _only(given, set(allowed), place)
    values = {field: _value(field, value, kind, place) for field, value in given.items()}
    try:
        return kind(**values)
    except TypeError as error:
        missing = [name for name, field in allowed.items() if name not in values and _must_be_given(field)]
        raise InvalidInput(f"In {place}, {', '.join(missing)} must be given.") from error


def _in_present_names(given: dict[str, Any], kind: type, place: str) -> dict[str, Any]:
    """Profiles that were written before a field got the name that it was published with still read."""
    for former, present in _FORMER_NAMES.get(kind, {}).items():
        if former in given:
            if present in given:
                raise InvalidInput(f"In {place}, {present} is given twice: {former} is its former name.")
            given[present] = given.pop(former)
    return given


def _value(field: str, value: object, kind: type, place: str) -> object:
    expected = kind.__annotations__[field]
    if expected in _FACTORS_FOR:
        return _built("factor", _FACTORS_FOR[expected], value, place)
    if expected.startswith("Literal"):
        choices = get_args(get_type_hints(kind)[field])
        if value not in choices:
            raise InvalidInput(f"In {place}, {field} must be one of: {', '.join(choices)}; not {value!r}.")
        return value
    if type(value).__name__ not in _ACCEPTED.get(expected, (expected,)):
        raise InvalidInput(f"In {place}, {field} must be {_SPOKEN.get(expected, expected)}, not {value!r}.")
    if isinstance(value, int | float):
        _check_range(field, value, place)
    return float(value) if expected == "float" and isinstance(value, int) else value


def _check_range(field: str, value: float, place: str) -> None:
    """So that no score is infinite or not a number."""
    if not -_MOST <= value <= _MOST:  # nor is NaN
        raise InvalidInput(f"In {place}, {field} must be within {_MOST:g} of 0, not {value!r}.")
    if field == "within" and not 1 <= value <= _FARTHEST:
        raise InvalidInput(f"In {place}, within must be from 1 to {_FARTHEST}, not {value!r}.")
    if field in _ABOVE_ZERO and value <= 0:
        raise InvalidInput(f"In {place}, {field} must be above 0, not {value!r}.")
    if field in _NOT_BELOW_ZERO and value < 0:
        raise InvalidInput(f"In {place}, {field} must be 0 or above, not {value!r}.")


_FORMER_NAMES: dict[type, dict[str, str]] = {ByMeaning: {"shortlist": "shortlist_size"}}
_MOST = 1e9
# How many places away a neighbour may stand, at most: the work grows with it.
_FARTHEST = 20
# What a formula divides by, and how many to look at.
_ABOVE_ZERO = {
    "d_max", "recency_half_life_seconds", "shortest_tau_days", "shortlist_size", "slowness", "tau_days",
    "tau_hours",
}  # fmt: skip
# A rank is at least 1, so that a k of 0 is fine.
_NOT_BELOW_ZERO = {"k", "lambda_hourly", "least", "most", "rrf_k", "times"}
_FACTORS_FOR: dict[str, Mapping[str, type[Any]]] = {
    "Factor": FACTORS,
    "TemporalRelevance": {"temporal": TemporalRelevance},
}
_ACCEPTED = {"float": ("float", "int"), "int | None": ("int", "NoneType")}
_SPOKEN = {
    "float": "a number",
    "int": "a whole number",
    "int | None": "a whole number or nothing",
    "bool": "true or false",
    "str": "text",
}


def _must_be_given(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _list(plain: Mapping[str, Any], key: str, where: str) -> list[object]:
    items = plain.get(key)
    if not isinstance(items, list) or not items:
        raise InvalidInput(f"In {where}, {key!r} must be a list with at least one item.")
    return items


def _only(given: Mapping[str, Any], allowed: set[str], where: str) -> None:
    unknown = sorted(set(given) - allowed)
    if unknown:
        raise InvalidInput(
            f"In {where}, {', '.join(map(repr, unknown))} has no meaning; "
            f"there are: {', '.join(sorted(allowed)) or 'none'}."
        )


def _name(known: Mapping[str, type[Any]], value: object) -> str:
    return next(name for name, kind in known.items() if kind is type(value))
