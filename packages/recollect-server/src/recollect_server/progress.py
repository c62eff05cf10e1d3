"""Server-sent events with the progress of long work, for the API and for forms."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar, cast

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from recollect import Engine
from recollect.domain.errors import RecollectError
from recollect.mcp.server import GrowingProgress
from recollect.stores.port import Progress
from recollect_server.problems import UNEXPECTED, ProblemDetails, json_bytes, problem_of
from recollect_server.runner import Right
from recollect_server.web.templating import Screen

EVENT_STREAM = "text/event-stream"
_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    # A buffering proxy would hold back progress until the end.
    (b"x-accel-buffering", b"no"),
]


class EventStream:
    """A response in events: `progress` ({done, total}) repeatedly, then `result` or `problem`.

    A failure before the first event is answered with a plain problem and its status.
    """

    def __init__(self, work: Callable[[Progress], Awaitable[Any]], *, stops: bool) -> None:
        """`work` returns the result or a ProblemDetails. With `stops`, it ends if the client disconnects."""
        self._work = work
        self._stops = stops
        self._is_open = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._send = send
        done: Any = None
        async with anyio.create_task_group() as group:
            group.start_soon(cancel_on_disconnect, receive, group.cancel_scope)
            done = await self._work(GrowingProgress(self._send_progress, stops=self._stops))
            group.cancel_scope.cancel()
        if done is None:  # the client has disconnected
            return
        if isinstance(done, ProblemDetails):
            if not self._is_open:
                await done.response()(scope, receive, send)
                return
            await self._send_event("problem", done.fields())
        else:
            await self._send_event("result", done)
        await send({"type": "http.response.body", "body": b""})

    async def _send_progress(self, done: int, total: int | None) -> None:
        await self._send_event("progress", {"done": done, "total": total})

    async def _send_event(self, name: str, data: object) -> None:
        if not self._is_open:
            self._is_open = True
            await self._send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        body = b"event: %b\ndata: %b\n\n" % (name.encode(), json_bytes(data))
        await self._send({"type": "http.response.body", "body": body, "more_body": True})


async def cancel_on_disconnect(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


# The progress of a form's work

_log = logging.getLogger(__name__)
_Result = TypeVar("_Result")


async def with_progress(
    screen: Screen, work: Callable[[Engine, Progress], str], *, right: Right = Right.READ
) -> Response:
    """Do the work and redirect to the path that it returns."""

    async def redirect(path: str) -> Response:
        return screen.redirect(path)

    return await with_progress_to(screen, work, redirect, right=right)


async def with_progress_to(
    screen: Screen,
    work: Callable[[Engine, Progress], _Result],
    show: Callable[[_Result], Awaitable[Response]],
    *,
    right: Right,
) -> Response:
    """Do the work, and show its result on a page or by a redirect.

    A script that accepts events gets `progress` events, then a `result` with the `href` to open or the
    `page` to show. Work that needs only the right to read ends when the client disconnects.
    """

    async def do_work(progress: Progress) -> Response:
        return await show(await screen.run(lambda memory: work(memory, progress), right=right, reads=False))

    if EVENT_STREAM not in screen.request.headers.get("accept", ""):
        return await do_work(lambda *_: None)

    async def outcome(progress: Progress) -> Mapping[str, Any] | ProblemDetails:
        try:
            answer = await do_work(progress)
        except RecollectError as error:
            return problem_of(error)
        except Exception:  # noqa: BLE001  # the client gets an answer in any case
            _log.exception("%s failed", screen.request.url.path)
            return UNEXPECTED
        if "location" in answer.headers:
            return {"href": answer.headers["location"]}
        return {"page": bytes(answer.body).decode()}

    # Starlette calls the returned value as an ASGI application.
    return cast("Response", EventStream(outcome, stops=right is Right.READ))
