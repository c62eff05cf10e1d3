"""Opens the memory that an adapter works on, unless the caller opened it."""

from __future__ import annotations

from pathlib import Path

from recollect.aio import AsyncEngine
from recollect.bootstrap import open as open_memory
from recollect.engine.engine import Engine
from recollect.errors import InvalidInput


def opened_memory(memory: Engine | str | Path) -> Engine:
    """The given memory, or the one that `recollect.open` opens at a path or URL."""
    return memory if isinstance(memory, Engine) else open_memory(memory)


def caller_opened(memory: Engine) -> Engine:
    """The memory, for adapters that have no place to close one; refused if it is not open yet."""
    if not isinstance(memory, Engine):
        raise InvalidInput(
            f'Pass an open memory, such as recollect.open("memory.db"), not {type(memory).__name__}.'
        )
    return memory


def awaited_memory(memory: AsyncEngine | Engine | str | Path) -> AsyncEngine:
    """The same for adapters whose calls are awaited."""
    return memory if isinstance(memory, AsyncEngine) else AsyncEngine(opened_memory(memory))


def of_own_scope(memory: Engine) -> Engine:
    """The memory without what belongs to other agents: an adapter reads back only what it wrote."""
    return memory.scoped(memory.scope.owner, memory.scope.agent)
