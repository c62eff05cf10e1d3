"""Operations for what a person should decide: each decision can be taken back."""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from recollect.engine.upkeep.decisions import SettleKind
from recollect.engine.upkeep.results import SplitUndo
from recollect.engine.upkeep.settling import SettleAction, SettleUndo, ToSettle
from recollect.serve.operations.browse import Cursor, PageLimit, next_place, place_of
from recollect.serve.operations.operation import (
    Many,
    OperationCall,
    OperationReply,
    RowId,
    described,
    operation,
)
from recollect.serve.operations.paging import page_rows
from recollect.serve.operations.rows import PageRows, row_of
from recollect.serve.operations.upkeep import UndoRow


class SideRow(TypedDict):
    id: int
    observation: int | None
    name: str
    text: str
    at: str | None


class ToSettleRow(TypedDict):
    key: Annotated[str, described("For `settle`")]
    kind: str
    older: Annotated[SideRow, described("Or the only one")]
    newer: SideRow | None
    actions: Annotated[list[str], described("What `settle` can do about it")]
    similarity: float | None
    detail: str
    dismissed: bool


class ToSettleOutput(PageRows):
    items: list[ToSettleRow]


def _item(each: ToSettle) -> ToSettleRow:
    newer = None if each.newer is None else row_of(SideRow, each.newer)
    return row_of(ToSettleRow, each, older=row_of(SideRow, each.older), newer=newer)


@operation("What to settle", read_only=True)
def _to_settle(
    call: OperationCall,
    kind: SettleKind,
    dismissed: bool = Field(default=False, description="Those that were kept as they are, instead"),
    stale_days: float = Field(default=90, ge=0, le=36_500, description="Days without use; 90 if not given"),
    limit: PageLimit = 50,
    cursor: Cursor | None = None,
) -> OperationReply[ToSettleOutput]:
    """What a person should decide, of one kind: contradictions (among the newest texts), notes and
    observations that nearly repeat another, entities to split, entities that nobody uses.
    """
    start = place_of(cursor)
    found, more = call.engine.upkeep.settling.page(
        kind, start=start, limit=limit, dismissed=dismissed, stale_days=stale_days, progress=call.progress
    )
    rows = list(map(_item, found))
    return OperationReply({"items": rows, **page_rows(next_place(start, len(rows), more=more), None)})


class SettleUndoRow(TypedDict):
    key: str
    action: SettleAction
    memories: Many[RowId]
    observations: Many[RowId]
    status: NotRequired[Annotated[str, described("What an archived entity was before")]]
    split: NotRequired[UndoRow]


class SettleOutput(TypedDict):
    undo: Annotated[SettleUndoRow, described("For `undo_settling`")]


@operation("Settle")
def _settle(call: OperationCall, key: str, action: SettleAction) -> OperationReply[SettleOutput]:
    """Decide one thing of `to_settle`: `supersede_older` lets the newer one count, `keep` leaves both and
    does not ask again. The answer's `undo` takes it back.
    """
    done = call.engine.upkeep.settling.settle(key, action)
    undo: SettleUndoRow = {
        "key": done.key,
        "action": done.action,
        "memories": list(done.memories),
        "observations": list(done.observations),
    }
    if done.status is not None:
        undo["status"] = done.status
    if done.split is not None:
        undo["split"] = row_of(UndoRow, done.split)
    return OperationReply({"undo": undo}, "Done.")


class UndoSettlingOutput(TypedDict):
    key: str


@operation("Undo a decision")
def _undo_settling(call: OperationCall, undo: SettleUndoRow) -> OperationReply[UndoSettlingOutput]:
    """Take back what `settle` did, with the `undo` that it gave."""
    split = undo.get("split")
    given = SettleUndo(
        undo["key"],
        undo["action"],
        tuple(undo["memories"]),
        tuple(undo["observations"]),
        undo.get("status"),
        None
        if split is None
        else SplitUndo(split["original"], tuple(split["parts"]), tuple(split["observations"])),
    )
    call.engine.upkeep.settling.undo(given)
    return OperationReply({"key": given.key}, "Taken back.")
