"""How much one call may ask for: read also where nothing of the engine is loaded yet."""

from __future__ import annotations

DEFAULT_LIMIT = 10
"""Hits of a search that names no limit."""
MOST_HITS = 1_000
MOST_PER_PAGE = 1_000
"""Entities of one page of the graph."""
MOST_ROWS = 100_000
"""Rows of one batch, and entries of a list: all of it is written at once, while other writers wait."""
STALE_DAYS = 90.0
"""Days after which an entity that nobody has seen or changed is stale."""
DEFAULT_BUDGET = 1_000
"""Tokens of a context."""
SELF_TEST_SAMPLE = 200
"""Memories that a self-test asks for."""
SELF_TEST_HITS = 5
"""Hits of an answer that count in it."""
