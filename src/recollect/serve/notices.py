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
        read: Callable[[str], Awaitable[str]],
        version: Callable[[], Awaitable[int]],
        tell: Callable[[str], Awaitable[None]],
    ) -> None:
        self._read = read
        self._version = version
        self._tell = tell
        self._wanted: Counter[str] = Counter()
        self._known: dict[str, int] = {}
        self._written = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None

    async def want(self, uri: str) -> None:
        if not self._wanted[uri]:
            self._known[uri] = await self._digest(uri)
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
            digest = await self._digest(uri)
            if self._known.get(uri, digest) != digest:
                self._known[uri] = digest
                await self._tell(uri)

    async def _digest(self, uri: str) -> int:
        """Of what a resource says; what is not there says nothing."""
        try:
            return hash(await self._read(uri))
        except RecollectError:
            return 0
