"""Server-sent events: how far long work is, and then its result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio

from recollect.serve.calls import GrowingProgress
from recollect.serve.http.problems import ProblemDetails, json_bytes

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.types import Receive, Scope, Send

    from recollect.ports import Progress

EVENT_STREAM = "text/event-stream"
_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    # A proxy that waits for the end would make progress useless.
    (b"x-accel-buffering", b"no"),
]


class EventStream:
    """An answer in events: `progress` ({done, total}) as often as there is any, then `result` or `problem`.

    What fails before there was progress is answered with the problem alone, and its status.
    """

    def __init__(self, work: Callable[[Progress], Awaitable[Any]], *, stops: bool) -> None:
        """`work` answers with the result or a ProblemDetails; with `stops`, it ends when its client goes."""
        self._work = work
        self._stops = stops
        self._is_open = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._send = send
        done: Any = None
        async with anyio.create_task_group() as group:
            group.start_soon(cancel_when_gone, receive, group.cancel_scope)
            done = await self._work(GrowingProgress(self._tell, stops=self._stops))
            group.cancel_scope.cancel()
        if done is None:  # the client has gone
            return
        if isinstance(done, ProblemDetails):
            if not self._is_open:
                await done.response()(scope, receive, send)
                return
            await self._event("problem", done.fields())
        else:
            await self._event("result", done)
        await send({"type": "http.response.body", "body": b""})

    async def _tell(self, done: int, total: int | None) -> None:
        await self._event("progress", {"done": done, "total": total})

    async def _event(self, name: str, data: object) -> None:
        if not self._is_open:
            self._is_open = True
            await self._send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        body = b"event: %b\ndata: %b\n\n" % (name.encode(), json_bytes(data))
        await self._send({"type": "http.response.body", "body": body, "more_body": True})


async def cancel_when_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    """Cancel what is in the scope when the client closes the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
