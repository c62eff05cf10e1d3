"""Graphiti: a graph in embedded Kuzu, written and searched by Graphiti's own types, and their JSON."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from world import CHANGED, FACTS, QUESTIONS, WANTED, vector

# Graphiti imports httpx but does not require it.
PACKAGES = ("graphiti-core[kuzu]", "httpx")
_DIMS = 256
_NAMES = ("Marisol Vega", "Jun Watanabe", "Tidebook", "Harbour")
_OWNER = "marisol"


def make(folder: Path) -> list[dict[str, Any]]:
    made, answers = asyncio.run(_fill(folder))
    return [{"path": "graph.json", "format": "graphiti", "made": made, "answers": answers, "owner": _OWNER}]


async def _fill(folder: Path) -> tuple[dict[str, int], list[list[str]]]:
    nodes_of: Any = import_module("graphiti_core.nodes")
    edges_of: Any = import_module("graphiti_core.edges")
    driver = import_module("graphiti_core.driver.kuzu_driver").KuzuDriver(db=str(folder.parent / "kuzu"))
    nodes = {
        name: nodes_of.EntityNode(
            name=name, group_id=_OWNER, labels=["Entity", "Thing"], name_embedding=vector(name, _DIMS)
        )
        for name in _NAMES
    }
    edges, episodes = [], []
    for day, fact in enumerate((*FACTS, *CHANGED), 1):
        at = datetime(2026, 5, day, tzinfo=UTC)
        whose = next((name for name in _NAMES if name.split()[0] in fact), "Harbour")
        episodes.append(
            nodes_of.EpisodicNode(
                name=f"day {day}",
                group_id=_OWNER,
                source=nodes_of.EpisodeType.message,
                source_description="log",
                content=f"Marisol: {fact}",
                valid_at=at,
            )
        )
        edges.append(
            edges_of.EntityEdge(
                group_id=_OWNER,
                source_node_uuid=nodes[whose].uuid,
                target_node_uuid=nodes["Harbour" if whose != "Harbour" else "Tidebook"].uuid,
                created_at=at,
                name=f"FACT_{day}",
                fact=fact,
                fact_embedding=vector(fact, _DIMS),
                episodes=[episodes[-1].uuid],
                valid_at=at,
                invalid_at=datetime(2026, 6, 1, tzinfo=UTC) if fact == CHANGED[0] else None,
            )
        )
    for each in (*nodes.values(), *episodes, *edges):
        await each.save(driver)
    kept = {
        "nodes": await nodes_of.EntityNode.get_by_group_ids(driver, [_OWNER]),
        "edges": await edges_of.EntityEdge.get_by_group_ids(driver, [_OWNER]),
        "episodes": await nodes_of.EpisodicNode.get_by_group_ids(driver, [_OWNER]),
    }
    written = {name: [each.model_dump(mode="json") for each in rows] for name, rows in kept.items()}
    (folder / "graph.json").write_text(json.dumps(written), "utf-8")
    answers = [await _answer(driver, text) for text, _ in QUESTIONS]
    await driver.close()
    made = {
        "entities": len(kept["nodes"]),
        "observations": len(kept["edges"]),
        "relations": len(kept["edges"]),
        "messages": len(kept["episodes"]),
    }
    return made, answers


async def _answer(driver: Any, question: str) -> list[str]:
    utilities: Any = import_module("graphiti_core.search.search_utils")
    filters: Any = import_module("graphiti_core.search.search_filters")
    found = await utilities.edge_similarity_search(
        driver,
        vector(question, _DIMS),
        None,
        None,
        filters.SearchFilters(),
        [_OWNER],
        limit=WANTED,
        min_score=0,
    )
    return [edge.fact for edge in found]
