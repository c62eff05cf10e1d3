"""Operations that look after a memory: duplicates, what wants care, splitting, statistics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from recollect.engine.after_commit import unfinished_note
from recollect.errors import InvalidInput
from recollect.records import Kind
from recollect.serve.operations.operation import (
    Many,
    OperationCall,
    OperationReply,
    PageRequest,
    Pages,
    RowId,
    continuation_text,
    described,
    operation,
    optional,
)
from recollect.serve.operations.paging import continuation, fit_page, list_page, position, row_tokens
from recollect.serve.operations.rows import PageRows, row_of
from recollect.text.token_counts import count_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.engine.upkeep.results import SplitAnalysis

_ALL_PAIRS = 10_000


class PairRow(TypedDict):
    entity: str
    older: str
    newer: str
    similarity: float
    match: str


class FindDuplicatesOutput(PageRows):
    duplicates: list[PairRow]
    left_out: Annotated[int, described("Pairs after these")]


@operation("Find duplicate observations", pages=Pages(200, 50, 100), read_only=True)
def _find_duplicate_observations(
    call: OperationCall,
    entity_name: str | None = optional("Only this entity; all if not given"),
    threshold: float = Field(
        default=0.85, ge=0, le=1, description="Similarity from 0 to 1; 0.85 if not given"
    ),
) -> OperationReply[FindDuplicatesOutput]:
    """Pairs of observations of an entity that nearly repeat one another, to be merged or removed."""
    found = call.engine.upkeep.find_duplicate_observations(
        entity_name, threshold=threshold, limit=_ALL_PAIRS, progress=call.progress
    )
    pairs = [row_of(PairRow, pair, similarity=round(pair.similarity, 3)) for pair in found.pairs]
    rows, more = list_page(call.page, pairs)
    left = len(pairs) + found.left_out - position(call.page) - len(rows)
    return OperationReply({"duplicates": rows, **more, "left_out": max(0, left)})


class TopicRow(TypedDict):
    name: str
    count: Annotated[int, described("How many observations it has")]
    observations: list[str]


class AnalysisRow(TypedDict):
    """How large an entity is; where it is asked for, also the topics that it falls into."""

    entity_name: str
    entity_type: str
    observation_count: int
    threshold: Annotated[int, described("Observations from which this type counts as oversized")]
    needs_split: bool
    topics: NotRequired[list[TopicRow]]
    split_score: float


def _outline(analysis: SplitAnalysis) -> AnalysisRow:
    return {
        "entity_name": analysis.name,
        "entity_type": analysis.type,
        "observation_count": analysis.observations,
        "threshold": analysis.limit,
        "needs_split": analysis.needs_split,
        "split_score": round(analysis.score, 4),
    }


def _analysis(analysis: SplitAnalysis) -> AnalysisRow:
    topics = [row_of(TopicRow, topic, count=len(topic.observations)) for topic in analysis.topics]
    return {**_outline(analysis), "topics": topics}


class SummaryRow(TypedDict):
    entities: int
    observations: int
    notes: int


class SectionCounts(TypedDict):
    contradictions: int
    split_candidates: int
    flagged_observations: int
    flagged_notes: int
    stale_entities: int
    large_entities: int


class OpenContradictionRow(TypedDict):
    """Two memories in force that seem to contradict each other."""

    older: int
    older_text: str
    newer: int
    newer_text: str
    command: Annotated[str, described("The command that retires the older one")]


class FlaggedObservationRow(TypedDict):
    entity: str
    observation: str
    similar: str


class FlaggedNoteRow(TypedDict):
    id: int
    text: str
    similar_to: int
    similar: str


class StaleRow(TypedDict):
    name: str
    type: str


class LargeRow(TypedDict):
    name: str
    observations: int
    limit: int


class ReportOutput(PageRows):
    summary: SummaryRow
    found: SectionCounts
    contradictions: list[OpenContradictionRow]
    split_candidates: list[AnalysisRow]
    flagged_observations: list[FlaggedObservationRow]
    flagged_notes: list[FlaggedNoteRow]
    stale_entities: list[StaleRow]
    large_entities: list[LargeRow]


@operation("Consolidation report", pages=Pages(200, 20, 800), read_only=True)
def _consolidation_report(
    call: OperationCall,
    stale_days: float = Field(default=90, ge=0, description="Days without use; 90 if not given"),
) -> OperationReply[ReportOutput]:
    """What in the memory wants care: contradictions, entities to split, near-repeats, what is stale or
    oversized.
    """
    report = call.engine.upkeep.consolidation_report(stale_days=stale_days, progress=call.progress)
    sections: dict[str, list[Any]] = {
        "contradictions": [row_of(OpenContradictionRow, one) for one in report.contradictions],
        "split_candidates": list(map(_analysis, report.split_candidates)),
        "flagged_observations": [row_of(FlaggedObservationRow, one) for one in report.flagged_observations],
        "flagged_notes": [
            row_of(FlaggedNoteRow, one, similar=one.similar_text) for one in report.flagged_notes
        ],
        "stale_entities": [row_of(StaleRow, one) for one in report.stale],
        "large_entities": [row_of(LargeRow, one) for one in report.oversized],
    }
    found = {name: len(section) for name, section in sections.items()}
    frame = {"summary": row_of(SummaryRow, report), "found": found}
    # The first of every section, then the second: page after page covers all of them, each row once.
    every = [
        (place, name, rows[place])
        for place in range(max(found.values()))
        for name, rows in sections.items()
        if place < len(rows)
    ]
    start = position(call.page)
    asked = [each for each in every[start:] if each[0] < every[start][0] + call.page.size]
    rows = [row for *_, row in asked]
    page = fit_page(rows, call.page.budget, shared=False, frame=row_tokens(frame))
    more = continuation(start + len(page.rows), len(every), page.note())
    shown: dict[str, list[Any]] = {name: [] for name in sections}
    for (_, name, _), row in zip(asked, page.rows, strict=False):
        shown[name].append(row)
    result = cast("ReportOutput", {**frame, **shown, **more})
    fits = start == 0 and count_tokens(report.text) <= call.page.budget
    return OperationReply(result, report.text, continuation_text(more)) if fits else OperationReply(result)


class MigrateOutput(TypedDict):
    entities: Annotated[int, described("Created")]
    observations: Annotated[int, described("Added")]
    relations: Annotated[int, described("Created")]
    known: Annotated[int, described("Entities that were there already")]
    bad_lines: Annotated[list[int], described("The first of the lines that could not be read")]
    note: NotRequired[str]


@operation("Migrate", idempotent=True)
def _migrate(
    call: OperationCall, source_path: str = described("A file on the server's machine")
) -> OperationReply[MigrateOutput]:
    """Bring in the JSONL file of the official memory server, as `recollect import` does. Running it again
    changes nothing.
    """
    from recollect.transfer import import_file  # noqa: PLC0415  # few sessions bring something in

    try:
        path = Path(source_path).expanduser()
        report = import_file(
            call.engine, path, format="official", progress=call.progress, embed_progress=call.progress
        )
    # The last two: no file could have such a name.
    except (OSError, ValueError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InvalidInput(f"{source_path[:200]!r} cannot be read: {why}. Nothing was done.") from error
    result: MigrateOutput = {
        "entities": report.entities_created,
        "observations": report.observations_added,
        "relations": report.relations_created,
        "known": report.entities_merged,
        # By number alone: what they hold may be no memory at all.
        "bad_lines": [bad.line for bad in report.bad_lines],
    }
    if report.note:
        result["note"] = report.note
    return OperationReply(result)


# Splitting an entity


class SplitCandidatesOutput(PageRows):
    candidates: list[AnalysisRow]


@operation("Find split candidates", pages=Pages(200, 20, 200), read_only=True)
def _find_split_candidates(call: OperationCall) -> OperationReply[SplitCandidatesOutput]:
    """Entities that grew too large and fall into several topics."""
    found = list(map(_analysis, call.engine.upkeep.find_split_candidates(call.progress)))
    rows, more = list_page(call.page, found, shared=True)
    return OperationReply({"candidates": rows, **more})


EntityName = Annotated[str, described("The entity's exact name")]
_SPLIT_PAGES = Pages(1_000, 200, 100)


class AnalyzeSplitOutput(PageRows):
    analysis: AnalysisRow


@operation("Analyze a split", pages=_SPLIT_PAGES, read_only=True)
def _analyze_entity_split(call: OperationCall, entity_name: EntityName) -> OperationReply[AnalyzeSplitOutput]:
    """Whether an entity should be split, and into which topics."""
    analysis = _analysis(call.engine.upkeep.analyze_split(entity_name))
    topics, more = _texts_page(call.page, analysis["topics"])
    return OperationReply({"analysis": {**analysis, "topics": topics}, **more})


class PartRow(TypedDict):
    name: Annotated[str, described("The new entity's name")]
    entity_type: NotRequired[Annotated[str, described("Its type; that of the original if not given")]]
    observations: Annotated[Many[str], described("The exact texts to move")]


class ProposeSplitOutput(PageRows):
    suggested_splits: list[PartRow]
    analysis: AnalysisRow


@operation("Propose a split", pages=_SPLIT_PAGES, read_only=True)
def _propose_entity_split(call: OperationCall, entity_name: EntityName) -> OperationReply[ProposeSplitOutput]:
    """New entities for the topics of an overgrown one, with the observations that would move."""
    proposal = call.engine.upkeep.propose_split(entity_name)
    whole = [row_of(PartRow, part, entity_type=part.type or "") for part in proposal.parts]
    parts, more = _texts_page(call.page, whole)
    remark = None if parts else "It does not fall apart into topics; leave it as it is."
    result: ProposeSplitOutput = {
        "suggested_splits": parts,
        "analysis": _outline(proposal.analysis),
        **more,
    }
    return OperationReply(result, remark=remark)


def _texts_page(asked: PageRequest, whole: Sequence[TopicRow | PartRow]) -> tuple[list[Any], PageRows]:
    """The groups with those of their observations on this page; page after page joins to the whole."""
    every = [(place, text) for place, group in enumerate(whole) for text in group["observations"]]
    heads = sum(row_tokens({**group, "observations": []}) for group in whole)
    texts, more = list_page(asked, [text for _, text in every], frame=heads)
    groups: dict[int, Any] = {}
    for (place, _), text in zip(every[position(asked) :], texts, strict=False):
        groups.setdefault(place, {**whole[place], "observations": []})["observations"].append(text)
    return list(groups.values()), more


class UndoRow(TypedDict):
    original: RowId
    parts: Many[RowId]
    observations: Many[RowId]


class ExecuteSplitOutput(TypedDict):
    new_entities: list[str]
    moved_observations: int
    original_observations_remaining: int
    undo: UndoRow


@operation("Execute a split")
def _execute_entity_split(
    call: OperationCall,
    entity_name: EntityName,
    approved_splits: Many[PartRow] = described("The new entities, as proposed or changed"),
) -> OperationReply[ExecuteSplitOutput]:
    """Split an entity as proposed, or as you changed the proposal: all at once or not at all. The answer's
    `undo` takes it back.
    """
    done = call.engine.upkeep.execute_split(entity_name, approved_splits, call.progress)
    result: ExecuteSplitOutput = {
        "new_entities": [part.name for part in done.parts],
        "moved_observations": done.moved,
        "original_observations_remaining": done.remaining,
        "undo": row_of(UndoRow, done.undo),
    }
    return OperationReply(result, None, done.note)


class UndoSplitOutput(TypedDict):
    entity_name: str
    restored: int


@operation("Undo a split")
def _undo_entity_split(call: OperationCall, undo: UndoRow) -> OperationReply[UndoSplitOutput]:
    """Put a split entity together again, with the `undo` that the split gave."""
    done = call.engine.upkeep.undo_split(undo)
    return OperationReply(
        {"entity_name": done.name, "restored": done.restored}, None, unfinished_note(done.note)
    )


# Statistics


class StoreCounts(TypedDict):
    observations: int
    relations: int
    forgotten: Annotated[int, described("`restore` can bring them back")]
    texts_with_a_vector: int
    texts_waiting_for_one: int
    bytes: Annotated[int, described("Of the whole store, with what belongs to others")]
    schema: int


class StatsOutput(TypedDict):
    entities: int
    notes: int
    messages: int
    superseded: Annotated[int, described("Corrected since, and kept as history")]
    sessions: int
    model: Annotated[str | None, described("The model that finds by meaning")]
    store: StoreCounts


@operation("Statistics", read_only=True)
def _stats(call: OperationCall) -> OperationReply[StatsOutput]:
    """How much the memory holds, how large it is, and what still waits to be found by meaning."""
    engine = call.engine
    live = engine.upkeep.how_many()
    ever = engine.upkeep.how_many(superseded=True)
    counts, model = engine.upkeep.own_counts(), engine.model
    size, schema = engine.upkeep.size()
    result: StatsOutput = {
        "entities": live.get(Kind.ENTITY, 0),
        "notes": live.get(Kind.NOTE, 0),
        "messages": live.get(Kind.MESSAGE, 0),
        "superseded": sum(ever.values()) - sum(live.values()),
        "sessions": len(engine.sessions.list()),
        "model": None if model is None else model.name,
        "store": row_of(
            StoreCounts,
            counts,
            texts_with_a_vector=counts.vectors,
            texts_waiting_for_one=counts.due,
            bytes=size,
            schema=schema,
        ),
    }
    return OperationReply(result)
