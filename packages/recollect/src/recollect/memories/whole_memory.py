"""One memory with everything around it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from recollect.domain.records import Kind, Memory, memory_at
from recollect.domain.results import (
    ConflictingMemory,
    MemoryVersion,
    Showing,
    SimilarMemory,
    Usage,
    WholeMemory,
)
from recollect.domain.tables import (
    Equals,
    OneOf,
)
from recollect.dreams.dreaming import linked_memories
from recollect.memories.corrections import history
from recollect.memories.notes import nearest_cosines
from recollect.search.candidates import Search
from recollect.search.contradictions import contradicted_texts, stated_texts
from recollect.search.rows import memories_by_id, moment, relations_of, replaced_by, scope_id
from recollect.search.texts import memory_vectors, turns_of
from recollect.services import Services
from recollect.stores.port import Snapshot
from recollect.text.near_duplicates import near_duplicate

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
        drawn_ids = view.rows("memory", ("id",), (Equals("drawn_from", id_),), limit=_MOST_LISTED)
        drawn = memories_by_id(view, [drawn_id for (drawn_id,) in drawn_ids])
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
        drawn=tuple(drawn.values()),
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
    said = memory.text or memory.name
    nearest = nearest_cosines(search, said, vectors[0] if vectors else None, _COMPARED + 1)
    nearest.pop(memory.id, None)
    others = list(stated_texts(search.memories, list(nearest)))
    similar = [
        SimilarMemory(other.id, other.text, share)
        for other in others
        if memory.kind is not Kind.ENTITY and other.observation is None
        if (share := near_duplicate(memory.text, other.text, min(1.0, nearest[other.id]))) is not None
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
