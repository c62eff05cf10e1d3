"""Serving over streamable HTTP, for several clients at once."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse

from recollect.errors import InvalidInput
from recollect.serve.http.access_policy import (
    LARGEST_REQUEST,
    PATH,
    AccessPolicy,
    Refusal,
    library_refusal,
    refusal,
)
from recollect.serve.mcp.server import MemoryServer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping, Sequence

    from recollect.engine.engine import Engine
    from recollect.serve.lazy_engine import LazyEngine

    Scope = MutableMapping[str, Any]
    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]


def serve_http(
    memory: LazyEngine, names: Sequence[str], policy: AccessPolicy, opened: Callable[[int], None]
) -> None:
    """Serve these operations until interrupted. `opened` gets the port, once clients may connect."""
    if policy.token is None and policy.is_open_to_others:
        raise InvalidInput(
            f"Without a token, anyone who reaches {policy.host} could read and change the memory; "
            "set a token, or listen on 127.0.0.1."
        )
    config = uvicorn.Config(app(memory.engine, names, policy), log_level="warning", server_header=False)
    with _listening(policy) as place:
        warming = memory.warm()
        opened(place.getsockname()[1])
        try:
            _Server(config, memory.stop).run(sockets=[place])
        finally:
            # A model that is still being loaded would be torn down half made.
            warming.join()


class _Server(uvicorn.Server):
    """Calls `stop` when it is about to end: a write that embeds a thousand texts need not delay it."""

    def __init__(self, config: uvicorn.Config, stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._stop = stop

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stop()
        await super().shutdown(sockets)


def _listening(policy: AccessPolicy) -> socket.socket:
    family = socket.AF_INET6 if ":" in policy.host else socket.AF_INET
    try:
        return socket.create_server((policy.host, policy.port), family=family)
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (while")[0]  # Python repeats the address
        raise InvalidInput(
            f"Cannot listen on port {policy.port} of {policy.host}: {reason}; "
            "name another with --port, or another --host."
        ) from error


def app(engine: Callable[[], Engine], names: Sequence[str], policy: AccessPolicy) -> App:
    """The ASGI application: the protocol behind the access policy."""
    inner = (
        MemoryServer(engine, names)
        .server()
        .streamable_http_app(
            streamable_http_path=PATH,
            max_request_body_size=LARGEST_REQUEST,
            # The access policy checks hosts and origins, and says what to do about them.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            host=policy.host,
        )
    )
    return guarded(inner, policy)


def guarded(inner: App, policy: AccessPolicy) -> App:
    """Pass on what the policy allows; every refusal, also one of the library, says why in JSON."""

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await inner(scope, receive, send)
            return
        why = refusal(policy, scope["method"], scope["path"], dict(scope["headers"]))
        if why is None:
            await _answered(inner, scope, receive, send)
        else:
            await _refuse(why, scope, receive, send)

    return guard


async def _answered(inner: App, scope: Scope, receive: Receive, send: Send) -> None:
    """Send refusals of the library, which are plain text, in our words.

    Also close a stream that the library leaves open when the server ends, for its reader to see.
    """
    is_open = False
    bare: int | None = None

    async def watched(message: Message) -> None:
        nonlocal is_open, bare
        if message["type"] == "http.response.start" and _is_bare(message):
            bare = message["status"]
        elif bare is None:
            is_open = message["type"] == "http.response.start" or bool(message.get("more_body"))
            await send(message)
        elif not message.get("more_body"):  # the library says such things in one piece
            text = message.get("body", b"").decode("utf-8", "replace")
            await _refuse(library_refusal(bare, text), scope, receive, send)

    await inner(scope, receive, watched)
    if is_open:
        await send({"type": "http.response.body", "body": b""})


def _is_bare(message: Message) -> bool:
    kind = dict(message["headers"]).get(b"content-type", b"")
    return message["status"] >= 400 and not kind.startswith(b"application/json")


async def _refuse(why: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    said = {"error": why.error, "message": why.message}
    await JSONResponse(said, why.status, why.headers)(scope, receive, send)
