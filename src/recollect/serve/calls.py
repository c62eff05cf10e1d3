"""Runs calls in threads, side by side, so that one caller cannot starve the others."""

from __future__ import annotations

import asyncio
from concurrent.futures import CancelledError
from contextlib import nullcontext
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakValueDictionary

import anyio
import anyio.from_thread
import anyio.to_thread

from recollect.interruption import interruptible

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

# Calls at one time. More would only wait for the same file.
_MOST_CALLS = 8
# Of these, one client has at most so many: the others need not wait for it.
_MOST_CALLS_EACH = 4
CALL_SECONDS = 60.0
"""How long a call that only reads may take. What writes is done to its end."""

_Work = TypeVar("_Work")


class Calls:
    """What all connections of a process share."""

    def __init__(self) -> None:
        self._limiter = anyio.CapacityLimiter(_MOST_CALLS)
        # One that nobody waits in is forgotten.
        self._limiters: WeakValueDictionary[str, anyio.CapacityLimiter] = WeakValueDictionary()

    def places_of(self, caller: str) -> anyio.CapacityLimiter:
        """To enter while a call of this caller is under way."""
        return self._limiters.setdefault(caller, anyio.CapacityLimiter(_MOST_CALLS_EACH))

    async def in_thread(self, work: Callable[[], _Work], *, abandon: bool = True) -> _Work:
        """Let other calls go on meanwhile. A cancelled write is let finish: it is one transaction."""

        def interrupted() -> _Work:
            with interruptible(end_if_cancelled) if abandon else nullcontext():
                return work()

        return await anyio.to_thread.run_sync(interrupted, limiter=self._limiter, abandon_on_cancel=abandon)


def end_if_cancelled() -> None:
    """From a worker's thread."""
    try:
        anyio.from_thread.check_cancelled()
    except (asyncio.CancelledError, CancelledError):
        raise asyncio.CancelledError from None


class GrowingProgress:
    """Tells how far work in a thread is, and ends what nobody waits for; what it tells only ever grows."""

    def __init__(self, tell: Callable[[int, int | None], Awaitable[None]], *, stops: bool) -> None:
        self._tell = tell
        self._stops = stops
        self._before = self._last = 0

    def __call__(self, done: int, total: int | None) -> None:
        """From the worker's thread, after every step."""
        try:
            end_if_cancelled()
            anyio.from_thread.run(self._told, done, total)
        except (asyncio.CancelledError, CancelledError):
            # What writes is let finish, or it would be half done.
            if self._stops:
                raise asyncio.CancelledError from None

    async def _told(self, done: int, total: int | None) -> None:
        if self._before + done <= self._last:
            # Another part of the work has begun, which counts from the start.
            self._before = self._last
        self._last = self._before + done
        await self._tell(self._last, None if total is None else self._before + total)
