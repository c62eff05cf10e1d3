"""What callers were shown."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from recollect.changes import Outcome
from recollect.stores.sqlite.rows import many
from recollect.stores.sqlite.write import shadow

if TYPE_CHECKING:
    from recollect.changes import RecordUse
    from recollect.stores.sqlite.write.batch import Batch

_DAY_US = 24 * 3600 * 1_000_000
# Pairs grow with the square of an answer; beyond its first fifty, being together says little.
_MOST_PAIRED = 50
# Answers that are kept for dreams to replay.
_MOST_RECALLS = 50_000
# In letters. What is longer is a text that was pasted, and asking it again would tell nothing.
_LONGEST_QUERY = 2_000


def record(batch: Batch, change: RecordUse) -> Outcome:
    """Count each memory once, note the day, the pairs, the answer, and what it says of earlier ones."""
    if change.missed:
        batch.run(
            "INSERT INTO setting(name, value) VALUES ('unnoted', ?1) ON CONFLICT (name) "
            "DO UPDATE SET value = CAST(CAST(value AS INTEGER) + ?1 AS TEXT)",
            str(change.missed),
        )
    scope = batch.scope_id(change.scope)
    known = {
        id_
        for (id_,) in batch.rows(
            "SELECT id FROM memory WHERE scope_id = ? AND id IN (SELECT value FROM json_each(?))",
            scope,
            many(change.ids),
        )
    }
    seen = [id_ for id_ in dict.fromkeys(change.ids) if id_ in known]
    if not seen:
        return Outcome()
    _count(batch, seen)
    _pair(batch, seen[:_MOST_PAIRED])
    _remember(batch, seen, change, scope)
    shadow.notice(batch, seen, change, scope)
    shadow.log(batch, seen, change, scope)
    return Outcome(ids=tuple(seen), count=len(seen))


def _count(batch: Batch, seen: list[int]) -> None:
    batch.connection.executemany(
        "INSERT INTO use(memory_id, count, last_at) VALUES (?1, 1, ?2) ON CONFLICT (memory_id) "
        "DO UPDATE SET count = count + 1, last_at = max(last_at, ?2)",
        [(id_, batch.at) for id_ in seen],
    )
    batch.connection.executemany(
        "INSERT OR IGNORE INTO use_day(memory_id, day) VALUES (?, ?)",
        [(id_, batch.at // _DAY_US) for id_ in seen],
    )


def _pair(batch: Batch, seen: list[int]) -> None:
    batch.connection.executemany(
        "INSERT INTO together(first_id, second_id, count, last_at) VALUES (?1, ?2, 1, ?3) "
        "ON CONFLICT (first_id, second_id) DO UPDATE SET count = count + 1, last_at = max(last_at, ?3)",
        [(first, second, batch.at) for first, second in combinations(sorted(seen), 2)],
    )


def _remember(batch: Batch, seen: list[int], change: RecordUse, scope: int) -> None:
    asked = None if change.query is None else change.query[:_LONGEST_QUERY]
    recall = batch.insert(
        "INSERT INTO recall(at, session, scope_id, query, profile) VALUES (?, ?, ?, ?, ?) RETURNING id",
        batch.at,
        change.session,
        scope,
        asked,
        change.profile,
    )
    batch.connection.executemany(
        "INSERT INTO recalled(memory_id, recall_id, place) VALUES (?, ?, ?)",
        [(id_, recall, place) for place, id_ in enumerate(seen, start=1)],
    )
    batch.run("DELETE FROM recall WHERE id <= ?", recall - _MOST_RECALLS)
