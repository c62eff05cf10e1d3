"""Threads that run calls for an asyncio loop, and that end cancelled calls."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from contextvars import copy_context
from threading import Event, Lock
from typing import TYPE_CHECKING, TypeVar

from recollect.domain.errors import StoreUnavailable, interruptible

if TYPE_CHECKING:
    from collections.abc import Callable

# More threads would only wait for the same file.
_MAX_THREADS = 8

_Result = TypeVar("_Result")


class CallThreads:
    """The threads of one memory."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_MAX_THREADS, "recollect")
        self._closing = Lock()
        self._is_closed = False

    async def run(self, work: Callable[[], _Result], *, abandons: bool) -> _Result:
        """Call `work` in a thread. Cancelling drops a waiting call; with `abandons`, also a running one."""
        # This comes first, since it raises under Trio, which has no asyncio loop.
        loop = asyncio.get_running_loop()
        cancelled = Event()

        def end_if_cancelled() -> None:
            if cancelled.is_set():
                raise asyncio.CancelledError

        def call() -> _Result:
            with interruptible(end_if_cancelled) if abandons else nullcontext():
                return work()

        with self._closing:
            if self._is_closed:
                raise StoreUnavailable("This memory was closed; open it again.")
            calling = self._pool.submit(copy_context().run, call)
        called = asyncio.wrap_future(calling, loop=loop)
        try:
            return await asyncio.shield(called)
        except asyncio.CancelledError:
            if not calling.cancel():
                cancelled.set()
                if abandons:
                    # The result is dropped, even if the loop is closed by then.
                    called.cancel()
                else:
                    await _wait_for_end(called)
            raise

    async def close(self, last: Callable[[], object]) -> None:
        """Reject new calls, wait for the running ones, and call `last`, even if this task is cancelled."""
        with self._closing:
            self._is_closed = True

        def finish() -> None:
            self._pool.shutdown()
            last()

        # In a separate thread, since the pool may be busy.
        thread = ThreadPoolExecutor(1, "recollect-close")
        closing = asyncio.wrap_future(thread.submit(copy_context().run, finish))
        thread.shutdown(wait=False)
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            await _wait_for_end(closing)
            raise


async def _wait_for_end(called: asyncio.Future[_Result]) -> None:
    """Wait until the call has ended, and drop its result."""
    while not called.done():
        try:
            await asyncio.wait([called])
        except asyncio.CancelledError:  # cancelled again, but a write must complete
            continue
    if not called.cancelled():
        called.exception()
