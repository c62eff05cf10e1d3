"""The operation that shows one memory with everything around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field
from typing_extensions import TypedDict

from recollect.records import Kind
from recollect.serve.operations.memories import EventRow, naming_ids
from recollect.serve.operations.operation import (
    OperationCall,
    OperationReply,
    RowId,
    Time,
    operation,
    optional,
)
from recollect.serve.operations.rows import ConflictRow, SimilarRow, conflict_row, row_of

if TYPE_CHECKING:
    from recollect.records import Memory


class ObservedRow(TypedDict):
    id: int
    content: str
    kind: str
    created_at: str
    happened_at: str | None
    superseded_by: int | None
    superseded_at: str | None
    similar_to: int | None
    similarity: float | None
    corrected_by: int | None
    deleted_at: str | None


class MemoryFields(TypedDict):
    """All that a memory's own row holds."""

    id: int
    kind: Kind
    owner: str
    agent: str
    name: str
    type: str
    text: str
    category: str | None
    source: str | None
    session: str | None
    position: int | None
    role: str | None
    speaker: str | None
    undated: bool
    drawn_from: int | None
    tags: list[str]
    status: str
    importance: float
    importance_tag: str | None
    pinned: bool
    consolidation: str
    strength: float
    depth: int
    spread: int
    stability: float
    revisions: int
    duplicates: int
    created_at: str
    updated_at: str
    happened_at: str | None
    expires_at: str | None
    superseded_by: int | None
    superseded_at: str | None
    deleted_at: str | None
    similar_to: int | None
    similarity: float | None
    observations: list[ObservedRow]


class BriefRow(TypedDict):
    """A memory that another one speaks of, or stands beside."""

    id: int
    kind: Kind
    name: str
    text: str
    speaker: str | None
    created_at: str
    superseded_at: str | None
    deleted_at: str | None


class VersionRow(TypedDict):
    text: str
    since: str
    until: str | None


class SpanRow(TypedDict):
    """A relation and the time in which it holds."""

    id: int
    source: int
    target: int
    source_name: str
    target_name: str
    type: str
    context: str
    since: str | None
    until: str | None
    created_at: str
    deleted_at: str | None


class LinkRow(TypedDict):
    memory: BriefRow
    answers: int


class UsageRow(TypedDict):
    shown: int
    opened: int
    days: int
    last_at: str | None


class ShowingRow(TypedDict):
    at: str
    place: int
    query: str | None
    profile: str | None
    answer: int | None


class GetMemoryOutput(TypedDict):
    memory: MemoryFields
    versions: list[VersionRow]
    events: list[EventRow]
    supersedes: list[BriefRow]
    superseded_by: BriefRow | None
    mentions: list[BriefRow]
    relations: list[SpanRow]
    drawn: list[BriefRow]
    neighbours: list[BriefRow]
    similar: list[SimilarRow]
    conflicts: list[ConflictRow]
    links: list[LinkRow]
    usage: UsageRow
    showings: list[ShowingRow]


def fields_row(memory: Memory) -> MemoryFields:
    return row_of(
        MemoryFields,
        memory,
        owner=memory.scope.owner,
        agent=memory.scope.agent or "",
        observations=[row_of(ObservedRow, each) for each in memory.observations],
    )


def brief_row(memory: Memory) -> BriefRow:
    return row_of(BriefRow, memory, speaker=memory.speaker or memory.role)


@operation("Get a memory", read_only=True)
def _get_memory(
    call: OperationCall,
    id: RowId,
    showings: int = Field(
        default=20, ge=0, le=200, description="Last answers that showed it; 20 if not given"
    ),
    as_of: Time | None = optional("As it read at this moment"),
) -> OperationReply[GetMemoryOutput]:
    """One memory with all that is known of it: every field, its versions, what it supersedes and is
    superseded by, the entities that it names, the turns around it, near copies, conflicts, and the last
    answers that showed it. Looking at it leaves no trace.
    """
    with naming_ids():
        found = call.engine.browse.memory(id, showings=showings, as_of=as_of)
    by = found.superseded_by
    result: GetMemoryOutput = {
        "memory": fields_row(found.memory),
        "versions": [row_of(VersionRow, each) for each in found.versions],
        "events": [row_of(EventRow, each) for each in found.events],
        "supersedes": list(map(brief_row, found.supersedes)),
        "superseded_by": None if by is None else brief_row(by),
        "mentions": list(map(brief_row, found.mentions)),
        "relations": [row_of(SpanRow, each) for each in found.relations],
        "drawn": list(map(brief_row, found.drawn)),
        "neighbours": list(map(brief_row, found.neighbours)),
        "similar": [row_of(SimilarRow, each, similarity=round(each.similarity, 3)) for each in found.similar],
        "conflicts": list(map(conflict_row, found.conflicts)),
        "links": [{"memory": brief_row(other), "answers": answers} for other, answers in found.links],
        "usage": row_of(UsageRow, found.usage),
        "showings": [row_of(ShowingRow, each) for each in found.showings],
    }
    return OperationReply(result)
