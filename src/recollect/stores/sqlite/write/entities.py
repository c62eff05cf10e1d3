"""Entities and their observations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.changes import UNKNOWN, Added, Outcome
from recollect.errors import Conflict, NotFound
from recollect.stores.sqlite import vector_rows
from recollect.stores.sqlite.lookup import exact_entity, find_entity
from recollect.stores.sqlite.rows import many, stamp_or_none
from recollect.text.passages import spans
from recollect.text.tokens import fold

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.changes import (
        AddObservations,
        FlagSimilar,
        NewEntity,
        NewObservation,
        PutEntity,
        RemoveObservations,
        RestoreObservation,
    )
    from recollect.stores.sqlite.write.batch import Batch

_IN_FORCE = "deleted_at IS NULL AND superseded_at IS NULL"


def put(batch: Batch, change: PutEntity) -> Outcome:
    scope, new = batch.scope_id(change.scope), change.entity
    entity = exact_entity(batch.connection, scope, new.name)
    if entity is None:
        entity = insert(batch, scope, new)
        added = _observe(batch, entity, new.observations, just_made=True)
        batch.touch(entity, scope, named=True)
        return Outcome(ids=(entity,), names=(new.name,), created=True, added=added)
    took, kept = settle_type(batch, entity, new.type)
    added = _observe(batch, entity, new.observations)
    changed = bool(added or took)
    if changed or change.counts:
        batch.run(
            "UPDATE memory SET updated_at = ?, duplicates = duplicates + ? WHERE id = ?",
            batch.at,
            0 if changed else 1,
            entity,
        )
    if changed:
        batch.touch(entity, scope)
    return Outcome(ids=(entity,), names=(new.name,), added=added, took_type=took, kept_type=kept)


def insert(batch: Batch, scope: int, new: NewEntity) -> int:
    entity = batch.insert(
        "INSERT INTO memory(kind, scope_id, created_at, updated_at, name, folded_name, type, status, "
        "importance) VALUES ('entity', ?, ?, ?, ?, ?, ?, ?, ?)",
        scope,
        batch.at,
        batch.at,
        new.name,
        fold(new.name),
        new.type,
        (new.status or "active"),
        0.5 if new.importance is None else new.importance,
    )
    # The name and type by themselves: what the entity is, beside what is known of it.
    vector_rows.add_passage(batch.connection, entity, None, (0, 0))
    return entity


def settle_type(batch: Batch, entity: int, given: str) -> tuple[str | None, str | None]:
    """Which type the entity took, and which it kept although another was given; whoever asks touches it.

    `unknown` says that nobody knew, so what is known later holds for the entity's whole life.
    """
    has = str(batch.one("SELECT type FROM memory WHERE id = ?", entity))
    if fold(given) in (UNKNOWN, fold(has)):
        return None, None
    if fold(has) != UNKNOWN:
        return None, has
    batch.run("UPDATE memory SET type = ? WHERE id = ?", given, entity)
    _renew_passages(batch, entity)
    return given, None


def _renew_passages(batch: Batch, entity: int) -> None:
    """The type stands in front of each passage, and none ever changes its text: others take their place.

    Those of former observations keep their vectors: nothing would embed them anew.
    """
    live = "memory_id = ? AND live = 1"
    rows = batch.rows(f"SELECT observation_id, start, stop FROM passage WHERE {live} ORDER BY id", entity)
    vector_rows.log_removal(batch.connection, live, entity)
    batch.run(f"DELETE FROM passage WHERE {live}", entity)
    for observation, start, stop in rows:
        vector_rows.add_passage(batch.connection, entity, observation, (start, stop))


def add_observations(batch: Batch, change: AddObservations) -> Outcome:
    scope = batch.scope_id(change.scope)
    entity = batch.entity(scope, change.name)
    added = _observe(batch, entity, change.observations)
    if added:
        _updated(batch, entity, scope)
    return Outcome(ids=(entity,), names=(batch.name(entity),), added=added)


def remove_observations(batch: Batch, change: RemoveObservations) -> Outcome:
    scope = batch.scope_id(change.scope)
    entity = find_entity(batch.connection, scope, change.name)
    if entity is None:
        return Outcome()
    removed = batch.rows(
        f"UPDATE observation SET deleted_at = ? WHERE memory_id = ? AND {_IN_FORCE} "
        "AND content IN (SELECT value FROM json_each(?)) RETURNING id, content",
        batch.at,
        entity,
        many(change.contents),
    )
    for observation, _ in removed:
        vector_rows.set_life(batch.connection, "observation_id = ?", observation, live=False)
    if removed:
        _updated(batch, entity, scope)
    return Outcome(ids=(entity,), names=(batch.name(entity),), count=len(removed))


def restore_observation(batch: Batch, change: RestoreObservation) -> Outcome:
    scope = batch.scope_id(change.scope)
    rows = batch.rows(
        "SELECT o.memory_id, m.name, o.content, m.deleted_at, o.superseded_at FROM observation AS o "
        "JOIN memory AS m ON m.id = o.memory_id "
        "WHERE o.id = ? AND (o.deleted_at IS NOT NULL OR o.superseded_at IS NOT NULL) AND m.scope_id = ?",
        change.id,
        scope,
    )
    if not rows:
        raise NotFound(f"There is no removed or superseded observation {change.id}; nothing was restored.")
    entity, name, content, entity_gone, replaced_at = rows[0]
    if entity_gone is not None:
        raise Conflict(f"{name!r} itself is forgotten; restore memory {entity} first.")
    standing = f"SELECT id FROM observation WHERE memory_id = ? AND content = ? AND {_IN_FORCE}"
    if batch.one(standing, entity, content) is not None:
        raise Conflict(f"{name!r} has an equal observation in force; there is nothing to restore.")
    batch.run(
        "UPDATE observation SET deleted_at = NULL, superseded_at = NULL, superseded_by = NULL WHERE id = ?",
        change.id,
    )
    if replaced_at is not None:
        # That it was corrected stays known, and that it was like another does not: dreams leave it alone.
        batch.run(
            "UPDATE observation SET similar_to = NULL, similarity = NULL WHERE ?1 IN (id, similar_to)",
            change.id,
        )
    vector_rows.set_life(batch.connection, "observation_id = ?", change.id, live=batch.in_force(entity))
    _updated(batch, entity, scope)
    return Outcome(ids=(entity,), names=(name,), count=1)


def flag_similar(batch: Batch, change: FlagSimilar) -> Outcome:
    flagged = batch.run(
        "UPDATE observation SET similar_to = ?1, similarity = ?2 WHERE id = ?3 "
        "AND EXISTS (SELECT 1 FROM observation WHERE id = ?1)",
        change.similar_to,
        change.similarity,
        change.observation,
    )
    return Outcome(count=flagged)


def _updated(batch: Batch, entity: int, scope: int) -> None:
    batch.run("UPDATE memory SET updated_at = ? WHERE id = ?", batch.at, entity)
    batch.touch(entity, scope)


def _observe(
    batch: Batch, entity: int, observations: Iterable[NewObservation], *, just_made: bool = False
) -> tuple[Added, ...]:
    """Insert what does not stand there yet, word for word."""
    question = f"SELECT content, id FROM observation WHERE memory_id = ? AND {_IN_FORCE}"
    standing: dict[str, int] = {} if just_made else dict(batch.rows(question, entity))
    live = just_made or batch.in_force(entity)
    added = []
    for new in observations:
        if new.content in standing:
            _correct(batch, entity, new, standing)
            continue
        replaced = _replaced(batch, entity, new, standing)
        observation = batch.insert(
            "INSERT INTO observation(memory_id, content, kind, created_at, happened_at) "
            "VALUES (?, ?, ?, ?, ?)",
            entity,
            new.content,
            new.kind,
            batch.at,
            stamp_or_none(new.happened_at),
        )
        for span in spans(new.content):
            vector_rows.add_passage(batch.connection, entity, observation, span, live=live)
        if replaced is not None:
            _supersede(batch, standing.pop(replaced), observation)
        standing[new.content] = observation
        added.append(Added(observation, new.content))
    return tuple(added)


def _correct(batch: Batch, entity: int, new: NewObservation, standing: dict[str, int]) -> None:
    """What stands already may still correct another. If it has done so before, there is nothing to do."""
    for content, observation in standing.items():
        if new.supersedes in (observation, content) and content != new.content:
            _supersede(batch, observation, standing[new.content])
            del standing[content]
            _updated(batch, entity, int(batch.rows("SELECT scope_id FROM memory WHERE id = ?", entity)[0][0]))
            return


def _replaced(batch: Batch, entity: int, new: NewObservation, standing: dict[str, int]) -> str | None:
    """The content of the observation that a new one supersedes."""
    sought = new.supersedes
    if sought is None:
        return None
    for content, observation in standing.items():
        if sought in (observation, content):
            return content
    shown = f"#{sought}" if isinstance(sought, int) else repr(sought)
    raise NotFound(
        f"{batch.name(entity)!r} has no observation {shown} in force to supersede; name one that it has, "
        "word for word: `open_nodes` shows them."
    )


def _supersede(batch: Batch, old: int, new: int) -> None:
    batch.run("UPDATE observation SET superseded_by = ?, superseded_at = ? WHERE id = ?", new, batch.at, old)
    vector_rows.set_life(batch.connection, "observation_id = ?", old, live=False)
