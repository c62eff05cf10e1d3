"""Operations of sleep: letting a memory dream, and taking a dream back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from typing_extensions import TypedDict

from recollect.errors import NotFound
from recollect.serve.operations.operation import (
    Many,
    OperationCall,
    OperationReply,
    RowId,
    described,
    operation,
)
from recollect.serve.operations.rows import row_of

if TYPE_CHECKING:
    from recollect.engine.dreams.dreaming import DreamResult

_MOST_LEFT = 50


class GateRow(TypedDict):
    """How past questions fare before and after, and the phase that made them worse, if one did."""

    questions: int
    before: float
    after: float
    blame: str | None


class DreamCounts(TypedDict):
    memories: int
    answers: int
    stronger: int
    faded: int
    stabler: int
    consolidated: int
    archived: int
    pruned: int
    merged: int
    corrected: int
    linked: int


class DreamOutput(DreamCounts):
    id: Annotated[int | None, described("The dream's number, if anything was written")]
    gate: GateRow | None


@operation("Dream", destructive=True)
def _dream(
    call: OperationCall,
    dry_run: bool = Field(default=False, description="Only tell what it would do"),
    without: Many[str] = Field(default=[], description="Phases to leave out, such as prune or merge"),
) -> OperationReply[DreamOutput]:
    """Let the memory sleep: strengthen what was used, let the rest fade, merge repeats, retire copies of
    corrected errors. Only when the user asks for it, or after a long stretch of work; look with `dry_run`
    first. Nothing is lost: it is tried on past questions first, and can be undone.
    """
    done = call.engine.dream(dry_run=dry_run, without=without, progress=call.progress)
    report, gate = done.report, done.report.gate
    counts = row_of(
        DreamCounts,
        report,
        pruned=len(report.pruned),
        merged=len(report.merged) + len(report.merged_observations),
        corrected=len(report.corrected),
        linked=report.links,
    )
    tried = None
    if gate is not None:
        tried = row_of(GateRow, gate, before=round(gate.before, 4), after=round(gate.after, 4))
    return OperationReply({"id": done.id, **counts, "gate": tried}, _text(done, counts, dry_run=dry_run))


def _text(done: DreamResult, counts: DreamCounts, *, dry_run: bool) -> str:
    gate = done.report.gate
    if gate is not None and gate.blame is not None:
        return (
            f"Nothing was written: after the phase `{gate.blame}`, {gate.after:.1%} of what people look for "
            f"would be found instead of {gate.before:.1%}. Call `dream` with without=[{str(gate.blame)!r}] "
            "to leave that phase out."
        )
    changes = [
        f"{count} {name}" for name, count in counts.items() if count and name not in {"memories", "answers"}
    ]
    listed = ", ".join(changes) or "nothing to change"
    if dry_run:
        return f"It would be: {listed}."
    if done.id is None:
        return "There was nothing to do."
    return f"Dream {done.id}: {listed}. `undo_dream` with id={done.id} takes it back."


class UndoDreamOutput(TypedDict):
    undone: list[int]
    changes: int
    left: Annotated[list[int], described("Memories that were left")]


@operation("Undo a dream")
def _undo_dream(
    call: OperationCall,
    id: RowId = described("The dream's number"),
    later: bool = Field(default=False, description="Undo the dreams after it, too"),
) -> OperationReply[UndoDreamOutput]:
    """Put everything back as it was before a dream. What was changed since stays as it is."""
    try:
        done = call.engine.dreams.undo(id, later=later)
    except NotFound as error:
        known = [each.id for each in call.engine.dreams.history(_MOST_LEFT) if each.undone_at is None]
        there = (
            f"those that can be undone: {', '.join(map(str, known))}" if known else "there is none to undo"
        )
        raise NotFound(f"There is no dream {id}; {there}.") from error
    left = list(done.left)[:_MOST_LEFT]
    remark = f"{len(done.left)} memories were changed since and stay as they are: "
    return OperationReply(
        {"undone": list(done.ids), "changes": done.changes, "left": left},
        f"Undone: {', '.join(map(str, done.ids))}; {done.changes} changes.",
        f"{remark}{', '.join(f'#{each}' for each in left)}." if left else None,
    )
