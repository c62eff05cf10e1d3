"""Runs calls in threads for an asyncio loop, and ends cancelled ones."""

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

# More would only wait for the same file.
_MOST_CALLS = 8

_Result = TypeVar("_Result")


class CallThreads:
    """The threads of one memory."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_MOST_CALLS, "recollect")
        self._closing = Lock()
        self._is_closed = False

    async def run(self, work: Callable[[], _Result], *, abandons: bool) -> _Result:
        """Call it in a thread. Cancelled, it is not begun; once begun, it ends early where it `abandons`."""
        loop = asyncio.get_running_loop()  # before anything is begun: under Trio there is none
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
                    await _ended(called)
            raise

    async def close(self, last: Callable[[], object]) -> None:
        """Take no more calls, let those under way end, and then call `last`, even where this is cancelled."""
        with self._closing:
            self._is_closed = True

        def finish() -> None:
            self._pool.shutdown()
            last()

        # In a thread of its own: those of the pool may all be busy.
        thread = ThreadPoolExecutor(1, "recollect-close")
        closing = asyncio.wrap_future(thread.submit(copy_context().run, finish))
        thread.shutdown(wait=False)
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            await _ended(closing)
            raise


async def _ended(called: asyncio.Future[_Result]) -> None:
    """Wait until the call is over, and drop its result."""
    while not called.done():
        try:
            await asyncio.wait([called])
        except asyncio.CancelledError:  # asked a second time; what writes is done to its end all the same
            continue
    if not called.cancelled():
        called.exception()
