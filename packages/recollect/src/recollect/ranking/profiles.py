"""Ranking profiles: four published systems and our own. Convert profiles to plain data and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from pkgutil import get_data
from typing import Any, TypeVar, get_args, get_type_hints

from recollect.domain.errors import InvalidInput
from recollect.domain.limits import DEFAULT_PROFILE
from recollect.ranking import factors, steps
from recollect.ranking.candidates import (
    EVERY_GROUP,
    READS,
    RETRIEVERS,
    ByContext,
    ByLinks,
    ByMeaning,
    ByWords,
    FactGroup,
    Profile,
)
from recollect.ranking.factors import FACTORS
from recollect.ranking.routing import Route
from recollect.ranking.steps import STEPS

# The learned weights of the profile `recollect`, as `recollect_bench.training` wrote them.

FILE = "weights.json"
LEARNED_WEIGHTS: dict[str, dict[str, float]] = json.loads(get_data(__package__, FILE) or b"{}")["weights"]
"""Weights by step, then by parameter."""

LIMBIC = Profile(
    name="limbic",
    about="The limbic ranking of MCP Memory v2: similarity, salience, forgetting, co-occurrence, "
    "blended by the kind of question",
    retrieve=(ByMeaning(times=3), ByWords("plain", times=3)),
    steps=(
        steps.Rrf(),
        steps.Keep("rrf_score"),
        steps.BaseRelevance(),
        steps.Times(factors.Salience()),
        steps.Times(factors.Forgetting()),
        steps.Times(factors.Cooccurrence()),
        steps.Times(factors.StatusWeight()),
        steps.Times(factors.MetadataWeight()),
        steps.Keep("limbic_score"),
        Route(),
        steps.Order(),
        steps.Cut(),
    ),
)

MNEMOSYNE = Profile(
    name="mnemosyne",
    about="Mnemosyne: similarity, words and importance in fixed shares, and recency",
    retrieve=(ByMeaning(least=20), ByWords("plain", least=20)),
    steps=(
        steps.Linear(meaning=0.5, words=0.3),
        steps.Plus(factors.Importance(), weight=0.2),
        steps.Times(factors.MnemosyneRecency()),
        steps.DropRepeats(ignore_marks=True),
        steps.Order(),
        steps.Cut(),
    ),
)

REVERIE = Profile(
    name="reverie",
    about="Reverie: rank fusion, recency, and strength, depth, spread and stability, which dreams set",
    retrieve=(ByMeaning(times=1, least=100), ByWords("plain", times=1, least=100)),
    steps=(
        steps.Rrf(k=30),
        steps.Times(factors.ReverieRecency()),
        steps.Times(factors.Strength()),
        steps.Times(factors.DepthWeight()),
        steps.Times(factors.Spread()),
        steps.Times(factors.Stability()),
        steps.Order(),
        steps.Cut(),
    ),
)

COGNIS = Profile(
    name="cognis",
    about="Cognis: two-stage similarity and stemmed words, recency, and the time that a query names",
    retrieve=(ByMeaning(least=30, shortlist_size=200), ByWords("stemmed", least=30)),
    steps=(
        steps.Threshold(similarity_threshold=0.3),
        steps.WeightedRrf(vector_weight=0.70, bm25_weight=0.30, rrf_k=10),
        steps.TemporalBlend(),
        steps.Plus(factors.CognisRecency()),
        steps.DropEcho(),
        steps.DropRepeats(ignore_marks=True),
        steps.Order(),
        steps.Cut(),
    ),
)


def recollect_profile(weights: Mapping[str, Mapping[str, float]]) -> Profile:
    return Profile(
        name=DEFAULT_PROFILE,
        about="Our own: meaning, words and tokens, neighbouring messages, speakers, the time that a query "
        "names, the newer of two facts, and status; its weights are learned",
        retrieve=(
            ByMeaning(times=5, least=100, then=True, tokens=True),
            ByWords("stemmed", times=5, least=100, then=True, held=True),
            ByContext(times=5, least=100),
            ByLinks(),
        ),
        steps=(
            steps.DropEcho(),
            steps.DrawnNotes(),
            steps.MeaningScore(**weights["meaning"]),
            steps.WordScore(**weights["words"]),
            steps.TokenScore(**weights["tokens"]),
            steps.ConversationScore(**weights["conversation"]),
            steps.LinkScore(weight=0.6),
            steps.Plus(factors.NamedSpeaker(), weights["named"]["weight"]),
            steps.TimeScore(**weights["time_score"]),
            steps.Times(factors.StatusWeight()),
            # After the steps that multiply, so that a status does not scale this score.
            steps.OriginScore(**weights["origin"]),
            steps.NewestWins(),
            steps.TimeFirst(),
            steps.DropRepeats(),
            steps.Order(),
            steps.Cut(),
        ),
    )


RECOLLECT = recollect_profile(LEARNED_WEIGHTS)

PROFILES = {profile.name: profile for profile in (RECOLLECT, LIMBIC, MNEMOSYNE, REVERIE, COGNIS)}
DEFAULT = DEFAULT_PROFILE


# Groups of facts that a profile needs besides the candidates' own rows. Only these are read.


@lru_cache(maxsize=64)
def groups_read(*profiles: Profile) -> frozenset[FactGroup]:
    """Return the groups that any of these profiles reads. An unknown step may read any group."""
    used = [step for profile in profiles for step in profile.steps]
    readers = [step.factor if isinstance(step, steps.Times | steps.Plus) else step for step in used]
    return frozenset[FactGroup]().union(*(READS.get(type(reader), EVERY_GROUP) for reader in readers))


@lru_cache(maxsize=64)
def ignores_marks(profile: Profile) -> bool:
    """Whether the profile treats texts that differ only in punctuation as repeats."""
    return any(isinstance(step, steps.DropRepeats) and step.ignore_marks for step in profile.steps)


# Profiles to plain data and back, for settings files, tuning and JSON output.

_Value = TypeVar("_Value")


def to_plain(profile: Profile) -> dict[str, Any]:
    """Convert a profile to dictionaries, lists, text and numbers, ready for JSON."""
    return {
        "name": profile.name,
        "about": profile.about,
        "retrieve": [_plain("by", RETRIEVERS, retriever) for retriever in profile.retrieve],
        "steps": [_plain("step", STEPS, step) for step in profile.steps],
    }


def to_toml(profile: Profile) -> str:
    """Write the profile as a table of the settings file."""
    plain = to_plain(profile)
    lists = (
        f"{key} = [\n" + "".join(f"  {_toml(item)},\n" for item in plain[key]) + "]"
        for key in ("retrieve", "steps")
    )
    named = (f"{key} = {_toml(plain[key])}" for key in ("name", "about"))
    return "\n".join(["[[profiles]]", *named, *lists])


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        pairs = [f"{key} = {_toml(each)}" for key, each in value.items() if each is not None]
        return f"{{ {', '.join(pairs)} }}"
    # Texts, numbers and booleans are written alike in JSON and TOML.
    return json.dumps(value, ensure_ascii=False)


def from_plain(plain: Mapping[str, Any]) -> Profile:
    """Read a profile from plain data. Errors name the wrong value and the allowed ones."""
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
    names = [_name(RETRIEVERS, retriever) for retriever in profile.retrieve]
    for by in RETRIEVERS:
        if names.count(by) > 1:
            raise InvalidInput(f"In {where}, 'retrieve' may contain {by!r} only once.")
    has_base = False
    for step in profile.steps:
        has_base = has_base or isinstance(step, steps.BaseRelevance) or step == steps.Keep("base")
        if isinstance(step, Route) and not has_base:
            raise InvalidInput(f"In {where}, step 'route' needs 'base_relevance' or keep 'base' before it.")
    if profile.steps[-2:] != (steps.Order(), steps.Cut()):
        raise InvalidInput(f"In {where}, the last two steps must be 'order' and 'cut'.")


def _plain(key: str, known: Mapping[str, type[Any]], value: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {key: _name(known, value)}
    for field in fields(value):
        content = getattr(value, field.name)
        plain[field.name] = _plain("factor", FACTORS, content) if is_dataclass(content) else content
    return plain


def _built(key: str, known: Mapping[str, type[_Value]], item: object, where: str) -> _Value:
    if not isinstance(item, dict) or key not in item:
        raise InvalidInput(f"In {where}, each item needs {key!r}, one of: {', '.join(known)}; not {item!r}.")
    name = item[key]
    if not isinstance(name, str) or name not in known:
        raise InvalidInput(f"In {where}, {key} {name!r} is unknown; use one of: {', '.join(known)}.")
    kind = known[name]
    place = f"{where}, {key} {name!r}"
    given = {field: value for field, value in item.items() if field != key}
    # Accept the former names of fields.
    for former, present in _FORMER_NAMES.get(kind, {}).items():
        if former in given:
            if present in given:
                raise InvalidInput(f"In {place}, {present} is given twice: {former} is its former name.")
            given[present] = given.pop(former)
    allowed = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]  # every step is a dataclass
    _only(given, set(allowed), place)
    values = {field: _value(field, value, kind, place) for field, value in given.items()}
    try:
        return kind(**values)
    except TypeError as error:
        missing = [
            name
            for name, field in allowed.items()
            if name not in values and field.default is field.default_factory is MISSING
        ]
        raise InvalidInput(f"In {place}, {', '.join(missing)} must be given.") from error


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
        raise InvalidInput(
            f"In {place}, {field} must be {_TYPE_TEXTS.get(expected, expected)}, not {value!r}."
        )
    if isinstance(value, int | float):
        _check_range(field, value, place)
    return float(value) if expected == "float" and isinstance(value, int) else value


def _check_range(field: str, value: float, place: str) -> None:
    """Refuse numbers that would make a score infinite or NaN."""
    if not -_LIMIT <= value <= _LIMIT:  # NaN fails this comparison too
        raise InvalidInput(f"In {place}, {field} must be between -{_LIMIT:g} and {_LIMIT:g}, not {value!r}.")
    if field == "within" and not 1 <= value <= _MAX_DISTANCE:
        raise InvalidInput(f"In {place}, within must be from 1 to {_MAX_DISTANCE}, not {value!r}.")
    if field in _ABOVE_ZERO and value <= 0:
        raise InvalidInput(f"In {place}, {field} must be above 0, not {value!r}.")
    if field in _NOT_BELOW_ZERO and value < 0:
        raise InvalidInput(f"In {place}, {field} must be 0 or above, not {value!r}.")


_FORMER_NAMES: dict[type, dict[str, str]] = {ByMeaning: {"shortlist": "shortlist_size"}}
_LIMIT = 1e9
# Largest `within`: how many messages away a neighbour may be. The work grows with it.
_MAX_DISTANCE = 20
# Parameters that formulas divide by, and sizes of lists.
_ABOVE_ZERO = {
    "d_max", "recency_half_life_seconds", "shortest_tau_days", "shortlist_size", "slowness", "tau_days",
    "tau_hours",
}  # fmt: skip
# Ranks start at 1, so k = 0 does not divide by zero.
_NOT_BELOW_ZERO = {"k", "lambda_hourly", "least", "most", "rrf_k", "times"}
_FACTORS_FOR: dict[str, Mapping[str, type[Any]]] = {
    "Factor": FACTORS,
    "TemporalRelevance": {"temporal": factors.TemporalRelevance},
}
_ACCEPTED = {"float": ("float", "int"), "int | None": ("int", "NoneType")}
_TYPE_TEXTS = {
    "float": "a number",
    "int": "a whole number",
    "int | None": "a whole number, or left out",
    "bool": "true or false",
    "str": "text",
}


def _list(plain: Mapping[str, Any], key: str, where: str) -> list[object]:
    items = plain.get(key)
    if not isinstance(items, list) or not items:
        raise InvalidInput(f"In {where}, {key!r} must be a list with at least one item.")
    return items


def _only(given: Mapping[str, Any], allowed: set[str], where: str) -> None:
    unknown = sorted(set(given) - allowed)
    if unknown:
        raise InvalidInput(
            f"In {where}, {', '.join(map(repr, unknown))} is unknown; "
            f"allowed fields: {', '.join(sorted(allowed)) or 'none'}."
        )


def _name(known: Mapping[str, type[Any]], value: object) -> str:
    return next(name for name, kind in known.items() if kind is type(value))
