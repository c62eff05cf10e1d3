"""What a profile reads of its candidates beside their own rows, so that nothing is fetched in vain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Literal, get_args

from recollect.ranking.factors.content import Importance, NamedSpeaker
from recollect.ranking.factors.dream_traces import DepthWeight, Spread, Stability, Strength, Tempered
from recollect.ranking.factors.limbic import Cooccurrence, Forgetting, MetadataWeight, Salience, StatusWeight
from recollect.ranking.factors.recency import CognisRecency, MnemosyneRecency, ReverieRecency
from recollect.ranking.pipeline import Profile
from recollect.ranking.steps.adjust import BaseRelevance, Keep, Plus, Rescale, TemporalBlend, Times
from recollect.ranking.steps.contradictions import NewestWins
from recollect.ranking.steps.evidence import (
    ConversationScore,
    DrawnNotes,
    MeaningScore,
    OriginScore,
    TokenScore,
    WordScore,
)
from recollect.ranking.steps.finish import Cut, DropEcho, DropRepeats, Order, Threshold
from recollect.ranking.steps.fuse import Blend, Linear, Rrf, WeightedRrf
from recollect.ranking.steps.links import LinkScore
from recollect.ranking.steps.route import Route
from recollect.ranking.steps.time import TimeFirst, TimeScore

FactGroup = Literal["usage", "degree", "metadata", "temper", "cooccurrence"]
"""Facts of a memory that stand in other tables than its own row."""
EVERY_GROUP: frozenset[FactGroup] = frozenset(get_args(FactGroup))

_BY_FACTOR: dict[type[Any], frozenset[FactGroup]] = {
    Salience: frozenset({"usage", "degree"}),
    Forgetting: frozenset({"usage"}),
    Cooccurrence: frozenset({"cooccurrence"}),
    MetadataWeight: frozenset({"metadata"}),
    Stability: frozenset({"usage"}),
    Tempered: frozenset({"temper"}),
}
_OF_OWN_ROW: tuple[type[Any], ...] = (
    Importance, NamedSpeaker, StatusWeight, CognisRecency, MnemosyneRecency, ReverieRecency, Strength,
    DepthWeight, Spread, BaseRelevance, Blend, ConversationScore, Cut, DrawnNotes, DropEcho, DropRepeats,
    Keep, Linear, LinkScore, MeaningScore, NewestWins, Order, OriginScore, Rescale, Route, Rrf, TemporalBlend,
    Threshold, TimeFirst, TimeScore, TokenScore, WeightedRrf, WordScore,
)  # fmt: skip
_READS = _BY_FACTOR | dict.fromkeys(_OF_OWN_ROW, frozenset())


def groups_read(profiles: Iterable[Profile]) -> frozenset[FactGroup]:
    """By any of these. A step that nobody has listed here may read anything."""
    return frozenset[FactGroup]().union(*map(_groups_read, profiles))


@lru_cache(maxsize=64)
def _groups_read(profile: Profile) -> frozenset[FactGroup]:
    readers = [reader for step in profile.steps for reader in _readers(step)]
    return frozenset[FactGroup]().union(*(_READS.get(type(reader), EVERY_GROUP) for reader in readers))


@lru_cache(maxsize=64)
def ignores_marks(profile: Profile) -> bool:
    """Whether texts that differ only in marks between their words are repeats to it."""
    return any(isinstance(step, DropRepeats) and step.ignore_marks for step in profile.steps)


def _readers(step: object) -> Iterator[object]:
    """What of a step looks at the candidates: itself, or its factor, and the factor within that one."""
    if isinstance(step, Times | Plus):
        yield from _readers(step.factor)
        return
    yield step
    if isinstance(step, Tempered):
        yield from _readers(step.of)
