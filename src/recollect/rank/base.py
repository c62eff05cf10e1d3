"""Base relevance, and what limbic ranking does to the scores of a whole set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recollect.factors.candidates import Mark
from recollect.rank.fuse import positive_cosine

if TYPE_CHECKING:
    from recollect.factors.candidates import Candidates, Moment


@dataclass(frozen=True, slots=True)
class BaseRelevance:
    """The cosine; for what only words found, the fused score so far, stretched to [low, low + reach].

    base = max(0, cosine)                       found by meaning
    base = 0.2 + 0.6 * (rrf - min) / (max - min)   found by words alone; where all are equal, 0.8
    """

    low: float = 0.2
    reach: float = 0.6

    def __call__(self, candidates: Candidates, moment: Moment) -> Candidates:  # noqa: ARG002  # every step's form
        if not len(candidates):
            return candidates
        fused = candidates.score
        least, most = fused.min(), fused.max()
        share = np.ones_like(fused) if least == most else (fused - least) / (most - least)
        by_words = self.low + self.reach * share
        base = np.where(candidates.source("meaning").found, positive_cosine(candidates), by_words)
        return candidates.marked(Mark("base relevance", "set", base)).named("base")


@dataclass(frozen=True, slots=True)
class Keep:
    """Keep the score so far under a name, for a later step or for the answer."""

    name: str

    def __call__(self, candidates: Candidates, moment: Moment) -> Candidates:  # noqa: ARG002  # every step's form
        return candidates.named(self.name)


@dataclass(frozen=True, slots=True)
class Rescale:
    """Stretch the scores to [0, 1] over the candidates; where all are equal, all become 1."""

    on: bool = True

    def __call__(self, candidates: Candidates, moment: Moment) -> Candidates:  # noqa: ARG002  # every step's form
        if not self.on or not len(candidates):
            return candidates
        score = candidates.score
        numbers = (float(score.min()), float(score.max()))
        return candidates.marked(Mark("rescaled", "rescale", np.zeros_like(score), numbers))
