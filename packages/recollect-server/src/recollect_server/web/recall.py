"""Recall and Why not: answers, the steps of each score, and why a memory is missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from itertools import zip_longest
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from recollect import Engine
from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import DEFAULT_LIMIT, DEFAULT_PROFILE
from recollect.domain.records import Kind, Memory, memory_at
from recollect.domain.results import Answer, Hit
from recollect.operations.paging import row_id
from recollect.plugin import BrowseFilter, Internals, Reason, WhyNot, effect_text, hits_worth_reading
from recollect_server.runner import Right
from recollect_server.web.templating import KEPT_PARAMETERS, Screen, Undo, title_of

# Recall

_MAX_SHOWN = 50
# Number of weaker hits below those that an agent gets.
_CLOSEST = 5


@dataclass(frozen=True, slots=True)
class RecallForm:
    query: str
    profile: str
    kinds: tuple[str, ...]
    tag: str
    session: str
    limit: int | None
    superseded: bool
    as_of: datetime | None

    def search(self) -> dict[str, Any]:
        """Return arguments of the engine's `search` and `why_not`, without the limit."""
        return {
            "profile": self.profile,
            "kinds": self.kinds or tuple(Kind),
            "tags": (self.tag,) if self.tag else (),
            "session": self.session or None,
            "as_of": self.as_of,
            "include_superseded": self.superseded,
        }


def recall_form(screen: Screen) -> RecallForm:
    params = screen.params
    return RecallForm(
        query=params.get("q", "").strip(),
        profile=params.get("profile") or DEFAULT_PROFILE,
        kinds=tuple(kind for kind in params.getlist("kind") if kind),
        tag=params.get("tag", "").strip(),
        session=params.get("session", "").strip(),
        limit=whole_number(params.get("limit"), "limit", _MAX_SHOWN),
        superseded=bool(params.get("superseded")),
        as_of=screen.as_of,
    )


def whole_number(given: str | None, name: str, most: int) -> int | None:
    if not given:
        return None
    if not given.isascii() or not given.isdigit() or not 1 <= int(given[:9]) <= most:
        raise InvalidInput(f"{name}: write a number from 1 to {most}.")
    return int(given)


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    shown: tuple[Hit, ...]
    closest: tuple[Hit, ...]
    answer: Answer
    stored_later: tuple[Memory, ...]
    """In a past view: memories that match and happened by then, but were stored later."""


async def recall_screen(screen: Screen) -> Response:
    asked = recall_form(screen)
    form: dict[str, Any] = {"asked": asked, "profiles": screen.profiles, "kinds": list(Kind)}
    if not asked.query:
        recent = await screen.run(
            lambda memory: tuple(memory.list(kinds=tuple(Kind), limit=DEFAULT_LIMIT).memories)
        )
        return await screen.page("recall.html", **form, found=None, recent=recent)
    found = await screen.run(lambda memory: _find(memory, asked))
    # Forms return to the same question. `Screen.url` adds the scope and the moment.
    params = [each for each in screen.params.multi_items() if each[0] not in KEPT_PARAMETERS]
    back = f"/recall?{urlencode(params)}"
    return await screen.page("recall.html", **form, found=found, recent=(), query=asked.query, back=back)


def _find(memory: Engine, asked: RecallForm) -> RecallAnswer:
    """Search once, without recording it, for the hits that an agent gets and the closest others."""
    most = asked.limit or DEFAULT_LIMIT
    found = memory.search(asked.query, limit=most + _CLOSEST, explain=True, **asked.search())
    shown = found.hits[:most]
    if not asked.limit:
        shown = () if found.doubtful else hits_worth_reading(shown)
    return RecallAnswer(shown, found.hits[len(shown) :][:_CLOSEST], found, _stored_later(memory, asked))


def _stored_later(memory: Engine, asked: RecallForm) -> tuple[Memory, ...]:
    if asked.as_of is None:
        return ()
    now = memory.search(asked.query, limit=DEFAULT_LIMIT, **(asked.search() | {"as_of": None}))
    worth = () if now.doubtful else hits_worth_reading(now.hits)
    found = (hit.memory for hit in worth if hit.memory.created_at > asked.as_of)
    return tuple(each for each in found if each.happened_at and each.happened_at <= asked.as_of)


async def recall_context(screen: Screen) -> Response:
    """Show the text that an agent reads for the same question."""
    asked = recall_form(screen)
    context = await screen.run(
        lambda memory: memory.context(
            asked.query, session=asked.session or None, profile=asked.profile, as_of=asked.as_of
        )
    )
    return await screen.page("recall_context.html", context=context, here="/recall")


async def recall_counts(screen: Screen) -> Response:
    """Show the counts. The page loads them later, because counting a large memory is slow."""

    def count(memory: Engine) -> dict[str, int]:
        kinds, counts = Internals(memory).count_memories(), Internals(memory).count_in_scope()
        return {
            "notes": kinds.get(Kind.NOTE, 0),
            "entities": kinds.get(Kind.ENTITY, 0),
            "messages": kinds.get(Kind.MESSAGE, 0),
            "observations": counts.observations,
            "relations": counts.relations,
            "forgotten": counts.forgotten,
        }

    return await screen.page("recall_counts.html", tiles=await screen.run(count))


# Feedback on a hit

GRADES = {"1": 1.0, "-1": -1.0, "0": 0.0}
_GRADE_TEXTS = {1.0: "helped", -1.0: "did not help", 0.0: "is no longer judged"}
_MAX_LOGGED_ANSWERS = 30


async def judge_recalled(screen: Screen) -> Response:
    """Store feedback. The address contains the question; the form contains the hit and its grade."""
    asked, form = recall_form(screen), await screen.form()
    grade, ids = GRADES.get(form.get("grade") or ""), form.ids("memory")
    if grade is None or len(ids) != 1 or not asked.query or asked.as_of is not None:
        raise InvalidInput("Ask a question and judge one of its hits. Nothing was recorded.")
    before = await screen.run(lambda memory: _judge(memory, asked, ids[0], grade), right=Right.WRITE)
    back = form.back("/recall")
    undo = Undo(
        back.replace("/recall", "/recall/judge", 1),
        (("memory", str(ids[0])), ("grade", f"{before:g}"), ("back", back)),
    )
    said = f"Recorded: #{ids[0]} {_GRADE_TEXTS[grade]}. Tuning uses this."
    return screen.redirect(back, said, undo if grade != before else None)


def _judge(memory: Engine, asked: RecallForm, id_: int, grade: float) -> float:
    """Store the grade, and return the previous one, or 0.

    The dashboard's searches are not recorded. If no logged answer shows the memory, ask again and record it.
    """
    logged = memory.answers.page(contains=asked.query, limit=_MAX_LOGGED_ANSWERS)
    answer = next((each for each in logged if each.query == asked.query and id_ in each.shown), None)
    if answer is not None:
        memory.feedback(id_, grade, answer.handle)
        said = (mark for named, kind, mark in answer.feedback if named == id_ and kind == "said")
        return next(said, 0.0)
    shown = memory.recall(asked.query, limit=asked.limit, **asked.search())
    if id_ not in {hit.memory.id for hit in shown.hits}:
        raise InvalidInput(f"#{id_} is no longer a hit for this question. Ask again. Nothing was recorded.")
    memory.feedback(id_, grade, shown)
    return 0.0


# Why not

_MAX_CHOICES = 10
_MAX_SUBSTRING_HITS = 50
_LONGEST_WORDS = 500
_MIN_POINTS = 0.00005
_RECENT = 8


@dataclass(frozen=True, slots=True)
class StepGap:
    """The effect of one ranking step on the memory and on the hit compared with it."""

    step: str
    effect: str
    score: float
    other_effect: str
    other_score: float
    points: float
    """Change of the memory's lead over the other hit; negative if it fell behind."""
    x: float
    width: float
    """`x` and `width` are in percent of a drawing with 0 in the middle."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A memory and another hit. The points of all steps add up to the difference of their scores."""

    other: Hit
    place: int
    steps: Sequence[StepGap]
    missing: float
    """Points by which the memory scores lower than the other hit; negative if it scores higher."""


@dataclass(frozen=True, slots=True)
class WhyNotView:
    found: WhyNot
    verdict: str
    comparison: Comparison | None
    shown: int


async def why_not_screen(screen: Screen) -> Response:
    asked, params = recall_form(screen), screen.params
    # Links send `id` or `name`; the form sends `memory`.
    given = (params.get(name, "").strip() for name in ("memory", "id", "name"))
    words = next(filter(None, given), "")
    if len(words) > _LONGEST_WORDS:
        raise InvalidInput(f"memory: write an id, a name or some words, at most {_LONGEST_WORDS} characters.")
    values = await screen.run(lambda memory: _why_not_values(memory, asked, words))
    return await screen.page(
        "why_not.html", asked=asked, words=words, profiles=screen.profiles, kinds=list(Kind), **values
    )


def _why_not_values(memory: Engine, asked: RecallForm, words: str) -> dict[str, Any]:
    chosen = _find_memory(memory, words) if words else None
    values: dict[str, Any] = {"chosen": None, "choices": [], "answer": None, "listed": (), "questions": ()}
    if chosen is None:
        if words:
            values["choices"] = _choices(memory, words, asked.as_of)
        elif not asked.query:
            logged = memory.answers.page(limit=_MAX_LOGGED_ANSWERS)
            values["questions"] = list(dict.fromkeys(filter(None, (each.query for each in logged))))[:_RECENT]
        else:
            values["listed"] = memory.search(asked.query, limit=_MAX_CHOICES, **asked.search()).hits
        return values
    values["chosen"] = memory_at(chosen, asked.as_of)
    if asked.query:
        values["answer"] = _explain(memory, asked, chosen.id)
    return values


def _find_memory(memory: Engine, words: str) -> Memory | None:
    """Find a memory by its id, or an entity by its name; return None if no entity has that name."""
    number = row_id(words.removeprefix("#"))
    if number is not None:
        found = memory.get(number)
        if found is None:
            raise NotFound(f"There is no memory #{number}. Browse lists all memories.")
        return found
    try:
        return memory.get(Internals(memory).entity_id(words))
    except NotFound:
        return None


def _choices(memory: Engine, words: str, moment: datetime | None) -> list[Memory]:
    """List memories in any state: whole-word matches, then search hits, then substring matches."""
    exact = memory.browse.page(BrowseFilter(state="all", contains=words), limit=_MAX_SUBSTRING_HITS).memories
    near = memory.search(words, limit=_MAX_CHOICES, as_of=moment, include_superseded=True).hits
    whole = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)", re.IGNORECASE)
    literal = [each for each in exact if whole.search(f"{title_of(each)} {each.text}")]
    found = {each.id: each for each in (*literal, *(hit.memory for hit in near), *exact)}
    known = [each for each in found.values() if moment is None or each.created_at <= moment]
    return [memory_at(each, moment) for each in known[:_MAX_CHOICES]]


def _explain(memory: Engine, asked: RecallForm, id_: int) -> WhyNotView:
    found = memory.why_not(asked.query, id_, limit=asked.limit, **asked.search())
    answer = memory.search(asked.query, limit=asked.limit, explain=True, **asked.search())
    standing, shown, verdict = found.standing, [hit.memory.id for hit in answer.hits], found.verdict
    is_cut = standing is not None and standing.place is not None and standing.place <= DEFAULT_LIMIT
    # Without a limit, an answer ends after the last relevant hit.
    if asked.limit is None and standing is not None and is_cut and id_ not in shown:
        verdict = (
            f"It ranks at place {standing.place}, but only the first {len(shown)} are relevant enough. "
            f"Ask for {standing.place} hits to get it."
        )
    return WhyNotView(found, verdict, _compare(found, answer, id_), len(shown))


def _compare(found: WhyNot, answer: Answer, id_: int) -> Comparison | None:
    """Compare the memory with the last hit or, if it is a hit itself, with the first other hit."""
    standing = found.standing
    if standing is None or not standing.reasons or not answer.hits:
        return None
    ids = [hit.memory.id for hit in answer.hits]
    place = int(ids[0] == id_) if id_ in ids else len(ids) - 1
    if place >= len(ids):
        return None
    other = answer.hits[place]
    steps = step_gaps(standing.reasons, other.reasons)
    return Comparison(other, place + 1, steps, other.score - standing.score)


def step_gaps(own: Sequence[Reason], others: Sequence[Reason]) -> list[StepGap]:
    """Split the difference of two scores into points per step."""
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
        if abs(row[-1]) >= _MIN_POINTS
    ]
