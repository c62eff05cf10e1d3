"""Records to the plain values that tools answer with; texts as a model reads them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recollect.engine.memory_text import memory_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from recollect.engine.results import Graph, Hit, Remembered
    from recollect.records import Memory, Relation


# An answer to a write repeats what the caller knows: enough of it to recognise it by.
_BRIEF = 400
_MOST_NAMES = 50


def brief(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= _BRIEF else f"{text[:_BRIEF]}…"


def rounded(data: Any) -> Any:
    """With numbers to three digits: what moves beyond them is the clock, and no caller asked for the time."""
    match data:
        case float():
            return round(data, 3) if abs(data) >= 1 else float(f"{data:.3g}")
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


def hit(found: Hit, *, superseded: bool = False) -> dict[str, Any]:
    """One hit of a recall: what it says, when and by whom, and how good it is.

    With `superseded`, also what an entity's observations said before they were corrected.
    """
    memory = found.memory
    plain: dict[str, Any] = {
        "id": memory.id,
        "kind": memory.kind.value,
        "text": memory_text(memory, found.piece),
        "score": rounded(found.score),
        "at": time(memory.happened_at or memory.created_at) if not memory.undated else None,
    }
    optional = {
        "confidence": None if found.confidence is None else rounded(found.confidence),
        "name": memory.name or None,
        "speaker": memory.speaker or memory.role,
        "session": memory.session,
        "category": memory.category,
        "tags": list(memory.tags) or None,
        "superseded_by": memory.superseded_by,
        "superseded": (_corrected(memory) or None) if superseded else None,
    }
    return plain | {name: value for name, value in optional.items() if value is not None}


def _corrected(memory: Memory) -> list[str]:
    return [
        seen.content
        for seen in memory.observations
        if seen.superseded_at is not None and seen.deleted_at is None
    ]


def telling(observations: Sequence[str], query: str, passage: str | None = None) -> list[str]:
    """What answers the query first: what was found by meaning, then what shares most words with it."""
    from recollect.text.tokens import content_words, words  # noqa: PLC0415  # a list of tools needs none

    sought = set(content_words(query))
    return sorted(
        observations,
        key=lambda text: (passage is None or text not in passage, -len(sought.intersection(words(text)))),
    )


def lines(hits: Iterable[Mapping[str, Any]], *notes: str | None) -> str:
    """Hits as lines: far fewer tokens than JSON, and as clear."""
    told = [_line(one) for one in hits] or ["Nothing was found."]
    return "\n".join((*told, *(f"({note})" for note in notes if note)))


def _line(hit_: Mapping[str, Any]) -> str:
    when = "" if hit_["at"] is None else f" {hit_['at'][:10]}"
    who = f", {hit_['speaker']}" if "speaker" in hit_ else ""
    old = f" (superseded by #{hit_['superseded_by']})" if "superseded_by" in hit_ else ""
    former = "; ".join(" ".join(text.split()) for text in hit_.get("superseded", ()))
    before = f" (superseded: {former})" if former else ""
    return f"#{hit_['id']} [{hit_['kind']}{when}{who}] {' '.join(hit_['text'].split())}{old}{before}"


def time(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def remembered(note: Remembered) -> dict[str, Any]:
    mentions = [name[:_BRIEF] for name in note.mentions[:_MOST_NAMES]]
    plain: dict[str, Any] = {"id": note.id, "created": note.created, "mentions": mentions}
    if note.similar is not None:
        plain["similar"] = {
            "id": note.similar.id,
            "text": brief(note.similar.text),
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
