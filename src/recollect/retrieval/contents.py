"""What a store contains: pages of memories and relations, how many, whose they are, and its settings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.conditions import (
    IN_FORCE,
    BelongsTo,
    Compares,
    Condition,
    Equals,
    OneOf,
    is_null,
    is_set,
    null_or_after,
)
from recollect.ports import Snapshot
from recollect.records import Counts, Kind, Memory, NamedToken, Relation, Scope, ScopeCounts
from recollect.retrieval.filters import allowed, lifecycle, narrowing
from recollect.retrieval.passages import model_row
from recollect.retrieval.records import (
    memories_where,
    moment,
    moment_or_none,
    relations_where,
    scope_ids,
    stamp,
    stamp_or_none,
)

if TYPE_CHECKING:
    from recollect.query import Filter
    from recollect.tables import Table


LAST_ID = 2**63 - 1
"""The highest id that a store could give."""
TOKENS = "tokens"
"""The setting that holds the named tokens: all of them in one small document."""


def memory_page(
    snapshot: Snapshot, where: Filter | None, after: int, limit: int, *, newest_first: bool = False
) -> Sequence[Memory]:
    """Memories by ascending id, from the first above `after`. None: of every scope, also forgotten.

    With `newest_first`, by descending id, from the first below `after`; 0: from the newest.
    """
    beyond = Compares("id", "<", after or LAST_ID) if newest_first else Compares("id", ">", after)
    if where is None:
        return memories_where(snapshot, (beyond,), limit=limit)
    scopes = scope_ids(snapshot, where.owner, where.agent)
    if where.refs is not None:
        # Asked for by themselves, or a store may rather go through all notes in order of id.
        named = (OneOf("scope_id", scopes), OneOf("ref", where.refs))
        asked = [id_ for (id_,) in snapshot.rows("memory", ("id",), named)]
        found = memories_where(snapshot, (OneOf("id", asked), *allowed(where, scopes), beyond))
        return sorted(found, key=lambda memory: memory.id, reverse=newest_first)[:limit]
    # The first of each scope and kind, merged: an index holds each of them in order of id.
    narrow = narrowing(replace(where, kinds=frozenset(Kind)))
    ids = [
        id_
        for scope in scopes
        for kind in sorted(where.kinds)
        for (id_,) in snapshot.rows(
            "memory",
            ("id",),
            (Equals("scope_id", scope), Equals("kind", kind), beyond, *lifecycle(where), *narrow),
            newest_first=newest_first,
            limit=limit,
        )
    ]
    page = memories_where(snapshot, (OneOf("id", sorted(ids, reverse=newest_first)[:limit]),))
    return sorted(page, key=lambda memory: memory.id, reverse=newest_first)


def relation_page(snapshot: Snapshot, where: Filter | None, after: int, limit: int) -> Sequence[Relation]:
    """Relations by ascending id, from the first above `after`, ended ones included.

    Those of which the filter lets both ends through. None: of every scope, deleted ones too.
    """
    if where is None:
        return relations_where(snapshot, (Compares("id", ">", after),), limit)
    found: list[Relation] = []
    there = () if where.deleted else (is_null("deleted_at"),)
    visible = allowed(where, scope_ids(snapshot, where.owner, where.agent))
    while len(found) < limit:
        page = relations_where(snapshot, (Compares("id", ">", after), *there), limit)
        if not page:
            break
        ends = {id_ for relation in page for id_ in (relation.source, relation.target)}
        seen = {id_ for (id_,) in snapshot.rows("memory", ("id",), (OneOf("id", ends), *visible))}
        found += [each for each in page if each.source in seen and each.target in seen]
        after = page[-1].id
    return found[:limit]


def count_by_kind(snapshot: Snapshot, where: Filter) -> Mapping[Kind, int]:
    """Live memories that the filter lets through, by kind."""
    scopes = scope_ids(snapshot, where.owner, where.agent)
    counted = snapshot.count("memory", allowed(where, scopes), by="kind")
    return {Kind(str(kind)): count for kind, count in counted.items()}


def all_scopes(snapshot: Snapshot) -> list[Scope]:
    return [Scope(owner, agent) for owner, agent in snapshot.rows("scope", ("owner", "agent"))]


def notes_by_scope(snapshot: Snapshot) -> dict[Scope, int]:
    """Every scope that holds something live, with the number of its notes in force."""
    live = snapshot.count("memory", (is_null("deleted_at"),), by="scope_id")
    notes = snapshot.count("memory", (Equals("kind", "note"), *IN_FORCE), by="scope_id")
    return {
        Scope(owner, agent): notes.get(id_, 0)
        for id_, owner, agent in snapshot.rows("scope", ("id", "owner", "agent"))
        if live.get(id_)
    }


def store_setting(snapshot: Snapshot, name: str) -> str | None:
    rows = snapshot.rows("setting", ("value",), (Equals("name", name),))
    return str(rows[0][0]) if rows else None


def import_setting(scope: Scope, file: str) -> str:
    """The name under which the settings note that a file was brought into a scope."""
    return json.dumps(["imported", scope.owner, scope.agent, file])


def was_imported(snapshot: Snapshot, scope: Scope, file: str) -> bool:
    return store_setting(snapshot, import_setting(scope, file)) is not None


def dismissed_setting(scope: Scope, key: str) -> str:
    """The name under which the settings note that something is left as it is."""
    return json.dumps(["dismissed", scope.owner, scope.agent, key])


def dismissed_keys(snapshot: Snapshot, scope: Scope) -> set[str]:
    start = dismissed_setting(scope, "")[:-2]
    named = (Compares("name", ">=", start), Compares("name", "<", f"{start}\x7f"))
    return {json.loads(name)[-1] for (name,) in snapshot.rows("setting", ("name",), named)}


def topic_setting(topic: str) -> str:
    """The name under which the settings note that something was said of the store."""
    return json.dumps(["told", topic])


def was_told(snapshot: Snapshot, topic: str) -> bool:
    return store_setting(snapshot, topic_setting(topic)) is not None


def named_tokens(snapshot: Snapshot) -> tuple[NamedToken, ...]:
    """By name."""
    return tuple(
        NamedToken(
            name=each["name"],
            digest=each["digest"],
            right=each["right"],
            sees=None if each["sees"] is None else Scope(*each["sees"]),
            created_at=moment(each["created_at"]),
            used_at=moment_or_none(each["used_at"]),
        )
        for each in json.loads(store_setting(snapshot, TOKENS) or "[]")
    )


def tokens_text(tokens: Iterable[NamedToken]) -> str:
    """As `named_tokens` reads them."""
    return json.dumps(
        [
            {
                "name": each.name,
                "digest": each.digest,
                "right": each.right,
                "sees": None if each.sees is None else [each.sees.owner, each.sees.agent],
                "created_at": stamp(each.created_at),
                "used_at": stamp_or_none(each.used_at),
            }
            for each in sorted(tokens, key=lambda token: token.name)
        ]
    )


def scope_counts(snapshot: Snapshot, owner: str, agent: str | None, now: int) -> ScopeCounts:
    """Of these scopes alone, whoever shares the store with them."""
    scopes = scope_ids(snapshot, owner, agent)
    own = OneOf("scope_id", scopes)
    of_live = (own, is_null("deleted_at"))
    read = (Equals("live", 1), BelongsTo("memory_id", "memory", of_live))

    def count(table: Table, *where: Condition) -> int:
        return snapshot.count(table, where)[None]

    model = model_row(snapshot)
    vectors = 0
    if model is not None:
        vectors = count("vector", Equals("model_id", model[0]), BelongsTo("passage_id", "passage", read))
    related = (
        BelongsTo("source_id", "memory", of_live),
        is_null("deleted_at"),
        null_or_after("until", now),
    )
    return ScopeCounts(
        observations=count("observation", *IN_FORCE, BelongsTo("memory_id", "memory", of_live)),
        relations=count("relation", *related),
        forgotten=count("memory", own, is_set("deleted_at")),
        vectors=vectors,
        due=count("due", BelongsTo("passage_id", "passage", read)),
    )


def store_counts(snapshot: Snapshot, size: tuple[int, int] = (0, 0), now: int = 2**63 - 1) -> Counts:
    """Of all scopes together, and of relations those that hold at a moment. The store's size is its bytes and
    the version of its schema.
    """

    def count(table: Table, *where: Condition) -> int:
        return snapshot.count(table, where)[None]

    kinds = snapshot.count("memory", (is_null("deleted_at"),), by="kind")
    forgotten = [id_ for (id_,) in snapshot.rows("memory", ("id",), (is_set("deleted_at"),))]
    observed = count("observation", *IN_FORCE)
    if forgotten:
        observed -= count("observation", *IN_FORCE, OneOf("memory_id", forgotten))
    # Passages that no search reads any more: their vectors, and what waits for one, do not count.
    silent = [id_ for (id_,) in snapshot.rows("passage", ("id",), (Equals("live", 0),))]
    model = model_row(snapshot)
    vectors, due = 0, count("due")
    if model is not None:
        vectors = count("vector", Equals("model_id", model[0]))
    if silent:
        due -= count("due", OneOf("passage_id", silent))
    if silent and model is not None:
        vectors -= count("vector", Equals("model_id", model[0]), OneOf("passage_id", silent))
    return Counts(
        entities=kinds.get("entity", 0),
        notes=kinds.get("note", 0),
        messages=kinds.get("message", 0),
        observations=observed,
        relations=count("relation", is_null("deleted_at"), null_or_after("until", now)),
        forgotten=len(forgotten),
        passages=count("passage", Equals("live", 1)),
        vectors=vectors,
        due=due,
        scopes=count("scope"),
        unnoted=int(store_setting(snapshot, "unnoted") or 0),
        bytes=size[0],
        schema=size[1],
    )
