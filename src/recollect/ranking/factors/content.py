"""Factors of what a memory says, and of what its writer said it is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from recollect.query import Query
    from recollect.ranking.candidates import Candidates, Floats


@dataclass(frozen=True, slots=True)
class Importance:
    """What the writer said a memory is worth, from 0 to 1."""

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        return candidates.facts.importance


@dataclass(frozen=True, slots=True)
class NamedSpeaker:
    """1 for what was said by somebody whom the query names, else 0.

    What nobody said, a note or an entity, counts as theirs where it names them.
    """

    def __call__(self, candidates: Candidates, query: Query) -> Floats:
        return candidates.facts.named.astype(np.float64)
