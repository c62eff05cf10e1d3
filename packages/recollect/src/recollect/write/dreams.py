"""Commit a dream in one transaction, with a journal, and undo it.

`updated_at` is never changed: a dream is not an edit, and must not affect rankings by age.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from recollect.domain.changes import DREAMING, CommitDream, FieldChanges, Outcome, UndoDream
from recollect.domain.errors import Conflict, NotFound, Outdated
from recollect.domain.tables import IN_FORCE, AnyOf, Compares, Equals, KeyIn, Not, OneOf, Where, is_null
from recollect.dreams.state import packed, unpacked
from recollect.ranking.candidates import DAY
from recollect.search.entities import exact_entity
from recollect.search.rows import starts_or_ends_at
from recollect.write import lifecycle

if TYPE_CHECKING:
    from recollect.domain.tables import Swap
    from recollect.write.work import Work

    Journal = dict[str, Any]
    Left = Counter[int]
    """The number of skipped changes, by memory."""

_COLUMNS = frozenset({"consolidation", "strength", "depth", "spread", "stability"})
_UNMARKED = (Equals("pinned", 0), is_null("importance_tag"))


def write_dream(work: Work, change: CommitDream) -> Outcome:
    scope = work.scope_id(change.scope)
    if change.holder is not None and not lifecycle.holds_lease(work, DREAMING, change.holder):
        raise Conflict(
            f"This process was too slow, and another took over the lease ({DREAMING}); nothing was changed."
        )
    left: Left = Counter()
    change_fields = _change_fields if change.pack_rest is None else _change_fields_or_fail
    lived = [change_fields(work, scope, each, left) for each in change.field_changes]
    rest: Journal = {
        "merged": [done for pair in change.merged if (done := _merge(work, scope, *pair, left)) is not None],
        "merged_observations": [
            [gone, by]
            for gone, by in change.merged_observations
            if _retire_observation(work, gone, "superseded_by", by, left)
        ],
        "corrected": [pair for pair in change.corrected if _retire(work, scope, *pair, left)],
        "corrected_observations": [
            [gone, by]
            for gone, by in change.corrected_observations
            if _retire_observation(work, gone, "corrected_by", by, left)
        ],
        "pruned": [done for id_ in change.pruned if (done := _prune(work, scope, id_, left)) is not None],
        "links": _link(work, change.links),
    }
    journal: Journal = {"lived": lived, **rest}
    dream = work.add(
        "dream",
        scope_id=scope,
        at=work.at,
        through=change.through,
        phases=json.dumps(change.phases),
        report=change.report,
        journal=packed(journal) if change.pack_rest is None else change.pack_rest(rest),
    )
    return Outcome(ids=(dream,), created=True, count=_size(journal), left=tuple(sorted(left)))


def write_undo(work: Work, change: UndoDream) -> Outcome:  # one loop for each list of a journal
    scope = work.scope_id(change.scope)
    row = work.row("dream", change.id, "scope_id", "at", "journal", "undone_at")
    if row is None or row[0] != scope:
        raise NotFound(f"There is no dream {change.id}; `recollect dream history` lists them.")
    _, at, blob, undone_at = row
    if undone_at is not None:
        raise Conflict(f"Dream {change.id} was undone already.")
    since = (Equals("scope_id", scope), Compares("id", ">", change.id), is_null("undone_at"))
    later = work.first("dream", since, "id", newest=True)
    if later is not None:
        raise Conflict(
            f"Dream {later[0]} came after dream {change.id} and builds on it; undo that one first."
        )
    journal = unpacked(blob)
    left: Left = Counter()
    # Go back in the reverse order of `write_dream`, also through each list: two memories may have been merged
    # into a third, one after the other. A relation was deleted with its first end, and returns with it.
    for first, second, before, after in reversed(journal["links"]):
        _unlink(work, first, second, before, after, left)
    for pruned in reversed(journal["pruned"]):
        _unprune(work, scope, pruned, at, left)
    for gone, by in reversed(journal["corrected_observations"]):
        _restore_observation(work, gone, by, "corrected_by", at, left)
    for gone, by in reversed(journal["corrected"]):
        correction = work.row("memory", by, "superseded_at")
        if correction is None or correction[0] is None:
            _reinstate(work, scope, gone, by, at, left)
        else:
            left[gone] += 1  # the correction was replaced, too, so do not restore the error
    for gone, by in reversed(journal["merged_observations"]):
        _restore_observation(work, gone, by, "superseded_by", at, left)
    for merged in reversed(journal["merged"]):
        _unmerge(work, scope, merged, at, left)
    for lived in reversed(journal["lived"]):
        rows = zip(lived["ids"], lived["after"], lived["before"], strict=True)
        _set_field(work, lived["field"], rows, (), (), left)
    work.set("dream", change.id, undone_at=work.at)
    return Outcome(ids=(change.id,), count=_size(journal) - left.total(), left=tuple(sorted(left)))


# Fields


def _change_fields(work: Work, scope: int, change: FieldChanges, left: Left) -> Journal:
    ours = (Equals("scope_id", scope), *IN_FORCE)
    kept: set[int] = set()
    if change.field == "strength":
        # Memories that were pinned or tagged during the dream do not lose strength.
        marked = AnyOf(tuple((Not(each),) for each in _UNMARKED))
        kept = set(work.ids("memory", (OneOf("id", change.ids), marked)))
    rows = zip(change.ids, change.before, change.after, strict=True)
    done = _set_field(work, change.field, rows, ours, kept, left)
    ids, befores, afters = zip(*done, strict=True) if done else ((), (), ())
    return {"field": change.field, "ids": ids, "before": befores, "after": afters}


def _change_fields_or_fail(work: Work, scope: int, change: FieldChanges, left: Left) -> Journal:  # noqa: ARG001
    """Change all or none. They are not read first, so that other writers wait only a third as long."""
    _check_column(change.field)
    ours = (Equals("scope_id", scope), *IN_FORCE)
    rows: list[Swap] = list(zip(change.ids, change.before, change.after, strict=True))
    falling = [row for row in rows if row[2] < row[1]] if change.field == "strength" else []
    others = [row for row in rows if row[2] >= row[1]] if falling else rows
    set_ = work.rows.swap("memory", change.field, others, ours)
    set_ += work.rows.swap("memory", change.field, falling, (*ours, *_UNMARKED))
    if set_ < len(rows):
        raise Outdated("Memories were changed during the dream; nothing was written. Dream again.")
    return {"ids": change.ids}


def _set_field(
    work: Work, column: str, rows: Iterable[Swap], where: Where, kept: Collection[int], left: Left
) -> list[Swap]:
    """Change rows that still have the expected value, which another process may have changed. Return them."""
    _check_column(column)
    wanted = list(rows)
    named = OneOf("id", [id_ for id_, _, _ in wanted])
    current: dict[int, Any] = dict(work.rows.rows("memory", ("id", column), (named, *where)))
    done = []
    for id_, expected, value in wanted:
        if current.get(id_) == expected and not (id_ in kept and value < expected):
            done.append((id_, expected, value))
        else:
            left[id_] += 1
    work.rows.swap("memory", column, done)
    return done


def _check_column(column: str) -> None:
    if column not in _COLUMNS:
        raise ValueError(f"dreams do not write {column!r}")


# Pruning


def _prune(work: Work, scope: int, id_: int, left: Left) -> Journal | None:
    row = work.row("memory", id_, "updated_at", "pinned", "importance_tag", "superseded_at")
    used = work.rows.rows(
        "usage", ("last_at",), (Equals("memory_id", id_), Compares("last_at", ">", work.at))
    )
    # Keep a memory that was used or changed since the dream began.
    if used or (row is not None and (row[0] > work.at or row[1] or row[2] is not None or row[3] is not None)):
        left[id_] += 1
        return None
    # Include relations that this transaction has already deleted with their other end.
    gone = AnyOf(((is_null("deleted_at"),), (Equals("deleted_at", work.at),)))
    relations = work.ids("relation", (starts_or_ends_at([id_]), gone))
    if not lifecycle.forget_one(work, scope, id_):
        left[id_] += 1
        return None
    return {"id": id_, "relations": relations}


def _unprune(work: Work, scope: int, pruned: Journal, at: int, left: Left) -> None:
    id_ = pruned["id"]
    row = work.row("memory", id_, "scope_id", "name")
    taken = row is not None and row[1] and exact_entity(work.rows, row[0], row[1]) is not None
    gone = (Equals("id", id_), Equals("deleted_at", at))
    if taken or not work.rows.patch("memory", gone, {"deleted_at": None}):
        left[id_] += 1
        return
    relations = work.rows.rows(
        "relation",
        ("id", "source_id", "target_id"),
        (OneOf("id", pruned["relations"]), Equals("deleted_at", at)),
    )
    ends = {end for _, *both in relations for end in both}
    alive = set(work.ids("memory", (OneOf("id", ends), is_null("deleted_at"))))
    back = [relation for relation, *both in relations if alive.issuperset(both)]
    work.rows.patch("relation", (OneOf("id", back),), {"deleted_at": None})
    lifecycle.revive(work, id_, scope)


# Merging and correcting


def _retire(work: Work, scope: int, gone: int, by: int, left: Left) -> bool:
    untouched = (Equals("scope_id", scope), *IN_FORCE, Compares("updated_at", "<=", work.at))
    rows: dict[int, str] = dict(
        work.rows.rows("memory", ("id", "kind"), (OneOf("id", (gone, by)), *untouched))
    )
    if gone not in rows or by not in rows or rows[gone] == "entity":
        left[gone] += 1
        return False
    work.retire("memory", gone, superseded_by=by)
    work.touch(gone, scope)
    return True


def _reinstate(work: Work, scope: int, gone: int, by: int, at: int, left: Left) -> None:
    retired = (Equals("id", gone), Equals("superseded_by", by), Equals("superseded_at", at))
    if not work.rows.patch("memory", retired, {"superseded_by": None, "superseded_at": None}):
        left[gone] += 1
    elif work.row("memory", gone, "deleted_at") == (None,):
        lifecycle.revive(work, gone, scope)


def _merge(work: Work, scope: int, gone: int, into: int, left: Left) -> Journal | None:
    """Retire a memory, and add its duplicates, tags, days and usage to the memory that stays."""
    if not _retire(work, scope, gone, into, left):
        return None
    pair = (OneOf("id", (gone, into)),)
    rows = work.rows.rows("memory", ("id", "duplicates", "revisions"), pair)
    both = {id_: (duplicates, revisions) for id_, duplicates, revisions in rows}
    repeats = 1 + both[gone][0]
    work.set("memory", into, duplicates=both[into][0] + repeats)
    return {
        "gone": gone,
        "into": into,
        "repeats": repeats,
        "revisions": both[into][1],
        "tags": [list(row) for row in _take_over(work, gone, into, "tag", ("folded", "tag"))],
        "days": [day for (day,) in _take_over(work, gone, into, "usage_day", ("day",))],
        "uses": _take_over_usage(work, gone, into),
    }


def _take_over(
    work: Work, gone: int, into: int, table: Any, columns: tuple[str, ...]
) -> Sequence[tuple[Any, ...]]:
    """Copy the rows of one memory that another one lacks, and return them."""
    theirs = {row[0] for row in work.rows.rows(table, columns[:1], (Equals("memory_id", into),))}
    own = work.rows.rows(table, columns, (Equals("memory_id", gone),))
    new = [row for row in own if row[0] not in theirs]
    work.rows.put(table, [{"memory_id": into, **dict(zip(columns, row, strict=True))} for row in new])
    return new


def _take_over_usage(work: Work, gone: int, into: int) -> list[int] | None:
    """Add one memory's usage to another's. Return the count, and the other's last use before and after."""
    pair = (OneOf("memory_id", (gone, into)),)
    rows = work.rows.rows("usage", ("memory_id", "count", "last_at"), pair)
    uses = {memory: (count, last_at) for memory, count, last_at in rows}
    if gone not in uses:
        return None
    count, last_at = uses[gone]
    had, before = uses.get(into, (0, 0))
    after = max(before, last_at)
    work.rows.put("usage", [{"memory_id": into, "count": had + count, "last_at": after}])
    return [count, before, after]


def _unmerge(work: Work, scope: int, merged: Journal, at: int, left: Left) -> None:
    gone, into = merged["gone"], merged["into"]
    # Skip it if the merged memory was purged since the dream, or the survivor changed or forgotten.
    retired = work.row("memory", gone, "superseded_by")
    as_merged = (merged["revisions"], None, None)
    is_changed = work.row("memory", into, "revisions", "superseded_at", "deleted_at") != as_merged
    if retired is None or (retired == (into,) and is_changed):
        left[gone] += 1
        return
    # Take back what the survivor got. If it was edited since, it keeps its tags.
    _reinstate(work, scope, gone, into, at, left)
    survivor = work.row("memory", into, "duplicates", "updated_at")
    duplicates, updated_at = (0, 0) if survivor is None else survivor
    work.set("memory", into, duplicates=max(0, duplicates - merged["repeats"]))
    edited = updated_at > at
    if edited and merged["tags"]:
        left[into] += 1
    for folded, tag in () if edited else merged["tags"]:
        work.rows.remove("tag", (Equals("memory_id", into), Equals("folded", folded), Equals("tag", tag)))
    used = work.rows.rows("usage", ("count", "last_at"), (Equals("memory_id", into),))
    for day in merged["days"]:
        # Keep the day if the survivor was used on it after the dream.
        if not (used and used[0][1] > at and used[0][1] // DAY == day):
            work.rows.remove("usage_day", (Equals("memory_id", into), Equals("day", day)))
    if merged["uses"] is not None and used:
        count, before, after = merged["uses"]
        remaining, last_at = used[0][0] - count, used[0][1]
        work.rows.remove("usage", (Equals("memory_id", into),))
        if remaining > 0:
            last = before if last_at == after else last_at
            work.rows.put("usage", [{"memory_id": into, "count": remaining, "last_at": last}])


# Observations


def _retire_observation(work: Work, gone: int, column: str, by: int, left: Left) -> bool:
    """Retire an observation: another one of its entity replaces it, or a memory corrects it."""
    row = work.row("observation", gone, "memory_id", "deleted_at", "superseded_at")
    if row is None:
        return False
    memory, *dates = row
    allowed = work.in_force("memory", by)
    if column == "superseded_by":
        allowed = work.in_force("observation", by) and work.row("observation", by, "memory_id") == (memory,)
    scope, deleted_at = work.row("memory", memory, "scope_id", "deleted_at") or (0, None)
    if not allowed or [*dates, deleted_at] != [None, None, None]:
        left[memory] += 1
        return False
    work.retire("observation", gone, **{column: by})
    work.touch(memory, scope)
    return True


def _restore_observation(work: Work, gone: int, by: int, column: str, at: int, left: Left) -> None:
    row = work.row("observation", gone, "memory_id", "content", column, "superseded_at", "deleted_at")
    if row is None:
        return
    memory, content, *standing = row
    # Restore it only if its successor is current, and no equal observation was added since.
    if column == "superseded_by":
        is_current = work.in_force("observation", by)
    else:
        is_current = work.row("memory", by, "superseded_at") in (None, (None,))
    same = (Equals("memory_id", memory), Equals("content", content), *IN_FORCE)
    if standing != [by, at, None] or not is_current or work.first("observation", same, "id"):
        left[memory] += 1
        return
    work.set("observation", gone, **{column: None, "superseded_at": None})
    scope, deleted_at = work.row("memory", memory, "scope_id", "deleted_at") or (0, None)
    if deleted_at is None:
        work.set_live("observation_id", gone, live=True)
    work.touch(memory, scope)


# Links


def _link(work: Work, links: Sequence[tuple[int, int, int, int]]) -> list[list[int]]:
    """Link pairs of memories that exist, unless their link changed during the dream."""
    pairs = [(first, second) for first, second, _, _ in links]
    columns = ("first_id", "second_id", "weight")
    rows = work.rows.rows("link", columns, (KeyIn(("first_id", "second_id"), pairs),))
    weights = {(first, second): weight for first, second, weight in rows}
    ends = {id_ for pair in pairs for id_ in pair}
    existing = set(work.ids("memory", (OneOf("id", ends), is_null("deleted_at"))))
    made = [
        [first, second, before, after]
        for first, second, before, after in links
        if weights.get((first, second), 0) == before and {first, second} <= existing
    ]
    new = [{"first_id": first, "second_id": second, "weight": after} for first, second, _, after in made]
    work.rows.put("link", new)
    return made


def _unlink(work: Work, first: int, second: int, before: int, after: int, left: Left) -> None:
    between = (Equals("first_id", first), Equals("second_id", second))
    if (work.first("link", between, "weight") or (0,)) != (after,):
        left[first] += 1
    elif before:
        work.rows.put("link", [{"first_id": first, "second_id": second, "weight": before}])
    else:
        work.rows.remove("link", between)


def _size(journal: Journal) -> int:
    """Count the changes of a journal. Journals before 0.3.0 also have a `temper`, which nothing reads."""
    lists: Iterable[Any] = (rows for name, rows in journal.items() if name not in {"lived", "temper"})
    return sum(len(each["ids"]) for each in journal["lived"]) + sum(map(len, lists))
