"""Why not: where a memory stands for a query, what every step cost it, and what would lift it."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from recollect.engine.browse.pages import BrowseFilter
from recollect.engine.limits import DEFAULT_LIMIT
from recollect.errors import InvalidInput, NotFound
from recollect.lazy_dataclass import dataclass
from recollect.ranking.explain import effect_text
from recollect.records import Kind, as_it_stood
from recollect.serve.operations.paging import row_id
from recollect.serve.web.pages.recall import recall_form
from recollect.serve.web.templating import page, title_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from recollect.engine.engine import Engine
    from recollect.engine.results import Answer, Hit
    from recollect.engine.why_not import WhyNot
    from recollect.ranking.explain import Reason
    from recollect.records import Memory
    from recollect.serve.http.face import Face
    from recollect.serve.web.pages.recall import RecallForm

_MOST_CHOICES = 10
_MOST_LOOKED_AT = 50
_LONGEST_WORDS = 500
_SMALLEST = 0.00005


@dataclass(frozen=True, slots=True)
class StepGap:
    """What one step did to the memory and to the one it is compared with."""

    step: str
    effect: str
    score: float
    other_effect: str
    other_score: float
    points: float
    """How far the step moved the memory towards the other one; negative: away from it."""
    x: float
    width: float
    """In hundredths of a drawing whose middle is nothing."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The memory beside another hit: all the points together are the difference of their scores."""

    other: Hit
    place: int
    """The other one's."""
    steps: Sequence[StepGap]
    missing: float
    """Points that the memory lacks; negative: it has so many more."""


@dataclass(frozen=True, slots=True)
class WhyNotAnswer:
    found: WhyNot
    verdict: str
    comparison: Comparison | None
    shown: int
    """How many memories the answer shows."""


async def why_not_screen(face: Face, request: Request) -> Response:
    asked, words = recall_form(request), _words_of(request)
    values = await face.run(request, lambda memory: _look(memory, asked, words))
    return await page(
        face,
        request,
        "why_not.html",
        asked=asked,
        words=words,
        profiles=list(face.memory().profiles),
        kinds=list(Kind),
        **values,
    )


def _words_of(request: Request) -> str:
    """What names the memory: an id from a link, or what somebody typed."""
    params = request.query_params
    given = params.get("memory", "").strip() or params.get("id", "").strip() or params.get("name", "").strip()
    if len(given) > _LONGEST_WORDS:
        raise InvalidInput(
            f"memory: write at most {_LONGEST_WORDS} characters: an id, a name, or some words."
        )
    return given


def _look(memory: Engine, asked: RecallForm, words: str) -> dict[str, Any]:
    chosen = _named(memory, words) if words else None
    values: dict[str, Any] = {"chosen": None, "choices": [], "answer": None, "listed": ()}
    if chosen is None:
        if words:
            values["choices"] = _choices(memory, words, asked)
        elif asked.query:
            values["listed"] = memory.search(asked.query, limit=_MOST_CHOICES, **asked.search()).hits
        return values
    values["chosen"] = as_it_stood(chosen, asked.as_of)
    if asked.query:
        values["answer"] = _explained(memory, asked, chosen.id)
    return values


# Which memory


def _named(memory: Engine, words: str) -> Memory | None:
    """By its id, or an entity by its name; None: it must be looked for."""
    number = row_id(words.removeprefix("#"))
    if number is not None:
        found = memory.get(number)
        if found is None:
            raise NotFound(f"There is no memory #{number}; Browse lists those there are.")
        return found
    try:
        return memory.get(memory.graph.entity_id(words))
    except NotFound:
        return None


def _choices(memory: Engine, words: str, asked: RecallForm) -> list[Memory]:
    """What has these words, whatever became of it; then what a search finds, and what has the letters."""
    exact = memory.browse.page(BrowseFilter(state="all", contains=words), limit=_MOST_LOOKED_AT).memories
    near = memory.search(words, limit=_MOST_CHOICES, as_of=asked.as_of, include_superseded=True).hits
    whole = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)", re.IGNORECASE)
    literal = [each for each in exact if whole.search(f"{title_of(each)} {each.text}")]
    found = {each.id: each for each in (*literal, *(hit.memory for hit in near), *exact)}
    known = [as_it_stood(each, asked.as_of) for each in found.values() if _was_known(each, asked)]
    return known[:_MOST_CHOICES]


def _was_known(memory: Memory, asked: RecallForm) -> bool:
    return asked.as_of is None or memory.created_at <= asked.as_of


# Why


def _explained(memory: Engine, asked: RecallForm, id_: int) -> WhyNotAnswer:
    found = memory.why_not(asked.query, id_, limit=asked.limit, **asked.search())
    answer = memory.search(asked.query, limit=asked.limit, explain=True, **asked.search())
    return WhyNotAnswer(
        found, _verdict(found, answer, asked), _compared(found, answer, id_), len(answer.hits)
    )


def _verdict(found: WhyNot, answer: Answer, asked: RecallForm) -> str:
    """Without a number, an answer ends where nothing more seems worth reading, which may be sooner."""
    stands, shown = found.standing, [hit.memory.id for hit in answer.hits]
    is_cut = stands is not None and stands.place is not None and stands.place <= DEFAULT_LIMIT
    if asked.limit is None and stands is not None and is_cut and found.memory.id not in shown:
        return (
            f"It stands at place {stands.place}, but only the first {len(shown)} seemed worth reading. "
            f"Who asks for {stands.place} gets it."
        )
    return found.verdict


def _compared(found: WhyNot, answer: Answer, id_: int) -> Comparison | None:
    """With the last one that was shown; where it was shown itself, with the first, or the second."""
    stands = found.standing
    if stands is None or not stands.reasons or not answer.hits:
        return None
    ids = [hit.memory.id for hit in answer.hits]
    place = len(ids) - 1
    if id_ in ids:
        place = 0 if ids[0] != id_ else 1
    if place >= len(ids):
        return None
    other = answer.hits[place]
    steps = step_gaps(stands.reasons, other.reasons)
    return Comparison(other, place + 1, steps, other.score - stands.score)


def step_gaps(own: Sequence[Reason], others: Sequence[Reason]) -> list[StepGap]:
    """Step by step, how the difference of two scores came about. The points add up to it."""
    rows: list[tuple[str, str, float, str, float, float]] = []
    score = other_score = 0.0
    for reason, other in zip_longest(own, others):
        before = score - other_score
        score = score if reason is None else reason.score
        other_score = other_score if other is None else other.score
        step = (reason or other).step
        effect = "" if reason is None else effect_text(reason)
        other_effect = "" if other is None else effect_text(other)
        rows.append((step, effect, score, other_effect, other_score, score - other_score - before))
    most = max((abs(row[-1]) for row in rows), default=0.0) or 1.0
    return [
        StepGap(
            *row, x=round(50 + min(0.0, 50 * row[-1] / most), 2), width=round(50 * abs(row[-1]) / most, 2)
        )
        for row in rows
        if abs(row[-1]) >= _SMALLEST
    ]
