"""Forgetting, restoring, purging, and the fields of a memory's life."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.changes import Outcome
from recollect.errors import Conflict, InvalidInput, NotFound
from recollect.stores.sqlite import vector_rows, word_index
from recollect.stores.sqlite.lookup import exact_entity
from recollect.stores.sqlite.rows import stamp, stamp_or_none
from recollect.stores.sqlite.write import corrections, shadow, texts

if TYPE_CHECKING:
    from recollect.changes import Amend, FlagAlike, Forget, Purge, Restore
    from recollect.stores.sqlite.write.batch import Batch


def forget(batch: Batch, change: Forget) -> Outcome:
    scope = batch.scope_id(change.scope)
    by_name = (exact_entity(batch.connection, scope, name) for name in change.names)
    wanted = dict.fromkeys((*change.ids, *(id_ for id_ in by_name if id_ is not None)))
    gone = tuple(id_ for id_ in wanted if forget_one(batch, scope, id_))
    return Outcome(ids=gone, count=len(gone))


def restore(batch: Batch, change: Restore) -> Outcome:
    """Bring the memory back, and the relations that went with it, as far as their other end lives."""
    scope = batch.scope_id(change.scope)
    if corrections.reinstate(batch, scope, change.id):
        revive(batch, change.id, scope)
        return Outcome(ids=(change.id,), names=(batch.name(change.id),), count=1)
    rows = batch.rows(
        "SELECT kind, name, deleted_at FROM memory WHERE id = ? AND scope_id = ? AND deleted_at IS NOT NULL",
        change.id,
        scope,
    )
    if not rows:
        raise NotFound(f"There is no forgotten or superseded memory {change.id}; nothing was restored.")
    _, name, gone_at = rows[0]
    living = exact_entity(batch.connection, scope, name) if name else None
    if living is not None:
        raise Conflict(
            f"An entity named {name!r} (memory {living}) was created since; delete it before you restore "
            f"memory {change.id}."
        )
    batch.run("INSERT OR IGNORE INTO absence VALUES (?, ?, 'forgotten', ?)", change.id, gone_at, batch.at)
    batch.run("UPDATE memory SET deleted_at = NULL, updated_at = ? WHERE id = ?", batch.at, change.id)
    _restore_relations(batch, change.id, gone_at)
    revive(batch, change.id, scope)
    return Outcome(ids=(change.id,), names=(name,), count=1)


def purge(batch: Batch, change: Purge) -> Outcome:
    before = stamp(change.before)
    vector_rows.log_removal(
        batch.connection, "memory_id IN (SELECT id FROM memory WHERE deleted_at < ?)", before
    )
    vector_rows.log_removal(
        batch.connection, "observation_id IN (SELECT id FROM observation WHERE deleted_at < ?)", before
    )
    memories = batch.run("DELETE FROM memory WHERE deleted_at < ?", before)
    observations = batch.run("DELETE FROM observation WHERE deleted_at < ?", before)
    batch.run("DELETE FROM relation WHERE deleted_at < ?", before)
    # Reports of dreams, and questions of that time, may quote it; and the indexes still hold its words.
    batch.run("UPDATE dream SET report = json_set(report, '$.upkeep', NULL, '$.gate.losses', json('[]'))")
    batch.run("UPDATE recall SET query = NULL WHERE at < ?", before)
    if memories or observations:
        shadow.purge(batch, before)
        for (scope,) in batch.rows("SELECT id FROM scope"):
            word_index.clean(batch.connection, scope)
    # What pointed to the destroyed keeps the fact, and loses the pointer.
    for table, column in (
        ("memory", "superseded_by"),
        ("memory", "drawn_from"),
        ("observation", "corrected_by"),
    ):
        batch.run(
            f"UPDATE {table} SET {column} = NULL WHERE {column} IS NOT NULL "
            f"AND NOT EXISTS (SELECT 1 FROM memory AS other WHERE other.id = {table}.{column})"
        )
    return Outcome(count=memories)


def amend(batch: Batch, change: Amend) -> Outcome:
    scope = batch.scope_id(change.scope)
    amended = batch.run(
        "UPDATE memory SET updated_at = ?, status = coalesce(?, status), "
        "importance = coalesce(?, importance), pinned = coalesce(?, pinned), "
        "category = coalesce(?, category), happened_at = coalesce(?, happened_at), "
        "importance_tag = nullif(coalesce(?, importance_tag), '') "
        "WHERE id = ? AND scope_id = ? AND deleted_at IS NULL",
        batch.at,
        change.status,
        change.importance,
        change.pinned,
        change.category,
        stamp_or_none(change.happened_at),
        change.importance_tag,
        change.id,
        scope,
    )
    if not amended:
        raise NotFound(f"There is no memory {change.id}; nothing was changed.")
    if change.tags is not None:
        if batch.one("SELECT kind = 'entity' FROM memory WHERE id = ?", change.id):
            raise InvalidInput("An entity has no tags; tag the notes that speak of it.")
        batch.run("DELETE FROM tag WHERE memory_id = ?", change.id)
        texts.tag(batch, change.id, change.tags)
    if change.text is not None:
        texts.revise(batch, scope, change.id, change.text)
    return Outcome(ids=(change.id,), count=1)


def flag_alike(batch: Batch, change: FlagAlike) -> Outcome:
    flagged = batch.run(
        "UPDATE memory SET similar_to = ?1, similarity = ?2 WHERE id = ?3 "
        "AND EXISTS (SELECT 1 FROM memory WHERE id = ?1)",
        change.similar_to,
        change.similarity,
        change.memory,
    )
    return Outcome(count=flagged)


# What a memory's return wakes: all of it but former texts, and observations that were removed or replaced on
# their own.
_REVIVED = (
    "memory_id = ? AND revision_id IS NULL AND (observation_id IS NULL OR observation_id IN ("
    "SELECT id FROM observation WHERE deleted_at IS NULL AND superseded_at IS NULL))"
)


def revive(batch: Batch, memory: int, scope: int) -> None:
    if batch.in_force(memory):
        vector_rows.set_life(batch.connection, _REVIVED, memory, live=True)
    batch.touch(memory, scope, said=True, named=True)


def forget_one(batch: Batch, scope: int, memory: int) -> bool:
    gone = batch.run(
        "UPDATE memory SET deleted_at = ? WHERE id = ? AND scope_id = ? AND deleted_at IS NULL",
        batch.at,
        memory,
        scope,
    )
    if not gone:
        return False
    batch.run(
        "UPDATE relation SET deleted_at = ?1 WHERE deleted_at IS NULL AND (source_id = ?2 OR target_id = ?2)",
        batch.at,
        memory,
    )
    vector_rows.set_life(batch.connection, "memory_id = ?", memory, live=False)
    batch.touch(memory, scope)
    return True


def _restore_relations(batch: Batch, memory: int, gone_at: int) -> None:
    for relation, other_gone_at in batch.rows(
        "SELECT r.id, other.deleted_at FROM relation AS r JOIN memory AS other "
        "ON other.id = CASE r.source_id WHEN ?1 THEN r.target_id ELSE r.source_id END "
        "WHERE r.deleted_at = ?2 AND (r.source_id = ?1 OR r.target_id = ?1) ORDER BY r.id DESC",
        memory,
        gone_at,
    ):
        # Asked one by one, the newest first: several that went at one moment may be the same relation.
        clash = batch.one(
            "SELECT s.id FROM relation AS s JOIN relation AS r ON s.source_id = r.source_id "
            "AND s.target_id = r.target_id AND s.type = r.type "
            "WHERE r.id = ? AND r.until IS NULL AND s.until IS NULL AND s.deleted_at IS NULL",
            relation,
        )
        if clash is None:
            # While the other end is gone, the relation waits for its return: it takes its time of death.
            batch.run("UPDATE relation SET deleted_at = ? WHERE id = ?", other_gone_at, relation)
