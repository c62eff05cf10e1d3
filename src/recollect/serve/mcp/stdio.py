"""Serving over standard input and output: one client, who started us and ends us by going away."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import threading
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Self, cast

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from recollect.serve.mcp.server import MemoryServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from anyio.streams.memory import MemoryObjectSendStream
    from mcp.shared._stream_protocols import ReadStream, WriteStream

    from recollect.serve.lazy_engine import LazyEngine

_log = logging.getLogger(__name__)
_CHUNK_BYTES = 1 << 16
LONGEST_LINE = 4 * 1024 * 1024
"""Bytes of one message, as over HTTP."""
# Bytes at either end of a longer one, where its id stands.
_END_BYTES = 1_024
_START_ID = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,18}|"[^"\\]{1,100}")')
_END_ID = re.compile(rb',\s*"id"\s*:\s*(\d{1,18}|"[^"\\]{1,100}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')
# Lines read before they are asked for. A client that sends faster than it is served waits.
_LINES_AHEAD = 16


def serve_stdio(memory: LazyEngine, names: Sequence[str]) -> None:
    """Serve these operations until the client closes our standard input, or somebody interrupts us."""
    server = MemoryServer(memory.engine, names)
    warming = memory.warm(server.listed, server.is_idle)
    was_used = True
    try:
        was_used = anyio.run(_serve, server, memory.stop)
    except* BrokenPipeError:
        _log.info("The client went without waiting for its answer.")
    finally:
        memory.stop()
        # It need not wait for a client that has gone.
        server.listed.set()
        server.is_idle.set()
        # A model that is still being loaded would be torn down half made, which no runtime takes well.
        warming.join()
    if not was_used:
        # Started by somebody who only looks whether it starts: a store that cannot be opened should show.
        memory.engine()


async def _serve(memory_server: MemoryServer, stop: Callable[[], None]) -> bool:
    """Whether anybody said anything."""
    server = memory_server.server()
    forward, readable = anyio.create_memory_object_stream[SessionMessage | Exception]()
    lines = InputLines(take_input())
    # The SDK asks of a file only that it gives lines.
    file = cast("anyio.AsyncFile[str]", lines)
    async with stdio_server(file) as (incoming, outgoing), anyio.create_task_group() as both:

        async def run() -> None:
            await server.run(readable, outgoing, server.create_initialization_options())
            both.cancel_scope.cancel()

        # Side by side, so that an interrupt reaches both at once: a call under way is let finish, and must
        # learn that nobody waits for it.
        both.start_soon(_pass_on, incoming, forward, outgoing, stop)
        both.start_soon(run)
    return lines.count > 0


class InputLines:
    """The lines of a file descriptor, for one `async for` within a running loop.

    A thread reads them that nobody has to wait for. The SDK's own blocks until a line comes, and an
    interrupted server would wait for it.
    """

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


def whole_lines(chunks: Iterable[bytes], longest: int = LONGEST_LINE) -> Iterator[bytes]:
    """The lines; one that is too long comes as a short message that stands for it, and is not kept whole."""
    line = _Line(longest)
    for chunk in chunks:
        first, *more = chunk.split(b"\n")
        line.add(first)
        for each in more:
            yield line.content()
            line = _Line(longest)
            line.add(each)
    if line.size:
        yield line.content()


class _Line:
    """A line as it comes in; of one that is too long, both ends."""

    def __init__(self, longest: int) -> None:
        self.size = 0
        self._longest = longest
        self._pieces: list[bytes] = []
        self._start = self._end = b""

    def add(self, piece: bytes) -> None:
        self.size += len(piece)
        if self.size <= self._longest:
            self._pieces.append(piece)
            return
        begun = b"".join((*self._pieces, self._end, piece))
        self._start = self._start or begun[:_END_BYTES]
        self._end = begun[-_END_BYTES:]
        self._pieces.clear()

    def content(self) -> bytes:
        if self.size <= self._longest:
            return b"".join(self._pieces)
        # No message, so that whoever answers what cannot be read answers this, and its sender does not wait.
        found = _START_ID.match(self._start) or _END_ID.search(self._end)
        id_ = b"null" if found is None else found[1]
        return b'{"id":%s,"method":"","too_long":%d}' % (id_, self.size)


def take_input() -> int:
    """Take standard input for us alone: a program that we start finds it empty."""
    ours = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return ours


# Messages that cannot be read: their sender gets an answer instead of waiting for ever. The SDK drops a line
# that its parser refuses, such as one with half of a surrogate pair, which clients in JavaScript write when
# they cut a text inside an emoji, or a batch, which one revision of the protocol had.


async def _pass_on(
    incoming: ReadStream[SessionMessage | Exception],
    forward: MemoryObjectSendStream[SessionMessage | Exception],
    outgoing: WriteStream[SessionMessage],
    stop: Callable[[], None],
) -> None:
    """Pass messages on, and answer those that cannot be read; `stop` is called when no more will come."""
    try:
        async with forward:
            async for item in incoming:
                if isinstance(item, SessionMessage):
                    await forward.send(item)
                    continue
                answers = error_answers(item)
                if not answers:
                    _log.warning("A line that is no message was passed over.")
                for answer in answers:
                    await outgoing.send(SessionMessage(answer))
    finally:
        stop()


def error_answers(error: Exception) -> list[types.JSONRPCError]:
    """The answers to a line that could not be read; none where nobody waits for one."""
    if not isinstance(error, ValidationError):
        return []
    first = error.errors()[0]
    try:
        message = json.loads(first["input"]) if isinstance(first["input"], str) else first["input"]
    except (ValueError, RecursionError):
        return []
    if isinstance(message, list):
        why = "Several messages in one are not taken; send each on a line of its own. Nothing was done."
        return [_error(id_, types.INVALID_REQUEST, why) for id_ in filter(_is_id, map(_request_id, message))]
    if isinstance(message, dict) and isinstance(size := message.get("too_long"), int):
        most = f"at most {LONGEST_LINE // 1024**2} MiB are read"
        why = f"The message has {size:,} bytes, and {most}; send it in several. Nothing was done."
    else:
        why = f"The message cannot be read: {first['msg']}. Nothing was done."
    return [_error(id_, types.PARSE_ERROR, why) for id_ in filter(_is_id, [_request_id(message)])]


def _request_id(message: object) -> Any:
    """The id of a request; None for what is none."""
    return message.get("id") if isinstance(message, dict) and "method" in message else None


def _is_id(value: object) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _error(id_: int | str, code: int, why: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=id_, error=types.ErrorData(code=code, message=why))
