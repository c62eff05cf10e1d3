"""Taking over what another store exported: as it was, and once however often it is brought.

An export adds; it never takes away. What it holds as forgotten is history, and is known here under
whatever life it has by now. What it holds as live comes back, also if it was forgotten here since.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.changes import Outcome
from recollect.errors import NotFound
from recollect.records import Kind
from recollect.stores.sqlite import vector_rows
from recollect.stores.sqlite.lookup import exact_entity
from recollect.stores.sqlite.rows import row_of, stamp, stamp_or_none
from recollect.stores.sqlite.write.entities import settle_type
from recollect.stores.sqlite.write.texts import add_passages, tag
from recollect.text.near_duplicates import text_key
from recollect.text.passages import spans
from recollect.text.tokens import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.changes import Adopt, AdoptLinks, AdoptRelation
    from recollect.records import Memory, Observation, Relation, Revision
    from recollect.stores.sqlite.write.batch import Batch

# The id that the row had, unless another row has it here; then the next free one.
_ID = "CASE WHEN EXISTS (SELECT 1 FROM {table} WHERE id = ?1) THEN NULL ELSE ?1 END"


def adopt(batch: Batch, change: Adopt) -> Outcome:
    """Insert the memory under its own id if that is free, unless it is here already."""
    memory = change.memory
    scope = batch.scope_id(memory.scope)
    standing = _standing(batch, scope, memory, fresh=change.fresh)
    if standing is None:
        id_ = _insert(batch, scope, memory)
        known: dict[int, int] = {}
        live = memory.deleted_at is None and memory.superseded_at is None
    else:
        id_ = standing
        known = _standing_observations(batch, id_, memory)
        live = bool(
            batch.one("SELECT deleted_at IS NULL AND superseded_at IS NULL FROM memory WHERE id = ?", id_)
        )
    new = [observation for observation in memory.observations if observation.id not in known]
    if not change.fresh:
        # Only in a store that was empty is it sure that the correction has the id that it had.
        new = [replace(observation, corrected_by=None) for observation in new]
    made = {observation.id: _insert_observation(batch, id_, observation, live=live) for observation in new}
    _link_observations(batch, new, known | made)
    took = _took_type(batch, id_, memory) if standing is not None else None
    if (new or took) and standing is not None:
        batch.run("UPDATE memory SET updated_at = ? WHERE id = ?", batch.at, id_)
    if new or took or standing is None:
        batch.touch(id_, scope, said=standing is None, named=standing is None)
    return Outcome(ids=(id_,), names=(memory.name,), created=standing is None, count=len(new), took_type=took)


def adopt_relation(batch: Batch, change: AdoptRelation) -> Outcome:
    relation = change.relation
    for end in (relation.source, relation.target):
        if batch.one("SELECT id FROM memory WHERE id = ? AND kind = 'entity'", end) is None:
            raise NotFound(f"Relation {relation.id} leads to memory {end}, which is not an entity here.")
    standing = _standing_relation(batch, relation, fresh=change.fresh)
    if standing is not None:
        return Outcome(relations=(standing,))
    made = batch.insert(
        "INSERT INTO relation(id, source_id, target_id, type, context, created_at, since, until, deleted_at) "
        f"VALUES ({_ID.format(table='relation')}, ?, ?, ?, ?, ?, ?, ?, ?)",
        relation.id,
        relation.source,
        relation.target,
        relation.type,
        relation.context,
        stamp(relation.created_at),
        stamp_or_none(relation.since),
        stamp_or_none(relation.until),
        stamp_or_none(relation.deleted_at),
    )
    return Outcome(relations=(made,), created=True)


def link(batch: Batch, change: AdoptLinks) -> Outcome:
    """Set links that are not set yet, as far as both ends are here."""
    linked = 0
    for memory, later in change.superseded:
        linked += batch.run(
            "UPDATE memory SET superseded_by = ?2 WHERE id = ?1 AND superseded_by IS NULL "
            "AND superseded_at IS NOT NULL AND EXISTS (SELECT 1 FROM memory WHERE id = ?2)",
            memory,
            later,
        )
    for relation, first in change.inverse:
        linked += batch.run(
            "UPDATE relation SET inverse_of = ?2 WHERE id = ?1 AND inverse_of IS NULL "
            "AND EXISTS (SELECT 1 FROM relation WHERE id = ?2 AND inverse_of IS NOT ?1)",
            relation,
            first,
        )
    for text, entity in change.about:
        linked += batch.run(
            "INSERT INTO mention(memory_id, entity_id, told) SELECT t.id, e.id, 1 "
            "FROM memory AS t, memory AS e WHERE t.id = ?1 AND e.id = ?2 AND t.kind <> 'entity' "
            "AND e.kind = 'entity' AND t.scope_id = e.scope_id "
            "ON CONFLICT (memory_id, entity_id) DO UPDATE SET told = 1",
            text,
            entity,
        )
    for column, pairs in (("drawn_from", change.drawn), ("similar_to", change.similar)):
        for memory, other in pairs:
            linked += batch.run(
                f"UPDATE memory SET {column} = ?2 WHERE id = ?1 AND {column} IS NULL "
                "AND EXISTS (SELECT 1 FROM memory WHERE id = ?2)",
                memory,
                other,
            )
    return Outcome(count=linked)


def _standing(batch: Batch, scope: int, memory: Memory, *, fresh: bool) -> int | None:
    """The same memory, here already: an entity by its name, a text by its words and its time."""
    live = memory.deleted_at is None
    if live and memory.kind is Kind.ENTITY:
        return exact_entity(batch.connection, scope, memory.name)
    same = (
        "scope_id = ?1 AND kind = ?2 AND name = ?3 AND text = ?4 AND created_at = ?5 AND session IS ?6 "
        "AND position IS ?7 AND (deleted_at IS NULL OR NOT ?8)"
    )
    bindings = (
        scope,
        memory.kind.value,
        memory.name,
        memory.text,
        stamp(memory.created_at),
        memory.session,
        memory.position,
        live,
    )
    standing = batch.one(f"SELECT id FROM memory WHERE id = ?9 AND {same}", *bindings, memory.id)
    if standing is not None or fresh:
        return standing
    value: str | int
    if memory.kind is Kind.ENTITY:  # the constant, by which the planner sees that the index will do
        key, value = "kind = 'entity' AND folded_name = ?9", fold(memory.name)
    else:
        key, value = "text_key = ?9", text_key(memory.text)
    return batch.one(
        f"SELECT id FROM memory WHERE {same} AND {key} AND role IS ?10 AND speaker IS ?11 "
        "ORDER BY deleted_at IS ?12 DESC, id",
        *bindings,
        value,
        memory.role,
        memory.speaker,
        stamp_or_none(memory.deleted_at),
    )


def _took_type(batch: Batch, id_: int, memory: Memory) -> str | None:
    """What is here as `unknown` takes the type that the export knows, unless that is of a forgotten one."""
    if memory.kind is not Kind.ENTITY or memory.deleted_at is not None:
        return None
    return settle_type(batch, id_, memory.type)[0]


def _standing_relation(batch: Batch, relation: Relation, *, fresh: bool) -> int | None:
    if relation.until is None and relation.deleted_at is None:
        return batch.one(
            "SELECT id FROM relation WHERE source_id = ? AND target_id = ? AND type = ? AND until IS NULL "
            "AND deleted_at IS NULL",
            relation.source,
            relation.target,
            relation.type,
        )
    live = relation.deleted_at is None
    same = (
        "source_id = ?1 AND target_id = ?2 AND type = ?3 AND created_at = ?4 AND since IS ?5 AND until IS ?6 "
        "AND (deleted_at IS NULL OR NOT ?7)"
    )
    bindings = (
        relation.source,
        relation.target,
        relation.type,
        stamp(relation.created_at),
        stamp_or_none(relation.since),
        stamp_or_none(relation.until),
        live,
    )
    standing = batch.one(f"SELECT id FROM relation WHERE id = ?8 AND {same}", *bindings, relation.id)
    if standing is not None or fresh:
        return standing
    return batch.one(
        f"SELECT id FROM relation WHERE {same} ORDER BY deleted_at IS ?8 DESC, id",
        *bindings,
        stamp_or_none(relation.deleted_at),
    )


def _insert(batch: Batch, scope: int, memory: Memory) -> int:
    columns = {
        "scope_id": scope,
        "folded_name": fold(memory.name),
        "text_key": None if memory.kind is Kind.ENTITY else text_key(memory.text),
        **row_of(memory),
        # These follow with `AdoptLinks`.
        "superseded_by": None,
        "drawn_from": None,
        "similar_to": None,
    }
    id_ = batch.insert(
        f"INSERT INTO memory(id, {', '.join(columns)}) "
        f"VALUES ({_ID.format(table='memory')}{', ?' * len(columns)})",
        memory.id,
        *columns.values(),
    )
    live = memory.deleted_at is None and memory.superseded_at is None
    if memory.kind is Kind.ENTITY:
        vector_rows.add_passage(batch.connection, id_, None, (0, 0), live=live)
    else:
        add_passages(batch, id_, memory.text, live=live)
    tag(batch, id_, memory.tags)
    for former in memory.former:
        _insert_former(batch, id_, former)
    for absence in memory.absences:
        batch.run(
            "INSERT OR IGNORE INTO absence VALUES (?, ?, ?, ?)",
            id_,
            stamp(absence.since),
            absence.why,
            stamp(absence.until),
        )
    return id_


def _insert_former(batch: Batch, memory: int, former: Revision) -> None:
    revision = batch.insert(
        "INSERT INTO revision(memory_id, text, since, until) VALUES (?, ?, ?, ?)",
        memory,
        former.text,
        stamp(former.since),
        stamp(former.until),
    )
    for span in spans(former.text):
        vector_rows.add_passage(batch.connection, memory, None, span, live=False, revision=revision)


def _standing_observations(batch: Batch, entity: int, memory: Memory) -> dict[int, int]:
    """Those of the memory's observations that stand here already, and under which id."""
    in_force: dict[str, int] = {}
    ever: dict[tuple[str, int], int] = {}
    # From the last to the first, so that among equals the first has the word.
    for id_, content, created_at, holds in batch.rows(
        "SELECT id, content, created_at, deleted_at IS NULL AND superseded_at IS NULL FROM observation "
        "WHERE memory_id = ? ORDER BY id DESC",
        entity,
    ):
        ever[content, created_at] = id_
        if holds:
            in_force[content] = id_
    places = {
        seen.id: in_force.get(seen.content)
        if seen.in_force
        else ever.get((seen.content, stamp(seen.created_at)))
        for seen in memory.observations
    }
    return {id_: place for id_, place in places.items() if place is not None}


def _insert_observation(batch: Batch, entity: int, observation: Observation, *, live: bool) -> int:
    made = batch.insert(
        "INSERT INTO observation(id, memory_id, content, kind, created_at, happened_at, superseded_at, "
        "similarity, corrected_by, deleted_at) "
        f"VALUES ({_ID.format(table='observation')}, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        observation.id,
        entity,
        observation.content,
        observation.kind,
        stamp(observation.created_at),
        stamp_or_none(observation.happened_at),
        stamp_or_none(observation.superseded_at),
        observation.similarity,
        observation.corrected_by,
        stamp_or_none(observation.deleted_at),
    )
    for span in spans(observation.content):
        vector_rows.add_passage(batch.connection, entity, made, span, live=live and observation.in_force)
    return made


def _link_observations(batch: Batch, new: Sequence[Observation], places: dict[int, int]) -> None:
    """Which replaced which, under the ids they have here."""
    for observation in new:
        if observation.superseded_by is not None or observation.similar_to is not None:
            batch.run(
                "UPDATE observation SET superseded_by = ?, similar_to = ? WHERE id = ?",
                places.get(observation.superseded_by or 0),
                places.get(observation.similar_to or 0),
                places[observation.id],
            )
