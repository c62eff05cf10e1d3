"""Says of a hit on the screen of Recall whether it helped, with an undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.errors import InvalidInput
from recollect.serve.http.caller import Right
from recollect.serve.web.pages.forms import sent_form
from recollect.serve.web.pages.recall import recall_form
from recollect.serve.web.templating import Undo, redirect

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from recollect.engine.engine import Engine
    from recollect.records import LoggedAnswer
    from recollect.serve.http.face import Face
    from recollect.serve.web.pages.recall import RecallForm

_GRADES = {"1": 1.0, "-1": -1.0, "0": 0.0}
_SAID = {1.0: "helped", -1.0: "did not help", 0.0: "is no longer judged"}
_LOOKED_AT = 30


async def judge_recalled(face: Face, request: Request) -> Response:
    """The question is in the address, as on the screen; the form says which hit, and how good it was."""
    asked, form = recall_form(request), await sent_form(request)
    grade, ids = _GRADES.get(form.get("grade") or ""), form.ids("memory")
    if grade is None or len(ids) != 1 or not asked.query or asked.as_of is not None:
        raise InvalidInput("Ask something, and say of one hit whether it helped. Nothing was noted.")
    before = await face.run(request, lambda memory: _judged(memory, asked, ids[0], grade), right=Right.WRITE)
    back = form.back("/recall")
    undo = Undo(
        back.replace("/recall", "/recall/judge", 1),
        (("memory", str(ids[0])), ("grade", f"{before:g}"), ("back", back)),
    )
    said = f"Noted: #{ids[0]} {_SAID[grade]}. Tuning learns from it."
    return redirect(request, back, said, undo if grade != before else None)


def _judged(memory: Engine, asked: RecallForm, id_: int, grade: float) -> float:
    """What was said of it before; 0: nothing.

    Looking leaves no trace, so that what is judged may be in no answer of the log; then it is asked for the
    log first.
    """
    answer = _last_answer(memory, asked.query, id_)
    if answer is not None:
        memory.feedback(id_, grade, answer.handle)
        said = (mark for named, kind, mark in answer.feedback if named == id_ and kind == "said")
        return next(said, 0.0)
    shown = memory.recall(asked.query, limit=asked.limit, **asked.search())
    if id_ not in {hit.memory.id for hit in shown.hits}:
        raise InvalidInput(f"#{id_} is no longer a hit of this question. Ask again; nothing was noted.")
    memory.feedback(id_, grade, shown)
    return 0.0


def _last_answer(memory: Engine, query: str, id_: int) -> LoggedAnswer | None:
    found = memory.answers.page(contains=query, limit=_LOOKED_AT)
    return next((each for each in found if each.query == query and id_ in each.shown), None)
