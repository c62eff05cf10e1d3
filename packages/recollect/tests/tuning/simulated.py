"""A user whose taste and attention are known, and the log that they leave."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.domain.records import Query
from recollect.ranking.candidates import DAY, HOUR, NEVER, Candidates, Cooccurrences, Facts, Source, run
from recollect.ranking.profiles import LIMBIC
from recollect.tuning.events import Event
from recollect.tuning.knobs import with_knobs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recollect.domain.records import Arm
    from recollect.ranking.candidates import Profile

NOW = 1_772_366_400_000_000  # 2026-03-01 12:00 UTC
LIMIT = 10
TASTE = (0.9, 0.6, 0.3)
"""Probabilities that the user uses their best three, once seen."""


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    candidates: Candidates
    context: Query
    wanted: Mapping[int, float]
    """By memory, the chance of its use once it is looked at."""


@dataclass(frozen=True, slots=True)
class User:
    """Looks at place p with chance p ** -eta, and wants what the profile with these numbers puts first."""

    eta: float = 1.0
    knobs: Mapping[str, float] | None = None
    arms: tuple[Arm, ...] = ("ours", "baseline", "interleaved")
    whim: float = 0.0
    """Probability that the user uses anything else, once seen."""

    def questions(self, count: int, chance: np.random.Generator, size: int = 30) -> list[Question]:
        made = []
        taste = with_knobs(LIMBIC, self.knobs or {})
        for number in range(count):
            candidates, context = together(gathered(size, chance), chance, f"question {number}")
            best = run(taste, candidates, context).ids.tolist()
            made.append(Question(context.text, candidates, context, dict(zip(best, TASTE, strict=False))))
        return made

    def log(
        self,
        questions: Sequence[Question],
        asked: int,
        profile: Profile,
        chance: np.random.Generator,
        *,
        shuffled: bool = True,
    ) -> list[Event]:
        """Events in which every question is asked several times, in random order or one after the other."""
        order = np.repeat(np.arange(len(questions)), asked)
        if shuffled:
            chance.shuffle(order)
        ours = [tuple(run(profile, one.candidates, one.context).ids.tolist()) for one in questions]
        plain = [by_meaning(one.candidates) for one in questions]
        events = []
        for at, place in enumerate(order.tolist()):
            one, arm = questions[place], self.arms[int(chance.integers(len(self.arms)))]
            context = replace(one.context, now=one.context.now + at)
            both = {"ours": ours[place], "baseline": plain[place]}
            shown = both[arm] if arm in both else in_turns(ours[place], plain[place], chance)
            looked = chance.random(len(shown)) < np.arange(1, len(shown) + 1) ** -self.eta
            likes = chance.random(len(shown)) < [one.wanted.get(id_, self.whim) for id_ in shown]
            used = {id_: 1.0 for id_, saw, liked in zip(shown, looked, likes, strict=True) if saw and liked}
            events.append(
                Event(
                    at + 1, context.now, one.text, profile.name, arm, shown, ours[place], plain[place],
                    one.candidates, context, used, against="similarity",
                )
            )  # fmt: skip
        return events


def in_turns(ours: Sequence[int], plain: Sequence[int], chance: np.random.Generator) -> tuple[int, ...]:
    """Both rankings in one list, as earlier versions showed and logged them: a coin says who picks first."""
    shown: list[int] = []
    while len(shown) < LIMIT:
        for ranking in (ours, plain) if chance.random() < 0.5 else (plain, ours):
            shown += [id_ for id_ in ranking if id_ not in shown][:1]
    return tuple(shown[:LIMIT])


def true_worth(questions: Sequence[Question], profile: Profile) -> float:
    """NDCG@10 by the user's own taste, which no log shows: the mean over all questions."""
    worth = []
    for one in questions:
        ranked = run(profile, one.candidates, one.context).ids.tolist()
        found = sum(one.wanted.get(id_, 0.0) / np.log2(2 + place) for place, id_ in enumerate(ranked))
        ideal = sum(chance / np.log2(2 + place) for place, chance in enumerate(one.wanted.values()))
        worth.append(found / ideal)
    return float(np.mean(worth))


def by_meaning(candidates: Candidates) -> tuple[int, ...]:
    score = np.nan_to_num(candidates.source("meaning").score, nan=-1.0)
    return tuple(candidates.ids[np.lexsort((candidates.ids, -score))][:LIMIT].tolist())


def gathered(size: int, chance: np.random.Generator) -> Candidates:
    """Alike in meaning, unlike in how they were used."""
    ids = np.sort(chance.choice(100_000, size, replace=False)) + 1
    accesses = np.minimum(chance.geometric(0.1, size), 60)
    ones, times = np.ones(size), NOW - chance.integers(0, 100 * DAY, (3, size))
    # Columns that this user does not care about are 0.
    columns: dict[str, Any] = {name: np.zeros(size, np.int64) for name in Facts.__slots__} | {
        "ids": ids,
        "created_at": times[0],
        "updated_at": times[1],
        "happened_at": np.full(size, NEVER),
        "last_access": times[2],
        "access_count": accesses,
        "access_days": np.minimum(accesses, 5),
        "degree": chance.integers(0, 15, size),
        "importance": chance.random(size),
        "strength": ones,
        "depth": np.full(size, 2),
        "spread": np.ones(size, np.int64),
        "stability": ones,
        "metadata_share": np.zeros(size),
        "content": -ids,
        "echo": np.zeros(size, bool),
        "origin": ids,
    }
    facts = Facts(**columns)
    order = chance.permutation(size)
    meaning = Source(np.argsort(order) + 1, np.linspace(0.8, 0.5, size)[np.argsort(order)])
    words = Source(np.zeros(size, np.int64), np.full(size, np.nan))
    return Candidates(facts, {"meaning": meaning, "words": words}, np.zeros(size))


def together(candidates: Candidates, chance: np.random.Generator, query: str) -> tuple[Candidates, Query]:
    """A few of them were often seen together, and a query for them."""
    often = np.sort(chance.choice(len(candidates), 8, replace=False))
    first, second = np.triu_indices(8, 1)
    count = chance.integers(1, 30, len(first))
    last = NOW - chance.integers(0, 48 * HOUR, len(first))
    pairs = Cooccurrences(often[first], often[second], count, last)
    return replace(candidates, cooccurrences=pairs), Query(query, NOW, LIMIT)
