"""Route by the kind of question, and mix in the scores of a re-ranking model."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from recollect.domain.lazy_dataclass import dataclass
from recollect.language.words import lines
from recollect.ranking.candidates import Candidates, Floats, register_as, rescale
from recollect.ranking.steps import STEPS, Order, Rescale
from recollect.text.tokens import words

if TYPE_CHECKING:
    from recollect.domain.records import Query


class Strategy(StrEnum):
    COSINE_HEAVY = "cosine_heavy"
    HYBRID_BALANCED = "hybrid_balanced"
    LIMBIC_HEAVY = "limbic_heavy"


_POINTS = {"factual": 2, "intermediate": 1, "exploratory": -2}
# `…` means one or more words. The longest phrase wins: "relación entre" does not also count as "relación".
_PHRASES = sorted(
    ((tuple(line.split()), kind) for kind in _POINTS for line in lines("questions", f"routed {kind}")),
    key=lambda pair: (-len(pair[0]), pair[0]),
)


def points(query: str, limit: int | None = None) -> int:
    """Return the points of a query, higher for factual questions. Pass a `limit` only if the caller did."""
    asked = words(query)
    total = sum(_POINTS[kind] for kind in sorted(_kinds_of(asked)))
    total += _step(len(asked), low=3, high=10)
    return total if limit is None else total + _step(limit, low=3, high=10)


@lru_cache(maxsize=4096)  # the tuner repeats the same queries with each set of parameters
def strategy_for(query: str, limit: int | None = None) -> Strategy:
    total = points(query, limit)
    if total >= 2:
        return Strategy.COSINE_HEAVY
    return Strategy.LIMBIC_HEAVY if total <= -2 else Strategy.HYBRID_BALANCED


@register_as(STEPS, "route", reads=())
class Route:
    """Mix weight * base relevance + (1 - weight) * score; the weight depends on the kind of question.

    The score is stretched to [0, 1] over the candidates first. With `on` false, the step changes nothing.
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
    """Return the places of the phrase's words if it begins at `start`, otherwise an empty list."""
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


# Re-ranking: mixes a second model's scores of the first hits with their ranking scores.


@dataclass(frozen=True, slots=True)
class RerankBlend:
    """Mix share * reading + (1 - share) * score, over a sorted list. A reading is the second model's score.

    Scores are stretched to [0, 1] over the whole list, and readings over the candidates that were read. All
    other candidates have a reading of 0.
    """

    first: int = 20
    """Minimum length of the list; a higher limit makes it longer."""
    most: int = 50
    """Maximum number of candidates that the second model reads."""
    share: float = 0.3

    def list_length(self, limit: int) -> int:
        """Return the length of the list that the answer is cut from."""
        return max(self.first, limit)

    def read_count(self, limit: int) -> int:
        """Return how many candidates the second model reads."""
        return min(self.list_length(limit), self.most)

    def __call__(self, candidates: Candidates, readings: Floats, query: Query, name: str) -> Candidates:
        """Mix in `readings`, the second model's scores of the first candidates; higher is better."""
        if not len(candidates):
            return candidates
        score = candidates.score[: self.list_length(query.limit)]
        values = np.zeros(len(candidates))
        values[: len(readings)] = rescale(readings, readings.min(), readings.max())
        high = float(score.max())
        # Equal scores on the list all become 1; lower scores beyond the list become less than 1.
        low = high - 1 if score.min() == high else float(score.min())
        scaled = candidates.with_change("rescaled", "rescale", np.zeros(len(candidates)), low, high)
        mixed = scaled.with_change(f"re-ranking: {name}", "mix", values, self.share)
        return Order()(mixed, query)
