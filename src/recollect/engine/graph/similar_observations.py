"""Observations that nearly repeat one that was there: flagged, never dropped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from recollect.changes import Added, FlagSimilar
from recollect.engine.embedding import embedder_of
from recollect.engine.graph.observation_vectors import stored_rows
from recollect.engine.results import SimilarObservation
from recollect.engine.services import Services
from recollect.errors import ModelUnavailable
from recollect.lazy_dataclass import dataclass
from recollect.ports import Embedder, Vector
from recollect.records import Memory, Observation
from recollect.retrieval.records import memories_by_id
from recollect.text.near_duplicates import (
    CONTAINED_SHARE,
    SIMILAR_COSINE,
    containment,
    has_meaning,
    trigram_similarity,
    usual_cosine,
)

# Comparing by meaning costs an embedding for each text, so only the likeliest few are compared: by their
# letters, and by the vectors that the store has of them. An entity that gains very many at once is left to
# the reports that look for duplicates.
_COMPARED = 8
_MOST_NEW = 50


def flag_similar_observations(
    services: Services, added: Mapping[int, Sequence[Added]]
) -> dict[int, tuple[SimilarObservation, ...]]:
    """Compare the new observations of each entity with its older ones, and note what is alike."""
    few = {entity: news for entity, news in added.items() if 0 < len(news) <= _MOST_NEW}
    if not few:
        return {}
    with services.store.read() as view:
        memories = memories_by_id(view, list(few))
        stored = {entity: stored_rows(view, [memory]) for entity, memory in memories.items()}
    try:
        found = _found(few, memories, stored, embedder_of(services))
    except ModelUnavailable:
        # What was written stands; words alone can be compared.
        found = _found(few, memories, stored, None)
    flags = [
        FlagSimilar("observation", pair.observation, pair.similar_to, pair.similarity)
        for pairs in found.values()
        for pair in pairs
    ]
    if flags:
        services.write(flags)
    return found


def _found(
    added: Mapping[int, Sequence[Added]],
    memories: Mapping[int, Memory],
    stored: Mapping[int, Mapping[int, Vector]],
    embedder: Embedder | None,
) -> dict[int, tuple[SimilarObservation, ...]]:
    by_meaning = embedder is not None
    compared = {
        entity: list(
            _compared(memories[entity], {new.id for new in news}, stored[entity], by_meaning=by_meaning)
        )
        for entity, news in added.items()
        if entity in memories
    }
    rows = {} if embedder is None else _plain(chain.from_iterable(compared.values()), embedder)
    name = "" if embedder is None else embedder.model.name
    return {entity: tuple(_alike(each, rows, name)) for entity, each in compared.items()}


@dataclass(frozen=True, slots=True)
class _Compared:
    """A new observation, all that were there before it, and those whose meaning is compared with its own."""

    new: Observation
    older: Sequence[Observation]
    likeliest: Sequence[Observation]


def _compared(
    memory: Memory, new_ids: set[int], stored: Mapping[int, Vector], *, by_meaning: bool
) -> Iterator[_Compared]:
    for place, observation in enumerate(memory.in_force):
        if observation.id in new_ids and place:
            older = memory.in_force[:place]
            told = by_meaning and has_meaning(observation.content)
            yield _Compared(observation, older, _likeliest(observation, older, stored) if told else ())


def _plain(compared: Iterable[_Compared], embedder: Embedder) -> dict[str, Vector]:
    """Vectors of the contents by themselves, each embedded once, however many it is compared with.

    The entity's name, which all of its passages share, would make all alike.
    """
    texts = list(
        dict.fromkeys(
            seen.content for each in compared if each.likeliest for seen in (each.new, *each.likeliest)
        )
    )
    return dict(zip(texts, embedder.documents(texts), strict=True)) if texts else {}


def _alike(
    compared: Iterable[_Compared], rows: Mapping[str, Vector], model: str
) -> Iterator[SimilarObservation]:
    """For each new observation, the older one that is most like it, if any is."""
    for each in compared:
        shares = [(other, containment(each.new.content, other.content)) for other in each.older]
        matches = [(other, share) for other, share in shares if share >= CONTAINED_SHARE]
        if rows:
            matches += [pair for pair in _cosines(each, rows, model) if pair[1] >= SIMILAR_COSINE]
        if matches:
            other, similarity = max(matches, key=lambda pair: (pair[1], -pair[0].id))
            yield SimilarObservation(each.new.id, each.new.content, other.id, other.content, similarity)


def _cosines(each: _Compared, rows: Mapping[str, Vector], model: str) -> list[tuple[Observation, float]]:
    if not each.likeliest:
        return []
    others = np.stack([rows[other.content] for other in each.likeliest])
    # Rounding may carry a cosine past one.
    cosines = np.minimum(1.0, np.vecdot(others, rows[each.new.content]))
    usual = (usual_cosine(float(cosine), model) for cosine in cosines)
    return list(zip(each.likeliest, usual, strict=True))


def _likeliest(
    new: Observation, older: Sequence[Observation], stored: Mapping[int, Vector]
) -> list[Observation]:
    letters = sorted(older, key=lambda other: (-trigram_similarity(new.content, other.content), -other.id))
    known = [other for other in older if other.id in stored] if new.id in stored else []
    meaning = sorted(known, key=lambda other: (-float(stored[other.id] @ stored[new.id]), -other.id))
    return list(dict.fromkeys((*letters[:_COMPARED], *meaning[:_COMPARED])))
