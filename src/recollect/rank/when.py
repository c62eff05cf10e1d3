"""Queries that speak of a time: part of the score is how near a memory lies to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recollect.factors.candidates import Mark
from recollect.factors.temporal import TemporalRelevance

if TYPE_CHECKING:
    from recollect.factors.candidates import Candidates, Moment


@dataclass(frozen=True, slots=True)
class TemporalBlend:
    """share * temporal relevance + (1 - share) * score, where the query speaks of a time (Cognis: 0.4)."""

    share: float = 0.4
    relevance: TemporalRelevance = field(default_factory=TemporalRelevance)

    def __call__(self, candidates: Candidates, moment: Moment) -> Candidates:
        if moment.span is None:
            return candidates
        return candidates.marked(Mark("temporal", "mix", self.relevance(candidates, moment), (self.share,)))
