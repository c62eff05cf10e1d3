"""Other reads of the frozen world, by their names in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import calls
from calls import Memory, plain

if TYPE_CHECKING:
    from collections.abc import Callable

_IDS = (1, 3, 46, 74, 82, 117)
"""Two entities, one superseded, one retired, one reworded and one forgotten."""


def _each(read: Callable[[Memory, int], Any]) -> Callable[[Memory], Any]:
    return lambda memory: {str(id_): read(memory, id_) for id_ in _IDS}


def _report(report: Any) -> Any:
    """Its text is sentences, and no value."""
    read = plain(report)
    return {**read, "text": {"message": read["text"]}}


READS: dict[str, Callable[[Memory], Any]] = {
    "memories": _each(calls.get),
    "histories": _each(lambda memory, id_: calls.history(memory, id_).events),
    "links": lambda memory: {
        str(id_): [[other.id, weight] for other, weight in calls.links(memory, id_)] for id_ in (1, 2, 3)
    },
    "graph": lambda memory: calls.read_graph(memory, limit=4, after=2),
    "search_nodes": lambda memory: calls.search_nodes(memory, "tide", limit=2),
    "open_nodes": lambda memory: calls.open_nodes(memory, ["Tidebook", "Nobody"], record=False, history=True),
    "sessions": calls.sessions,
    "turns": lambda memory: calls.turns(memory, "viaje", last=2),
    "neighbours": lambda memory: [
        each.id for each in calls.neighbours(memory, calls.turns(memory, "viaje")[2].id, before=1, after=2)
    ],
    "texts_about": lambda memory: [each.id for each in calls.texts_about(memory, "Jun Watanabe")],
    "search_semantic": lambda memory: calls.search_semantic(
        memory, "who writes tide tables", 4, explain=True, record=False
    ),
    "search_reflections": lambda memory: [
        [hit.memory.id, hit.score]
        for hit in calls.search_reflections(memory, "ask", author="Otto", record=False).hits
    ],
    "duplicates": lambda memory: calls.find_duplicate_observations(memory, threshold=0.4),
    "consolidation_report": lambda memory: _report(calls.consolidation_report(memory, stale_days=30)),
    "split": lambda memory: calls.propose_split(memory, "Workshop"),
    "self_test": lambda memory: calls.self_test(memory, sample=6, limit=5, profiles=["recollect", "limbic"]),
    "dreams": calls.dreams,
    "dream_journal": lambda memory: calls.dream_journal(memory, 1),
    "dry_dream": lambda memory: calls.dream(memory, dry_run=True, knobs=calls.dream_knobs(gate_questions=8)),
    "tune_numbers": lambda memory: calls.tune_numbers(memory, "recollect"),
    "how_many": calls.how_many,
    "counts": lambda memory: {
        name: count for name, count in plain(calls.counts(memory)).items() if name not in {"bytes", "schema"}
    },
}


def read(memory: Memory, name: str) -> Any:
    return plain(READS[name](memory))
