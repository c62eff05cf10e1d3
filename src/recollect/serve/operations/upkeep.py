"""Operations that look after a memory: reflections, duplicates, what wants care, splitting, statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from recollect.engine.limits import DEFAULT_LIMIT
from recollect.engine.notes.reflections import mood_of
from recollect.records import Kind
from recollect.serve.operations.arguments import (
    Arguments,
    Many,
    RowId,
    at_most,
    budget_from,
    described,
    next_page,
    optional,
)
from recollect.serve.operations.memories import RECALL_BUDGET
from recollect.serve.operations.operation import OperationCall, OperationReply, continuation_text, operation
from recollect.serve.operations.paging import (
    BUDGET,
    LEAST_PROSE,
    continuation,
    cut_note,
    layers,
    list_page,
    position,
    row_tokens,
    shorten_row,
)
from recollect.serve.operations.rows import (
    HitRow,
    PageRows,
    SimilarRow,
    hit_lines,
    hit_row,
    mentioned_names,
    similar_row,
)
from recollect.serve.operations.search_pages import find, hits_page
from recollect.text.token_counts import count_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.engine.results import Hit
    from recollect.engine.upkeep.results import SplitAnalysis
    from recollect.serve.operations.arguments import PageArguments

_MOST_ROWS = 20
_MOST_PAIRS = 50
_ALL_PAIRS = 10_000
_MOST_TEXTS = 200


# Reflections


class AddReflectionArguments(Arguments):
    content: str
    about: Many[str] = Field(default=[], description="Names of the entities it is about")
    author: str | None = optional("Whose thought it is")
    mood: str | None = optional("Such as frustration, satisfaction, curiosity, doubt, insight")


class AddReflectionOutput(TypedDict):
    id: int
    created: bool
    mentions: list[str]
    similar: NotRequired[SimilarRow]


@operation("add_reflection", "Add a reflection")
def _add_reflection(call: OperationCall[AddReflectionArguments]) -> OperationReply[AddReflectionOutput]:
    """Save a thought about how things went or what to do better: yours or the user's, apart from facts."""
    given = call.arguments
    note = call.engine.upkeep.add_reflection(
        given.content, about=given.about, author=given.author, mood=given.mood
    )
    result: AddReflectionOutput = {
        "id": note.id,
        "created": note.created,
        "mentions": mentioned_names(note),
    }
    if note.similar is not None:
        result["similar"] = similar_row(note.similar)
    return OperationReply(result, f"Reflection #{note.id} saved.")


class SearchReflectionsArguments(Arguments):
    query: str
    author: str | None = None
    mood: str | None = None
    about: str | None = optional("An entity's name")
    limit: int | None = at_most(50, DEFAULT_LIMIT)
    cursor: str | None = next_page()
    budget_tokens: int | None = budget_from(200)


class ReflectionRow(HitRow):
    author: str | None
    mood: str | None


class SearchReflectionsOutput(PageRows):
    results: list[ReflectionRow]
    left_out: int


@operation("search_reflections", "Search reflections", read_only=True)
def _search_reflections(
    call: OperationCall[SearchReflectionsArguments],
) -> OperationReply[SearchReflectionsOutput]:
    """Find earlier reflections by meaning, before you repeat a mistake."""
    given = call.arguments
    found = find(
        call,
        lambda limit: call.engine.upkeep.search_reflections(
            given.query,
            author=given.author,
            mood=given.mood,
            about=given.about,
            limit=limit,
            record=given.cursor is None,
        ),
    )

    def row(hit: Hit) -> ReflectionRow:
        return {**hit_row(hit), "author": hit.memory.speaker, "mood": mood_of(hit.memory)}

    page = hits_page(call, found, row, RECALL_BUDGET)
    return OperationReply(
        {"results": page.rows, "left_out": page.left_out, **page.more}, hit_lines(page.rows, page.notes)
    )


# What wants care


class FindDuplicatesArguments(Arguments):
    entity_name: str | None = optional("Only this entity; all if not given")
    threshold: float = Field(
        default=0.85, ge=0, le=1, description="Similarity from 0 to 1; 0.85 if not given"
    )
    limit: int | None = at_most(200, _MOST_PAIRS)
    cursor: str | None = next_page()
    budget_tokens: int | None = budget_from(100)


class PairRow(TypedDict):
    entity: str
    older: str
    newer: str
    similarity: float
    match: str


class FindDuplicatesOutput(PageRows):
    duplicates: list[PairRow]
    left_out: Annotated[int, described("Pairs after these")]


@operation("find_duplicate_observations", "Find duplicate observations", read_only=True)
def _find_duplicates(
    call: OperationCall[FindDuplicatesArguments],
) -> OperationReply[FindDuplicatesOutput]:
    """Pairs of observations of an entity that nearly repeat one another, to be merged or removed."""
    given = call.arguments
    found = call.engine.upkeep.find_duplicate_observations(
        given.entity_name, threshold=given.threshold, limit=_ALL_PAIRS, progress=call.progress
    )
    pairs: list[PairRow] = [
        {
            "entity": pair.entity,
            "older": pair.older.content,
            "newer": pair.newer.content,
            "similarity": round(pair.similarity, 3),
            "match": pair.match,
        }
        for pair in found.pairs
    ]
    rows, more = list_page(given, pairs, _MOST_PAIRS)
    left = len(pairs) + found.left_out - position(given) - len(rows)
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
    topics: list[TopicRow] = [
        {
            "name": topic.name,
            "count": len(topic.observations),
            "observations": [observation.content for observation in topic.observations],
        }
        for topic in analysis.topics
    ]
    return {**_outline(analysis), "topics": topics}


class ReportArguments(Arguments):
    stale_days: float = Field(default=90, ge=0, description="Days without use; 90 if not given")
    limit: int | None = optional(f"At most so many of each section; {_MOST_ROWS} if not given", ge=1, le=200)
    cursor: str | None = next_page()
    budget_tokens: int | None = budget_from(800)


class SummaryRow(TypedDict):
    entities: int
    observations: int
    notes: int


class SectionCounts(TypedDict):
    split_candidates: int
    flagged_observations: int
    flagged_notes: int
    stale_entities: int
    large_entities: int


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
    split_candidates: list[AnalysisRow]
    flagged_observations: list[FlaggedObservationRow]
    flagged_notes: list[FlaggedNoteRow]
    stale_entities: list[StaleRow]
    large_entities: list[LargeRow]


@operation("consolidation_report", "Consolidation report", read_only=True)
def _report(call: OperationCall[ReportArguments]) -> OperationReply[ReportOutput]:
    """What in the memory wants care: entities to split, near-repeats, what is stale or oversized."""
    given = call.arguments
    report = call.engine.upkeep.consolidation_report(stale_days=given.stale_days, progress=call.progress)
    sections: dict[str, list[Any]] = {
        "split_candidates": list(map(_analysis, report.split_candidates)),
        "flagged_observations": [
            {"entity": one.entity, "observation": one.observation.content, "similar": one.similar.content}
            for one in report.flagged_observations
        ],
        "flagged_notes": [
            {"id": one.id, "text": one.text, "similar_to": one.similar_to, "similar": one.similar_text}
            for one in report.flagged_notes
        ],
        "stale_entities": [{"name": one.name, "type": one.type} for one in report.stale],
        "large_entities": [
            {"name": one.name, "observations": one.observations, "limit": one.limit}
            for one in report.oversized
        ],
    }
    start, budget = position(given), given.budget_tokens or BUDGET
    frame = {
        "summary": {"entities": report.entities, "observations": report.observations, "notes": report.notes},
        "found": {name: len(section) for name, section in sections.items()},
    }
    rows, deep = layers(sections, start, given.limit or _MOST_ROWS, budget - row_tokens(frame))
    longest = max(map(len, sections.values()))
    cut = sum(
        row is not whole
        for name, shown in rows.items()
        for row, whole in zip(shown, sections[name][start:], strict=False)
    )
    notes = [cut_note(cut, budget)] if cut else []
    notes += ["Some sections go on; pass the `cursor`."] if start + deep < longest else []
    more = continuation(start + deep, longest, " ".join(notes) or None)
    result = cast("ReportOutput", {**frame, **rows, **more})
    fits = start == 0 and count_tokens(report.text) <= budget
    return OperationReply(result, report.text, continuation_text(more)) if fits else OperationReply(result)


# Splitting an entity


class SplitCandidatesArguments(Arguments):
    limit: int | None = at_most(200, _MOST_ROWS)
    cursor: str | None = next_page()
    budget_tokens: int | None = budget_from(200)


class SplitCandidatesOutput(PageRows):
    candidates: list[AnalysisRow]


@operation("find_split_candidates", "Find split candidates", read_only=True)
def _split_candidates(
    call: OperationCall[SplitCandidatesArguments],
) -> OperationReply[SplitCandidatesOutput]:
    """Entities that grew too large and fall into several topics."""
    found = list(map(_analysis, call.engine.upkeep.find_split_candidates(call.progress)))
    rows, more = list_page(call.arguments, found, _MOST_ROWS, shared=True)
    return OperationReply({"candidates": rows, **more})


class SplitArguments(Arguments):
    entity_name: str = described("The entity's exact name")
    limit: int | None = optional(f"At most so many observations; {_MOST_TEXTS} if not given", ge=1, le=1_000)
    cursor: str | None = next_page()
    budget_tokens: int | None = budget_from(100)


class AnalyzeSplitOutput(PageRows):
    analysis: AnalysisRow


@operation("analyze_entity_split", "Analyze a split", read_only=True)
def _analyze_split(call: OperationCall[SplitArguments]) -> OperationReply[AnalyzeSplitOutput]:
    """Whether an entity should be split, and into which topics."""
    analysis = call.engine.upkeep.analyze_split(call.arguments.entity_name)
    heads = [{"name": one.name, "count": len(one.observations)} for one in analysis.topics]
    texts = [[observation.content for observation in one.observations] for one in analysis.topics]
    topics, more = _texts_page(call.arguments, heads, texts)
    row: AnalysisRow = {**_outline(analysis), "topics": topics}
    return OperationReply({"analysis": row, **more})


class PartRow(TypedDict):
    name: Annotated[str, described("The new entity's name")]
    entity_type: NotRequired[Annotated[str, described("Its type; that of the original if not given")]]
    observations: Annotated[Many[str], described("The exact texts to move")]


class ProposeSplitOutput(PageRows):
    suggested_splits: list[PartRow]
    analysis: AnalysisRow


@operation("propose_entity_split", "Propose a split", read_only=True)
def _propose_split(call: OperationCall[SplitArguments]) -> OperationReply[ProposeSplitOutput]:
    """New entities for the topics of an overgrown one, with the observations that would move."""
    proposal = call.engine.upkeep.propose_split(call.arguments.entity_name)
    heads = [{"name": part.name, "entity_type": part.type or ""} for part in proposal.parts]
    parts, more = _texts_page(call.arguments, heads, [list(part.observations) for part in proposal.parts])
    analysis = _outline(proposal.analysis)
    remark = None if heads else "It does not fall apart into topics; leave it as it is."
    return OperationReply({"suggested_splits": parts, "analysis": analysis, **more}, remark=remark)


def _texts_page(
    given: PageArguments, heads: Sequence[dict[str, Any]], texts: Sequence[Sequence[str]]
) -> tuple[list[Any], PageRows]:
    """The groups with those of their texts that fall on this page; page after page joins to the whole."""
    budget = left = given.budget_tokens or BUDGET
    every = [(place, text) for place, group in enumerate(texts) for text in group]
    start = position(given)
    groups: dict[int, dict[str, Any]] = {}
    done, cut = start, 0
    for place, text in every[start : start + (given.limit or _MOST_TEXTS)]:
        head = groups.get(place) or {**heads[place], "observations": []}
        price = 0 if place in groups else row_tokens(head)
        # The first comes at least in part, or a page could never pass it.
        shown = text if groups else shorten_row(text, max(LEAST_PROSE, left - price))
        price += row_tokens(shown)
        if groups and price > left:
            break
        groups.setdefault(place, head)["observations"].append(shown)
        left -= price
        done += 1
        cut += shown is not text
    notes = [cut_note(cut, budget)] if cut else []
    if done < len(every):
        notes.append(
            f"{len(every) - done} of {len(every)} observations come after these; go on with `cursor`."
        )
    return list(groups.values()), continuation(done, len(every), " ".join(notes) or None)


class UndoRow(TypedDict):
    """What takes a split back."""

    original: RowId
    parts: Many[RowId]
    observations: Many[RowId]


class ExecuteSplitArguments(Arguments):
    entity_name: str = described("The entity's exact name")
    approved_splits: Many[PartRow] = described("The new entities, as proposed or changed")


class ExecuteSplitOutput(TypedDict):
    new_entities: list[str]
    moved_observations: int
    original_observations_remaining: int
    undo: UndoRow


@operation("execute_entity_split", "Execute a split")
def _execute_split(call: OperationCall[ExecuteSplitArguments]) -> OperationReply[ExecuteSplitOutput]:
    """Split an entity as proposed, or as you changed the proposal: all at once or not at all. The answer's
    `undo` takes it back.
    """
    given = call.arguments
    done = call.engine.upkeep.execute_split(given.entity_name, given.approved_splits, call.progress)
    result: ExecuteSplitOutput = {
        "new_entities": [part.name for part in done.parts],
        "moved_observations": done.moved,
        "original_observations_remaining": done.remaining,
        "undo": {
            "original": done.undo.original,
            "parts": list(done.undo.parts),
            "observations": list(done.undo.observations),
        },
    }
    return OperationReply(result, None, done.note)


class UndoSplitArguments(Arguments):
    undo: UndoRow


class UndoSplitOutput(TypedDict):
    entity_name: str
    restored: int


@operation("undo_entity_split", "Undo a split")
def _undo_split(call: OperationCall[UndoSplitArguments]) -> OperationReply[UndoSplitOutput]:
    """Put a split entity together again, with the `undo` that the split gave."""
    done = call.engine.upkeep.undo_split(call.arguments.undo)
    return OperationReply({"entity_name": done.name, "restored": done.restored})


# Statistics


class StatsArguments(Arguments):
    pass


class StoreCounts(TypedDict):
    observations: int
    relations: int
    forgotten: Annotated[int, described("`restore` can bring them back")]
    scopes: Annotated[
        int, described("Owners and agents that share the file; the counts here are of all of them")
    ]
    texts_with_a_vector: int
    texts_waiting_for_one: int
    bytes: int
    schema: int


class StatsOutput(TypedDict):
    entities: int
    notes: int
    messages: int
    superseded: Annotated[int, described("Corrected since, and kept as history")]
    sessions: int
    model: Annotated[str | None, described("The model that finds by meaning")]
    store: StoreCounts


@operation("stats", "Statistics", read_only=True)
def _stats(call: OperationCall[StatsArguments]) -> OperationReply[StatsOutput]:
    """How much the memory holds, how large it is, and what still waits to be found by meaning."""
    engine = call.engine
    live = engine.upkeep.how_many()
    ever = engine.upkeep.how_many(superseded=True)
    counts, model = engine.counts(), engine.model
    return OperationReply(
        {
            "entities": live.get(Kind.ENTITY, 0),
            "notes": live.get(Kind.NOTE, 0),
            "messages": live.get(Kind.MESSAGE, 0),
            "superseded": sum(ever.values()) - sum(live.values()),
            "sessions": len(engine.sessions.list()),
            "model": None if model is None else model.name,
            "store": {
                "observations": counts.observations,
                "relations": counts.relations,
                "forgotten": counts.forgotten,
                "scopes": counts.scopes,
                "texts_with_a_vector": counts.vectors,
                "texts_waiting_for_one": counts.due,
                "bytes": counts.bytes,
                "schema": counts.schema,
            },
        }
    )
