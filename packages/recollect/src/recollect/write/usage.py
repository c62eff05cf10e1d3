"""Writes of usage counts, recalls, the answer log, and feedback on logged answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from recollect.domain.changes import GiveFeedback, Outcome, RecordUsage
from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.tables import Compares, Equals, OneOf
from recollect.ranking.candidates import DAY
from recollect.tuning.events import normalized_query

if TYPE_CHECKING:
    from recollect.write.work import Work

_UNRECORDED = "unnoted"
"""The setting that counts answers that could not be recorded. Exports contain its name, so it stays."""
# Limits the number of pairs, which grows with the square of the hits. Low hits occur together by chance.
_MOST_PAIRED = 50
# The number of recalls that a scope keeps for dreams to replay.
_MOST_RECALLS = 50_000
# In characters. A longer query was pasted; replaying it would improve nothing.
_LONGEST_QUERY = 2_000


def record_usage(work: Work, change: RecordUsage) -> Outcome:
    """Count the use of memories and pairs; store days, the recall, implicit feedback and the log entry."""
    if change.missed:
        before = int(work.lock_setting(_UNRECORDED, "0"))
        work.rows.put("setting", [{"name": _UNRECORDED, "value": str(before + change.missed)}])
    scope = work.scope_id(change.scope)
    known = set(work.ids("memory", (Equals("scope_id", scope), OneOf("id", change.ids))))
    shown = [id_ for id_ in dict.fromkeys(change.ids) if id_ in known]
    if not shown:
        return Outcome()
    _count(work, "usage", ("memory_id",), [(id_,) for id_ in shown])
    work.rows.put("usage_day", [{"memory_id": id_, "day": work.at // DAY} for id_ in shown], keep=True)
    pairs = list(combinations(sorted(shown[:_MOST_PAIRED]), 2))
    _count(work, "cooccurrence", ("first_id", "second_id"), pairs)
    _add_recall(work, shown, change, scope)
    _add_implicit_feedback(work, shown, change, scope)
    _log_answer(work, shown, change, scope)
    return Outcome(ids=tuple(shown), count=len(shown))


def _count(
    work: Work,
    table: Literal["usage", "cooccurrence"],
    key: tuple[str, ...],
    items: Sequence[tuple[int, ...]],
) -> None:
    """Add one to the count of each memory or pair, and set when it was last counted."""
    ids = {id_ for each in items for id_ in each}
    where = [OneOf(column, ids) for column in key]
    rows = work.rows.rows(table, (*key, "count", "last_at"), where)
    before = {row[:-2]: row[-2:] for row in rows}
    counted = []
    for each in items:
        count, last_at = before.get(each, (0, work.at))
        own = dict(zip(key, each, strict=True))
        counted.append({**own, "count": count + 1, "last_at": max(last_at, work.at)})
    work.rows.put(table, counted)


def _add_recall(work: Work, shown: list[int], change: RecordUsage, scope: int) -> None:
    (before,) = work.first("recall", (Equals("scope_id", scope),), "ordinal", newest=True) or (0,)
    recall = work.add(
        "recall",
        at=work.at,
        ordinal=before + 1,
        session=change.session,
        scope_id=scope,
        query=change.query[:_LONGEST_QUERY] if change.query else None,
        profile=change.profile,
    )
    hits = [{"memory_id": id_, "recall_id": recall, "place": place} for place, id_ in enumerate(shown, 1)]
    work.rows.put("recall_hit", hits)
    if before >= _MOST_RECALLS:
        _drop_before(work, "recall", scope, Compares("ordinal", ">", before + 1 - _MOST_RECALLS), recall)


def _drop_before(
    work: Work, table: Literal["recall", "answer_log"], scope: int, kept: Compares, newest: int
) -> None:
    """Delete a scope's rows from before the first row that meets `kept`.

    The column of `kept` rises from row to row, so this reads only the oldest rows.
    """
    own = Equals("scope_id", scope)
    (first,) = work.first(table, (own, kept), "id") or (newest + 1,)
    work.rows.remove(table, (own, Compares("id", "<", first)))


# How long after an answer, in microseconds, an action still counts as feedback on it.
_WINDOW_US = 30 * 60 * 1_000_000
# Most answers of that time that are examined, newest first.
_MOST_LOOKED_AT = 50
# From fewer queries, do not conclude that a memory is found by every query.
_LEAST_QUERIES = 3
OPENED, RECALLED = 1.0, 0.5
# Bytes of a row of the answer log besides its texts and candidates, with its share of the indexes.
_ROW_BYTES = 200


def _add_implicit_feedback(work: Work, shown: Sequence[int], change: RecordUsage, scope: int) -> None:
    """Add feedback to an earlier answer if a hit of it was opened now, or is now another query's first hit.

    Only the last answer with that hit gets it. Repeats of a query do not count. Hits that almost every query
    finds do not count either, unless they are opened.
    """
    if not change.opened and change.query is None:
        return
    earlier = [
        (answer, normalized_query(query), ids)
        for answer, query, ids in work.rows.rows(
            "answer_log",
            ("id", "query", "shown"),
            (
                Equals("session", change.session),
                Equals("scope_id", scope),
                Compares("at", ">=", work.at - _WINDOW_US),
                Compares("at", "<=", work.at),
            ),
            descending=True,
            limit=_MOST_LOOKED_AT,
        )
    ]
    if change.opened:
        kind, grade, asked, left = "opened", OPENED, None, set(shown)
    else:
        kind, grade, asked = "recalled", RECALLED, normalized_query(change.query or "")
        # A hit that more than a third of the queries show says little about any of them.
        answers = {query: ids for _, query, ids in earlier}.values()
        showing = sum(_shows(ids, shown[0]) for ids in answers)
        is_regular = len(answers) >= _LEAST_QUERIES and showing > len(answers) / 3
        left = set() if is_regular else {shown[0]}
    for answer, query, ids in earlier:
        if not left:
            break
        found = {id_ for id_ in left if _shows(ids, id_)}
        if not found or query == asked:
            continue
        left -= found
        for memory in sorted(found):
            if _feedback_id(work, answer, memory, kind) is None:
                work.add("feedback", answer_id=answer, memory_id=memory, at=work.at, kind=kind, grade=grade)


def _feedback_id(work: Work, answer: int, memory: int, kind: str) -> int | None:
    where = (Equals("answer_id", answer), Equals("memory_id", memory), Equals("kind", kind))
    return work.first_id("feedback", where)


def _shows(ids: str, id_: int) -> bool:
    """Whether a list of ids, as `_ids_json` writes it, contains this id. This is faster than parsing it."""
    # Most lists do not even contain the digits; the first test is quick to see that.
    return str(id_) in ids and f",{id_}," in f",{ids[1:-1]},".replace(" ", "")


def _log_answer(work: Work, shown: Sequence[int], change: RecordUsage, scope: int) -> None:
    """Add the answer to the log. Delete expired answers, and the scope's oldest ones beyond its bounds."""
    entry = change.log
    if entry is None or change.query is None:
        return
    lists = {"shown": shown, "ranked": entry.ranked, "baseline": entry.baseline}
    packed = {name: _ids_json(ids) for name, ids in lists.items()}
    size = _ROW_BYTES + len(entry.candidates) + len(change.query.encode()) + sum(map(len, packed.values()))
    last = work.first(
        "answer_log", (Equals("scope_id", scope),), "ordinal", "bytes_before", "bytes", newest=True
    )
    ordinal, before, bytes_ = last or (0, 0, 0)
    newest = work.add(
        "answer_log",
        scope_id=scope,
        at=work.at,
        ordinal=ordinal + 1,
        bytes=size,
        bytes_before=before + bytes_,
        handle=entry.handle,
        session=change.session,
        query=change.query,
        profile=change.profile or "",
        version=entry.version,
        arm=entry.arm,
        against=entry.against,
        candidates=entry.candidates,
        **packed,
    )
    bounds = entry.bounds
    work.rows.remove("answer_log", (Compares("at", "<", work.at - int(bounds.days * DAY)),))
    # Purges leave gaps in the ordinals, so there are at most as many rows.
    if ordinal >= bounds.events:
        _drop_before(work, "answer_log", scope, Compares("ordinal", ">", ordinal + 1 - bounds.events), newest)
    through = before + bytes_ + size
    if through > bounds.bytes:
        _drop_before(
            work, "answer_log", scope, Compares("bytes_before", ">=", through - bounds.bytes), newest
        )


def give_feedback(work: Work, change: GiveFeedback) -> Outcome:
    """Store a caller's grade for a memory that an answer showed; it replaces an earlier grade."""
    if not -1 <= change.grade <= 1:
        raise InvalidInput(f"A grade is a number from -1 (wrong) to 1 (just right), not {change.grade!r}.")
    scope = work.scope_id(change.scope)
    if work.row("memory", change.memory, "scope_id") != (scope,):
        raise NotFound(f"There is no memory {change.memory}.")
    asked = None if change.query is None else normalized_query(change.query)
    named = () if change.handle is None else (Equals("handle", change.handle),)
    rows = work.rows.rows(
        "answer_log",
        ("id", "query", "shown", "session"),
        (Equals("scope_id", scope), *named),
        descending=True,
    )
    # Prefer answers of this session, and then the newest.
    showing = (
        answer
        for answer, query, ids, _ in sorted(rows, key=lambda row: row[3] != change.session)
        if _shows(ids, change.memory) and (asked is None or normalized_query(query) == asked)
    )
    answer = next(showing, None)
    if answer is None:
        which = "That answer" if change.handle is not None else "No answer in the log"
        to = "" if change.query is None else f" to {change.query[:60]!r}"
        shows = "did not show" if change.handle is not None else "shows"
        raise NotFound(
            f"{which}{to} {shows} memory {change.memory}, or it is no longer kept; recall it first, with the "
            "setting `shadow` on."
        )
    known = _feedback_id(work, answer, change.memory, "said")
    if known is None:
        work.add(
            "feedback", answer_id=answer, memory_id=change.memory, at=work.at, kind="said", grade=change.grade
        )
    else:
        work.set("feedback", known, at=work.at, grade=change.grade)
    return Outcome(ids=(change.memory,), count=1)


def _ids_json(ids: Sequence[int]) -> str:
    return json.dumps(list(ids), separators=(",", ":"))
