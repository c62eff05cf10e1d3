"""Observations that nearly repeat one that was there: flagged, never dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.engine.meaning import embedder_of
from recollect.engine.results import Similar
from recollect.errors import ModelUnavailable
from recollect.records import FlagSimilar
from recollect.text.same import CONTAINED, SIMILAR, containment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recollect.engine.parts import Parts
    from recollect.ports import Embedder
    from recollect.records import Added, Memory, Observation

# Comparing by meaning costs an embedding for each text, so only the likeliest few are compared, and an
# entity that gains very many at once is left to the reports that look for duplicates.
_COMPARED = 8
_MOST_NEW = 50


def flag_similar(parts: Parts, added: Mapping[int, Sequence[Added]]) -> dict[int, tuple[Similar, ...]]:
    """Compare the new observations of each entity with its older ones, and note what is alike."""
    with parts.store.read() as view:
        memories = view.memories(list(added))
    try:
        embedder = embedder_of(parts)
    except ModelUnavailable:
        embedder = None
    found = {
        entity: tuple(_alike(memories[entity], {new.id for new in news}, embedder))
        for entity, news in added.items()
        if entity in memories and 0 < len(news) <= _MOST_NEW
    }
    flags = [
        FlagSimilar(pair.observation, pair.similar_to, pair.similarity)
        for pairs in found.values()
        for pair in pairs
    ]
    if flags:
        parts.store.apply(flags, at=parts.clock())
    return found


def _alike(memory: Memory, new_ids: set[int], embedder: Embedder | None) -> list[Similar]:
    """For each new observation, the older one that is most like it, if any is."""
    pairs = []
    older: list[Observation] = []
    for observation in memory.in_force:
        if observation.id in new_ids:
            match = _closest(observation, older, embedder)
            if match is not None:
                other, similarity = match
                pairs.append(
                    Similar(observation.id, observation.content, other.id, other.content, similarity)
                )
        older.append(observation)
    return pairs


def _closest(
    new: Observation, older: Sequence[Observation], embedder: Embedder | None
) -> tuple[Observation, float] | None:
    contained = [(other, containment(new.content, other.content)) for other in older]
    matches = [(other, share) for other, share in contained if share >= CONTAINED]
    if embedder is not None:
        matches += [pair for pair in _cosines(new, older, embedder) if pair[1] >= SIMILAR]
    return max(matches, key=lambda pair: (pair[1], -pair[0].id), default=None)


def _cosines(
    new: Observation, older: Sequence[Observation], embedder: Embedder
) -> list[tuple[Observation, float]]:
    """Cosines of the plain contents; the entity's name, which all share, would make all alike."""
    likeliest = sorted(older, key=lambda other: (-_shared(new.content, other.content), -other.id))[:_COMPARED]
    if not likeliest:
        return []
    rows = embedder.documents([new.content, *(other.content for other in likeliest)])
    cosines = np.vecdot(rows[1:], rows[0])
    return [(other, float(cosine)) for other, cosine in zip(likeliest, cosines, strict=True)]


def _shared(one: str, other: str) -> float:
    """How many letter triples two texts share: a cheap guess at likeness."""
    first, second = _triples(one), _triples(other)
    return len(first & second) / (1 + len(first | second))


def _triples(text: str) -> set[str]:
    folded = text.casefold()
    return {folded[start : start + 3] for start in range(len(folded) - 2)}
