"""Messages that cannot be read: their sender gets an answer instead of waiting for ever.

The SDK drops a line that its parser refuses, such as one with half of a surrogate pair, which clients in
JavaScript write when they cut a text inside an emoji, or a batch, which one revision of the protocol had.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyio.streams.memory import MemoryObjectSendStream
    from mcp.shared._stream_protocols import ReadStream, WriteStream

_log = logging.getLogger(__name__)


async def answer_bad_messages(
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
    why = f"The message cannot be read: {first['msg']}. Nothing was done."
    return [_error(id_, types.PARSE_ERROR, why) for id_ in filter(_is_id, [_request_id(message)])]


def _request_id(message: object) -> Any:
    """The id of a request; None for what is none."""
    return message.get("id") if isinstance(message, dict) and "method" in message else None


def _is_id(value: object) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _error(id_: int | str, code: int, why: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=id_, error=types.ErrorData(code=code, message=why))
