"""Usage: what callers were shown, the alternatives, and the feedback."""

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

_UNNOTED = "unnoted"
"""The setting that counts answers of which nothing could be noted."""
# Pairs grow with the square of an answer; beyond its first fifty, being together says little.
_MOST_PAIRED = 50
# Answers of a scope that are kept for dreams to replay.
_MOST_RECALLS = 50_000
# In letters. What is longer is a text that was pasted, and asking it again would tell nothing.
_LONGEST_QUERY = 2_000


def record(work: Work, change: RecordUsage) -> Outcome:
    """Count each memory once, note the day, the pairs, the answer, and what it says of earlier ones."""
    if change.missed:
        before = int(work.lock_setting(_UNNOTED, "0"))
        work.rows.put("setting", [{"name": _UNNOTED, "value": str(before + change.missed)}])
    scope = work.scope_id(change.scope)
    known = set(work.ids("memory", (Equals("scope_id", scope), OneOf("id", change.ids))))
    seen = [id_ for id_ in dict.fromkeys(change.ids) if id_ in known]
    if not seen:
        return Outcome()
    _count(work, "usage", ("memory_id",), [(id_,) for id_ in seen])
    work.rows.put("usage_day", [{"memory_id": id_, "day": work.at // DAY} for id_ in seen], keep=True)
    _count(
        work, "cooccurrence", ("first_id", "second_id"), list(combinations(sorted(seen[:_MOST_PAIRED]), 2))
    )
    _remember(work, seen, change, scope)
    _notice(work, seen, change, scope)
    _log(work, seen, change, scope)
    return Outcome(ids=tuple(seen), count=len(seen))


def _count(
    work: Work, table: Literal["usage", "cooccurrence"], key: tuple[str, ...], seen: Sequence[tuple[int, ...]]
) -> None:
    """Count these memories or pairs once more, and note when."""
    ids = {id_ for each in seen for id_ in each}
    where = [OneOf(column, ids) for column in key]
    rows = work.rows.rows(table, (*key, "count", "last_at"), where)
    before = {row[:-2]: row[-2:] for row in rows}
    counted = []
    for each in seen:
        count, last_at = before.get(each, (0, work.at))
        own = dict(zip(key, each, strict=True))
        counted.append({**own, "count": count + 1, "last_at": max(last_at, work.at)})
    work.rows.put(table, counted)


def _remember(work: Work, seen: list[int], change: RecordUsage, scope: int) -> None:
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
    shown = [{"memory_id": id_, "recall_id": recall, "place": place} for place, id_ in enumerate(seen, 1)]
    work.rows.put("recall_hit", shown)
    if before >= _MOST_RECALLS:
        _drop_before(work, "recall", scope, Compares("ordinal", ">", before + 1 - _MOST_RECALLS), recall)


def _drop_before(
    work: Work, table: Literal["recall", "answer_log"], scope: int, kept: Compares, newest: int
) -> None:
    """Drop the rows of a scope that are older than the first one that is kept.

    By one look at the oldest rows, however many there are: what `kept` asks of rises from a row to the next.
    """
    own = Equals("scope_id", scope)
    (first,) = work.first(table, (own, kept), "id") or (newest + 1,)
    work.rows.remove(table, (own, Compares("id", "<", first)))


# How long after an answer its reader still acts upon it.
_WINDOW_US = 30 * 60 * 1_000_000
# Earlier answers are not linked to a new query.
_MOST_LOOKED_AT = 50
# Fewer questions than this tell nothing of what comes up whatever is asked.
_SEVERAL = 3
OPENED, RECALLED = 1.0, 0.5
# Bytes of a row besides its texts and candidates: numbers, names, and its share of the indexes.
_ROW_BYTES = 200


def _notice(work: Work, seen: Sequence[int], change: RecordUsage, scope: int) -> None:
    """Record implicit feedback: a shown memory was opened, or a later query found it too.

    It goes to the last such answer. Repeated queries do not count, nor memories that come up for everything;
    a later query counts only for its first place.
    """
    if not change.opened and change.query is None:
        return
    earlier = [
        (answer, normalized_query(query), shown)
        for answer, query, shown in work.rows.rows(
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
        kind, grade, asked, left = "opened", OPENED, None, set(seen)
    else:
        kind, grade, asked = "recalled", RECALLED, normalized_query(change.query or "")
        # A memory that shows up in more than a third of several questions comes up whatever is asked.
        answers = {query: shown for _, query, shown in earlier}.values()
        showing = sum(_shows(shown, seen[0]) for shown in answers)
        is_regular = len(answers) >= _SEVERAL and showing > len(answers) / _SEVERAL
        left = set() if is_regular else {seen[0]}
    for answer, query, shown in earlier:
        if not left:
            break
        found = {id_ for id_ in left if _shows(shown, id_)}
        if not found or query == asked:
            continue
        left -= found
        for memory in sorted(found):
            if _feedback(work, answer, memory, kind) is None:
                work.add("feedback", answer_id=answer, memory_id=memory, at=work.at, kind=kind, grade=grade)


def _feedback(work: Work, answer: int, memory: int, kind: str) -> int | None:
    where = (Equals("answer_id", answer), Equals("memory_id", memory), Equals("kind", kind))
    return work.first_id("feedback", where)


def _shows(shown: str, id_: int) -> bool:
    """Whether a list of ids, as `_ids_json` writes it, holds this one: quicker than to read fifty lists."""
    # Most lists lack the number altogether, and that is seen at once.
    return str(id_) in shown and f",{id_}," in f",{shown[1:-1]},".replace(" ", "")


def _log(work: Work, seen: Sequence[int], change: RecordUsage, scope: int) -> None:
    """Keep the answer, and drop the scope's oldest beyond the bounds."""
    kept = change.log
    if kept is None or change.query is None:
        return
    shown, ranked, baseline = map(_ids_json, (seen, kept.ranked, kept.baseline))
    size = _ROW_BYTES + len(kept.candidates) + len(change.query.encode())
    size += len(shown) + len(ranked) + len(baseline)
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
        handle=kept.handle,
        session=change.session,
        query=change.query,
        profile=change.profile or "",
        version=kept.version,
        arm=kept.arm,
        against=kept.against,
        shown=shown,
        ranked=ranked,
        baseline=baseline,
        candidates=kept.candidates,
    )
    bounds = kept.bounds
    work.rows.remove("answer_log", (Compares("at", "<", work.at - int(bounds.days * DAY)),))
    # The number of rows is an upper bound: purges leave gaps.
    if ordinal >= bounds.events:
        _drop_before(work, "answer_log", scope, Compares("ordinal", ">", ordinal + 1 - bounds.events), newest)
    through = before + bytes_ + size
    if through > bounds.bytes:
        _drop_before(
            work, "answer_log", scope, Compares("bytes_before", ">=", through - bounds.bytes), newest
        )


def give_feedback(work: Work, change: GiveFeedback) -> Outcome:
    """Store a caller's feedback on a memory that it was shown; the last one holds."""
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
    # The answers of this session first, each part from the newest.
    showing = (
        answer
        for answer, query, shown, _ in sorted(rows, key=lambda row: row[3] != change.session)
        if _shows(shown, change.memory) and (asked is None or normalized_query(query) == asked)
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
    said = _feedback(work, answer, change.memory, "said")
    if said is None:
        work.add(
            "feedback", answer_id=answer, memory_id=change.memory, at=work.at, kind="said", grade=change.grade
        )
    else:
        work.set("feedback", said, at=work.at, grade=change.grade)
    return Outcome(ids=(change.memory,), count=1)


def _ids_json(ids: Sequence[int]) -> str:
    return json.dumps(list(ids), separators=(",", ":"))
