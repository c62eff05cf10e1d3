"""Forgetting, superseding, restoring and purging memories, and changing their fields."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recollect.changes import (
    Amend,
    EmptyLog,
    FlagSimilar,
    Forget,
    NewText,
    Outcome,
    Purge,
    PurgeMemories,
    PutText,
    Restore,
    Supersede,
    Unmake,
)
from recollect.conditions import IN_FORCE, AnyOf, Compares, Equals, OneOf, is_null, is_set
from recollect.engine.writes import receipts, texts
from recollect.engine.writes.relations import relation_in_force
from recollect.errors import Conflict, InvalidInput, NotFound
from recollect.retrieval.entities import exact_entity
from recollect.retrieval.records import json_or_none, stamp, stamp_or_none, touching

if TYPE_CHECKING:
    from recollect.engine.writes.work import Work
    from recollect.tables import Table


def forget(work: Work, change: Forget) -> Outcome:
    scope = work.scope_id(change.scope)
    by_name = (exact_entity(work.rows, scope, name) for name in change.names)
    wanted = dict.fromkeys((*change.ids, *(id_ for id_ in by_name if id_ is not None)))
    gone = tuple(id_ for id_ in wanted if forget_one(work, scope, id_))
    return Outcome(ids=gone, count=len(gone))


def forget_one(work: Work, scope: int, memory: int) -> bool:
    there = (Equals("id", memory), Equals("scope_id", scope), is_null("deleted_at"))
    if not work.rows.patch("memory", there, {"deleted_at": work.at}):
        return False
    work.rows.patch("relation", (touching([memory]), is_null("deleted_at")), {"deleted_at": work.at})
    work.set_live("memory_id", memory, live=False)
    work.touch(memory, scope)
    return True


def supersede_memory(work: Work, change: Supersede) -> Outcome:
    scope = work.scope_id(change.scope)
    by, created = change.by, False
    if isinstance(by, NewText):
        outcome = texts.put_text(work, PutText(change.scope, by, change.embedded))
        by, created = outcome.ids[0], outcome.created
    ids = dict.fromkeys((*change.ids, *change.copies))
    observations = dict.fromkeys(change.observations)
    if by in ids:
        raise InvalidInput(f"Memory {by} cannot supersede itself; name another one, or give another text.")
    _check_in_force(work, scope, by, "supersede another")
    for memory in ids:
        _check_in_force(work, scope, memory, "be superseded")
        work.retire(
            "memory", memory, at=max(work.at, texts.last_revised(work, memory) or 0), superseded_by=by
        )
        work.touch(memory, scope)
    for observation in observations:
        row = work.row("observation", observation, "memory_id", "deleted_at", "superseded_at")
        owner = None if row is None else work.row("memory", row[0], "scope_id")
        if row is None or row[1:] != (None, None) or owner != (scope,):
            raise NotFound(f"There is no observation {observation} in force that could be corrected.")
        work.retire("observation", observation, corrected_by=by)
        work.set("memory", row[0], updated_at=work.at)
        work.touch(row[0], scope)
    return Outcome(
        ids=(by, *ids),
        created=created,
        observations=tuple(observations),
        count=len(ids) + len(observations),
    )


def _check_in_force(work: Work, scope: int, memory: int, what: str) -> None:
    row = work.row("memory", memory, "scope_id", "deleted_at", "superseded_at", "superseded_by")
    if row is None or row[:2] != (scope, None):
        raise NotFound(f"There is no memory {memory} that could {what}; nothing was changed.")
    _, _, retired, by = row
    if retired is not None:
        raise Conflict(
            f"Memory {memory} was superseded already{f' by memory {by}' if by else ''}, so it cannot {what}; "
            f"{f'go on from memory {by}' if by else 'restore it first'}."
        )


def restore(work: Work, change: Restore) -> Outcome:
    """Bring back a forgotten memory with its relations, as far as their other end lives; or a superseded one.

    What was corrected along with a superseded one stays as it is.
    """
    scope = work.scope_id(change.scope)
    row = work.row("memory", change.id, "scope_id", "name", "deleted_at", "superseded_at")
    if row is None or row[0] != scope or row[2:] == (None, None):
        raise NotFound(f"There is no forgotten or superseded memory {change.id}; nothing was restored.")
    _, name, gone_at, superseded_at = row
    _check_ref_is_free(work, scope, change.id)
    if gone_at is None:
        _note_absence(work, change.id, superseded_at, "superseded")
        work.set("memory", change.id, superseded_by=None, superseded_at=None, updated_at=work.at)
    else:
        living = exact_entity(work.rows, scope, name) if name else None
        if living is not None:
            raise Conflict(
                f"An entity named {name!r} (memory {living}) was created since; delete it before you restore "
                f"memory {change.id}."
            )
        _note_absence(work, change.id, gone_at, "forgotten")
        work.set("memory", change.id, deleted_at=None, updated_at=work.at)
        _restore_relations(work, change.id, gone_at)
    revive(work, change.id, scope)
    return Outcome(ids=(change.id,), names=(name,), count=1)


def _check_ref_is_free(work: Work, scope: int, memory: int) -> None:
    (ref,) = work.row("memory", memory, "ref") or (None,)
    if ref is None:
        return
    other = work.first("memory", (Equals("scope_id", scope), Equals("ref", ref), *IN_FORCE), "id")
    if other is not None:
        raise Conflict(
            f"Memory {other} was stored as {ref!r} since; forget it before you restore memory {memory}."
        )


def _note_absence(work: Work, memory: int, since: int, why: str) -> None:
    """The memory was gone for a while, until now.

    Not since before it was last changed, nor until before that: a clock may have jumped back between.
    """
    (superseded_at,) = work.row("memory", memory, "superseded_at") or (None,)
    since = max(since, texts.last_revised(work, memory) or since, superseded_at or since)
    row = {"memory_id": memory, "since": since, "why": why, "until": max(work.at, since)}
    work.rows.put("absence", [row], keep=True)


def revive(work: Work, memory: int, scope: int) -> None:
    """Wake all of a memory but former texts, and observations removed or replaced on their own."""
    if work.in_force("memory", memory):
        observations = work.ids("observation", (Equals("memory_id", memory), *IN_FORCE))
        present = AnyOf(((is_null("observation_id"),), (OneOf("observation_id", observations),)))
        where = (Equals("memory_id", memory), is_null("revision_id"), present)
        work.rows.patch("passage", where, {"live": 1})
    work.touch(memory, scope, text=True, named=True)


def _restore_relations(work: Work, memory: int, gone_at: int) -> None:
    gone = work.rows.rows(
        "relation",
        ("id", "source_id", "target_id", "type", "until"),
        (touching([memory]), Equals("deleted_at", gone_at)),
        newest_first=True,
    )
    for relation, source, target, type_, until in gone:
        # Asked one by one, the newest first: several that went at one moment may be the same relation.
        if until is None and relation_in_force(work, source, target, type_) is not None:
            continue
        # While the other end is gone, the relation waits for its return: it takes its time of death.
        other = work.row("memory", target if source == memory else source, "deleted_at")
        if other is not None:
            work.set("relation", relation, deleted_at=other[0])


def unmake(work: Work, change: Unmake) -> Outcome:
    scope = work.scope_id(change.scope)
    ids = work.ids("memory", (OneOf("id", change.ids), Equals("scope_id", scope)))
    for memory in ids:
        # Whoever caches vectors is told as it is of what is forgotten.
        forget_one(work, scope, memory)
    work.rows.remove("memory", (OneOf("id", ids),))
    work.rows_went()
    return Outcome(ids=tuple(ids), count=len(ids))


def purge(work: Work, change: Purge) -> Outcome:
    work.rows.hold(None)
    before = stamp(change.before)
    gone = (Compares("deleted_at", "<", before),)
    gone_ids = work.ids("memory", gone)
    observed = AnyOf((gone, (OneOf("memory_id", gone_ids),)))
    receipts.forget_words(work.rows, gone_ids, work.ids("observation", (observed,)))
    memories = work.rows.remove("memory", gone)
    observations = work.rows.remove("observation", gone)
    work.rows.remove("relation", gone)
    work.rows_went()
    # Reports of dreams, and questions of that time, may quote it.
    _clean_reports(work)
    work.rows.patch("recall", (Compares("at", "<", before), is_set("query")), {"query": None})
    if memories or observations:
        # Questions of that time may quote what was destroyed, and what they found may be it.
        work.rows.remove("shadow", (Compares("at", "<", before),))
    # What pointed to the destroyed keeps the fact, and loses the pointer.
    _drop_pointers(work, "memory", "superseded_by")
    _drop_pointers(work, "memory", "drawn_from")
    _drop_pointers(work, "observation", "corrected_by")
    return Outcome(count=memories)


def purge_memories(work: Work, change: PurgeMemories) -> Outcome:
    """Those that were named, and whatever may quote them: answers and questions of their time, reports."""
    scope = work.scope_id(change.scope)
    ids = list(dict.fromkeys(change.ids))
    known: dict[int, int | None] = dict(
        work.rows.rows("memory", ("id", "deleted_at"), (OneOf("id", ids), Equals("scope_id", scope)))
    )
    for id_ in ids:
        if id_ not in known:
            raise NotFound(f"There is no memory {id_}; nothing was purged.")
        if known[id_] is None:
            raise Conflict(f"Memory {id_} is not forgotten; forget it first. Nothing was purged.")
    named = OneOf("memory_id", ids)
    receipts.forget_words(work.rows, ids, work.ids("observation", (named,)))
    # What was asked when one of these was shown may quote it.
    asked = {recall for (recall,) in work.rows.rows("recalled", ("recall_id",), (named,))}
    moments = {at for (at,) in work.rows.rows("recall", ("at",), (OneOf("id", asked),))}
    work.rows.patch("recall", (OneOf("id", asked), is_set("query")), {"query": None})
    work.rows.remove("shadow", (Equals("scope_id", scope), OneOf("at", moments)))
    count = work.rows.remove("memory", (OneOf("id", ids),))
    work.rows_went()
    _clean_reports(work)
    _drop_pointers(work, "memory", "superseded_by")
    _drop_pointers(work, "memory", "drawn_from")
    _drop_pointers(work, "observation", "corrected_by")
    return Outcome(ids=tuple(ids), count=count)


def empty_log(work: Work, change: EmptyLog) -> Outcome:
    """What was shown still counts as used; what was asked for it is gone."""
    own = Equals("scope_id", work.scope_id(change.scope))
    answers = work.rows.remove("shadow", (own,))
    work.rows.patch("recall", (own, is_set("query")), {"query": None})
    return Outcome(count=answers)


def _clean_reports(work: Work) -> None:
    for id_, report in work.rows.rows("dream", ("id", "report")):
        told = json.loads(report)
        cleaned = {**told, "upkeep": None}
        if isinstance(told.get("gate"), dict):
            cleaned["gate"] = {**told["gate"], "losses": []}
        if cleaned != told:
            work.set("dream", id_, report=json.dumps(cleaned, separators=(",", ":"), ensure_ascii=False))


def _drop_pointers(work: Work, table: Table, column: str) -> None:
    targets = {target for (target,) in work.rows.rows(table, (column,), (is_set(column),))}
    targets.difference_update(work.ids("memory", (OneOf("id", targets),)))
    if targets:
        work.rows.patch(table, (OneOf(column, targets),), {column: None})


def amend(work: Work, change: Amend) -> Outcome:
    scope = work.scope_id(change.scope)
    given: dict[str, Any] = {
        "status": None if change.status is None else str(change.status),
        "importance": change.importance,
        "pinned": None if change.pinned is None else int(change.pinned),
        "category": change.category,
        "happened_at": None if change.happened_at == "unknown" else stamp_or_none(change.happened_at),
        "importance_tag": change.importance_tag,
        "expires_at": None if change.expires_at == "never" else texts.expiry(work, change.expires_at),
        "metadata": json_or_none(change.metadata),
    }
    values = {name: value for name, value in given.items() if value is not None}
    emptied = {"category": "", "happened_at": "unknown", "importance_tag": "", "expires_at": "never"}
    values |= {name: None for name, word in emptied.items() if getattr(change, name) == word}
    there = (Equals("id", change.id), Equals("scope_id", scope), is_null("deleted_at"))
    if not work.rows.patch("memory", there, {"updated_at": work.at, **values}):
        raise NotFound(f"There is no memory {change.id}; nothing was changed.")
    if change.expires_at is not None and work.row("memory", change.id, "kind") != ("note",):
        raise InvalidInput("Only a note expires; `end_relation` and `supersedes` are for the graph.")
    if change.metadata is not None and work.row("memory", change.id, "kind") == ("entity",):
        raise InvalidInput("An entity has no metadata; give it observations, or keep a note about it.")
    if change.tags is not None:
        if work.row("memory", change.id, "kind") == ("entity",):
            raise InvalidInput("An entity has no tags; tag the notes that speak of it.")
        work.rows.remove("tag", (Equals("memory_id", change.id),))
        texts.tag(work, change.id, change.tags)
    if change.text is not None:
        texts.revise(work, scope, change.id, change.text)
    return Outcome(ids=(change.id,), count=1)


def flag_similar(work: Work, change: FlagSimilar) -> Outcome:
    if not work.exists(change.table, change.similar_to):
        return Outcome()
    flagged = work.set(change.table, change.id, similar_to=change.similar_to, similarity=change.similarity)
    return Outcome(count=flagged)
