"""mem0: its history with a local Qdrant or Chroma, and the JSON of `get_all`; its LLM is a script."""

from __future__ import annotations

import json
import os
from importlib import import_module
from pathlib import Path
from typing import Any

from world import CHANGED, FACTS, FORGOTTEN, QUESTIONS, WANTED, vector

PACKAGES = ("mem0ai", "qdrant-client", "chromadb")
_DIMS = 256
_TURNS = (
    {"role": "user", "content": "I moved to Vigo"},
    {"role": "assistant", "content": "How is it there?"},
)
_DRAWN = "Marisol moved to Vigo"


class _Embedder:
    """A substitute for the embedding model."""

    config = type("Config", (), {"embedding_dims": _DIMS})()

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        del memory_action
        return vector(text, _DIMS)

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text, memory_action) for text in texts]


class _Extractor:
    """A substitute for the language model; it extracts one fact from every message."""

    def generate_response(self, **_: Any) -> str:
        return json.dumps({"memory": [{"text": _DRAWN}]})


def make(folder: Path) -> list[dict[str, Any]]:
    os.environ.update(OPENAI_API_KEY="none", MEM0_TELEMETRY="False", MEM0_DIR=str(folder / "settings"))
    main: Any = import_module("mem0.memory.main")
    main.EmbedderFactory.create = staticmethod(lambda *_, **__: _Embedder())
    main.LlmFactory.create = staticmethod(lambda *_, **__: _Extractor())
    made = []
    for provider in ("qdrant", "chroma"):
        place = folder / provider
        place.mkdir()
        store: dict[str, Any] = {"path": str(place / "vectors"), "collection_name": "mem0"}
        if provider == "qdrant":
            store |= {"embedding_model_dims": _DIMS, "on_disk": True}
        memory = main.Memory.from_config(
            {
                "vector_store": {"provider": provider, "config": store},
                "history_db_path": str(place / "history.db"),
            }
        )
        answers = _fill(memory, place / "get_all.json")
        memory.close()
        row = {"format": "mem0", "answers": answers, "owner": "marisol"}
        notes = {"notes": len(FACTS) + 2}  # plus an updated note and an extracted one
        made.append({"path": provider, "made": notes | {"messages": len(_TURNS)}, **row})
        if provider == "qdrant":
            made.append({"path": f"{provider}/get_all.json", "made": notes, **row})
    return made


def _fill(memory: Any, export: Path) -> list[list[str]]:
    def add(text: str, **metadata: Any) -> str:
        done = memory.add(text, user_id="marisol", run_id="harbour", infer=False, metadata=metadata or None)
        return str(done["results"][0]["id"])

    for place, fact in enumerate(FACTS):
        add(fact, category="harbour", importance=place / len(FACTS))
    memory.update(add(CHANGED[0]), text=CHANGED[1])
    memory.delete(add(FORGOTTEN))
    memory.add(list(_TURNS), user_id="marisol", run_id="harbour")
    mine = {"user_id": "marisol"}
    export.write_text(json.dumps(memory.get_all(filters=mine, top_k=1_000)), "utf-8")
    found = (memory.search(text, filters=mine, top_k=WANTED)["results"] for text, _ in QUESTIONS)
    return [[hit["memory"] for hit in hits] for hits in found]
