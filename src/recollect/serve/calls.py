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
    from collections.abc import Callable

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
