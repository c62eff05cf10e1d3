"""Dreams: carried out in one transaction, with a journal by which all of it can be taken back exactly.

Nothing here touches `updated_at`: a dream is no edit, and what ranks by age must not feel it.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from typing import TYPE_CHECKING, Any

from recollect.changes import DREAMING, Outcome
from recollect.errors import Conflict, NotFound
from recollect.factors.candidates import DAY
from recollect.stores.sqlite import vector_rows
from recollect.stores.sqlite.rows import many
from recollect.stores.sqlite.write import leases, life

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.changes import CommitDream, Lived, UndoDream
    from recollect.stores.sqlite.write.batch import Batch

    Journal = dict[str, Any]
    Left = Counter[int]
    """Memories that were left as they are, each with how many changes were not made to it."""

_COLUMNS = frozenset({"consolidation", "strength", "depth", "spread", "stability"})


def packed(journal: Journal) -> bytes:
    return zlib.compress(json.dumps(journal, separators=(",", ":")).encode(), 6)


def unpacked(blob: bytes) -> Journal:
    journal: Journal = json.loads(zlib.decompress(blob))
    return journal


def commit(batch: Batch, change: CommitDream) -> Outcome:
    scope = batch.scope_id(change.scope)
    if change.holder is not None:
        leases.must_hold(batch, DREAMING, change.holder)
    left: Left = Counter()
    journal: Journal = {
        "lived": [_live(batch, scope, each, left) for each in change.lived],
        "merged": [done for pair in change.merged if (done := _merge(batch, scope, *pair, left)) is not None],
        "merged_observations": _replace(
            batch, change.merged_observations, "superseded_by", _EARLIER_OBSERVATION, left
        ),
        "corrected": [pair for pair in change.corrected if _retire(batch, scope, *pair, left)],
        "corrected_observations": _replace(
            batch, change.corrected_observations, "corrected_by", _CORRECTION, left
        ),
        "pruned": [done for id_ in change.pruned if (done := _prune(batch, scope, id_, left)) is not None],
        "links": [list(each) for each in change.links if _link(batch, *each)],
        "temper": _temper(batch, scope, change.temper),
    }
    dream = batch.insert(
        "INSERT INTO dream(scope_id, at, through, phases, report, journal) VALUES (?, ?, ?, ?, ?, ?)",
        scope,
        batch.at,
        change.through,
        json.dumps(change.phases),
        change.report,
        packed(journal),
    )
    return Outcome(ids=(dream,), created=True, count=_size(journal), left=tuple(sorted(left)))


def undo(batch: Batch, change: UndoDream) -> Outcome:
    scope = batch.scope_id(change.scope)
    rows = batch.rows(
        "SELECT at, journal, undone_at FROM dream WHERE id = ? AND scope_id = ?", change.id, scope
    )
    if not rows:
        raise NotFound(f"There is no dream {change.id}; `recollect dream history` lists them.")
    at, blob, undone_at = rows[0]
    if undone_at is not None:
        raise Conflict(f"Dream {change.id} was undone already.")
    later = batch.one(
        "SELECT max(id) FROM dream WHERE scope_id = ? AND id > ? AND undone_at IS NULL", scope, change.id
    )
    if later is not None:
        raise Conflict(f"Dream {later} came after dream {change.id} and builds on it; undo that one first.")
    journal = unpacked(blob)
    left: Left = Counter()
    if journal["temper"] is not None:
        before, after = journal["temper"]
        batch.run("UPDATE scope SET temper = ? WHERE id = ? AND temper = ?", before, scope, after)
    # In the reverse order of `commit`, each list as well: two may have been merged into one, one after the
    # other, and a relation goes with the first of its ends and comes back with it when both are there.
    for first, second, before, after in reversed(journal["links"]):
        _unlink(batch, first, second, before, after, left)
    for pruned in reversed(journal["pruned"]):
        _unprune(batch, scope, pruned, at, left)
    _put_back(batch, reversed(journal["corrected_observations"]), "corrected_by", at, left)
    for gone, by in reversed(journal["corrected"]):
        if batch.one("SELECT superseded_at FROM memory WHERE id = ?", by) is None:
            _reinstate(batch, scope, gone, by, at, left)
        else:
            left[gone] += 1  # what corrects it was corrected itself: the error must not come back
    _put_back(batch, reversed(journal["merged_observations"]), "superseded_by", at, left)
    for merged in reversed(journal["merged"]):
        _unmerge(batch, scope, merged, at, left)
    for lived in reversed(journal["lived"]):
        _unlive(batch, lived, left)
    batch.run("UPDATE dream SET undone_at = ? WHERE id = ?", batch.at, change.id)
    return Outcome(ids=(change.id,), count=_size(journal) - left.total(), left=tuple(sorted(left)))


def _temper(batch: Batch, scope: int, change: tuple[float, float] | None) -> list[float] | None:
    if change is None or not batch.run(
        "UPDATE scope SET temper = ? WHERE id = ? AND temper = ?", change[1], scope, change[0]
    ):
        return None
    return list(change)


# Fields


def _live(batch: Batch, scope: int, change: Lived, left: Left) -> Journal:
    column = _column(change.field)
    # What was pinned or marked while the dream was dreamt does not fade.
    unless_kept = "AND (?1 >= ?4 OR (pinned = 0 AND importance_tag IS NULL)) " if column == "strength" else ""
    done: list[tuple[int, Any, Any]] = []
    for id_, before, after in zip(change.ids, change.before, change.after, strict=True):
        batch.connection.execute(
            f"UPDATE memory SET {column} = ?1 WHERE id = ?2 AND scope_id = ?3 AND {column} = ?4 "
            f"{unless_kept}AND deleted_at IS NULL AND superseded_at IS NULL",
            (after, id_, scope, before),
        )
        if batch.connection.changes():
            done.append((id_, before, after))
        else:
            left[id_] += 1
    ids, befores, afters = zip(*done, strict=True) if done else ((), (), ())
    return {"field": column, "ids": ids, "before": befores, "after": afters}


def _unlive(batch: Batch, lived: Journal, left: Left) -> None:
    column = _column(lived["field"])
    for id_, before, after in zip(lived["ids"], lived["before"], lived["after"], strict=True):
        batch.connection.execute(
            f"UPDATE memory SET {column} = ? WHERE id = ? AND {column} = ?", (before, id_, after)
        )
        if not batch.connection.changes():
            left[id_] += 1


def _column(field: str) -> str:
    if field not in _COLUMNS:
        raise ValueError(f"dreams do not write {field!r}")
    return field


# Pruning


def _prune(batch: Batch, scope: int, id_: int, left: Left) -> Journal | None:
    # Whoever used or changed it since the dream looked meant to keep it.
    fresh = batch.one(
        "SELECT 1 FROM memory AS m LEFT JOIN use AS u ON u.memory_id = m.id WHERE m.id = ? "
        "AND (m.updated_at > ?2 OR u.last_at > ?2 OR m.pinned OR m.importance_tag IS NOT NULL "
        "OR m.superseded_at IS NOT NULL)",
        id_,
        batch.at,
    )
    if fresh is not None:
        left[id_] += 1
        return None
    relations = [
        row[0]
        for row in batch.rows(
            # Also those that went with their other end a moment ago.
            "SELECT id FROM relation WHERE (deleted_at IS NULL OR deleted_at = ?2) "
            "AND (source_id = ?1 OR target_id = ?1)",
            id_,
            batch.at,
        )
    ]
    if not life.forget_one(batch, scope, id_):
        left[id_] += 1
        return None
    return {"id": id_, "relations": relations}


def _unprune(batch: Batch, scope: int, pruned: Journal, at: int, left: Left) -> None:
    id_ = pruned["id"]
    taken = batch.one(
        "SELECT 1 FROM memory AS m JOIN memory AS other ON other.scope_id = m.scope_id "
        "AND other.name = m.name AND other.kind = 'entity' AND other.deleted_at IS NULL "
        "WHERE m.id = ? AND m.kind = 'entity'",
        id_,
    )
    back = taken is None and batch.run(
        "UPDATE memory SET deleted_at = NULL WHERE id = ? AND deleted_at = ?", id_, at
    )
    if not back:
        left[id_] += 1
        return
    batch.run(
        "UPDATE relation SET deleted_at = NULL WHERE deleted_at = ? "
        "AND id IN (SELECT value FROM json_each(?)) AND NOT EXISTS (SELECT 1 FROM memory AS m "
        "WHERE m.id IN (relation.source_id, relation.target_id) AND m.deleted_at IS NOT NULL)",
        at,
        many(pruned["relations"]),
    )
    life.revive(batch, id_, scope)


# Merging, correcting


def _retire(batch: Batch, scope: int, gone: int, by: int, left: Left) -> bool:
    retired = batch.run(
        "UPDATE memory SET superseded_by = ?1, superseded_at = ?2 WHERE id = ?3 AND scope_id = ?4 "
        "AND kind <> 'entity' AND deleted_at IS NULL AND superseded_at IS NULL AND updated_at <= ?2 "
        "AND EXISTS (SELECT 1 FROM memory AS other WHERE other.id = ?1 AND other.scope_id = ?4 "
        "AND other.deleted_at IS NULL AND other.superseded_at IS NULL AND other.updated_at <= ?2)",
        by,
        batch.at,
        gone,
        scope,
    )
    if not retired:
        left[gone] += 1
        return False
    vector_rows.set_life(batch.connection, "memory_id = ?", gone, live=False)
    batch.touch(gone, scope)
    return True


def _reinstate(batch: Batch, scope: int, gone: int, by: int, at: int, left: Left) -> None:
    back = batch.run(
        "UPDATE memory SET superseded_by = NULL, superseded_at = NULL "
        "WHERE id = ? AND superseded_by = ? AND superseded_at = ?",
        gone,
        by,
        at,
    )
    if not back:
        left[gone] += 1
    elif batch.one("SELECT deleted_at IS NULL FROM memory WHERE id = ?", gone):
        life.revive(batch, gone, scope)


def _merge(batch: Batch, scope: int, gone: int, into: int, left: Left) -> Journal | None:
    """The survivor takes over what the other was used for: its repeats, accesses, days and tags."""
    if not _retire(batch, scope, gone, into, left):
        return None
    repeats = 1 + (batch.one("SELECT duplicates FROM memory WHERE id = ?", gone) or 0)
    batch.run("UPDATE memory SET duplicates = duplicates + ? WHERE id = ?", repeats, into)
    tags = [
        [folded, tag]
        for folded, tag in batch.rows("SELECT folded, tag FROM tag WHERE memory_id = ?", gone)
        if batch.run("INSERT OR IGNORE INTO tag VALUES (?, ?, ?)", into, folded, tag)
    ]
    days = [
        day
        for (day,) in batch.rows("SELECT day FROM use_day WHERE memory_id = ?", gone)
        if batch.run("INSERT OR IGNORE INTO use_day VALUES (?, ?)", into, day)
    ]
    return {
        "gone": gone,
        "into": into,
        "repeats": repeats,
        "revisions": batch.one("SELECT revisions FROM memory WHERE id = ?", into),
        "tags": tags,
        "days": days,
        "uses": _take_over(batch, gone, into),
    }


def _take_over(batch: Batch, gone: int, into: int) -> list[int] | None:
    """Accesses of one counted with another's: how many, and the other's last one before and after."""
    rows = batch.rows("SELECT count, last_at FROM use WHERE memory_id = ?", gone)
    if not rows:
        return None
    count, last_at = rows[0]
    before = batch.one("SELECT last_at FROM use WHERE memory_id = ?", into) or 0
    batch.run(
        "INSERT INTO use VALUES (?1, ?2, ?3) ON CONFLICT (memory_id) "
        "DO UPDATE SET count = count + ?2, last_at = max(last_at, ?3)",
        into,
        count,
        last_at,
    )
    return [count, before, max(before, last_at)]


def _unmerge(batch: Batch, scope: int, merged: Journal, at: int, left: Left) -> None:
    gone, into = merged["gone"], merged["into"]
    if _stands_for_both(batch, merged):
        left[gone] += 1
        return
    # Who was restored meanwhile has come back with what is its own, so the survivor gives it up as well.
    _reinstate(batch, scope, gone, into, at, left)
    batch.run("UPDATE memory SET duplicates = max(0, duplicates - ?) WHERE id = ?", merged["repeats"], into)
    edited = (batch.one("SELECT updated_at FROM memory WHERE id = ?", into) or 0) > at
    if edited and merged["tags"]:
        left[into] += 1
    for folded, tag in () if edited else merged["tags"]:
        batch.run("DELETE FROM tag WHERE memory_id = ? AND folded = ? AND tag = ?", into, folded, tag)
    for day in merged["days"]:
        # Unless it was used since, on the very day of the dream.
        batch.run(
            "DELETE FROM use_day WHERE memory_id = ?1 AND day = ?2 AND NOT EXISTS ("
            "SELECT 1 FROM use WHERE memory_id = ?1 AND last_at > ?3 AND last_at / ?4 = ?2)",
            into,
            day,
            at,
            DAY,
        )
    if merged["uses"] is not None:
        count, before, after = merged["uses"]
        batch.run(
            "UPDATE use SET count = count - ?, last_at = CASE last_at WHEN ? THEN ? ELSE last_at END "
            "WHERE memory_id = ?",
            count,
            after,
            before,
            into,
        )
        batch.run("DELETE FROM use WHERE memory_id = ? AND count <= 0", into)


def _stands_for_both(batch: Batch, merged: Journal) -> bool:
    """Whether the one is gone for good, or the other was changed, corrected or forgotten since: then what the
    first says is no longer what anyone means."""
    rows = batch.rows(
        "SELECT into_.revisions, into_.superseded_at IS NULL AND into_.deleted_at IS NULL, "
        "gone.superseded_by IS ?1 FROM memory AS gone LEFT JOIN memory AS into_ ON into_.id = ?1 "
        "WHERE gone.id = ?2",
        merged["into"],
        merged["gone"],
    )
    if not rows:
        return True
    revisions, in_force, still_merged = rows[0]
    return bool(still_merged) and not (in_force and revisions == merged["revisions"])


_EARLIER_OBSERVATION = (
    "SELECT 1 FROM observation AS other WHERE other.id = ?1 AND other.memory_id = observation.memory_id "
    "AND other.deleted_at IS NULL AND other.superseded_at IS NULL"
)
_CORRECTION = (
    "SELECT 1 FROM memory AS other WHERE other.id = ?1 AND other.deleted_at IS NULL "
    "AND other.superseded_at IS NULL"
)


def _replace(
    batch: Batch, pairs: Iterable[tuple[int, int]], column: str, condition: str, left: Left
) -> list[list[int]]:
    """Observations retired in favour of another, or of a memory."""
    done = []
    for gone, by in pairs:
        rows = batch.rows(
            f"UPDATE observation SET {column} = ?1, superseded_at = ?2 WHERE id = ?3 "
            f"AND deleted_at IS NULL AND superseded_at IS NULL AND EXISTS ({condition}) "
            "AND memory_id IN (SELECT id FROM memory WHERE deleted_at IS NULL) RETURNING memory_id",
            by,
            batch.at,
            gone,
        )
        for (memory,) in rows:
            _observed(batch, gone, memory, live=False)
            done.append([gone, by])
        if not rows:
            left.update(_owner(batch, gone))
    return done


# What an observation was retired for must not have been corrected or removed in its turn.
_STILL_MEANT = {
    "superseded_by": "EXISTS (SELECT 1 FROM observation AS by_ WHERE by_.id = ?2 "
    "AND by_.deleted_at IS NULL AND by_.superseded_at IS NULL)",
    "corrected_by": "NOT EXISTS (SELECT 1 FROM memory AS by_ WHERE by_.id = ?2 "
    "AND by_.superseded_at IS NOT NULL)",
}


def _put_back(batch: Batch, pairs: Iterable[list[int]], column: str, at: int, left: Left) -> None:
    for gone, by in pairs:
        rows = batch.rows(
            f"UPDATE observation SET {column} = NULL, superseded_at = NULL WHERE id = ?1 AND {column} = ?2 "
            f"AND superseded_at = ?3 AND deleted_at IS NULL AND {_STILL_MEANT[column]} "
            # Nor where somebody has said the very same again.
            "AND NOT EXISTS (SELECT 1 FROM observation AS same WHERE same.memory_id = observation.memory_id "
            "AND same.content = observation.content AND same.deleted_at IS NULL "
            "AND same.superseded_at IS NULL) RETURNING memory_id",
            gone,
            by,
            at,
        )
        for (memory,) in rows:
            _observed(batch, gone, memory, live=True)
        if not rows:
            left.update(_owner(batch, gone))


def _observed(batch: Batch, observation: int, memory: int, *, live: bool) -> None:
    rows = batch.rows("SELECT scope_id, deleted_at IS NULL FROM memory WHERE id = ?", memory)
    scope, there = rows[0]
    if there or not live:
        vector_rows.set_life(batch.connection, "observation_id = ?", observation, live=live)
    batch.touch(memory, scope)


def _owner(batch: Batch, observation: int) -> list[int]:
    return [row[0] for row in batch.rows("SELECT memory_id FROM observation WHERE id = ?", observation)]


# Links


def _link(batch: Batch, first: int, second: int, before: int, after: int) -> bool:
    held = batch.one("SELECT weight FROM link WHERE first_id = ? AND second_id = ?", first, second) or 0
    if held != before:
        return False
    return bool(
        batch.run(
            "INSERT INTO link SELECT ?1, ?2, ?3 WHERE (SELECT count(*) FROM memory WHERE id IN (?1, ?2) "
            "AND deleted_at IS NULL) = 2 ON CONFLICT (first_id, second_id) DO UPDATE SET weight = ?3",
            first,
            second,
            after,
        )
    )


def _unlink(batch: Batch, first: int, second: int, before: int, after: int, left: Left) -> None:
    if before:
        done = batch.run(
            "UPDATE link SET weight = ? WHERE first_id = ? AND second_id = ? AND weight = ?",
            before,
            first,
            second,
            after,
        )
    else:
        done = batch.run(
            "DELETE FROM link WHERE first_id = ? AND second_id = ? AND weight = ?", first, second, after
        )
    if not done:
        left[first] += 1


def _size(journal: Journal) -> int:
    """How many changes it holds."""
    lists = (rows for name, rows in journal.items() if name not in {"lived", "temper"})
    return sum(len(each["ids"]) for each in journal["lived"]) + sum(map(len, lists))
