"""Writes of entities, their observations and their relations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from recollect.domain import changes
from recollect.domain.changes import UNKNOWN, Added, Outcome
from recollect.domain.errors import Conflict, InvalidInput, NotFound, cited
from recollect.domain.tables import IN_FORCE, AnyOf, Condition, Equals, OneOf, is_null
from recollect.search.entities import exact_entity, find_entity
from recollect.search.rows import stamp, stamp_or_none
from recollect.text.names import name_beginning
from recollect.text.passages import passage_spans
from recollect.text.tokens import fold

if TYPE_CHECKING:
    from recollect.write.work import Work


# The span of the passage that has only an entity's name and type.
NAME_SPAN = (0, 0)


def put_entity(work: Work, change: changes.PutEntity) -> Outcome:
    scope, new = work.scope_id(change.scope), change.entity
    entity = exact_entity(work.rows, scope, new.name)
    if entity is None:
        entity = _insert(work, scope, new)
        added = _observe(work, entity, scope, new.observations, just_made=True)
        return Outcome(ids=(entity,), names=(new.name,), created=True, added=added)
    took, kept = settle_type(work, entity, new.type)
    added = _observe(work, entity, scope, new.observations)
    if added or took:
        _mark_updated(work, entity, scope)
    elif change.counts:
        (duplicates,) = work.row("memory", entity, "duplicates") or (0,)
        work.set("memory", entity, updated_at=work.at, duplicates=1 + duplicates)
    return Outcome(ids=(entity,), names=(new.name,), added=added, took_type=took, kept_type=kept)


def _insert(work: Work, scope: int, new: changes.NewEntity) -> int:
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
    work.touch(entity, scope, named=True)
    return entity


def settle_type(work: Work, entity: int, given: str) -> tuple[str | None, str | None]:
    """Settle the type of an entity. Return the type that it took, and the other type that it kept.

    `unknown` is a placeholder: the first other type replaces it for good. One or both of the two are None.
    """
    (has,) = work.row("memory", entity, "type") or ("",)
    if fold(given) in (UNKNOWN, fold(has)):
        return None, None
    if fold(has) != UNKNOWN:
        return None, has
    work.set("memory", entity, type=given)
    # Passages contain the type, so replace them. Those of former observations stay as they are, with their
    # vectors.
    live = (Equals("memory_id", entity), Equals("live", 1))
    rows = work.rows.rows("passage", ("observation_id", "start", "stop"), live, order=("id",))
    work.rows.remove("passage", live)
    work.note_removed_rows()
    for observation, start, stop in rows:
        work.add_passages(entity, [(start, stop)], observation=observation)
    return given, None


def add_observations(work: Work, change: changes.AddObservations) -> Outcome:
    scope = work.scope_id(change.scope)
    entity = work.entity(scope, change.name)
    added = _observe(work, entity, scope, change.observations)
    if added:
        _mark_updated(work, entity, scope)
    return Outcome(ids=(entity,), names=(work.name(entity),), added=added)


def remove_observations(work: Work, change: changes.RemoveObservations) -> Outcome:
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
        _mark_updated(work, entity, scope)
    return Outcome(ids=(entity,), names=(work.name(entity),), count=len(removed))


def restore_observation(work: Work, change: changes.RestoreObservation) -> Outcome:
    scope = work.scope_id(change.scope)
    not_found = NotFound(f"There is no removed or superseded observation {change.id}; nothing was restored.")
    row = work.row("observation", change.id, "memory_id", "content", "deleted_at", "superseded_at")
    if row is None or (row[2] is None and row[3] is None):
        raise not_found
    entity, content, _, replaced_at = row
    owner = work.row("memory", entity, "scope_id", "name", "deleted_at")
    if owner is None or owner[0] != scope:
        raise not_found
    _, name, entity_gone = owner
    if entity_gone is not None:
        raise Conflict(f"{name!r} itself is forgotten; restore memory {entity} first.")
    if content in _in_force(work, entity):
        raise Conflict(f"{name!r} has an equal observation in force; there is nothing to restore.")
    work.set("observation", change.id, deleted_at=None, superseded_at=None, superseded_by=None)
    if replaced_at is not None:
        # Clear the similarity, so that no dream merges it again. Keep `corrected_by`.
        either = AnyOf(((Equals("id", change.id),), (Equals("similar_to", change.id),)))
        work.rows.patch("observation", (either,), {"similar_to": None, "similarity": None})
    work.set_live("observation_id", change.id, live=work.in_force("memory", entity))
    _mark_updated(work, entity, scope)
    return Outcome(ids=(entity,), names=(name,), count=1)


def _mark_updated(work: Work, entity: int, scope: int) -> None:
    work.set("memory", entity, updated_at=work.at)
    work.touch(entity, scope)


def _in_force(work: Work, entity: int) -> dict[str, int]:
    """Return the ids of an entity's current observations, by content."""
    return dict(work.rows.rows("observation", ("content", "id"), (Equals("memory_id", entity), *IN_FORCE)))


def _observe(
    work: Work,
    entity: int,
    scope: int,
    observations: Iterable[changes.NewObservation],
    *,
    just_made: bool = False,
) -> tuple[Added, ...]:
    """Add the observations that the entity does not have yet in the same words."""
    standing = {} if just_made else _in_force(work, entity)
    live = just_made or work.in_force("memory", entity)
    added = []
    for new in observations:
        wanted = new.supersedes
        replaced = None
        if wanted is not None:
            replaced = next((content for content, id_ in standing.items() if wanted in (id_, content)), None)
        if new.content in standing:
            # An observation that exists already may replace another one. Repeating that changes nothing.
            if replaced not in (None, new.content):
                work.retire("observation", standing.pop(replaced), superseded_by=standing[new.content])
                _mark_updated(work, entity, scope)
            continue
        if wanted is not None and replaced is None:
            shown = f"#{wanted}" if isinstance(wanted, int) else cited(wanted)
            raise NotFound(
                f"{cited(work.name(entity))} has no observation {shown} in force to supersede; name one that "
                "it has, word for word: `open_nodes` shows them."
            )
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


# Relations

# Types of relations that are stored with their inverse.
INVERSES = {"contains": "part_of", "part_of": "contains", "contiene": "parte_de", "parte_de": "contiene"}


def relate(work: Work, change: changes.Relate) -> Outcome:
    scope, new = work.scope_id(change.scope), change.relation
    if new.since is not None and new.until is not None and new.until < new.since:
        raise InvalidInput(
            f"The relation {cited(new.source)} {new.type} {cited(new.target)} would end before it begins; "
            "swap `since` and `until`."
        )
    missing: list[str] = []
    ends: list[int] = []
    for name in (new.source, new.target):
        end_ = find_entity(work.rows, scope, name) if change.create_missing else work.entity(scope, name)
        if end_ is None:
            missing.append(name)
            end_ = _insert(work, scope, changes.NewEntity(name))
        ends.append(end_)
    source, target = ends
    relation, created = _connect(work, source, target, new.type, new, None)
    made: tuple[int, ...] = (relation,)
    inverse_type = INVERSES.get(new.type)
    if inverse_type is not None:
        inverse, _ = _connect(work, target, source, inverse_type, new, relation)
        made = (relation, inverse)
    return Outcome(
        ids=(source, target),
        names=(work.name(source), work.name(target)),
        created=created,
        relations=made,
        also_created=tuple(missing),
    )


def end_relation(work: Work, change: changes.EndRelation) -> Outcome:
    scope = work.scope_id(change.scope)
    source, target = work.entity(scope, change.source), work.entity(scope, change.target)
    relation = relation_in_force(work, source, target, change.type)
    if relation is None:
        raise NotFound(
            f"No relation {cited(change.source)} {change.type} {cited(change.target)} is in force; "
            "there is nothing to end."
        )
    at = work.at if change.at is None else stamp(change.at)
    ended = _with_inverse(work, relation)
    for id_ in ended:
        row = work.row("relation", id_, "since")
        if row is not None and row[0] is not None and at < row[0]:
            raise InvalidInput("A relation cannot end before it began; give a later time.")
        work.set("relation", id_, until=at)
    return Outcome(relations=ended, count=len(ended))


def unrelate(work: Work, change: changes.Unrelate) -> Outcome:
    """Delete every relation of that type from source to target, ended or not, and its inverse."""
    scope = work.scope_id(change.scope)
    source, target = (find_entity(work.rows, scope, name) for name in (change.source, change.target))
    if source is None or target is None:
        return Outcome()
    there = work.ids("relation", (*_between(source, target, change.type), is_null("deleted_at")))
    gone = tuple(dict.fromkeys(other for id_ in there for other in _with_inverse(work, id_)))
    work.rows.patch("relation", (OneOf("id", gone),), {"deleted_at": work.at})
    return Outcome(relations=gone, count=len(gone))


def relation_in_force(work: Work, source: int, target: int, type_: str) -> int | None:
    holds = (is_null("until"), is_null("deleted_at"))
    return work.first_id("relation", (*_between(source, target, type_), *holds))


def _between(source: int, target: int, type_: str) -> tuple[Condition, ...]:
    return Equals("source_id", source), Equals("target_id", target), Equals("type", type_)


def _connect(
    work: Work, source: int, target: int, type_: str, new: changes.NewRelation, inverse_of: int | None
) -> tuple[int, bool]:
    """Return the id of a relation, and whether it is new. Ended relations are the same if their times are."""
    since, until = stamp_or_none(new.since), stamp_or_none(new.until)
    span = (Equals("until", until),) if until is None else (Equals("until", until), Equals("since", since))
    existing = work.first_id("relation", (*_between(source, target, type_), is_null("deleted_at"), *span))
    if existing is not None:
        return existing, False
    made = work.add(
        "relation",
        source_id=source,
        target_id=target,
        type=type_,
        context=new.context,
        created_at=work.at,
        since=since,
        until=until,
        inverse_of=inverse_of,
    )
    return made, True


def _with_inverse(work: Work, relation: int) -> tuple[int, ...]:
    """Return the relation and its inverse, whichever was stored first."""
    row = work.row("relation", relation, "inverse_of")
    groups: list[tuple[Condition, ...]] = [(Equals("inverse_of", relation),)]
    if row is not None and row[0] is not None:
        groups.append((Equals("id", row[0]),))
    return (relation, *work.ids("relation", (AnyOf(tuple(groups)), is_null("deleted_at"))))
