"""The life of a memory, as far as the store knows it: what it said, when, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from recollect.engine.results import History, HistoryEvent
from recollect.engine.services import Services
from recollect.records import Kind, Memory, Relation
from recollect.retrieval.records import memories_by_id, relations_of, replaced_by
from recollect.text.near_duplicates import same_statement


def history(services: Services, id_: int) -> History:
    memory = services.memory(id_)
    with services.read() as view:
        replaced = list(memories_by_id(view, replaced_by(view, id_)).values())
        by = memories_by_id(view, [memory.superseded_by] if memory.superseded_by else []).get(
            memory.superseded_by or 0
        )
        relations = relations_of(view, [id_], deleted=True) if memory.kind is Kind.ENTITY else ()
    life = _life(memory, by)
    last = max(at for at, _ in life)
    events = [
        *life,
        *_replacements(memory, replaced),
        *_observed(memory),
        *_related(memory, relations),
        *_forgotten(memory, last),
    ]
    # Stable: what happened in one moment stands in the order it is told above.
    return History(memory, tuple(event for _, event in sorted(events, key=lambda each: each[0])))


_Placed = tuple[datetime, HistoryEvent]
"""An event, and the time by which it is put in order: never before what must have come first.

A clock may jump back, and then the second of two changes bears the earlier time. The event tells the time
that was stored.
"""


def _one_after_another(events: Iterable[HistoryEvent], begins: datetime) -> Iterator[_Placed]:
    """Events in the order in which they were written."""
    for event in events:
        begins = max(begins, event.at)
        yield begins, event


def _life(memory: Memory, by: Memory | None) -> list[_Placed]:
    begins = memory.created_at
    placed = [
        *_one_after_another(_said(memory), begins),
        *_one_after_another(_absences(memory), begins),
    ]
    if memory.superseded_at is not None:
        back = max((absence.until for absence in memory.absences), default=begins)
        retired = HistoryEvent(memory.superseded_at, *_retired(memory, by))
        placed += _one_after_another([retired], max(begins, back))
    return placed


def _said(memory: Memory) -> Iterator[HistoryEvent]:
    first = memory.former[0].text if memory.former else memory.text
    if memory.kind is Kind.ENTITY:
        yield HistoryEvent(memory.created_at, "created", f"{memory.name} ({memory.type})")
    elif memory.kind is Kind.MESSAGE:
        who = memory.speaker or memory.role or "someone"
        yield HistoryEvent(memory.created_at, "said", f"{who}: {first}")
    else:
        yield HistoryEvent(memory.created_at, "noted", first)
    said = [*(former.text for former in memory.former[1:]), memory.text]
    for former, text in zip(memory.former, said, strict=bool(memory.former)):
        yield HistoryEvent(former.until, "updated", text)


def _absences(memory: Memory) -> Iterator[HistoryEvent]:
    for absence in memory.absences:
        yield HistoryEvent(absence.since, absence.why)
        yield HistoryEvent(absence.until, "restored")


def _forgotten(memory: Memory, last: datetime) -> Iterator[_Placed]:
    """What is forgotten can be changed no more, so nothing of its life came later."""
    if memory.deleted_at is not None:
        detail = f"`recollect restore {memory.id}` brings it back"
        yield from _one_after_another([HistoryEvent(memory.deleted_at, "forgotten", detail)], last)


def _retired(memory: Memory, by: Memory | None) -> tuple[str, str]:
    if by is None:
        return "superseded", "by a memory that is gone"
    if same_statement(memory.text, by.text):
        return "merged", f"into memory {by.id}, which says the same"
    return "superseded", f"by memory {by.id}"


def _replacements(memory: Memory, replaced: Sequence[Memory]) -> Iterator[_Placed]:
    for other in replaced:
        if other.superseded_at is not None:
            same = same_statement(memory.text, other.text)
            what = "merged with" if same else "supersedes"
            event = HistoryEvent(other.superseded_at, what, f"memory {other.id}: {other.text}")
            yield from _one_after_another([event], memory.created_at)


def _observed(memory: Memory) -> Iterator[_Placed]:
    # What was brought in may be older than the entity here, so that its own time is all there is to go by.
    begins = {seen.id: seen.created_at for seen in memory.observations}
    texts = {seen.id: seen.content for seen in memory.observations}
    for seen in memory.observations:
        yield seen.created_at, HistoryEvent(seen.created_at, "observed", seen.content)
        if seen.superseded_at is not None:
            by = texts.get(seen.superseded_by or 0)
            instead = f" by: {by}" if by else f" by memory {seen.corrected_by}" if seen.corrected_by else ""
            event = HistoryEvent(seen.superseded_at, "superseded", f"{seen.content}{instead}")
            since = max(seen.created_at, begins.get(seen.superseded_by or 0, seen.created_at))
            yield from _one_after_another([event], since)
        if seen.deleted_at is not None:
            event = HistoryEvent(seen.deleted_at, "removed", seen.content)
            yield from _one_after_another([event], seen.created_at)


def _related(memory: Memory, relations: Sequence[Relation]) -> Iterator[_Placed]:
    for relation in relations:
        told = f"{relation.source_name} {relation.type} {relation.target_name}"
        yield relation.created_at, HistoryEvent(relation.created_at, "related", told)
        if relation.until is not None:
            # Since when it no longer holds, which may be long before anybody told of it.
            yield relation.until, HistoryEvent(relation.until, "ended", told)
        if relation.deleted_at is not None and relation.deleted_at != memory.deleted_at:
            event = HistoryEvent(relation.deleted_at, "unrelated", told)
            yield from _one_after_another([event], relation.created_at)
