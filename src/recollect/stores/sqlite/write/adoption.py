"""Taking over what another store exported: as it was, and once however often it is brought."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.errors import NotFound
from recollect.records import Kind, Outcome
from recollect.stores.sqlite import vector_rows
from recollect.stores.sqlite.rows import row_of, stamp, stamp_or_none
from recollect.stores.sqlite.write.texts import text_key
from recollect.text.passages import spans
from recollect.text.words import fold

if TYPE_CHECKING:
    from recollect.records import Memory, Observation, Relation
    from recollect.stores.sqlite.write.batch import Batch


def adopt(batch: Batch, memory: Memory) -> Outcome:
    """Insert the memory under its own id if that is free, unless it is here already."""
    scope = batch.scope_id(memory.scope)
    standing = _standing(batch, scope, memory)
    id_ = standing if standing is not None else _insert(batch, scope, memory)
    places: dict[int, int] = {}
    added = 0
    for observation in memory.observations:
        place = _standing_observation(batch, id_, observation)
        if place is None:
            place = _insert_observation(batch, id_, memory, observation)
            added += 1
        places[observation.id] = place
    if added:
        _link_observations(batch, memory, places)
    if standing is None or added:
        batch.touch(id_, scope)
    return Outcome(ids=(id_,), names=(memory.name,), created=standing is None, count=added)


def adopt_relation(batch: Batch, relation: Relation) -> Outcome:
    for end in (relation.source, relation.target):
        if batch.one("SELECT id FROM memory WHERE id = ? AND kind = 'entity'", end) is None:
            raise NotFound(f"Relation {relation.id} leads to memory {end}, which is not here.")
    standing = batch.one(
        "SELECT id FROM relation WHERE source_id = ? AND target_id = ? AND type = ? AND since IS ? "
        "AND until IS ? AND (deleted_at IS ?6 OR (deleted_at IS NULL AND ?5 IS NULL AND ?6 IS NULL))",
        relation.source,
        relation.target,
        relation.type,
        stamp_or_none(relation.since),
        stamp_or_none(relation.until),
        stamp_or_none(relation.deleted_at),
    )
    if standing is not None:
        return Outcome(relations=(standing,))
    made = batch.insert(
        "INSERT INTO relation(id, source_id, target_id, type, context, created_at, since, until, inverse_of, "
        "deleted_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        _free(batch, "relation", relation.id),
        relation.source,
        relation.target,
        relation.type,
        relation.context,
        stamp(relation.created_at),
        stamp_or_none(relation.since),
        stamp_or_none(relation.until),
        relation.inverse_of,
        stamp_or_none(relation.deleted_at),
    )
    return Outcome(relations=(made,), created=True)


def _standing(batch: Batch, scope: int, memory: Memory) -> int | None:
    """The same memory, here already: an entity by its name, a text by its words and its time."""
    gone = memory.deleted_at is not None
    if memory.kind is Kind.ENTITY:
        return batch.one(
            "SELECT id FROM memory WHERE scope_id = ? AND kind = 'entity' AND name = ? "
            "AND (deleted_at IS NULL AND NOT ?3 OR deleted_at IS ?4 AND created_at = ?5) ORDER BY id",
            scope,
            memory.name,
            gone,
            stamp_or_none(memory.deleted_at),
            stamp(memory.created_at),
        )
    return batch.one(
        "SELECT id FROM memory WHERE scope_id = ? AND kind = ? AND created_at = ? AND session IS ? "
        "AND position IS ? AND text = ? ORDER BY id",
        scope,
        memory.kind.value,
        stamp(memory.created_at),
        memory.session,
        memory.position,
        memory.text,
    )


def _insert(batch: Batch, scope: int, memory: Memory) -> int:
    columns = {
        "id": _free(batch, "memory", memory.id),
        "scope_id": scope,
        "folded_name": fold(memory.name),
        "text_key": text_key(memory.kind, memory.text),
        **row_of(memory),
    }
    id_ = batch.insert(
        f"INSERT INTO memory({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))}) RETURNING id",
        *columns.values(),
    )
    live = memory.deleted_at is None and memory.superseded_at is None
    for span in ((0, 0),) if memory.kind is Kind.ENTITY else spans(memory.text):
        vector_rows.add_passage(batch.connection, id_, None, span, live=live)
    return id_


def _standing_observation(batch: Batch, entity: int, observation: Observation) -> int | None:
    return batch.one(
        "SELECT id FROM observation WHERE memory_id = ? AND content = ? AND (created_at = ? OR "
        "(deleted_at IS NULL AND superseded_at IS NULL AND ?4)) ORDER BY id",
        entity,
        observation.content,
        stamp(observation.created_at),
        observation.in_force,
    )


def _insert_observation(batch: Batch, entity: int, memory: Memory, observation: Observation) -> int:
    made = batch.insert(
        "INSERT INTO observation(id, memory_id, content, kind, created_at, happened_at, superseded_at, "
        "similarity, deleted_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        _free(batch, "observation", observation.id),
        entity,
        observation.content,
        observation.kind,
        stamp(observation.created_at),
        stamp_or_none(observation.happened_at),
        stamp_or_none(observation.superseded_at),
        observation.similarity,
        stamp_or_none(observation.deleted_at),
    )
    live = observation.in_force and memory.deleted_at is None
    for span in spans(observation.content):
        vector_rows.add_passage(batch.connection, entity, made, span, live=live)
    return made


def _link_observations(batch: Batch, memory: Memory, places: dict[int, int]) -> None:
    """Which replaced which, under the ids they have here."""
    for observation in memory.observations:
        batch.run(
            "UPDATE observation SET superseded_by = coalesce(superseded_by, ?), "
            "similar_to = coalesce(similar_to, ?) WHERE id = ?",
            places.get(observation.superseded_by or 0),
            places.get(observation.similar_to or 0),
            places[observation.id],
        )


def _free(batch: Batch, table: str, id_: int) -> int | None:
    """The id itself where nothing has ever stood under it; else None, for the next free one."""
    taken = batch.one(f"SELECT 1 FROM {table} WHERE id = ?", id_)
    return None if taken is not None else id_
