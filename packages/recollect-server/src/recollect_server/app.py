"""The HTTP application with all its routes, and the MCP endpoint."""

from __future__ import annotations

import json
import logging
import socket
import ssl
from collections.abc import Callable, Sequence

import mcp_types as types
import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from recollect import Engine
from recollect.domain.errors import InvalidInput
from recollect.mcp.server import Calls, MemoryServer
from recollect.mcp.stdio import LazyEngine
from recollect_server.access_policy import (
    LARGEST_REQUEST,
    NO_HANDSHAKE,
    PATH,
    SHORTEST_TOKEN,
    AccessPolicy,
    Refused,
    library_refusal,
)
from recollect_server.api.routes import api_routes
from recollect_server.authentication import (
    IDENTITY,
    Authenticator,
    BrowserSessions,
    TokenGuesses,
    TokenRegistry,
)
from recollect_server.connections import TLS_LOOP, LimitedConnection
from recollect_server.mem0.routes import mem0_routes
from recollect_server.metrics import Metrics
from recollect_server.middleware import client_gone, protect, replay_body
from recollect_server.problems import OncePerKind, RefusalLog
from recollect_server.runner import Forbidden, MemoryRunner
from recollect_server.sign_in import SignIn
from recollect_server.web.routes import web_routes


def serve_http(
    memory: LazyEngine,
    names: Sequence[str],
    policy: AccessPolicy,
    opened: Callable[[int], None],
    *,
    tls: ssl.SSLContext | None = None,
    sessions: BrowserSessions | None = None,
) -> None:
    """Serve these operations until interrupted. Call `opened` with the port once clients can connect."""
    if policy.token is None and policy.is_open_to_others:
        raise InvalidInput(
            f"Without a token, anyone who reaches {policy.host} could read and change the memory; "
            "set a token, or listen on 127.0.0.1."
        )
    if policy.has_weak_token:
        raise InvalidInput(
            f"On {policy.host}, others could guess such a short token. Set one of at least {SHORTEST_TOKEN} "
            "characters, set none to have one generated, or listen on 127.0.0.1."
        )
    refusals = RefusalLog()
    authenticator = Authenticator(policy, TokenRegistry(memory.engine), sessions)
    config = uvicorn.Config(
        app(memory.engine, names, policy, refusals, authenticator),
        http=LimitedConnection,
        ws="none",
        # Take client addresses from the connection: headers can be forged.
        proxy_headers=False,
        log_level="warning",
        server_header=False,
        loop="auto" if tls is None else TLS_LOOP,
        ssl_context_factory=None if tls is None else lambda _config, _usual: tls,
    )
    logging.getLogger("uvicorn.error").addFilter(OncePerKind(refusals))
    with _open_socket(policy) as listener:
        warm_up = memory.warm()
        opened(listener.getsockname()[1])
        try:
            _Server(config, memory.stop).run(sockets=[listener])
        finally:
            # Wait for a model that is still loading.
            warm_up.join()


class _Server(uvicorn.Server):
    """A server that calls `stop` before it ends, so that long embedding work does not delay it."""

    def __init__(self, config: uvicorn.Config, stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._stop = stop

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stop()
        await super().shutdown(sockets)


def _open_socket(policy: AccessPolicy) -> socket.socket:
    family = socket.AF_INET6 if ":" in policy.host else socket.AF_INET
    try:
        return socket.create_server((policy.host, policy.port), family=family)
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (while")[0]  # Python repeats the address
        raise InvalidInput(
            f"Cannot listen on port {policy.port} of {policy.host}: {reason}; "
            "choose another --port or --host."
        ) from error


def app(
    engine: Callable[[], Engine],
    names: Sequence[str],
    policy: AccessPolicy,
    refusals: RefusalLog | None = None,
    authenticator: Authenticator | None = None,
) -> Starlette:
    """Build the ASGI application: MCP, REST API, mem0's routes and the dashboard, behind the middlewares."""
    calls, metrics, guesses = Calls(), Metrics(), TokenGuesses()
    authenticator = authenticator or Authenticator(policy, TokenRegistry(engine))
    runner = MemoryRunner(engine, calls, policy, metrics)
    library = library_app(MemoryServer(engine, names, calls, metrics.timed), policy.host)
    return Starlette(
        routes=[
            *(Route(path, McpEndpoint(library)) for path in (PATH, f"{PATH}/")),
            *SignIn(authenticator, guesses, runner).routes(),
            *api_routes(runner),
            *mem0_routes(runner),
            *web_routes(runner),
        ],
        middleware=protect(policy, authenticator, refusals or RefusalLog(), guesses),
        exception_handlers={Forbidden: _forbidden_response},
        lifespan=library.router.lifespan_context,
    )


async def _forbidden_response(_: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": "forbidden", "message": str(error)}, 403)


# The MCP endpoint of the library, with our refusals and cancellation

_MAX_SESSIONS = 1_000
_SESSION_IDLE_SECONDS = 30 * 60.0
_SESSION_HEADER = b"mcp-session-id"


def library_app(server: MemoryServer, host: str) -> Starlette:
    return server.server().streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=LARGEST_REQUEST,
        session_idle_timeout=_SESSION_IDLE_SECONDS,
        max_sessions=_MAX_SESSIONS,
        # `HostMiddleware` checks hosts and origins, with better messages.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        host=host,
    )


class McpEndpoint:
    """The MCP endpoint of the library. The middlewares have read the body and identified the sender."""

    def __init__(self, library: Starlette) -> None:
        self._library = library

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The library binds a session to this user.
        credential = scope["state"][IDENTITY].credential
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=credential, scopes=[]))
        if scope["method"] != "POST":
            await self._answer(scope, receive, send)
            return
        body = (await receive())["body"]
        headers = dict(scope["headers"])
        if _is_invalid_initialize(headers, body):
            raise Refused(NO_HANDSHAKE)
        if _SESSION_HEADER in headers:
            await self._answer_or_cancel(scope, body, receive, send)
        else:
            await self._answer(scope, replay_body(body, receive), send)

    async def _answer_or_cancel(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Cancel a session's request when its client disconnects: no later request can fetch the answer.

        For newer revisions of the protocol, which have no sessions, the library does this itself.
        """
        has_gone = False

        async def receive_until_gone() -> Message:
            nonlocal has_gone
            message = await receive()
            has_gone = message["type"] == "http.disconnect"
            return message

        is_answered = await self._answer(scope, replay_body(body, receive_until_gone), send)
        cancellation = None if is_answered or not has_gone else _cancellation(body)
        if cancellation is not None:
            headers = [
                *(each for each in scope["headers"] if each[0] != b"content-length"),
                (b"content-length", str(len(cancellation)).encode()),
            ]
            cancelled = {**scope, "headers": headers}
            await self._library(cancelled, replay_body(cancellation, client_gone), _drop_message)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> bool:
        """Let the library answer, and return whether the answer is complete.

        Plain-text refusals of the library are replaced by ours. A stream that the library leaves open at
        shutdown is closed.
        """
        is_open = False
        status: int | None = None
        refused: Refused | None = None

        async def replace_refusals(message: Message) -> None:
            nonlocal is_open, status, refused
            if message["type"] == "http.response.start" and _is_plain_refusal(message):
                status = message["status"]
            elif status is None:
                is_open = message["type"] == "http.response.start" or bool(message.get("more_body"))
                await send(message)
            elif not message.get("more_body"):  # a plain refusal has one piece
                refused = Refused(
                    library_refusal(status, message.get("body", b"").decode("utf-8", "replace"))
                )

        await self._library(scope, receive, replace_refusals)
        if refused is not None:
            raise refused
        if is_open:
            await send({"type": "http.response.body", "body": b""})
        return not is_open


async def _drop_message(message: Message) -> None:
    """Ignore the response to a message that the server sent to itself."""


def _cancellation(body: bytes) -> bytes | None:
    """Return the message that cancels this request; None if the body is not a request."""
    message = json.loads(body)  # the library has parsed it, so it is valid
    if not isinstance(message, dict) or "method" not in message or "id" not in message:
        return None
    params = {"requestId": message["id"], "reason": "The client closed the connection."}
    return json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).encode()


def _is_invalid_initialize(headers: dict[bytes, bytes], body: bytes) -> bool:
    """Whether it is an invalid `initialize`, for which the library would still open a session."""
    if _SESSION_HEADER in headers or b'"initialize"' not in body:
        return False
    try:
        message = json.loads(body)
        if not isinstance(message, dict) or message.get("method") != "initialize":
            return False
        types.InitializeRequestParams.model_validate(message.get("params"))
    except ValidationError:
        return True
    except (ValueError, RecursionError):  # the library explains the error
        return False
    return False


def _is_plain_refusal(message: Message) -> bool:
    kind = dict(message["headers"]).get(b"content-type", b"")
    return message["status"] >= 400 and not kind.startswith(b"application/json")
