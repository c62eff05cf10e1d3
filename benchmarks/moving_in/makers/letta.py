"""Letta: an agent file of its own types. Its server is not asked, because it needs a database and a model."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from world import CHANGED, FACTS

# The last version whose package holds the server with its types.
PACKAGES = ("letta==0.16.8", "asyncpg")


def make(folder: Path) -> list[dict[str, Any]]:
    types: Any = import_module("letta.schemas.agent_file")
    blocks = [
        {"id": "block-0", "label": "human", "value": "\n".join(FACTS[:7]), "limit": 5_000},
        {"id": "block-1", "label": "persona", "value": "I keep the harbour's log.", "limit": 5_000},
    ]
    said = [
        {
            "id": f"message-{place}",
            "role": "user" if place % 2 else "assistant",
            "content": [{"type": "text", "text": text}],
            "created_at": datetime(2026, 5, 1, 10, place, tzinfo=UTC),
        }
        for place, text in enumerate((*FACTS[7:], *CHANGED))
    ]
    system = {"id": "message-99", "role": "system", "content": [{"type": "text", "text": "You are kind."}]}
    agent = {
        "id": "agent-0",
        "name": "harbour",
        "block_ids": [block["id"] for block in blocks],
        "messages": [system, *said],
    }
    file = types.AgentFileSchema(
        agents=[agent], groups=[], blocks=blocks, files=[], sources=[], tools=[], mcp_servers=[]
    )
    (folder / "harbour.af").write_text(json.dumps(file.model_dump(mode="json")), "utf-8")
    made = {"notes": len(blocks), "messages": len(said)}
    return [{"path": "harbour.af", "format": "letta", "made": made, "answers": [], "owner": ""}]
