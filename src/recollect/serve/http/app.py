"""Serving over streamable HTTP, for several clients at once."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import socket
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from recollect.errors import InvalidInput, RecollectError
from recollect.serve.calls import Calls
from recollect.serve.http.access_policy import (
    BODY_SECONDS,
    FOREIGN_PAGE,
    LARGEST_REQUEST,
    NO_CSRF,
    NO_HANDSHAKE,
    PATH,
    SAFE_METHODS,
    SHORTEST_TOKEN,
    TOO_LARGE,
    TOO_SLOW,
    AccessPolicy,
    Refusal,
    is_api,
    is_mcp,
    is_same_origin,
    library_refusal,
    refusal,
    stranger_refusal,
)
from recollect.serve.http.api.routes import api_routes
from recollect.serve.http.authentication import IDENTITY, OPEN, Authenticator, Identity, TokenRegistry
from recollect.serve.http.browser_sessions import BrowserSessions
from recollect.serve.http.caller import CALLER, Forbidden
from recollect.serve.http.connections import CONNECTION, LimitedConnection
from recollect.serve.http.face import Face
from recollect.serve.http.mem0.credentials import is_mem0, with_bearer
from recollect.serve.http.mem0.routes import mem0_routes
from recollect.serve.http.metrics import Metrics
from recollect.serve.http.problems import refusal_response
from recollect.serve.http.refusal_log import OncePerKind, RefusalLog
from recollect.serve.http.sign_in import CSRF, SIGN_IN, SignIn
from recollect.serve.http.tls import TLS_LOOP
from recollect.serve.http.token_guesses import TokenGuesses
from recollect.serve.mcp.server import MemoryServer
from recollect.serve.web.routes import web_routes

if TYPE_CHECKING:
    import ssl
    from collections.abc import Awaitable, Callable, MutableMapping, Sequence

    from recollect.engine.engine import Engine
    from recollect.serve.lazy_engine import LazyEngine

    Scope = MutableMapping[str, Any]
    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]

_MOST_SESSIONS = 1_000
_SESSION_IDLE_SECONDS = 30 * 60.0
# The header that names a session.
_SESSION = b"mcp-session-id"


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
) -> App:
    """The ASGI application: MCP, the API and the dashboard behind the access policy."""
    calls, metrics = Calls(), Metrics()
    refusals, guesses = refusals or RefusalLog(), TokenGuesses()
    authenticator = authenticator or Authenticator(policy, TokenRegistry(engine))
    inner = (
        MemoryServer(engine, names, calls, metrics.timed)
        .server()
        .streamable_http_app(
            streamable_http_path=PATH,
            max_request_body_size=LARGEST_REQUEST,
            session_idle_timeout=_SESSION_IDLE_SECONDS,
            max_sessions=_MOST_SESSIONS,
            # The access policy checks hosts and origins, and says what to do about them.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            host=policy.host,
        )
    )
    face = Face(engine, calls, policy, metrics)
    signing_in = SignIn(authenticator, guesses, face)
    faces = Starlette(
        routes=[*signing_in.routes(), *api_routes(face), *mem0_routes(face), *web_routes(face)],
        exception_handlers={Forbidden: _forbidden},
    )
    return Guard(inner, faces, policy, refusals, guesses, authenticator=authenticator)


async def _forbidden(request: Request, error: Exception) -> JSONResponse:  # noqa: ARG001  # as Starlette calls it
    return JSONResponse({"error": "forbidden", "message": str(error)}, 403)


class Guard:
    """Passes on what the policy allows, once it is all there; every refusal, also one of the library, says
    why in JSON.
    """

    def __init__(
        self,
        inner: App,
        faces: App,
        policy: AccessPolicy,
        refusals: RefusalLog,
        guesses: TokenGuesses | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        authenticator: Authenticator | None = None,
    ) -> None:
        self._inner = inner
        self._faces = faces
        self._policy = policy
        self._refusals = refusals
        self._guesses = guesses or TokenGuesses()
        self._sleep = sleep
        self._authenticator = authenticator or Authenticator(policy)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        headers = with_bearer(scope["path"], dict(scope["headers"]))
        found = await self._checked(scope, headers)
        if isinstance(found, Refusal):
            await self._refuse(found, scope, receive, send)
            return
        if found is not None:
            state = scope.setdefault("state", {})
            state[IDENTITY], state[CALLER] = found, found.caller
            send = self._while_in_force(found, send)
        if found is None or not is_mcp(scope["path"]):
            await self._pass_on(found, scope, headers, receive, send)
            return
        # The library lets a session be used by this user alone.
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=found.credential, scopes=[]))
        if scope["method"] != "POST":
            await self._answered(scope, receive, send)
            return
        body = await _whole_body(headers, receive)
        if body is None:  # the client has gone
            return
        if isinstance(body, Refusal):
            await self._refuse(body, scope, receive, send)
        elif _opens_no_session(headers, body):
            await self._refuse(NO_HANDSHAKE, scope, receive, send)
        elif _SESSION in headers:
            await self._answered_while_wanted(scope, body, receive, send)
        else:
            await self._answered(scope, _replayed(body, receive), send)

    async def _pass_on(
        self,
        found: Identity | None,
        scope: Scope,
        headers: dict[bytes, bytes],
        receive: Receive,
        send: Send,
    ) -> None:
        """To the API or the dashboard, with the body in one piece."""
        session = None if found is None else found.session
        scope.setdefault("state", {})[CSRF] = None if session is None else session.csrf
        body = await _whole_body(headers, receive)
        if body is not None and not isinstance(body, Refusal):
            body = await _forged(found, scope, headers, body) or body
        if isinstance(body, Refusal):
            await self._refuse(body, scope, receive, send)
        elif body is not None:
            await self._faces(scope, _replayed(body, receive), send)

    def _while_in_force(self, found: Identity, send: Send) -> Send:
        """End an answer that goes on, such as a stream of events, once the token behind it is revoked."""
        is_over = False

        async def watched(message: Message) -> None:
            nonlocal is_over
            if is_over:
                return
            if message.get("more_body") and await self._is_revoked(found):
                is_over = True
                message = {"type": "http.response.body", "body": b""}
            await send(message)

        return watched

    async def _is_revoked(self, found: Identity) -> bool:
        try:
            return await self._authenticator.of_credential(found.credential) is None
        except RecollectError:  # nobody can tell, and whoever asks for something new is told
            return False

    async def _answered_while_wanted(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Cancel what a session asked for when its client goes, since nobody can fetch the answer later.

        Newer revisions of the protocol have no sessions, and the library does the same for them.
        """
        has_gone = False

        async def watched() -> Message:
            nonlocal has_gone
            message = await receive()
            has_gone = message["type"] == "http.disconnect"
            return message

        is_answered = await self._answered(scope, _replayed(body, watched), send)
        cancellation = None if is_answered or not has_gone else _cancellation(body)
        if cancellation is not None:
            headers = [
                *(each for each in scope["headers"] if each[0] != b"content-length"),
                (b"content-length", str(len(cancellation)).encode()),
            ]
            await self._inner({**scope, "headers": headers}, _replayed(cancellation, _nobody), _unheard)

    async def _checked(self, scope: Scope, headers: dict[bytes, bytes]) -> Identity | Refusal | None:
        """Who sent it; None where nobody knows, and it asks for what everybody may see."""
        method, path = scope["method"], scope["path"]
        connection = scope.get("state", {}).get(CONNECTION)
        address = (scope.get("client") or ("",))[0]
        if connection is None or not connection.was_admitted or path == SIGN_IN:
            seconds = self._guesses.delay_seconds(address)
            if seconds:
                await self._sleep(seconds)
        why = refusal(self._policy, method, path, headers)
        if why is not None:
            return why
        try:
            found = await self._authenticator.of_request(scope, headers, cookies=not is_mcp(path))
        except RecollectError as error:
            return Refusal(503, "store_unavailable", str(error), {"retry-after": "5"})
        if found is not None:
            if connection is not None:
                connection.was_admitted = True
            return found
        # Who shows none does not guess.
        if headers.get(b"authorization"):
            self._guesses.add(address)
        query = scope.get("query_string", b"").decode("latin-1")
        return stranger_refusal(method, path, query, headers)

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> bool:
        """Whether the answer came to its end.

        Send refusals of the library, which are plain text, in our words.

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
                await self._refuse(library_refusal(bare, text), scope, receive, send)

        await self._inner(scope, receive, watched)
        if is_open:
            await send({"type": "http.response.body", "body": b""})
        return not is_open

    async def _refuse(self, why: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
        if why.status >= 400:
            self._refusals.add(why.error)
        if is_api(scope["path"]):
            await refusal_response(why)(scope, receive, send)
            return
        said = {"error": why.error, "message": why.message}
        if is_mem0(scope["path"]):  # where its clients look for it
            said["detail"] = why.message
        await JSONResponse(said, why.status, why.headers)(scope, receive, send)


async def _whole_body(headers: dict[bytes, bytes], receive: Receive) -> bytes | Refusal | None:
    """What a request holds; None where its client goes before it is all there."""
    declared = headers.get(b"content-length", b"")
    if declared.isdigit() and int(declared) > LARGEST_REQUEST:
        return TOO_LARGE
    body = bytearray()
    with anyio.move_on_after(BODY_SECONDS):
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            if len(body) > LARGEST_REQUEST:
                return TOO_LARGE
            if not message.get("more_body"):
                return bytes(body)
    return TOO_SLOW


async def _forged(
    found: Identity | None, scope: Scope, headers: dict[bytes, bytes], body: bytes
) -> Refusal | None:
    """Why this may be the doing of a page of another site, which makes a browser use what it has.

    A browser shows a cookie, and where it stands shows that it is on this machine, by itself; a token only
    where a program of its own sends it.
    """
    by_itself = found is None or found.session is not None or found.credential == OPEN
    if scope["method"] in SAFE_METHODS or not by_itself:
        return None
    is_ours = is_same_origin(headers)
    if found is None or found.session is None or scope["path"] == SIGN_IN:
        return FOREIGN_PAGE if is_ours is False else None
    if not is_ours:
        return FOREIGN_PAGE
    shown = headers.get(b"x-csrf-token", b"").decode("latin-1") or await _csrf_field(scope, headers, body)
    return None if hmac.compare_digest(shown.encode(), found.session.csrf.encode()) else NO_CSRF


async def _csrf_field(scope: Scope, headers: dict[bytes, bytes], body: bytes) -> str:
    """What a form has as `csrf`; empty for what is no form."""
    kind = headers.get(b"content-type", b"").lower()
    if not kind.startswith((b"application/x-www-form-urlencoded", b"multipart/form-data")):
        return ""
    try:
        # A state of its own: the form is not to be kept for who handles the request.
        async with Request({**scope}, _replayed(body, _nobody)).form() as form:
            given = form.get(CSRF)
            return given if isinstance(given, str) else ""
    except HTTPException:  # the handler says what is wrong with it
        return ""


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body in one piece, and then whatever else comes."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


async def _nobody() -> Message:
    return {"type": "http.disconnect"}


async def _unheard(message: Message) -> None:
    """What answers a message that we sent ourselves."""


def _cancellation(body: bytes) -> bytes | None:
    """The message that takes back this request; None for what is none."""
    message = json.loads(body)  # the library has read it before
    if not isinstance(message, dict) or "method" not in message or "id" not in message:
        return None
    params = {"requestId": message["id"], "reason": "The client closed the connection."}
    return json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).encode()


def _opens_no_session(headers: dict[bytes, bytes], body: bytes) -> bool:
    """Whether it asks for a session and could never use it; the library would open one all the same."""
    if _SESSION in headers or b'"initialize"' not in body:
        return False
    try:
        message = json.loads(body)
        if not isinstance(message, dict) or message.get("method") != "initialize":
            return False
        types.InitializeRequestParams.model_validate(message.get("params"))
    except ValidationError:
        return True
    except (ValueError, RecursionError):  # the library says what is wrong with it
        return False
    return False


def _is_bare(message: Message) -> bool:
    kind = dict(message["headers"]).get(b"content-type", b"")
    return message["status"] >= 400 and not kind.startswith(b"application/json")
