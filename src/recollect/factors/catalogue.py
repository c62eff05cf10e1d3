"""Every factor by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from recollect.factors.asks import Asks
from recollect.factors.cooccurrence import Cooccurrence
from recollect.factors.depth import DepthWeight
from recollect.factors.forgetting import Forgetting
from recollect.factors.importance import Importance
from recollect.factors.metadata import MetadataWeight
from recollect.factors.named import Named
from recollect.factors.recency import Fading, Fresh, Just
from recollect.factors.salience import Salience
from recollect.factors.spread import Spread
from recollect.factors.stability import Stability
from recollect.factors.status import StatusWeight
from recollect.factors.strength import Strength
from recollect.factors.temporal import TemporalRelevance

if TYPE_CHECKING:
    from recollect.factors.candidates import Candidates, Floats, Moment


class Factor(Protocol):
    """A frozen value that gives each candidate a number."""

    def __call__(self, candidates: Candidates, moment: Moment) -> Floats: ...


Composed = Salience | Forgetting | Cooccurrence
"""Made of a number that has a name of its own where they were published: factor = whole(part)."""

FACTORS: dict[str, type[Factor]] = {
    "salience": Salience,
    "forgetting": Forgetting,
    "cooccurrence": Cooccurrence,
    "status": StatusWeight,
    "metadata": MetadataWeight,
    "fading": Fading,
    "fresh": Fresh,
    "just": Just,
    "importance": Importance,
    "strength": Strength,
    "depth": DepthWeight,
    "spread": Spread,
    "stability": Stability,
    "temporal": TemporalRelevance,
    "named": Named,
    "asks": Asks,
}
_NAMES = {factor: name for name, factor in FACTORS.items()}


def name_of(factor: Factor) -> str:
    return _NAMES[type(factor)]
