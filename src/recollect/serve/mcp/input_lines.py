"""Standard input by lines, read in a thread that nobody has to wait for.

The SDK's own thread blocks until a line comes, and an interrupted server would wait for it.
"""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_CHUNK_BYTES = 1 << 16
# Lines read before they are asked for. A client that sends faster than it is served waits.
_LINES_AHEAD = 16


class InputLines:
    """The lines of a file descriptor, for one `async for` within a running loop."""

    def __init__(self, descriptor: int) -> None:
        self.count = 0
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._read: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = threading.Semaphore(_LINES_AHEAD)

    def __aiter__(self) -> Self:
        threading.Thread(target=self._fill, name="recollect-input", daemon=True).start()
        return self

    async def __anext__(self) -> str:
        line = await self._read.get()
        self._room.release()
        if line is None:
            raise StopAsyncIteration
        self.count += 1
        return line

    def _fill(self) -> None:
        # A loop that is closed wants no more lines.
        with suppress(RuntimeError):
            # A terminal that was closed is no error: its user has gone.
            with suppress(OSError):
                for line in whole_lines(iter(partial(os.read, self._descriptor, _CHUNK_BYTES), b"")):
                    self._put(line.decode("utf-8", "replace"))
            self._put(None)

    def _put(self, line: str | None) -> None:
        self._room.acquire()
        self._loop.call_soon_threadsafe(self._read.put_nowait, line)


def whole_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    begun: list[bytes] = []
    for chunk in chunks:
        first, *more = chunk.split(b"\n")
        begun.append(first)
        for each in more:
            yield b"".join(begun)
            begun = [each]
    if any(begun):
        yield b"".join(begun)


def take_input() -> int:
    """Take standard input for us alone: a program that we start finds it empty."""
    ours = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return ours
