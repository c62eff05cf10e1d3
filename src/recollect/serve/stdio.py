"""Serving over standard input and output: one client, who started us and ends us by going away."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from recollect.serve.mcp import Serving
from recollect.serve.unread import answer_unread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.serve.opening import Opening
    from recollect.serve.tool import Tool


_log = logging.getLogger(__name__)


def serve_stdio(memory: Opening, tools: Sequence[Tool]) -> None:
    """Serve until the client closes our standard input."""
    serving = Serving(memory.engine, tools)
    warming = memory.warm(after=serving.listed)
    try:
        anyio.run(_serve, serving)
    except* BrokenPipeError:
        _log.info("The client went without waiting for its answer.")
    # A model that is still being loaded would be torn down half made, which no runtime takes well.
    warming.join()


async def _serve(serving: Serving) -> None:
    server = serving.server()
    onward, readable = anyio.create_memory_object_stream[SessionMessage | Exception]()
    async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as beside:
        beside.start_soon(answer_unread, incoming, onward, outgoing)
        await server.run(readable, outgoing, server.create_initialization_options())
        beside.cancel_scope.cancel()
