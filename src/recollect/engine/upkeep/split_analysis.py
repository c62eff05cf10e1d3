"""What an entity falls apart into: its topics, by meaning or by words, and a proposal to split it so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from recollect.engine.embedding import embedder_of
from recollect.engine.graph.knowledge_graph import entity_named
from recollect.engine.graph.observation_vectors import completed, pages, stored_rows
from recollect.engine.services import Services
from recollect.engine.upkeep.results import ProposedRelation, SplitAnalysis, SplitPart, SplitProposal, Topic
from recollect.errors import ModelUnavailable
from recollect.ports import Progress, Snapshot, Vector
from recollect.records import Kind, Memory
from recollect.retrieval.entities import entities_named
from recollect.retrieval.records import memories_by_id, scope_id
from recollect.text.clusters import clusters
from recollect.text.limits import NAME_LIMIT
from recollect.text.tokens import fold, topic_terms
from recollect.text.topics import tf_idf_rows, topic_names

CONTAINS, PART_OF = "contains", "part_of"
MOST_OBSERVATIONS = 20
"""More are too many for one entity, as MCP Memory v2 has it; by type where another number is usual."""
MOST_BY_TYPE = {"session": 15, "sesion": 15, "project": 25, "proyecto": 25}
_MOST_TOPICS = 8
_FEWEST_PER_TOPIC = 3
# A silhouette below this is no more than chance makes of rows without any groups.
_CLEAR = 0.05


def limit_for(type_: str) -> int:
    """How many observations an entity of a type may have before it is too large."""
    return MOST_BY_TYPE.get(fold(type_), MOST_OBSERVATIONS)


def analyze_split(services: Services, name: str) -> SplitAnalysis:
    """What an entity falls apart into, whether or not it is too large."""
    id_ = entity_named(services, name)
    with services.read() as view:
        entity = memories_by_id(view, [id_])[id_]
        stored = stored_rows(view, [entity])
    return _analysis(services, entity, stored)


def find_split_candidates(services: Services, progress: Progress | None = None) -> tuple[SplitAnalysis, ...]:
    """Entities that are too large and fall apart, the highest score first."""
    with services.read() as view:
        chosen = pages(services, view, Kind.ENTITY, progress)
        large = [each for page in chosen for each in large_ones(view, page)]
    return tuple(found for found in analyses(services, large, progress) if found.needs_split)


def large_ones(view: Snapshot, entities: Iterable[Memory]) -> Iterator[tuple[Memory, Mapping[int, Vector]]]:
    """Those with more observations than their type may have, and the vectors that the store has of them."""
    for entity in entities:
        if len(entity.in_force) > limit_for(entity.type):
            yield entity, stored_rows(view, [entity])


def analyses(
    services: Services,
    entities: Sequence[tuple[Memory, Mapping[int, Vector]]],
    progress: Progress | None = None,
) -> tuple[SplitAnalysis, ...]:
    found: list[SplitAnalysis] = []
    for entity, stored in entities:
        found.append(_analysis(services, entity, stored))
        if progress is not None:
            progress(len(found), len(entities))
    return tuple(sorted(found, key=lambda analysis: (-analysis.score, analysis.id)))


def propose_split(services: Services, name: str) -> SplitProposal:
    """Names, types and relations for what an entity falls apart into. What fits nowhere stays with it."""
    analysis = analyze_split(services, name)
    wanted = [f"{analysis.name} - {topic.name}"[:NAME_LIMIT] for topic in analysis.topics]
    free = _free_names(services, wanted)
    proposed = tuple(
        SplitPart(free_name, tuple(seen.content for seen in topic.observations), analysis.type)
        for free_name, topic in zip(free, analysis.topics, strict=True)
    )
    relations = tuple(
        relation
        for part in proposed
        for relation in (
            ProposedRelation(analysis.name, CONTAINS, part.name),
            ProposedRelation(part.name, PART_OF, analysis.name),
        )
    )
    return SplitProposal(analysis, proposed, relations)


def _analysis(services: Services, entity: Memory, stored: Mapping[int, Vector]) -> SplitAnalysis:
    observations = entity.in_force
    texts = [seen.content for seen in observations]
    rows = _rows(services, entity, stored)
    found = clusters(tf_idf_rows(texts) if rows is None else rows, _MOST_TOPICS, _FEWEST_PER_TOPIC)
    groups = found.groups if found.silhouette >= _CLEAR else ()
    grouped = [[texts[place] for place in group] for group in groups]
    # Its own name says nothing of what sets its topics apart.
    topics = tuple(
        Topic(topic, tuple(observations[place] for place in group))
        for topic, group in zip(topic_names(grouped, set(topic_terms(entity.name))), groups, strict=True)
    )
    placed = {place for group in groups for place in group}
    limit = limit_for(entity.type)
    return SplitAnalysis(
        id=entity.id,
        name=entity.name,
        type=entity.type,
        observations=len(observations),
        limit=limit,
        topics=topics,
        rest=tuple(seen for place, seen in enumerate(observations) if place not in placed),
        score=len(observations) / limit + min(len(topics) / max(1, len(observations)), 0.5),
        silhouette=found.silhouette,
        compared_by="words" if rows is None else "meaning",
    )


def _rows(services: Services, entity: Memory, stored: Mapping[int, Vector]) -> Vector | None:
    """One row for each observation in force; None where there is no model to ask for those that lack one."""
    seen = [each.id for each in entity.in_force]
    if any(id_ not in stored for id_ in seen):
        try:
            stored = completed(stored, [entity], embedder_of(services))
        except ModelUnavailable:
            return None
    return np.stack([stored[id_] for id_ in seen]) if seen else np.zeros((0, 0), np.float32)


def _free_names(services: Services, wanted: Sequence[str]) -> list[str]:
    """Names that no entity has yet: with a number behind those that are taken."""
    free: list[str] = []
    with services.read() as view:
        for name in wanted:
            number, choice = 1, name
            while choice in free or entities_named(view, scope_id(view, services.scope), [choice]):
                number += 1
                choice = f"{name} {number}"
            free.append(choice)
    return free
