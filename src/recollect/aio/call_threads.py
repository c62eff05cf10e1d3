"""Runs calls in threads for a loop of asyncio, and ends those that nobody waits for any more."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from contextvars import copy_context
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from recollect.interruption import interruptible

if TYPE_CHECKING:
    from collections.abc import Callable

# More would only wait for the same file.
_MOST_CALLS = 8

_Result = TypeVar("_Result")


class CallThreads:
    """The threads of one memory."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_MOST_CALLS, "recollect")

    async def run(self, work: Callable[[], _Result], *, abandons: bool) -> _Result:
        """Call it in a thread. Cancelled, it is not begun; once begun, it ends early where it `abandons`."""
        cancelled = Event()

        def end_if_cancelled() -> None:
            if cancelled.is_set():
                raise asyncio.CancelledError

        def call() -> _Result:
            with interruptible(end_if_cancelled) if abandons else nullcontext():
                return work()

        calling = self._pool.submit(copy_context().run, call)
        called = asyncio.wrap_future(calling)
        try:
            return await asyncio.shield(called)
        except asyncio.CancelledError:
            if not calling.cancel():
                cancelled.set()
                await _ended(called, calling, waits=not abandons)
            raise

    def close(self) -> None:
        """No call may be under way."""
        self._pool.shutdown(wait=False)


async def _ended(called: asyncio.Future[_Result], calling: Future[_Result], *, waits: bool) -> None:
    """What becomes of it is of no interest any more, only that it is over."""
    called.add_done_callback(lambda done: done.cancelled() or done.exception())
    while waits and not calling.done():
        try:
            await asyncio.wait([called])
        except asyncio.CancelledError:  # asked a second time; what writes is done to its end all the same
            continue
