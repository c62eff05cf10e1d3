"""Cognis: its data folder, with a scripted LLM and embedder."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from world import CHANGED, FACTS, FORGOTTEN, QUESTIONS, WANTED, vector

PACKAGES = ("lyzr-cognis",)


def make(folder: Path) -> list[dict[str, Any]]:
    extractor = import_module("cognis.extraction.extractor").SyncFactExtractor
    embedder = import_module("cognis.embeddings.gemini").GeminiEmbedder
    result = import_module("cognis.embeddings.base").EmbeddingResult
    extractor._llm_call = _scripted
    embedder._embed = lambda _, text: result({768: vector(text, 768), 256: vector(text, 256)})
    memory = import_module("cognis").Cognis(
        gemini_api_key="none", data_dir=str(folder), owner_id="marisol", session_id="harbour"
    )
    said = [*FACTS, *CHANGED, FORGOTTEN, f"Forget it: {FORGOTTEN}"]
    for text in said:
        memory.add([{"role": "user", "content": text}])
    kept = memory.get_all(limit=1_000, include_historical=True)["memories"]
    answers = []
    for text, _ in QUESTIONS:
        answers.append([hit["content"] for hit in memory.search(text, limit=WANTED)["results"]])
    memory.close()
    made = {
        "notes": len(kept) + 1,  # Cognis lists replaced memories, but not deleted ones
        "superseded": sum(each["status"] == "historical" for each in kept),
        "forgotten": 1,
        "messages": len(said),
    }
    return [{"path": ".", "format": "cognis", "made": made, "answers": answers, "owner": "marisol"}]


def _scripted(_: object, prompt: str) -> str:
    """Answer as the LLM: each message is one fact, the ferry's new time replaces the old, one is deleted."""
    said = re.findall(r"^\[USER\] (.*)$", prompt, re.MULTILINE)
    if said:
        return json.dumps({"facts": said[-1:]})
    # The prompt has a fact and similar memories, and asks which action to take.
    known = {text: id_ for id_, text in re.findall(r'"id": "([^"]+)",\s+"text": "([^"]+)"', prompt)}
    asked = (*FACTS, *CHANGED, FORGOTTEN, f"Forget it: {FORGOTTEN}")
    fact = next(each for each in asked if json.dumps([each]) in prompt)
    if fact == CHANGED[1] and CHANGED[0] in known:
        return json.dumps({"memory": [{"id": known[CHANGED[0]], "text": fact, "event": "UPDATE"}]})
    if fact.startswith("Forget it: "):
        return json.dumps({"memory": [{"id": known[FORGOTTEN], "text": "", "event": "DELETE"}]})
    return json.dumps({"memory": [{"id": "new", "text": fact, "event": "ADD"}]})
