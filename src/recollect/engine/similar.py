"""Observations that nearly repeat one that was there: flagged, never dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.changes import FlagSimilar
from recollect.engine.meaning import embedder_of
from recollect.engine.observation_rows import stored_rows
from recollect.engine.results import Similar
from recollect.errors import ModelUnavailable
from recollect.text.same import CONTAINED, SIMILAR, containment
from recollect.text.words import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recollect.changes import Added
    from recollect.engine.parts import Parts
    from recollect.ports import Embedder, Vector
    from recollect.records import Memory, Observation

# Comparing by meaning costs an embedding for each text, so only the likeliest few are compared: by their
# letters, and by the vectors that the store has of them. An entity that gains very many at once is left to
# the reports that look for duplicates.
_COMPARED = 8
_MOST_NEW = 50
_FEWEST_WORDS = 2


def flag_similar(parts: Parts, added: Mapping[int, Sequence[Added]]) -> dict[int, tuple[Similar, ...]]:
    """Compare the new observations of each entity with its older ones, and note what is alike."""
    few = {entity: news for entity, news in added.items() if 0 < len(news) <= _MOST_NEW}
    if not few:
        return {}
    with parts.store.read() as view:
        memories = view.memories(list(few))
        stored = {entity: stored_rows(view, [memory]) for entity, memory in memories.items()}
    try:
        found = _found(few, memories, stored, embedder_of(parts))
    except ModelUnavailable:
        # What was written stands; words alone can be compared.
        found = _found(few, memories, stored, None)
    flags = [
        FlagSimilar(pair.observation, pair.similar_to, pair.similarity)
        for pairs in found.values()
        for pair in pairs
    ]
    if flags:
        parts.store.apply(flags, at=parts.clock())
    return found


def _found(
    added: Mapping[int, Sequence[Added]],
    memories: Mapping[int, Memory],
    stored: Mapping[int, Mapping[int, Vector]],
    embedder: Embedder | None,
) -> dict[int, tuple[Similar, ...]]:
    return {
        entity: tuple(_alike(memories[entity], {new.id for new in news}, stored[entity], embedder))
        for entity, news in added.items()
        if entity in memories
    }


def _alike(
    memory: Memory, new_ids: set[int], stored: Mapping[int, Vector], embedder: Embedder | None
) -> list[Similar]:
    """For each new observation, the older one that is most like it, if any is."""
    pairs = []
    older: list[Observation] = []
    for observation in memory.in_force:
        if observation.id in new_ids:
            match = _closest(observation, older, stored, embedder)
            if match is not None:
                other, similarity = match
                pairs.append(
                    Similar(observation.id, observation.content, other.id, other.content, similarity)
                )
        older.append(observation)
    return pairs


def _closest(
    new: Observation, older: Sequence[Observation], stored: Mapping[int, Vector], embedder: Embedder | None
) -> tuple[Observation, float] | None:
    contained = [(other, containment(new.content, other.content)) for other in older]
    matches = [(other, share) for other, share in contained if share >= CONTAINED]
    # Of a word or two, a model knows too little: it takes "yes" and "no" for the same.
    if embedder is not None and len(words(new.content)) >= _FEWEST_WORDS:
        matches += [pair for pair in _cosines(new, older, stored, embedder) if pair[1] >= SIMILAR]
    return max(matches, key=lambda pair: (pair[1], -pair[0].id), default=None)


def _cosines(
    new: Observation, older: Sequence[Observation], stored: Mapping[int, Vector], embedder: Embedder
) -> list[tuple[Observation, float]]:
    """Cosines of the plain contents; the entity's name, which all share, would make all alike."""
    likeliest = _likeliest(new, older, stored)
    if not likeliest:
        return []
    rows = embedder.documents([new.content, *(other.content for other in likeliest)])
    # Rounding may carry a cosine past one.
    cosines = np.minimum(1.0, np.vecdot(rows[1:], rows[0]))
    return [(other, float(cosine)) for other, cosine in zip(likeliest, cosines, strict=True)]


def _likeliest(
    new: Observation, older: Sequence[Observation], stored: Mapping[int, Vector]
) -> list[Observation]:
    letters = sorted(older, key=lambda other: (-_shared(new.content, other.content), -other.id))
    known = [other for other in older if other.id in stored] if new.id in stored else []
    meaning = sorted(known, key=lambda other: (-float(stored[other.id] @ stored[new.id]), -other.id))
    return list(dict.fromkeys((*letters[:_COMPARED], *meaning[:_COMPARED])))


def _shared(one: str, other: str) -> float:
    """How many letter triples two texts share: a cheap guess at likeness."""
    first, second = _triples(one), _triples(other)
    return len(first & second) / (1 + len(first | second))


def _triples(text: str) -> set[str]:
    folded = text.casefold()
    return {folded[start : start + 3] for start in range(len(folded) - 2)}
