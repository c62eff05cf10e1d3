"""Forget, supersede, restore and purge memories, and change their fields."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recollect.domain import changes
from recollect.domain.changes import Outcome
from recollect.domain.errors import Conflict, InvalidInput, NotFound
from recollect.domain.records import NamedToken
from recollect.domain.tables import IN_FORCE, AnyOf, Compares, Equals, OneOf, is_null, is_set
from recollect.search.entities import exact_entity
from recollect.search.recording import tuned_numbers
from recollect.search.rows import json_or_none, moment, stamp, stamp_or_none, starts_or_ends_at
from recollect.search.texts import (
    TOKENS,
    dismissed_setting,
    import_setting,
    named_tokens,
    tokens_text,
    topic_setting,
)
from recollect.write import texts
from recollect.write.entities import relation_in_force
from recollect.write.work import purge_receipts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.domain.tables import Table
    from recollect.write.work import Work


def forget(work: Work, change: changes.Forget) -> Outcome:
    scope = work.scope_id(change.scope)
    by_name = (exact_entity(work.rows, scope, name) for name in change.names)
    wanted = dict.fromkeys((*change.ids, *(id_ for id_ in by_name if id_ is not None)))
    gone = tuple(id_ for id_ in wanted if forget_one(work, scope, id_))
    return Outcome(ids=gone, count=len(gone))


def forget_one(work: Work, scope: int, memory: int) -> bool:
    there = (Equals("id", memory), Equals("scope_id", scope), is_null("deleted_at"))
    if not work.rows.patch("memory", there, {"deleted_at": work.at}):
        return False
    work.rows.patch("relation", (starts_or_ends_at([memory]), is_null("deleted_at")), {"deleted_at": work.at})
    work.set_live("memory_id", memory, live=False)
    work.touch(memory, scope)
    return True


def supersede_memory(work: Work, change: changes.Supersede) -> Outcome:
    scope = work.scope_id(change.scope)
    by, created = change.by, False
    if isinstance(by, changes.NewText):
        outcome = texts.put_text(work, changes.PutText(change.scope, by, change.embedded))
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
        ids=(by, *ids), created=created, observations=tuple(observations), count=len(ids) + len(observations)
    )


def _check_in_force(work: Work, scope: int, memory: int, what: str) -> None:
    row = work.row("memory", memory, "scope_id", "deleted_at", "superseded_at", "superseded_by")
    if row is None or row[:2] != (scope, None):
        raise NotFound(f"There is no memory {memory} that could {what}; nothing was changed.")
    _, _, retired, by = row
    if retired is not None:
        raise Conflict(
            f"Memory {memory} was superseded already{f' by memory {by}' if by else ''}, so it cannot {what}; "
            f"{f'use memory {by} instead' if by else 'restore it first'}."
        )


def restore(work: Work, change: changes.Restore) -> Outcome:
    """Restore a forgotten or superseded memory. A forgotten one gets back its relations to living entities.

    Copies that were superseded together with the memory are not restored.
    """
    scope = work.scope_id(change.scope)
    row = work.row("memory", change.id, "scope_id", "name", "deleted_at", "superseded_at", "ref")
    if row is None or row[0] != scope or row[2:4] == (None, None):
        raise NotFound(f"There is no forgotten or superseded memory {change.id}; nothing was restored.")
    _, name, gone_at, superseded_at, ref = row
    named = (Equals("scope_id", scope), Equals("ref", ref), *IN_FORCE)
    other = None if ref is None else work.first_id("memory", named)
    if other is not None:
        raise Conflict(
            f"Memory {other} was stored as {ref!r} since; forget it before you restore memory {change.id}."
        )
    living = exact_entity(work.rows, scope, name) if name and gone_at is not None else None
    if living is not None:
        raise Conflict(
            f"An entity named {name!r} (memory {living}) was created since; delete it before you restore "
            f"memory {change.id}."
        )
    went_at = superseded_at if gone_at is None else gone_at
    # The clock may have been set back. No absence may begin before the last change.
    since = max(went_at, texts.last_revised(work, change.id) or went_at, superseded_at or went_at)
    why = "superseded" if gone_at is None else "forgotten"
    absence = {"memory_id": change.id, "since": since, "why": why, "until": max(work.at, since)}
    work.rows.put("absence", [absence], keep=True)
    if gone_at is None:
        work.set("memory", change.id, superseded_by=None, superseded_at=None, updated_at=work.at)
    else:
        work.set("memory", change.id, deleted_at=None, updated_at=work.at)
        _restore_relations(work, change.id, gone_at)
    revive(work, change.id, scope)
    return Outcome(ids=(change.id,), names=(name,), count=1)


def revive(work: Work, memory: int, scope: int) -> None:
    """Put passages of a memory back into searches, except those of former texts and removed observations."""
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
        (starts_or_ends_at([memory]), Equals("deleted_at", gone_at)),
        descending=True,
    )
    for relation, source, target, type_, until in gone:
        # Go from the newest to the oldest: some that were deleted at once may be the same relation.
        if until is None and relation_in_force(work, source, target, type_) is not None:
            continue
        # If the other end is forgotten, the relation gets the time of that, and returns with that end.
        other = work.row("memory", target if source == memory else source, "deleted_at")
        if other is not None:
            work.set("relation", relation, deleted_at=other[0])


def unmake(work: Work, change: changes.Unmake) -> Outcome:
    scope = work.scope_id(change.scope)
    ids = work.ids("memory", (OneOf("id", change.ids), Equals("scope_id", scope)))
    for memory in ids:
        # Forgetting a memory first makes vector caches drop it.
        forget_one(work, scope, memory)
    work.rows.remove("memory", (OneOf("id", ids),))
    work.note_removed_rows()
    return Outcome(ids=tuple(ids), count=len(ids))


def purge(work: Work, change: changes.Purge) -> Outcome:
    work.rows.lock_scopes(None)
    before = stamp(change.before)
    gone = (Compares("deleted_at", "<", before),)
    gone_ids = work.ids("memory", gone)
    observed = AnyOf((gone, (OneOf("memory_id", gone_ids),)))
    purge_receipts(work.rows, gone_ids, work.ids("observation", (observed,)))
    memories = work.rows.remove("memory", gone)
    observations = work.rows.remove("observation", gone)
    work.rows.remove("relation", gone)
    # Queries from before that time may quote purged texts.
    work.rows.patch("recall", (Compares("at", "<", before), is_set("query")), {"query": None})
    if memories or observations:
        work.rows.remove("answer_log", (Compares("at", "<", before),))
    _drop_traces(work)
    return Outcome(count=memories)


def purge_memories(work: Work, change: changes.PurgeMemories) -> Outcome:
    """Purge these memories, and what may quote them: logged answers, queries and reports of dreams."""
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
    purge_receipts(work.rows, ids, work.ids("observation", (named,)))
    # A query may quote the memories that it found.
    asked = {recall for (recall,) in work.rows.rows("recall_hit", ("recall_id",), (named,))}
    moments = {at for (at,) in work.rows.rows("recall", ("at",), (OneOf("id", asked),))}
    work.rows.patch("recall", (OneOf("id", asked), is_set("query")), {"query": None})
    work.rows.remove("answer_log", (Equals("scope_id", scope), OneOf("at", moments)))
    count = work.rows.remove("memory", (OneOf("id", ids),))
    _drop_traces(work)
    return Outcome(ids=tuple(ids), count=count)


_POINTERS: tuple[tuple[Table, str], ...] = (
    ("memory", "superseded_by"),
    ("memory", "drawn_from"),
    ("observation", "corrected_by"),
)


def _drop_traces(work: Work) -> None:
    """Delete quotations in reports of dreams, and clear pointers to purged memories.

    The date that belongs to a pointer stays.
    """
    work.note_removed_rows()
    for id_, report in work.rows.rows("dream", ("id", "report")):
        before = json.loads(report)
        cleaned = {**before, "upkeep": None}
        if isinstance(before.get("gate"), dict):
            cleaned["gate"] = {**before["gate"], "losses": []}
        if cleaned != before:
            work.set("dream", id_, report=json.dumps(cleaned, separators=(",", ":"), ensure_ascii=False))
    for table, column in _POINTERS:
        targets = {target for (target,) in work.rows.rows(table, (column,), (is_set(column),))}
        targets.difference_update(work.ids("memory", (OneOf("id", targets),)))
        if targets:
            work.rows.patch(table, (OneOf(column, targets),), {column: None})


def empty_log(work: Work, change: changes.EmptyLog) -> Outcome:
    """Delete the logged answers and queries of a scope. Usage stays."""
    own = Equals("scope_id", work.scope_id(change.scope))
    answers = work.rows.remove("answer_log", (own,))
    work.rows.patch("recall", (own, is_set("query")), {"query": None})
    return Outcome(count=answers)


def amend(work: Work, change: changes.Amend) -> Outcome:
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
    values |= {name: value or None for name, value in change.fields}
    there = (Equals("id", change.id), Equals("scope_id", scope), is_null("deleted_at"))
    if not work.rows.patch("memory", there, {"updated_at": work.at, **values}):
        raise NotFound(f"There is no memory {change.id}; nothing was changed.")
    (kind,) = work.row("memory", change.id, "kind") or ("",)
    if change.fields and kind != "note":
        raise InvalidInput(f"Only a note has a {' or a '.join(dict(change.fields))}; nothing was changed.")
    if change.expires_at is not None and kind != "note":
        raise InvalidInput("Only a note expires; use `end_relation` or `supersedes` instead.")
    if change.metadata is not None and kind == "entity":
        raise InvalidInput("An entity has no metadata; give it observations, or keep a note about it.")
    if change.tags is not None:
        if kind == "entity":
            raise InvalidInput("An entity has no tags; tag the notes that mention it.")
        work.rows.remove("tag", (Equals("memory_id", change.id),))
        texts.tag(work, change.id, change.tags)
    if change.text is not None:
        texts.revise(work, scope, change.id, change.text)
    return Outcome(ids=(change.id,), count=1)


def flag_similar(work: Work, change: changes.FlagSimilar) -> Outcome:
    if not work.exists(change.table, change.similar_to):
        return Outcome()
    flagged = work.set(change.table, change.id, similar_to=change.similar_to, similarity=change.similarity)
    return Outcome(count=flagged)


# Small records: tuned parameters, settings that are written once, leases, named tokens

MOST_TOKENS = 256
"""The maximum number of tokens in a store. A server compares the token of each request with all of them."""


def tune_profile(work: Work, change: changes.TuneProfile) -> Outcome:
    """Store a new version of a profile's tuned parameters. Earlier versions stay."""
    scope = work.scope_id(change.scope)
    newest = tuned_numbers(work.rows, scope, change.profile)
    if (0 if newest is None else newest[0]) != change.after:
        raise Conflict(
            f"Another process has tuned the profile {change.profile!r} since, so nothing was "
            "changed. See its values with `recollect tune history`, and try again."
        )
    version = work.add(
        "tuning",
        scope_id=scope,
        profile=change.profile,
        at=work.at,
        knobs=json.dumps(dict(change.knobs)),
        why=change.why,
        report=change.report,
    )
    return Outcome(ids=(version,), created=True, count=1)


def set_once(work: Work, change: changes.NoteImport | changes.TellOnce | changes.Dismiss) -> Outcome:
    """Add a setting unless it exists, or remove a dismissal. `created` means that it is new."""
    match change:
        case changes.NoteImport():
            name = import_setting(change.scope, change.file)
        case changes.TellOnce():
            name = topic_setting(change.topic)
        case changes.Dismiss():
            name = dismissed_setting(change.scope, change.key)
            if not change.dismissed:
                return Outcome(count=work.rows.remove("setting", (Equals("name", name),)))
    known = work.first("setting", (Equals("name", name),), "name") is not None
    if not known:
        work.rows.put("setting", [{"name": name, "value": str(work.at)}])
    return Outcome(created=not known)


def take_lease(work: Work, change: changes.TakeLease) -> Outcome:
    """Take a lease, or extend the holder's own. `created` means that it was free or had expired."""
    length = int(change.seconds * 1_000_000)
    until = work.at + length
    if holds_lease(work, change.name, change.holder):
        work.rows.patch("lease", (Equals("name", change.name),), {"until": until})
        return Outcome(count=1)
    # If a lease ends too far in the future, it was taken before the clock was set back.
    expired = AnyOf(((Compares("until", "<=", work.at),), (Compares("until", ">", until + length),)))
    work.rows.remove("lease", (Equals("name", change.name), expired))
    if work.first("lease", (Equals("name", change.name),), "name") is not None:
        raise Conflict(f"Another process holds the lease ({change.name}); try again when it has finished.")
    work.rows.put("lease", [{"name": change.name, "holder": change.holder, "until": until}])
    return Outcome(created=True, count=1)


def drop_lease(work: Work, change: changes.DropLease) -> Outcome:
    mine = (Equals("name", change.name), Equals("holder", change.holder))
    return Outcome(count=work.rows.remove("lease", mine))


def holds_lease(work: Work, name: str, holder: str) -> bool:
    return work.first("lease", (Equals("name", name), Equals("holder", holder)), "name") is not None


def create_token(work: Work, change: changes.CreateToken) -> Outcome:
    tokens = _lock_tokens(work)
    known = next((each for each in tokens if each.name == change.name), None)
    if known is not None and known.digest == change.digest:
        # This is a retry: the caller did not learn that the first attempt succeeded.
        return Outcome(created=True, count=1)
    if known is not None:
        raise Conflict(
            f"There is a token {change.name!r} already; choose another name, or revoke that token first: "
            f"recollect token revoke {change.name}"
        )
    if len(tokens) >= MOST_TOKENS:
        raise InvalidInput(
            f"There are {len(tokens)} tokens, the maximum of a store; revoke unused ones: "
            "recollect token list"
        )
    new = NamedToken(change.name, change.digest, change.right, change.sees, moment(work.at))
    _put_tokens(work, (*tokens, new))
    return Outcome(created=True, count=1)


def revoke_token(work: Work, change: changes.RevokeToken) -> Outcome:
    tokens = _lock_tokens(work)
    kept = [each for each in tokens if each.name != change.name]
    if len(kept) < len(tokens):
        _put_tokens(work, kept)
    return Outcome(count=len(tokens) - len(kept))


def note_token_use(work: Work, change: changes.NoteTokenUse) -> Outcome:
    tokens = _lock_tokens(work)
    at = moment(work.at)
    used = [replace(each, used_at=at) if each.digest == change.digest else each for each in tokens]
    if used != list(tokens):
        _put_tokens(work, used)
    return Outcome()


def _lock_tokens(work: Work) -> tuple[NamedToken, ...]:
    """Lock all tokens until this transaction ends, and return them."""
    work.lock_setting(TOKENS, tokens_text(()))
    return named_tokens(work.rows)


def _put_tokens(work: Work, tokens: Iterable[NamedToken]) -> None:
    work.rows.put("setting", [{"name": TOKENS, "value": tokens_text(tokens)}])
