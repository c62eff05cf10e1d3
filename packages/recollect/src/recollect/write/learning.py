"""Taking over what another store learnt from use; what this one has learnt itself stays as it is."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any

from recollect.domain.changes import AdoptLearnt, Outcome
from recollect.domain.learnt import (
    LearntAnswer,
    LearntDream,
    LearntNumbers,
    LearntRecall,
    LearntScope,
    LearntSetting,
    LearntUsage,
)
from recollect.domain.tables import TABLES, Equals, KeyIn
from recollect.search.rows import stamp, stamp_or_none
from recollect.search.texts import dismissed_setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.domain.tables import Table, Value
    from recollect.write.work import Work

_EPOCH = date(1970, 1, 1)


def adopt_learnt(work: Work, change: AdoptLearnt) -> Outcome:  # noqa: PLR0911  # one for each kind
    """The outcome's first id is that of the row, old or new, where rows have one; its error says what of the
    value found no place here."""
    # Whether an id is free is asked of the whole store.
    work.rows.hold(None)
    fresh = change.fresh
    match change.learnt:
        case LearntScope() as learnt:
            return _scope(work, learnt, fresh=fresh)
        case LearntUsage() as learnt:
            return _usage(work, learnt, fresh=fresh)
        case LearntNumbers() as learnt:
            return _numbers(work, learnt, fresh=fresh)
        case LearntRecall() as learnt:
            return _recall(work, learnt, fresh=fresh)
        case LearntAnswer() as learnt:
            return _answer(work, learnt, fresh=fresh)
        case LearntDream() as learnt:
            return _dream(work, learnt, fresh=fresh)
        case LearntSetting() as learnt:
            return _setting(work, learnt, fresh=fresh)


def _put_new(work: Work, table: Table, rows: Sequence[dict[str, Value]], *, fresh: bool = False) -> int:
    """Put those whose key is not there, and return how many those are; in a store that was empty, all."""
    if not rows:
        return 0
    key = TABLES[table].key
    keys: list[Any] = [tuple(row[column] for column in key) for row in rows]
    there = set() if fresh else set(work.rows.rows(table, key, (KeyIn(key, keys),)))
    new = {own: row for own, row in zip(keys, rows, strict=True) if own not in there}
    work.rows.put(table, list(new.values()), keep=True)
    return len(new)


def _scope(work: Work, learnt: LearntScope, *, fresh: bool) -> Outcome:
    scope = work.scope_id(learnt.scope)
    new = _put_new(
        work,
        "calibration",
        [
            {
                "scope_id": scope,
                "model": each.model,
                "at": stamp(each.at),
                "memories": each.memories,
                "value": each.value,
            }
            for each in learnt.calibrations
        ],
    )
    left = []
    if work.row("scope", scope, "temper") != (learnt.temper,):
        if fresh:
            new += work.set("scope", scope, temper=learnt.temper)
        else:
            left.append("this store balances what dreams wrote by itself")
    names: list[dict[str, Value]] = [
        {"name": dismissed_setting(learnt.scope, each.key), "value": each.at} for each in learnt.dismissed
    ]
    if fresh:
        new += _put_new(work, "setting", names)
    else:
        known = [name for name in names if work.first("setting", (Equals("name", name["name"]),), "name")]
        if len(known) < len(names):
            left.append("what was left to stand as it is names other ids")
    return Outcome(created=new > 0, count=new, error="; ".join(left) or None)


def _usage(work: Work, learnt: LearntUsage, *, fresh: bool) -> Outcome:
    memory = learnt.memory
    tables: dict[Table, list[dict[str, Value]]] = {
        "use": [],
        "use_day": [{"memory_id": memory, "day": (day - _EPOCH).days} for day in learnt.days],
        "together": [
            {**_pair(memory, each.memory), "count": each.count, "last_at": stamp(each.last_at)}
            for each in learnt.together
        ],
        "link": [{**_pair(memory, each.memory), "weight": each.weight} for each in learnt.links],
    }
    if learnt.last_at is not None:
        tables["use"] = [{"memory_id": memory, "count": learnt.count, "last_at": stamp(learnt.last_at)}]
    new = sum(_put_new(work, table, rows, fresh=fresh) for table, rows in tables.items())
    return Outcome(ids=(memory,), created=new > 0, count=new)


def _pair(one: int, other: int) -> dict[str, Value]:
    """Under the ids that they have here, which may be in another order than they were."""
    return {"first_id": min(one, other), "second_id": max(one, other)}


def _numbers(work: Work, learnt: LearntNumbers, *, fresh: bool) -> Outcome:
    scope = work.scope_id(learnt.scope)
    values: dict[str, Value] = {
        "scope_id": scope,
        "profile": learnt.profile,
        "at": stamp(learnt.at),
        "knobs": learnt.knobs,
        "why": learnt.why,
        "report": learnt.report,
    }
    same = ("scope_id", "profile", "at", "knobs")
    if not fresh and _standing(work, "tuned", values, same) is None:
        own = (Equals("scope_id", scope), Equals("profile", learnt.profile))
        newest = work.first("tuned", own, "at", newest=True)
        if newest is not None and newest[0] >= stamp(learnt.at):
            return Outcome(error=f"the profile {learnt.profile!r} was tuned here later")
    return _add_or_know(work, "tuned", learnt.id, values, same, fresh=fresh)


def _recall(work: Work, learnt: LearntRecall, *, fresh: bool) -> Outcome:
    scope = work.scope_id(learnt.scope)
    values: dict[str, Value] = {
        "scope_id": scope,
        "at": stamp(learnt.at),
        "session": learnt.session,
        "query": learnt.query,
        "profile": learnt.profile,
        "ordinal": learnt.ordinal if fresh else 1 + _last(work, "recall", scope, "ordinal")[0],
    }
    same = ("scope_id", "at", "session", "query", "profile")
    outcome = _add_or_know(work, "recall", learnt.id, values, same, fresh=fresh)
    if outcome.created:
        places = learnt.places or range(1, len(learnt.memories) + 1)
        shown: list[dict[str, Value]] = [
            {"memory_id": memory, "recall_id": outcome.ids[0], "place": place}
            for memory, place in zip(learnt.memories, places, strict=True)
        ]
        work.rows.put("recalled", shown, keep=True)
    return outcome


def _answer(work: Work, learnt: LearntAnswer, *, fresh: bool) -> Outcome:
    scope = work.scope_id(learnt.scope)
    ordinal, before, size = learnt.ordinal - 1, learnt.before, 0
    if not fresh:
        ordinal, before, size = _last(work, "shadow", scope, "ordinal", "before", "bytes")
    values: dict[str, Value] = {
        "scope_id": scope,
        "at": stamp(learnt.at),
        "ordinal": ordinal + 1,
        "bytes": learnt.size,
        "before": before + size,
        "handle": learnt.handle,
        "session": learnt.session,
        "query": learnt.query,
        "profile": learnt.profile,
        "version": learnt.version,
        "arm": learnt.arm,
        "against": learnt.against,
        "shown": _ids_json(learnt.shown),
        "ranked": _ids_json(learnt.ranked),
        "baseline": _ids_json(learnt.baseline),
        "candidates": learnt.candidates,
    }
    outcome = _add_or_know(work, "shadow", learnt.id, values, ("scope_id", "at", "handle"), fresh=fresh)
    (answer,) = outcome.ids
    new = 0
    for each in learnt.feedback:
        said = {"shadow_id": answer, "memory_id": each.memory, "kind": each.kind}
        if not outcome.created and work.first(
            "feedback", [Equals(column, value) for column, value in said.items()], "id"
        ):
            continue
        graded: dict[str, Value] = {**said, "at": stamp(each.at), "grade": each.grade}
        _add(work, "feedback", each.id, graded, fresh=fresh)
        new += 1
    return Outcome(ids=(answer,), created=outcome.created or new > 0, count=new + outcome.count)


def _ids_json(ids: Sequence[int]) -> str:
    return json.dumps(list(ids), separators=(",", ":"))


def _dream(work: Work, learnt: LearntDream, *, fresh: bool) -> Outcome:
    values: dict[str, Value] = {
        "scope_id": work.scope_id(learnt.scope),
        "at": stamp(learnt.at),
        "through": learnt.through,
        "phases": learnt.phases,
        "report": learnt.report,
        "journal": learnt.journal,
        "undone_at": stamp_or_none(learnt.undone_at),
    }
    same = ("scope_id", "at", "phases")
    if not fresh and _standing(work, "dream", values, same) is None:
        return Outcome(error="the journal of a dream holds for the store that dreamt it")
    return _add_or_know(work, "dream", learnt.id, values, same, fresh=fresh)


def _setting(work: Work, learnt: LearntSetting, *, fresh: bool) -> Outcome:
    """A store that has memories has its own."""
    if fresh:
        work.rows.put("setting", [{"name": learnt.name, "value": learnt.value}])
    return Outcome(created=fresh, count=int(fresh))


def _add_or_know(
    work: Work, table: Table, id_: int, values: dict[str, Value], same: Sequence[str], *, fresh: bool
) -> Outcome:
    """Add a row, unless the store was not empty and has one that is equal in these columns."""
    standing = None if fresh else _standing(work, table, values, same)
    if standing is not None:
        return Outcome(ids=(standing,))
    return Outcome(ids=(_add(work, table, id_, values, fresh=fresh),), created=True, count=1)


def _standing(work: Work, table: Table, values: dict[str, Value], same: Sequence[str]) -> int | None:
    row = work.first(table, [Equals(column, values[column]) for column in same], "id")
    return None if row is None else int(row[0])


def _add(work: Work, table: Table, id_: int, values: dict[str, Value], *, fresh: bool) -> int:
    """Under its own id in a store that was empty; else after all others, since logs go by their ids."""
    if fresh and not work.exists(table, id_):
        values = {"id": id_, **values}
    return work.rows.put(table, [values])[0]


def _last(work: Work, table: Table, scope: int, *columns: str) -> tuple[int, ...]:
    row = work.first(table, (Equals("scope_id", scope),), *columns, newest=True)
    return row or (0,) * len(columns)
