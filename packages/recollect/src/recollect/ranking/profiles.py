"""The profiles, four published systems and our own; and profiles to plain data and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import lru_cache
from pkgutil import get_data
from typing import Any, Literal, TypeVar, get_args, get_type_hints

from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import DEFAULT_PROFILE
from recollect.ranking.candidates import ByContext, ByLinks, ByMeaning, ByWords, Profile, Retriever, Step
from recollect.ranking.factors import (
    FACTORS,
    CognisRecency,
    Cooccurrence,
    DepthWeight,
    Forgetting,
    Importance,
    MetadataWeight,
    MnemosyneRecency,
    NamedSpeaker,
    ReverieRecency,
    Salience,
    Spread,
    Stability,
    StatusWeight,
    Strength,
    TemporalRelevance,
)
from recollect.ranking.routing import Route
from recollect.ranking.steps import (
    RRF_K,
    BaseRelevance,
    Blend,
    ConversationScore,
    Cut,
    DrawnNotes,
    DropEcho,
    DropRepeats,
    Keep,
    Linear,
    LinkScore,
    MeaningScore,
    NewestWins,
    Order,
    OriginScore,
    Plus,
    Rescale,
    Rrf,
    TemporalBlend,
    Threshold,
    TimeFirst,
    Times,
    TimeScore,
    TokenScore,
    WeightedRrf,
    WordScore,
)

EXPANSION_FACTOR = 3
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

# The learned weights of the profile `recollect`, as `recollect_bench.training` wrote them.

FILE = "weights.json"


def learned_weights() -> dict[str, dict[str, float]]:
    """By step, then by the name of the number."""
    plain = json.loads(get_data(__package__, FILE) or b"{}")
    weights: dict[str, dict[str, float]] = plain["weights"]
    return weights


LIMBIC = Profile(
    name="limbic",
    about="MCP Memory v2: similarity, salience, forgetting, co-occurrence, blended by the kind of question",
    retrieve=(ByMeaning(times=EXPANSION_FACTOR), ByWords("plain", times=EXPANSION_FACTOR)),
    steps=(
        Rrf(k=RRF_K),
        Keep("rrf_score"),
        BaseRelevance(),
        Times(Salience()),
        Times(Forgetting()),
        Times(Cooccurrence()),
        Times(StatusWeight()),
        Times(MetadataWeight()),
        Keep("limbic_score"),
        Route(),
        Order(),
        Cut(),
    ),
)

MNEMOSYNE = Profile(
    name="mnemosyne",
    about="Mnemosyne: similarity, words and importance in fixed shares, and what is new",
    retrieve=(ByMeaning(least=20), ByWords("plain", least=20)),
    steps=(
        Linear(meaning=0.5, words=0.3),
        Plus(Importance(), weight=0.2),
        Times(MnemosyneRecency()),
        DropRepeats(ignore_marks=True),
        Order(),
        Cut(),
    ),
)

REVERIE = Profile(
    name="reverie",
    about="Reverie: rank fusion, what is new, and four traces that dreams leave",
    retrieve=(ByMeaning(times=1, least=100), ByWords("plain", times=1, least=100)),
    steps=(
        Rrf(k=30),
        Times(ReverieRecency()),
        Times(Strength()),
        Times(DepthWeight()),
        Times(Spread()),
        Times(Stability()),
        Order(),
        Cut(),
    ),
)

COGNIS = Profile(
    name="cognis",
    about="Cognis: two-stage similarity and stemmed words, the last minutes, and the time a query speaks of",
    retrieve=(ByMeaning(least=30, shortlist_size=200), ByWords("stemmed", least=30)),
    steps=(
        Threshold(similarity_threshold=0.3),
        WeightedRrf(vector_weight=0.70, bm25_weight=0.30, rrf_k=10),
        TemporalBlend(),
        Plus(CognisRecency()),
        DropEcho(),
        DropRepeats(ignore_marks=True),
        Order(),
        Cut(),
    ),
)


def recollect_profile(weights: Mapping[str, Mapping[str, float]]) -> Profile:
    """Our own profile with these weights, by step and number."""
    return Profile(
        name=DEFAULT_PROFILE,
        about="our own: meaning, words and tokens, what is said around a message and by whom, the time that "
        "a query speaks of, the newer of two facts, and what the user set aside; its weights are learned",
        retrieve=(
            ByMeaning(times=5, least=100, then=True, tokens=True),
            ByWords("stemmed", times=5, least=100, then=True, held=True),
            ByContext(times=5, least=100),
            ByLinks(),
        ),
        steps=(
            DropEcho(),
            DrawnNotes(**weights["drawn_notes"]),
            MeaningScore(**weights["meaning"]),
            WordScore(**weights["words"]),
            TokenScore(**weights["tokens"]),
            ConversationScore(**weights["conversation"]),
            LinkScore(weight=0.6),
            Plus(NamedSpeaker(), weights["named"]["weight"]),
            TimeScore(**weights["time_score"]),
            Times(StatusWeight()),
            # Behind what multiplies: what its kind is worth does not depend on its status.
            OriginScore(**weights["origin"]),
            NewestWins(),
            TimeFirst(),
            DropRepeats(),
            Order(),
            Cut(),
        ),
    )


def learned_steps() -> dict[str, type[Any]]:
    """The steps of our own profile whose numbers are learned; `named` is the weight of the factor's step."""
    return {
        "drawn_notes": DrawnNotes,
        "meaning": MeaningScore,
        "words": WordScore,
        "tokens": TokenScore,
        "conversation": ConversationScore,
        "named": _NamedWeight,
        "time_score": TimeScore,
        "origin": OriginScore,
    }


@dataclass(frozen=True, slots=True)
class _NamedWeight:
    weight: float = 0.0


RECOLLECT = recollect_profile(learned_weights())

PROFILES = {profile.name: profile for profile in (RECOLLECT, LIMBIC, MNEMOSYNE, REVERIE, COGNIS)}
DEFAULT = DEFAULT_PROFILE


def profile_named(name: str, known: Mapping[str, Profile] = PROFILES) -> Profile:
    if name not in known:
        raise InvalidInput(f"No profile named {name[:40]!r}; there are: {', '.join(known)}.")
    return known[name]


# Facts that a profile reads beside the candidates' own rows; others are not fetched.

FactGroup = Literal["usage", "degree", "metadata", "cooccurrence"]
"""Facts of a memory that are stored in other tables than its own row."""
EVERY_GROUP: frozenset[FactGroup] = frozenset(get_args(FactGroup))

_BY_FACTOR: dict[type[Any], frozenset[FactGroup]] = {
    Salience: frozenset({"usage", "degree"}),
    Forgetting: frozenset({"usage"}),
    Cooccurrence: frozenset({"cooccurrence"}),
    MetadataWeight: frozenset({"metadata"}),
    Stability: frozenset({"usage"}),
}
_OWN_ROW = dict.fromkeys((*STEPS.values(), *FACTORS.values()), frozenset[FactGroup]())
_READS: dict[type[Any], frozenset[FactGroup]] = _OWN_ROW | _BY_FACTOR


def groups_read(profiles: Iterable[Profile]) -> frozenset[FactGroup]:
    """The groups that any of these profiles reads. An unknown step may read anything."""
    return frozenset[FactGroup]().union(*map(_groups_read, profiles))


@lru_cache(maxsize=64)
def _groups_read(profile: Profile) -> frozenset[FactGroup]:
    readers = [reader for step in profile.steps for reader in _readers(step)]
    return frozenset[FactGroup]().union(*(_READS.get(type(reader), EVERY_GROUP) for reader in readers))


@lru_cache(maxsize=64)
def ignores_marks(profile: Profile) -> bool:
    """Whether texts that differ only in marks between their words are repeats to it."""
    return any(isinstance(step, DropRepeats) and step.ignore_marks for step in profile.steps)


def _readers(step: object) -> Iterator[object]:
    """The part of a step that reads candidates: itself, or its factor."""
    yield step.factor if isinstance(step, Times | Plus) else step


# Profiles to plain data and back, for settings, tuning and machines.

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
    """Check rules that concern several parts together."""
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
# The farthest neighbour, in places: the work grows with it.
_FARTHEST = 20
# Divisors of formulas, and sizes of lists.
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
