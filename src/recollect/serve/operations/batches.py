"""Operations that write as the Python API does: many notes at once, and corrections with their copies."""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from recollect.errors import InvalidInput
from recollect.serve.operations.memories import RememberOutput, naming_ids
from recollect.serve.operations.operation import (
    LaterTime,
    Many,
    OperationCall,
    OperationReply,
    RowId,
    Time,
    described,
    operation,
    optional,
)
from recollect.serve.operations.rows import LeftOutRow, SimilarRow, noted_row, row_of

_MOST_NOTES = 1_000


class NewNoteRow(TypedDict):
    text: str
    category: NotRequired[str]
    importance: NotRequired[Annotated[float, Field(ge=0, le=1)]]
    happened_at: NotRequired[Time]
    expires_at: NotRequired[LaterTime]
    tags: NotRequired[Many[str]]
    about: NotRequired[Many[str]]
    source: NotRequired[str]


class RememberManyOutput(TypedDict):
    notes: list[RememberOutput]
    rejected: list[LeftOutRow]
    note: NotRequired[str]


@operation("Remember many")
def _remember_many(
    call: OperationCall,
    notes: Many[NewNoteRow] = Field(max_length=_MOST_NOTES),
    keep_going: bool = Field(default=False, description="Leave out what cannot be stored, and name it"),
) -> OperationReply[RememberManyOutput]:
    """Save many notes at once: all of them, or none, unless `keep_going`."""
    done = call.engine.remember_many(notes, keep_going=keep_going, key=call.key)
    result: RememberManyOutput = {
        "notes": [noted_row(each) for each in done.notes],
        "rejected": [row_of(LeftOutRow, each) for each in done.rejected],
    }
    if note := done.note or done.model_note:
        result["note"] = note
    return OperationReply(result)


class RetiredRow(TypedDict):
    id: int
    text: str
    observation: int | None


class SupersedeOutput(TypedDict):
    id: Annotated[int, described("What counts from now on")]
    retired: Annotated[list[RetiredRow], described("What was named first, then its near-copies")]
    similar: Annotated[list[SimilarRow], described("Alike, and left in force")]
    note: NotRequired[str]


@operation("Supersede")
def _supersede(
    call: OperationCall,
    old: RowId = described("What no longer holds"),
    by: RowId | None = optional("The memory that holds instead"),
    text: str | None = optional("Or a new note that says what holds"),
    copies: bool = Field(default=True, description="Retire near-copies of the old one, too"),
) -> OperationReply[SupersedeOutput]:
    """Retire a note or message in favour of another one, or of a new note. `restore` takes it back."""
    if (by is None) == (text is None):
        raise InvalidInput("Give either `by` or `text`; nothing was changed.")
    with naming_ids():
        new = by if by is not None else text or ""
        done = call.engine.supersede(old, new, copies=copies, key=call.key)
    result: SupersedeOutput = {
        "id": done.by.id,
        "retired": [row_of(RetiredRow, each) for each in done.retired],
        "similar": [row_of(SimilarRow, each) for each in done.similar],
    }
    if note := done.note or done.model_note:
        result["note"] = note
    return OperationReply(result)
