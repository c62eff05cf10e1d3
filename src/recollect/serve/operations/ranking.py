"""Operations that explain a ranking, and that say how good it was."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from recollect.errors import InvalidInput, NotFound
from recollect.serve.operations.memories import PROFILE, naming_ids
from recollect.serve.operations.operation import (
    BUDGET,
    Many,
    MemoryId,
    OperationCall,
    OperationReply,
    Pages,
    RowId,
    as_json,
    described,
    operation,
    optional,
)
from recollect.serve.operations.paging import shorten_row
from recollect.serve.operations.rows import HitRow, PageRows, hit_row, rounded, row_of
from recollect.serve.operations.search_pages import find, hits_page

_MOST_GRADED = 50
_PROFILE = Field(default="recollect", description=PROFILE)


class StepRow(TypedDict):
    step: str
    effect: str
    value: float
    numbers: list[float]
    score: Annotated[float, described("The score after it")]


class ExplainedRow(HitRow):
    explanation: list[StepRow]


class ExplainOutput(PageRows):
    profile: str
    hits: list[ExplainedRow]
    left_out: int


@operation("Explain a ranking", pages=Pages(20, 5, 1_000, limit=5), read_only=True)
def _explain(call: OperationCall, query: str, profile: str = _PROFILE) -> OperationReply[ExplainOutput]:
    """Why memories stand where they do for a query: every step that made the score."""
    found = find(
        call,
        query,
        lambda limit: call.engine.search(query, limit=limit, profile=profile, explain=True),
    )
    page = hits_page(
        found,
        lambda hit: ExplainedRow(
            **hit_row(hit), explanation=rounded([row_of(StepRow, reason) for reason in hit.reasons])
        ),
    )
    result: ExplainOutput = {
        "profile": profile,
        "hits": page.rows,
        "left_out": page.left_out,
        **page.more,
    }
    return OperationReply(result, as_json(result))


class WhyNotOutput(TypedDict):
    verdict: str
    advice: list[str]


@operation("Why not", read_only=True)
def _why_not(
    call: OperationCall,
    query: str,
    id: MemoryId | None = None,
    name: str | None = optional("Instead of an id: an entity's name"),
    limit: int | None = Field(default=None, ge=1, le=50),
    profile: str = _PROFILE,
) -> OperationReply[WhyNotOutput]:
    """Why a memory was not found for a query, and what would lift it."""
    memory = id or name
    if not memory:
        raise NotFound("Name the memory by its `id`, or an entity by its `name`.")
    with naming_ids() if isinstance(memory, int) else nullcontext():
        found = call.engine.why_not(query, memory, limit=limit, profile=profile)
    result = shorten_row(row_of(WhyNotOutput, found), BUDGET)
    return OperationReply(result, "\n".join((result["verdict"], *result["advice"])))


class FeedbackOutput(TypedDict):
    noted: list[int]


@operation("Feedback", idempotent=True)
def _feedback(
    call: OperationCall,
    ids: Many[RowId] | None = optional("Their ids, as `recall` gives them", most=_MOST_GRADED),
    names: Many[str] | None = optional(
        "Names of entities, as `search_semantic` gives them", most=_MOST_GRADED
    ),
    helpful: bool = described("True: it helped; false: it was wrong or beside the point"),
    query: str | None = optional("For which question; without it, the last that showed them"),
) -> OperationReply[FeedbackOutput]:
    """Say whether memories that `recall` or `search_semantic` showed helped to answer, so that ranking can
    learn from it. Use it when one was just what was needed, or plainly beside the point.
    """
    entities = [call.engine.graph.entity_id(name) for name in names or ()]
    graded = list(dict.fromkeys((*(ids or ()), *entities)))
    if not graded:
        raise InvalidInput("Say which: give `ids` of what `recall` showed, or `names` of entities.")
    with naming_ids():
        call.engine.feedback(graded, 1.0 if helpful else -1.0, query=query)
    listed = ", ".join(f"#{each}" for each in graded)
    return OperationReply({"noted": graded}, f"Noted: {listed} {'helped' if helpful else 'did not help'}.")
