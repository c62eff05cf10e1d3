"""Operations that explain a ranking, and that say how good it was."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from typing_extensions import TypedDict

from recollect.errors import InvalidInput, NotFound
from recollect.serve.operations.arguments import (
    Arguments,
    Many,
    MemoryId,
    RowId,
    budget_from,
    described,
    next_page,
    optional,
)
from recollect.serve.operations.memories import PROFILE, naming_ids
from recollect.serve.operations.operation import OperationCall, OperationReply, as_json, operation
from recollect.serve.operations.paging import BUDGET, shorten_row
from recollect.serve.operations.rows import HitRow, PageRows, hit_row, rounded
from recollect.serve.operations.search_pages import find, hits_page

if TYPE_CHECKING:
    from recollect.engine.results import Hit

_MOST_EXPLAINED = 5
_MOST_GRADED = 50


class ExplainArguments(Arguments):
    query: str
    limit: int = Field(
        default=_MOST_EXPLAINED, ge=1, le=20, description=f"At most so many; {_MOST_EXPLAINED} if not given"
    )
    cursor: str | None = next_page()
    budget_tokens: int | None = budget_from(1_000)
    profile: str = Field(default="recollect", description=PROFILE)


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


@operation("explain", "Explain a ranking", read_only=True)
def _explain(call: OperationCall[ExplainArguments]) -> OperationReply[ExplainOutput]:
    """Why memories stand where they do for a query: every step that made the score."""
    given = call.arguments
    found = find(
        call,
        lambda limit: call.engine.search(given.query, limit=limit, profile=given.profile, explain=True),
    )
    page = hits_page(call, found, _explained, BUDGET)
    result: ExplainOutput = {
        "profile": given.profile,
        "hits": page.rows,
        "left_out": page.left_out,
        **page.more,
    }
    return OperationReply(result, as_json(result))


def _explained(hit: Hit) -> ExplainedRow:
    steps: list[StepRow] = [
        {
            "step": reason.step,
            "effect": reason.effect,
            "value": reason.value,
            "numbers": list(reason.numbers),
            "score": reason.score,
        }
        for reason in hit.reasons
    ]
    return {**hit_row(hit), "explanation": rounded(steps)}


class WhyNotArguments(Arguments):
    query: str
    id: MemoryId | None = None
    name: str | None = optional("Instead of an id: an entity's name")
    limit: int | None = Field(default=None, ge=1, le=50)
    profile: str = Field(default="recollect", description=PROFILE)


class WhyNotOutput(TypedDict):
    verdict: str
    advice: list[str]


@operation("why_not", "Why not", read_only=True)
def _why_not(call: OperationCall[WhyNotArguments]) -> OperationReply[WhyNotOutput]:
    """Why a memory was not found for a query, and what would lift it."""
    given = call.arguments
    memory = given.id or given.name
    if not memory:
        raise NotFound("Name the memory by its `id`, or an entity by its `name`.")
    with naming_ids() if isinstance(memory, int) else nullcontext():
        found = call.engine.why_not(given.query, memory, limit=given.limit, profile=given.profile)
    result: WhyNotOutput = shorten_row({"verdict": found.verdict, "advice": list(found.advice)}, BUDGET)
    return OperationReply(result, "\n".join((result["verdict"], *result["advice"])))


class FeedbackArguments(Arguments):
    ids: Many[RowId] | None = optional("Their ids, as `recall` gives them", most=_MOST_GRADED)
    names: Many[str] | None = optional(
        "Names of entities, as `search_semantic` gives them", most=_MOST_GRADED
    )
    helpful: bool = described("True: it helped; false: it was wrong or beside the point")
    query: str | None = optional("For which question; without it, the last that showed them")


class FeedbackOutput(TypedDict):
    noted: list[int]


@operation("feedback", "Feedback", idempotent=True)
def _feedback(call: OperationCall[FeedbackArguments]) -> OperationReply[FeedbackOutput]:
    """Say whether memories that `recall` or `search_semantic` showed helped to answer, so that ranking can
    learn from it. Use it when one was just what was needed, or plainly beside the point.
    """
    given = call.arguments
    entities = [call.engine.graph.entity_id(name) for name in given.names or ()]
    ids = list(dict.fromkeys((*(given.ids or ()), *entities)))
    if not ids:
        raise InvalidInput("Say which: give `ids` of what `recall` showed, or `names` of entities.")
    with naming_ids():
        call.engine.feedback(ids, 1.0 if given.helpful else -1.0, query=given.query)
    listed = ", ".join(f"#{id_}" for id_ in ids)
    return OperationReply({"noted": ids}, f"Noted: {listed} {'helped' if given.helpful else 'did not help'}.")
