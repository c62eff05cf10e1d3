"""Split entities that have grown too large, and undo a split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from recollect.domain.changes import (
    Adopt,
    Change,
    NewRelation,
    Relate,
    RemoveObservations,
    RestoreObservation,
    Unmake,
)
from recollect.domain.errors import Conflict, InvalidInput, ModelUnavailable, NotFound, cited
from recollect.domain.limits import NAME_LIMIT, clean_name, clean_text, clean_type
from recollect.domain.records import Kind, Memory, Observation
from recollect.memories.graph import entity_named
from recollect.memories.observations import memory_pages, stored_vectors, with_missing_vectors
from recollect.review.results import (
    CreatedPart,
    ProposedRelation,
    SplitAnalysis,
    SplitPart,
    SplitProposal,
    SplitResult,
    SplitUndo,
    Topic,
    UndoSplitResult,
)
from recollect.search.entities import entities_named
from recollect.search.rows import memories_by_id, relations_of, scope_id
from recollect.services import Services
from recollect.stores.port import Progress, Snapshot, Vector
from recollect.text.clusters import find_clusters, tf_idf_rows, topic_names
from recollect.text.tokens import fold, topic_terms
from recollect.write.embedding import catch_up, embedder_of
from recollect.write.inputs import check_list

# Topics of an entity, by meaning or by words, and a proposal to split it.

CONTAINS, PART_OF = "contains", "part_of"
MOST_OBSERVATIONS = 20
"""Maximum number of observations of an entity, as in MCP Memory v2; some types have their own limit."""
MOST_BY_TYPE = {"session": 15, "sesion": 15, "project": 25, "proyecto": 25}
_MOST_TOPICS = 8
_FEWEST_PER_TOPIC = 3
# Random rows reach a silhouette of up to 0.05, so topics must reach it, too.
_MIN_SILHOUETTE = 0.05


def limit_for(type_: str) -> int:
    """Return the maximum number of observations that an entity of a type should have."""
    return MOST_BY_TYPE.get(fold(type_), MOST_OBSERVATIONS)


def find_split_candidates(services: Services, progress: Progress | None = None) -> tuple[SplitAnalysis, ...]:
    """Return entities that are too large and have several topics, the highest score first."""
    with services.read() as view:
        chosen = memory_pages(services, view, Kind.ENTITY, progress)
        large = [each for page in chosen for each in big_entities(view, page)]
    return tuple(found for found in analyze_entities(services, large, progress) if found.needs_split)


def big_entities(view: Snapshot, entities: Iterable[Memory]) -> Iterator[tuple[Memory, Mapping[int, Vector]]]:
    """Yield entities with more observations than their limit, with their stored vectors."""
    for entity in entities:
        if len(entity.in_force) > limit_for(entity.type):
            yield entity, stored_vectors(view, [entity])


def analyze_entities(
    services: Services,
    entities: Sequence[tuple[Memory, Mapping[int, Vector]]],
    progress: Progress | None = None,
) -> tuple[SplitAnalysis, ...]:
    found: list[SplitAnalysis] = []
    for entity, stored in entities:
        found.append(_analyze(services, entity, stored))
        if progress is not None:
            progress(len(found), len(entities))
    return tuple(sorted(found, key=lambda analysis: (-analysis.score, analysis.id)))


def propose_split(services: Services, name: str) -> SplitProposal:
    """Propose an entity for each topic, and its relations. Observations without a topic do not move."""
    id_ = entity_named(services, name)
    with services.read() as view:
        entity = memories_by_id(view, [id_])[id_]
        stored = stored_vectors(view, [entity])
    analysis = _analyze(services, entity, stored)
    parts: dict[str, SplitPart] = {}
    relations: list[ProposedRelation] = []
    with services.read() as view:
        for topic in analysis.topics:
            wanted = f"{analysis.name} - {topic.name}"[:NAME_LIMIT]
            number, name = 1, wanted
            while name in parts or entities_named(view, scope_id(view, services.scope), [name]):
                number += 1
                name = f"{wanted} {number}"
            parts[name] = SplitPart(name, tuple(seen.content for seen in topic.observations), analysis.type)
            relations.append(ProposedRelation(analysis.name, CONTAINS, name))
            relations.append(ProposedRelation(name, PART_OF, analysis.name))
    return SplitProposal(analysis, tuple(parts.values()), tuple(relations))


def _analyze(services: Services, entity: Memory, stored: Mapping[int, Vector]) -> SplitAnalysis:
    observations = entity.in_force
    texts = [seen.content for seen in observations]
    rows = _observation_vectors(services, entity, stored)
    found = find_clusters(tf_idf_rows(texts) if rows is None else rows, _MOST_TOPICS, _FEWEST_PER_TOPIC)
    groups = found.groups if found.silhouette >= _MIN_SILHOUETTE else ()
    grouped = [[texts[place] for place in group] for group in groups]
    # The entity's name must not name a topic.
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


def _observation_vectors(services: Services, entity: Memory, stored: Mapping[int, Vector]) -> Vector | None:
    """Return the vector of each current observation; None if some are missing and there is no model."""
    seen = [each.id for each in entity.in_force]
    if any(id_ not in stored for id_ in seen):
        try:
            stored = with_missing_vectors(stored, [entity], embedder_of(services))
        except ModelUnavailable:
            return None
    return np.stack([stored[id_] for id_ in seen]) if seen else np.zeros((0, 0), np.float32)


PartLike = SplitPart | Mapping[str, Any]


def execute_split(
    services: Services, name: str, wanted: Iterable[PartLike], progress: Progress | None = None
) -> SplitResult:
    """Create the parts, move their observations, and relate them to the original, all or nothing."""
    chosen = [_parse_part(part) for part in check_list(wanted, "Parts")]
    now = services.clock()
    id_ = entity_named(services, name)
    with services.read() as view:
        original = memories_by_id(view, [id_])[id_]
        _check_parts(services, view, original, chosen)
    current = {seen.content: seen for seen in original.in_force}
    moved = [[current[text] for text in part.observations] for part in chosen]
    changes: list[Change] = []
    for part, observations in zip(chosen, moved, strict=True):
        changes.append(Adopt(_entity(original, part, observations, now)))
        changes.append(Relate(services.scope, NewRelation(original.name, part.name, CONTAINS)))
    taken = tuple(text for part in chosen for text in part.observations)
    changes.append(RemoveObservations(services.scope, original.name, taken))
    outcomes = services.store.apply(changes, at=now).outcomes
    made = [outcome.ids[0] for outcome in outcomes[:-1:2]]
    # The original may have changed since it was read.
    note = None
    joined = [outcome.names[0] for outcome in outcomes[:-1:2] if not outcome.created]
    if joined:
        note = f"Another process created {joined[0]!r} during the split; check its observations."
    elif outcomes[-1].count < len(taken):
        note = f"Another process changed {original.name!r} during the split; check its parts."
    return SplitResult(
        id=original.id,
        name=original.name,
        parts=tuple(
            CreatedPart(made_id, part.name, part.type or original.type, len(part.observations))
            for made_id, part in zip(made, chosen, strict=True)
        ),
        moved=len(taken),
        remaining=len(current) - len(taken),
        relations=sum(len(outcome.relations) for outcome in outcomes),
        undo=SplitUndo(
            original.id, tuple(made), tuple(seen.id for observations in moved for seen in observations)
        ),
        note=note or catch_up(services, made, progress).problem,
    )


def undo_split(services: Services, undo: SplitUndo | Mapping[str, Any]) -> UndoSplitResult:
    """Move the observations back to the original and delete the parts, all or nothing.

    Raise `Conflict` if a part was changed after the split; the message names the change.
    """
    token = _parse_undo(undo)
    with services.read() as view:
        memories = memories_by_id(view, [token.original, *token.parts])
        original = _existing_entity(services, memories, token.original)
        made = [_existing_entity(services, memories, id_) for id_ in token.parts]
        _check_undo(view, token, original, made)
    changes: list[Change] = [RestoreObservation(services.scope, id_) for id_ in token.observations]
    # The parts can be purged, since their observations are back in the original.
    changes.append(Unmake(services.scope, token.parts))
    outcomes = services.write(changes)
    note = catch_up(services).problem
    return UndoSplitResult(original.id, original.name, len(token.observations), outcomes[-1].ids, note)


def _entity(original: Memory, part: SplitPart, observations: Sequence[Observation], now: datetime) -> Memory:
    """Return a new entity whose observations keep their kinds and times.

    It has the ids of the original; since these are taken, the store assigns new ones.
    """
    moved_ids = {seen.id for seen in observations}
    return Memory(
        id=original.id,
        kind=Kind.ENTITY,
        scope=original.scope,
        created_at=now,
        updated_at=now,
        name=part.name,
        type=part.type or original.type,
        observations=tuple(
            seen if seen.similar_to in moved_ids else replace(seen, similar_to=None, similarity=None)
            for seen in observations
        ),
        status=original.status,
        importance=original.importance,
        importance_tag=original.importance_tag,
        pinned=original.pinned,
    )


def _parse_part(given: PartLike) -> SplitPart:
    """Parse a part: a SplitPart, or a mapping with our keys or those of MCP Memory v2."""
    if isinstance(given, Mapping):
        renamed = {
            "type" if key in {"entity_type", "entityType"} else key: value for key, value in given.items()
        }
        unknown = set(renamed) - {"name", "type", "observations"}
        if unknown:
            raise InvalidInput(
                f"A part has no {', '.join(sorted(map(repr, unknown)))}; it has: name, observations, type."
            )
        given = SplitPart(renamed.get("name", ""), renamed.get("observations", ()), renamed.get("type"))
    elif not isinstance(given, SplitPart):
        raise InvalidInput(f"A part is a SplitPart or a mapping, not {type(given).__name__}.")
    return SplitPart(
        clean_name(given.name, "name of the part"),
        tuple(clean_text(text, "observation") for text in check_list(given.observations, "Observations")),
        None if given.type is None else clean_type(given.type, "type of the part"),
    )


def _check_parts(services: Services, view: Snapshot, original: Memory, chosen: Sequence[SplitPart]) -> None:
    """Check that each observation exists and moves once, and that the names are free."""
    if not chosen:
        raise InvalidInput("Name at least one part; `propose_split` suggests some.")
    current = {seen.content for seen in original.in_force}
    taken: set[str] = set()
    named: set[str] = set()
    for part in chosen:
        if not part.observations:
            raise InvalidInput(
                f"The part {cited(part.name)} has no observations; leave it out, or give it some."
            )
        for text in part.observations:
            if text not in current:
                raise NotFound(
                    f"{cited(original.name)} has no current observation {cited(text)}; give its exact "
                    "text. Nothing was split."
                )
            if text in taken:
                raise InvalidInput(
                    f"The observation {cited(text)} is named twice; it can move to one place only."
                )
            taken.add(text)
        if part.name in named:
            raise InvalidInput(f"Two parts are named {cited(part.name)}; join them, or rename one.")
        named.add(part.name)
    for name in sorted(entities_named(view, scope_id(view, services.scope), sorted(named))):
        raise Conflict(f"There is an entity named {cited(name)} already; give the part another name.")


def _parse_undo(given: SplitUndo | Mapping[str, Any]) -> SplitUndo:
    if isinstance(given, Mapping):
        missing = {"original", "parts", "observations"} - set(given)
        if missing:
            raise InvalidInput(f"To undo a split, pass its `undo`; {', '.join(sorted(missing))} is missing.")
        given = SplitUndo(given["original"], tuple(given["parts"]), tuple(given["observations"]))
    if not isinstance(given, SplitUndo):
        raise InvalidInput("To undo a split, pass the `undo` that `execute_split` returned.")
    if not all(isinstance(id_, int) for id_ in (given.original, *given.parts, *given.observations)):
        raise InvalidInput("The `undo` of a split holds ids, which are whole numbers.")
    return given


def _existing_entity(services: Services, memories: Mapping[int, Memory], id_: int) -> Memory:
    memory = memories.get(id_)
    if memory is None or memory.scope != services.scope or memory.kind is not Kind.ENTITY:
        raise NotFound(f"There is no entity {id_}; nothing was undone.")
    if memory.deleted_at is not None:
        raise Conflict(
            f"{cited(memory.name)} was forgotten since; restore memory {id_} before you undo the split."
        )
    return memory


def _check_undo(view: Snapshot, token: SplitUndo, original: Memory, made: Sequence[Memory]) -> None:
    """Check that neither the parts nor the original changed since the split."""
    given = {seen.id: seen.content for seen in original.observations}
    wanted = {given.get(id_) for id_ in token.observations}
    if not token.parts or None in wanted:
        raise NotFound(
            f"The `undo` is of no split of {cited(original.name)}, or the observations were purged. Nothing "
            "was undone."
        )
    present: set[str] = set()
    for part in made:
        texts = {seen.content for seen in part.in_force}
        if new := sorted(texts - wanted, key=str):
            raise _part_changed(part, f"has gained the observation {cited(new[0])}; move or delete it")
        present |= texts
        _check_relations(view, original, part)
    if lost := sorted(text for text in wanted if text is not None and text not in present):
        raise Conflict(
            f"No part has the observation {cited(lost[0])} any more. Restore it there, or restore the "
            f"observations of {cited(original.name)} with `restore_observation`. Nothing was "
            "undone."
        )


def _check_relations(view: Snapshot, original: Memory, part: Memory) -> None:
    ours = {(original.id, part.id, CONTAINS), (part.id, original.id, PART_OF)}
    relations = {(each.source, each.target, each.type): each for each in relations_of(view, [part.id])}
    if not ours <= set(relations):
        raise Conflict(
            f"{cited(original.name)} does not contain {cited(part.name)} any more; relate them again "
            "before you undo the split."
        )
    for key, relation in relations.items():
        if key not in ours:
            raise _part_changed(
                part,
                f"has gained a relation: {cited(relation.source_name)} {relation.type} "
                f"{cited(relation.target_name)}; delete it",
            )


def _part_changed(part: Memory, what: str) -> Conflict:
    return Conflict(f"{cited(part.name)} {what} before you undo the split. Nothing was undone.")
