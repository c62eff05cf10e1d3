"""`search_semantic` of the MCP server, without its paging."""

from __future__ import annotations

from typing import Any

from recollect import Engine, RecallOptions
from recollect.memories.graph import to_memory_v2


def search_semantic(
    engine: Engine,
    query: str,
    limit: int | None = None,
    *,
    explain: bool = False,
    tuned: bool = True,
    **given: Any,
) -> dict[str, Any]:
    """Return the best entities for a query by the limbic profile, in the form of MCP Memory v2."""
    options = RecallOptions(with_confidence=False, tuned=tuned)
    answer = engine.recall(
        query, limit=limit, profile="limbic", kinds=("entity",), explain=explain, options=options, **given
    )
    return to_memory_v2(answer, explain=explain)
