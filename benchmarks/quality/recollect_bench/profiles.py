"""The profiles to measure: built-in ones, baselines, a user's own, and ours without one part."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, cast

from recollect.domain.errors import InvalidInput
from recollect.ranking import steps
from recollect.ranking.candidates import ByMeaning, ByWords, Profile, Retriever, profile_named
from recollect.ranking.profiles import PROFILES, from_plain, to_plain
from recollect.ranking.steps import Cut, Linear, Order, Rrf

_WORDS, _MEANING = ByWords("stemmed", 1.0, 100), ByMeaning(1.0, 100)
BASELINES = (
    Profile("bm25", "stemmed words alone", (_WORDS,), (Linear(0.0, 1.0), Order(), Cut())),
    Profile("vectors", "cosine alone", (_MEANING,), (Linear(1.0, 0.0), Order(), Cut())),
    Profile("rrf", "rank fusion of both, k = 60", (_MEANING, _WORDS), (Rrf(), Order(), Cut())),
)
"""Simple rankings to compare with."""
WITHOUT = " − "
"""Separator of a profile's name and the omitted part."""


def select_profiles(names: Sequence[str], baseline: str, own: Sequence[Profile] = ()) -> tuple[Profile, ...]:
    """Return the profiles with these names or in these files (default: the built-in ones and the baselines).

    A user's profile replaces a built-in one of the same name. The baseline is always included.
    """
    known = {**PROFILES, **{each.name: each for each in (*BASELINES, *own)}}
    wanted = names or [each.name for each in (*PROFILES.values(), *BASELINES)]
    selected = [profile for name in wanted for profile in _profiles_named(name, known)]
    if baseline not in {each.name for each in selected}:
        selected += _profiles_named(baseline, known)
    by_name: dict[str, Profile] = {}
    for profile in selected:
        if by_name.setdefault(profile.name, profile) != profile:
            raise InvalidInput(f"There are several profiles named {profile.name!r}; rename all but one.")
    return tuple(by_name.values())


def _profiles_named(name: str, known: Mapping[str, Profile]) -> Sequence[Profile]:
    if Path(name).suffix in {".json", ".toml"}:
        return _in_file(Path(name))
    return [profile_named(name, known)]


def _in_file(path: Path) -> list[Profile]:
    """Read one profile, a list of them, or a table `profiles`, as `profile show` prints them."""
    try:
        text = path.expanduser().read_text(encoding="utf-8")
        plain: Any = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"The profile in {path} cannot be read: {error}.") from error
    if isinstance(plain, dict) and "profiles" in plain:
        plain = plain["profiles"]
    return [from_plain(each) for each in (plain if isinstance(plain, list) else [plain])]


def ablations(profile: Profile) -> tuple[Profile, ...]:
    """Return the profile without one part at a time: a search, a switch of a search, or a step.

    The first scoring step, and steps that sort or cut, are kept: there is no ranking without them. Parts
    that other parts need are kept, too.
    """
    seen: Counter[str] = Counter()
    parts: dict[object, Profile] = {}
    for part, changed in (*_without_searches(profile), *_without_switches(profile), *_without_steps(profile)):
        if _is_valid(changed):
            parts[changed.retrieve, changed.steps] = replace(changed, name=part)
    for key, each in parts.items():
        seen[each.name] += 1
        number = f" {seen[each.name]}" if seen[each.name] > 1 else ""
        parts[key] = replace(each, name=f"{profile.name}{WITHOUT}{each.name}{number}")
    return tuple(parts.values())


def _without_searches(profile: Profile) -> Iterator[tuple[str, Profile]]:
    names = [each["by"] for each in to_plain(profile)["retrieve"]]
    for place, name in enumerate(names):
        if len(names) > 1:
            yield name, replace(profile, retrieve=_omit(profile.retrieve, place))


def _without_switches(profile: Profile) -> Iterator[tuple[str, Profile]]:
    """Yield variants, each with one active switch turned off in all searches."""
    switches = {
        each.name
        for search in profile.retrieve
        for each in fields(search)
        if getattr(search, each.name) is True
    }
    for switch in sorted(switches):
        off = tuple(_switch_off(search, switch) for search in profile.retrieve)
        yield f"{switch} of searches", replace(profile, retrieve=off)


def _switch_off(search: Retriever, switch: str) -> Retriever:
    part: Any = search  # its switches are known only at run time
    return cast("Retriever", replace(part, **{switch: False})) if hasattr(search, switch) else search


def _without_steps(profile: Profile) -> Iterator[tuple[str, Profile]]:
    fuses = [type(step).__module__ == steps.__name__ for step in profile.steps]
    first = fuses.index(True) if any(fuses) else None
    for place, (step, plain) in enumerate(zip(profile.steps, to_plain(profile)["steps"], strict=True)):
        if place == first or isinstance(step, Order | Cut) or getattr(step, "on", True) is False:
            continue
        yield _step_name(plain), replace(profile, steps=_omit(profile.steps, place))


def _omit(parts: tuple[Any, ...], place: int) -> tuple[Any, ...]:
    return (*parts[:place], *parts[place + 1 :])


def _step_name(plain: Mapping[str, Any]) -> str:
    factor = plain.get("factor")
    return f"{plain['step']} {factor['factor']}" if isinstance(factor, dict) else str(plain["step"])


def _is_valid(profile: Profile) -> bool:
    try:
        from_plain(to_plain(profile))
    except InvalidInput:
        return False
    return True
