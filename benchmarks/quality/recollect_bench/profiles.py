"""What is measured: the profiles, what everyone has, a user's own, and ours with a part less or read anew."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from recollect.errors import InvalidInput
from recollect.rank import fuse
from recollect.rank.finish import Cut, Order
from recollect.rank.fuse import Linear, Rrf
from recollect.rank.pipeline import ByMeaning, ByWords, Profile, Retriever
from recollect.rank.plain import from_plain, to_plain
from recollect.rank.profiles import PROFILES, profile_named

if TYPE_CHECKING:
    from recollect.ports import Reranker

PLAIN = tuple(
    Profile(name, about, retrieve, (*steps, Order(), Cut()))
    for name, about, retrieve, steps in (
        ("bm25", "stemmed words alone", (ByWords("stemmed", 1.0, 100),), (Linear(0.0, 1.0),)),
        ("vectors", "cosine alone", (ByMeaning(1.0, 100),), (Linear(1.0, 0.0),)),
        (
            "rrf",
            "rank fusion of both, k = 60",
            (ByMeaning(1.0, 100), ByWords("stemmed", 1.0, 100)),
            (Rrf(),),
        ),
    )
)
"""What everyone has."""
LESS = " − "
"""Between a profile's name and the part that is left out of it."""
_MORE = " + "


@dataclass(frozen=True, slots=True)
class Reranked:
    """A profile, the first places of which a model reads again."""

    profile: Profile
    reranker: Reranker

    @property
    def name(self) -> str:
        return f"{self.profile.name}{_MORE}rerank"


def known(own: Sequence[Profile] = ()) -> dict[str, Profile]:
    """By name; a user's own may take the place of another, as everywhere."""
    return {**PROFILES, **{each.name: each for each in (*PLAIN, *own)}}


def chosen(names: Sequence[str], baseline: str, own: Sequence[Profile] = ()) -> tuple[Profile, ...]:
    """Those that are named, by name or by file; without names, the built-in ones and the plain ones.

    The baseline is always among them.
    """
    there = known(own)
    wanted = names or [each.name for each in (*PROFILES.values(), *PLAIN)]
    found = [profile for name in wanted for profile in _named(name, there)]
    if baseline not in {each.name for each in found}:
        found += _named(baseline, there)
    unique = {each.name: each for each in found}
    if len(unique) < len(set(found)):
        twice = next(name for name in unique if len({each for each in found if each.name == name}) > 1)
        raise InvalidInput(f"There are several profiles named {twice!r}; rename all but one.")
    return tuple(unique.values())


def _named(name: str, there: Mapping[str, Profile]) -> list[Profile]:
    if Path(name).suffix in {".json", ".toml"}:
        return list(_of_file(Path(name)))
    return [profile_named(name, there)]


def _of_file(path: Path) -> Iterator[Profile]:
    """One profile, a list of them, or a table `profiles`, as `profile show` prints them."""
    try:
        text = path.expanduser().read_text(encoding="utf-8")
        plain: Any = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise InvalidInput(f"The profile in {path} cannot be read: {error}.") from error
    if isinstance(plain, dict) and "profiles" in plain:
        plain = plain["profiles"]
    for each in plain if isinstance(plain, list) else [plain]:
        yield from_plain(each)


def without_parts(profile: Profile) -> tuple[Profile, ...]:
    """The profile with one part left out at a time: a search, what a search also does, or a step.

    What makes the first scores, sorts and cuts stays: without it there is no ranking. So does what another
    part needs.
    """
    made = (*_without_searches(profile), *_without_options(profile), *_without_steps(profile))
    unique = {(each.retrieve, each.steps): each for each in made if _stands(each)}
    return tuple(_told_apart(list(unique.values())))


def _without_searches(profile: Profile) -> Iterator[Profile]:
    names = [each["by"] for each in to_plain(profile)["retrieve"]]
    if len(names) == 1:
        return
    for place, name in enumerate(names):
        rest = (*profile.retrieve[:place], *profile.retrieve[place + 1 :])
        yield replace(profile, name=f"{profile.name}{LESS}{name}", retrieve=rest)


def _without_options(profile: Profile) -> Iterator[Profile]:
    """Each switch of the searches that is on, off in all of them."""
    switches = {
        each.name
        for search in profile.retrieve
        for each in fields(search)
        if getattr(search, each.name) is True
    }
    for switch in sorted(switches):
        off = tuple(_off(search, switch) for search in profile.retrieve)
        yield replace(profile, name=f"{profile.name}{LESS}{switch} of searches", retrieve=off)


def _off(search: Retriever, switch: str) -> Retriever:
    """Without the switch, if it has one."""
    on: Any = search  # which of its fields are switches is known only at run time
    return search if not hasattr(search, switch) else cast("Retriever", replace(on, **{switch: False}))


def _without_steps(profile: Profile) -> Iterator[Profile]:
    first = next((place for place, step in enumerate(profile.steps) if _fuses(step)), None)
    for place, (step, plain) in enumerate(zip(profile.steps, to_plain(profile)["steps"], strict=True)):
        if place == first or isinstance(step, Order | Cut) or getattr(step, "on", True) is False:
            continue
        rest = (*profile.steps[:place], *profile.steps[place + 1 :])
        yield replace(profile, name=f"{profile.name}{LESS}{_step_name(plain)}", steps=rest)


def _fuses(step: object) -> bool:
    return type(step).__module__ == fuse.__name__


def _step_name(plain: Mapping[str, Any]) -> str:
    factor = plain.get("factor")
    return f"{plain['step']} {factor['factor']}" if isinstance(factor, dict) else str(plain["step"])


def _stands(profile: Profile) -> bool:
    try:
        from_plain(to_plain(profile))
    except InvalidInput:
        return False
    return True


def _told_apart(profiles: Sequence[Profile]) -> Iterator[Profile]:
    """With a number, where a part of the same name was left out before."""
    seen: dict[str, int] = {}
    for each in profiles:
        seen[each.name] = seen.get(each.name, 0) + 1
        yield each if seen[each.name] == 1 else replace(each, name=f"{each.name} {seen[each.name]}")
