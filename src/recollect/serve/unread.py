"""Messages that cannot be read: whoever sent one gets an answer instead of waiting for ever.

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


async def answer_unread(
    incoming: ReadStream[SessionMessage | Exception],
    onward: MemoryObjectSendStream[SessionMessage | Exception],
    outgoing: WriteStream[SessionMessage],
    gone: Callable[[], None],
) -> None:
    """Pass messages on, and answer those that could not be read; `gone` is told when no more will come."""
    try:
        async with onward:
            async for item in incoming:
                if isinstance(item, SessionMessage):
                    await onward.send(item)
                    continue
                answers = refusals(item)
                if not answers:
                    _log.warning("A line that is no message was passed over.")
                for answer in answers:
                    await outgoing.send(SessionMessage(answer))
    finally:
        gone()


def refusals(error: Exception) -> list[types.JSONRPCError]:
    """The answers to a line that could not be read; none where nobody waits for one."""
    if not isinstance(error, ValidationError):
        return []
    first = error.errors()[0]
    try:
        said = json.loads(first["input"]) if isinstance(first["input"], str) else first["input"]
    except (ValueError, RecursionError):
        return []
    if isinstance(said, list):
        why = "Several messages in one are not taken; send each on a line of its own. Nothing was done."
        return [_refusal(id_, types.INVALID_REQUEST, why) for id_ in filter(_is_id, map(_asked, said))]
    why = f"The message cannot be read: {first['msg']}. Nothing was done."
    return [_refusal(id_, types.PARSE_ERROR, why) for id_ in filter(_is_id, [_asked(said)])]


def _asked(message: object) -> Any:
    """The id of a request; None for what is none."""
    return message.get("id") if isinstance(message, dict) and "method" in message else None


def _is_id(shown: object) -> bool:
    return isinstance(shown, int | str) and not isinstance(shown, bool)


def _refusal(id_: int | str, code: int, why: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=id_, error=types.ErrorData(code=code, message=why))
