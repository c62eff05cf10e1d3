"""Browse memories page by page. Browsing is not recorded as usage."""

from __future__ import annotations

from calendar import monthrange
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import islice
from typing import Literal

from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import check_page
from recollect.domain.records import AsOf, Kind, Memory, Session, Status, memory_at
from recollect.domain.results import (
    BrowsePage,
    Bucket,
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
    AnyOf,
    BelongsTo,
    Column,
    Compares,
    Condition,
    Contains,
    Equals,
    HasRow,
    Not,
    OneOf,
    Where,
    is_null,
    is_set,
    null_or_after,
)
from recollect.dreams.dreaming import linked_memories
from recollect.memories.corrections import history
from recollect.memories.notes import nearest_cosines
from recollect.ranking.candidates import DAY
from recollect.ranking.factors import microseconds
from recollect.search.candidates import Search
from recollect.search.contradictions import (
    MAX_COMPARED,
    contradicted_texts,
    stated_texts,
    texts_of,
    vectors_of_texts,
)
from recollect.search.rows import (
    EVENT_TIME,
    ids_superseded_by,
    memories_by_id,
    memories_where,
    moment,
    relations_of,
    scope_id,
    stamp,
)
from recollect.search.texts import memory_vectors, turns_of
from recollect.services import EngineGroup, Services, retry_after_failover
from recollect.stores.port import Snapshot
from recollect.text.near_duplicates import near_duplicate
from recollect.text.tokens import fold
from recollect.write.inputs import as_of_time, aware

# Lists of memories of any kind, filtered and sorted by the store, a page at a time.

State = Literal["in_force", "forgotten", "superseded", "expired", "all"]
"""`in_force`: current memories, which searches find. `all`: memories in any state."""
Order = Literal["newest", "oldest", "importance", "most_used", "last_shown"]
"""`newest` and `oldest` sort by the time of storing."""
EntityOrder = Literal["name", "newest", "most_mentioned"]
TimeOf = Literal["happened", "stored"]
"""`happened`: when it happened or was said; if that is unknown, when it was stored."""
_USAGE_COLUMNS: dict[str, str] = {"most_used": "count", "last_shown": "last_at"}
_NEVER_SHOWN = "Memories that no answer has shown yet are not in this list."
# Number of usage rows in the first batch. Each later batch is `_BATCH_GROWTH` times as large.
_FIRST_BATCH = 1_000
_BATCH_GROWTH = 4

_Key = tuple[float, int]
"""The sort value and the id of a memory."""


@dataclass(frozen=True, slots=True)
class BrowseFilter:
    """A filter for lists of memories. None means any value."""

    kinds: frozenset[Kind] = frozenset(Kind)
    state: State = "in_force"
    category: str | None = None
    tags: frozenset[str] = frozenset()
    """The memory must have all of these tags."""
    session: str | None = None
    entity: int | None = None
    """The text must mention this entity."""
    status: Status | None = None
    pinned: bool | None = None
    contains: str | None = None
    """The text, an entity's name or one of its observations contains this text, ignoring case."""
    since: datetime | None = None
    until: datetime | None = None
    time: TimeOf = "happened"
    """The time that `since` and `until` are compared with."""
    stored_before: datetime | None = None
    """The memory must have been stored before this time."""


def _time_column(time: TimeOf) -> Column:
    return EVENT_TIME if time == "happened" else "created_at"


def _key_of(cursor: str) -> _Key:
    value, _, id_ = cursor.partition(":")
    try:
        number = float(value) if "." in value or "e" in value else int(value)
        return number, int(id_)
    except ValueError:
        raise InvalidInput(
            f"There is no page {cursor[:40]!r}; pass the `cursor` of the previous page, or leave it out."
        ) from None


def _conditions(wanted: BrowseFilter, now: int) -> Iterator[Condition]:
    """Yield all conditions except scope and kind, the first columns of the indexes."""
    states: dict[State, Where] = {
        "in_force": (*IN_FORCE, null_or_after("expires_at", now)),
        "forgotten": (is_set("deleted_at"),),
        "superseded": (is_null("deleted_at"), is_set("superseded_at")),
        "expired": (*IN_FORCE, Compares("expires_at", "<=", now)),
        "all": (),
    }
    yield from states[wanted.state]
    if wanted.category is not None:
        yield Equals("category", wanted.category)
    for tag in sorted({fold(tag) for tag in wanted.tags}):
        yield HasRow("tag", "memory_id", (Equals("folded", tag),))
    if wanted.session is not None:
        yield Equals("session", wanted.session)
    if wanted.entity is not None:
        yield HasRow("mention", "memory_id", (Equals("entity_id", wanted.entity),))
    if wanted.status is not None:
        yield Equals("status", str(wanted.status))
    if wanted.pinned is not None:
        yield Equals("pinned", int(wanted.pinned))
    column = _time_column(wanted.time)
    if wanted.since is not None:
        yield Compares(column, ">=", stamp(wanted.since))
    if wanted.until is not None:
        yield Compares(column, "<", stamp(wanted.until))
    if wanted.stored_before is not None:
        yield Compares("created_at", "<", stamp(wanted.stored_before))
    if wanted.contains is not None:
        observed = HasRow("observation", "memory_id", (*IN_FORCE, Contains("content", wanted.contains)))
        named = (Equals("kind", "entity"), AnyOf(((Contains("name", wanted.contains),), (observed,))))
        yield AnyOf(((Contains("text", wanted.contains),), named))


def _keys_by_column(
    view: Snapshot,
    scopes: Sequence[int],
    wanted: BrowseFilter,
    conditions: Where,
    order: Order,
    last: _Key | None,
    limit: int,
) -> list[_Key]:
    """Read the first rows of each scope and kind, sorted by a column, and merge them."""
    column = "importance" if order == "importance" else "id"
    descending = order != "oldest"
    after_last = () if last is None else (_after_key(column, "id", last, descending=descending),)
    sort_by = ("id",) if column == "id" else (column, "id")
    # With an equality on the kind, the planner may ignore the far more selective index of sessions.
    kinds: list[Condition] = [Equals("kind", kind) for kind in sorted(wanted.kinds)]
    if wanted.session is not None:
        kinds = [Not(OneOf("kind", frozenset(Kind) - wanted.kinds))]
    keys = [
        (value, id_)
        for scope in scopes
        for kind in kinds
        for value, id_ in view.rows(
            "memory",
            (column, "id"),
            (Equals("scope_id", scope), kind, *after_last, *conditions),
            order=sort_by,
            descending=descending,
            limit=limit,
        )
    ]
    return sorted(keys, reverse=descending)[:limit]


def _after_key(column: str, key: str, last: _Key, *, descending: bool) -> Condition:
    """Match the rows after the last row of the previous page."""
    value, id_ = last
    operator: Literal["<", ">"] = "<" if descending else ">"
    if column == key:
        return Compares(key, operator, id_)
    return AnyOf(
        ((Compares(column, operator, value),), (Equals(column, value), Compares(key, operator, id_)))
    )


def _keys_by_usage(
    view: Snapshot,
    scopes: Sequence[int],
    wanted: BrowseFilter,
    conditions: Where,
    column: str,
    last: _Key | None,
) -> Iterator[_Key]:
    """Yield memories by how often or when they were shown. Only shown memories have a usage row."""
    allowed = (OneOf("scope_id", scopes), OneOf("kind", wanted.kinds), *conditions)
    batch_size = _FIRST_BATCH
    while True:
        after_last = () if last is None else (_after_key(column, "memory_id", last, descending=True),)
        rows = view.rows(
            "usage",
            (column, "memory_id"),
            after_last,
            order=(column, "memory_id"),
            descending=True,
            limit=batch_size,
        )
        ids = [id_ for _, id_ in rows]
        matching = {id_ for (id_,) in view.rows("memory", ("id",), (OneOf("id", ids), *allowed))}
        yield from (row for row in rows if row[1] in matching)
        if len(rows) < batch_size:
            return
        last, batch_size = rows[-1], batch_size * _BATCH_GROWTH


# Number of memories per day, week or month.

Unit = Literal["day", "week", "month"]
# In every time zone, days begin at a multiple of 15 minutes in UTC, so the store needs no time zones.
_QUARTER_HOUR = 15 * 60 * 1_000_000
# Every time zone has a date for these.
_FIRST, _LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)


def coarser(days: Iterable[Bucket], unit: Unit, zone: tzinfo) -> list[Bucket]:
    """Sum the buckets of days by week or month, without reading the store."""
    return _buckets(((each.start, each.count) for each in days), unit, zone)


def _buckets(counted: Iterable[tuple[datetime, int]], unit: Unit, zone: tzinfo) -> list[Bucket]:
    counts: Counter[datetime] = Counter()
    for at, count in counted:
        counts[_start(min(max(at, _FIRST), _LAST).astimezone(zone), unit)] += count
    return [Bucket(start, _next(start, unit, zone), count) for start, count in sorted(counts.items())]


def _start(at: datetime, unit: Unit) -> datetime:
    day = at.date()
    if unit == "week":
        day -= timedelta(days=day.weekday())
    elif unit == "month":
        day = day.replace(day=1)
    return datetime.combine(day, time(), at.tzinfo)


def _next(start: datetime, unit: Unit, zone: tzinfo) -> datetime:
    day = start.date()
    days = {"day": 1, "week": 7, "month": monthrange(day.year, day.month)[1]}[unit]
    if days > (date.max - day).days:
        return datetime.max.replace(tzinfo=zone)
    return datetime.combine(day + timedelta(days=days), time(), zone)


# One memory with everything around it

_MOST_COMPARED = 16
_TURNS_AROUND = 3
_MOST_LISTED = 200


def _versions(memory: Memory) -> tuple[MemoryVersion, ...]:
    if memory.kind is Kind.ENTITY:
        return ()
    former = [MemoryVersion(each.text, each.since, each.until) for each in memory.former]
    since = memory.former[-1].until if memory.former else memory.created_at
    return (*former, MemoryVersion(memory.text, since, None))


def _neighbours(view: Snapshot, memory: Memory) -> Sequence[Memory]:
    """Return the messages around this one; for an extracted note, around its message."""
    message = memory
    if memory.drawn_from is not None:
        message = memories_by_id(view, [memory.drawn_from]).get(memory.drawn_from, memory)
    if message.session is None or message.position is None:
        return []
    first, last = message.position - _TURNS_AROUND, message.position + _TURNS_AROUND
    return turns_of(view, scope_id(view, message.scope), message.session, first, last)


def _similar_and_conflicting(
    services: Services, view: Snapshot, memory: Memory
) -> tuple[tuple[SimilarMemory, ...], tuple[ConflictingMemory, ...]]:
    """Find near-repeats and contradictions among the nearest memories."""
    if memory.deleted_at is not None or memory.superseded_at is not None:
        return (), ()
    search = Search(view, services.unexpired())
    vectors = memory_vectors(view, [memory.id], search.model).get(memory.id, ())
    text = memory.text or memory.name
    nearest = nearest_cosines(search, text, vectors[0] if vectors else None, MAX_COMPARED + 1)
    nearest.pop(memory.id, None)
    others = list(stated_texts(search.memories, list(nearest)))
    similar = [
        SimilarMemory(other.id, other.text, share)
        for other in others[:_MOST_COMPARED]
        if memory.kind is not Kind.ENTITY and other.observation is None
        if (share := near_duplicate(memory.text, other.text, min(1.0, nearest[other.id]))) is not None
    ]
    best_first = sorted(similar, key=lambda one: (-one.similarity, one.id))
    known = vectors_of_texts(view, [*others, *texts_of(memory)], search.model)
    return tuple(best_first), contradicted_texts(memory, others, known, search.model)


def _usage(view: Snapshot, id_: int) -> Usage:
    own = (Equals("memory_id", id_),)
    ((count, last_at),) = view.rows("usage", ("count", "last_at"), own) or [(0, None)]
    days = view.count("usage_day", own)[None]
    opened = view.count("feedback", (*own, Equals("kind", "opened")))[None]
    return Usage(count, opened, days, None if last_at is None else moment(last_at))


def _showings(view: Snapshot, memory: Memory, most: int) -> list[Showing]:
    places: dict[int, int] = dict(
        view.rows(
            "recall_hit",
            ("recall_id", "place"),
            (Equals("memory_id", memory.id),),
            order=("recall_id",),
            descending=True,
            limit=most,
        )
    )
    rows = view.rows("recall", ("id", "at", "query", "profile"), (OneOf("id", list(places)),))
    # An answer has the same time in both tables, so time and query join them.
    logged = {
        (at, query): id_
        for id_, at, query in view.rows(
            "answer_log",
            ("id", "at", "query"),
            (Equals("scope_id", scope_id(view, memory.scope)), OneOf("at", [row[1] for row in rows])),
        )
    }
    return [
        Showing(moment(at), places[id_], query, profile, logged.get((at, query or "")))
        for id_, at, query, profile in sorted(rows, reverse=True)
    ]


# Conversations and entities


def session_page(services: Services, start: int, limit: int) -> tuple[list[Session], int]:
    """Return a page of sessions, most recently active first, and the number of all sessions.

    Messages are counted only for the sessions of the page.
    """
    with services.read() as view:
        found: list[tuple[int, str, int]] = []
        for scope in services.scope_ids(view):
            named = view.count("memory", (*_messages(scope), is_set("session")), by="session")
            ends = _ends(view, scope, [str(name) for name in named], newest=True)
            found += [(-at, name, scope) for name, at in ends]
        page = sorted(found)[start : start + limit]
        return [_session(view, scope, name) for _, name, scope in page], len(found)


def session_turns(
    services: Services, session: str, after: int, limit: int, *, newest_first: bool = False
) -> list[Memory]:
    """Return messages of a session after a position; with `newest_first`, before it (0: from the end)."""
    after_last: tuple[Condition, ...] = (Compares("position", ">", after),)
    if newest_first:
        after_last = (Compares("position", "<", after),) if after else ()
    found: list[Memory] = []
    with services.read() as view:
        for scope in services.scope_ids(view):
            own = (*_messages(scope), Equals("session", session), *after_last)
            ids = view.rows("memory", ("id",), own, order=("position",), descending=newest_first, limit=limit)
            found += memories_where(view, (OneOf("id", [id_ for (id_,) in ids]),))
    return sorted(found, key=lambda turn: (turn.position or 0, turn.id), reverse=newest_first)[:limit]


def _messages(scope: int) -> tuple[Condition, ...]:
    """Match the messages of a scope: only messages have a position.

    A condition on the kind could make the planner use its index instead of the one of sessions.
    """
    return Equals("scope_id", scope), is_set("position"), is_null("deleted_at")


def _ends(view: Snapshot, scope: int, names: Sequence[str], *, newest: bool = False) -> list[tuple[str, int]]:
    """Return the time of the first (or last) message of each session."""
    if not names:
        return []
    rows = view.rows(
        "memory",
        ("session", "created_at"),
        _messages(scope),
        order=("position",),
        descending=newest,
        limit=1,
        each=OneOf("session", names),
    )
    return [(name, at) for name, at in rows]  # for the type checker: a row has any length


def _session(view: Snapshot, scope: int, name: str) -> Session:
    own = (*_messages(scope), Equals("session", name))
    roles = view.count("memory", (*own, is_null("speaker"), is_set("role")), by="role")
    speakers = view.count("memory", (*own, is_set("speaker")), by="speaker")
    (_, first), (_, last) = _ends(view, scope, [name])[0], _ends(view, scope, [name], newest=True)[0]
    return Session(
        name,
        view.count("memory", own)[None],
        moment(first),
        moment(last),
        tuple(sorted(map(str, (*speakers, *roles)))),
    )


def _entity_ids(view: Snapshot, own: tuple[Condition, ...], order: EntityOrder, most: int) -> list[int]:
    if order != "most_mentioned":
        by = ("name", "id") if order == "name" else ("id",)
        rows = view.rows("memory", ("id",), own, order=by, descending=order == "newest", limit=most)
        return [id_ for (id_,) in rows]
    counts = view.count("mention", (BelongsTo("entity_id", "memory", own),), by="entity_id")
    mentioned = sorted(counts, key=lambda id_: (-counts[id_], id_))[:most]
    named = [int(str(id_)) for id_ in mentioned]
    if len(named) < most:
        # Append entities without mentions, sorted by name.
        every = view.rows("memory", ("id",), own, order=("name", "id"), limit=most)
        named += [id_ for (id_,) in every if id_ not in counts]
    return named[:most]


def most_related(services: Services, limit: int) -> list[EntityCounts]:
    """Return the entities with the most relations, then the newest of those without any."""
    with services.read() as view:
        now = microseconds(services.clock())
        own = (OneOf("scope_id", services.scope_ids(view)), Equals("kind", "entity"), *IN_FORCE)
        # An inverse repeats its relation.
        stated = is_null("inverse_of")
        counts = _relation_counts(view, now, lambda column: BelongsTo(column, "memory", own), stated)
        ids = sorted(counts, key=lambda id_: (-counts[id_], id_))[:limit]
        if len(ids) < limit:
            newest = view.rows("memory", ("id",), own, descending=True, limit=limit)
            ids = list(dict.fromkeys([*ids, *(id_ for (id_,) in newest)]))[:limit]
        found = memories_by_id(view, ids)
        entities = _with_counts(view, [found[id_] for id_ in ids], now)
        return [replace(each, relations=counts[each.entity.id]) for each in entities]


def _relation_counts(
    view: Snapshot, now: int, ends: Callable[[str], Condition], *where: Condition
) -> Counter[int]:
    """Return how many relations begin or end at each entity."""
    in_force = (is_null("deleted_at"), null_or_after("until", now), *where)
    counts: Counter[int] = Counter()
    for column in ("source_id", "target_id"):
        found = view.count("relation", (ends(column), *in_force), by=column)
        counts.update({int(str(id_)): count for id_, count in found.items()})
    return counts


def _with_counts(view: Snapshot, entities: Sequence[Memory], now: int) -> list[EntityCounts]:
    ids = [entity.id for entity in entities]
    mentions = view.count("mention", (OneOf("entity_id", ids),), by="entity_id")
    relations = _relation_counts(view, now, lambda column: OneOf(column, ids))
    return [
        EntityCounts(entity, len(entity.in_force), relations[entity.id], mentions.get(entity.id, 0))
        for entity in entities
    ]


class Browse(EngineGroup):
    """`memory.browse`: whole memories, lists of any kind, and a timeline."""

    @retry_after_failover
    def memory(
        self,
        id: int,  # noqa: A002  # the public name
        *,
        showings: int = 20,
        as_of: AsOf | None = None,
    ) -> WholeMemory:
        """Return a memory, even a forgotten one, with everything that the store has about it.

        Args:
            id: The memory.
            showings: Number of recent answers to list that showed it.
            as_of: Return the text at that time. A date without a time means its end in the user's zone.

        Raises:
            NotFound: The scope has no such memory.

        Examples:
            >>> whole = memory.browse.memory(1)
            >>> whole.memory.text, len(whole.versions)
            ('Marisol Vega is allergic to nuts', 1)
        """
        then = as_of_time(as_of, self._services.zone)
        self._services.usage.settle(self._services.usage.patience_seconds)
        past = history(self._services, id)
        memory = past.memory
        with self._services.read() as view:
            named = memories_by_id(view, memory.mentions[:_MOST_LISTED])
            by = memories_by_id(view, [memory.superseded_by] if memory.superseded_by else [])
            supersedes = memories_by_id(view, ids_superseded_by(view, id)[:_MOST_LISTED])
            relations = relations_of(view, [id], deleted=True) if memory.kind is Kind.ENTITY else []
            drawn_rows = view.rows("memory", ("id",), (Equals("drawn_from", id),), limit=_MOST_LISTED)
            drawn = memories_by_id(view, [each for (each,) in drawn_rows])
            neighbours = _neighbours(view, memory)
            similar, conflicts = _similar_and_conflicting(self._services, view, memory)
            usage = _usage(view, id)
            shown = _showings(view, memory, showings)
        return WholeMemory(
            memory=memory_at(memory, then),
            versions=_versions(memory),
            events=past.events,
            supersedes=tuple(supersedes.values()),
            superseded_by=by.get(memory.superseded_by or 0),
            mentions=tuple(named[each] for each in memory.mentions[:_MOST_LISTED] if each in named),
            relations=tuple(relations[-_MOST_LISTED:]),
            drawn=tuple(drawn.values()),
            neighbours=tuple(neighbours),
            similar=similar,
            conflicts=conflicts,
            links=linked_memories(self._services, id)[:_MOST_LISTED],
            usage=usage,
            showings=tuple(shown),
        )

    @retry_after_failover
    def page(
        self,
        wanted: BrowseFilter | None = None,
        *,
        order: Order = "newest",
        limit: int = 100,
        after: str | None = None,
    ) -> BrowsePage:
        """Return one page of memories of any kind, filtered and sorted.

        Args:
            wanted: The filter (default: all current memories).
            order: The order of the memories.
            limit: Number of memories.
            after: The `cursor` of the previous page.

        Examples:
            >>> len(memory.browse.page())
            5
        """
        wanted = _with_checked_times(wanted)
        check_page(limit)
        last = None if after is None else _key_of(after)
        if order in _USAGE_COLUMNS:
            self._services.usage.settle(self._services.usage.patience_seconds)
        with self._services.read() as view:
            conditions = tuple(_conditions(wanted, microseconds(self._services.clock())))
            scopes = self._services.scope_ids(view)
            if order in _USAGE_COLUMNS:
                keys = list(
                    islice(
                        _keys_by_usage(view, scopes, wanted, conditions, _USAGE_COLUMNS[order], last),
                        limit + 1,
                    )
                )
            else:
                keys = _keys_by_column(view, scopes, wanted, conditions, order, last, limit + 1)
            found = memories_by_id(view, [id_ for _, id_ in keys[:limit]])
        value, id_ = keys[limit - 1] if len(keys) > limit else (0, 0)
        return BrowsePage(
            tuple(found[id_] for _, id_ in keys[:limit] if id_ in found),
            f"{value!r}:{id_}" if len(keys) > limit else None,
            _NEVER_SHOWN if order in _USAGE_COLUMNS else None,
        )

    @retry_after_failover
    def timeline(self, wanted: BrowseFilter | None = None, unit: Unit = "day") -> Sequence[Bucket]:
        """Count memories by the user's days, weeks (from Monday) or months.

        The store does the counting and returns no memories.

        Args:
            wanted: The filter (default: all current memories).
            unit: `day`, `week` or `month`.

        Examples:
            >>> [(bucket.start.date().isoformat(), bucket.count) for bucket in memory.browse.timeline()]
            [('2026-03-01', 5)]
        """
        wanted, zone = _with_checked_times(wanted), self._services.zone
        per = DAY if zone is UTC else _QUARTER_HOUR
        conditions = _conditions(wanted, microseconds(self._services.clock()))
        with self._services.read() as view:
            own = (OneOf("scope_id", self._services.scope_ids(view)), OneOf("kind", wanted.kinds))
            counted = view.count("memory", (*own, *conditions), by=_time_column(wanted.time), per=per)
        return _buckets(((moment(int(str(at)) * per), count) for at, count in counted.items()), unit, zone)

    @retry_after_failover
    def tags(self) -> Sequence[NameCount]:
        """Return every tag in use, most frequent first, in its most frequent spelling.

        Examples:
            >>> [(tag.name, tag.count) for tag in memory.browse.tags()]
            [('health', 1)]
        """
        with self._services.read() as view:
            own = (OneOf("scope_id", self._services.scope_ids(view)), *IN_FORCE)
            spellings = view.count("tag", (BelongsTo("memory_id", "memory", own),), by="tag")
        counts: Counter[str] = Counter()
        best: dict[str, tuple[int, str]] = {}
        for tag, count in spellings.items():
            key = fold(str(tag))
            counts[key] += count
            best[key] = max(best.get(key, (0, "")), (count, str(tag)))
        return _sorted_by_count({best[key][1]: count for key, count in counts.items()})

    @retry_after_failover
    def categories(self) -> Sequence[NameCount]:
        """Return every category in use, most frequent first.

        Examples:
            >>> note = memory.remember("We chose SQLite", category="decision")
            >>> [category.name for category in memory.browse.categories()]
            ['decision']
        """
        with self._services.read() as view:
            own = (OneOf("scope_id", self._services.scope_ids(view)), is_set("category"), *IN_FORCE)
            found = view.count("memory", own, by="category")
        return _sorted_by_count({str(name): count for name, count in found.items()})

    @retry_after_failover
    def entities(
        self,
        *,
        type: str | None = None,  # noqa: A002  # the public name
        contains: str | None = None,
        order: EntityOrder = "name",
        start: int = 0,
        limit: int = 100,
    ) -> Sequence[EntityCounts]:
        """Return entities with the number of observations, relations and mentions of each.

        Args:
            type: Only entities of this type.
            contains: Only entities whose name contains this text.
            order: The order of the entities.
            start: Number of entities to skip.
            limit: Number of entities to return.

        Examples:
            >>> [(each.entity.name, each.mentions) for each in memory.browse.entities()]
            [('Marisol Vega', 1), ('Tidebook', 0)]
        """
        with self._services.read() as view:
            scopes = OneOf("scope_id", self._services.scope_ids(view))
            own: list[Condition] = [scopes, Equals("kind", "entity"), *IN_FORCE]
            if type is not None:
                own.append(Equals("type", type))
            if contains is not None:
                own.append(Contains("name", contains))
            ids = _entity_ids(view, tuple(own), order, start + limit)[start:]
            found = memories_by_id(view, ids)
            return _with_counts(view, [found[id_] for id_ in ids], microseconds(self._services.clock()))


def _with_checked_times(wanted: BrowseFilter | None) -> BrowseFilter:
    wanted = wanted or BrowseFilter()
    if not isinstance(wanted, BrowseFilter):
        raise InvalidInput(f"`wanted` must be a BrowseFilter, not {type(wanted).__name__}.")
    return replace(
        wanted,
        since=aware(wanted.since, "since"),
        until=aware(wanted.until, "until"),
        stored_before=aware(wanted.stored_before, "stored_before"),
    )


def _sorted_by_count(counts: dict[str, int]) -> list[NameCount]:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [NameCount(name, count) for name, count in ordered]
