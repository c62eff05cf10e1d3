"""Records to the plain values that tools answer with; texts as a model reads them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recollect.engine.said import said_of
from recollect.records import Kind

if TYPE_CHECKING:
    from datetime import datetime

    from recollect.engine.results import Answer, Graph, Hit, Remembered
    from recollect.records import Memory, Relation


def rounded(data: Any) -> Any:
    """With numbers to six places: what moves beyond them is the clock, and no caller asked for the time."""
    match data:
        case float():
            return round(data, 6)
        case dict():
            return {name: rounded(value) for name, value in data.items()}
        case list():
            return [rounded(value) for value in data]
        case _:
            return data


def shown(data: object) -> str:
    """As the official server writes JSON."""
    return json.dumps(data, indent=2, ensure_ascii=False)


def entity(memory: Memory) -> dict[str, Any]:
    """In the official server's form."""
    return {
        "name": memory.name,
        "entityType": memory.type,
        "observations": [seen.content for seen in memory.in_force],
    }


def relation(one: Relation) -> dict[str, Any]:
    return {"from": one.source_name, "to": one.target_name, "relationType": one.type}


def graph(found: Graph) -> dict[str, Any]:
    return {"entities": list(map(entity, found.entities)), "relations": list(map(relation, found.relations))}


def hit(found: Hit) -> dict[str, Any]:
    """One hit of a recall: what it says, when and by whom, and how good it is."""
    memory = found.memory
    plain: dict[str, Any] = {
        "id": memory.id,
        "kind": memory.kind.value,
        "text": said_of(memory, found.piece),
        "score": round(found.score, 4),
        "at": time(memory.happened_at or memory.created_at) if not memory.undated else None,
    }
    optional = {
        "name": memory.name or None,
        "speaker": memory.speaker or memory.role,
        "session": memory.session,
        "category": memory.category,
        "tags": list(memory.tags) or None,
        "superseded_by": memory.superseded_by,
    }
    return plain | {name: value for name, value in optional.items() if value is not None}


def answer(found: Answer) -> str:
    """The hits as lines: far fewer tokens than JSON, and as clear."""
    lines = [_line(one) for one in found.hits] or ["Nothing was found."]
    if found.left_out:
        lines.append(f"({found.left_out} more did not fit the budget.)")
    if found.note:
        lines.append(f"({found.note})")
    return "\n".join(lines)


def _line(found: Hit) -> str:
    memory = found.memory
    said = " ".join(said_of(memory, found.piece).split())
    when = "" if memory.undated else f" {(memory.happened_at or memory.created_at):%Y-%m-%d}"
    who = memory.speaker or (memory.role if memory.kind is Kind.MESSAGE else None)
    old = f" (superseded by #{memory.superseded_by})" if memory.superseded_by else ""
    return f"#{memory.id} [{memory.kind.value}{when}{f', {who}' if who else ''}] {said}{old}"


def time(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def remembered(note: Remembered) -> dict[str, Any]:
    plain: dict[str, Any] = {"id": note.id, "created": note.created, "mentions": list(note.mentions)}
    if note.similar is not None:
        plain["similar"] = {
            "id": note.similar.id,
            "text": note.similar.text,
            "similarity": round(note.similar.similarity, 3),
        }
    return plain


def memory(one: Memory) -> dict[str, Any]:
    """A note or a message, with what is known about it."""
    plain = {
        "id": one.id,
        "kind": one.kind.value,
        "text": one.text,
        "created_at": time(one.created_at),
        "updated_at": time(one.updated_at),
        "happened_at": None if one.happened_at is None else time(one.happened_at),
        "speaker": one.speaker or one.role,
        "session": one.session,
        "category": one.category,
        "source": one.source,
        "tags": list(one.tags) or None,
        "importance": one.importance,
        "superseded_by": one.superseded_by,
        "former_texts": [former.text for former in one.former] or None,
    }
    return {name: value for name, value in plain.items() if value is not None}
