"""Simulate a year of facts that a user states, and of questions that need them later.

Habits recur, work comes in bursts of two to four weeks, most other facts are stated once, and some are
corrected. Questions follow the statistics of Anderson and Schooler ("Reflections of the environment in
memory", Psychological Science 2, 1991): the odds that a fact is needed fall as a power of the time since it
came up, and add up over its occurrences. In addition, some facts that were stated once are needed once,
months later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal, TypeAlias, TypeVar

import numpy as np
from frames import AGAIN, DETAILS, FACTS, HABITS, SLOTS, WORK, Frame

T = TypeVar("T")
Sort: TypeAlias = Literal["habit", "burst", "one-off"]
How: TypeAlias = Literal["note", "message", "observation"]

FADES = 0.75
"""Exponent of the power law by which need falls with time."""
NEEDS_PER_MEMORY = 0.6
SHARES: Mapping[Sort, float] = {"habit": 0.33, "burst": 0.31, "one-off": 0.30}
"""Shares of all memories; the rest are corrections and repeated errors."""
BURST = 36
"""Number of facts in one project."""
PERIODS = (1, 2, 3, 3.5, 7, 7, 7, 14)
"""Days between two occurrences of a habit."""
EXACT, NEARLY = 0.35, 0.70
"""Cumulative shares of a habit's occurrences: repeated verbatim, and with a word or two more."""
CORRECTED = 0.08
EXPLICIT = 0.7
"""Share of corrections that name the memory that they correct; the others are new notes."""
COPIED = 0.5
"""Share of corrected errors that are stated again later."""
LATE = 0.5
"""Share of the facts stated once that are needed 60 to 330 days later."""
LATE_DAYS = (60, 330)
ASKING = ("", "", "", "Remind me: ", "Do you remember? ", "I need to know: ", "Quick question: ")

_SLOT = re.compile(r"\{=?(\w+)\}")
_ANSWER = re.compile(r"\{=(\w+)\}")


@dataclass(frozen=True, slots=True)
class Fact:
    id: int
    sort: Sort
    texts: tuple[str, ...]
    """Statements of the fact."""
    cues: tuple[str, ...]
    """Questions about the fact."""
    about: str
    """Name of the entity that the fact is about."""
    frame: Frame
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Telling:
    day: int
    fact: int
    text: str
    how: How
    about: str
    corrects: int | None = None
    """Fact that the user calls wrong."""


@dataclass(frozen=True, slots=True)
class Need:
    day: int
    fact: int
    query: str
    sort: Sort
    late: bool
    """Whether the fact was stated once and is needed months later."""
    changed: bool
    """Whether the fact corrects an earlier one."""


@dataclass(frozen=True, slots=True)
class Life:
    seed: int
    days: int
    facts: tuple[Fact, ...]
    tellings: tuple[tuple[Telling, ...], ...]
    """Statements of each day."""
    needs: tuple[tuple[Need, ...], ...]
    slope: float
    """Slope of log odds of need over log days since the fact came up; a check of the simulation."""


@dataclass(slots=True)
class _History:
    facts: list[Fact] = field(default_factory=list)
    tellings: list[Telling] = field(default_factory=list)
    memories: set[object] = field(default_factory=set)
    """Keys of the memories that a store would have: one per distinct note and one per entity."""
    cues: set[tuple[Frame, tuple[str, ...]]] = field(default_factory=set)
    replaced_on: dict[int, int] = field(default_factory=dict)
    corrections: set[int] = field(default_factory=set)


def life(size: int, days: int, seed: int) -> Life:
    """Return a simulated life with about `size` memories in `days` days."""
    chance = np.random.default_rng(seed)
    told = _History()
    goals: dict[Sort, float] = {sort: share * size for sort, share in SHARES.items()}
    ways: dict[Sort, Callable[[_History, np.random.Generator, int], None]] = {
        "habit": _habit,
        "burst": _burst,
        "one-off": _once,
    }
    for sort, way in ways.items():
        before = len(told.memories)
        while len(told.memories) - before < goals[sort]:
            way(told, chance, days)
    _correct(told, chance, days)
    needs, slope = _needs(told, chance, days, size)
    by_day = [[] for _ in range(days)]  # type: list[list[Telling]]
    for telling in told.tellings:
        by_day[telling.day].append(telling)
    return Life(seed, days, tuple(told.facts), tuple(map(tuple, by_day)), needs, slope)


# Statements


def _habit(told: _History, chance: np.random.Generator, days: int) -> None:
    frame = _one(chance, HABITS)
    fact = _fact(told, chance, frame, "habit")
    if fact is None:
        return
    how: How = "note" if chance.random() < 0.8 else "message"
    period = _one(chance, PERIODS)
    length = min(days, int(chance.integers(days // 6, days + 1)))
    first = int(chance.integers(0, days - length + 1))
    when = float(first)
    _tell(told, first, fact, fact.texts[0], how)
    while (when := when + period * chance.lognormal(0, 0.25)) < first + length:
        lot = chance.random()
        if lot < EXACT:
            _tell(told, int(when), fact, fact.texts[0], how)
        elif lot < NEARLY:
            text = _one(chance, AGAIN).format(text=_one(chance, fact.texts))
            _tell(told, int(when), fact, text, how)
        else:
            special = _special(told, chance, fact)
            _tell(told, int(when), special, special.texts[0], how)


def _special(told: _History, chance: np.random.Generator, habit: Fact) -> Fact:
    """Return a fact that adds a detail to one occurrence of a habit."""
    detail = _one(chance, DETAILS)
    values = _values(chance, detail, {"person": habit.values.get("person", "")})
    hook = next(value for slot, value in values.items() if slot != "person")
    fact = Fact(
        len(told.facts),
        "habit",
        (f"{_one(chance, habit.texts)} {_filled(detail, values)}",),
        tuple(f"{cue.rstrip('?')}, {hook}" for cue in habit.cues),
        habit.about,
        habit.frame,
        habit.values,
    )
    told.facts.append(fact)
    return fact


def _burst(told: _History, chance: np.random.Generator, days: int) -> None:
    """State the facts of a project, mostly in its first weeks; some of them twice."""
    length = int(chance.integers(14, 29))
    first = int(chance.integers(0, max(days - length, 1)))
    project = _one(chance, SLOTS["project"])
    people = [_one(chance, SLOTS["person"]) for _ in range(6)]
    for _ in range(BURST):
        who, other = chance.choice(len(people), 2, replace=False).tolist()
        fixed = {"project": project, "person": people[who], "other": people[other]}
        fact = _fact(told, chance, _one(chance, WORK), "burst", fixed)
        if fact is None:
            continue
        lot = chance.random()
        how: How = "message" if lot < 0.3 else "observation" if lot < 0.4 else "note"
        day = first + int(length * chance.beta(1.2, 2.0))
        _tell(told, day, fact, _one(chance, fact.texts), how)
        if chance.random() < 0.2 and how == "note":
            again = min(day + int(chance.integers(1, 8)), days - 1)
            _tell(told, again, fact, _one(chance, fact.texts), how)


def _once(told: _History, chance: np.random.Generator, days: int) -> None:
    fact = _fact(told, chance, _one(chance, FACTS), "one-off")
    if fact is None:
        return
    lot = chance.random()
    how: How = "message" if lot < 0.25 else "observation" if lot < 0.4 and fact.about else "note"
    _tell(told, int(chance.integers(0, days)), fact, _one(chance, fact.texts), how)


def _correct(told: _History, chance: np.random.Generator, days: int) -> None:
    """Correct some facts, and state some of the errors again later."""
    first = {telling.fact: telling for telling in reversed(told.tellings)}
    for fact in tuple(told.facts):
        telling = first.get(fact.id)
        if fact.sort == "habit" or telling is None or telling.how == "observation":
            continue
        day = telling.day + int(chance.integers(5, 61))
        if chance.random() >= CORRECTED or day >= days:
            continue
        (slot,) = _ANSWER.findall(fact.frame.tellings[0])
        values = dict(fact.values)
        while values[slot] == fact.values[slot]:
            values[slot] = _one(chance, SLOTS[slot])
        texts = tuple(_filled(one, values) for one in fact.frame.tellings)
        new = replace(fact, id=len(told.facts), texts=texts, values=values)
        told.facts.append(new)
        told.replaced_on[fact.id] = day
        told.corrections.add(new.id)
        _tell(
            told,
            day,
            new,
            _one(chance, texts),
            "note",
            is_explicit=chance.random() < EXPLICIT,
            corrects=fact.id,
        )
        copied = day + int(chance.integers(3, 40))
        if chance.random() < COPIED and copied < days:
            _tell(told, copied, fact, _one(chance, AGAIN).format(text=_one(chance, fact.texts)), "note")


def _tell(
    told: _History,
    day: int,
    fact: Fact,
    text: str,
    how: How,
    *,
    is_explicit: bool = False,
    corrects: int | None = None,
) -> None:
    told.tellings.append(Telling(day, fact.id, text, how, fact.about, corrects if is_explicit else None))
    told.memories.add((how, fact.about if how == "observation" else text, day if how == "message" else 0))


def _fact(
    told: _History,
    chance: np.random.Generator,
    frame: Frame,
    sort: Sort,
    fixed: Mapping[str, str] | None = None,
) -> Fact | None:
    """Add a fact and return it, or return None if its question already has another answer."""
    values = _values(chance, " ".join(frame.tellings), fixed or {})
    asked = sorted({slot for cue in frame.questions for slot in _SLOT.findall(cue)})
    key = frame, tuple(values[slot] for slot in asked)
    if key in told.cues:
        return None
    told.cues.add(key)
    about = next((values[slot] for slot in ("project", "person", "company") if slot in values), "")
    fact = Fact(
        len(told.facts),
        sort,
        tuple(_filled(one, values) for one in frame.tellings),
        tuple(_filled(one, values) for one in frame.questions),
        about,
        frame,
        values,
    )
    told.facts.append(fact)
    return fact


def _values(chance: np.random.Generator, text: str, fixed: Mapping[str, str]) -> dict[str, str]:
    values = dict(fixed)
    for slot in dict.fromkeys(_SLOT.findall(text)):
        while slot not in values or (slot == "other" and values[slot] == values.get("person")):
            values[slot] = _one(chance, SLOTS[slot])
    return values


def _filled(text: str, values: Mapping[str, str]) -> str:
    sentence = _SLOT.sub(lambda match: values[match.group(1)], text)
    return sentence[0].upper() + sentence[1:]


# Questions


def _needs(
    told: _History, chance: np.random.Generator, days: int, size: int
) -> tuple[tuple[tuple[Need, ...], ...], float]:
    count = len(told.facts)
    facts = np.array([telling.fact for telling in told.tellings])
    when = np.array([telling.day for telling in told.tellings], float)
    once = np.bincount(facts, minlength=count) == 1
    late = _late(told, chance, days, once, dict(zip(facts.tolist(), when.tolist(), strict=True)))
    replaced = np.full(count, days)
    replaced[list(told.replaced_on)] = list(told.replaced_on.values())
    made: list[tuple[Need, ...]] = []
    ages: list[np.ndarray] = []
    needed: list[np.ndarray] = []
    for day in range(days):
        past = when < day
        since = day - when[past]
        weight = np.bincount(facts[past], since**-FADES, minlength=count)
        weight[replaced <= day] = 0.0
        wanted = min(int(chance.poisson(NEEDS_PER_MEMORY * size / days)), int((weight > 0).sum()))
        picked = (
            chance.choice(count, wanted, replace=False, p=weight / weight.sum())
            if wanted
            else np.empty(0, int)
        )
        later = [fact for fact in late.get(day, ()) if replaced[fact] > day]
        made.append(
            tuple(
                _need(told, chance, day, int(fact), late=place >= len(picked))
                for place, fact in enumerate((*picked.tolist(), *later))
            )
        )
        last = np.full(count, -1.0)
        np.maximum.at(last, facts[past], when[past])
        known = (last >= 0) & (weight > 0)
        ages.append(day - last[known])
        needed.append(np.isin(np.flatnonzero(known), picked))
        facts = np.concatenate([facts, picked])
        when = np.concatenate([when, np.full(len(picked), float(day))])
    return tuple(made), _slope(np.concatenate(ages), np.concatenate(needed))


def _late(
    told: _History, chance: np.random.Generator, days: int, once: np.ndarray, told_on: Mapping[int, float]
) -> dict[int, list[int]]:
    late: dict[int, list[int]] = {}
    for fact in told.facts:
        day = int(told_on[fact.id]) + int(chance.integers(*LATE_DAYS))
        if fact.sort == "one-off" and once[fact.id] and chance.random() < LATE and day < days:
            late.setdefault(day, []).append(fact.id)
    return late


def _need(told: _History, chance: np.random.Generator, day: int, fact: int, *, late: bool) -> Need:
    known = told.facts[fact]
    query = f"{_one(chance, ASKING)}{_one(chance, known.cues)}"
    return Need(day, fact, query, known.sort, late, fact in told.corrections)


def _slope(ages: np.ndarray, needed: np.ndarray) -> float:
    bounds = np.unique(np.geomspace(1, max(ages.max(), 2), 12).astype(int))
    points = [
        (np.log(ages[inside].mean()), np.log(share / (1 - share)))
        for low, high in pairwise(bounds)
        if (inside := (ages >= low) & (ages < high)).any() and 0 < (share := needed[inside].mean()) < 1
    ]
    x, y = zip(*points, strict=True)
    return float(np.polyfit(x, y, 1)[0])


def _one(chance: np.random.Generator, among: Sequence[T]) -> T:
    return among[int(chance.integers(len(among)))]


def texts(made: Life) -> Iterator[str]:
    """Yield all statements and questions, to embed them in advance."""
    for day in range(made.days):
        yield from (telling.text for telling in made.tellings[day])
        yield from (need.query for need in made.needs[day])
