"""`recollect calibrate`: learn now how sure answers may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.cli.command import command
from recollect.cli.progress import progress
from recollect.cli.replies import Done
from recollect.cli.wording import counted

if TYPE_CHECKING:
    from recollect.cli.call import Call


@command("calibrate", "recollect calibrate", "recollect calibrate --json | jq .auroc")
def calibrate(call: Call) -> None:
    """Learn now how sure answers may be.

    The memory asks itself up to 200 questions made of its own texts, once with the answer there and once with
    it taken out, and keeps where its scores lie. A server does so by itself when the memory has grown by
    half. Until then, what was measured elsewhere holds. Nothing leaves this machine.
    """
    with call.memory() as memory, progress("Asking") as (asking,):
        done = memory.upkeep.calibrate(progress=asking)
    learnt = done.calibration
    data = {
        "memories": done.memories,
        "model": done.model or None,
        "questions": 0 if learnt is None else learnt.questions,
        "auroc": None if learnt is None else learnt.auroc,
    }
    if learnt is None:
        call.show(
            Done(
                "There is too little here to learn from; what was measured elsewhere holds.",
                data,
                mark="note",
            )
        )
        return
    said = (
        f"Of {counted(learnt.questions, 'question')} that it asked itself, those with their answer here got "
        f"more than those without in {learnt.auroc:.0%} of all pairs."
    )
    call.show(Done("Learnt how sure answers may be.", data, (said,)))
