"""Operations of sleep: letting a memory dream, and taking a dream back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from typing_extensions import TypedDict

from recollect.errors import NotFound
from recollect.serve.operations.arguments import LARGEST_ID, Arguments, Many, described
from recollect.serve.operations.operation import OperationCall, OperationReply, operation

if TYPE_CHECKING:
    from recollect.engine.dreams.dreaming import DreamResult

_MOST_LEFT = 50


class DreamArguments(Arguments):
    dry_run: bool = Field(default=False, description="Only tell what it would do")
    without: Many[str] = Field(default=[], description="Phases to leave out, such as prune or merge")


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


@operation("dream", "Dream", destructive=True)
def _dream(call: OperationCall[DreamArguments]) -> OperationReply[DreamOutput]:
    """Let the memory sleep: strengthen what was used, let the rest fade, merge repeats, retire copies of
    corrected errors. Only when the user asks for it, or after a long stretch of work; look with `dry_run`
    first. Nothing is lost: it is tried on past questions first, and can be undone.
    """
    given = call.arguments
    done = call.engine.dream(dry_run=given.dry_run, without=given.without, progress=call.progress)
    report, gate = done.report, done.report.gate
    counts: DreamCounts = {
        "memories": report.memories,
        "answers": report.answers,
        "stronger": report.stronger,
        "faded": report.faded,
        "stabler": report.stabler,
        "consolidated": report.consolidated,
        "archived": report.archived,
        "pruned": len(report.pruned),
        "merged": len(report.merged) + len(report.merged_observations),
        "corrected": len(report.corrected),
        "linked": report.links,
    }
    tried: GateRow | None = None
    if gate is not None:
        tried = {
            "questions": gate.questions,
            "before": round(gate.before, 4),
            "after": round(gate.after, 4),
            "blame": None if gate.blame is None else str(gate.blame),
        }
    text = _text(done, counts, dry_run=given.dry_run)
    return OperationReply({"id": done.id, **counts, "gate": tried}, text)


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


class UndoDreamArguments(Arguments):
    id: int = Field(ge=1, le=LARGEST_ID, description="The dream's number")
    later: bool = Field(default=False, description="Undo the dreams after it, too")


class UndoDreamOutput(TypedDict):
    undone: list[int]
    changes: int
    left: Annotated[list[int], described("Memories that were left")]


@operation("undo_dream", "Undo a dream")
def _undo_dream(call: OperationCall[UndoDreamArguments]) -> OperationReply[UndoDreamOutput]:
    """Put everything back as it was before a dream. What was changed since stays as it is."""
    given = call.arguments
    try:
        done = call.engine.dreams.undo(given.id, later=given.later)
    except NotFound as error:
        known = [each.id for each in call.engine.dreams.history(_MOST_LEFT) if each.undone_at is None]
        there = "there is none to undo"
        if known:
            there = f"those that can be undone: {', '.join(map(str, known))}"
        raise NotFound(f"There is no dream {given.id}; {there}.") from error
    left = list(done.left)[:_MOST_LEFT]
    return OperationReply(
        {"undone": list(done.ids), "changes": done.changes, "left": left},
        f"Undone: {', '.join(map(str, done.ids))}; {done.changes} changes.",
        f"{len(done.left)} memories were changed since and stay as they are: "
        f"{', '.join(f'#{id_}' for id_ in left)}."
        if left
        else None,
    )
