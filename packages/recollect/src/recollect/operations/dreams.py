"""Operations on dreams: run, preview, list and undo them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from recollect.domain.errors import NotFound
from recollect.domain.json_values import in_json, inlined, to_json
from recollect.domain.lazy_dataclass import dataclass
from recollect.dreams.plan import DreamReport
from recollect.operations.browse import Cursor, PageLimit
from recollect.operations.operation import Many, OperationCall, OperationReply, RowId, described, operation
from recollect.operations.paging import PageEnd, page_end, page_of, place_of
from recollect.operations.rows import brief_text, row_of
from recollect.search.recall import memory_text

if TYPE_CHECKING:
    from recollect.domain.records import DreamRecord
    from recollect.dreams.dreaming import DreamResult


_MOST_LEFT = 50


@dataclass(frozen=True, slots=True)
class GateSummary:
    """How well past questions are answered before and after a dream, and which phase makes that worse."""

    questions: int
    before: float = field(metadata=in_json(digits=4))
    after: float = field(metadata=in_json(digits=4))
    blame: str | None


@dataclass(frozen=True, slots=True)
class DreamCounts:
    memories: int
    answers: int
    stronger: int
    faded: int
    stabler: int
    consolidated: int
    archived: int
    pruned: int
    merged: int
    corrected: int
    linked: int


@dataclass(frozen=True, slots=True)
class DreamDone:
    id: Annotated[int | None, "The dream's number, if anything was written"]
    counts: DreamCounts = field(metadata=in_json(inline=True))
    gate: GateSummary | None


@operation("Dream", http="POST /dreams", tools="all", destructive=True)
def _dream(
    call: OperationCall,
    dry_run: bool = Field(default=False, description="Only report what it would do"),
    without: Many[str] = Field(default=[], description="Phases to leave out, such as prune or merge"),
) -> OperationReply[DreamDone]:
    """Consolidate the memory: strengthen what was used, let the rest fade, merge repeats, retire copies of
    corrected errors. Use it only when the user asks, or after a long stretch of work; try `dry_run` first.
    Nothing is lost: a dream is tested on past questions first, and can be undone.
    """
    done = call.engine.dream(dry_run=dry_run, without=without, progress=call.progress)
    gate = done.report.gate
    counts = _counts(to_json(done.report))
    tried = None if gate is None else row_of(GateSummary, gate)
    return OperationReply(DreamDone(done.id, counts, tried), _text(done, counts, dry_run=dry_run))


def _counts(report: Mapping[str, Any]) -> DreamCounts:
    listed = {name: len(report[name]) for name in ("pruned", "merged", "corrected")}
    listed["merged"] += len(report["merged_observations"])
    known: dict[str, Any] = {**report, **listed, "linked": report["links"]}
    return DreamCounts(**{each.name: known[each.name] for each in fields(DreamCounts)})


def _text(done: DreamResult, counts: DreamCounts, *, dry_run: bool) -> str:
    gate = done.report.gate
    if gate is not None and gate.blame is not None:
        return (
            f"Nothing was written: after the phase `{gate.blame}`, {gate.after:.1%} of what people look for "
            f"would be found instead of {gate.before:.1%}. Call `dream` with without=[{str(gate.blame)!r}] "
            "to leave that phase out."
        )
    changes = [
        f"{count} {name}"
        for name, count in to_json(counts).items()
        if count and name not in {"memories", "answers"}
    ]
    listed = ", ".join(changes) or "nothing to change"
    if dry_run:
        return f"A dry run found: {listed}."
    if done.id is None:
        return "There was nothing to do."
    return f"Dream {done.id}: {listed}. `undo_dream` with id={done.id} undoes it."


@dataclass(frozen=True, slots=True)
class UndoneDreams:
    undone: list[int]
    changes: int
    left: Annotated[list[int], "Memories that were changed since and stay as they are"]


@operation("Undo a dream", http="POST /dreams/{id}/undo", tools="all")
def _undo_dream(
    call: OperationCall,
    id: RowId = described("The dream's number"),
    later: bool = Field(default=False, description="Undo the dreams after it, too"),
) -> OperationReply[UndoneDreams]:
    """Undo the changes of a dream. Memories that were changed since stay as they are."""
    try:
        done = call.engine.dreams.undo(id, later=later)
    except NotFound as error:
        known = [each.id for each in call.engine.dreams.history(_MOST_LEFT) if each.undone_at is None]
        there = f"dreams to undo: {', '.join(map(str, known))}" if known else "none can be undone"
        raise NotFound(f"There is no dream {id}; {there}.") from error
    left = list(done.left)[:_MOST_LEFT]
    remark = f"{len(done.left)} memories were changed since and stay as they are: "
    return OperationReply(
        UndoneDreams(list(done.ids), done.changes, left),
        f"Undone: {', '.join(map(str, done.ids))}; {done.changes} changes.",
        f"{remark}{', '.join(f'#{each}' for each in left)}." if left else None,
    )


# Operations that list past dreams and their changes.


@dataclass(frozen=True, slots=True)
class Loss:
    query: str
    memory: int
    text: str
    phase: str


@dataclass(frozen=True, slots=True)
class DreamGate:
    """How well past questions were answered before and after a dream."""

    questions: int
    made: Annotated[int, "How many of them were generated from memories' own words"]
    before: float
    after: float
    blame: str | None
    losses: Annotated[list[Loss], "Memories that were found before, but would not be found after"]


@dataclass(frozen=True, slots=True)
class PastDream:
    id: int
    at: datetime
    undone_at: datetime | None
    phases: tuple[str, ...]
    skipped: list[str]
    revived: int
    counts: DreamCounts = field(metadata=in_json(inline=True))
    gate: DreamGate | None


@dataclass(frozen=True, slots=True)
class DreamPage:
    dreams: list[PastDream]
    more: PageEnd = inlined()


@operation("List dreams", http="GET /dreams", read_only=True)
def _list_dreams(call: OperationCall, limit: PageLimit = 20, cursor: Cursor | None = None) -> DreamPage:
    """List dreams, the newest first, with their counts and the result of their gate."""
    found = call.engine.dreams.history(limit + 1, before=place_of(cursor) or None)
    shown = found[:limit]
    texts = texts_of_memories(call, {loss["memory"] for each in shown for loss in _losses(each)})
    end = page_end(shown[-1].id if shown else 0, len(found) > limit)
    return DreamPage([_past_dream(each, texts) for each in shown], end)


def _losses(dream: DreamRecord) -> list[Any]:
    gate = dream.report.get("gate")
    return list(gate["losses"]) if gate else []


def texts_of_memories(call: OperationCall, ids: set[int]) -> dict[int, str]:
    found = call.engine.get_many(sorted(ids))
    return {id_: brief_text(each.name or memory_text(each, None)) for id_, each in found.items()}


def _past_dream(dream: DreamRecord, texts: Mapping[int, str]) -> PastDream:
    report = dream.report
    gate = report.get("gate")
    if gate is not None:
        losses = [Loss(**loss, text=texts.get(loss["memory"], "")) for loss in gate["losses"]]
        gate = DreamGate(**{**gate, "losses": losses})
    skipped, revived = report.get("skipped", []), report["revived"]
    return PastDream(
        dream.id, dream.at, dream.undone_at, dream.phases, skipped, revived, _counts(report), gate
    )


@dataclass(frozen=True, slots=True)
class DreamChange:
    """A change that a dream made."""

    what: Annotated[
        str, "A field such as strength; or pruned, merged, corrected, link, merged observation and so on"
    ]
    id: Annotated[int, "Id of the memory, or of the observation"]
    before: str | float | int | None
    after: str | float | int | None
    other: Annotated[int | None, "The memory that it was merged into, corrected by or linked to"] = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class DreamDetail:
    dream: PastDream
    changes: list[DreamChange]
    total: Annotated[int, "Changes on all pages"]
    more: PageEnd = inlined()


@operation("Get a dream", http="GET /dreams/{id}", read_only=True)
def _get_dream(
    call: OperationCall,
    id: RowId,
    what: str | None = Field(
        default=None, description="Only changes of this sort, such as strength or merged"
    ),
    limit: PageLimit = 100,
    cursor: Cursor | None = None,
) -> DreamDetail:
    """Get a dream with every change that it made, before and after, page by page."""
    record, journal = call.engine.dreams.journal(id)
    every = [each for each in _changes(journal) if what in (None, each.what)]
    shown, end = page_of(every, limit, cursor)
    lost = {loss["memory"] for loss in _losses(record)}
    texts = texts_of_memories(call, {each.id for each in shown if "observation" not in each.what} | lost)
    owners = {entity for entity, *_ in record.report["merged_observations"]}
    owners |= {memory for memory, _ in record.report["corrected"]}
    observed = {
        seen.id: seen.content
        for memory in call.engine.get_many(sorted(owners)).values()
        for seen in memory.observations
    }
    rows = [
        replace(each, text=(observed if "observation" in each.what else texts).get(each.id, ""))
        for each in shown
    ]
    return DreamDetail(_past_dream(record, texts), rows, len(every), end)


def _changes(journal: Mapping[str, Any]) -> Iterator[DreamChange]:
    for gone, by in journal["corrected"]:
        yield DreamChange("corrected", gone, "in force", "superseded", by)
    for merged in journal["merged"]:
        yield DreamChange("merged", merged["gone"], "in force", "superseded", merged["into"])
    for pruned in journal["pruned"]:
        yield DreamChange("pruned", pruned["id"], "in force", "forgotten")
    for name in ("merged", "corrected"):
        for gone, by in journal[f"{name}_observations"]:
            yield DreamChange(f"{name} observation", gone, "in force", "superseded", by)
    for first, second, before, after in journal["links"]:
        yield DreamChange("link", first, before, after, second)
    for lived in journal["lived"]:
        for id_, before, after in zip(lived["ids"], lived["before"], lived["after"], strict=True):
            yield DreamChange(lived["field"], id_, before, after)


# A preview of a dream's changes.


@dataclass(frozen=True, slots=True)
class DreamPreview:
    report: DreamReport = field(metadata=in_json(inline=True))
    totals: Annotated[dict[str, int], "The full lengths of the lists"]
    texts: Annotated[dict[int, str], "Texts of the memories in the lists, by id"]
    observations: Annotated[dict[int, str], "Texts of the observations in the lists, by id"]


# Not declared read-only, since this takes long and reads have a time limit.
@operation("Preview a dream", http="POST /dreams/preview", idempotent=True)
def _preview_dream(
    call: OperationCall,
    without: Many[str] = Field(default=[], description="Phases to leave out, such as prune or merge"),
    limit: int = Field(default=50, ge=1, le=1_000, description="Rows of each list"),
) -> DreamPreview:
    """Preview everything that a dream would do now: memories that grow stronger, fade, or are merged,
    corrected, pruned or linked, and how well past questions would be answered. Nothing is written.
    """
    report = call.engine.dream(dry_run=True, without=without, progress=call.progress).report
    lists = {name: getattr(report, name) for name in ("merged", "merged_observations", "corrected", "pruned")}
    totals = {name: len(rows) for name, rows in lists.items()} | {"linked": report.links}
    report = replace(report, **{name: rows[:limit] for name, rows in lists.items()})
    entities = call.engine.get_many(sorted({entity for entity, *_ in report.merged_observations}))
    observed = {seen.id: brief_text(seen.content) for each in entities.values() for seen in each.observations}
    return DreamPreview(report, totals, texts_of_memories(call, _memories_named(report)), observed)


def _memories_named(report: DreamReport) -> set[int]:
    """Return the ids of all memories in a report."""
    moved = (*report.strongest, *report.weakest, *report.stablest, *report.deeper)
    pairs = (*report.merged, *report.corrected, *(row[:2] for row in report.linked))
    lost = () if report.gate is None else report.gate.losses
    return {
        *(each.id for each in moved),
        *report.pruned,
        *(id_ for pair in pairs for id_ in pair),
        *(each.memory for each in lost),
    }
