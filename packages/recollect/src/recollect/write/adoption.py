"""Taking over what another store exported: as it was, and once however often it is brought.

An export adds; it never takes away. What it holds as forgotten is history, and is known here under
whatever life it has by now. What it holds as live comes back, also if it was forgotten here since.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.domain.changes import Adopt, AdoptLinks, AdoptRelation, Outcome
from recollect.domain.errors import NotFound
from recollect.domain.records import Kind, Memory, Observation, Relation
from recollect.domain.tables import IN_FORCE, Equals, Value, Where, is_null, is_set
from recollect.search.entities import exact_entity
from recollect.search.rows import json_or_none, row_values, stamp, stamp_or_none
from recollect.text.names import name_beginning
from recollect.text.near_duplicates import text_key
from recollect.text.passages import passage_spans
from recollect.text.tokens import fold
from recollect.write.entities import NAME_SPAN, relation_in_force, settle_type
from recollect.write.texts import tag

if TYPE_CHECKING:
    from recollect.domain.tables import Table
    from recollect.write.work import Work


def adopt(work: Work, change: Adopt) -> Outcome:
    """Insert the memory under its own id if that is free, unless it is here already."""
    # Whether an id is free is asked of the whole store.
    work.rows.hold(None)
    memory = change.memory
    scope = work.scope_id(memory.scope)
    standing = _standing(work, scope, memory, fresh=change.fresh)
    if standing is None:
        id_ = _insert(work, scope, memory)
        known: dict[int, int] = {}
        live = memory.deleted_at is None and memory.superseded_at is None
    else:
        id_ = standing
        known = _standing_observations(work, id_, memory)
        live = work.in_force("memory", id_)
    new = [observation for observation in memory.observations if observation.id not in known]
    if not change.fresh:
        # Only in a store that was empty is it sure that the correction has the id that it had.
        new = [replace(observation, corrected_by=None) for observation in new]
    made = {observation.id: _insert_observation(work, id_, observation, live=live) for observation in new}
    _link_observations(work, new, known | made)
    took = None
    if standing is not None and memory.kind is Kind.ENTITY and memory.deleted_at is None:
        # The type `unknown` is replaced by the one in the export.
        took, _ = settle_type(work, id_, memory.type)
    if (new or took) and standing is not None:
        work.set("memory", id_, updated_at=work.at)
    if new or took or standing is None:
        derives = standing is None and not change.keeps_mentions
        work.touch(id_, scope, text=derives, named=derives)
    return Outcome(ids=(id_,), names=(memory.name,), created=standing is None, count=len(new), took_type=took)


def adopt_relation(work: Work, change: AdoptRelation) -> Outcome:
    work.rows.hold(None)
    relation = change.relation
    for end in (relation.source, relation.target):
        if work.row("memory", end, "kind") != ("entity",):
            raise NotFound(f"Relation {relation.id} leads to memory {end}, which is not an entity here.")
    standing = _standing_relation(work, relation, fresh=change.fresh)
    if standing is not None:
        return Outcome(relations=(standing,))
    made = _add_under_own_id(
        work,
        "relation",
        relation.id,
        {
            "source_id": relation.source,
            "target_id": relation.target,
            "type": relation.type,
            "context": relation.context,
            "created_at": stamp(relation.created_at),
            "since": stamp_or_none(relation.since),
            "until": stamp_or_none(relation.until),
            "deleted_at": stamp_or_none(relation.deleted_at),
        },
    )
    return Outcome(relations=(made,), created=True)


def adopt_links(work: Work, change: AdoptLinks) -> Outcome:
    """Set links that are not set yet, as far as both ends are here."""
    linked = 0
    for memory, later in change.superseded:
        if work.exists("memory", later):
            open_ = (Equals("id", memory), is_null("superseded_by"), is_set("superseded_at"))
            linked += work.rows.patch("memory", open_, {"superseded_by": later})
    for relation, first in change.inverse:
        other = work.row("relation", first, "inverse_of")
        if other is not None and other[0] != relation:
            unset = (Equals("id", relation), is_null("inverse_of"))
            linked += work.rows.patch("relation", unset, {"inverse_of": first})
    for told, pairs in ((0, change.mentions), (1, change.about)):
        for text, entity in pairs:
            one, other = (work.row("memory", id_, "scope_id", "kind") for id_ in (text, entity))
            if one and other == (one[0], "entity") and one != other:
                work.rows.put(
                    "mention", [{"memory_id": text, "entity_id": entity, "told": told}], keep=not told
                )
                linked += 1
    for column, pairs in (("drawn_from", change.drawn), ("similar_to", change.similar)):
        for memory, other_memory in pairs:
            if work.exists("memory", other_memory):
                linked += work.rows.patch(
                    "memory", (Equals("id", memory), is_null(column)), {column: other_memory}
                )
    return Outcome(count=linked)


def _add_under_own_id(work: Work, table: Table, id_: int, values: dict[str, Value]) -> int:
    """Insert a row with its own id, or with the next free one if that is taken.

    A row that never had an id of ours has a negative one.
    """
    if id_ > 0 and not work.exists(table, id_):
        values = {"id": id_, **values}
    return work.rows.put(table, [values])[0]


def _standing(work: Work, scope: int, memory: Memory, *, fresh: bool) -> int | None:
    """The same memory, here already: an entity by its name, a text by its words and its time.

    A note that a program knows by a name is known by that.
    """
    is_entity = memory.kind is Kind.ENTITY
    if is_entity and memory.deleted_at is None:
        return exact_entity(work.rows, scope, memory.name)
    in_force = memory.deleted_at is None and memory.superseded_at is None
    if memory.ref is not None and in_force:
        named = (Equals("scope_id", scope), Equals("ref", memory.ref), *IN_FORCE)
        known = work.first("memory", named, "id")
        return None if known is None else int(known[0])
    same = (
        Equals("scope_id", scope),
        Equals("kind", memory.kind.value),
        Equals("name", memory.name),
        Equals("text", memory.text),
        Equals("created_at", stamp(memory.created_at)),
        Equals("session", memory.session),
        Equals("position", memory.position),
        Equals("ref", memory.ref),
        Equals("metadata", json_or_none(memory.metadata)),
    )
    elsewhere = (
        Equals("folded_name", fold(memory.name)) if is_entity else Equals("text_key", text_key(memory.text)),
        Equals("role", memory.role),
        Equals("speaker", memory.speaker),
    )
    return _same_row(work, "memory", memory, same, elsewhere, fresh=fresh)


def _standing_relation(work: Work, relation: Relation, *, fresh: bool) -> int | None:
    if relation.until is None and relation.deleted_at is None:
        return relation_in_force(work, relation.source, relation.target, relation.type)
    same = (
        Equals("source_id", relation.source),
        Equals("target_id", relation.target),
        Equals("type", relation.type),
        Equals("created_at", stamp(relation.created_at)),
        Equals("since", stamp_or_none(relation.since)),
        Equals("until", stamp_or_none(relation.until)),
    )
    return _same_row(work, "relation", relation, same, (), fresh=fresh)


def _same_row(
    work: Work, table: Table, adopted: Memory | Relation, same: Where, elsewhere: Where, *, fresh: bool
) -> int | None:
    """The equal row under the same id; unless the store was empty, else under another one.

    Of several, the first that was deleted at the same moment, or else the first of all.
    """
    deleted_at = stamp_or_none(adopted.deleted_at)
    there = (*same, is_null("deleted_at")) if deleted_at is None else same
    if work.first(table, (Equals("id", adopted.id), *there), "id") is not None:
        return adopted.id
    if fresh:
        return None
    rows = work.rows.rows(table, ("id", "deleted_at"), (*there, *elsewhere))
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
        # These follow with `AdoptLinks`.
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
    work.rows.put(
        "absence",
        [
            {"memory_id": id_, "since": stamp(gone.since), "why": gone.why, "until": stamp(gone.until)}
            for gone in memory.absences
        ],
        keep=True,
    )
    return id_


def _standing_observations(work: Work, entity: int, memory: Memory) -> dict[int, int]:
    """Return the ids here of the memory's observations that exist already."""
    in_force: dict[str, int] = {}
    ever: dict[tuple[str, int], int] = {}
    # From the last to the first, so that among equals the first has the word.
    for id_, content, created_at, deleted_at, superseded_at in work.rows.rows(
        "observation",
        ("id", "content", "created_at", "deleted_at", "superseded_at"),
        (Equals("memory_id", entity),),
        order=("id",),
        newest_first=True,
    ):
        ever[content, created_at] = id_
        if deleted_at is None and superseded_at is None:
            in_force[content] = id_
    places = {
        seen.id: in_force.get(seen.content)
        if seen.in_force
        else ever.get((seen.content, stamp(seen.created_at)))
        for seen in memory.observations
    }
    return {id_: place for id_, place in places.items() if place is not None}


def _insert_observation(work: Work, entity: int, observation: Observation, *, live: bool) -> int:
    values = {
        **row_values(observation),
        "memory_id": entity,
        # These follow, once the ids of all are known.
        "superseded_by": None,
        "similar_to": None,
    }
    made = _add_under_own_id(work, "observation", observation.id, values)
    work.add_passages(
        entity, passage_spans(observation.content), observation=made, live=live and observation.in_force
    )
    return made


def _link_observations(work: Work, new: Sequence[Observation], places: dict[int, int]) -> None:
    """Which replaced which, under the ids they have here."""
    for observation in new:
        if observation.superseded_by is not None or observation.similar_to is not None:
            work.set(
                "observation",
                places[observation.id],
                superseded_by=places.get(observation.superseded_by or 0),
                similar_to=places.get(observation.similar_to or 0),
            )
