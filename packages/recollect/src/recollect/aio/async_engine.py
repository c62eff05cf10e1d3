"""A memory for `async` code: every call runs the engine's own code in a thread."""

from __future__ import annotations

from functools import partial, wraps
from inspect import getattr_static
from typing import TYPE_CHECKING, Any, Self, TypeVar

from recollect.aio.call_threads import CallThreads
from recollect.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Mapping

GROUPS: Mapping[str, Collection[str]] = {
    "answers": (),
    "browse": (),
    "dreams": (),
    "graph": (),
    "sessions": (),
    "tuning": (),
    "upkeep": ("settling",),
}
"""Properties of the engine that have methods of their own, each with the groups within it."""
SCOPED_VIEW = "scoped"
"""The method that returns a view for another scope, without reading the store."""
_UNMARKED_READS = frozenset(("replay", "search", "search_semantic", "verify"))
"""Methods that only read, but have no `only_reads` mark."""

_Result = TypeVar("_Result")


class AsyncCalls:
    """The methods of the engine, or of one of its groups, as coroutines.

    A group is loaded in a thread at its first call, since importing its modules would block the loop.
    """

    def __init__(
        self, load: Callable[[], Any], threads: CallThreads, groups: Collection[str] = (), target: Any = None
    ) -> None:
        self._load = load
        self._threads = threads
        self._groups = groups
        self._target = target

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if name in self._groups:
            inner = GROUPS[name] if self._groups is GROUPS else ()
            return AsyncCalls(lambda: getattr(self._load_target(), name), self._threads, inner)
        if self._target is None and name != SCOPED_VIEW:
            return self._load_then_call(name)
        return self._attribute(name)

    def __dir__(self) -> list[str]:
        offered = {name for name in dir(self._load_target()) if not name.startswith("_")}
        return sorted(offered | set(super().__dir__()))

    def _load_target(self) -> Any:
        if self._target is None:
            self._target = self._load()
        return self._target

    def _load_then_call(self, name: str) -> Callable[..., Any]:
        async def call(*args: Any, **options: Any) -> Any:
            await self._threads.run(self._load_target, abandons=True)
            return await self._attribute(name)(*args, **options)

        call.__name__ = name
        return call

    def _attribute(self, name: str) -> Any:
        found = getattr_static(self._load_target(), name, None)
        if found is None:
            raise AttributeError(f"{type(self._target).__name__!r} object has no attribute {name!r}")
        if isinstance(found, property):
            if _only_reads(found.fget):  # it reads the store
                return self._coroutine(found.fget, partial(getattr, self._target, name), abandons=True)
            return getattr(self._target, name)
        method = getattr(self._target, name)
        if name == SCOPED_VIEW:
            return wraps(method)(lambda *args, **given: AsyncEngine(method(*args, **given), self._threads))
        return self._coroutine(method, method, abandons=name in _UNMARKED_READS or _only_reads(found))

    def _coroutine(self, like: Any, method: Callable[..., Any], *, abandons: bool) -> Callable[..., Any]:
        @wraps(like)
        async def call(*args: Any, **options: Any) -> Any:
            return await self._threads.run(partial(method, *args, **options), abandons=abandons)

        return call


class AsyncEngine(AsyncCalls):
    """A memory for `async` code. It has the engine's methods and groups; await each call.

    Calls run in threads, up to eight at a time, and do not block the loop. A cancelled read ends at once. A
    cancelled write does not start, or runs to its end, so it is never half done. A call's `progress` is
    called from its thread.
    """

    def __init__(self, engine: Engine, threads: CallThreads | None = None) -> None:
        super().__init__(lambda: engine, threads or CallThreads(), GROUPS, engine)

    def __repr__(self) -> str:
        return f"Async{self._target!r}"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def run(self, work: Callable[..., _Result], *args: Any, **options: Any) -> _Result:
        """Run `work(engine, …)`, such as `recollect.transfer.import_file`, in a thread, to its end."""
        return await self._threads.run(partial(work, self._target, *args, **options), abandons=False)

    async def close(self) -> None:
        """Wait for running calls, record the last answers, and release the file."""
        await self._threads.close(self._target.close)


class AsyncOpening:
    """Open a memory with the arguments of `recollect.open`: `async with open(…)`, or `await open(…)`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._arguments = args, options
        self._memory: AsyncEngine | None = None

    def __await__(self) -> Generator[Any, None, AsyncEngine]:
        return self._open().__await__()

    async def __aenter__(self) -> AsyncEngine:
        self._memory = await self._open()
        return self._memory

    async def __aexit__(self, *_: object) -> None:
        if self._memory is not None:
            await self._memory.close()

    async def _open(self) -> AsyncEngine:
        args, options = self._arguments
        threads = CallThreads()
        opening: list[Engine] = []

        def open_engine() -> None:
            from recollect import bootstrap  # noqa: PLC0415  # loads NumPy, in the thread

            opening.append(bootstrap.open(*args, **options))

        def close_again() -> None:
            for engine in opening:
                engine.close()

        try:
            await threads.run(open_engine, abandons=False)
        except BaseException:
            # A cancelled opening still completes, and the caller cannot close it.
            await threads.close(close_again)
            raise
        return AsyncEngine(opening[0], threads)


def _only_reads(function: object) -> bool:
    return getattr(function, "only_reads", False)
