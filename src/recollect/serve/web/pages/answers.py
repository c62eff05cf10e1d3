"""Answers: what was asked and shown, the same question now, and what people say of the hits."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput, NotFound
from recollect.lazy_dataclass import dataclass
from recollect.serve.http.caller import Right
from recollect.serve.operations.paging import row_id
from recollect.serve.web.forms import form_fields
from recollect.serve.web.templating import Undo, page, redirect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from recollect.engine.engine import Engine
    from recollect.engine.tuning.answers import ReplayedMemory
    from recollect.records import LoggedAnswer, Memory
    from recollect.serve.http.face import Face

_PER_PAGE = 30
_GRADES = {"1": 1.0, "-1": -1.0, "0": 0.0}
_SAID = {1.0: "was right", -1.0: "was wrong", 0.0: "is no longer judged"}
_JUDGED = {"yes": True, "no": False, "": None}


@dataclass(frozen=True, slots=True)
class AnswerFilter:
    contains: str = ""
    profile: str = ""
    judged: str = ""
    """yes, no, or empty for both."""
    before: int | None = None


@dataclass(frozen=True, slots=True)
class RankedMemory:
    """A memory with its places; None: nowhere. Those of now only where the question was asked again."""

    id: int
    memory: Memory | None
    """None: it was purged since."""
    shown: int | None
    ranked: int | None
    baseline: int | None
    now: int | None
    baseline_now: int | None
    said: float | None
    """What somebody said of it."""
    used: tuple[str, ...]
    """What became of it besides: opened, recalled."""

    @property
    def climbed(self) -> int | None:
        """How many places it stands higher now; None where it has none then or now."""
        return None if self.ranked is None or self.now is None else self.ranked - self.now


# The log


async def answers_screen(face: Face, request: Request) -> Response:
    params = request.query_params
    cursor = params.get("cursor")
    asked = AnswerFilter(
        contains=params.get("contains", "").strip(),
        profile=params.get("profile", ""),
        judged=params.get("judged", ""),
        before=None if not cursor else _number(cursor, "page"),
    )
    if asked.judged not in _JUDGED:
        raise InvalidInput("judged: choose yes, no, or neither.")
    found, first = await face.run(request, lambda memory: _page(memory, asked))
    return await page(
        face,
        request,
        "answers.html",
        asked=asked,
        profiles=list(face.memory().profiles),
        answers=found[:_PER_PAGE],
        first=first,
        cursor=found[_PER_PAGE - 1].id if len(found) > _PER_PAGE else None,
        is_filtered=bool(asked.contains or asked.profile or asked.judged or cursor),
    )


def _page(memory: Engine, asked: AnswerFilter) -> tuple[Sequence[LoggedAnswer], dict[int, Memory]]:
    """Answers, one more than are shown, and the memories that stood first in them."""
    found = memory.answers.page(
        profile=asked.profile or None,
        judged=_JUDGED[asked.judged],
        contains=asked.contains or None,
        before=asked.before,
        limit=_PER_PAGE + 1,
    )
    return found, memory.get_many({each.shown[0] for each in found if each.shown})


# One of them


async def answer_screen(face: Face, request: Request) -> Response:
    id_ = _number(request.path_params["id"], "answer")
    is_replayed = bool(request.query_params.get("replay"))
    answer, rows = await face.run(request, lambda memory: _answer(memory, id_, replay=is_replayed))
    return await page(
        face,
        request,
        "answer.html",
        answer=answer,
        rows=rows,
        replayed=is_replayed,
        moved=sum(each.ranked != each.now for each in rows) if is_replayed else None,
        new=sum(each.ranked is None and each.now is not None for each in rows) if is_replayed else None,
        here="/answers",
        differs=sum(each.ranked != each.baseline for each in rows),
    )


def _answer(memory: Engine, id_: int, *, replay: bool) -> tuple[LoggedAnswer, list[RankedMemory]]:
    if replay:
        found = memory.answers.replay(id_)
        return found.answer, sorted((_row(found.answer, each) for each in found.places), key=_as_read)
    answer, memories = memory.answers.get(id_)
    shown, ranked, baseline = map(_places, (answer.shown, answer.ranked, answer.baseline))
    rows = []
    for named in {**shown, **ranked, **baseline}:
        said, used = _became(answer, named)
        then = (shown.get(named), ranked.get(named), baseline.get(named))
        rows.append(RankedMemory(named, memories.get(named), *then, None, None, said, used))
    return answer, sorted(rows, key=_as_read)


def _places(ids: Sequence[int]) -> dict[int, int]:
    return {id_: place for place, id_ in enumerate(ids, start=1)}


def _as_read(row: RankedMemory) -> tuple[float, ...]:
    """What the reader saw first, then the rest by the profile, then and now, and by the baseline."""
    places = (row.shown, row.ranked, row.now, row.baseline, row.baseline_now)
    return tuple(inf if place is None else place for place in places)


def _row(answer: LoggedAnswer, each: ReplayedMemory) -> RankedMemory:
    said, used = _became(answer, each.id)
    places = (each.shown, each.ranked, each.baseline, each.now, each.baseline_now)
    return RankedMemory(each.id, each.memory, *places, said, used)


def _became(answer: LoggedAnswer, id_: int) -> tuple[float | None, tuple[str, ...]]:
    said = next((grade for memory, kind, grade in answer.feedback if memory == id_ and kind == "said"), None)
    used = tuple(kind for memory, kind, _ in answer.feedback if memory == id_ and kind != "said")
    # What was taken back is as if it had not been said.
    return said or None, used


async def judge_hit(face: Face, request: Request) -> Response:
    """Say of a hit that it was right, or wrong, or take that back."""
    id_ = _number(request.path_params["id"], "answer")
    fields: dict[str, Any] = await form_fields(request)
    named, grade = _number(fields.get("memory", ""), "memory"), _GRADES.get(fields.get("grade", ""))
    if grade is None:
        raise InvalidInput("grade: 1 for right, -1 for wrong, or 0 to take that back. Nothing was noted.")

    def work(memory: Engine) -> float | None:
        answer, _ = memory.answers.get(id_)
        before, _ = _became(answer, named)
        memory.feedback(named, grade, answer.handle)
        return before

    before = await face.run(request, work, right=Right.WRITE)
    undo = Undo(request.url.path, (("memory", str(named)), ("grade", f"{before or 0:g}")))
    path = f"/answers/{id_}{'?replay=1' if fields.get('replay') else ''}"
    return redirect(request, path, f"Noted: #{named} {_SAID[grade]}.", undo if grade or before else None)


def _number(given: str, what: str) -> int:
    found = row_id(given)
    if found is None:
        raise NotFound(f"There is no {what} {given[:40]!r}; go back to the list and choose one.")
    return found
