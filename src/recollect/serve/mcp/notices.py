"""Notices of change: a client that watches a resource is told once it reads otherwise than before."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING, Generic, TypeVar

from recollect.errors import RecollectError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

# How soon a change by another process is noticed. Our own writes wake us.
_LOOK_SECONDS = 1.0

_Watched = TypeVar("_Watched", bound=Hashable)


class ChangeNotices(Generic[_Watched]):
    """Compares the fingerprints of watched resources each time the store has changed.

    Most of what is written changes none of them: what was seen, a vector, another entity.
    """

    def __init__(
        self,
        fingerprint: Callable[[_Watched], Awaitable[int]],
        version: Callable[[], Awaitable[int]],
        notify: Callable[[_Watched], Awaitable[None]],
    ) -> None:
        self._fingerprint = fingerprint
        self._version = version
        self._notify = notify
        self._watched: Counter[_Watched] = Counter()
        self._known: dict[_Watched, int | None] = {}
        self._written = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None

    async def watch(self, resource: _Watched) -> None:
        if not self._watched[resource]:
            self._known[resource] = await self._first_fingerprint(resource)
        self._watched[resource] += 1
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look(), name="recollect-notices")

    def unwatch(self, resource: _Watched) -> None:
        self._watched[resource] -= 1
        if self._watched[resource] < 1:
            del self._watched[resource]
            self._known.pop(resource, None)

    def written(self) -> None:
        """This process has changed something."""
        self._written.set()

    async def _look(self) -> None:
        seen: int | None = None
        while self._watched:
            try:
                now = await self._version()
                if now != seen:
                    seen = now
                    await self._compare()
            except RecollectError:
                # The store is busy, or was moved: the calls say so, and the next look may go better.
                seen = None
            try:
                await asyncio.wait_for(self._written.wait(), _LOOK_SECONDS)
            except TimeoutError:
                continue
            self._written.clear()

    async def _compare(self) -> None:
        for resource in list(self._watched):
            found = await self._fingerprint(resource)
            if self._known.get(resource, found) != found:
                self._known[resource] = found
                await self._notify(resource)

    async def _first_fingerprint(self, resource: _Watched) -> int | None:
        try:
            return await self._fingerprint(resource)
        except RecollectError:
            # Nobody knows how it reads: the first look that succeeds is reported.
            return None
