"""Entities and their observations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from recollect.changes import (
    UNKNOWN,
    Added,
    AddObservations,
    NewEntity,
    NewObservation,
    Outcome,
    PutEntity,
    RemoveObservations,
    RestoreObservation,
)
from recollect.conditions import IN_FORCE, AnyOf, Equals, OneOf
from recollect.errors import Conflict, NotFound, cited
from recollect.retrieval.entities import exact_entity, find_entity
from recollect.retrieval.records import stamp_or_none
from recollect.text.names import name_beginning
from recollect.text.passages import passage_spans
from recollect.text.tokens import fold

if TYPE_CHECKING:
    from recollect.engine.writes.work import Work

# The name and type by themselves: what the entity is, beside what is known of it.
NAME_SPAN = (0, 0)


def put_entity(work: Work, change: PutEntity) -> Outcome:
    scope, new = work.scope_id(change.scope), change.entity
    entity = exact_entity(work.rows, scope, new.name)
    if entity is None:
        entity = insert(work, scope, new)
        added = _observe(work, entity, new.observations, just_made=True)
        work.touch(entity, scope, named=True)
        return Outcome(ids=(entity,), names=(new.name,), created=True, added=added)
    took, kept = settle_type(work, entity, new.type)
    added = _observe(work, entity, new.observations)
    changed = bool(added or took)
    if changed:
        work.set("memory", entity, updated_at=work.at)
        work.touch(entity, scope)
    elif change.counts:
        (duplicates,) = work.row("memory", entity, "duplicates") or (0,)
        work.set("memory", entity, updated_at=work.at, duplicates=1 + duplicates)
    return Outcome(ids=(entity,), names=(new.name,), added=added, took_type=took, kept_type=kept)


def insert(work: Work, scope: int, new: NewEntity) -> int:
    folded = fold(new.name)
    entity = work.add(
        "memory",
        kind="entity",
        scope_id=scope,
        created_at=work.at,
        updated_at=work.at,
        name=new.name,
        folded_name=folded,
        first_word=name_beginning(folded),
        type=new.type,
        status=str(new.status or "active"),
        importance=0.5 if new.importance is None else new.importance,
    )
    work.add_passages(entity, [NAME_SPAN])
    return entity


def settle_type(work: Work, entity: int, given: str) -> tuple[str | None, str | None]:
    """Which type the entity took, and which it kept although another was given; whoever asks touches it.

    `unknown` says that nobody knew, so what is known later holds for the entity's whole life.
    """
    (has,) = work.row("memory", entity, "type") or ("",)
    if fold(given) in (UNKNOWN, fold(has)):
        return None, None
    if fold(has) != UNKNOWN:
        return None, has
    work.set("memory", entity, type=given)
    _renew_passages(work, entity)
    return given, None


def _renew_passages(work: Work, entity: int) -> None:
    """The type stands in front of each passage, and none ever changes its text: others take their place.

    Those of former observations keep their vectors: nothing would embed them anew.
    """
    live = (Equals("memory_id", entity), Equals("live", 1))
    rows = work.rows.rows("passage", ("observation_id", "start", "stop"), live, order=("id",))
    work.rows.remove("passage", live)
    work.rows_went()
    for observation, start, stop in rows:
        work.add_passages(entity, [(start, stop)], observation=observation)


def add_observations(work: Work, change: AddObservations) -> Outcome:
    scope = work.scope_id(change.scope)
    entity = work.entity(scope, change.name)
    added = _observe(work, entity, change.observations)
    if added:
        _updated(work, entity, scope)
    return Outcome(ids=(entity,), names=(work.name(entity),), added=added)


def remove_observations(work: Work, change: RemoveObservations) -> Outcome:
    scope = work.scope_id(change.scope)
    entity = find_entity(work.rows, scope, change.name)
    if entity is None:
        return Outcome()
    named = (Equals("memory_id", entity), *IN_FORCE, OneOf("content", change.contents))
    removed = work.ids("observation", named)
    work.rows.patch("observation", (OneOf("id", removed),), {"deleted_at": work.at})
    for observation in removed:
        work.set_live("observation_id", observation, live=False)
    if removed:
        _updated(work, entity, scope)
    return Outcome(ids=(entity,), names=(work.name(entity),), count=len(removed))


def restore_observation(work: Work, change: RestoreObservation) -> Outcome:
    scope = work.scope_id(change.scope)
    nothing = NotFound(f"There is no removed or superseded observation {change.id}; nothing was restored.")
    row = work.row("observation", change.id, "memory_id", "content", "deleted_at", "superseded_at")
    if row is None or (row[2] is None and row[3] is None):
        raise nothing
    entity, content, _, replaced_at = row
    owner = work.row("memory", entity, "scope_id", "name", "deleted_at")
    if owner is None or owner[0] != scope:
        raise nothing
    _, name, entity_gone = owner
    if entity_gone is not None:
        raise Conflict(f"{name!r} itself is forgotten; restore memory {entity} first.")
    if content in _in_force(work, entity):
        raise Conflict(f"{name!r} has an equal observation in force; there is nothing to restore.")
    work.set("observation", change.id, deleted_at=None, superseded_at=None, superseded_by=None)
    if replaced_at is not None:
        # That it was corrected stays known, and that it was like another does not: dreams leave it alone.
        either = AnyOf(((Equals("id", change.id),), (Equals("similar_to", change.id),)))
        work.rows.patch("observation", (either,), {"similar_to": None, "similarity": None})
    work.set_live("observation_id", change.id, live=work.in_force("memory", entity))
    _updated(work, entity, scope)
    return Outcome(ids=(entity,), names=(name,), count=1)


def _updated(work: Work, entity: int, scope: int) -> None:
    work.set("memory", entity, updated_at=work.at)
    work.touch(entity, scope)


def _in_force(work: Work, entity: int) -> dict[str, int]:
    """The observations that hold, by their content."""
    return dict(work.rows.rows("observation", ("content", "id"), (Equals("memory_id", entity), *IN_FORCE)))


def _observe(
    work: Work, entity: int, observations: Iterable[NewObservation], *, just_made: bool = False
) -> tuple[Added, ...]:
    """Insert what does not stand there yet, word for word."""
    standing = {} if just_made else _in_force(work, entity)
    live = just_made or work.in_force("memory", entity)
    added = []
    for new in observations:
        if new.content in standing:
            _correct(work, entity, new, standing)
            continue
        replaced = _replaced(work, entity, new, standing)
        observation = work.add(
            "observation",
            memory_id=entity,
            content=new.content,
            kind=new.kind,
            created_at=work.at,
            happened_at=stamp_or_none(new.happened_at),
        )
        work.add_passages(entity, passage_spans(new.content), observation=observation, live=live)
        if replaced is not None:
            work.retire("observation", standing.pop(replaced), superseded_by=observation)
        standing[new.content] = observation
        added.append(Added(observation, new.content))
    return tuple(added)


def _correct(work: Work, entity: int, new: NewObservation, standing: dict[str, int]) -> None:
    """What stands already may still correct another. If it has done so before, there is nothing to do."""
    for content, observation in standing.items():
        if new.supersedes in (observation, content) and content != new.content:
            work.retire("observation", observation, superseded_by=standing[new.content])
            del standing[content]
            (scope,) = work.row("memory", entity, "scope_id") or (0,)
            _updated(work, entity, scope)
            return


def _replaced(work: Work, entity: int, new: NewObservation, standing: dict[str, int]) -> str | None:
    """The content of the observation that a new one supersedes."""
    wanted = new.supersedes
    if wanted is None:
        return None
    for content, observation in standing.items():
        if wanted in (observation, content):
            return content
    shown = f"#{wanted}" if isinstance(wanted, int) else cited(wanted)
    raise NotFound(
        f"{cited(work.name(entity))} has no observation {shown} in force to supersede; name one that it "
        "has, word for word: `open_nodes` shows them."
    )
