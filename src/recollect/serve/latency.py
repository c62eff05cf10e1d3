"""How long calls took, as the server that times them and whoever reads it share it."""

from __future__ import annotations

from typing import NamedTuple


class MinuteLatency(NamedTuple):
    """The calls of one operation within a minute."""

    minute: int
    """When it began, in seconds since 1970."""
    operation: str
    calls: int
    median: float
    """Seconds, of the first calls of that minute."""
    p95: float
