"""The shapes of `--json` that several commands share: their keys and order are a promise to scripts."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.engine.results import Graph
    from recollect.records import Memory

_ENTITY = ("name", "type", "observations")
_TEXT = (
    *("text", "category", "source", "session", "position", "role", "speaker", "undated", "tags"),
    *("drawn_from", "similar_to", "similarity", "former"),
)
_EVERY = (
    *("status", "importance", "importance_tag", "pinned", "consolidation", "strength", "stability"),
    *("depth", "spread", "duplicates"),
)
_TIMES = ("created_at", "updated_at", "happened_at", "superseded_by", "superseded_at", "deleted_at")


def fields_of(value: Any) -> dict[str, Any]:
    """A dataclass as it is; what is in it stays."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def picked(value: object, *names: str) -> dict[str, Any]:
    """These attributes, in this order."""
    return {name: getattr(value, name) for name in names}


def memory_data(memory: Memory) -> dict[str, Any]:
    of_its_kind = _ENTITY if memory.kind == "entity" else _TEXT
    return {
        **picked(memory, "id", "kind", *of_its_kind, *_EVERY),
        "owner": memory.scope.owner,
        "agent": memory.scope.agent,
        **picked(memory, *_TIMES),
    }


def graph_data(graph: Graph) -> dict[str, Any]:
    return {
        "entities": [memory_data(entity) for entity in graph.entities],
        "relations": [
            {
                "id": each.id,
                "source": each.source_name,
                "type": each.type,
                "target": each.target_name,
                **picked(each, "context", "since", "until", "created_at"),
            }
            for each in graph.relations
        ],
        "cursor": graph.cursor,
    }


def links_data(links: Sequence[tuple[Memory, int]]) -> list[dict[str, Any]]:
    return [{"id": other.id, "text": other.name or other.text, "answers": weight} for other, weight in links]
