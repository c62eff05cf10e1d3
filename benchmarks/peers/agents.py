"""Agent memories as peers, called by their own API. A peer that embeds texts itself gets our vectors."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from peer import GivenVectors, Vectors


class McpMemoryService:
    """The sqlite-vec storage of mcp-memory-service, called as its server does."""

    def __init__(self, folder: Path) -> None:
        if not hasattr(sqlite3.Connection, "enable_load_extension"):
            # Some builds of Python cannot load sqlite-vec; pysqlite3 can.
            sys.modules["sqlite3"] = import_module("pysqlite3")
        self._given, self._loop = GivenVectors(), asyncio.new_event_loop()
        storage: Any = import_module("mcp_memory_service.storage.sqlite_vec").SqliteVecMemoryStorage
        self._memory: Any = import_module("mcp_memory_service.models.memory").Memory
        self._hashed: Any = import_module("mcp_memory_service.utils.hashing").generate_content_hash
        storage._generate_embedding = lambda _, text: self._given([text])[0].tolist()
        self._storage = storage(str(folder / "memory.db"))
        self._loop.run_until_complete(self._storage.initialize())

    def add(self, ids: Sequence[int], texts: Sequence[str], vectors: Vectors) -> None:
        self._given.add(texts, vectors)
        for id_, text in zip(ids, texts, strict=True):
            memory = self._memory(content=text, content_hash=self._hashed(text), metadata={"place": id_})
            self._loop.run_until_complete(self._storage.store(memory, skip_semantic_dedup=True))

    def search(self, text: str, vector: Vectors, limit: int) -> Sequence[int]:
        self._given.add([text], vector[None])
        found = self._loop.run_until_complete(self._storage.retrieve(text, n_results=limit))
        return [int(hit.memory.metadata["place"]) for hit in found]

    def close(self) -> None:
        self._loop.close()
