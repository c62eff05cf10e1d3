"""The vectors of an entity's observations: those that the store has, and those that it still lacks."""

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


def pages(
    services: Services, view: Snapshot, kind: Kind, progress: Progress | None = None
) -> Iterator[Sequence[Memory]]:
    """All memories of this scope and kind that a search could find now, by id, a page at a time."""
    where = services.unexpired(kind)
    total = None if progress is None else count_by_kind(view, where).get(kind, 0)
    after = done = 0
    while page := memory_page(view, where, after, _PAGE):
        yield page
        after = page[-1].id
        done += len(page)
        if progress is not None:
            progress(done, total)


def stored_rows(view: Snapshot, entities: Sequence[Memory]) -> dict[int, Vector]:
    """By observation in force; of a long one, the mean of its passages. Those that wait are left out."""
    known = {
        (passage.memory, passage.text): passage.id
        for passage in passages_of(view, [entity.id for entity in entities])
    }
    pieces = {
        seen.id: [
            known.get((entity.id, passage_text(entity, seen, span)), 0)
            for span in passage_spans(seen.content)
        ]
        for entity in entities
        for seen in entity.in_force
    }
    vectors = vectors_of(view, [passage for found in pieces.values() for passage in found])
    return {
        id_: normalised(np.mean([vectors[passage] for passage in found], axis=0))
        for id_, found in pieces.items()
        if all(passage in vectors for passage in found)
    }


def completed(
    stored: Mapping[int, Vector], entities: Iterable[Memory], embedder: Embedder
) -> Mapping[int, Vector]:
    """With the rows that the store lacks; they are not kept."""
    lacking = [
        (seen.id, passage_text(entity, seen, (0, len(seen.content))))
        for entity in entities
        for seen in entity.in_force
        if seen.id not in stored
    ]
    if not lacking:
        return stored
    rows = embedder.documents([text for _, text in lacking])
    return {**stored, **{id_: row for (id_, _), row in zip(lacking, rows, strict=True)}}


# Observations that nearly repeat one that was there: flagged, never dropped.

# Comparing by meaning costs an embedding for each text, so only the likeliest few are compared: by their
# letters, and by the vectors that the store has of them. An entity that gains very many at once is left to
# the reports that look for duplicates.
_COMPARED = 8
_MOST_NEW = 50


@dataclass(frozen=True, slots=True)
class _Compared:
    """A new observation, all that were there before it, and those whose meaning is compared with its own."""

    new: Observation
    older: Sequence[Observation]
    likeliest: Sequence[Observation] = ()


class ObservationComparison:
    """The new observations of a write, each beside the older ones of its entity."""

    def __init__(self, memories: Mapping[int, Memory], added: Mapping[int, Sequence[Added]]) -> None:
        self.memories = memories
        self.pairs: dict[int, list[_Compared]] = {}
        """By entity."""
        for entity, news in added.items():
            if entity in memories and len(news) <= _MOST_NEW:
                seen, new_ids = memories[entity].in_force, {new.id for new in news}
                self.pairs[entity] = [
                    _Compared(each, seen[:place])
                    for place, each in enumerate(seen)
                    if place and each.id in new_ids
                ]

    @cached_property
    def by_letters(self) -> Mapping[int, Sequence[_Compared]]:
        """With those that are likeliest by their letters. It looks at every letter: only for a model."""
        return {entity: [_with_alike(each) for each in pairs] for entity, pairs in self.pairs.items()}

    def contents(self) -> list[str]:
        """Return the texts to compare by meaning, except those that only stored vectors reveal."""
        return _contents(self.by_letters)


@retry_after_failover
def flag_similar_observations(
    services: Services, comparison: ObservationComparison
) -> dict[int, tuple[SimilarObservation, ...]]:
    """Compare the new observations of each entity with its older ones, and note what is alike."""
    if not any(comparison.pairs.values()):
        return {}
    try:
        found = _found_by_meaning(services, comparison)
    except ModelUnavailable:
        # The write is committed; without a model, only words are compared.
        found = {entity: tuple(_alike(pairs, {}, "")) for entity, pairs in comparison.pairs.items()}
    flags = [
        FlagSimilar("observation", pair.observation, pair.similar_to, pair.similarity, services.scope)
        for pairs in found.values()
        for pair in pairs
    ]
    if flags:
        services.write(flags)
    return found


def _found_by_meaning(
    services: Services, comparison: ObservationComparison
) -> dict[int, tuple[SimilarObservation, ...]]:
    embedder = embedder_of(services)
    compared = dict(comparison.by_letters)
    # A short list needs no selection.
    many = [
        entity for entity, pairs in compared.items() if any(len(each.older) > _COMPARED for each in pairs)
    ]
    if many:
        with services.read() as view:
            stored = {entity: stored_rows(view, [comparison.memories[entity]]) for entity in many}
        for entity in many:
            compared[entity] = [_with_nearest(each, stored[entity]) for each in compared[entity]]
    # The contents by themselves: the entity's name, which all of its passages share, would make all alike.
    known = embedded_texts(services, embedder, _contents(compared))
    rows = {text: unpack_vector(embedded.vector) for text, embedded in known.items()}
    name = embedder.model.name
    return {entity: tuple(_alike(pairs, rows, name)) for entity, pairs in compared.items()}


def _contents(compared: Mapping[int, Sequence[_Compared]]) -> list[str]:
    return [
        seen.content
        for pairs in compared.values()
        for each in pairs
        if each.likeliest
        for seen in (each.new, *each.likeliest)
    ]


def _alike(
    compared: Iterable[_Compared], rows: Mapping[str, Vector], model: str
) -> Iterator[SimilarObservation]:
    """For each new observation, the older one that is most like it, if any is."""
    for each in compared:
        shares = [(other, containment(each.new.content, other.content)) for other in each.older]
        matches = [(other, share) for other, share in shares if share >= CONTAINED_SHARE]
        if rows and each.likeliest:
            others = np.stack([rows[other.content] for other in each.likeliest])
            # Rounding may carry a cosine past one.
            cosines = np.minimum(1.0, np.vecdot(others, rows[each.new.content]))
            matches += [
                (other, usual)
                for other, cosine in zip(each.likeliest, cosines, strict=True)
                if (usual := usual_cosine(float(cosine), model)) >= SIMILAR_COSINE
                and not are_two_facts(each.new.content, other.content)
            ]
        if matches:
            other, similarity = max(matches, key=lambda pair: (pair[1], -pair[0].id))
            yield SimilarObservation(each.new.id, each.new.content, other.id, other.content, similarity)


def _with_alike(each: _Compared) -> _Compared:
    new = each.new.content
    if not has_meaning(new):
        return each
    letters = sorted(each.older, key=lambda other: (-trigram_similarity(new, other.content), -other.id))
    return replace(each, likeliest=letters[:_COMPARED])


def _with_nearest(each: _Compared, stored: Mapping[int, Vector]) -> _Compared:
    row = stored.get(each.new.id)
    if not each.likeliest or row is None:
        return each
    known = [other for other in each.older if other.id in stored]
    meaning = sorted(known, key=lambda other: (-float(stored[other.id] @ row), -other.id))
    return replace(each, likeliest=list(dict.fromkeys((*each.likeliest, *meaning[:_COMPARED]))))
