"""Operations that maintain a memory: duplicates, reports, splits, statistics, review."""

from __future__ import annotations

from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from recollect.admin import Internals
from recollect.domain.errors import InvalidInput
from recollect.domain.json_values import in_json, inlined, omitted
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Kind
from recollect.operations.browse import Cursor, PageLimit
from recollect.operations.operation import (
    Endpoint,
    Many,
    OperationCall,
    OperationReply,
    PageRequest,
    Pages,
    RowId,
    described,
    operation,
    optional,
)
from recollect.operations.paging import (
    PageEnd,
    continuation,
    fit_page,
    list_page,
    page_end,
    place_of,
    position,
    row_tokens,
)
from recollect.review.results import OpenContradiction, SettleKind, SplitUndo
from recollect.review.settling import ReviewItem, SettleAction, SettleUndo
from recollect.services import unfinished_note
from recollect.text.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.review.results import SplitAnalysis


_MAX_PAIRS = 10_000


@dataclass(frozen=True, slots=True)
class DuplicateRow:
    entity: str
    older: str
    newer: str
    similarity: float = field(metadata=in_json(digits=3))
    match: str


@dataclass(frozen=True, slots=True)
class DuplicatePage:
    duplicates: list[DuplicateRow]
    left_out: Annotated[int, "Number of further pairs"]
    more: PageEnd = inlined()


@operation(
    "Find duplicate observations",
    http="GET /upkeep/duplicates",
    tools="all",
    pages=Pages(200, 50, 100),
    read_only=True,
)
def _find_duplicate_observations(
    call: OperationCall,
    entity_name: str | None = optional("Only this entity; all if not given"),
    threshold: float = Field(
        default=0.85, ge=0, le=1, description="Similarity from 0 to 1; 0.85 if not given"
    ),
) -> DuplicatePage:
    """Find pairs of observations of one entity that nearly repeat each other, to be merged or removed."""
    found = call.engine.upkeep.find_duplicate_observations(
        entity_name, threshold=threshold, limit=_MAX_PAIRS, progress=call.progress
    )
    pairs = [
        DuplicateRow(pair.entity, pair.older.content, pair.newer.content, pair.similarity, pair.match)
        for pair in found.pairs
    ]
    rows, more = list_page(call.page, pairs)
    left = len(pairs) + found.left_out - position(call.page) - len(rows)
    return DuplicatePage(rows, max(0, left), more)


@dataclass(frozen=True, slots=True)
class TopicRow:
    name: str
    count: Annotated[int, "How many observations it has"]
    observations: list[str]


@dataclass(frozen=True, slots=True)
class AnalysisRow:
    """The size of an entity and, if requested, its topics."""

    entity_name: str
    entity_type: str
    observation_count: int
    threshold: Annotated[int, "Maximum number of observations for this type"]
    needs_split: bool
    split_score: float = field(metadata=in_json(digits=4))
    topics: list[TopicRow] | None = omitted()


def _analysis(found: SplitAnalysis, topics: list[TopicRow] | None = None) -> AnalysisRow:
    size = (found.name, found.type, found.observations, found.limit)
    return AnalysisRow(*size, found.needs_split, found.score, topics)


def _topics(found: SplitAnalysis) -> list[TopicRow]:
    return [
        TopicRow(topic.name, len(topic.observations), [each.content for each in topic.observations])
        for topic in found.topics
    ]


@dataclass(frozen=True, slots=True)
class ReportSummary:
    entities: int
    observations: int
    notes: int


@dataclass(frozen=True, slots=True)
class SectionCounts:
    contradictions: int
    split_candidates: int
    flagged_observations: int
    flagged_notes: int
    stale_entities: int
    large_entities: int


@dataclass(frozen=True, slots=True)
class FlaggedObservationRow:
    entity: str
    observation: str
    similar: str


@dataclass(frozen=True, slots=True)
class FlaggedNoteRow:
    id: int
    text: str
    similar_to: int
    similar: str


@dataclass(frozen=True, slots=True)
class StaleRow:
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class LargeRow:
    name: str
    observations: int
    limit: int


@dataclass(frozen=True, slots=True)
class ReportPage:
    summary: ReportSummary
    found: SectionCounts
    contradictions: list[OpenContradiction]
    split_candidates: list[AnalysisRow]
    flagged_observations: list[FlaggedObservationRow]
    flagged_notes: list[FlaggedNoteRow]
    stale_entities: list[StaleRow]
    large_entities: list[LargeRow]
    more: PageEnd = inlined()


@operation(
    "Consolidation report", http="GET /upkeep/report", tools="all", pages=Pages(200, 20, 800), read_only=True
)
def _consolidation_report(
    call: OperationCall,
    stale_days: float = Field(default=90, ge=0, description="Days without use; 90 if not given"),
) -> OperationReply[ReportPage]:
    """List what needs attention: contradictions, entities to split, near-duplicates, and stale or oversized
    entities.
    """
    report = call.engine.upkeep.consolidation_report(stale_days=stale_days, progress=call.progress)
    sections: dict[str, list[Any]] = {
        "contradictions": list(report.contradictions),
        "split_candidates": [_analysis(each, _topics(each)) for each in report.split_candidates],
        "flagged_observations": [
            FlaggedObservationRow(one.entity, one.observation.content, one.similar.content)
            for one in report.flagged_observations
        ],
        "flagged_notes": [
            FlaggedNoteRow(one.id, one.text, one.similar_to, one.similar_text) for one in report.flagged_notes
        ],
        "stale_entities": [StaleRow(one.name, one.type) for one in report.stale],
        "large_entities": [LargeRow(one.name, one.observations, one.limit) for one in report.oversized],
    }
    summary = ReportSummary(report.entities, report.observations, report.notes)
    found = SectionCounts(*map(len, sections.values()))
    # Take the first row of each section, then the second rows: together, the pages show each row once.
    every = [
        (place, name, rows[place])
        for place in range(max(map(len, sections.values())))
        for name, rows in sections.items()
        if place < len(rows)
    ]
    start = position(call.page)
    asked = [each for each in every[start:] if each[0] < every[start][0] + call.page.size]
    rows = [row for *_, row in asked]
    page = fit_page(
        rows, call.page.budget, shared=False, frame=row_tokens({"summary": summary, "found": found})
    )
    more = continuation(start + len(page.rows), len(every), page.note())
    shown: dict[str, list[Any]] = {name: [] for name in sections}
    for (_, name, _), row in zip(asked, page.rows, strict=False):
        shown[name].append(row)
    result = ReportPage(summary, found, **shown, more=more)
    fits = start == 0 and count_tokens(report.text) <= call.page.budget
    return OperationReply(result, report.text, more.text) if fits else OperationReply(result)


@dataclass(frozen=True, slots=True)
class Migrated:
    entities: Annotated[int, "Created"]
    observations: Annotated[int, "Added"]
    relations: Annotated[int, "Created"]
    known: Annotated[int, "Entities that were there already"]
    bad_lines: Annotated[list[int], "The numbers of the first unreadable lines"]
    note: str | None = omitted()


@operation("Migrate", http="POST /upkeep/migrate", tools="all", idempotent=True)
def _migrate(call: OperationCall, source_path: str = described("A file on the server's machine")) -> Migrated:
    """Import the JSONL file of the official memory server. Importing it again changes nothing."""
    from recollect.transfer import import_file  # noqa: PLC0415  # few sessions import a file

    try:
        path = Path(source_path).expanduser()
        report = import_file(
            call.engine, path, format="official", progress=call.progress, embed_progress=call.progress
        )
    # ValueError and RuntimeError: no file can have such a name.
    except (OSError, ValueError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InvalidInput(f"{source_path[:200]!r} cannot be read: {why}. Nothing was done.") from error
    return Migrated(
        report.entities_created,
        report.observations_added,
        report.relations_created,
        report.entities_merged,
        # Numbers only: the lines themselves may contain anything.
        [bad.line for bad in report.bad_lines],
        report.note,
    )


# Splitting an entity


@dataclass(frozen=True, slots=True)
class SplitCandidates:
    candidates: list[AnalysisRow]
    more: PageEnd = inlined()


@operation(
    "Find split candidates", http="GET /upkeep/splits", tools="all", pages=Pages(200, 20, 200), read_only=True
)
def _find_split_candidates(call: OperationCall) -> SplitCandidates:
    """Find entities that are too large and cover several topics."""
    found = call.engine.upkeep.find_split_candidates(call.progress)
    rows = [_analysis(each, _topics(each)) for each in found]
    return SplitCandidates(*list_page(call.page, rows, shared=True))


EntityName = Annotated[str, described("The entity's exact name")]
_SPLIT_PAGES = Pages(1_000, 200, 100)


@dataclass(frozen=True, slots=True)
class AnalyzedSplit:
    analysis: AnalysisRow
    more: PageEnd = inlined()


@operation(
    "Analyze a split",
    http=Endpoint("GET /entities/{name=entity_name}/split", tag="Upkeep"),
    tools="all",
    pages=_SPLIT_PAGES,
    read_only=True,
)
def _analyze_entity_split(call: OperationCall, entity_name: EntityName) -> AnalyzedSplit:
    """Tell whether an entity should be split, and into which topics."""
    found = call.engine.upkeep.propose_split(entity_name).analysis
    topics, more = _texts_page(call.page, _topics(found))
    return AnalyzedSplit(_analysis(found, topics), more)


class PartRow(TypedDict):
    name: Annotated[str, described("The new entity's name")]
    entity_type: NotRequired[Annotated[str, described("Its type; that of the original if not given")]]
    observations: Annotated[Many[str], described("The exact texts to move")]


@dataclass(frozen=True, slots=True)
class ProposedPart:
    name: Annotated[str, "The new entity's name"]
    entity_type: str
    observations: Annotated[list[str], "The exact texts to move"]


@dataclass(frozen=True, slots=True)
class ProposedSplit:
    suggested_splits: list[ProposedPart]
    analysis: AnalysisRow
    more: PageEnd = inlined()


@operation(
    "Propose a split",
    http=Endpoint("GET /entities/{name=entity_name}/split/proposal", tag="Upkeep"),
    tools="all",
    pages=_SPLIT_PAGES,
    read_only=True,
)
def _propose_entity_split(call: OperationCall, entity_name: EntityName) -> OperationReply[ProposedSplit]:
    """Propose new entities for the topics of a large one, with the observations that would move."""
    proposal = call.engine.upkeep.propose_split(entity_name)
    whole = [ProposedPart(part.name, part.type or "", list(part.observations)) for part in proposal.parts]
    parts, more = _texts_page(call.page, whole)
    remark = None if parts else "This entity has a single topic; leave it as it is."
    return OperationReply(ProposedSplit(parts, _analysis(proposal.analysis), more), remark=remark)


def _texts_page(asked: PageRequest, whole: Sequence[TopicRow | ProposedPart]) -> tuple[list[Any], PageEnd]:
    """Return the groups with their observations on this page. All pages together have every observation."""
    every = [(place, text) for place, group in enumerate(whole) for text in group.observations]
    heads = sum(row_tokens(replace(group, observations=[])) for group in whole)
    texts, more = list_page(asked, [text for _, text in every], frame=heads)
    groups: dict[int, Any] = {}
    for (place, _), text in zip(every[position(asked) :], texts, strict=False):
        groups.setdefault(place, replace(whole[place], observations=[])).observations.append(text)
    return list(groups.values()), more


class UndoRow(TypedDict):
    original: RowId
    parts: Many[RowId]
    observations: Many[RowId]


@dataclass(frozen=True, slots=True)
class ExecutedSplit:
    new_entities: list[str]
    moved_observations: int
    original_observations_remaining: int
    undo: SplitUndo


@operation(
    "Execute a split",
    http=Endpoint("POST /entities/{name=entity_name}/split", tag="Upkeep", resource="entity"),
    tools="all",
)
def _execute_entity_split(
    call: OperationCall,
    entity_name: EntityName,
    approved_splits: Many[PartRow] = described("The new entities, as proposed or changed"),
) -> OperationReply[ExecutedSplit]:
    """Split an entity as proposed, or as you changed the proposal: all at once or not at all. To reverse
    it, pass the answer's `undo` to `undo_entity_split`.
    """
    done = call.engine.upkeep.execute_split(entity_name, approved_splits, call.progress)
    names = [part.name for part in done.parts]
    return OperationReply(ExecutedSplit(names, done.moved, done.remaining, done.undo), None, done.note)


@dataclass(frozen=True, slots=True)
class UndoneSplit:
    entity_name: str
    restored: int


@operation("Undo a split", http="POST /upkeep/splits/undo", tools="all")
def _undo_entity_split(call: OperationCall, undo: UndoRow) -> OperationReply[UndoneSplit]:
    """Join a split entity again, with the `undo` that the split returned."""
    done = call.engine.upkeep.undo_split(undo)
    return OperationReply(UndoneSplit(done.name, done.restored), None, unfinished_note(done.note))


# Statistics


@dataclass(frozen=True, slots=True)
class StoreCounts:
    observations: int
    relations: int
    forgotten: Annotated[int, "`restore` can bring them back"]
    texts_with_a_vector: int
    texts_waiting_for_one: int
    bytes: Annotated[int, "Size of the whole store, including other owners' memories"]
    schema: int


@dataclass(frozen=True, slots=True)
class Stats:
    entities: int
    notes: int
    messages: int
    superseded: Annotated[int, "Corrected since, and kept as history"]
    sessions: int
    model: Annotated[str | None, "The embedding model"]
    store: StoreCounts


@operation("Statistics", http=Endpoint("GET /stats", tag="Upkeep"), tools="all", read_only=True)
def _stats(call: OperationCall) -> Stats:
    """Count what the memory contains, its size, and the texts that have no vector yet."""
    engine = call.engine
    within = Internals(engine)
    live, ever = within.count_memories(), within.count_memories(superseded=True)
    counts, model = within.count_in_scope(), engine.model
    state = engine.upkeep.store_state()
    own = (counts.observations, counts.relations, counts.forgotten, counts.vectors, counts.due)
    return Stats(
        live.get(Kind.ENTITY, 0),
        live.get(Kind.NOTE, 0),
        live.get(Kind.MESSAGE, 0),
        sum(ever.values()) - sum(live.values()),
        len(engine.sessions.list()),
        None if model is None else model.name,
        StoreCounts(*own, state.bytes, state.schema),
    )


# Review: items for a person to decide. Each decision can be undone.


@dataclass(frozen=True, slots=True)
class ReviewPage:
    items: list[ReviewItem]
    more: PageEnd = inlined()


@operation("List review items", http="GET /settle/{kind}", read_only=True)
def _to_settle(
    call: OperationCall,
    kind: SettleKind,
    dismissed: bool = Field(default=False, description="List the dismissed items instead"),
    stale_days: float = Field(default=90, ge=0, le=36_500, description="Days without use; 90 if not given"),
    limit: PageLimit = 50,
    cursor: Cursor | None = None,
) -> ReviewPage:
    """List items of one kind for a person to decide. The kinds are contradictions (among the newest texts),
    notes and observations that nearly repeat another, entities to split, and unused entities.
    """
    start = place_of(cursor)
    found, more = call.engine.upkeep.settling.page(
        kind, start=start, limit=limit, dismissed=dismissed, stale_days=stale_days, progress=call.progress
    )
    return ReviewPage(list(found), page_end(start + len(found), more))


class SettleUndoRow(TypedDict):
    key: str
    action: SettleAction
    memories: Many[RowId]
    observations: Many[RowId]
    status: NotRequired[Annotated[str, described("The former status of an archived entity")]]
    split: NotRequired[UndoRow]


@dataclass(frozen=True, slots=True)
class Settled:
    undo: Annotated[SettleUndo, "For `undo_settling`"]


@operation("Settle", http="POST /settle")
def _settle(call: OperationCall, key: str, action: SettleAction) -> OperationReply[Settled]:
    """Decide one item of `to_settle`. `supersede_older` retires the older text; `keep` keeps both and
    dismisses the item. The answer's `undo` reverses it.
    """
    return OperationReply(Settled(call.engine.upkeep.settling.settle(key, action)), "Done.")


@dataclass(frozen=True, slots=True)
class UndoneDecision:
    key: str


@operation("Undo a decision", http="POST /settle/undo")
def _undo_settling(call: OperationCall, undo: SettleUndoRow) -> OperationReply[UndoneDecision]:
    """Undo a decision of `settle`, with the `undo` that it returned."""
    split = undo.get("split")
    given = SettleUndo(
        undo["key"],
        undo["action"],
        tuple(undo["memories"]),
        tuple(undo["observations"]),
        undo.get("status"),
        None
        if split is None
        else SplitUndo(split["original"], tuple(split["parts"]), tuple(split["observations"])),
    )
    call.engine.upkeep.settling.undo(given)
    return OperationReply(UndoneDecision(given.key), "Taken back.")
