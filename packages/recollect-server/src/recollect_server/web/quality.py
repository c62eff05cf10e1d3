"""Quality and Answers: the self-test, confidence and tuning of a memory, and the log of answers."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from itertools import chain
from math import inf
from typing import Any
from urllib.parse import urlencode

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
from recollect_server.runner import Right
from recollect_server.web.drawings import PERCENT_TICKS, TEXTS, curve_dots
from recollect_server.web.recall import GRADES, whole_number
from recollect_server.web.templating import Screen, SentForm, Undo

# Quality

_MAX_SAMPLED = 2_000
_USUAL_SAMPLE = 50
_MAX_SEED = 999_999
_MAX_VERSIONS = 50
_MAX_MISSES = 50
_MAX_MOVES = 10
_LONGEST_NUMBER = 10
# Recent results, which take long to compute and are not in the store.
_RESULTS: RecentValues[SelfTest | ConfidenceCurve | TuningChange] = RecentValues(32)


@dataclass(frozen=True, slots=True)
class QualityForm:
    sample: int = _USUAL_SAMPLE
    seed: int = 0
    profile: str = ""


def quality_form(fields: SentForm) -> QualityForm:
    seed = fields.text("seed")
    if seed and not (seed.isascii() and seed.isdigit() and int(seed[:9]) <= _MAX_SEED):
        raise InvalidInput(f"seed: write a number from 0 to {_MAX_SEED:,}.")
    return QualityForm(
        sample=whole_number(fields.get("sample"), "sample", _MAX_SAMPLED) or _USUAL_SAMPLE,
        seed=int(seed or 0),
        profile=fields.text("profile"),
    )


async def quality_screen(screen: Screen) -> Response:
    tab, found = screen.params.get("tab", ""), screen.params.get("found")
    if tab not in TEXTS["quality_tabs"]:
        raise NotFound(f"Quality has no tab {tab[:40]!r}; its tabs are self-test, confidence and tuning.")
    outcome = await screen.run(lambda memory: _RESULTS.get((memory.scope, tab, found))) if found else None
    shown: dict[str, Any] = {
        "tab": tab,
        "profiles": screen.profiles,
        "found": outcome,
        "gone": found is not None and outcome is None,
        "usual": QualityForm(),
        "most_moves": _MAX_MOVES,
        "most_misses": _MAX_MISSES,
    }
    if tab == "tuning":
        profile = screen.params.get("profile") or None
        shown |= await screen.run(lambda memory: _tuning(memory, profile))
    elif tab == "confidence":
        shown["dots"] = curve_dots(outcome) if isinstance(outcome, ConfidenceCurve) else []
        shown["ticks"] = PERCENT_TICKS
    return await screen.page("quality.html", **shown)


# Buttons


async def start_self_test(screen: Screen) -> Response:
    asked = quality_form(await screen.form())

    def work(memory: Engine, progress: Progress) -> str:
        done = memory.self_test(
            profiles=[asked.profile] if asked.profile else (),
            sample=asked.sample,
            seed=asked.seed,
            languages=model_languages(memory),
            progress=progress,
        )
        return _keep(memory, "", done)

    return await with_progress(screen, work)


def model_languages(memory: Engine) -> tuple[str, ...] | None:
    """Return the languages of the store's model, if Recollect packages it."""
    from recollect.plugin import packaged_model  # noqa: PLC0415  # loads the models' descriptions

    model = memory.model
    packaged = None if model is None else packaged_model(model.name.partition("@")[0])
    return None if packaged is None else tuple(packaged.languages)


async def start_curve(screen: Screen) -> Response:
    asked = quality_form(await screen.form())

    def work(memory: Engine, progress: Progress) -> str:
        return _keep(memory, "confidence", memory.tuning.confidence_curve(asked.sample, progress))

    return await with_progress(screen, work)


async def start_search(screen: Screen) -> Response:
    """Search for better weights, without applying them."""
    asked = quality_form(await screen.form())

    def work(memory: Engine, _: Progress) -> str:
        done = memory.tuning.run(asked.profile or None, dry_run=True)
        return f"{_keep(memory, 'tuning', done)}&{urlencode({'profile': done.profile})}"

    return await with_progress(screen, work, right=Right.ADMIN)


def _keep(memory: Engine, tab: str, done: SelfTest | ConfidenceCurve | TuningChange) -> str:
    """Keep a result for the scope that it was made in, under a random name; return its page's path."""
    name = secrets.token_urlsafe(12)
    _RESULTS.keep((memory.scope, tab, name), done)
    return f"/quality?{f'tab={tab}&' if tab else ''}found={name}"


# Tuning


def _tuning(memory: Engine, profile: str | None) -> dict[str, Any]:
    found = memory.tuning.analyze(profile)
    history = memory.tuning.history(found.numbers.profile, _MAX_VERSIONS)
    return {"analysis": found.analysis, "numbers": found.numbers, "log": found.log, "history": history}


async def apply_search(screen: Screen) -> Response:
    """Search again, and move the weights a step if that is still significantly better."""
    said = "Moved a step towards better weights"
    return await _change(screen, lambda memory, profile, _: memory.tuning.run(profile), said)


async def set_number(screen: Screen) -> Response:
    def change(memory: Engine, profile: str, fields: SentForm) -> TuningChange:
        given = fields.text("value")
        try:
            number = float(given)
        except ValueError:
            raise InvalidInput(f"{given[:40]!r} is not a number; write it as 0.25.") from None
        values = {fields.text("name"): number}
        return memory.tuning.set(values, profile, exactly=bool(fields.get("exactly")))

    return await _change(screen, change, "The weight was changed")


async def roll_back(screen: Screen) -> Response:
    def change(memory: Engine, profile: str, fields: SentForm) -> TuningChange:
        version = fields.text("version")
        if not (version.isascii() and version.isdigit() and len(version) < _LONGEST_NUMBER):
            raise InvalidInput("version: write the number of a version, or 0 for the published weights.")
        return memory.tuning.rollback(int(version), profile)

    return await _change(screen, change, "The earlier weights are back")


async def _change(
    screen: Screen, change: Callable[[Engine, str, SentForm], TuningChange], said: str
) -> Response:
    """Change the weights of a profile. The undo button restores the previous version."""
    fields = await screen.form()
    profile = fields.get("profile") or DEFAULT_PROFILE

    def work(memory: Engine) -> tuple[int, TuningChange]:
        return memory.tuning.numbers(profile).version, change(memory, profile, fields)

    before, done = await screen.run(work, right=Right.ADMIN)
    path = f"/quality?{urlencode({'tab': 'tuning', 'profile': profile})}"
    if not done.written:
        why = "It has these weights already." if done.proposal is None else done.proposal.says
        return screen.redirect(path, f"Nothing was changed. {why}", kind="warn")
    undo = Undo("/quality/rollback", (("profile", profile), ("version", str(before))))
    return screen.redirect(path, f"{said}: {profile} now ranks with version {done.version}.", undo)


# Answers

_PER_PAGE = 30
_GRADE_TEXTS = {1.0: "was right", -1.0: "was wrong", 0.0: "is no longer judged"}
_JUDGED = {"yes": True, "no": False, "": None}


async def answers_screen(screen: Screen) -> Response:
    asked = {name: screen.params.get(name, "").strip() for name in ("contains", "profile", "judged")}
    cursor = screen.params.get("cursor")
    before = None if not cursor else _number(cursor, "page")
    if asked["judged"] not in _JUDGED:
        raise InvalidInput("judged: choose yes or no, or leave it empty.")

    def look(memory: Engine) -> tuple[Sequence[LoggedAnswer], dict[int, Memory]]:
        """Return answers, one more than a page shows, and the first memory of each."""
        found = memory.answers.page(
            profile=asked["profile"] or None,
            judged=_JUDGED[asked["judged"]],
            contains=asked["contains"] or None,
            before=before,
            limit=_PER_PAGE + 1,
        )
        return found, memory.get_many({each.shown[0] for each in found if each.shown})

    found, first = await screen.run(look)
    return await screen.page(
        "answers.html",
        asked=asked,
        profiles=screen.profiles,
        answers=found[:_PER_PAGE],
        first=first,
        cursor=found[_PER_PAGE - 1].id if len(found) > _PER_PAGE else None,
        is_filtered=any(asked.values()) or bool(cursor),
    )


# One answer


async def answer_screen(screen: Screen) -> Response:
    id_ = _number(screen.request.path_params["id"], "answer")
    is_replayed = bool(screen.params.get("replay"))
    answer, rows = await screen.run(lambda memory: _answer(memory, id_, replay=is_replayed))
    used: dict[int, list[str]] = {}
    for named, kind, _ in answer.feedback:
        if kind != "said":
            used.setdefault(named, []).append(kind)
    return await screen.page(
        "answer.html",
        answer=answer,
        rows=rows,
        said=_explicit_grades(answer),
        used=used,
        replayed=is_replayed,
        moved=sum(each.ranked != each.now for each in rows) if is_replayed else None,
        new=sum(each.ranked is None and each.now is not None for each in rows) if is_replayed else None,
        here="/answers",
        differs=sum(each.ranked != each.baseline for each in rows),
    )


def _answer(memory: Engine, id_: int, *, replay: bool) -> tuple[LoggedAnswer, list[ReplayedMemory]]:
    """Return an answer and the places of its memories, which begin with the memories shown."""
    if replay:
        found = memory.answers.replay(id_)
        answer, rows = found.answer, list(found.places)
    else:
        answer, memories = memory.answers.get(id_)
        lists = (answer.shown, answer.ranked, answer.baseline)
        places = [{named: place for place, named in enumerate(ids, start=1)} for ids in lists]
        rows = [
            ReplayedMemory(named, memories.get(named), *(each.get(named) for each in places))
            for named in dict.fromkeys(chain(*lists))
        ]
    rows.sort(
        key=lambda row: [at or inf for at in (row.shown, row.ranked, row.now, row.baseline, row.baseline_now)]
    )
    return answer, rows


def _explicit_grades(answer: LoggedAnswer) -> dict[int, float]:
    """Return explicit feedback by memory, without withdrawn grades."""
    return {memory: grade for memory, kind, grade in answer.feedback if kind == "said" and grade}


async def judge_hit(screen: Screen) -> Response:
    id_, form = _number(screen.request.path_params["id"], "answer"), await screen.form()
    named, grade = _number(form.text("memory"), "memory"), GRADES.get(form.text("grade"))
    if grade is None:
        raise InvalidInput("grade: write 1 for right, -1 for wrong, or 0 to withdraw it. Nothing changed.")

    def work(memory: Engine) -> float:
        answer, _ = memory.answers.get(id_)
        memory.feedback(named, grade, answer.handle)
        return _explicit_grades(answer).get(named, 0.0)

    before = await screen.run(work, right=Right.WRITE)
    undo = Undo(screen.request.url.path, (("memory", str(named)), ("grade", f"{before:g}")))
    path = f"/answers/{id_}{'?replay=1' if form.get('replay') else ''}"
    return screen.redirect(path, f"Noted: #{named} {_GRADE_TEXTS[grade]}.", undo if grade or before else None)


def _number(given: str, what: str) -> int:
    found = row_id(given)
    if found is None:
        raise NotFound(f"There is no {what} {given[:40]!r}; go back to the list and choose one.")
    return found
