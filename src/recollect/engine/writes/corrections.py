"""Corrections: memories retired in favour of another, and brought back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.changes import NewText, Outcome, PutText
from recollect.conditions import Equals, is_null, is_set
from recollect.engine.writes import lifecycle, texts
from recollect.errors import Conflict, InvalidInput, NotFound

if TYPE_CHECKING:
    from recollect.changes import Supersede
    from recollect.engine.writes.work import Work


def supersede(work: Work, change: Supersede) -> Outcome:
    scope = work.scope_id(change.scope)
    by, created = change.by, False
    if isinstance(by, NewText):
        outcome = texts.put(work, PutText(change.scope, by))
        by, created = outcome.ids[0], outcome.created
    if by in change.ids:
        raise InvalidInput(f"Memory {by} cannot supersede itself; name another one, or give another text.")
    _check(work, scope, by, "supersede another")
    ids, observations = tuple(dict.fromkeys(change.ids)), tuple(dict.fromkeys(change.observations))
    for memory in ids:
        _check(work, scope, memory, "be superseded")
        work.set("memory", memory, superseded_by=by, superseded_at=work.at)
        work.set_live("memory_id", memory, live=False)
        work.touch(memory, scope)
    for observation in observations:
        _correct(work, scope, observation, by)
    return Outcome(ids=(by, *ids), created=created, count=len(ids) + len(observations))


def reinstate(work: Work, scope: int, memory: int) -> bool:
    """Take back that a memory was superseded, and what was corrected along with it stays as it is."""
    retired = (
        Equals("id", memory),
        Equals("scope_id", scope),
        is_set("superseded_at"),
        is_null("deleted_at"),
    )
    rows = work.rows.rows("memory", ("superseded_at",), retired)
    if not rows:
        return False
    lifecycle.note_absence(work, memory, rows[0][0], "superseded")
    work.set("memory", memory, superseded_by=None, superseded_at=None, updated_at=work.at)
    return True


def _check(work: Work, scope: int, memory: int, what: str) -> None:
    row = work.row("memory", memory, "scope_id", "deleted_at", "superseded_at", "superseded_by")
    if row is None or row[0] != scope or row[1] is not None:
        raise NotFound(f"There is no memory {memory} that could {what}; nothing was changed.")
    _, _, retired, by = row
    if retired is not None:
        raise Conflict(
            f"Memory {memory} was superseded already{f' by memory {by}' if by else ''}, so it cannot {what}; "
            f"{f'go on from memory {by}' if by else 'restore it first'}."
        )


def _correct(work: Work, scope: int, observation: int, by: int) -> None:
    row = work.row("observation", observation, "memory_id", "deleted_at", "superseded_at")
    owner = None if row is None else work.row("memory", row[0], "scope_id")
    if row is None or row[1:] != (None, None) or owner != (scope,):
        raise NotFound(f"There is no observation {observation} in force that could be corrected.")
    work.set("observation", observation, superseded_at=work.at, corrected_by=by)
    work.set_live("observation_id", observation, live=False)
    work.set("memory", row[0], updated_at=work.at)
    work.touch(row[0], scope)
