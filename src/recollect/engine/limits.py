"""How much one call may ask for: read also where nothing of the engine is loaded yet."""

from __future__ import annotations

DEFAULT_LIMIT = 10
"""Hits of a search that names no limit."""
MOST_HITS = 1_000
MOST_PER_PAGE = 1_000
"""Entities of one page of the graph."""
