"""Dreams: what each changed and how its gate judged it, a dry run, undo, and what will fade."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.dreams.knobs import Phase
from recollect.errors import InvalidInput, NotFound
from recollect.lazy_dataclass import dataclass
from recollect.serve.http.caller import Right
from recollect.serve.http.face import caller_of
from recollect.serve.web.pages.recall import whole_number
from recollect.serve.web.progress import with_progress_to
from recollect.serve.web.templating import Undo, page, redirect
from recollect.text.phrases import quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from recollect.dreams.report import DreamReport
    from recollect.engine.dreams.dreaming import DreamResult
    from recollect.engine.engine import Engine
    from recollect.ports import Progress
    from recollect.records import Memory
    from recollect.serve.http.face import Face

_SHOWN = 50
_MOST_DAYS = 3_650
_USUAL_DAYS = 90
PHASES: Mapping[str, str] = {
    Phase.CONSOLIDATE: "What was recalled grows stronger",
    Phase.DOWNSCALE: "Everything fades a little",
    Phase.MERGE: "Repeats become one",
    Phase.CORRECT: "Copies of corrected errors are retired",
    Phase.PRUNE: "What is stale, weak and said elsewhere is forgotten",
    Phase.PLACE: "What has settled moves on, what is very stale is archived",
    Phase.PROMOTE: "What keeps being used goes deeper",
    Phase.BALANCE: "Rankings heed all this only as far as nobody finds less",
    Phase.LINK: "What comes up together is linked",
    Phase.REPORT: "What wants care is listed",
}
"""What each phase does, in the order in which they run."""
# What is under way when so many stages are done.
_STAGES = (
    "Looking at the day",
    "Seeing who else says what fades",
    "Looking for copies of old errors",
    "Asking past questions",
    "Summing up",
    "Writing",
    "Done",
)


@dataclass(frozen=True, slots=True)
class DreamCount:
    """What a dream did to so many memories."""

    name: str
    title: str
    what: str | None
    """Changes of this sort are such, among those of the journal."""


_COUNTS = (
    DreamCount("stronger", "grew stronger", "strength"),
    DreamCount("faded", "faded", "strength"),
    DreamCount("stabler", "will last longer", "stability"),
    DreamCount("consolidated", "settled", "consolidation"),
    DreamCount("archived", "archived", "consolidation"),
    DreamCount("revived", "came back", "consolidation"),
    DreamCount("merged", "merged", "merged"),
    DreamCount("corrected", "corrected", "corrected"),
    DreamCount("pruned", "pruned", "pruned"),
    DreamCount("linked", "linked", "link"),
)


# Looking


async def dreams_screen(face: Face, request: Request) -> Response:
    given: dict[str, Any] = {"limit": 20}
    if request.query_params.get("cursor"):
        given["cursor"] = request.query_params["cursor"]
    found = (await face.call(request, "list_dreams", given)).result
    dreams = [_dream(row) for row in found["dreams"]]
    return await page(
        face,
        request,
        "dreams.html",
        dreams=dreams,
        cursor=found.get("cursor"),
        phases=PHASES,
        stages=_STAGES,
        counts=_COUNTS,
    )


async def dream_screen(face: Face, request: Request) -> Response:
    id_ = _dream_id(request)
    params = request.query_params
    given: dict[str, Any] = {"id": id_, "limit": _SHOWN}
    given |= {name: params[name] for name in ("what", "cursor") if params.get(name)}
    found = (await face.call(request, "get_dream", given)).result
    with_it = await face.run(request, lambda memory: memory.dreams.undone_with(id_))
    dream = _dream(found["dream"])
    return await page(
        face,
        request,
        "dream.html",
        dream=dream,
        undone_with=with_it,
        changes=found["changes"],
        total=found["total"],
        cursor=found.get("cursor"),
        what=params.get("what"),
        phases=PHASES,
        counts=[each for each in _COUNTS if dream[each.name]],
    )


async def forecast_screen(face: Face, request: Request) -> Response:
    params = request.query_params
    days = whole_number(params.get("days"), "days", _MOST_DAYS) or _USUAL_DAYS
    given: dict[str, Any] = {"days": days, "limit": _SHOWN}
    if params.get("cursor"):
        given["cursor"] = params["cursor"]
    found = (await face.call(request, "forecast", given)).result
    return await page(
        face,
        request,
        "forecast.html",
        forecast=found,
        chart=forecast_chart(found["by_day"], found["memories"]),
        cursor=found.get("cursor"),
    )


def _dream(row: Mapping[str, Any]) -> dict[str, Any]:
    """With its times as times."""
    undone = row["undone_at"]
    return {
        **row,
        "at": datetime.fromisoformat(row["at"]),
        "undone_at": None if undone is None else datetime.fromisoformat(undone),
    }


def _dream_id(request: Request) -> int:
    given = request.path_params["id"]
    if not (given.isascii() and given.isdigit() and len(given) < 19):
        raise NotFound("There is no such dream; go back to the list of dreams.")
    return int(given)


# Dreaming


@dataclass(frozen=True, slots=True)
class DreamForm:
    dry_run: bool
    without: tuple[str, ...]


async def dream_now(face: Face, request: Request) -> Response:
    """Dream, or try it: a script reads how far it is, and without one the page comes when it is done."""
    # Before anything is promised to a reader of events.
    caller_of(request).require(Right.WRITE)
    form = await request.form()
    asked = DreamForm(bool(form.get("dry_run")), tuple(str(each) for each in form.getlist("without"))[:20])
    if set(PHASES) <= set(asked.without):
        raise InvalidInput("That leaves no phase to dream; leave at least one of them in.")

    def work(memory: Engine, progress: Progress) -> _Dreamt:
        with face.metrics.timed("dream"):
            done = memory.dream(dry_run=asked.dry_run, without=asked.without, progress=progress)
        named = () if done.id is not None else _named(done.report)
        return _Dreamt(done, memory.get_many(sorted(named)))

    async def shown(done: _Dreamt) -> Response:
        return _to_dream(request, done) or await _result_page(face, request, asked, done)

    return await with_progress_to(face, request, work, shown, right=Right.WRITE)


async def undo_dream(face: Face, request: Request) -> Response:
    id_ = _dream_id(request)
    form = await request.form()
    done = (await face.call(request, "undo_dream", {"id": id_, "later": bool(form.get("later"))})).result
    undone = " and ".join(map(str, done["undone"]))
    said = f"Undid dream {undone}: {quantity(done['changes'], 'change')} put back."
    if done["left"]:
        said += f" {quantity(len(done['left']), 'memory', 'memories')} changed since stay as they are."
    return redirect(request, "/dreams", said)


@dataclass(frozen=True, slots=True)
class _Dreamt:
    result: DreamResult
    memories: Mapping[int, Memory]
    """Those that a page names."""


def _named(report: DreamReport) -> set[int]:
    moved = (*report.strongest, *report.weakest, *report.stablest)
    pairs = (*report.merged[:_SHOWN], *report.corrected[:_SHOWN], *(row[:2] for row in report.linked))
    lost = () if report.gate is None else report.gate.losses[:_SHOWN]
    return {
        *(each.id for each in moved),
        *report.pruned[:_SHOWN],
        *(id_ for pair in pairs for id_ in pair),
        *(row[0] for row in report.merged_observations[:_SHOWN]),
        *(loss.memory for loss in lost),
    }


def _to_dream(request: Request, done: _Dreamt) -> Response | None:
    """To the page of what was written."""
    if done.result.id is None:
        return None
    here = f"/dreams/{done.result.id}"
    return redirect(request, here, f"Dream {done.result.id} is done.", Undo(f"{here}/undo"))


async def _result_page(face: Face, request: Request, asked: DreamForm, done: _Dreamt) -> Response:
    """What was not written: a dry run, what the gate refused, or nothing at all."""
    return await page(
        face,
        request,
        "dry_run.html",
        report=done.result.report,
        memories=done.memories,
        asked=asked,
        phases=PHASES,
        stages=_STAGES,
        most=_SHOWN,
        facts=lambda id_: [(seen.id, seen.content) for seen in done.memories[id_].observations],
    )


DREAM_PAGES = {
    ("GET", "/dreams"): dreams_screen,
    ("POST", "/dreams"): dream_now,
    ("GET", "/dreams/forecast"): forecast_screen,
    ("GET", "/dreams/{id}"): dream_screen,
    ("POST", "/dreams/{id}/undo"): undo_dream,
}
"""By method and path."""


# The forecast, drawn

_MOST_POINTS = 120


@dataclass(frozen=True, slots=True)
class ForecastChart:
    """Points of two lines over the days, in hundredths of the drawing."""

    strength: str
    archived: str


def forecast_chart(by_day: Sequence[Mapping[str, Any]], memories: int) -> ForecastChart:
    """How strong memories are on average, and what share of them is archived."""
    step = max(1, len(by_day) // _MOST_POINTS)
    days = [*by_day[::step], *([by_day[-1]] if (len(by_day) - 1) % step else [])]

    def points(values: Sequence[float], highest: float) -> str:
        last = max(1, len(values) - 1)
        return " ".join(
            f"{100 * place / last:.2f},{99 - 98 * value / highest:.2f}" for place, value in enumerate(values)
        )

    strengths = [float(day["mean_strength"]) for day in days]
    return ForecastChart(
        points(strengths, max(1.0, *strengths)), points([day["archived"] for day in days], max(1, memories))
    )
