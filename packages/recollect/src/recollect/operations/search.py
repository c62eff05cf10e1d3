"""Operations that find memories, explain rankings, and take feedback."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import field, replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from recollect.admin import Internals
from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.json_values import in_json, inlined, omitted, to_json
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import DEFAULT_LIMIT, ConfidenceLabel, confidence_label
from recollect.domain.records import Kind, RecallOptions
from recollect.memories.graph import entity_named, to_memory_v2
from recollect.memories.notes import reflection_tag
from recollect.operations.memories import MessageRow, RelationKey, naming_ids, relation_triple
from recollect.operations.operation import (
    BUDGET,
    Endpoint,
    LookBack,
    Many,
    OperationCall,
    OperationReply,
    Pages,
    RowId,
    as_json,
    described,
    operation,
    optional,
)
from recollect.operations.paging import PageEnd, find, fit_page, hits_page, join_sentences, shorten_row
from recollect.operations.rows import HitRow, best_observations_first, hit_lines, hit_row, rounded
from recollect.ranking.candidates import Reason
from recollect.ranking.profiles import DEFAULT
from recollect.search.why_not import WhyNot

if TYPE_CHECKING:
    from recollect.domain.results import Hit


_RECALL_BUDGET = 2_000
_CONTEXT_BUDGET = 1_000
_MOST_GRADED = 50

AnyKind = Annotated[Kind, Field(strict=False)]
_PROFILES = "recollect (default), limbic, mnemosyne, reverie or cognis"
_PROFILE = Field(default="recollect", description=_PROFILES)


@dataclass(frozen=True, slots=True)
class RecallPage:
    hits: list[HitRow]
    left_out: Annotated[int, "Hits that did not fit the budget"]
    answer: ConfidenceLabel
    more: PageEnd = inlined()


@operation(
    "Recall",
    http=Endpoint("POST /recall", tag="Search"),
    tools="default",
    pages=Pages(50, DEFAULT_LIMIT, 150, _RECALL_BUDGET, worth_reading=True),
    read_only=True,
)
def _recall(
    call: OperationCall,
    query: str = described("What you want to know, as a question"),
    kinds: Many[AnyKind] | None = None,
    tags: Many[str] | None = None,
    as_of: LookBack | None = optional("Search the memory as of then; a day: its end"),
    session: str | None = optional("Limit messages to this session"),
    include_superseded: bool = False,
    profile: str | None = optional(_PROFILES),
    min_confidence: float | None = Field(default=None, ge=0, le=1),
) -> OperationReply[RecallPage]:
    """Search everything remembered (notes, entities, past messages) by meaning, words and time, best first.
    Use it before you answer anything that may depend on earlier conversations: people, preferences,
    decisions, plans, what was said and when.
    """
    page = hits_page(
        call,
        query,
        lambda limit: call.engine.recall(
            query,
            limit=limit,
            kinds=tuple(Kind) if kinds is None else kinds,
            tags=tags or (),
            as_of=as_of,
            session=session,
            include_superseded=include_superseded,
            profile=DEFAULT if profile is None else profile,
            options=RecallOptions(min_confidence=min_confidence, abstain=limit is None, defer_recording=True),
        ),
        lambda hit: hit_row(hit, superseded=include_superseded),
    )
    # Searches at a past time and requests for further pages are not recorded.
    if as_of is None and call.page.cursor is None:
        call.engine.record_shown([hit["id"] for hit in page.rows], page.answer)
    likelihood = confidence_label(page.answer.confidence or 0.0)
    notes, without_hits = page.notes, "Nothing was found."
    if likelihood == "unlikely" and page.rows:
        notes = ["Nothing here seems to answer that; these are the nearest.", *notes]
    elif likelihood == "unlikely" and page.answer.withheld:
        without_hits = "Nothing here seems to answer that; name a `limit` to see the nearest memories."
    result = RecallPage(page.rows, page.left_out, likelihood, page.more)
    return OperationReply(result, hit_lines(page.rows, notes, without_hits))


@dataclass(frozen=True, slots=True)
class ContextText:
    text: str
    memories: list[int]
    tokens: int
    left_out: int


@operation("Context", http=Endpoint("POST /context", tag="Search"), tools="default", read_only=True)
def _context(
    call: OperationCall,
    query: str | None = None,
    messages: Many[MessageRow] | None = None,
    session: str | None = optional("Include its recent turns"),
    budget_tokens: int = Field(default=_CONTEXT_BUDGET, ge=50),
) -> OperationReply[ContextText]:
    """Get relevant memories, dated and sourced, at the start of a conversation or task. Requires a `query`,
    or the last `messages`.
    """
    if not (query or messages):
        raise InvalidInput("Give a `query`, or the last `messages` of the conversation.")
    # Reserve an eighth for the ids beside the text and for line breaks escaped in JSON.
    context = call.engine.context(
        messages or query, budget_tokens=budget_tokens - budget_tokens // 8, session=session
    )
    memories = [item.id for item in context.memories if item.id is not None]
    result = ContextText(context.text, memories, context.tokens, context.left_out)
    return OperationReply(result, context.text or "No memory seems relevant to this.")


@dataclass(frozen=True, slots=True)
class Scoring:
    importance: float
    temporal_factor: float
    cooc_boost: float


@dataclass(frozen=True, slots=True)
class SemanticHit:
    """A hit in the form that MCP Memory v2 published."""

    name: str
    entityType: str
    observations: list[str]
    limbic_score: float
    score: float
    distance: float | None = omitted(nullable=True)
    scoring: Scoring | None = omitted()
    routing_strategy: str | None = omitted(nullable=True)
    mode: str | None = omitted()
    rrf_score: float | None = omitted()


@dataclass(frozen=True, slots=True)
class SemanticPage:
    results: list[SemanticHit]
    more: PageEnd = inlined()


@operation(
    "Search by meaning",
    http="POST /entities/search",
    tools="default",
    pages=Pages(50, DEFAULT_LIMIT, 250),
    read_only=True,
)
def _search_semantic(call: OperationCall, query: str) -> OperationReply[SemanticPage]:
    """Find entities by meaning, ranked by similarity, by how often and how recently they were used, and by
    what is often found together with them.
    """
    engine = call.engine
    found = find(
        call,
        query,
        lambda limit: engine.recall(
            query,
            limit=limit,
            profile="limbic",
            kinds=(Kind.ENTITY,),
            options=RecallOptions(defer_recording=True, with_confidence=False),
        ),
    )
    rows: list[dict[str, Any]] = rounded(
        to_memory_v2(replace(found.answer, hits=tuple(found.hits)))["results"]
    )

    def shorten(place: int, room: int) -> Any:
        row = rows[place]
        return shorten_row({**row, "observations": best_observations_first(row["observations"], query)}, room)

    page = fit_page(rows, call.page.budget, shorten)
    # Record only hits that fit on the first page.
    if call.page.cursor is None:
        engine.record_shown([hit.memory.id for hit in found.hits[: len(page.rows)]], found.answer)
    unshown = sum(
        len(row["observations"]) - len(shown["observations"])
        for row, shown in zip(rows, page.rows, strict=False)
    )
    cut = page.note(call.offered)
    hidden = f"{unshown} observations are not shown." if unshown else None
    note = join_sentences(hidden, cut, found.answer.note) if cut or found.answer.note else None
    more = PageEnd(found.cursor(page), note)
    text = as_json({"results": page.rows})
    return OperationReply(SemanticPage(page.rows, more), text, more.text if cut else note)


@dataclass(frozen=True, slots=True)
class ReflectionHit:
    hit: HitRow = field(metadata=in_json(inline=True))
    author: str | None
    mood: str | None
    relation: Annotated[str | None, "The relation that it is about"] = omitted()


@dataclass(frozen=True, slots=True)
class ReflectionPage:
    results: list[ReflectionHit]
    left_out: int
    more: PageEnd = inlined()


@operation(
    "Search reflections",
    http="POST /reflections/search",
    tools="all",
    pages=Pages(50, DEFAULT_LIMIT, 200, _RECALL_BUDGET),
    read_only=True,
)
def _search_reflections(
    call: OperationCall,
    query: str,
    author: str | None = None,
    mood: str | None = None,
    about: str | None = optional("An entity's name"),
    session: str | None = optional("Only those about this conversation"),
    relation: RelationKey | None = optional("Only those about this relation"),
) -> OperationReply[ReflectionPage]:
    """Find earlier reflections by meaning, before you repeat a mistake."""
    page = hits_page(
        call,
        query,
        lambda limit: call.engine.upkeep.search_reflections(
            query,
            author=author,
            mood=mood,
            about=about,
            session=session,
            relation=None if relation is None else relation_triple(relation),
            limit=limit,
            record=call.page.cursor is None,
        ),
        _reflection_row,
    )
    result = ReflectionPage(page.rows, page.left_out, page.more)
    return OperationReply(result, hit_lines(page.rows, page.notes))


def _reflection_row(hit: Hit) -> ReflectionHit:
    memory = hit.memory
    if session := reflection_tag(memory, "session"):
        hit = replace(hit, memory=replace(memory, session=session))
    mood, relation = reflection_tag(memory, "mood"), reflection_tag(memory, "relation")
    return ReflectionHit(hit_row(hit), memory.speaker, mood, relation)


@dataclass(frozen=True, slots=True)
class ExplainedHit:
    hit: HitRow = field(metadata=in_json(inline=True))
    explanation: list[Reason]


@dataclass(frozen=True, slots=True)
class ExplainedPage:
    profile: str
    hits: list[ExplainedHit]
    left_out: int
    more: PageEnd = inlined()


@operation(
    "Explain a ranking",
    http=Endpoint("POST /explain", tag="Search"),
    tools="all",
    pages=Pages(20, 5, 1_000, limit=5),
    read_only=True,
)
def _explain(call: OperationCall, query: str, profile: str = _PROFILE) -> OperationReply[ExplainedPage]:
    """Explain the ranking of a query: every step of each memory's score."""
    page = hits_page(
        call,
        query,
        lambda limit: call.engine.search(query, limit=limit, profile=profile, explain=True),
        lambda hit: ExplainedHit(hit_row(hit), rounded(to_json(hit.reasons))),
    )
    result = ExplainedPage(profile, page.rows, page.left_out, page.more)
    return OperationReply(result, as_json(to_json(result)))


@dataclass(frozen=True, slots=True)
class WhyNotAnswer:
    verdict: str
    advice: list[str]
    detail: Annotated[WhyNot | None, "With `detail`: every search and every step"] = omitted()


@operation("Why not", http=Endpoint("POST /why-not", tag="Search"), tools="all", read_only=True)
def _why_not(
    call: OperationCall,
    query: str,
    id: RowId | None = None,
    name: str | None = optional("Instead of an id: an entity's name"),
    limit: int | None = Field(default=None, ge=1, le=50),
    profile: str = _PROFILE,
    kinds: Many[AnyKind] | None = None,
    tags: Many[str] | None = None,
    as_of: LookBack | None = None,
    session: str | None = None,
    include_superseded: bool = False,
    detail: bool = Field(default=False, description="Also return the result of every search and step"),
) -> OperationReply[WhyNotAnswer]:
    """Explain why a query did not find a memory, and what would help. Requires its `id`, or a `name`."""
    memory = id or name
    if not memory:
        raise NotFound("Name the memory by its `id`, or an entity by its `name`.")
    with naming_ids() if isinstance(memory, int) else nullcontext():
        found = call.engine.why_not(
            query,
            memory,
            limit=limit,
            profile=profile,
            kinds=tuple(Kind) if kinds is None else kinds,
            tags=tags or (),
            as_of=as_of,
            session=session,
            include_superseded=include_superseded,
        )
    short = shorten_row({"verdict": found.verdict, "advice": list(found.advice)}, BUDGET)
    text = "\n".join((short["verdict"], *short["advice"]))
    return OperationReply(WhyNotAnswer(**short, detail=found if detail else None), text)


@dataclass(frozen=True, slots=True)
class Graded:
    noted: list[int]


@operation("Feedback", http=Endpoint("POST /feedback", tag="Search"), tools="all", idempotent=True)
def _feedback(
    call: OperationCall,
    ids: Many[RowId] | None = optional("Their ids, as `recall` gives them", most=_MOST_GRADED),
    names: Many[str] | None = optional(
        "Names of entities, as `search_semantic` gives them", most=_MOST_GRADED
    ),
    helpful: bool = described("True: it helped; false: it was wrong or beside the point"),
    query: str | None = optional("The question they answered; default: the last that showed them"),
) -> OperationReply[Graded]:
    """Say whether memories that `recall` or `search_semantic` showed helped to answer, so that ranking can
    learn from it. Use it when one was just what was needed, or plainly beside the point. Requires `ids` or
    `names`.
    """
    services = Internals(call.engine).services
    entities = [entity_named(services, name) for name in names or ()]
    graded = list(dict.fromkeys((*(ids or ()), *entities)))
    if not graded:
        raise InvalidInput("Say which: give `ids` of what `recall` showed, or `names` of entities.")
    with naming_ids():
        call.engine.feedback(graded, 1.0 if helpful else -1.0, query=query)
    listed = ", ".join(f"#{each}" for each in graded)
    return OperationReply(Graded(graded), f"Noted: {listed} {'helped' if helpful else 'did not help'}.")
