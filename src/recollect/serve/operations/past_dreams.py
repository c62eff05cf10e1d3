"""Operations that look at dreams: those that were, with what they changed, and what will fade."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from recollect.engine.memory_text import memory_text
from recollect.records import Kind
from recollect.serve.operations.browse import Cursor, PageLimit, next_place, place_of
from recollect.serve.operations.operation import OperationCall, OperationReply, RowId, described, operation
from recollect.serve.operations.paging import page_rows
from recollect.serve.operations.rows import PageRows, brief_text, row_of

if TYPE_CHECKING:
    from recollect.dreams.forecast import Forecast
    from recollect.records import DreamRecord, Memory

_COUNTED = "pruned merged merged_observations corrected".split()


class LossRow(TypedDict):
    query: str
    memory: int
    text: str
    phase: str


class DreamGateRow(TypedDict):
    """How past questions fared before and after."""

    questions: int
    made: Annotated[int, described("Those of them that nobody asked: made of memories' own words")]
    before: float
    after: float
    blame: str | None
    losses: Annotated[list[LossRow], described("What was found before, and would not be found after")]


class DreamRow(TypedDict):
    id: int
    at: str
    undone_at: str | None
    phases: list[str]
    skipped: list[str]
    memories: int
    answers: int
    stronger: int
    faded: int
    stabler: int
    consolidated: int
    archived: int
    revived: int
    pruned: int
    merged: int
    corrected: int
    linked: int
    temper: float
    gate: DreamGateRow | None


class ListDreamsOutput(PageRows):
    dreams: list[DreamRow]


@operation("List dreams", read_only=True)
def _list_dreams(
    call: OperationCall, limit: PageLimit = 20, cursor: Cursor | None = None
) -> OperationReply[ListDreamsOutput]:
    """Dreams, the newest first, with what each did in numbers and how its gate judged it."""
    found = call.engine.dreams.history(limit + 1, before=place_of(cursor) or None)
    shown = found[:limit]
    texts = texts_of_memories(call, {loss["memory"] for each in shown for loss in _losses(each)})
    rows = [_dream_row(each, texts) for each in shown]
    last = str(shown[-1].id) if len(found) > limit else None
    return OperationReply({"dreams": rows, **page_rows(last, None)})


def _losses(dream: DreamRecord) -> list[Any]:
    gate = dream.report.get("gate")
    return list(gate["losses"]) if gate else []


def texts_of_memories(call: OperationCall, ids: set[int]) -> dict[int, str]:
    return {id_: _said(memory) for id_, memory in call.engine.get_many(sorted(ids)).items()}


def _said(memory: Memory) -> str:
    return brief_text(memory.name or memory_text(memory, None))


def _dream_row(dream: DreamRecord, texts: Mapping[int, str]) -> DreamRow:
    report = dream.report
    counts = {name: len(report[name]) for name in _COUNTED}
    counts["merged"] += counts.pop("merged_observations")
    gate = report.get("gate")
    judged = None
    if gate is not None:
        losses = [{**loss, "text": texts.get(loss["memory"], "")} for loss in gate["losses"]]
        judged = {**gate, "losses": losses}
    plain = {name: report[name] for name in DreamRow.__annotations__ if name in report}
    computed = {**plain, **counts, "linked": report["links"], "gate": judged}
    return row_of(DreamRow, dream, **computed)


class DreamChangeRow(TypedDict):
    """One thing that a dream changed."""

    what: Annotated[
        str,
        described("A field such as strength; or pruned, merged, corrected, link, and so on of observations"),
    ]
    id: Annotated[int, described("The memory; of an observation, the observation")]
    text: str
    before: str | float | int | None
    after: str | float | int | None
    other: Annotated[int | None, described("What it lives on in, is corrected by, or is linked to")]


class GetDreamOutput(PageRows):
    dream: DreamRow
    changes: list[DreamChangeRow]
    total: Annotated[int, described("Changes on all pages")]


@operation("Get a dream", read_only=True)
def _get_dream(
    call: OperationCall,
    id: RowId,
    what: str | None = Field(
        default=None, description="Only changes of this sort, such as strength or merged"
    ),
    limit: PageLimit = 100,
    cursor: Cursor | None = None,
) -> OperationReply[GetDreamOutput]:
    """A dream with every change that it made, before and after, page by page."""
    record, journal = call.engine.dreams.journal(id)
    every = [each for each in _changes(journal) if what in (None, each["what"])]
    start = place_of(cursor)
    shown = every[start : start + limit]
    lost = {loss["memory"] for loss in _losses(record)}
    texts = texts_of_memories(
        call, {each["id"] for each in shown if "observation" not in each["what"]} | lost
    )
    owners = {entity for entity, *_ in record.report["merged_observations"]}
    owners |= {memory for memory, _ in record.report["corrected"]}
    observed = {
        seen.id: seen.content
        for memory in call.engine.get_many(sorted(owners)).values()
        for seen in memory.observations
    }
    rows: list[DreamChangeRow] = [
        {**each, "text": (observed if "observation" in each["what"] else texts).get(each["id"], "")}
        for each in shown
    ]
    more = page_rows(next_place(start, len(rows), more=start + len(rows) < len(every)), None)
    result: GetDreamOutput = {
        "dream": _dream_row(record, texts),
        "changes": rows,
        "total": len(every),
        **more,
    }
    return OperationReply(result)


def _changes(journal: Mapping[str, Any]) -> Iterator[DreamChangeRow]:
    for gone, by in journal["corrected"]:
        yield _change("corrected", gone, "in force", "superseded", by)
    for merged in journal["merged"]:
        yield _change("merged", merged["gone"], "in force", "superseded", merged["into"])
    for pruned in journal["pruned"]:
        yield _change("pruned", pruned["id"], "in force", "forgotten")
    for name in ("merged", "corrected"):
        for gone, by in journal[f"{name}_observations"]:
            yield _change(f"{name} observation", gone, "in force", "superseded", by)
    for first, second, before, after in journal["links"]:
        yield _change("link", first, before, after, second)
    for lived in journal["lived"]:
        for id_, before, after in zip(lived["ids"], lived["before"], lived["after"], strict=True):
            yield _change(lived["field"], id_, before, after)


def _change(what: str, id_: int, before: Any, after: Any, other: int | None = None) -> DreamChangeRow:
    return {"what": what, "id": id_, "text": "", "before": before, "after": after, "other": other}


class FadingRow(TypedDict):
    id: int
    kind: Kind
    text: str
    prunable_in_days: Annotated[
        int | None, described("A dream prunes it then if another memory says the same")
    ]
    archived_in_days: int | None
    strength: Annotated[float, described("At the end")]
    retrievable: Annotated[float, described("How much of it is left at the end, by its stability")]


class ForecastDayRow(TypedDict):
    date: str
    mean_strength: float
    prunable: Annotated[int, described("By the end of this day")]
    archived: int


class ForecastOutput(PageRows):
    days: int
    memories: int
    kept: Annotated[int, described("Pinned or marked as important: these do not fade")]
    fading: Annotated[list[FadingRow], described("Those that fade first")]
    total: Annotated[int, described("Memories that fade, on all pages")]
    by_day: list[ForecastDayRow]


@operation("Forecast", read_only=True)
def _forecast(
    call: OperationCall,
    days: int = Field(default=365, ge=1, le=3_650, description="How far to look ahead"),
    limit: PageLimit = 50,
    cursor: Cursor | None = None,
) -> OperationReply[ForecastOutput]:
    """Which memories nightly dreams would archive or might prune, if nobody uses them from now on."""
    found = call.engine.dreams.forecast(days)
    reached = {
        row: min(day for day in crossed if day >= 0)
        for row, crossed in enumerate(zip(found.fades_on.tolist(), found.archived_on.tolist(), strict=True))
        if max(crossed) >= 0
    }
    order = sorted(reached, key=lambda row: (reached[row], float(found.strength[row]), row))
    start = place_of(cursor)
    shown = order[start : start + limit]
    texts = texts_of_memories(call, {int(found.ids[row]) for row in shown})
    result: ForecastOutput = {
        "days": days,
        "memories": len(found.ids),
        "kept": int(found.kept.sum()),
        "fading": [_fading_row(found, row, texts) for row in shown],
        "total": len(order),
        "by_day": _by_day(call, found),
        **page_rows(next_place(start, len(shown), more=start + len(shown) < len(order)), None),
    }
    return OperationReply(result)


def _fading_row(found: Forecast, row: int, texts: Mapping[int, str]) -> FadingRow:
    id_ = int(found.ids[row])
    fades, archived = int(found.fades_on[row]), int(found.archived_on[row])
    return {
        "id": id_,
        "kind": tuple(Kind)[int(found.kind[row])],
        "text": texts.get(id_, ""),
        "prunable_in_days": fades if fades >= 0 else None,
        "archived_in_days": archived if archived >= 0 else None,
        "strength": float(found.strength[row]),
        "retrievable": float(found.retrievable[row]),
    }


def _by_day(call: OperationCall, found: Forecast) -> list[ForecastDayRow]:
    today = call.engine.upkeep.now().astimezone(call.engine.zone).date()
    prunable, archived = (
        accumulate(new[day] for day in range(found.days + 1))
        for new in (Counter(found.fades_on.tolist()), Counter(found.archived_on.tolist()))
    )
    return [
        {
            "date": (today + timedelta(days=day)).isoformat(),
            "mean_strength": mean,
            "prunable": faded,
            "archived": gone,
        }
        for day, (mean, faded, gone) in enumerate(zip(found.mean_strength, prunable, archived, strict=True))
    ]
