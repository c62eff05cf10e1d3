"""Serving over standard input and output: one client, who started us and ends us by going away."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, cast

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from recollect.serve.lines import Lines, own_input
from recollect.serve.mcp import Serving
from recollect.serve.unread import answer_unread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.serve.opening import Opening
    from recollect.serve.tool import Tool


_log = logging.getLogger(__name__)


def serve_stdio(memory: Opening, tools: Sequence[Tool]) -> None:
    """Serve until the client closes our standard input, or somebody interrupts us."""
    serving = Serving(memory.engine, tools)
    warming = memory.warm(after=serving.listed)
    spoken_to = True
    try:
        spoken_to = anyio.run(_serve, serving, memory.leave)
    except* BrokenPipeError:
        _log.info("The client went without waiting for its answer.")
    finally:
        memory.leave()
        # It need not wait for a client that has gone.
        serving.listed.set()
        # A model that is still being loaded would be torn down half made, which no runtime takes well.
        warming.join()
    if not spoken_to:
        # Started by somebody who only looks whether it starts: a store that cannot be opened should show.
        memory.engine()


async def _serve(serving: Serving, gone: Callable[[], None]) -> bool:
    """Whether anybody said anything."""
    server = serving.server()
    onward, readable = anyio.create_memory_object_stream[SessionMessage | Exception]()
    lines = Lines(own_input())
    # The SDK asks of a file only that it gives lines.
    file = cast("anyio.AsyncFile[str]", lines)
    async with stdio_server(file) as (incoming, outgoing), anyio.create_task_group() as both:

        async def speak() -> None:
            await server.run(readable, outgoing, server.create_initialization_options())
            both.cancel_scope.cancel()

        # Side by side, so that an interrupt reaches both at once: a call under way is let finish, and must
        # learn that nobody waits for it.
        both.start_soon(answer_unread, incoming, onward, outgoing, gone)
        both.start_soon(speak)
    return lines.given > 0
