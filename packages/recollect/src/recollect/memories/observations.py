"""Vectors of observations, and the search for new observations that nearly repeat older ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from recollect.domain.changes import Added, FlagSimilar
from recollect.domain.errors import ModelUnavailable
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.numbers import normalised, unpack_vector
from recollect.domain.records import Kind, Memory, Observation
from recollect.domain.results import SimilarObservation
from recollect.search.texts import count_by_kind, memory_page, passages_of, vectors_of
from recollect.services import Services, retry_after_failover
from recollect.stores.port import Embedder, Progress, Snapshot, Vector
from recollect.text.near_duplicates import (
    CONTAINED_SHARE,
    SIMILAR_COSINE,
    are_two_facts,
    containment,
    has_meaning,
    trigram_similarity,
    usual_cosine,
)
from recollect.text.passages import passage_spans, passage_text
from recollect.write.embedding import embedded_texts, embedder_of

_PAGE = 200


def memory_pages(
    services: Services, view: Snapshot, kind: Kind, progress: Progress | None = None
) -> Iterator[Sequence[Memory]]:
    """Yield pages of all current memories of this scope and kind, sorted by id."""
    where = services.unexpired(kind)
    total = None if progress is None else count_by_kind(view, where).get(kind, 0)
    after = done = 0
    while page := memory_page(view, where, after, _PAGE):
        yield page
        after = page[-1].id
        done += len(page)
        if progress is not None:
            progress(done, total)


def stored_vectors(view: Snapshot, entities: Sequence[Memory]) -> dict[int, Vector]:
    """Return the stored vector of each current observation; for a long one, the mean of its passages.

    Observations whose vectors are still pending are left out.
    """
    passage_ids = {
        (passage.memory, passage.text): passage.id
        for passage in passages_of(view, [entity.id for entity in entities])
    }
    passages_by_observation = {
        observation.id: [
            passage_ids.get((entity.id, passage_text(entity, observation, span)), 0)
            for span in passage_spans(observation.content)
        ]
        for entity in entities
        for observation in entity.in_force
    }
    vectors = vectors_of(view, [passage for found in passages_by_observation.values() for passage in found])
    return {
        id_: normalised(np.mean([vectors[passage] for passage in found], axis=0))
        for id_, found in passages_by_observation.items()
        if all(passage in vectors for passage in found)
    }


def with_missing_vectors(
    stored: Mapping[int, Vector], entities: Iterable[Memory], embedder: Embedder
) -> Mapping[int, Vector]:
    """Return `stored` plus the missing vectors, which are computed but not stored."""
    missing = [
        (observation.id, passage_text(entity, observation, (0, len(observation.content))))
        for entity in entities
        for observation in entity.in_force
        if observation.id not in stored
    ]
    if not missing:
        return stored
    rows = embedder.documents([text for _, text in missing])
    return {**stored, **{id_: row for (id_, _), row in zip(missing, rows, strict=True)}}


# A new observation that nearly repeats an older one is flagged, never dropped.

# Comparing by meaning costs an embedding for each text, so only the likeliest texts are compared. Trigrams
# and stored vectors choose them.
_MAX_COMPARED = 8
# If an entity gets more new observations in one write, none is compared; reports find duplicates later.
_MAX_NEW = 50


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A new observation, all older ones of its entity, and the few that are compared by meaning."""

    new: Observation
    older: Sequence[Observation]
    likeliest: Sequence[Observation] = ()


class ObservationComparison:
    """The new observations of a write, each with the older ones of its entity."""

    def __init__(self, memories: Mapping[int, Memory], added: Mapping[int, Sequence[Added]]) -> None:
        self.memories = memories
        self.by_entity: dict[int, list[_Comparison]] = {}
        """By the id of the entity."""
        for entity, new_observations in added.items():
            if entity in memories and len(new_observations) <= _MAX_NEW:
                current, new_ids = memories[entity].in_force, {new.id for new in new_observations}
                self.by_entity[entity] = [
                    _Comparison(each, current[:place])
                    for place, each in enumerate(current)
                    if place and each.id in new_ids
                ]

    @cached_property
    def by_trigrams(self) -> Mapping[int, Sequence[_Comparison]]:
        """Return the comparisons with `likeliest`, chosen by trigrams. Slow, and needed only with a model."""
        return {entity: [_with_likeliest(each) for each in group] for entity, group in self.by_entity.items()}

    def contents(self) -> list[str]:
        """Return the texts to compare by meaning, except those that only `_with_nearest` adds."""
        return _contents(self.by_trigrams)


@retry_after_failover
def flag_similar_observations(
    services: Services, comparison: ObservationComparison
) -> dict[int, tuple[SimilarObservation, ...]]:
    """Compare the new observations of each entity with its older ones, and flag similar ones."""
    if not any(comparison.by_entity.values()):
        return {}
    try:
        found = _find_by_meaning(services, comparison)
    except ModelUnavailable:
        # The write is committed; without a model, only words are compared.
        found = {
            entity: tuple(_similar_observations(group, {}, ""))
            for entity, group in comparison.by_entity.items()
        }
    flags = [
        FlagSimilar("observation", pair.observation, pair.similar_to, pair.similarity, services.scope)
        for pairs in found.values()
        for pair in pairs
    ]
    if flags:
        services.write(flags)
    return found


def _find_by_meaning(
    services: Services, comparison: ObservationComparison
) -> dict[int, tuple[SimilarObservation, ...]]:
    embedder = embedder_of(services)
    compared = dict(comparison.by_trigrams)
    # With few older observations, all are compared, and no vectors are needed to choose some.
    many = [
        entity for entity, group in compared.items() if any(len(each.older) > _MAX_COMPARED for each in group)
    ]
    if many:
        with services.read() as view:
            stored = {entity: stored_vectors(view, [comparison.memories[entity]]) for entity in many}
        for entity in many:
            compared[entity] = [_with_nearest(each, stored[entity]) for each in compared[entity]]
    # Embed the contents without the entity's name: the shared name would make all vectors similar.
    known = embedded_texts(services, embedder, _contents(compared))
    rows = {text: unpack_vector(embedded.vector) for text, embedded in known.items()}
    name = embedder.model.name
    return {entity: tuple(_similar_observations(group, rows, name)) for entity, group in compared.items()}


def _contents(compared: Mapping[int, Sequence[_Comparison]]) -> list[str]:
    return [
        observation.content
        for group in compared.values()
        for each in group
        if each.likeliest
        for observation in (each.new, *each.likeliest)
    ]


def _similar_observations(
    compared: Iterable[_Comparison], rows: Mapping[str, Vector], model: str
) -> Iterator[SimilarObservation]:
    """Yield for each new observation the most similar older one, if any is similar enough."""
    for each in compared:
        shares = [(other, containment(each.new.content, other.content)) for other in each.older]
        matches = [(other, share) for other, share in shares if share >= CONTAINED_SHARE]
        if rows and each.likeliest:
            others = np.stack([rows[other.content] for other in each.likeliest])
            # Rounding may make a cosine larger than 1.
            cosines = np.minimum(1.0, np.vecdot(others, rows[each.new.content]))
            matches += [
                (other, comparable)
                for other, cosine in zip(each.likeliest, cosines, strict=True)
                if (comparable := usual_cosine(float(cosine), model)) >= SIMILAR_COSINE
                and not are_two_facts(each.new.content, other.content)
            ]
        if matches:
            other, similarity = max(matches, key=lambda pair: (pair[1], -pair[0].id))
            yield SimilarObservation(each.new.id, each.new.content, other.id, other.content, similarity)


def _with_likeliest(each: _Comparison) -> _Comparison:
    new = each.new.content
    if not has_meaning(new):
        return each
    best_first = sorted(each.older, key=lambda other: (-trigram_similarity(new, other.content), -other.id))
    return replace(each, likeliest=best_first[:_MAX_COMPARED])


def _with_nearest(each: _Comparison, stored: Mapping[int, Vector]) -> _Comparison:
    row = stored.get(each.new.id)
    if not each.likeliest or row is None:
        return each
    known = [other for other in each.older if other.id in stored]
    nearest = sorted(known, key=lambda other: (-float(stored[other.id] @ row), -other.id))
    return replace(each, likeliest=list(dict.fromkeys((*each.likeliest, *nearest[:_MAX_COMPARED]))))
