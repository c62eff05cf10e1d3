"""A memory whose every call runs in a thread: the engine's own code, awaited."""

from __future__ import annotations

import asyncio
from functools import partial, wraps
from inspect import getattr_static
from typing import TYPE_CHECKING, Any, Self, TypeVar

from recollect.aio.call_threads import CallThreads
from recollect.engine.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

GROUPS = frozenset(
    ("answers", "browse", "dreams", "graph", "sessions", "settling", "tokens", "tuning", "upkeep")
)
"""Properties of the engine and of its groups that have methods of their own."""
OF_ANOTHER_VIEW = frozenset(("expecting", "scoped"))
"""Methods that ask no store, and give the same memory as another sees it."""
IN_ONE_THREAD = frozenset(("export", "importing"))
"""What they give is used call by call, in the thread that opened it: `run` is the way to them."""
_DELEGATING = frozenset(("search", "search_semantic"))
"""Methods that only read, by calling another one."""

_Result = TypeVar("_Result")


class AsyncCalls:
    """The engine, or one of its groups: what it offers, as coroutines."""

    def __init__(self, called: Any, threads: CallThreads) -> None:
        self._called = called
        self._threads = threads

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in IN_ONE_THREAD:
            raise AttributeError(f"{type(self._called).__name__} has no {name!r} to await; see `run`")
        found = getattr_static(self._called, name)
        if isinstance(found, property):
            if _only_reads(found.fget):  # it asks the store
                return self._coroutine(name, lambda: getattr(self._called, name), abandons=True)
            value = getattr(self._called, name)
            return AsyncCalls(value, self._threads) if name in GROUPS else value
        method = getattr(self._called, name)
        if name in OF_ANOTHER_VIEW:
            return wraps(method)(lambda *args, **options: self._seen(method(*args, **options)))
        return self._coroutine(name, method, abandons=name in _DELEGATING or _only_reads(found))

    def __dir__(self) -> list[str]:
        return sorted(set(dir(self._called)) - IN_ONE_THREAD | set(super().__dir__()))

    def _coroutine(self, name: str, method: Callable[..., Any], *, abandons: bool) -> Callable[..., Any]:
        async def call(*args: Any, **options: Any) -> Any:
            return await self._threads.run(partial(method, *args, **options), abandons=abandons)

        call.__name__, call.__doc__ = name, method.__doc__
        return call

    def _seen(self, engine: Engine) -> AsyncEngine:
        return AsyncEngine(engine, self._threads)


class AsyncEngine(AsyncCalls):
    """A memory for `async` code. It has the engine's methods and groups; each call is to be awaited.

    A call runs in a thread, so the loop goes on meanwhile, and up to eight calls at a time. Cancelled, what
    only reads ends at once; what writes is done to its end first, so that it is never half done, or is not
    begun. A `progress` that a call takes is called from that thread.
    """

    def __init__(self, engine: Engine, threads: CallThreads | None = None) -> None:
        super().__init__(engine, threads or CallThreads())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def run(self, work: Callable[..., _Result], *args: Any, **options: Any) -> _Result:
        """Call `work(engine, …)` in a thread, such as `recollect.transfer.import_file`, to its end."""
        return await self._threads.run(partial(work, self._called, *args, **options), abandons=False)

    async def close(self) -> None:
        """End what runs in the background, write what is left to be noted, and release the file."""
        await self._threads.run(self._called.close, abandons=False)
        self._threads.close()


class AsyncOpening:
    """Opens a memory, with what `recollect.open` takes: `async with open(…)`, or `await open(…)`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._arguments = args, options
        self._memory: AsyncEngine | None = None

    def __await__(self) -> Generator[Any, None, AsyncEngine]:
        return self._opened().__await__()

    async def __aenter__(self) -> AsyncEngine:
        self._memory = await self._opened()
        return self._memory

    async def __aexit__(self, *_: object) -> None:
        if self._memory is not None:
            await self._memory.close()

    async def _opened(self) -> AsyncEngine:
        args, options = self._arguments
        threads = CallThreads()
        opening: list[Engine] = []

        def opened() -> None:
            from recollect import bootstrap  # noqa: PLC0415  # loads NumPy, in the thread

            opening.append(bootstrap.open(*args, **options))

        try:
            await threads.run(opened, abandons=False)
        except asyncio.CancelledError:
            # It was opened all the same, and nobody will close it.
            for engine in opening:
                engine.close()
            raise
        return AsyncEngine(opening[0], threads)


def _only_reads(function: object) -> bool:
    return getattr(function, "only_reads", False)
