"""Serving over streamable HTTP: several clients at once, on this machine unless told so, with a token."""

from __future__ import annotations

import hmac
import json
import os
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from recollect.errors import InvalidInput
from recollect.serve.mcp import Serving

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping, Sequence

    from recollect.engine.engine import Engine
    from recollect.serve.opening import Opening
    from recollect.serve.tool import Tool

    Scope = MutableMapping[str, Any]
    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]

PATH = "/mcp"
LARGEST_REQUEST = 4 * 1024 * 1024
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Door:
    """Where to listen, and who may come in."""

    host: str
    port: int
    token: str | None
    """None: anyone who can reach the port."""


def serve_http(memory: Opening, tools: Sequence[Tool], door: Door, opened: Callable[[int], None]) -> None:
    """Serve until interrupted. `opened` is told the port, once clients may come."""
    if door.token is None and door.host not in _LOOPBACK:
        raise InvalidInput(
            f"Without a token, anyone who reaches {door.host} could read and change the memory; "
            "set a token, or listen on 127.0.0.1."
        )
    config = uvicorn.Config(app(memory.engine, tools, door), log_level="warning", server_header=False)
    with _listening(door) as place:
        memory.warm()
        opened(place.getsockname()[1])
        uvicorn.Server(config).run(sockets=[place])


def _listening(door: Door) -> socket.socket:
    family = socket.AF_INET6 if ":" in door.host else socket.AF_INET
    try:
        return socket.create_server((door.host, door.port), family=family)
    except OSError as error:
        raise InvalidInput(
            f"Cannot listen on port {door.port} of {door.host}: {os.strerror(error.errno or 0)}; "
            "name another with --port, or another --host."
        ) from error


def app(engine: Callable[[], Engine], tools: Sequence[Tool], door: Door) -> App:
    """The ASGI application: the protocol behind the token."""
    hosts = [f"{host}:*" for host in dict.fromkeys((*_LOOPBACK[:2], "[::1]", door.host))]
    inner = (
        Serving(engine, tools)
        .server()
        .streamable_http_app(
            streamable_http_path=PATH,
            max_request_body_size=LARGEST_REQUEST,
            transport_security=TransportSecuritySettings(
                enable_dns_rebinding_protection=True,
                allowed_hosts=hosts,
                allowed_origins=[f"http://{host}" for host in hosts],
            ),
            host=door.host,
        )
    )
    return inner if door.token is None else guarded(inner, door.token)


def guarded(inner: App, token: str) -> App:
    """Only who shows the token comes in."""
    wanted = token.encode()

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scheme, _, shown = dict(scope["headers"]).get(b"authorization", b"").partition(b" ")
            if scheme.lower() != b"bearer" or not hmac.compare_digest(shown.strip(), wanted):
                await _refuse(send)
                return
        await inner(scope, receive, send)

    return guard


async def _refuse(send: Send) -> None:
    body = json.dumps(
        {
            "error": "unauthorized",
            "message": "Send the header `Authorization: Bearer TOKEN`; `recollect serve --http` prints "
            "the token when it starts.",
        }
    ).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"www-authenticate", b'Bearer realm="recollect"'),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": body})
