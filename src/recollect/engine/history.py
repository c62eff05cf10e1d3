"""The life of a memory, as far as the store knows it: what it said, when, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.engine.remember import of_scope
from recollect.engine.results import Event, History
from recollect.records import Kind
from recollect.text.near_duplicates import same_statement

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recollect.engine.parts import Parts
    from recollect.records import Memory, Relation


def history(parts: Parts, id_: int) -> History:
    memory = of_scope(parts, id_)
    with parts.store.read() as view:
        replaced = list(view.memories(view.replaced_by(id_)).values())
        by = view.memories([memory.superseded_by] if memory.superseded_by else []).get(
            memory.superseded_by or 0
        )
        relations = view.relations([id_], deleted=True) if memory.kind is Kind.ENTITY else ()
    events = [
        *_life(memory, by),
        *_replacements(memory, replaced),
        *_observed(memory),
        *_related(memory, relations),
    ]
    # Stable: what happened in one moment stands in the order it is told above.
    return History(memory, tuple(sorted(events, key=lambda event: event.at)))


def _life(memory: Memory, by: Memory | None) -> Iterator[Event]:
    first = memory.former[0].text if memory.former else memory.text
    if memory.kind is Kind.ENTITY:
        yield Event(memory.created_at, "created", f"{memory.name} ({memory.type})")
    elif memory.kind is Kind.MESSAGE:
        who = memory.speaker or memory.role or "someone"
        yield Event(memory.created_at, "said", f"{who}: {first}")
    else:
        yield Event(memory.created_at, "noted", first)
    said = [*(former.text for former in memory.former[1:]), memory.text]
    for former, text in zip(memory.former, said, strict=bool(memory.former)):
        yield Event(former.until, "updated", text)
    for absence in memory.absences:
        yield Event(absence.since, absence.why)
        yield Event(absence.until, "restored")
    if memory.superseded_at is not None:
        yield Event(memory.superseded_at, *_retired(memory, by))
    if memory.deleted_at is not None:
        yield Event(memory.deleted_at, "forgotten", f"`recollect restore {memory.id}` brings it back")


def _retired(memory: Memory, by: Memory | None) -> tuple[str, str]:
    if by is None:
        return "superseded", "by a memory that is gone"
    if same_statement(memory.text, by.text):
        return "merged", f"into memory {by.id}, which says the same"
    return "superseded", f"by memory {by.id}"


def _replacements(memory: Memory, replaced: Sequence[Memory]) -> Iterator[Event]:
    for other in replaced:
        if other.superseded_at is not None:
            same = same_statement(memory.text, other.text)
            what = "merged with" if same else "supersedes"
            yield Event(other.superseded_at, what, f"memory {other.id}: {other.text}")


def _observed(memory: Memory) -> Iterator[Event]:
    texts = {seen.id: seen.content for seen in memory.observations}
    for seen in memory.observations:
        yield Event(seen.created_at, "observed", seen.content)
        if seen.superseded_at is not None:
            by = texts.get(seen.superseded_by or 0)
            instead = f" by: {by}" if by else f" by memory {seen.corrected_by}" if seen.corrected_by else ""
            yield Event(seen.superseded_at, "superseded", f"{seen.content}{instead}")
        if seen.deleted_at is not None:
            yield Event(seen.deleted_at, "removed", seen.content)


def _related(memory: Memory, relations: Sequence[Relation]) -> Iterator[Event]:
    for relation in relations:
        told = f"{relation.source_name} {relation.type} {relation.target_name}"
        yield Event(relation.created_at, "related", told)
        if relation.until is not None:
            yield Event(relation.until, "ended", told)
        if relation.deleted_at is not None and relation.deleted_at != memory.deleted_at:
            yield Event(relation.deleted_at, "unrelated", told)
