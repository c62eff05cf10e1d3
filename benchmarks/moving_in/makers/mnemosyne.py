"""Mnemosyne: its database, and the JSON that it exports."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from world import CHANGED, FACTS, FORGOTTEN, QUESTIONS, WANTED

PACKAGES = ("mnemosyne-memory",)


def make(folder: Path) -> list[dict[str, Any]]:
    os.environ["MNEMOSYNE_DATA_DIR"] = str(folder)
    file = folder / "mnemosyne.db"
    memory = import_module("mnemosyne.core.memory").Mnemosyne(session_id="harbour", db_path=file)
    for place, fact in enumerate(FACTS):
        memory.remember(fact, source="fact", importance=place / len(FACTS), metadata={"tags": ["harbour"]})
    first, second = (memory.remember(text, source="fact") for text in CHANGED)
    memory.invalidate(first, second)
    memory.forget(memory.remember(FORGOTTEN))
    triples = import_module("mnemosyne.core.triples").TripleStore(db_path=file)
    triples.add("Marisol Vega", "leads", "harbour team", valid_from="2024-03-01")
    triples.add("Jun Watanabe", "assigned_to", "tide gauges", valid_from="2024-01-15")
    triples.add("Jun Watanabe", "assigned_to", "pilot boat", valid_from="2025-02-01")
    memory.scratchpad_write("Ask Jun about the fenders")
    canonical = import_module("mnemosyne.core.canonical").CanonicalStore(db_path=file)
    for town in ("Vigo", "Porto"):
        canonical.remember("marisol", "identity", "town", town)
    memory.sleep(force=True)
    export = memory.export_to_file(str(folder / "export.json"))
    answers = [[hit["content"] for hit in memory.recall(text, top_k=WANTED)] for text, _ in QUESTIONS]
    notes = ("working_memory", "episodic_memory", "scratchpad", "canonical_facts")
    made = {
        "notes": sum(export[f"{section}_count"] for section in notes),
        "superseded": 2,
        "relations": export["triples_count"],
    }
    files = ("mnemosyne.db", "export.json")
    return [{"path": name, "format": "mnemosyne", "made": made, "answers": answers} for name in files]
