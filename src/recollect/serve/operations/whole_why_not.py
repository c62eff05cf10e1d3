"""The operation that says why a memory was not found in full: every search, every step, every place."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from recollect.errors import InvalidInput
from recollect.records import Kind
from recollect.serve.operations.memories import naming_ids
from recollect.serve.operations.operation import (
    Many,
    OperationCall,
    OperationReply,
    RowId,
    Time,
    described,
    operation,
    optional,
)
from recollect.serve.operations.rows import row_of
from recollect.serve.operations.search import AnyKind, StepRow


class BranchRow(TypedDict):
    """What one search made of the memory."""

    name: str
    rank: Annotated[int | None, described("Its place among the first ten thousand")]
    score: float | None
    taken: Annotated[int, described("How many of its list the profile takes")]
    reached: Annotated[bool, described("Whether it brought the memory up as a candidate")]


class DroppedRow(TypedDict):
    step: str
    reason: str
    score: float


class CostRow(TypedDict):
    """What one step did to its place, all else being as it was."""

    step: str
    value: float
    place_without: int
    places: Annotated[int, described("How many places it cost; negative where it won some")]


class StandingRow(TypedDict):
    place: Annotated[int | None, described("Among all candidates; none where a step dropped it")]
    score: float
    needed: Annotated[float | None, described("The score of the last one on the list, where that is full")]
    dropped: DroppedRow | None
    reasons: Annotated[list[StepRow], described("How the score came about, step by step")]
    costs: Annotated[list[CostRow], described("The dearest first")]


class WhyNotInFullOutput(TypedDict):
    id: int
    profile: str
    verdict: str
    advice: list[str]
    branches: Annotated[list[BranchRow], described("None where no search could have found it")]
    standing: Annotated[StandingRow | None, described("As if it had been found")]


@operation("Why not, in full", read_only=True)
def _why_not_in_full(
    call: OperationCall,
    query: str = described("What was asked"),
    id: RowId | None = None,
    name: str | None = optional("Instead of an id: an entity's name"),
    kinds: Many[AnyKind] | None = None,
    tags: Many[str] | None = None,
    as_of: Time | None = optional("As the memory stood then"),
    session: str | None = optional("Of messages, only those of this session"),
    include_superseded: bool = False,
    limit: int | None = Field(default=None, ge=1, le=50),
    profile: str = "recollect",
) -> OperationReply[WhyNotInFullOutput]:
    """Where a memory stands for a query: what each search made of it, how its score came about, the score
    that it needed, and what each step cost it. Requires its `id`, or a `name`.
    """
    memory = id or name
    if not memory:
        raise InvalidInput("Name the memory by its `id`, or an entity by its `name`.")
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
    stands = found.standing
    standing = None
    if stands is not None:
        standing = row_of(
            StandingRow,
            stands,
            dropped=None if stands.dropped is None else row_of(DroppedRow, stands.dropped),
            reasons=[row_of(StepRow, each) for each in stands.reasons],
            costs=[row_of(CostRow, each) for each in stands.costs],
        )
    branches = [row_of(BranchRow, each) for each in found.branches]
    return OperationReply(
        row_of(WhyNotInFullOutput, found, id=found.memory.id, branches=branches, standing=standing)
    )
