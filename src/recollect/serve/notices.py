"""Notices: whoever asked to hear of a resource hears when it reads otherwise than before."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

from recollect.errors import RecollectError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

# How soon a change by another process is told. Our own writes wake us.
_LOOK_SECONDS = 1.0


class Notices:
    """Looks at the resources that somebody wants to hear of, while somebody does, once the store has changed.

    Most of what is written changes none of them: what was seen, a vector, another entity.
    """

    def __init__(
        self,
        mark: Callable[[str], Awaitable[int]],
        version: Callable[[], Awaitable[int]],
        tell: Callable[[str], Awaitable[None]],
    ) -> None:
        self._mark = mark
        self._version = version
        self._tell = tell
        self._wanted: Counter[str] = Counter()
        self._known: dict[str, int | None] = {}
        self._written = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None

    async def want(self, uri: str) -> None:
        if not self._wanted[uri]:
            self._known[uri] = await self._first_mark(uri)
        self._wanted[uri] += 1
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look(), name="recollect-notices")

    def leave(self, uri: str) -> None:
        self._wanted[uri] -= 1
        if self._wanted[uri] < 1:
            del self._wanted[uri]
            self._known.pop(uri, None)

    def written(self) -> None:
        """This process has changed something."""
        self._written.set()

    async def _look(self) -> None:
        seen: int | None = None
        while self._wanted:
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
        for uri in list(self._wanted):
            mark = await self._mark(uri)
            if self._known.get(uri, mark) != mark:
                self._known[uri] = mark
                await self._tell(uri)

    async def _first_mark(self, uri: str) -> int | None:
        try:
            return await self._mark(uri)
        except RecollectError:
            # Nobody knows how it reads: the first look that goes well is told.
            return None
