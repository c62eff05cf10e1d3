"""Routing: what kind of question is this, and how far similarity or habit should answer it.

A query collects points: factual words +2, words of comparison +1, exploratory words -2 (each class once),
at most 3 words +1, at least 10 words -1; a limit that the caller gave of at most 3 +1, of at least 10 -1.
From 2 points up similarity leads (70/30), from -2 down the limbic score does (30/70), else they share.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from recollect.lazy_dataclass import dataclass
from recollect.ranking.steps.adjust import Rescale
from recollect.text.tokens import words

if TYPE_CHECKING:
    from recollect.query import Query
    from recollect.ranking.candidates import Candidates


class Strategy(StrEnum):
    COSINE_HEAVY = "cosine_heavy"
    HYBRID_BALANCED = "hybrid_balanced"
    LIMBIC_HEAVY = "limbic_heavy"


# Folded; `…` stands for one word or more. The longest phrase takes its words, so that in "relación
# entre" there is no "relación" left to count.
_FACTUAL = (
    "que es", "que son", "definicion", "como funciona", "como funcionan", "es un", "es una",
    "what is", "what are", "what s", "definition", "how does … work", "how do … work", "is a", "is an",
)  # fmt: skip
_INTERMEDIATE = (
    "relacion", "relaciones", "diferencia", "diferencias", "ejemplo", "ejemplos", "comparar", "compara",
    "relation", "relations", "relationship", "relationships", "difference", "differences", "example",
    "examples", "compare",
)  # fmt: skip
_EXPLORATORY = (
    "explicame", "relacion entre", "dime todo", "que piensas",
    "explain", "relation between", "relationship between", "tell me everything", "what do you think",
)  # fmt: skip
_POINTS = {"factual": 2, "intermediate": 1, "exploratory": -2}
_PHRASES = sorted(
    (
        (tuple(phrase.split()), kind)
        for kind, phrases in (
            ("factual", _FACTUAL),
            ("intermediate", _INTERMEDIATE),
            ("exploratory", _EXPLORATORY),
        )
        for phrase in phrases
    ),
    key=lambda pair: (-len(pair[0]), pair[0]),
)


def points(query: str, limit: int | None = None) -> int:
    """The query's points; `limit` only if the caller gave one."""
    asked = words(query)
    total = sum(_POINTS[kind] for kind in sorted(_kinds_of(asked)))
    total += _step(len(asked), low=3, high=10)
    return total if limit is None else total + _step(limit, low=3, high=10)


@lru_cache(maxsize=4096)  # the tuner asks for the same queries with each set of numbers
def strategy_for(query: str, limit: int | None = None) -> Strategy:
    total = points(query, limit)
    if total >= 2:
        return Strategy.COSINE_HEAVY
    return Strategy.LIMBIC_HEAVY if total <= -2 else Strategy.HYBRID_BALANCED


@dataclass(frozen=True, slots=True)
class Route:
    """weight * base relevance + (1 - weight) * score, the weight chosen by the kind of question.

    The score is stretched to [0, 1] over the candidates first. Switched off, neither happens.
    """

    cosine_heavy: float = 0.7
    hybrid_balanced: float = 0.5
    limbic_heavy: float = 0.3
    on: bool = True

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        if not self.on or not len(candidates):
            return candidates
        strategies = [
            strategy_for(each.text, each.limit if each.limit_given else None) for each in query.queries
        ]
        weight = candidates.by_query([float(getattr(self, strategy.value)) for strategy in strategies])
        base = candidates.named_values["base"]
        rescaled = Rescale()(candidates, query)
        return rescaled.with_change(f"routing: {strategies[0].value}", "mix", base, weight)


def _step(number: int, low: int, high: int) -> int:
    if number <= low:
        return 1
    return -1 if number >= high else 0


def _kinds_of(asked: list[str]) -> set[str]:
    free = [True] * len(asked)
    kinds = set()
    starts: dict[str, list[int]] = {}
    for place, word in enumerate(asked):
        starts.setdefault(word, []).append(place)
    for phrase, kind in _PHRASES:
        for start in starts.get(phrase[0], ()):
            places = _places(phrase, asked, start)
            if places and all(free[place] for place in places):
                kinds.add(kind)
                for place in places:
                    free[place] = False
    return kinds


def _places(phrase: tuple[str, ...], asked: list[str], start: int) -> list[int]:
    """Where the phrase's words stand if it begins at `start`; empty if it does not."""
    places: list[int] = []
    at = start
    gap = False
    for word in phrase:
        if word == "…":
            at, gap = at + 1, True
            continue
        if gap:
            at = next((place for place in range(at, len(asked)) if asked[place] == word), len(asked))
        if at >= len(asked) or asked[at] != word:
            return []
        places.append(at)
        at, gap = at + 1, False
    return places
