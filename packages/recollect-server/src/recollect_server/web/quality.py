"""Quality and Answers: how well this memory is found, its tuning, and the log of answers."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from math import inf
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from recollect import Engine
from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import DEFAULT_PROFILE
from recollect.domain.records import LoggedAnswer, Memory
from recollect.operations.operation import RecentValues
from recollect.operations.paging import row_id
from recollect.plugin import ConfidenceCurve, ReplayedMemory, SelfTest, TuningChange
from recollect.stores.port import Progress
from recollect_server.progress import with_progress
from recollect_server.runner import MemoryRunner, Right
from recollect_server.web.drawings import TEXTS, curve_drawing
from recollect_server.web.recall import whole_number
from recollect_server.web.templating import SentForm, Undo, page, redirect, sent_form

# Quality

_MOST_SAMPLED = 2_000
_USUAL_SAMPLE = 50
_MOST_SEED = 999_999
_VERSIONS = 50
_MISSES = 50
_MOVES = 10
_LONGEST_NUMBER = 10
# What was found out by a button, until the next few: it takes long, and nothing of it is in the store.
_FOUND: RecentValues[SelfTest | ConfidenceCurve | TuningChange] = RecentValues(32)


@dataclass(frozen=True, slots=True)
class QualityForm:
    """What is to be asked, as the form has it."""

    sample: int = _USUAL_SAMPLE
    seed: int = 0
    profile: str = ""


def quality_form(fields: SentForm) -> QualityForm:
    seed = fields.text("seed")
    if seed and not (seed.isascii() and seed.isdigit() and int(seed[:9]) <= _MOST_SEED):
        raise InvalidInput(f"seed: write a number from 0 to {_MOST_SEED:,}.")
    return QualityForm(
        sample=whole_number(fields.get("sample"), "sample", _MOST_SAMPLED) or _USUAL_SAMPLE,
        seed=int(seed or 0),
        profile=fields.text("profile"),
    )


async def quality_screen(runner: MemoryRunner, request: Request) -> Response:
    tab = request.query_params.get("tab", "")
    if tab not in TEXTS["quality_tabs"]:
        raise NotFound(f"There is no tab {tab[:40]!r} of Quality; there are: self-test, confidence, tuning.")
    shown: dict[str, Any] = {"tab": tab, "profiles": list(runner.memory().profiles)}
    found = request.query_params.get("found")
    outcome = await runner.run(request, lambda memory: _kept(memory, tab, found)) if found else None
    shown |= {"found": outcome, "gone": found is not None and outcome is None, "usual": QualityForm()}
    if tab == "tuning":
        profile = request.query_params.get("profile") or None
        shown |= await runner.run(request, lambda memory: _tuning(memory, profile))
        shown |= {"most_moves": _MOVES}
    elif tab == "confidence":
        shown["curve"] = curve_drawing(outcome) if isinstance(outcome, ConfidenceCurve) else None
    else:
        shown |= {"most_misses": _MISSES}
    return await page(runner, request, "quality.html", **shown)


# What is found out by a button


async def start_self_test(runner: MemoryRunner, request: Request) -> Response:
    asked = quality_form(await sent_form(request))

    def work(memory: Engine, progress: Progress) -> str:
        done = memory.self_test(
            profiles=[asked.profile] if asked.profile else (),
            sample=asked.sample,
            seed=asked.seed,
            languages=model_languages(memory),
            progress=progress,
        )
        return _keep(memory, "", done)

    return await with_progress(runner, request, work)


def model_languages(memory: Engine) -> tuple[str, ...] | None:
    """Those that the store's model knows, where that is known."""
    from recollect.plugin import packaged_model  # noqa: PLC0415  # loads the models' descriptions

    model = memory.model
    packaged = None if model is None else packaged_model(model.name.partition("@")[0])
    return None if packaged is None else tuple(packaged.languages)


async def start_curve(runner: MemoryRunner, request: Request) -> Response:
    asked = quality_form(await sent_form(request))

    def work(memory: Engine, progress: Progress) -> str:
        return _keep(memory, "confidence", memory.tuning.confidence_curve(asked.sample, progress))

    return await with_progress(runner, request, work)


async def start_search(runner: MemoryRunner, request: Request) -> Response:
    """Look for better numbers, and write nothing."""
    asked = quality_form(await sent_form(request))

    def work(memory: Engine, _: Progress) -> str:
        done = memory.tuning.run(asked.profile or None, dry_run=True)
        return f"{_keep(memory, 'tuning', done)}&{urlencode({'profile': done.profile})}"

    return await with_progress(runner, request, work, right=Right.ADMIN)


def _keep(memory: Engine, tab: str, done: SelfTest | ConfidenceCurve | TuningChange) -> str:
    """Under a name that nobody guesses, and only for its own scope; the path of the page that shows it."""
    name = secrets.token_urlsafe(12)
    _FOUND.keep((memory.scope, tab, name), done)
    return f"/quality?{f'tab={tab}&' if tab else ''}found={name}"


def _kept(memory: Engine, tab: str, name: str) -> SelfTest | ConfidenceCurve | TuningChange | None:
    return _FOUND.get((memory.scope, tab, name))


# Tuning


def _tuning(memory: Engine, profile: str | None) -> dict[str, Any]:
    found = memory.tuning.analyze(profile)
    chosen = found.numbers.profile
    history = memory.tuning.history(chosen, _VERSIONS)
    return {"analysis": found.analysis, "numbers": found.numbers, "log": found.log, "history": history}


async def apply_search(runner: MemoryRunner, request: Request) -> Response:
    """Search again and take the step, if it is still better beyond chance."""

    def change(memory: Engine, profile: str, _: SentForm) -> TuningChange:
        return memory.tuning.run(profile)

    return await _change(runner, request, change, "It took a step towards better numbers")


async def set_number(runner: MemoryRunner, request: Request) -> Response:
    def change(memory: Engine, profile: str, fields: SentForm) -> TuningChange:
        given = fields.text("value")
        try:
            number = float(given)
        except ValueError:
            raise InvalidInput(f"{given[:40]!r} is no number; write it as 0.25.") from None
        values = {fields.text("name"): number}
        return memory.tuning.set(values, profile, exactly=bool(fields.get("exactly")))

    return await _change(runner, request, change, "The number was moved")


async def roll_back(runner: MemoryRunner, request: Request) -> Response:
    def change(memory: Engine, profile: str, fields: SentForm) -> TuningChange:
        version = fields.text("version")
        if not (version.isascii() and version.isdigit() and len(version) < _LONGEST_NUMBER):
            raise InvalidInput("version: write the number of a version, or 0 for the published numbers.")
        return memory.tuning.rollback(int(version), profile)

    return await _change(runner, request, change, "The earlier numbers are back")


async def _change(
    runner: MemoryRunner,
    request: Request,
    change: Callable[[Engine, str, SentForm], TuningChange],
    said: str,
) -> Response:
    """Give a profile other numbers; the way back is to the version that it had."""
    fields = await sent_form(request)
    profile = fields.get("profile") or DEFAULT_PROFILE

    def work(memory: Engine) -> tuple[int, TuningChange]:
        return memory.tuning.numbers(profile).version, change(memory, profile, fields)

    before, done = await runner.run(request, work, right=Right.ADMIN)
    path = f"/quality?{urlencode({'tab': 'tuning', 'profile': profile})}"
    if not done.written:
        why = "These are its numbers already." if done.proposal is None else done.proposal.says
        return redirect(request, path, f"Nothing was changed. {why}", kind="warn")
    undo = Undo("/quality/rollback", (("profile", profile), ("version", str(before))))
    return redirect(
        request, path, f"{said}: {profile} answers with version {done.version} from now on.", undo
    )


# Answers

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
class ComparedMemory:
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


async def answers_screen(runner: MemoryRunner, request: Request) -> Response:
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
    found, first = await runner.run(request, lambda memory: _page(memory, asked))
    return await page(
        runner,
        request,
        "answers.html",
        asked=asked,
        profiles=list(runner.memory().profiles),
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


async def answer_screen(runner: MemoryRunner, request: Request) -> Response:
    id_ = _number(request.path_params["id"], "answer")
    is_replayed = bool(request.query_params.get("replay"))
    answer, rows = await runner.run(request, lambda memory: _answer(memory, id_, replay=is_replayed))
    return await page(
        runner,
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


def _answer(memory: Engine, id_: int, *, replay: bool) -> tuple[LoggedAnswer, list[ComparedMemory]]:
    if replay:
        found = memory.answers.replay(id_)
        return found.answer, sorted((_row(found.answer, each) for each in found.places), key=_as_read)
    answer, memories = memory.answers.get(id_)
    shown, ranked, baseline = map(_places, (answer.shown, answer.ranked, answer.baseline))
    rows = []
    for named in {**shown, **ranked, **baseline}:
        said, used = _became(answer, named)
        then = (shown.get(named), ranked.get(named), baseline.get(named))
        rows.append(ComparedMemory(named, memories.get(named), *then, None, None, said, used))
    return answer, sorted(rows, key=_as_read)


def _places(ids: Sequence[int]) -> dict[int, int]:
    return {id_: place for place, id_ in enumerate(ids, start=1)}


def _as_read(row: ComparedMemory) -> tuple[float, ...]:
    """What the reader saw first, then the rest by the profile, then and now, and by the baseline."""
    places = (row.shown, row.ranked, row.now, row.baseline, row.baseline_now)
    return tuple(inf if place is None else place for place in places)


def _row(answer: LoggedAnswer, each: ReplayedMemory) -> ComparedMemory:
    said, used = _became(answer, each.id)
    places = (each.shown, each.ranked, each.baseline, each.now, each.baseline_now)
    return ComparedMemory(each.id, each.memory, *places, said, used)


def _became(answer: LoggedAnswer, id_: int) -> tuple[float | None, tuple[str, ...]]:
    said = next((grade for memory, kind, grade in answer.feedback if memory == id_ and kind == "said"), None)
    used = tuple(kind for memory, kind, _ in answer.feedback if memory == id_ and kind != "said")
    # What was taken back is as if it had not been said.
    return said or None, used


async def judge_hit(runner: MemoryRunner, request: Request) -> Response:
    """Say of a hit that it was right, or wrong, or take that back."""
    id_ = _number(request.path_params["id"], "answer")
    fields = await sent_form(request)
    named, grade = _number(fields.text("memory"), "memory"), _GRADES.get(fields.text("grade"))
    if grade is None:
        raise InvalidInput("grade: 1 for right, -1 for wrong, or 0 to take that back. Nothing was noted.")

    def work(memory: Engine) -> float | None:
        answer, _ = memory.answers.get(id_)
        before, _ = _became(answer, named)
        memory.feedback(named, grade, answer.handle)
        return before

    before = await runner.run(request, work, right=Right.WRITE)
    undo = Undo(request.url.path, (("memory", str(named)), ("grade", f"{before or 0:g}")))
    path = f"/answers/{id_}{'?replay=1' if fields.get('replay') else ''}"
    return redirect(request, path, f"Noted: #{named} {_SAID[grade]}.", undo if grade or before else None)


def _number(given: str, what: str) -> int:
    found = row_id(given)
    if found is None:
        raise NotFound(f"There is no {what} {given[:40]!r}; go back to the list and choose one.")
    return found
