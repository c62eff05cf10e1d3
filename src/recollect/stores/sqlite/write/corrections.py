"""Corrections: memories retired in favour of another, and brought back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.changes import NewText, Outcome, PutText
from recollect.errors import Conflict, InvalidInput, NotFound
from recollect.stores.sqlite import vector_rows
from recollect.stores.sqlite.write import texts

if TYPE_CHECKING:
    from recollect.changes import Supersede
    from recollect.stores.sqlite.write.batch import Batch


def supersede(batch: Batch, change: Supersede) -> Outcome:
    scope = batch.scope_id(change.scope)
    by, created = change.by, False
    if isinstance(by, NewText):
        outcome = texts.put(batch, PutText(change.scope, by))
        by, created = outcome.ids[0], outcome.created
    if by in change.ids:
        raise InvalidInput(f"Memory {by} cannot supersede itself; name another one, or give another text.")
    _check(batch, scope, by, "supersede another")
    ids, observations = tuple(dict.fromkeys(change.ids)), tuple(dict.fromkeys(change.observations))
    for memory in ids:
        _check(batch, scope, memory, "be superseded")
        batch.run("UPDATE memory SET superseded_by = ?, superseded_at = ? WHERE id = ?", by, batch.at, memory)
        vector_rows.set_life(batch.connection, "memory_id = ?", memory, live=False)
        batch.touch(memory, scope)
    for observation in observations:
        _correct(batch, scope, observation, by)
    return Outcome(ids=(by, *ids), created=created, count=len(ids) + len(observations))


def reinstate(batch: Batch, scope: int, memory: int) -> bool:
    """Take back that a memory was superseded, and what was corrected along with it stays as it is."""
    batch.run(
        "INSERT OR IGNORE INTO absence SELECT id, superseded_at, 'superseded', ? FROM memory "
        "WHERE id = ? AND scope_id = ? AND superseded_at IS NOT NULL AND deleted_at IS NULL",
        batch.at,
        memory,
        scope,
    )
    back = batch.run(
        "UPDATE memory SET superseded_by = NULL, superseded_at = NULL, updated_at = ? "
        "WHERE id = ? AND scope_id = ? AND superseded_at IS NOT NULL AND deleted_at IS NULL",
        batch.at,
        memory,
        scope,
    )
    return bool(back)


def _check(batch: Batch, scope: int, memory: int, what: str) -> None:
    rows = batch.rows(
        "SELECT superseded_at IS NOT NULL, superseded_by FROM memory WHERE id = ? AND scope_id = ? "
        "AND deleted_at IS NULL",
        memory,
        scope,
    )
    if not rows:
        raise NotFound(f"There is no memory {memory} that could {what}; nothing was changed.")
    retired, by = rows[0]
    if retired:
        raise Conflict(
            f"Memory {memory} was superseded already{f' by memory {by}' if by else ''}, so it cannot {what}; "
            f"{f'go on from memory {by}' if by else 'restore it first'}."
        )


def _correct(batch: Batch, scope: int, observation: int, by: int) -> None:
    rows = batch.rows(
        "UPDATE observation SET superseded_at = ?, corrected_by = ? WHERE id = ? AND deleted_at IS NULL "
        "AND superseded_at IS NULL AND memory_id IN (SELECT id FROM memory WHERE scope_id = ?) "
        "RETURNING memory_id",
        batch.at,
        by,
        observation,
        scope,
    )
    if not rows:
        raise NotFound(f"There is no observation {observation} in force that could be corrected.")
    vector_rows.set_life(batch.connection, "observation_id = ?", observation, live=False)
    batch.run("UPDATE memory SET updated_at = ? WHERE id = ?", batch.at, rows[0][0])
    batch.touch(rows[0][0], scope)
