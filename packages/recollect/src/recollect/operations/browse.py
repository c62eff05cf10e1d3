"""Operations for browsing: lists of every kind, and a timeline. They are not recorded as use."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from recollect.admin import Internals
from recollect.domain.errors import NotFound
from recollect.domain.json_values import inlined
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Kind, Memory, Session
from recollect.domain.results import BrowsePage, Bucket, NameCount, WholeMemory
from recollect.memories.browse import BrowseFilter, EntityOrder, Order, State, TimeOf, Unit
from recollect.operations.memories import StatusWord, naming_ids
from recollect.operations.operation import (
    Endpoint,
    LaterTime,
    LookBack,
    Many,
    OperationCall,
    RowId,
    Time,
    described,
    operation,
    optional,
)
from recollect.operations.paging import PageEnd, page_end, page_of, place_of
from recollect.operations.rows import row_of


@operation("Get a memory", http=Endpoint("GET /memories/{id}", resource="memory"), read_only=True)
def _get_memory(
    call: OperationCall,
    id: RowId,
    showings: int = Field(
        default=20, ge=0, le=200, description="How many of the last answers that showed it"
    ),
    as_of: LookBack | None = optional("The memory as of this time"),
) -> WholeMemory:
    """Get a memory with all its details: every field, its versions, what it supersedes and is
    superseded by, the entities that it names, the turns around it, near copies, conflicts, and the last
    answers that showed it. Nothing is recorded.
    """
    with naming_ids():
        return call.engine.browse.memory(id, showings=showings, as_of=as_of)


PageLimit = Annotated[int, Field(ge=1, le=1_000, description="Rows on a page")]
Cursor = Annotated[str, described("The `cursor` of the previous page")]
Kinds = Many[Annotated[Kind, Field(strict=False)]]


@operation("Browse", http=Endpoint("GET /browse", tag="Memories"), read_only=True)
def _browse(
    call: OperationCall,
    kinds: Kinds | None = optional("Default: every kind"),
    state: State = Field(
        default="in_force", description="in_force: what searches find; all: also forgotten and superseded"
    ),
    category: str | None = None,
    tags: Many[str] | None = optional("Only what has all of these"),
    session: str | None = None,
    entity: RowId | None = optional("Only texts that mention the entity with this id"),
    status: StatusWord | None = None,
    pinned: bool | None = None,
    contains: str | None = optional("Only texts, names or observations that contain this, in any case"),
    since: Time | None = None,
    until: LaterTime | None = None,
    time: TimeOf = Field(default="happened", description="The time that since and until are compared with"),
    order: Order = Field(
        default="newest",
        description="newest, oldest: by time of storage; most_used, last_shown: only what was shown",
    ),
    limit: PageLimit = 50,
    cursor: Cursor | None = None,
) -> BrowsePage:
    """List memories of any kind, filtered and sorted, page by page."""
    wanted = BrowseFilter(
        kinds=frozenset(Kind if kinds is None else kinds),
        state=state,
        category=category,
        tags=frozenset(tags or ()),
        session=session,
        entity=entity,
        status=status,
        pinned=pinned,
        contains=contains,
        since=since,
        until=until,
        time=time,
    )
    return call.engine.browse.page(wanted, order=order, limit=limit, after=cursor)


@dataclass(frozen=True, slots=True)
class Timeline:
    buckets: Annotated[list[Bucket], "Periods with memories, in order"]
    total: Annotated[int, "Memories on all pages"]
    more: PageEnd = inlined()


@operation("Timeline", http=Endpoint("GET /timeline", tag="Memories"), read_only=True)
def _timeline(
    call: OperationCall,
    unit: Unit = Field(default="day", description="day, week (from Monday) or month"),
    time: TimeOf = Field(
        default="happened", description="happened: when it was true; stored: when it was saved"
    ),
    since: Time | None = None,
    until: LaterTime | None = None,
    kinds: Kinds | None = optional("Default: every kind"),
    state: State = "in_force",
    limit: PageLimit = 1_000,
    cursor: Cursor | None = None,
) -> Timeline:
    """Count memories by day, week or month. To list those of one period, use `browse` with `since`, `until`
    and the same `time`.
    """
    wanted = BrowseFilter(
        kinds=frozenset(Kind if kinds is None else kinds), state=state, since=since, until=until, time=time
    )
    found = call.engine.browse.timeline(wanted, unit)
    shown, end = page_of(found, limit, cursor)
    return Timeline(shown, sum(each.count for each in found), end)


@dataclass(frozen=True, slots=True)
class NamePage:
    names: list[NameCount]
    total: Annotated[int, "Names on all pages"]
    more: PageEnd = inlined()


@operation("List tags", http=Endpoint("GET /tags", tag="Memories"), read_only=True)
def _list_tags(call: OperationCall, limit: PageLimit = 100, cursor: Cursor | None = None) -> NamePage:
    """List tags with their number of memories in force, the most frequent first."""
    found = call.engine.browse.tags()
    names, end = page_of(found, limit, cursor)
    return NamePage(names, len(found), end)


@operation("List categories", http=Endpoint("GET /categories", tag="Memories"), read_only=True)
def _list_categories(call: OperationCall, limit: PageLimit = 100, cursor: Cursor | None = None) -> NamePage:
    """List categories with their number of memories in force, the most frequent first."""
    found = call.engine.browse.categories()
    names, end = page_of(found, limit, cursor)
    return NamePage(names, len(found), end)


@dataclass(frozen=True, slots=True)
class SessionPage:
    sessions: list[Session]
    total: int
    more: PageEnd = inlined()


@operation("List sessions", http="GET /sessions", read_only=True)
def _list_sessions(call: OperationCall, limit: PageLimit = 50, cursor: Cursor | None = None) -> SessionPage:
    """List conversations with their number of turns, the most recently active first."""
    start = place_of(cursor)
    found, total = Internals(call.engine).session_page(start, limit)
    return SessionPage(list(found), total, page_end(start + limit, start + limit < total))


@dataclass(frozen=True, slots=True)
class MessagePage:
    session: str
    messages: list[Memory]
    more: PageEnd = inlined()


@operation("Messages of a session", http="GET /sessions/{session}/messages", read_only=True)
def _session_messages(
    call: OperationCall,
    session: str,
    newest_first: bool = False,
    limit: PageLimit = 100,
    cursor: Cursor | None = None,
) -> MessagePage:
    """List the messages of a conversation in order, or from its end."""
    found = Internals(call.engine).session_turns(
        session, after=place_of(cursor), limit=limit + 1, newest_first=newest_first
    )
    if not found and cursor is None:
        raise NotFound(f"There is no session named {session!r}; `list_sessions` lists the sessions.")
    shown = list(found[:limit])
    return MessagePage(session, shown, page_end(shown[-1].position or 0 if shown else 0, len(found) > limit))


@dataclass(frozen=True, slots=True)
class EntitySummary:
    id: int
    name: str
    type: str
    status: str
    observations: int
    relations: int
    mentions: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class EntityPage:
    entities: list[EntitySummary]
    more: PageEnd = inlined()


@operation("List entities", http="GET /entities/list", read_only=True)
def _list_entities(
    call: OperationCall,
    type: str | None = None,
    contains: str | None = optional("Only names that contain this, in any case"),
    order: EntityOrder = "name",
    limit: PageLimit = 100,
    cursor: Cursor | None = None,
) -> EntityPage:
    """List entities with their numbers of observations, relations and mentions."""
    start = place_of(cursor)
    found = call.engine.browse.entities(
        type=type, contains=contains, order=order, start=start, limit=limit + 1
    )
    rows = [
        row_of(
            EntitySummary,
            each.entity,
            observations=each.observations,
            relations=each.relations,
            mentions=each.mentions,
        )
        for each in found[:limit]
    ]
    return EntityPage(rows, page_end(start + limit, len(found) > limit))
