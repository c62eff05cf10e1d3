"""Serve MCP over standard input and output, to the one client that started the process."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from recollect.domain.errors import RecollectError
from recollect.mcp.server import MemoryServer
from recollect.operations.catalogue import operations
from recollect.settings import OFFICIAL_VARIABLE, official_file
from recollect.text.phrases import entities_text, quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType

    from anyio.streams.memory import MemoryObjectSendStream
    from mcp.shared._stream_protocols import ReadStream, WriteStream

    from recollect.agents.listener import HookListener
    from recollect.engine import Engine
    from recollect.settings import Settings


_log = logging.getLogger(__name__)
_CHUNK_BYTES = 1 << 16
LONGEST_LINE = 4 * 1024 * 1024
"""Maximum number of bytes of a message, the same as over HTTP."""
# Bytes kept from both ends of a longer message, to find its id.
_END_BYTES = 1_024
_START_ID = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,18}|"[^"\\]{1,100}")')
_END_ID = re.compile(rb',\s*"id"\s*:\s*(\d{1,18}|"[^"\\]{1,100}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')
# Number of lines to read ahead. A client that sends faster has to wait.
_LINES_AHEAD = 16


def serve_stdio(memory: LazyEngine, names: Sequence[str]) -> None:
    """Serve these operations until the client closes standard input, or an interrupt arrives."""
    server = MemoryServer(memory.engine, names)
    warming = memory.warm(server.listed, server.is_idle)
    was_used = True
    try:
        was_used = anyio.run(_serve, server, memory.stop)
    except* BrokenPipeError:
        _log.info("The client disconnected before it got its answer.")
    finally:
        memory.stop()
        # Do not wait for a client that has disconnected.
        server.listed.set()
        server.is_idle.set()
        # Unloading a model that is still being loaded crashes some runtimes.
        warming.join()
    if not was_used:
        # A user may start the server by hand to test it, so report a store that cannot be opened.
        memory.engine()


async def _serve(memory_server: MemoryServer, stop: Callable[[], None]) -> bool:
    """Serve standard input and output. Return whether any line arrived."""
    server = memory_server.server()
    forward, readable = anyio.create_memory_object_stream[SessionMessage | Exception]()
    lines = InputLines(take_input())
    # The SDK only needs a file that yields lines.
    file = cast("anyio.AsyncFile[str]", lines)
    async with stdio_server(file) as (incoming, outgoing), anyio.create_task_group() as both:

        async def run() -> None:
            await server.run(readable, outgoing, server.create_initialization_options())
            both.cancel_scope.cancel()

        # Run in parallel, so that an interrupt reaches both. A running call finishes, and must learn that its
        # client has disconnected.
        both.start_soon(_pass_on, incoming, forward, outgoing, stop)
        both.start_soon(run)
    return lines.count > 0


class InputLines:
    """An asynchronous iterator over the lines of a file descriptor.

    A daemon thread reads the lines. The SDK's reader blocks until a line arrives, even after an interrupt.
    """

    def __init__(self, descriptor: int) -> None:
        self.count: int = 0
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
        # RuntimeError: the event loop is closed, so nothing reads the lines.
        with suppress(RuntimeError):
            # OSError: the terminal was closed.
            with suppress(OSError):
                for line in whole_lines(iter(partial(os.read, self._descriptor, _CHUNK_BYTES), b"")):
                    self._enqueue(line.decode("utf-8", "replace"))
            self._enqueue(None)

    def _enqueue(self, line: str | None) -> None:
        self._room.acquire()
        self._loop.call_soon_threadsafe(self._read.put_nowait, line)


def whole_lines(chunks: Iterable[bytes], longest: int = LONGEST_LINE) -> Iterator[bytes]:
    """Yield the lines of chunks. A line that is too long becomes a short message with its id and size."""
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
    """A line as it arrives. Of a line that is too long, only both ends are kept."""

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
        # This is not a valid message. `error_answers` answers it, so that the client does not wait.
        found = _START_ID.match(self._start) or _END_ID.search(self._end)
        id_ = b"null" if found is None else found[1]
        return b'{"id":%s,"method":"","too_long":%d}' % (id_, self.size)


def take_input() -> int:
    """Reserve standard input for the server: child processes get an empty one."""
    ours = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return ours


# Answers to messages that cannot be read. The SDK drops them, and the client would wait for ever. Examples
# are batches, which one revision of the protocol allowed, and half of a surrogate pair, which JavaScript
# clients write when they cut a text inside an emoji.


async def _pass_on(
    incoming: ReadStream[SessionMessage | Exception],
    forward: MemoryObjectSendStream[SessionMessage | Exception],
    outgoing: WriteStream[SessionMessage],
    stop: Callable[[], None],
) -> None:
    """Pass messages on, and answer those that cannot be read. At the end of the input, call `stop`."""
    try:
        async with forward:
            async for item in incoming:
                if isinstance(item, SessionMessage):
                    await forward.send(item)
                    continue
                answers = error_answers(item)
                if not answers:
                    _log.warning("Skipped a line that is not a valid message.")
                for answer in answers:
                    await outgoing.send(SessionMessage(answer))
    finally:
        stop()


def error_answers(error: Exception) -> list[types.JSONRPCError]:
    """Return the answers to a line that could not be read, one for each request in it."""
    if not isinstance(error, ValidationError):
        return []
    first = error.errors()[0]
    try:
        message = json.loads(first["input"]) if isinstance(first["input"], str) else first["input"]
    except (ValueError, RecursionError):
        return []
    if isinstance(message, list):
        why = "Batches are not supported; send each message on its own line. Nothing was done."
        return [_error(id_, types.INVALID_REQUEST, why) for id_ in filter(_is_id, map(_request_id, message))]
    if isinstance(message, dict) and isinstance(size := message.get("too_long"), int):
        most = f"at most {LONGEST_LINE // 1024**2} MiB are read"
        why = f"The message has {size:,} bytes, and {most}; split it into several. Nothing was done."
    else:
        why = f"The message cannot be read: {first['msg']}. Nothing was done."
    return [_error(id_, types.PARSE_ERROR, why) for id_ in filter(_is_id, [_request_id(message)])]


def _request_id(message: object) -> Any:
    """Return the id of a request; None for anything else."""
    return message.get("id") if isinstance(message, dict) and "method" in message else None


def _is_id(value: object) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _error(id_: int | str, code: int, why: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=id_, error=types.ErrorData(code=code, message=why))


# A memory that is opened when it is first needed, so that a server can already answer the client.

_LONGEST_WAIT_SECONDS = 2.0


class LazyEngine:
    """A memory that the first call opens. After a failure, the next call tries again.

    Opening may take long, if the store must be upgraded or is locked. The server answers during that
    time, because a client gives up on a silent server. If opening fails, the call reports the reason.
    """

    def __init__(self, open_: Callable[[], Engine]) -> None:
        self._open = open_
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._error: RecollectError | None = None
        self._stopped = threading.Event()

    def engine(self) -> Engine:
        with self._lock:
            if self._engine is None:
                try:
                    self._engine = self._open()
                except RecollectError as error:
                    self._error = error
                    raise
                if self._stopped.is_set():
                    _begin_shutdown(self._engine)
            return self._engine

    def stop(self) -> None:
        """Start no more background work. The next start embeds the remaining texts."""
        self._stopped.set()
        if self._engine is not None:
            _begin_shutdown(self._engine)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._engine is not None:
            self._engine.close()
        elif self._error is not None and error is None:
            # The memory was never opened, so the exit status must show the error.
            raise self._error

    def warm(self, *after: threading.Event) -> threading.Thread:
        """Open the memory and load model, operations and caches in the background, for a fast first call.

        This waits until the client has its list of tools, and until an earlier call ends, because both need
        the processor. Garbage collection is off during the load, because all loaded objects stay.
        """
        gc.disable()
        thread = threading.Thread(target=self._warm, args=after, name="recollect-warm", daemon=True)
        thread.start()
        return thread

    def _warm(self, *after: threading.Event) -> None:
        for event in after:
            event.wait(_LONGEST_WAIT_SECONDS)
        note = None
        try:
            engine = None if self._stopped.is_set() else self.engine()
            # Opening may have taken long.
            if engine is not None and not self._stopped.is_set():
                # Loads in parallel with the search, which waits for the model.
                loading = threading.Thread(target=operations, name="recollect-operations", daemon=True)
                loading.start()
                note = engine.search("warm", limit=1).note
                loading.join()
        except RecollectError as error:
            note = str(error)
        finally:
            gc.enable()
        if note:
            _log.warning("recollect: %s", note)


def _begin_shutdown(memory: Engine) -> None:
    """Start no more background work. Texts without a vector get it when the memory is next opened."""
    from recollect.admin import Internals  # noqa: PLC0415  # loads the engine

    Internals(memory).services.shutdown.set()


# Import the file of the official memory server once, if the settings say so.

_NAMED = 5
"""Maximum number of entities that a line names; the others are counted."""


def import_official_file(
    memory: Engine, begun: Path, asked: Path | None, tell: Callable[[str], None]
) -> None:
    """Import the official server's file into a memory that never had an entity.

    A later import would restore deleted entities. The mark `begun` shows that an earlier import was
    interrupted; then the import continues. `asked` is the file, or the variable with its path. The server
    starts even if the import fails. A file that appears too late is reported until the user has imported it.
    """
    from recollect.admin import Internals  # noqa: PLC0415  # loads the engine

    named = official_file()
    if asked is None and named is None:
        return
    file = named if asked == Path(OFFICIAL_VARIABLE) else asked
    if Internals(memory).ever_had_entities() and not begun.exists():
        _tell_if_too_late(memory, file, tell)
    elif asked is None:
        tell(f"{OFFICIAL_VARIABLE} names {named}; `recollect serve --import` imports it into this memory.")
    elif file is None:
        tell(f"{OFFICIAL_VARIABLE} is not set; name the file to import: --import FILE.")
    elif not file.exists():
        tell(f"There is no file {file} to import; the memory starts without it.")
    else:
        begun.touch(mode=0o600)
        _import(memory, file, tell)
        begun.unlink(missing_ok=True)


def _import(memory: Engine, file: Path, tell: Callable[[str], None]) -> None:
    from recollect.transfer import import_file  # noqa: PLC0415  # few starts import anything

    try:
        report = import_file(memory, file, embed=False)
    except (RecollectError, OSError) as error:
        tell(f"{file} could not be imported: {error}")
        return
    gained = [entities_text(report.entities_created)]
    if report.relations_created:
        gained.append(quantity(report.relations_created, "relation"))
    tell(
        f"Imported {' and '.join(gained)} from {file}. Search by words finds them now. Search by "
        "meaning finds them once they are embedded, which runs in the background."
    )
    if report.also_created:
        more = report.also_created_count - _NAMED
        named = ", ".join(report.also_created[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
        tell(f"Created with the type 'unknown', because relations name them: {named}.")
    left_out = []
    if report.dangling_count:
        one, several = "relation that leads nowhere", "relations that lead nowhere"
        left_out.append(quantity(report.dangling_count, one, several))
    if report.bad_count:
        left_out.append(f"{quantity(report.bad_count, 'line')} that could not be read")
    for left in left_out:
        tell(f"Left out {left}; {_by_hand(file)} lists what it leaves out.")


def _tell_if_too_late(memory: Engine, file: Path | None, tell: Callable[[str], None]) -> None:
    from recollect.transfer.moved_rows import importing  # noqa: PLC0415  # loads the engine

    if file is None or importing(memory).was_recorded(file):
        return
    if file.exists():
        tell(f"{file} was not imported, because this memory already has entities; {_by_hand(file)} adds it.")
    else:
        tell(f"There is no file {file} to import.")


def _by_hand(file: Path) -> str:
    quoted = f'"{file}"' if " " in str(file) else file
    return f"`recollect import {quoted}`"


# A server has the store open, so it also answers its hooks.

_AFTER_SECONDS = 1.0
"""Delay before hooks are answered, so that the client gets its list of tools first."""


@contextmanager
def answering_hooks(settings: Settings, engine: Callable[[], Engine]) -> Iterator[None]:
    """In this context, the process answers hooks if any are installed and no other process does."""
    listeners: list[HookListener] = []
    ended = threading.Event()

    def begin() -> None:
        if ended.wait(_AFTER_SECONDS):
            return
        from recollect.agents.hook_files import hooks_folder  # noqa: PLC0415  # after the start

        if not os.path.isdir(hooks_folder()):  # noqa: PTH112  # the same check as in hooks
            return
        from recollect.agents.listener import HookListener  # noqa: PLC0415  # only where there are hooks

        listener = HookListener(settings, engine, stops_when_asked=False)
        with suppress(OSError):
            if listener.claim():
                listener.listen()
                listeners.append(listener)

    thread = threading.Thread(target=begin, name="recollect-hooks-start", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        for listener in listeners:
            listener.close()
