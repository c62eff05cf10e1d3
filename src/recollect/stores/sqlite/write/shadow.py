"""The log of answers: what was shown and what could have been, and what became of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from recollect.changes import Outcome
from recollect.errors import InvalidInput, NotFound
from recollect.tune.question import question_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recollect.changes import Bounds, GiveFeedback, RecordUse
    from recollect.stores.sqlite.write.batch import Batch

_DAY_US = 24 * 3600 * 1_000_000
# How long after an answer its reader still acts upon it.
_WINDOW_US = 30 * 60 * 1_000_000
# Whoever has asked more than this since has long forgotten what the first answers were.
_MOST_LOOKED_AT = 50
# Fewer questions than this tell nothing of what comes up whatever is asked.
_SEVERAL = 3
OPENED, RECALLED = 1.0, 0.5
# What a row takes beside its texts and its candidates: numbers, names, and its share of the indexes.
_ROW_BYTES = 200


def notice(batch: Batch, seen: Sequence[int], change: RecordUse, scope: int) -> None:
    """What an earlier answer showed was good, where its reader opens it, or another question asks for it too.

    The last such answer is the one that counts. The same question asked again says nothing; nor does what
    comes up whatever is asked; and of what a later question finds, only the first place is asked for.
    """
    if not change.opened and change.query is None:
        return
    earlier = [
        (event, question_of(query), json.loads(shown))
        for event, query, shown in batch.rows(
            "SELECT id, query, shown FROM shadow WHERE session = ? AND scope_id = ? AND at BETWEEN ? AND ? "
            "ORDER BY id DESC LIMIT ?",
            change.session,
            scope,
            batch.at - _WINDOW_US,
            batch.at,
            _MOST_LOOKED_AT,
        )
    ]
    if change.opened:
        kind, grade, asked, left = "opened", OPENED, None, set(seen)
    else:
        kind, grade, asked = "recalled", RECALLED, question_of(change.query or "")
        left = {id_ for id_ in seen[:1] if not _is_regular(id_, earlier)}
    for event, query, shown in earlier:
        found = left.intersection(shown)
        if not found or query == asked:
            continue
        left -= found
        batch.connection.executemany(
            "INSERT OR IGNORE INTO feedback(shadow_id, memory_id, at, kind, grade) VALUES (?, ?, ?, ?, ?)",
            [(event, memory, batch.at, kind, grade) for memory in sorted(found)],
        )


def _is_regular(id_: int, earlier: Sequence[tuple[int, str, list[int]]]) -> bool:
    """Whether a memory comes up in more than a third of what this session asked, which were several."""
    asked = {query: shown for _, query, shown in earlier}
    showing = sum(id_ in shown for shown in asked.values())
    return len(asked) >= _SEVERAL and showing > len(asked) / _SEVERAL


def log(batch: Batch, seen: Sequence[int], change: RecordUse, scope: int) -> None:
    """Keep the answer, and drop the oldest beyond the bounds."""
    kept = change.log
    if kept is None or change.query is None:
        return
    shown, ranked, baseline = map(_listed, (seen, kept.ranked, kept.baseline))
    size = _ROW_BYTES + len(kept.candidates) + len(change.query.encode())
    size += len(shown) + len(ranked) + len(baseline)
    before = batch.one("SELECT before + bytes FROM shadow ORDER BY id DESC LIMIT 1") or 0
    newest = batch.insert(
        "INSERT INTO shadow(scope_id, at, bytes, before, handle, session, query, profile, version, arm, "
        "against, shown, ranked, baseline, candidates) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        scope,
        batch.at,
        size,
        before,
        kept.handle,
        change.session,
        change.query,
        change.profile or "",
        kept.version,
        kept.arm,
        kept.against,
        shown,
        ranked,
        baseline,
        kept.candidates,
    )
    _trim(batch, kept.bounds, newest, before + size)


def _trim(batch: Batch, bounds: Bounds, newest: int, through: int) -> None:
    """Each bound by one look at the oldest rows, however many there are."""
    batch.run("DELETE FROM shadow WHERE at < ?", batch.at - int(bounds.days * _DAY_US))
    # What is left never holds more: ids and sizes only ever grow from a row to the next.
    batch.run("DELETE FROM shadow WHERE id <= ?", newest - bounds.events)
    first = batch.one("SELECT id FROM shadow WHERE before >= ? ORDER BY id LIMIT 1", through - bounds.bytes)
    batch.run("DELETE FROM shadow WHERE id < ?", newest + 1 if first is None else first)


def give(batch: Batch, change: GiveFeedback) -> Outcome:
    """What the caller says of a memory that it was shown; said again, the last word holds."""
    if not -1 <= change.grade <= 1:
        raise InvalidInput(f"A grade is a number from -1 (wrong) to 1 (just right), not {change.grade!r}.")
    scope = batch.scope_id(change.scope)
    event = next(_showing(batch, change, scope), None)
    there = batch.one("SELECT 1 FROM memory WHERE id = ? AND scope_id = ?", change.memory, scope)
    if there is None:
        raise NotFound(f"There is no memory {change.memory}.")
    if event is None:
        raise NotFound(_unshown(change))
    batch.run(
        "INSERT INTO feedback(shadow_id, memory_id, at, kind, grade) VALUES (?, ?, ?, 'said', ?) "
        "ON CONFLICT (shadow_id, memory_id, kind) DO UPDATE SET at = excluded.at, grade = excluded.grade",
        event,
        change.memory,
        batch.at,
        change.grade,
    )
    return Outcome(ids=(change.memory,), count=1)


def _showing(batch: Batch, change: GiveFeedback, scope: int) -> Iterator[int]:
    """The answers that showed the memory, this session's first, each part from the newest."""
    asked = None if change.query is None else question_of(change.query)
    named = "handle = ?2" if change.handle is not None else "?2 IS NULL"
    for event, query, shown in batch.connection.execute(
        f"SELECT id, query, shown FROM shadow WHERE scope_id = ?1 AND {named} "
        "ORDER BY session IS ?3 DESC, id DESC",
        (scope, change.handle, change.session),
    ):
        if change.memory in json.loads(shown) and (asked is None or question_of(query) == asked):
            yield event


def _unshown(change: GiveFeedback) -> str:
    which = "That answer" if change.handle is not None else "No answer in the log"
    to = "" if change.query is None else f" to {change.query[:60]!r}"
    shown = "did not show" if change.handle is not None else "shows"
    return (
        f"{which}{to} {shown} memory {change.memory}, or it is no longer kept; recall it first, with the "
        "setting `shadow` on."
    )


def purge(batch: Batch, before: int) -> None:
    """Questions of that time may quote what was destroyed, and what they found may be it."""
    batch.run("DELETE FROM shadow WHERE at < ?", before)


def _listed(ids: Sequence[int]) -> str:
    return json.dumps(list(ids), separators=(",", ":"))
