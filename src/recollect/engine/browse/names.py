"""What memories are sorted by: tags, categories, sessions and entities, with how many there are of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from recollect.conditions import (
    IN_FORCE,
    BelongsTo,
    Compares,
    Condition,
    Contains,
    Equals,
    OneOf,
    is_null,
    is_set,
    null_or_after,
)
from recollect.engine.browse.results import EntityCounts, NameCount
from recollect.engine.services import Services
from recollect.ports import Snapshot
from recollect.ranking.factors.recency import microseconds
from recollect.records import Memory, Session
from recollect.retrieval.records import memories_by_id, memories_where, moment
from recollect.text.tokens import fold

EntityOrder = Literal["name", "newest", "most_mentioned"]


def tag_counts(services: Services) -> list[NameCount]:
    """Every tag that something in force has, the most frequent first, in its most frequent spelling."""
    with services.read() as view:
        own = (OneOf("scope_id", services.scope_ids(view)), *IN_FORCE)
        spelt = view.count("tag", (BelongsTo("memory_id", "memory", own),), by="tag")
    counts: Counter[str] = Counter()
    best: dict[str, tuple[int, str]] = {}
    for tag, count in spelt.items():
        key = fold(str(tag))
        counts[key] += count
        best[key] = max(best.get(key, (0, "")), (count, str(tag)))
    return _most_first({best[key][1]: count for key, count in counts.items()})


def category_counts(services: Services) -> list[NameCount]:
    """Every category that something in force has, the most frequent first."""
    with services.read() as view:
        own = (OneOf("scope_id", services.scope_ids(view)), is_set("category"), *IN_FORCE)
        found = view.count("memory", own, by="category")
    return _most_first({str(name): count for name, count in found.items()})


def _most_first(counts: dict[str, int]) -> list[NameCount]:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [NameCount(name, count) for name, count in ordered]


# Conversations


def session_page(services: Services, start: int, limit: int) -> tuple[list[Session], int]:
    """Conversations from the one with the newest turn on, and how many there are.

    One look at the end of each tells their order; only of those on the page, all turns are counted.
    """
    with services.read() as view:
        found: list[tuple[int, str, int]] = []
        for scope in services.scope_ids(view):
            names = [
                str(name)
                for name in view.count("memory", (*_messages(scope), is_set("session")), by="session")
            ]
            ends = dict(_edge(view, scope, names, newest=True))
            found += [(-ends[name], name, scope) for name in names if name in ends]
        page = sorted(found)[start : start + limit]
        return [_session(view, scope, name) for _, name, scope in page], len(found)


def _messages(scope: int) -> tuple[Condition, ...]:
    """Only messages have a place in a session. Their kind is not asked for: an index of sessions finds them,
    and planners would take one of kinds for as good."""
    return Equals("scope_id", scope), is_set("position"), is_null("deleted_at")


def _edge(view: Snapshot, scope: int, names: Sequence[str], *, newest: bool = False) -> list[tuple[str, int]]:
    """When the first or the last turn of each was said."""
    if not names:
        return []
    rows = view.rows(
        "memory",
        ("session", "created_at"),
        _messages(scope),
        order=("position",),
        newest_first=newest,
        limit=1,
        each=OneOf("session", names),
    )
    return [(name, at) for name, at in rows]  # a row is of any length


def _session(view: Snapshot, scope: int, name: str) -> Session:
    own = (*_messages(scope), Equals("session", name))
    roles = view.count("memory", (*own, is_null("speaker"), is_set("role")), by="role")
    speakers = view.count("memory", (*own, is_set("speaker")), by="speaker")
    (_, first), (_, last) = _edge(view, scope, [name])[0], _edge(view, scope, [name], newest=True)[0]
    return Session(
        name,
        view.count("memory", own)[None],
        moment(first),
        moment(last),
        tuple(sorted(map(str, (*speakers, *roles)))),
    )


def session_turns(
    services: Services, session: str, after: int, limit: int, *, newest_first: bool = False
) -> list[Memory]:
    """Messages of a session after this position; with `newest_first`, before it (0: from the end)."""
    with services.read() as view:
        found: list[Memory] = []
        for scope in services.scope_ids(view):
            beyond: tuple[Condition, ...] = (Compares("position", ">", after),)
            if newest_first:
                beyond = (Compares("position", "<", after),) if after else ()
            own = (*_messages(scope), Equals("session", session), *beyond)
            ids = view.rows(
                "memory", ("id",), own, order=("position",), newest_first=newest_first, limit=limit
            )
            found += memories_where(view, (OneOf("id", [id_ for (id_,) in ids]),))
    return sorted(found, key=lambda turn: (turn.position or 0, turn.id), reverse=newest_first)[:limit]


# Entities


def entity_page(
    services: Services,
    *,
    type_: str | None,
    contains: str | None,
    order: EntityOrder,
    start: int,
    limit: int,
) -> list[EntityCounts]:
    """Live entities with how much is known of each, from this place on."""
    with services.read() as view:
        own: tuple[Condition, ...] = (
            OneOf("scope_id", services.scope_ids(view)),
            Equals("kind", "entity"),
            *IN_FORCE,
        )
        own += () if type_ is None else (Equals("type", type_),)
        own += () if contains is None else (Contains("name", contains),)
        ids = _entity_ids(view, own, order, start + limit)[start:]
        found = memories_by_id(view, ids)
        return _with_counts(view, [found[id_] for id_ in ids], microseconds(services.clock()))


def _entity_ids(view: Snapshot, own: tuple[Condition, ...], order: EntityOrder, most: int) -> list[int]:
    if order != "most_mentioned":
        by = ("name", "id") if order == "name" else ("id",)
        rows = view.rows("memory", ("id",), own, order=by, newest_first=order == "newest", limit=most)
        return [id_ for (id_,) in rows]
    counts = view.count("mention", (BelongsTo("entity_id", "memory", own),), by="entity_id")
    mentioned = sorted(counts, key=lambda id_: (-counts[id_], id_))[:most]
    named = [int(str(id_)) for id_ in mentioned]
    if len(named) < most:
        # Nobody speaks of the others; they follow by name.
        every = view.rows("memory", ("id",), own, order=("name", "id"), limit=most)
        named += [id_ for (id_,) in every if id_ not in counts]
    return named[:most]


def _with_counts(view: Snapshot, entities: Sequence[Memory], now: int) -> list[EntityCounts]:
    ids = [entity.id for entity in entities]
    mentions = view.count("mention", (OneOf("entity_id", ids),), by="entity_id")
    holds = (is_null("deleted_at"), null_or_after("until", now))
    ends = [
        view.count("relation", (OneOf(column, ids), *holds), by=column)
        for column in ("source_id", "target_id")
    ]
    return [
        EntityCounts(
            entity,
            len(entity.in_force),
            sum(counts.get(entity.id, 0) for counts in ends),
            mentions.get(entity.id, 0),
        )
        for entity in entities
    ]
