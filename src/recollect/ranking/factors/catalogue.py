"""Every factor by the name that profiles are written with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from recollect.ranking.factors.content import Importance, NamedSpeaker
from recollect.ranking.factors.dream_traces import DepthWeight, Spread, Stability, Strength, Tempered
from recollect.ranking.factors.limbic import Cooccurrence, Forgetting, MetadataWeight, Salience, StatusWeight
from recollect.ranking.factors.recency import (
    CognisRecency,
    MnemosyneRecency,
    ReverieRecency,
    TemporalRelevance,
)

if TYPE_CHECKING:
    from recollect.query import Query
    from recollect.ranking.candidates import Candidates, Floats


class Factor(Protocol):
    """A frozen value that gives each candidate a number."""

    def __call__(self, candidates: Candidates, query: Query) -> Floats: ...


# Stored in profiles, tuned numbers and answers: a class may get another name, but not a factor.
FACTORS: dict[str, type[Factor]] = {
    "salience": Salience,
    "forgetting": Forgetting,
    "cooccurrence": Cooccurrence,
    "status": StatusWeight,
    "metadata": MetadataWeight,
    "fading": MnemosyneRecency,
    "fresh": ReverieRecency,
    "just": CognisRecency,
    "importance": Importance,
    "strength": Strength,
    "depth": DepthWeight,
    "spread": Spread,
    "stability": Stability,
    "tempered": Tempered,
    "temporal": TemporalRelevance,
    "named": NamedSpeaker,
}
_NAMES = {factor: name for name, factor in FACTORS.items()}


def factor_name(factor: Factor) -> str:
    return _NAMES[type(factor)]
