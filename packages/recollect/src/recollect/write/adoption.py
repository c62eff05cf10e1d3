"""Import rows that another store exported, unchanged. A second import of the same rows adds nothing.

An import only adds. If the export has forgotten a memory, this store keeps its own copy. If the
export still has it, it is added again, even if this store has forgotten it.
"""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from recollect.domain.changes import Adopt, AdoptLearnt, AdoptLinks, AdoptRelation, Outcome
from recollect.domain.errors import NotFound
from recollect.domain.learnt import (
    Learnt,
    LearntAnswer,
    LearntCalibration,
    LearntDream,
    LearntFeedback,
    LearntNumbers,
    LearntRecall,
    LearntScope,
    LearntSetting,
    LearntUsage,
)
from recollect.domain.records import Kind, Memory, Relation
from recollect.domain.tables import IN_FORCE, TABLES, Equals, KeyIn, Value, Where, is_null, is_set
from recollect.search.entities import exact_entity
from recollect.search.rows import row_values, stamp, stamp_or_none
from recollect.search.texts import dismissed_setting
from recollect.text.names import name_beginning
from recollect.text.near_duplicates import text_key
from recollect.text.passages import passage_spans
from recollect.text.tokens import fold
from recollect.write.entities import NAME_SPAN, relation_in_force, settle_type
from recollect.write.texts import tag

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.domain.changes import Change
    from recollect.domain.tables import Table
    from recollect.write.work import Work


def adopt(work: Work, change: Adopt) -> Outcome:
    """Insert the memory under its own id if that is free, unless this store has it already."""
    memory = change.memory
    scope = work.scope_id(memory.scope)
    existing = _find_memory(work, scope, memory, fresh=change.fresh)
    if existing is None:
        id_ = _insert(work, scope, memory)
        known: dict[int, int] = {}
        live = memory.deleted_at is None and memory.superseded_at is None
    else:
        id_ = existing
        known = _known_observations(work, id_, memory)
        live = work.in_force("memory", id_)
    new = [observation for observation in memory.observations if observation.id not in known]
    for observation in new:
        # The links are set below, when the ids of all observations are known.
        values = {**row_values(observation), "memory_id": id_, "superseded_by": None, "similar_to": None}
        if not change.fresh:
            # The correction may get another id, unless the store was empty.
            values["corrected_by"] = None
        made = _add_under_own_id(work, "observation", observation.id, values)
        known[observation.id] = made
        spans = passage_spans(observation.content)
        work.add_passages(id_, spans, observation=made, live=live and observation.in_force)
    for observation in new:
        if observation.superseded_by is not None or observation.similar_to is not None:
            work.set(
                "observation",
                known[observation.id],
                superseded_by=known.get(observation.superseded_by or 0),
                similar_to=known.get(observation.similar_to or 0),
            )
    took = None
    if existing is not None and memory.kind is Kind.ENTITY and memory.deleted_at is None:
        # The type `unknown` is replaced by the one in the export.
        took, _ = settle_type(work, id_, memory.type)
    if (new or took) and existing is not None:
        work.set("memory", id_, updated_at=work.at)
    if new or took or existing is None:
        finds_mentions = existing is None and not change.keeps_mentions
        work.touch(id_, scope, text=finds_mentions, named=finds_mentions)
    return Outcome(ids=(id_,), names=(memory.name,), created=existing is None, count=len(new), took_type=took)


def adopt_relation(work: Work, change: AdoptRelation) -> Outcome:
    relation = change.relation
    for end in (relation.source, relation.target):
        if work.row("memory", end, "kind") != ("entity",):
            raise NotFound(f"Relation {relation.id} leads to memory {end}, which is not an entity here.")
    same: dict[str, Value] = {
        "source_id": relation.source,
        "target_id": relation.target,
        "type": relation.type,
        "created_at": stamp(relation.created_at),
        "since": stamp_or_none(relation.since),
        "until": stamp_or_none(relation.until),
    }
    if relation.until is None and relation.deleted_at is None:
        existing = relation_in_force(work, relation.source, relation.target, relation.type)
    else:
        existing = _same_row(work, "relation", relation, _equal(same), (), fresh=change.fresh)
    if existing is not None:
        return Outcome(relations=(existing,))
    deleted_at = stamp_or_none(relation.deleted_at)
    values = {**same, "context": relation.context, "deleted_at": deleted_at}
    return Outcome(relations=(_add_under_own_id(work, "relation", relation.id, values),), created=True)


def adopt_links(work: Work, change: AdoptLinks) -> Outcome:
    """Set links that are not set yet, if both ends exist here."""
    linked = 0
    for memory, later in change.superseded:
        if work.exists("memory", later):
            open_ = (Equals("id", memory), is_null("superseded_by"), is_set("superseded_at"))
            linked += work.rows.patch("memory", open_, {"superseded_by": later})
    for relation, first in change.inverse:
        other = work.row("relation", first, "inverse_of")
        if other is not None and other[0] != relation:
            no_inverse = (Equals("id", relation), is_null("inverse_of"))
            linked += work.rows.patch("relation", no_inverse, {"inverse_of": first})
    for explicit, pairs in ((0, change.mentions), (1, change.about)):
        for text, entity in pairs:
            one, other = (work.row("memory", id_, "scope_id", "kind") for id_ in (text, entity))
            if one and other == (one[0], "entity") and one != other:
                mention = {"memory_id": text, "entity_id": entity, "explicit": explicit}
                work.rows.put("mention", [mention], keep=not explicit)
                linked += 1
    for column, pairs in (("drawn_from", change.drawn), ("similar_to", change.similar)):
        for memory, other_memory in pairs:
            if work.exists("memory", other_memory):
                unset = (Equals("id", memory), is_null(column))
                linked += work.rows.patch("memory", unset, {column: other_memory})
    return Outcome(count=linked)


def _add_under_own_id(work: Work, table: Table, id_: int, values: dict[str, Value]) -> int:
    """Add a row under its own id, or under the next free one if that is taken or not positive."""
    if id_ > 0 and not work.exists(table, id_):
        values = {"id": id_, **values}
    return work.rows.put(table, [values])[0]


def _find_memory(work: Work, scope: int, memory: Memory, *, fresh: bool) -> int | None:
    """Find the same memory here: an entity by its name, a note by its `ref`, a text by its words and time."""
    is_entity = memory.kind is Kind.ENTITY
    if is_entity and memory.deleted_at is None:
        return exact_entity(work.rows, scope, memory.name)
    in_force = memory.deleted_at is None and memory.superseded_at is None
    if memory.ref is not None and in_force:
        named = (Equals("scope_id", scope), Equals("ref", memory.ref), *IN_FORCE)
        return work.first_id("memory", named)
    values = row_values(memory)
    same = ("kind", "name", "text", "created_at", "session", "position", "ref", "metadata")
    elsewhere = (
        Equals("folded_name", fold(memory.name)) if is_entity else Equals("text_key", text_key(memory.text)),
        Equals("role", memory.role),
        Equals("speaker", memory.speaker),
    )
    own = (Equals("scope_id", scope), *_equal({name: values[name] for name in same}))
    return _same_row(work, "memory", memory, own, elsewhere, fresh=fresh)


def _equal(values: dict[str, Value]) -> tuple[Equals, ...]:
    return tuple(Equals(column, value) for column, value in values.items())


def _same_row(
    work: Work, table: Table, adopted: Memory | Relation, same: Where, elsewhere: Where, *, fresh: bool
) -> int | None:
    """Find the equal row: under the same id, or under another one if the store was not empty.

    `elsewhere` has more conditions for another id. Prefer a row deleted at the same moment, then the first.
    """
    deleted_at = stamp_or_none(adopted.deleted_at)
    conditions = (*same, is_null("deleted_at")) if deleted_at is None else same
    if work.first(table, (Equals("id", adopted.id), *conditions), "id") is not None:
        return adopted.id
    if fresh:
        return None
    rows = work.rows.rows(table, ("id", "deleted_at"), (*conditions, *elsewhere))
    return min(rows, key=lambda row: (row[1] != deleted_at, row[0]))[0] if rows else None


def _insert(work: Work, scope: int, memory: Memory) -> int:
    is_entity = memory.kind is Kind.ENTITY
    folded = fold(memory.name)
    values = {
        **row_values(memory),
        "scope_id": scope,
        "folded_name": folded,
        "first_word": name_beginning(folded) if is_entity else None,
        "text_key": None if is_entity else text_key(memory.text),
        # `AdoptLinks` sets these.
        "superseded_by": None,
        "drawn_from": None,
        "similar_to": None,
    }
    id_ = _add_under_own_id(work, "memory", memory.id, values)
    live = memory.deleted_at is None and memory.superseded_at is None
    work.add_passages(id_, [NAME_SPAN] if is_entity else passage_spans(memory.text), live=live)
    tag(work, id_, memory.tags)
    for former in memory.former:
        revision = work.add(
            "revision", memory_id=id_, text=former.text, since=stamp(former.since), until=stamp(former.until)
        )
        work.add_passages(id_, passage_spans(former.text), live=False, revision=revision)
    absences = [
        {"memory_id": id_, "since": stamp(gone.since), "why": gone.why, "until": stamp(gone.until)}
        for gone in memory.absences
    ]
    work.rows.put("absence", absences, keep=True)
    return id_


def _known_observations(work: Work, entity: int, memory: Memory) -> dict[int, int]:
    """Map ids of the memory's observations to the ids of equal ones that the store has already."""
    in_force: dict[str, int] = {}
    ever: dict[tuple[str, int], int] = {}
    # Read backwards, so that the first of several equal ones remains in the dictionaries.
    for id_, content, created_at, deleted_at, superseded_at in work.rows.rows(
        "observation",
        ("id", "content", "created_at", "deleted_at", "superseded_at"),
        (Equals("memory_id", entity),),
        order=("id",),
        descending=True,
    ):
        ever[content, created_at] = id_
        if deleted_at is None and superseded_at is None:
            in_force[content] = id_
    found = {
        seen.id: in_force.get(seen.content)
        if seen.in_force
        else ever.get((seen.content, stamp(seen.created_at)))
        for seen in memory.observations
    }
    return {id_: place for id_, place in found.items() if place is not None}


# Values that another store learnt from usage. Those that this store learnt stay as they are.


def adopt_learnt(work: Work, change: AdoptLearnt) -> Outcome:
    """Add a learnt value. The outcome has the id of its row, and lists the parts that could not be added."""
    return _LEARNT_RULES[type(change.learnt)](work, change.learnt, fresh=change.fresh)


def _put_new(work: Work, table: Table, rows: Sequence[dict[str, Value]], *, fresh: bool = False) -> int:
    """Add the rows whose key does not exist, and return how many; with `fresh`, add all."""
    if not rows:
        return 0
    key = TABLES[table].key
    keys: list[Any] = [tuple(row[column] for column in key) for row in rows]
    there = set() if fresh else set(work.rows.rows(table, key, (KeyIn(key, keys),)))
    new = {own: row for own, row in zip(keys, rows, strict=True) if own not in there}
    work.rows.put(table, list(new.values()), keep=True)
    return len(new)


def _columns(
    learnt: Learnt | LearntCalibration | LearntFeedback, *skipped: str, **columns: Value
) -> dict[str, Value]:
    """Return the fields of a learnt value as columns of the same names, and other columns."""
    values: dict[str, Any] = {
        each.name: getattr(learnt, each.name)
        for each in fields(learnt)
        if each.name not in {"id", "scope", *skipped}
    }
    for name, value in values.items():
        if isinstance(value, datetime):
            values[name] = stamp(value)
        elif isinstance(value, tuple):
            values[name] = json.dumps(value, separators=(",", ":"))
    return {**values, **columns}


def _adopt_scope(work: Work, learnt: LearntScope, *, fresh: bool) -> Outcome:
    scope = work.scope_id(learnt.scope)
    calibrations = [_columns(each, scope_id=scope) for each in learnt.calibrations]
    new = _put_new(work, "calibration", calibrations)
    left = []
    if work.row("scope", scope, "temper") != (learnt.temper,):
        if fresh:
            new += work.set("scope", scope, temper=learnt.temper)
        else:
            left.append("this store has its own balance of dreams")
    names: list[dict[str, Value]] = [
        {"name": dismissed_setting(learnt.scope, each.key), "value": each.at} for each in learnt.dismissed
    ]
    if fresh:
        new += _put_new(work, "setting", names)
    elif not all(work.first("setting", (Equals("name", name["name"]),), "name") for name in names):
        left.append("dismissed review items refer to ids of the other store")
    return Outcome(created=new > 0, count=new, error="; ".join(left) or None)


def _adopt_usage(work: Work, learnt: LearntUsage, *, fresh: bool) -> Outcome:
    memory = learnt.memory

    def pair(other: int) -> dict[str, Value]:
        # Ids may be in another order here.
        return {"first_id": min(memory, other), "second_id": max(memory, other)}

    tables: dict[Table, list[dict[str, Value]]] = {
        "usage": [],
        "usage_day": [{"memory_id": memory, "day": (day - date(1970, 1, 1)).days} for day in learnt.days],
        "cooccurrence": [
            {**pair(each.memory), "count": each.count, "last_at": stamp(each.last_at)}
            for each in learnt.together
        ],
        "link": [{**pair(each.memory), "weight": each.weight} for each in learnt.links],
    }
    if learnt.last_at is not None:
        tables["usage"] = [{"memory_id": memory, "count": learnt.count, "last_at": stamp(learnt.last_at)}]
    new = sum(_put_new(work, table, rows, fresh=fresh) for table, rows in tables.items())
    return Outcome(ids=(memory,), created=new > 0, count=new)


def _adopt_numbers(work: Work, learnt: LearntNumbers, *, fresh: bool) -> Outcome:
    scope = work.scope_id(learnt.scope)
    values = _columns(learnt, scope_id=scope)
    same = ("scope_id", "profile", "at", "knobs")
    if not fresh and _find_equal(work, "tuning", values, same) is None:
        own = (Equals("scope_id", scope), Equals("profile", learnt.profile))
        newest = work.first("tuning", own, "at", newest=True)
        if newest is not None and newest[0] >= stamp(learnt.at):
            return Outcome(error=f"the profile {learnt.profile!r} was tuned here later")
    return _add_unless_known(work, "tuning", learnt.id, values, same, fresh=fresh)


def _adopt_recall(work: Work, learnt: LearntRecall, *, fresh: bool) -> Outcome:
    scope = work.scope_id(learnt.scope)
    values = _columns(learnt, "memories", "places", scope_id=scope)
    if not fresh:
        values["ordinal"] = 1 + _newest_row(work, "recall", scope, "ordinal")[0]
    same = ("scope_id", "at", "session", "query", "profile")
    outcome = _add_unless_known(work, "recall", learnt.id, values, same, fresh=fresh)
    if outcome.created:
        places = learnt.places or range(1, len(learnt.memories) + 1)
        shown: list[dict[str, Value]] = [
            {"memory_id": memory, "recall_id": outcome.ids[0], "place": place}
            for memory, place in zip(learnt.memories, places, strict=True)
        ]
        work.rows.put("recall_hit", shown, keep=True)
    return outcome


def _adopt_answer(work: Work, learnt: LearntAnswer, *, fresh: bool) -> Outcome:
    scope = work.scope_id(learnt.scope)
    sizes = {"bytes": learnt.size, "bytes_before": learnt.before}
    values = _columns(learnt, "size", "before", "feedback", scope_id=scope, **sizes)
    if not fresh:
        ordinal, before, size = _newest_row(work, "answer_log", scope, "ordinal", "bytes_before", "bytes")
        values |= {"ordinal": ordinal + 1, "bytes_before": before + size}
    outcome = _add_unless_known(
        work, "answer_log", learnt.id, values, ("scope_id", "at", "handle"), fresh=fresh
    )
    (answer,) = outcome.ids
    new = 0
    for each in learnt.feedback:
        key: dict[str, Value] = {"answer_id": answer, "memory_id": each.memory, "kind": each.kind}
        if outcome.created or work.first_id("feedback", _equal(key)) is None:
            graded = _columns(each, "memory", **key)
            _add_under_own_id(work, "feedback", each.id if fresh else 0, graded)
            new += 1
    return Outcome(ids=(answer,), created=outcome.created or new > 0, count=new + outcome.count)


def _adopt_dream(work: Work, learnt: LearntDream, *, fresh: bool) -> Outcome:
    values = _columns(learnt, scope_id=work.scope_id(learnt.scope))
    same = ("scope_id", "at", "phases")
    if not fresh and _find_equal(work, "dream", values, same) is None:
        return Outcome(error="the journal of a dream is valid only in the store that the dream changed")
    return _add_unless_known(work, "dream", learnt.id, values, same, fresh=fresh)


def _adopt_setting(work: Work, learnt: LearntSetting, *, fresh: bool) -> Outcome:
    """Copy a setting to an empty store. A store with data keeps its own settings."""
    if fresh:
        work.rows.put("setting", [{"name": learnt.name, "value": learnt.value}])
    return Outcome(created=fresh, count=int(fresh))


_LEARNT_RULES: dict[type[Learnt], Callable[..., Outcome]] = {
    LearntScope: _adopt_scope,
    LearntUsage: _adopt_usage,
    LearntNumbers: _adopt_numbers,
    LearntRecall: _adopt_recall,
    LearntAnswer: _adopt_answer,
    LearntDream: _adopt_dream,
    LearntSetting: _adopt_setting,
}


def _add_unless_known(
    work: Work, table: Table, id_: int, values: dict[str, Value], same: Sequence[str], *, fresh: bool
) -> Outcome:
    """Add a row, unless the store has one that is equal in these columns.

    In an empty store, the row keeps its id. Otherwise it gets the next id, since logs are ordered by id.
    """
    existing = None if fresh else _find_equal(work, table, values, same)
    if existing is not None:
        return Outcome(ids=(existing,))
    made = _add_under_own_id(work, table, id_ if fresh else 0, values)
    return Outcome(ids=(made,), created=True, count=1)


def _find_equal(work: Work, table: Table, values: dict[str, Value], same: Sequence[str]) -> int | None:
    return work.first_id(table, [Equals(column, values[column]) for column in same])


def _newest_row(work: Work, table: Table, scope: int, *columns: str) -> tuple[int, ...]:
    row = work.first(table, (Equals("scope_id", scope),), *columns, newest=True)
    return row or (0,) * len(columns)


RULES: dict[type[Change], Callable[[Work, Any], Outcome]] = {
    Adopt: adopt,
    AdoptRelation: adopt_relation,
    AdoptLinks: adopt_links,
    AdoptLearnt: adopt_learnt,
}
