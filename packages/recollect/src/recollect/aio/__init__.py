"""The same memory for `async` code: `async with recollect.aio.open("memory.db") as memory`.

`__init__.pyi` beside it, made from the engine by `make docs`, tells type checkers what there is.
"""

from recollect.aio.async_engine import AsyncEngine
from recollect.aio.async_engine import AsyncOpening as open  # noqa: A004, N813  # the library's own verb

__all__ = ["AsyncEngine", "open"]
