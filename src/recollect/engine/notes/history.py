"""The life of a memory, as far as the store knows it: what it said, when, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
    events = [
        *_life(memory, by),
        *_replacements(memory, replaced),
        *_observed(memory),
        *_related(memory, relations),
    ]
    # Stable: what happened in one moment stands in the order it is told above.
    return History(memory, tuple(sorted(events, key=lambda event: event.at)))


def _life(memory: Memory, by: Memory | None) -> Iterator[HistoryEvent]:
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
    for absence in memory.absences:
        yield HistoryEvent(absence.since, absence.why)
        yield HistoryEvent(absence.until, "restored")
    if memory.superseded_at is not None:
        yield HistoryEvent(memory.superseded_at, *_retired(memory, by))
    if memory.deleted_at is not None:
        yield HistoryEvent(memory.deleted_at, "forgotten", f"`recollect restore {memory.id}` brings it back")


def _retired(memory: Memory, by: Memory | None) -> tuple[str, str]:
    if by is None:
        return "superseded", "by a memory that is gone"
    if same_statement(memory.text, by.text):
        return "merged", f"into memory {by.id}, which says the same"
    return "superseded", f"by memory {by.id}"


def _replacements(memory: Memory, replaced: Sequence[Memory]) -> Iterator[HistoryEvent]:
    for other in replaced:
        if other.superseded_at is not None:
            same = same_statement(memory.text, other.text)
            what = "merged with" if same else "supersedes"
            yield HistoryEvent(other.superseded_at, what, f"memory {other.id}: {other.text}")


def _observed(memory: Memory) -> Iterator[HistoryEvent]:
    texts = {seen.id: seen.content for seen in memory.observations}
    for seen in memory.observations:
        yield HistoryEvent(seen.created_at, "observed", seen.content)
        if seen.superseded_at is not None:
            by = texts.get(seen.superseded_by or 0)
            instead = f" by: {by}" if by else f" by memory {seen.corrected_by}" if seen.corrected_by else ""
            yield HistoryEvent(seen.superseded_at, "superseded", f"{seen.content}{instead}")
        if seen.deleted_at is not None:
            yield HistoryEvent(seen.deleted_at, "removed", seen.content)


def _related(memory: Memory, relations: Sequence[Relation]) -> Iterator[HistoryEvent]:
    for relation in relations:
        told = f"{relation.source_name} {relation.type} {relation.target_name}"
        yield HistoryEvent(relation.created_at, "related", told)
        if relation.until is not None:
            yield HistoryEvent(relation.until, "ended", told)
        if relation.deleted_at is not None and relation.deleted_at != memory.deleted_at:
            yield HistoryEvent(relation.deleted_at, "unrelated", told)
