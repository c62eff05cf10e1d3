"""Dreams: what each changed, a dry run, and undo."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from starlette.responses import Response

from recollect import Engine
from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.json_values import to_json
from recollect.operations.paging import row_id
from recollect.plugin import DreamResult, Internals, Phase
from recollect.stores.port import Progress
from recollect.text.phrases import quantity
from recollect_server.progress import with_progress_to
from recollect_server.runner import Right
from recollect_server.web.templating import Screen, Undo

_SHOWN = 50


async def dreams_screen(screen: Screen) -> Response:
    found = await screen.call("list_dreams", limit=20, cursor=screen.params.get("cursor") or None)
    every = await screen.run(lambda memory: Internals(memory).services.dreams_every)
    dreams = [_with_times(row) for row in found["dreams"]]
    return await screen.page("dreams.html", dreams=dreams, cursor=found.get("cursor"), every=every)


async def dream_screen(screen: Screen) -> Response:
    id_ = _dream_id(screen)
    given = {name: screen.params.get(name) or None for name in ("what", "cursor")}
    found = await screen.call("get_dream", id=id_, limit=_SHOWN, **given)

    def look(memory: Engine) -> dict[str, Any]:
        record, _ = memory.dreams.journal(id_)
        undone_with = Internals(memory).dreams_undone_with(id_)
        return {"undone_with": undone_with, **_report_values(memory, record.report)}

    return await screen.page(
        "dream.html",
        dream=_with_times(found["dream"]),
        changes=found["changes"],
        total=found["total"],
        cursor=found.get("cursor"),
        what=screen.params.get("what"),
        **await screen.run(look),
    )


def _report_values(memory: Engine, report: Mapping[str, Any]) -> dict[str, Any]:
    """Return a dream's report, its counts by kind of change, and the memories and facts in it."""
    listed = {name: len(report[name]) for name in ("pruned", "merged", "corrected")}
    listed["merged"] += len(report["merged_observations"])
    memories = memory.get_many(sorted(_linked_ids(report)))
    facts = {seen.id: seen.content for each in memories.values() for seen in each.observations}
    counts = {**report, **listed, "linked": report["links"]}
    return {"report": report, "counts": counts, "memories": memories, "facts": facts, "most": _SHOWN}


def _with_times(row: Mapping[str, Any]) -> dict[str, Any]:
    times = {name: row[name] and datetime.fromisoformat(row[name]) for name in ("at", "undone_at")}
    return {**row, **times}


def _dream_id(screen: Screen) -> int:
    found = row_id(screen.request.path_params["id"])
    if found is None:
        raise NotFound("There is no such dream; go back to the list of dreams.")
    return found


async def dream_now(screen: Screen) -> Response:
    """Dream, or make a dry run. The page's script shows the progress; without it, the result comes last."""
    # Check this first, since a stream of events cannot end in a refusal.
    screen.caller.require(Right.WRITE)
    form = await screen.request.form()
    dry_run, without = bool(form.get("dry_run")), tuple(str(each) for each in form.getlist("without"))[:20]
    if set(Phase) <= set(without):
        raise InvalidInput("That leaves out every phase; clear at least one box.")

    def work(memory: Engine, progress: Progress) -> tuple[DreamResult, dict[str, Any]]:
        with screen.runner.metrics.timed("dream"):
            done = memory.dream(dry_run=dry_run, without=without, progress=progress)
        return done, {} if done.id is not None else _report_values(memory, to_json(done.report))

    async def show(found: tuple[DreamResult, dict[str, Any]]) -> Response:
        done, values = found
        if done.id is not None:
            here = f"/dreams/{done.id}"
            return screen.redirect(here, f"Dream {done.id} is done.", Undo(f"{here}/undo"))
        asked = {"dry_run": dry_run, "without": without}
        return await screen.page("dry_run.html", asked=asked, **values)

    return await with_progress_to(screen, work, show, right=Right.WRITE)


def _linked_ids(report: Mapping[str, Any]) -> set[int]:
    """Return the memories that the page of a report links to."""
    moved = (*report["strongest"], *report["weakest"], *report["stablest"])
    pairs = (
        *report["merged"][:_SHOWN],
        *report["corrected"][:_SHOWN],
        *(row[:2] for row in report["linked"]),
    )
    lost = report["gate"]["losses"][:_SHOWN] if report.get("gate") else ()
    return {
        *(each["id"] for each in moved),
        *report["pruned"][:_SHOWN],
        *(id_ for pair in pairs for id_ in pair),
        *(row[0] for row in report["merged_observations"][:_SHOWN]),
        *(loss["memory"] for loss in lost),
    }


async def undo_dream(screen: Screen) -> Response:
    form = await screen.form()
    done = await screen.call("undo_dream", id=_dream_id(screen), later=bool(form.get("later")))
    undone = " and ".join(map(str, done["undone"]))
    said = f"Undid dream {undone}: {quantity(done['changes'], 'change')} reverted."
    if done["left"]:
        said += f" {quantity(len(done['left']), 'memory', 'memories')} changed since stay as they are."
    return screen.redirect("/dreams", said)
