"""Re-ranking: mixes what a second model makes of the first places of a list with the score that they had."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.lazy_dataclass import dataclass
from recollect.ranking.candidates import Candidates, Floats, rescaled
from recollect.ranking.steps.finish import Order

if TYPE_CHECKING:
    from recollect.query import Query


@dataclass(frozen=True, slots=True)
class RerankBlend:
    """share * reading + (1 - share) * score, over a list that is sorted already.

    The scores are stretched to [0, 1] over the first `listed`, the readings over the first `read`, which are
    those that have one; all others read as 0. So whoever was not read stays below whoever was, in the order
    that they had.
    """

    first: int = 20
    """How long the list is at the least; where the limit is higher, it is as long as that."""
    most: int = 50
    """How many of it are read at the most."""
    share: float = 0.3

    def listed(self, limit: int) -> int:
        """How long a list the answer is cut from."""
        return max(self.first, limit)

    def read(self, limit: int) -> int:
        """How many of it the second reader is given."""
        return min(self.listed(limit), self.most)

    def __call__(self, candidates: Candidates, readings: Floats, query: Query, name: str) -> Candidates:
        """`readings` are those of the first so many, the higher the better."""
        if not len(candidates):
            return candidates
        score = candidates.score[: self.listed(query.limit)]
        values = np.zeros(len(candidates))
        values[: len(readings)] = rescaled(readings, readings.min(), readings.max())
        high = float(score.max())
        # Equal scores all become 1, and what is below them, and not listed, less than that.
        low = high - 1 if score.min() == high else float(score.min())
        scaled = candidates.with_change("rescaled", "rescale", np.zeros(len(candidates)), low, high)
        mixed = scaled.with_change(f"re-ranking: {name}", "mix", values, self.share)
        return Order()(mixed, query)
