"""basic-memory: a folder of Markdown, written by its own MCP tools and searched by words only."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from importlib import import_module
from pathlib import Path
from typing import Any

from world import CHANGED, FACTS, FORGOTTEN, QUESTIONS

PACKAGES = ("basic-memory",)
PYTHON = "3.12"
_NAMES = ("Marisol Vega", "Jun Watanabe", "Tidebook", "Harbour")


def make(folder: Path) -> list[dict[str, Any]]:
    home, notes = folder.parent / "home", folder / "notes"
    os.environ.update(
        HOME=str(home),
        BASIC_MEMORY_HOME=str(notes),
        # Semantic search would download a model.
        BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED="false",
    )
    notes.mkdir()
    import_module("loguru").logger.remove()
    answers = asyncio.run(_fill())
    with sqlite3.connect(home / ".basic-memory" / "memory.db") as rows:
        made = {
            sort: rows.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for sort, table in (
                ("entities", "entity"),
                ("observations", "observation"),
                ("relations", "relation"),
            )
        }
    return [{"path": "notes", "format": "basic-memory", "made": made, "answers": answers}]


async def _fill() -> list[list[str]]:
    server: Any = import_module("basic_memory.mcp.server")
    import_module("basic_memory.mcp.tools")
    async with import_module("fastmcp").Client(server.mcp) as client:

        async def call(tool: str, **arguments: Any) -> str:
            return str((await client.call_tool(tool, arguments)).content[0].text)

        async def write(title: str, facts: list[str], relation: str = "") -> None:
            listed = "\n".join(f"- [fact] {fact} #harbour" for fact in facts)
            content = f"# {title}\n\n## Observations\n{listed}\n\n## Relations\n{relation}\n"
            await call(
                "write_note",
                title=title,
                directory="notes",
                note_type="thing",
                tags=["2024"],
                content=content,
            )

        whose = {name: [fact for fact in FACTS if name.split()[0] in fact] for name in _NAMES}
        rest = [fact for fact in FACTS if not any(fact in facts for facts in whose.values())]
        await write("Harbour", [*whose["Harbour"], *rest, CHANGED[0]])
        await write("Marisol Vega", whose["Marisol Vega"], "- leads [[Harbour]] (since March 2024)")
        await write("Jun Watanabe", whose["Jun Watanabe"], '- "looks after" [[Tidebook]]')
        await write("Tidebook", whose["Tidebook"], "- belongs_to [[Harbour]]")
        await write("Keys", [FORGOTTEN])
        await call(
            "edit_note",
            identifier="Harbour",
            operation="find_replace",
            find_text=CHANGED[0],
            content=CHANGED[1],
        )
        await call("delete_note", identifier="Keys")
        return [_texts(await call("search_notes", query=text, output_format="json")) for text, _ in QUESTIONS]


def _texts(answer: str) -> list[str]:
    found = json.loads(answer)
    return [str(hit.get("content") or hit.get("title")) for hit in found.get("results", ())]
