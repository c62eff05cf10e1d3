"""Serving over standard input and output: one client, who started us and ends us by going away."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, cast

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from recollect.serve.mcp.bad_messages import answer_bad_messages
from recollect.serve.mcp.input_lines import InputLines, take_input
from recollect.serve.mcp.server import MemoryServer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.serve.lazy_engine import LazyEngine

_log = logging.getLogger(__name__)


def serve_stdio(memory: LazyEngine, names: Sequence[str]) -> None:
    """Serve these operations until the client closes our standard input, or somebody interrupts us."""
    server = MemoryServer(memory.engine, names)
    warming = memory.warm(after=server.listed)
    was_used = True
    try:
        was_used = anyio.run(_serve, server, memory.stop)
    except* BrokenPipeError:
        _log.info("The client went without waiting for its answer.")
    finally:
        memory.stop()
        # It need not wait for a client that has gone.
        server.listed.set()
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
        both.start_soon(answer_bad_messages, incoming, forward, outgoing, stop)
        both.start_soon(run)
    return lines.count > 0
