"""The step that adds what an entity's relation to somebody whom the query names says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.lazy_dataclass import dataclass
from recollect.ranking.candidates import known_or_zero

if TYPE_CHECKING:
    from recollect.query import Query
    from recollect.ranking.candidates import Candidates


@dataclass(frozen=True, slots=True)
class LinkScore:
    """Add weight * how much of its relation to somebody whom the query names the query says.

    "Who worked with Ada?" asks for whom the graph ties to her, who may not say so.
    """

    weight: float = 0.6

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        links = candidates.source("linked")
        if not links.found.any():
            return candidates
        return candidates.with_change("linked", "plus", self.weight * known_or_zero(links.score))
