"""Dreams: what each changed and how its gate judged it, a dry run, and undo."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from recollect import Engine
from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Memory
from recollect.plugin import DreamReport, DreamResult, Internals, Phase
from recollect.stores.port import Progress
from recollect.text.phrases import quantity
from recollect_server.progress import with_progress_to
from recollect_server.runner import MemoryRunner, Right, caller_of
from recollect_server.web.drawings import TEXTS
from recollect_server.web.templating import Undo, page, redirect

_SHOWN = 50
# Looking


async def dreams_screen(runner: MemoryRunner, request: Request) -> Response:
    given: dict[str, Any] = {"limit": 20}
    if request.query_params.get("cursor"):
        given["cursor"] = request.query_params["cursor"]
    found = (await runner.call(request, "list_dreams", given)).result
    dreams = [_dream(row) for row in found["dreams"]]
    return await page(
        runner,
        request,
        "dreams.html",
        dreams=dreams,
        cursor=found.get("cursor"),
    )


async def dream_screen(runner: MemoryRunner, request: Request) -> Response:
    id_ = _dream_id(request)
    params = request.query_params
    given: dict[str, Any] = {"id": id_, "limit": _SHOWN}
    given |= {name: params[name] for name in ("what", "cursor") if params.get(name)}
    found = (await runner.call(request, "get_dream", given)).result
    with_it = await runner.run(request, lambda memory: Internals(memory).dreams_undone_with(id_))
    dream = _dream(found["dream"])
    return await page(
        runner,
        request,
        "dream.html",
        dream=dream,
        undone_with=with_it,
        changes=found["changes"],
        total=found["total"],
        cursor=found.get("cursor"),
        what=params.get("what"),
        counts=[each for each in TEXTS["dream_counts"] if dream[each["name"]]],
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


async def dream_now(runner: MemoryRunner, request: Request) -> Response:
    """Dream, or try it: a script reads how far it is, and without one the page comes when it is done."""
    # Before anything is promised to a reader of events.
    caller_of(request).require(Right.WRITE)
    form = await request.form()
    asked = DreamForm(bool(form.get("dry_run")), tuple(str(each) for each in form.getlist("without"))[:20])
    if set(Phase) <= set(asked.without):
        raise InvalidInput("That leaves no phase to dream; leave at least one of them in.")

    def work(memory: Engine, progress: Progress) -> _Dreamt:
        with runner.metrics.timed("dream"):
            done = memory.dream(dry_run=asked.dry_run, without=asked.without, progress=progress)
        named = () if done.id is not None else _named(done.report)
        return _Dreamt(done, memory.get_many(sorted(named)))

    async def shown(done: _Dreamt) -> Response:
        return _to_dream(request, done) or await _result_page(runner, request, asked, done)

    return await with_progress_to(runner, request, work, shown, right=Right.WRITE)


async def undo_dream(runner: MemoryRunner, request: Request) -> Response:
    id_ = _dream_id(request)
    form = await request.form()
    done = (await runner.call(request, "undo_dream", {"id": id_, "later": bool(form.get("later"))})).result
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


async def _result_page(runner: MemoryRunner, request: Request, asked: DreamForm, done: _Dreamt) -> Response:
    """What was not written: a dry run, what the gate refused, or nothing at all."""
    return await page(
        runner,
        request,
        "dry_run.html",
        report=done.result.report,
        memories=done.memories,
        asked=asked,
        most=_SHOWN,
        facts=lambda id_: [(seen.id, seen.content) for seen in done.memories[id_].observations],
    )
