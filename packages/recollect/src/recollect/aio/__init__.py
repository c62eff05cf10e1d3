"""The same memory for `async` code: `async with recollect.aio.open("memory.db") as memory`.

Type checkers read `__init__.pyi`, which `make docs` generates from the engine.
"""

from recollect.aio.async_engine import AsyncEngine
from recollect.aio.async_engine import AsyncOpening as open  # noqa: A004, N813  # the library's own verb

__all__ = ["AsyncEngine", "open"]
