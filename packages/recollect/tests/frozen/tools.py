"""Calls of every MCP tool, resource and prompt, ordered so that each finds the memories that it names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import calls
from calls import Clock, at

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

BEGINS = "2026-01-05T09:00:00+00:00"
HOURS_BETWEEN = 5

_ENTITIES = [
    {
        "name": "Marisol Vega",
        "entityType": "person",
        "observations": ["Drinks oolong", "Sails", "週末は灯台まで歩く", "Lives in Cádiz"],
    },
    {
        "name": "Tidebook",
        "entityType": "project",
        "observations": ["Says when to cross", "Written in Python"],
    },
    {"name": "Old Pier", "entityType": "place", "observations": []},
]

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("stats", {}),
    (
        "remember",
        {
            "text": "Marisol Vega moves to Porto in May",
            "category": "plans_goals",
            "importance": 0.9,
            "happened_at": "2026-01-02",
            "tags": ["porto"],
            "source": "a letter",
        },
    ),
    ("remember", {"text": "Marisol Vega moves to Lisbon in May", "supersedes": 1}),
    ("remember", {"text": "The boiler of the harbour office was serviced"}),
    ("remember", {"text": "the boiler of the harbour office was serviced."}),
    ("create_entities", {"entities": _ENTITIES}),
    ("create_entities", {"entities": [{"name": "Tidebook", "entityType": "book", "observations": ["Blue"]}]}),
    (
        "create_relations",
        {"relations": [{"from": "Marisol Vega", "to": "Tidebook", "relationType": "leads"}]},
    ),
    ("create_relations", {"relations": [{"from": "Tidebook", "to": "Harbour", "relationType": "part_of"}]}),
    (
        "add_observations",
        {
            "observations": [
                {
                    "entityName": "Marisol Vega",
                    "contents": [
                        "Drinks oolong tea",
                        {"content": "Sails on Sundays", "supersedes": "Sails"},
                        "Leads the team",
                    ],
                }
            ]
        },
    ),
    (
        "add_messages",
        {
            "session": "tea",
            "messages": [
                {"role": "user", "content": "I love rye bread", "speaker": "Jun", "at": "2026-01-05"},
                {"role": "assistant", "content": "With butter?"},
                {"role": "user", "content": "Where is low tide today?"},
            ],
        },
    ),
    (
        "recall",
        {"query": "where does Marisol move?", "limit": 5, "kinds": ["note"], "include_superseded": True},
    ),
    ("recall", {"query": "Marisol", "limit": 2}),
    ("recall", {"query": "Marisol", "limit": 2, "cursor": "2.2.0"}),
    ("recall", {"query": "Marisol", "budget_tokens": 250, "profile": "limbic"}),
    ("recall", {"query": "bread", "session": "tea", "min_confidence": 0.2}),
    ("recall", {"query": "Porto", "as_of": "2026-01-05T20:00:00Z"}),
    ("recall", {"query": "quantum chromodynamics", "limit": 1, "tags": ["porto"]}),
    ("feedback", {"ids": [2], "helpful": True, "query": "Where does Marisol move?"}),
    ("feedback", {"names": ["Marisol Vega"], "helpful": False}),
    ("context", {"query": "Marisol", "budget_tokens": 200}),
    (
        "context",
        {"messages": [{"role": "user", "content": "Tell me of Marisol", "at": "2026-01-06T09:00:00Z"}]},
    ),
    ("read_graph", {"limit": 2}),
    ("search_nodes", {"query": "oolong", "limit": 5}),
    ("open_nodes", {"names": ["Marisol Vega", "Nobody"]}),
    ("search_semantic", {"query": "who drinks tea?", "limit": 3}),
    ("explain", {"query": "oolong", "limit": 2}),
    ("explain", {"query": "oolong", "limit": 1, "profile": "limbic"}),
    ("why_not", {"query": "oolong", "name": "Tidebook", "limit": 1}),
    ("why_not", {"query": "oolong", "id": 2, "profile": "cognis"}),
    ("history", {"id": 2}),
    ("set_status", {"entityName": "Tidebook", "status": "paused"}),
    ("end_relation", {"from": "Marisol Vega", "to": "Tidebook", "relationType": "leads", "at": "2026-01-06"}),
    ("forget", {"ids": [2, 99]}),
    ("restore", {"id": 2}),
    (
        "add_reflection",
        {"content": "Ask Marisol first", "about": ["Marisol Vega"], "author": "Otto", "mood": "doubt"},
    ),
    ("search_reflections", {"query": "whom to ask", "author": "Otto", "limit": 3}),
    ("find_duplicate_observations", {"entity_name": "Marisol Vega", "threshold": 0.5}),
    ("consolidation_report", {"stale_days": 1}),
    ("find_split_candidates", {}),
    ("analyze_entity_split", {"entity_name": "Marisol Vega"}),
    ("propose_entity_split", {"entity_name": "Marisol Vega"}),
    (
        "execute_entity_split",
        {
            "entity_name": "Marisol Vega",
            "approved_splits": [{"name": "Marisol’s tea", "observations": ["Drinks oolong"]}],
        },
    ),
    ("undo_entity_split", {"undo": "LAST"}),
    ("dream", {"dry_run": True}),
    ("dream", {"without": ["prune"]}),
    ("undo_dream", {"id": 1}),
    (
        "delete_observations",
        {"deletions": [{"entityName": "Marisol Vega", "observations": ["Drinks oolong"]}]},
    ),
    ("delete_relations", {"relations": [{"from": "Tidebook", "to": "Harbour", "relationType": "part_of"}]}),
    ("delete_entities", {"entityNames": ["Old Pier", "Nobody"]}),
    ("read_graph", {}),
    ("stats", {}),
    # Calls that are refused
    ("remember", {}),
    ("remember", {"text": "Too much", "importance": 7}),
    ("recall", {"query": "x", "colour": "red"}),
    ("history", {"id": 999}),
    ("undo_dream", {"id": 1}),
    ("why_not", {"query": "oolong", "name": "Nobody"}),
    # Newer calls come last, so that the older ones keep their answers
    ("open_nodes", {"names": ["Marisol Vega"], "kinds": ["generic"], "include_superseded": True}),
    ("forget", {"query": "where does Marisol move?"}),
    ("update", {"id": 3, "importance": 0.7, "at": "2026-01-03"}),
    ("migrate", {"source_path": "FILE"}),
    ("list_memories", {"limit": 2}),
    ("neighbours", {"name": "Marisol Vega", "depth": 2}),
    ("find_paths", {"from": "Marisol Vega", "to": "Tidebook"}),
    ("clear_session", {"session": "tea"}),
)
"""`LAST` is the value of that name in the previous answer, `FILE` a file of the official server."""

RESOURCES = (
    "memory://knowledge-graph",
    "memory://entity/Tidebook",
    "memory://memory/2",
    "memory://entity/Nobody",
)
PROMPTS: tuple[tuple[str, dict[str, str]], ...] = (
    ("recall", {"topic": "Marisol"}),
    ("save", {"focus": "tea"}),
)


async def run(folder: Path, made: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """Call the tools, some hours apart. Return their answers, and the server's resources and prompts."""
    clock = Clock(at(BEGINS))
    official = folder / "official.jsonl"
    known = {"type": "entity", "name": "Tidebook", "entityType": "project", "observations": ["Blue"]}
    official.write_text(json.dumps(known))
    with calls.open_memory(folder / "memory.db", clock) as memory:
        async with calls.mcp_client(memory, "all") as client:
            answers = []
            last: Any = {}
            for tool, given in made:
                clock.pass_days(HOURS_BETWEEN / 24)
                stand_ins = {"LAST": last, "FILE": {"source_path": str(official)}}
                filled = {
                    name: stand_ins[value][name] if value in ("LAST", "FILE") else value
                    for name, value in given.items()
                }
                result = await calls.call_tool(client, tool, filled)
                calls.settle(memory)
                last = result["structured"]
                answers.append({"tool": tool, "given": given, **result})
            return {
                "answers": answers,
                "resources": {uri: _parse_text(await calls.read_resource(client, uri)) for uri in RESOURCES},
                "prompts": {name: await calls.get_prompt(client, name, given) for name, given in PROMPTS},
            }


async def offered(folder: Path) -> dict[str, Any]:
    """Return the definitions of all that a client may call, and the tools of each set."""
    with calls.open_memory(folder / "memory.db", Clock(at(BEGINS))) as memory:
        sets = {}
        for name in ("default", "recall-only", "all"):
            async with calls.mcp_client(memory, name) as client:
                sets[name] = [tool["name"] for tool in (await calls.definitions(client))["tools"]]
        async with calls.mcp_client(memory, "all") as client:
            return {"sets": sets, **await calls.definitions(client)}


def _parse_text(text: str | None) -> Any:
    return None if text is None else json.loads(text)
