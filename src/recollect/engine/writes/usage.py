"""What callers were shown: the signals that ranking and dreams read."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from recollect.changes import Outcome, RecordUse
from recollect.conditions import Compares, Equals, OneOf
from recollect.engine.writes import answer_log
from recollect.ranking.candidates import DAY

if TYPE_CHECKING:
    from recollect.engine.writes.work import Work

# Pairs grow with the square of an answer; beyond its first fifty, being together says little.
_MOST_PAIRED = 50
# Answers that are kept for dreams to replay.
_MOST_RECALLS = 50_000
# In letters. What is longer is a text that was pasted, and asking it again would tell nothing.
_LONGEST_QUERY = 2_000


def record(work: Work, change: RecordUse) -> Outcome:
    """Count each memory once, note the day, the pairs, the answer, and what it says of earlier ones."""
    if change.missed:
        (before,) = work.first("setting", (Equals("name", "unnoted"),), "value") or (0,)
        work.rows.put("setting", [{"name": "unnoted", "value": str(change.missed + int(before))}])
    scope = work.scope_id(change.scope)
    known = set(work.ids("memory", (Equals("scope_id", scope), OneOf("id", change.ids))))
    seen = [id_ for id_ in dict.fromkeys(change.ids) if id_ in known]
    if not seen:
        return Outcome()
    _count(work, seen)
    _pair(work, seen[:_MOST_PAIRED])
    _remember(work, seen, change, scope)
    answer_log.notice(work, seen, change, scope)
    answer_log.log(work, seen, change, scope)
    return Outcome(ids=tuple(seen), count=len(seen))


def _count(work: Work, seen: list[int]) -> None:
    before = {
        memory: (count, last_at)
        for memory, count, last_at in work.rows.rows(
            "use", ("memory_id", "count", "last_at"), (OneOf("memory_id", seen),)
        )
    }
    counted = []
    for id_ in seen:
        count, last_at = before.get(id_, (0, work.at))
        counted.append({"memory_id": id_, "count": count + 1, "last_at": max(last_at, work.at)})
    work.rows.put("use", counted)
    work.rows.put("use_day", [{"memory_id": id_, "day": work.at // DAY} for id_ in seen], keep=True)


def _pair(work: Work, seen: list[int]) -> None:
    before = {
        (first, second): (count, last_at)
        for first, second, count, last_at in work.rows.rows(
            "together",
            ("first_id", "second_id", "count", "last_at"),
            (OneOf("first_id", seen), OneOf("second_id", seen)),
        )
    }
    pairs = []
    for first, second in combinations(sorted(seen), 2):
        count, last_at = before.get((first, second), (0, work.at))
        pairs.append(
            {"first_id": first, "second_id": second, "count": count + 1, "last_at": max(last_at, work.at)}
        )
    work.rows.put("together", pairs)


def _remember(work: Work, seen: list[int], change: RecordUse, scope: int) -> None:
    recall = work.add(
        "recall",
        at=work.at,
        session=change.session,
        scope_id=scope,
        query=None if change.query is None else change.query[:_LONGEST_QUERY],
        profile=change.profile,
    )
    work.rows.put(
        "recalled",
        [{"memory_id": id_, "recall_id": recall, "place": place} for place, id_ in enumerate(seen, start=1)],
    )
    work.rows.remove("recall", (Compares("id", "<=", recall - _MOST_RECALLS),))
