"""Steps that change the score of each candidate: by a factor, by base relevance, by time, by a scale."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from recollect.lazy_dataclass import dataclass
from recollect.ranking.candidates import Candidates, rescaled
from recollect.ranking.factors.catalogue import Factor, factor_name
from recollect.ranking.factors.limbic import ComposedFactor
from recollect.ranking.factors.recency import TemporalRelevance
from recollect.ranking.steps.fuse import positive_cosine

if TYPE_CHECKING:
    from recollect.query import Query


@dataclass(frozen=True, slots=True)
class Times:
    """Multiply the score by a factor, while it is switched on; a score below 0 is divided by it.

    So a factor below 1 lowers every score, and one above 1 raises every score. The number that a published
    factor is made of is kept under its own name, such as `importance`.
    """

    factor: Factor
    on: bool = True

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        if not self.on:
            return candidates
        if isinstance(self.factor, ComposedFactor):
            part = self.factor.part(candidates, query)
            candidates, values = candidates.with_values(self.factor.part_name, part), self.factor.whole(part)
        else:
            values = self.factor(candidates, query)
        below = (candidates.score < 0) & (values > 0)
        values = np.where(below, 1 / np.where(below, values, 1.0), values)
        return candidates.with_change(factor_name(self.factor), "times", values)


@dataclass(frozen=True, slots=True)
class Plus:
    """Add weight * factor to the score, while it is switched on."""

    factor: Factor
    weight: float = 1.0
    on: bool = True

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        if not self.on:
            return candidates
        values = self.weight * self.factor(candidates, query)
        return candidates.with_change(factor_name(self.factor), "plus", values)


@dataclass(frozen=True, slots=True)
class TemporalBlend:
    """share * temporal relevance + (1 - share) * score, where the query speaks of a time (Cognis: 0.4)."""

    share: float = 0.4
    relevance: TemporalRelevance = field(default_factory=TemporalRelevance)

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        if not any(each.span for each in query.queries):
            return candidates
        share = candidates.by_query([self.share if each.span else 0.0 for each in query.queries])
        return candidates.with_change("temporal", "mix", self.relevance(candidates, query), share)


@dataclass(frozen=True, slots=True)
class BaseRelevance:
    """The cosine; for what only words found, the fused score so far, stretched to [low, low + reach].

    base = max(0, cosine)                       found by meaning
    base = 0.2 + 0.6 * (rrf - min) / (max - min)   found by words alone; where all are equal, 0.8
    """

    low: float = 0.2
    reach: float = 0.6

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        if not len(candidates):
            return candidates
        fused = candidates.score
        share = rescaled(fused, candidates.lowest(fused), candidates.highest(fused))
        by_words = self.low + self.reach * share
        base = np.where(candidates.source("meaning").found, positive_cosine(candidates), by_words)
        return candidates.with_change("base relevance", "set", base).with_values("base")


@dataclass(frozen=True, slots=True)
class Keep:
    """Keep the score so far under a name, for a later step or for the answer."""

    name: str

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        return candidates.with_values(self.name)


@dataclass(frozen=True, slots=True)
class Rescale:
    """Stretch the scores to [0, 1] over the candidates; where all are equal, all become 1."""

    on: bool = True

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        if not self.on or not len(candidates):
            return candidates
        score = candidates.score
        low, high = candidates.lowest(score), candidates.highest(score)
        return candidates.with_change("rescaled", "rescale", np.zeros_like(score), low, high)
