"""The memory that an adapter works on: one that its caller opened, or the one at a path."""

from __future__ import annotations

from pathlib import Path

from recollect.aio import AsyncEngine
from recollect.bootstrap import open as open_memory
from recollect.engine.engine import Engine


def opened_memory(memory: Engine | str | Path) -> Engine:
    """The memory itself, or the one that `recollect.open` gives for a path or an address."""
    return memory if isinstance(memory, Engine) else open_memory(memory)


def awaited_memory(memory: AsyncEngine | Engine | str | Path) -> AsyncEngine:
    """The same for adapters whose calls are awaited."""
    return memory if isinstance(memory, AsyncEngine) else AsyncEngine(opened_memory(memory))
