"""Bodies that the documentation shows, and that the page to try it begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

EXAMPLES: Mapping[str, dict[str, Any]] = {
    "recall": {"query": "What tea does Ines drink?", "limit": 5},
    "context": {"query": "Plan a tea evening for Ines", "budget_tokens": 600},
    "explain": {"query": "What tea does Ines drink?"},
    "why_not": {"query": "What tea does Ines drink?", "id": 1},
    "feedback": {"ids": [1], "helpful": True, "query": "What tea does Ines drink?"},
    "remember": {"text": "Ines drinks oolong in the evening", "category": "preferences", "tags": ["tea"]},
    "update": {"text": "Ines drinks oolong after dinner", "importance": 0.8},
    "forget_many": {"query": "old addresses"},
    "supersede": {"text": "Ines drinks only rooibos since March"},
    "add_messages": {"messages": [{"role": "user", "content": "I have moved to Faro."}]},
    "add_reflection": {"content": "Ask for the date before booking", "mood": "insight"},
    "search_reflections": {"query": "booking"},
    "create_entities": {
        "entities": [{"name": "Ines", "entityType": "person", "observations": ["Keeps bees in Faro"]}]
    },
    "search_semantic": {"query": "beekeepers"},
    "open_nodes": {"names": ["Ines"]},
    "set_status": {"status": "paused"},
    "add_observations": {"observations": [{"entityName": "Ines", "contents": ["Drinks oolong"]}]},
    "create_relations": {"relations": [{"from": "Ines", "to": "Tidebook", "relationType": "works_at"}]},
    "end_relation": {"from": "Ines", "to": "Tidebook", "relationType": "works_at"},
    "dream": {"dry_run": True},
}
"""By the id of an endpoint."""
