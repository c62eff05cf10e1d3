"""Messages that cannot be read: whoever sent one gets an answer instead of waiting for ever.

The SDK drops a line that its parser refuses, such as one with half of a surrogate pair, which clients in
JavaScript write when they cut a text inside an emoji.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectSendStream
    from mcp.shared._stream_protocols import ReadStream, WriteStream

_log = logging.getLogger(__name__)


async def answer_unread(
    incoming: ReadStream[SessionMessage | Exception],
    onward: MemoryObjectSendStream[SessionMessage | Exception],
    outgoing: WriteStream[SessionMessage],
) -> None:
    """Pass messages on, and answer those that could not be read."""
    async with onward:
        async for item in incoming:
            if isinstance(item, SessionMessage):
                await onward.send(item)
            elif (refusal := refused(item)) is not None:
                await outgoing.send(SessionMessage(refusal))
            else:
                _log.warning("A line that is no message was passed over.")


def refused(error: Exception) -> types.JSONRPCError | None:
    """The answer to a message that could not be read; None where nobody waits for one."""
    if not isinstance(error, ValidationError):
        return None
    first = error.errors()[0]
    try:
        message = json.loads(first["input"]) if isinstance(first["input"], str) else first["input"]
    except (ValueError, RecursionError):
        return None
    id_ = message.get("id") if isinstance(message, dict) and "method" in message else None
    if isinstance(id_, bool) or not isinstance(id_, int | str):
        return None
    why = f"The message cannot be read: {first['msg']}. Nothing was done."
    return types.JSONRPCError(
        jsonrpc="2.0", id=id_, error=types.ErrorData(code=types.PARSE_ERROR, message=why)
    )
