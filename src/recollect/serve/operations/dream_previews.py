"""The operation that tells what a dream would change, memory by memory; it writes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from typing_extensions import TypedDict

from recollect.serve.operations.memories import NoteRow
from recollect.serve.operations.operation import Many, OperationCall, OperationReply, described, operation
from recollect.serve.operations.past_dreams import DreamGateRow, LossRow, texts_of_memories
from recollect.serve.operations.rows import brief_text, row_of

if TYPE_CHECKING:
    from recollect.dreams.report import DreamReport, Moved


class MovedRow(NoteRow):
    before: float
    after: float


class GoneRow(NoteRow):
    into: Annotated[int, described("What it would live on in, or be corrected by")]
    into_text: str


class GoneObservationRow(GoneRow):
    entity: int


class LinkedRow(NoteRow):
    other: int
    other_text: str
    answers: Annotated[int, described("In how many both stood")]


class PreviewDreamOutput(TypedDict):
    phases: list[str]
    memories: int
    answers: int
    stronger: int
    strongest: Annotated[list[MovedRow], described("Those that would gain the most strength")]
    faded: int
    weakest: Annotated[list[MovedRow], described("Those that would lose the most")]
    stabler: int
    stablest: Annotated[list[MovedRow], described("Days until a tenth of it is forgotten")]
    deeper: list[MovedRow]
    consolidated: int
    archived: int
    revived: int
    merged: list[GoneRow]
    merged_observations: list[GoneObservationRow]
    corrected: list[GoneRow]
    pruned: list[NoteRow]
    linked: list[LinkedRow]
    totals: Annotated[dict[str, int], described("How many there are of what is listed only in part")]
    gate: DreamGateRow | None


# It is no short look: whoever begins it is not cut off.
@operation("Preview a dream", idempotent=True)
def _preview_dream(
    call: OperationCall,
    without: Many[str] = Field(default=[], description="Phases to leave out, such as prune or merge"),
    limit: int = Field(default=50, ge=1, le=1_000, description="Rows of each list"),
) -> OperationReply[PreviewDreamOutput]:
    """Everything that a dream would do now, with the memories: what grows stronger and what fades, what is
    merged, corrected, pruned and linked, and how past questions would fare. Nothing is written.
    """
    report = call.engine.dream(dry_run=True, without=without, progress=call.progress).report
    losses = () if report.gate is None else report.gate.losses
    texts = texts_of_memories(call, {*_named(report, limit), *(loss.memory for loss in losses)})
    observed = _observations(call, {entity for entity, *_ in report.merged_observations[:limit]})

    def moved(rows: Iterable[Moved]) -> list[MovedRow]:
        return [row_of(MovedRow, each, text=texts.get(each.id, "")) for each in rows]

    def gone(rows: Iterable[tuple[int, int]]) -> list[GoneRow]:
        return [
            {"id": id_, "text": texts.get(id_, ""), "into": into, "into_text": texts.get(into, "")}
            for id_, into in rows
        ]

    gate = None
    if report.gate is not None:
        lost = [row_of(LossRow, loss, text=texts.get(loss.memory, "")) for loss in losses]
        gate = row_of(DreamGateRow, report.gate, losses=lost)
    result = row_of(
        PreviewDreamOutput,
        report,
        strongest=moved(report.strongest),
        weakest=moved(report.weakest),
        stablest=moved(report.stablest),
        deeper=moved(report.deeper),
        merged=gone(report.merged[:limit]),
        merged_observations=[
            GoneObservationRow(
                id=lost,
                text=observed.get(lost, ""),
                into=into,
                into_text=observed.get(into, ""),
                entity=entity,
            )
            for entity, lost, into in report.merged_observations[:limit]
        ],
        corrected=gone(report.corrected[:limit]),
        pruned=[{"id": id_, "text": texts.get(id_, "")} for id_ in report.pruned[:limit]],
        linked=[
            LinkedRow(
                id=one, text=texts.get(one, ""), other=other, other_text=texts.get(other, ""), answers=count
            )
            for one, other, count in report.linked
        ],
        totals={
            "merged": len(report.merged),
            "merged_observations": len(report.merged_observations),
            "corrected": len(report.corrected),
            "pruned": len(report.pruned),
            "linked": report.links,
        },
        gate=gate,
    )
    return OperationReply(result)


def _named(report: DreamReport, limit: int) -> set[int]:
    moved = (*report.strongest, *report.weakest, *report.stablest, *report.deeper)
    pairs = (*report.merged[:limit], *report.corrected[:limit], *(row[:2] for row in report.linked))
    return {
        *(each.id for each in moved),
        *report.pruned[:limit],
        *(id_ for pair in pairs for id_ in pair),
    }


def _observations(call: OperationCall, entities: set[int]) -> Mapping[int, str]:
    return {
        seen.id: brief_text(seen.content)
        for entity in call.engine.get_many(sorted(entities)).values()
        for seen in entity.observations
    }
