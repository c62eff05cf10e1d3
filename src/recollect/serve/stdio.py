"""Serving over standard input and output: one client, who started us and ends us by going away."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from recollect.errors import RecollectError
from recollect.serve.mcp import Serving
from recollect.serve.unread import answer_unread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.engine.engine import Engine
    from recollect.serve.tool import Tool


_log = logging.getLogger(__name__)


def serve_stdio(engine: Engine, tools: Sequence[Tool]) -> None:
    """Serve until the client closes our standard input."""
    warming = warm(engine)
    try:
        anyio.run(_serve, engine, tools)
    except* BrokenPipeError:
        _log.info("The client went without waiting for its answer.")
    # A model that is still being loaded would be torn down half made, which no runtime takes well.
    warming.join()


def warm(engine: Engine) -> threading.Thread:
    """Load the model and the caches in the background, so that the first question need not wait for them."""
    thread = threading.Thread(target=_ask_something, args=(engine,), name="recollect-warm", daemon=True)
    thread.start()
    return thread


def _ask_something(engine: Engine) -> None:
    try:
        note = engine.search("warm", limit=1).note
    except RecollectError as error:
        note = str(error)
    if note:
        _log.warning("recollect: %s", note)


async def _serve(engine: Engine, tools: Sequence[Tool]) -> None:
    server = Serving(engine, tools).server()
    onward, readable = anyio.create_memory_object_stream[SessionMessage | Exception]()
    async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as beside:
        beside.start_soon(answer_unread, incoming, onward, outgoing)
        await server.run(readable, outgoing, server.create_initialization_options())
        beside.cancel_scope.cancel()
