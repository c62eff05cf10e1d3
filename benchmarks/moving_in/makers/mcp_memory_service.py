"""mcp-memory-service: its sqlite-vec storage, called as its server does, with hashed word vectors."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from world import CHANGED, FACTS, FORGOTTEN, QUESTIONS, WANTED, vector

PACKAGES = ("mcp-memory-service", "pysqlite3-binary")


def make(folder: Path) -> list[dict[str, Any]]:
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        # Some builds of Python cannot load sqlite-vec; pysqlite3 can.
        sys.modules["sqlite3"] = import_module("pysqlite3")
    return asyncio.run(_fill(folder / "memory.db"))


async def _fill(file: Path) -> list[dict[str, Any]]:
    class_: Any = import_module("mcp_memory_service.storage.sqlite_vec").SqliteVecMemoryStorage
    memory_class: Any = import_module("mcp_memory_service.models.memory").Memory
    hashed: Any = import_module("mcp_memory_service.utils.hashing").generate_content_hash
    class_._generate_embedding = lambda storage, text: vector(text, storage.embedding_dimension)
    storage = class_(str(file))
    await storage.initialize()

    async def store(text: str, **fields: Any) -> str:
        key = str(hashed(text))
        done, why = await storage.store(
            memory_class(content=text, content_hash=key, **fields), skip_semantic_dedup=True
        )
        assert done, why
        return key

    keys = []
    for place, fact in enumerate(FACTS):
        metadata = {"importance": place / len(FACTS)}
        keys.append(await store(fact, tags=["harbour"], memory_type="observation", metadata=metadata))
    old, new = [await store(text) for text in CHANGED]
    await storage.update_memory_metadata(old, {"superseded_by": new})
    await storage.delete(await store(FORGOTTEN))
    graph = import_module("mcp_memory_service.storage.graph").GraphStorage(str(file))
    await graph.store_entity_link(keys[0], "Marisol Vega", "person")
    await graph.store_association(keys[0], keys[1], 0.5, ["semantic"], relationship_type="supports")
    answers = []
    for text, _ in QUESTIONS:
        found = await storage.retrieve(text, n_results=WANTED)
        answers.append([hit.memory.content for hit in found])
    await storage.close()
    made = {"notes": len(FACTS) + 3, "superseded": 1, "forgotten": 1, "entities": 1}
    return [{"path": "memory.db", "format": "mcp-memory-service", "made": made, "answers": answers}]
