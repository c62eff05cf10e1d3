"""What a dream did, with the texts of the memories that it speaks of: read from the memory, ready to show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.cli.data import iso
from recollect.cli.dream_story import Item, Story, changed_ids, changes_in, gate, label, named_in, sections
from recollect.cli.replies import Dreamed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recollect.engine.dreaming import Dreamt
    from recollect.engine.engine import Engine
    from recollect.records import DreamRecord, Memory

_AT_ONCE = 500
"""Memories that are read at a time."""


def of_dream(memory: Engine, done: Dreamt, *, dry_run: bool) -> Dreamed:
    """A dream that has just been dreamt, or would be."""
    report = done.report.plain()
    named = named_in(report)
    memories = memories_of(memory, sorted({*named, *done.left}))
    story = _story(
        report,
        memories,
        at=done.at,
        id=done.id,
        dry_run=dry_run,
        left=tuple(Item(id_, label(memories.get(id_))) for id_ in done.left),
    )
    data = {
        "id": done.id,
        "at": iso(done.at),
        "dry_run": dry_run,
        "written": done.id is not None,
        "gate_open": not story.is_closed,
        "report": report,
        "left": list(done.left),
        "memories": _texts(memories, named),
    }
    return Dreamed(story, data, memory.parts.zone)


def of_record(memory: Engine, id_: int, *, changes: bool) -> Dreamed:
    """A dream of the past; with `changes`, line by line."""
    record, found = memory.dreams.journal(id_)
    journal: Mapping[str, Any] = found
    named = named_in(record.report)
    memories = memories_of(memory, sorted({*named, *(changed_ids(journal) if changes else ())}))
    story = _story(
        record.report,
        memories,
        at=record.at,
        id=record.id,
        undone_at=record.undone_at,
        changes=tuple(changes_in(journal, memories)) if changes else (),
        in_full=True,
    )
    data = {**record_data(record), "memories": _texts(memories, named), "changes": journal}
    return Dreamed(story, data, memory.parts.zone)


def record_data(record: DreamRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "at": iso(record.at),
        "undone_at": iso(record.undone_at),
        "phases": list(record.phases),
        "report": dict(record.report),
    }


def memories_of(memory: Engine, ids: Sequence[int]) -> dict[int, Memory]:
    """Those that are still there."""
    found: dict[int, Memory] = {}
    with memory.store.read() as view:
        for start in range(0, len(ids), _AT_ONCE):
            found.update(view.memories(ids[start : start + _AT_ONCE]))
    return found


def _story(report: Mapping[str, Any], memories: Mapping[int, Memory], **rest: Any) -> Story:
    return Story(
        memories=report["memories"],
        answers=report["answers"],
        days=report["days"],
        sections=tuple(each for each in sections(report, memories) if each.total),
        gate=gate(report, memories),
        skipped=tuple(report["skipped"]),
        upkeep=report["upkeep"] or "",
        **rest,
    )


def _texts(memories: Mapping[int, Memory], ids: Iterable[int]) -> dict[str, str]:
    return {str(id_): memories[id_].name or memories[id_].text for id_ in sorted(ids) if id_ in memories}
