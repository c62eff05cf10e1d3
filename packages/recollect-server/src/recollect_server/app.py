"""Serving over streamable HTTP, for several clients at once."""

from __future__ import annotations

import logging
import socket
import ssl
from collections.abc import Callable, Sequence

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from recollect import Engine
from recollect.domain.errors import InvalidInput
from recollect.mcp.server import Calls, MemoryServer
from recollect.mcp.stdio import LazyEngine
from recollect_server.access_policy import PATH, SHORTEST_TOKEN, AccessPolicy
from recollect_server.api.routes import api_routes
from recollect_server.authentication import Authenticator, BrowserSessions, TokenGuesses, TokenRegistry
from recollect_server.connections import TLS_LOOP, LimitedConnection
from recollect_server.mcp_endpoint import McpEndpoint, library_app
from recollect_server.mem0.routes import mem0_routes
from recollect_server.metrics import Metrics
from recollect_server.middleware import protect
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
    """Serve these operations until interrupted. `opened` gets the port, once clients may connect."""
    if policy.token is None and policy.is_open_to_others:
        raise InvalidInput(
            f"Without a token, anyone who reaches {policy.host} could read and change the memory; "
            "set a token, or listen on 127.0.0.1."
        )
    if policy.has_weak_token:
        raise InvalidInput(
            f"On {policy.host} others can guess the token, so it needs at least {SHORTEST_TOKEN} characters; "
            "set a longer one, leave it out, and one is made and kept, or listen on 127.0.0.1."
        )
    refusals = RefusalLog()
    authenticator = Authenticator(policy, TokenRegistry(memory.engine), sessions)
    config = uvicorn.Config(
        app(memory.engine, names, policy, refusals, authenticator),
        http=LimitedConnection,
        ws="none",
        # Addresses are those of the connections, not what a header says.
        proxy_headers=False,
        log_level="warning",
        server_header=False,
        loop="auto" if tls is None else TLS_LOOP,
        ssl_context_factory=None if tls is None else lambda _config, _usual: tls,
    )
    logging.getLogger("uvicorn.error").addFilter(OncePerKind(refusals))
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


def app(
    engine: Callable[[], Engine],
    names: Sequence[str],
    policy: AccessPolicy,
    refusals: RefusalLog | None = None,
    authenticator: Authenticator | None = None,
) -> Starlette:
    """The ASGI application: MCP, the API, mem0's routes and the dashboard, behind the middlewares."""
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
