"""One memory with everything around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from recollect.domain.records import Kind, Memory, Session, memory_at
from recollect.domain.results import (
    ConflictingMemory,
    EntityCounts,
    MemoryVersion,
    NameCount,
    Showing,
    SimilarMemory,
    Usage,
    WholeMemory,
)
from recollect.domain.tables import (
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
from recollect.dreams.dreaming import linked_memories
from recollect.memories.corrections import history
from recollect.ranking.factors import microseconds
from recollect.search.candidates import Search
from recollect.search.contradictions import contradicted_texts, stated_texts
from recollect.search.rows import memories_by_id, memories_where, moment, relations_of, replaced_by, scope_id
from recollect.search.texts import memory_vectors, turns_of
from recollect.services import Services
from recollect.stores.port import Snapshot
from recollect.text.near_duplicates import has_meaning, near_duplicate, usual_cosine
from recollect.text.tokens import fold

_COMPARED = 16
_TURNS_AROUND = 3
_MOST_LISTED = 200


def whole_memory(services: Services, id_: int, showings: int, as_of: datetime | None) -> WholeMemory:
    """Return a memory with everything known of it. It does not count as shown."""
    services.usage.settle(services.usage.patience_seconds)
    told = history(services, id_)
    memory = told.memory
    with services.read() as view:
        named = memories_by_id(view, memory.mentions[:_MOST_LISTED])
        by = memories_by_id(view, [memory.superseded_by] if memory.superseded_by else [])
        supersedes = memories_by_id(view, replaced_by(view, id_)[:_MOST_LISTED])
        relations = relations_of(view, [id_], deleted=True) if memory.kind is Kind.ENTITY else []
        drawn = _drawn_from(view, id_)
        neighbours = _neighbours(view, memory)
        similar, conflicts = _alike(services, view, memory)
        usage = _usage(view, id_)
        shown = _showings(view, memory, showings)
    return WholeMemory(
        memory=memory_at(memory, as_of),
        versions=_versions(memory),
        events=told.events,
        supersedes=tuple(supersedes.values()),
        superseded_by=by.get(memory.superseded_by or 0),
        mentions=tuple(named[each] for each in memory.mentions[:_MOST_LISTED] if each in named),
        relations=tuple(relations[-_MOST_LISTED:]),
        drawn=tuple(drawn),
        neighbours=tuple(neighbours),
        similar=similar,
        conflicts=conflicts,
        links=linked_memories(services, id_)[:_MOST_LISTED],
        usage=usage,
        showings=tuple(shown),
    )


def _versions(memory: Memory) -> tuple[MemoryVersion, ...]:
    if memory.kind is Kind.ENTITY:
        return ()
    former = [MemoryVersion(each.text, each.since, each.until) for each in memory.former]
    since = memory.former[-1].until if memory.former else memory.created_at
    return (*former, MemoryVersion(memory.text, since, None))


def _drawn_from(view: Snapshot, message: int) -> Sequence[Memory]:
    rows = view.rows("memory", ("id",), (Equals("drawn_from", message),), limit=_MOST_LISTED)
    return list(memories_by_id(view, [id_ for (id_,) in rows]).values())


def _neighbours(view: Snapshot, memory: Memory) -> Sequence[Memory]:
    """For a note, return the neighbours of its message."""
    message = memory
    if memory.drawn_from is not None:
        message = memories_by_id(view, [memory.drawn_from]).get(memory.drawn_from, memory)
    if message.session is None or message.position is None:
        return []
    first, last = message.position - _TURNS_AROUND, message.position + _TURNS_AROUND
    return turns_of(view, scope_id(view, message.scope), message.session, first, last)


def _alike(
    services: Services, view: Snapshot, memory: Memory
) -> tuple[tuple[SimilarMemory, ...], tuple[ConflictingMemory, ...]]:
    """Find near-repeats and contradictions among the nearest memories."""
    if memory.deleted_at is not None or memory.superseded_at is not None:
        return (), ()
    search = Search(view, services.unexpired())
    vectors = memory_vectors(view, [memory.id], search.model).get(memory.id, ())
    cosines: dict[int, float] = {}
    said = memory.text or memory.name
    if vectors and has_meaning(said):
        name = "" if search.model is None else search.model[1].name
        cosines = {
            hit.id: usual_cosine(hit.score, name) for hit in search.by_meaning(vectors[0], _COMPARED + 1)
        }
    by_words = [] if cosines else [hit.id for hit in search.by_words(said, _COMPARED + 1)]
    nearest = [id_ for id_ in (*cosines, *by_words) if id_ != memory.id]
    others = list(stated_texts(search.memories, nearest))
    similar = [
        SimilarMemory(other.id, other.text, share)
        for other in others
        if memory.kind is not Kind.ENTITY and other.observation is None
        if (share := near_duplicate(memory.text, other.text, min(1.0, cosines.get(other.id, 0.0))))
        is not None
    ]
    best_first = sorted(similar, key=lambda one: (-one.similarity, one.id))
    return tuple(best_first), contradicted_texts(memory, others)


def _usage(view: Snapshot, id_: int) -> Usage:
    own = (Equals("memory_id", id_),)
    ((count, last_at),) = view.rows("use", ("count", "last_at"), own) or [(0, None)]
    days = view.count("use_day", own)[None]
    opened = view.count("feedback", (*own, Equals("kind", "opened")))[None]
    return Usage(count, opened, days, None if last_at is None else moment(last_at))


def _showings(view: Snapshot, memory: Memory, most: int) -> list[Showing]:
    places: dict[int, int] = dict(
        view.rows(
            "recalled",
            ("recall_id", "place"),
            (Equals("memory_id", memory.id),),
            order=("recall_id",),
            newest_first=True,
            limit=most,
        )
    )
    rows = view.rows("recall", ("id", "at", "query", "profile"), (OneOf("id", list(places)),))
    # An answer and its place in the log are written at one moment.
    logged = {
        (at, query): id_
        for id_, at, query in view.rows(
            "shadow",
            ("id", "at", "query"),
            (Equals("scope_id", scope_id(view, memory.scope)), OneOf("at", [row[1] for row in rows])),
        )
    }
    return [
        Showing(moment(at), places[id_], query, profile, logged.get((at, query or "")))
        for id_, at, query, profile in sorted(rows, reverse=True)
    ]


# Groups of memories: tags, categories, sessions and entities, with their counts.

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
    """Return conversations from `start` on, the newest turn first, and their number.

    The end of each gives the order; turns are counted only for the page.
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
        # Entities without mentions follow, by name.
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
