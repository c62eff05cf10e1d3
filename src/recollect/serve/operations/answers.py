"""Operations on the log of answers: what was asked, shown and used, and the same question now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from typing_extensions import TypedDict

from recollect.engine.memory_text import memory_text
from recollect.serve.operations.browse import Cursor, PageLimit, place_of
from recollect.serve.operations.operation import (
    OperationCall,
    OperationReply,
    RowId,
    described,
    operation,
    optional,
)
from recollect.serve.operations.paging import page_rows
from recollect.serve.operations.rows import PageRows, brief_text, row_of

if TYPE_CHECKING:
    from recollect.records import LoggedAnswer, Memory


class FeedbackRow(TypedDict):
    id: int
    kind: Annotated[str, described("opened, recalled, or said by somebody")]
    grade: Annotated[float, described("From -1, wrong, to 1, just right")]


class AnswerRow(TypedDict):
    """An answer as the log holds it; memories by id, best first."""

    id: int
    at: str
    event: Annotated[str, described("By which `feedback` knows it")]
    session: str
    query: str
    profile: str
    version: Annotated[int, described("Of the tuned numbers; 0: as published")]
    arm: Annotated[str, described("ours: the profile was shown; baseline: what it is compared with")]
    against: str
    shown: list[int]
    ranked: Annotated[list[int], described("As the profile ranked")]
    baseline: Annotated[list[int], described("As what it is compared with would have")]
    feedback: list[FeedbackRow]


class ListAnswersOutput(PageRows):
    answers: list[AnswerRow]


def _answer_row(answer: LoggedAnswer) -> AnswerRow:
    said: list[FeedbackRow] = [
        {"id": memory, "kind": kind, "grade": grade} for memory, kind, grade in answer.feedback
    ]
    return row_of(AnswerRow, answer, event=answer.handle, feedback=said)


@operation("List answers", read_only=True)
def _list_answers(
    call: OperationCall,
    profile: str | None = None,
    judged: bool | None = optional("true: only those with feedback; false: only those without"),
    memory: RowId | None = optional("Only those with feedback on this memory"),
    contains: str | None = optional("Only questions that contain this"),
    limit: PageLimit = 50,
    cursor: Cursor | None = None,
) -> OperationReply[ListAnswersOutput]:
    """The log of answers, the newest first: the question, what was shown, what the profile and its baseline
    ranked, and what became of it.
    """
    found = call.engine.answers.page(
        profile=profile,
        judged=judged,
        memory=memory,
        contains=contains,
        before=place_of(cursor) or None,
        limit=limit + 1,
    )
    rows = list(map(_answer_row, found[:limit]))
    last = str(rows[-1]["id"]) if len(found) > limit else None
    return OperationReply({"answers": rows, **page_rows(last, None)})


class RankedRow(TypedDict):
    """A memory and its places, from 1; null where it had none."""

    id: int
    text: Annotated[str, described("As it reads now; empty where it was purged")]
    in_force: bool
    shown: int | None
    ranked: int | None
    baseline: int | None


class GetAnswerOutput(TypedDict):
    answer: AnswerRow
    memories: list[RankedRow]


@operation("Get an answer", read_only=True)
def _get_answer(call: OperationCall, id: RowId) -> OperationReply[GetAnswerOutput]:
    """One answer of the log, with where each memory stood in it and in the ranking beside it."""
    answer, memories = call.engine.answers.get(id)
    lists = {"shown": answer.shown, "ranked": answer.ranked, "baseline": answer.baseline}
    places = {name: {id_: place for place, id_ in enumerate(ids, start=1)} for name, ids in lists.items()}
    every = dict.fromkeys((*answer.shown, *answer.ranked, *answer.baseline))
    rows: list[RankedRow] = [
        {
            **_text_row(id_, memories),
            "shown": places["shown"].get(id_),
            "ranked": places["ranked"].get(id_),
            "baseline": places["baseline"].get(id_),
        }
        for id_ in every
    ]
    return OperationReply({"answer": _answer_row(answer), "memories": rows})


class _TextRow(TypedDict):
    id: int
    text: str
    in_force: bool


def _text_row(id_: int, memories: Mapping[int, Memory]) -> _TextRow:
    memory = memories.get(id_)
    if memory is None:
        return {"id": id_, "text": "", "in_force": False}
    standing = memory.deleted_at is None and memory.superseded_at is None
    return {"id": id_, "text": brief_text(memory_text(memory, None)), "in_force": standing}


class ReplayedRow(RankedRow):
    now: Annotated[int | None, described("By the profile, with its present numbers")]
    baseline_now: int | None


class ReplayAnswerOutput(TypedDict):
    answer: AnswerRow
    memories: Annotated[list[ReplayedRow], described("By the best place that each has anywhere")]
    same: Annotated[bool, described("Whether the profile ranks now as it did then")]


@operation("Replay an answer", read_only=True)
def _replay_answer(call: OperationCall, id: RowId) -> OperationReply[ReplayAnswerOutput]:
    """Ask a question of the log again, and compare place by place: then and now, the profile and what it is
    compared with. It leaves no trace.
    """
    found = call.engine.answers.replay(id)
    known = {each.id: each.memory for each in found.places if each.memory is not None}
    rows: list[ReplayedRow] = [
        row_of(ReplayedRow, each, **_text_row(each.id, known)) for each in found.places
    ]
    same = all(each.ranked == each.now for each in found.places)
    return OperationReply({"answer": _answer_row(found.answer), "memories": rows, "same": same})
