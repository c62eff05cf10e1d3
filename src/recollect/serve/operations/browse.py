"""Operations for a person who looks around: lists of any kind, and a timeline. They leave no trace."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from recollect.engine.browse.names import EntityOrder
from recollect.engine.browse.pages import BrowseFilter, Order, State, TimeOf
from recollect.engine.browse.timeline import Unit
from recollect.errors import NotFound
from recollect.records import Kind
from recollect.serve.operations.memories import StatusWord
from recollect.serve.operations.operation import (
    LaterTime,
    Many,
    OperationCall,
    OperationReply,
    PageRequest,
    RowId,
    Time,
    described,
    operation,
    optional,
)
from recollect.serve.operations.paging import page_rows, position
from recollect.serve.operations.rows import PageRows, row_of
from recollect.serve.operations.whole_memory import MemoryFields, fields_row

PageLimit = Annotated[int, Field(ge=1, le=1_000, description="Rows on a page")]
Cursor = Annotated[str, described("What the page before gave as its `cursor`")]
Kinds = Many[Annotated[Kind, Field(strict=False)]]


def place_of(cursor: str | None) -> int:
    """How many rows the pages before this one held."""
    return position(PageRequest(cursor=cursor))


def next_place(start: int, shown: int, *, more: bool) -> str | None:
    return str(start + shown) if more else None


class BrowseOutput(PageRows):
    memories: list[MemoryFields]


@operation("Browse", read_only=True)
def _browse(
    call: OperationCall,
    kinds: Kinds | None = optional("Of every kind if not given"),
    state: State = Field(
        default="in_force", description="in_force: what searches find; all: whatever became of it"
    ),
    category: str | None = None,
    tags: Many[str] | None = optional("Only what has all of these"),
    session: str | None = None,
    entity: RowId | None = optional("Texts that speak of the entity with this id"),
    status: StatusWord | None = None,
    pinned: bool | None = None,
    contains: str | None = optional("Texts, names or observations that contain this, letters in any case"),
    since: Time | None = None,
    until: LaterTime | None = None,
    time: TimeOf = Field(default="happened", description="Which time since and until are compared with"),
    order: Order = Field(
        default="newest",
        description="newest, oldest: by when it was stored; most_used and last_shown list what was shown",
    ),
    limit: PageLimit = 50,
    cursor: Cursor | None = None,
) -> OperationReply[BrowseOutput]:
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
    page = call.engine.browse.page(wanted, order=order, limit=limit, after=cursor)
    rows = list(map(fields_row, page.memories))
    return OperationReply({"memories": rows, **page_rows(page.cursor, page.note)})


class BucketRow(TypedDict):
    start: str
    stop: Annotated[str, described("The first moment after it")]
    count: int


class TimelineOutput(PageRows):
    buckets: Annotated[list[BucketRow], described("Those that hold something, in order")]
    total: Annotated[int, described("Memories in all of them, on every page")]


@operation("Timeline", read_only=True)
def _timeline(
    call: OperationCall,
    unit: Unit = Field(default="day", description="day, week (from Monday) or month"),
    time: TimeOf = Field(
        default="happened", description="happened: when it was so; stored: when it was learnt"
    ),
    since: Time | None = None,
    until: LaterTime | None = None,
    kinds: Kinds | None = optional("Of every kind if not given"),
    state: State = "in_force",
    limit: PageLimit = 1_000,
    cursor: Cursor | None = None,
) -> OperationReply[TimelineOutput]:
    """How many memories are of each day, week or month. `browse` with `since`, `until` and the same `time`
    lists those of one.
    """
    wanted = BrowseFilter(
        kinds=frozenset(Kind if kinds is None else kinds), state=state, since=since, until=until, time=time
    )
    found = call.engine.browse.timeline(wanted, unit)
    start = place_of(cursor)
    rows = [row_of(BucketRow, each) for each in found[start : start + limit]]
    more = page_rows(next_place(start, len(rows), more=start + len(rows) < len(found)), None)
    return OperationReply({"buckets": rows, "total": sum(each.count for each in found), **more})


class NameRow(TypedDict):
    name: str
    count: int


class NamesOutput(PageRows):
    names: list[NameRow]
    total: Annotated[int, described("How many there are on all pages")]


def _names(found: Any, limit: int, cursor: str | None) -> OperationReply[NamesOutput]:
    start = place_of(cursor)
    rows = [row_of(NameRow, each) for each in found[start : start + limit]]
    more = page_rows(next_place(start, len(rows), more=start + len(rows) < len(found)), None)
    return OperationReply({"names": rows, "total": len(found), **more})


@operation("List tags", read_only=True)
def _list_tags(
    call: OperationCall, limit: PageLimit = 100, cursor: Cursor | None = None
) -> OperationReply[NamesOutput]:
    """Every tag and how many memories in force have it, the most frequent first."""
    return _names(call.engine.browse.tags(), limit, cursor)


@operation("List categories", read_only=True)
def _list_categories(
    call: OperationCall, limit: PageLimit = 100, cursor: Cursor | None = None
) -> OperationReply[NamesOutput]:
    """Every category and how many memories in force have it, the most frequent first."""
    return _names(call.engine.browse.categories(), limit, cursor)


class SessionRow(TypedDict):
    name: str
    turns: int
    first_at: str
    last_at: str
    speakers: list[str]


class ListSessionsOutput(PageRows):
    sessions: list[SessionRow]
    total: int


@operation("List sessions", read_only=True)
def _list_sessions(
    call: OperationCall, limit: PageLimit = 50, cursor: Cursor | None = None
) -> OperationReply[ListSessionsOutput]:
    """Conversations with their number of turns, that with the newest turn first."""
    start = place_of(cursor)
    found, total = call.engine.browse.sessions(start, limit)
    rows = [row_of(SessionRow, each) for each in found]
    more = page_rows(next_place(start, len(rows), more=start + len(rows) < total), None)
    return OperationReply({"sessions": rows, "total": total, **more})


class SessionMessagesOutput(PageRows):
    session: str
    messages: list[MemoryFields]


@operation("Messages of a session", read_only=True)
def _session_messages(
    call: OperationCall,
    session: str,
    newest_first: bool = False,
    limit: PageLimit = 100,
    cursor: Cursor | None = None,
) -> OperationReply[SessionMessagesOutput]:
    """The messages of a conversation in order, or from its end."""
    found = call.engine.browse.turns(
        session, after=place_of(cursor), limit=limit + 1, newest_first=newest_first
    )
    if not found and cursor is None:
        raise NotFound(f"There is no session named {session!r}; `list_sessions` lists those there are.")
    shown = found[:limit]
    last = str(shown[-1].position) if len(found) > limit else None
    result: SessionMessagesOutput = {
        "session": session,
        "messages": list(map(fields_row, shown)),
        **page_rows(last, None),
    }
    return OperationReply(result)


class EntityCountsRow(TypedDict):
    id: int
    name: str
    type: str
    status: str
    observations: int
    relations: int
    mentions: int
    created_at: str
    updated_at: str


class ListEntitiesOutput(PageRows):
    entities: list[EntityCountsRow]


@operation("List entities", read_only=True)
def _list_entities(
    call: OperationCall,
    type: str | None = None,
    contains: str | None = optional("Only names that contain this, letters in any case"),
    order: EntityOrder = "name",
    limit: PageLimit = 100,
    cursor: Cursor | None = None,
) -> OperationReply[ListEntitiesOutput]:
    """Entities with how many observations, relations and mentions each has."""
    start = place_of(cursor)
    found = call.engine.browse.entities(
        type=type, contains=contains, order=order, start=start, limit=limit + 1
    )
    rows = [
        row_of(
            EntityCountsRow,
            each.entity,
            observations=each.observations,
            relations=each.relations,
            mentions=each.mentions,
        )
        for each in found[:limit]
    ]
    more = page_rows(next_place(start, len(rows), more=len(found) > limit), None)
    return OperationReply({"entities": rows, **more})
