"""Middlewares for every request, one concern each; `protect` lists them from the outside in."""

from __future__ import annotations

import hmac
from asyncio import sleep

import anyio
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.domain.errors import RecollectError
from recollect.mcp.server import CALLER
from recollect_server.access_policy import (
    BODY_SECONDS,
    FOREIGN_PAGE,
    LARGEST_REQUEST,
    NO_CSRF,
    PATH,
    SAFE_METHODS,
    SIGN_IN,
    TOO_LARGE,
    TOO_SLOW,
    AccessPolicy,
    Refusal,
    Refused,
    anonymous_refusal,
    is_mcp,
    is_same_origin,
    refusal,
    with_bearer,
)
from recollect_server.authentication import ANYONE, CSRF, IDENTITY, Authenticator, Identity, TokenGuesses
from recollect_server.connections import CONNECTION
from recollect_server.problems import RefusalLog, refusal_response
from recollect_server.web.templating import bare_page


def protect(
    policy: AccessPolicy, authenticator: Authenticator, refusals: RefusalLog, guesses: TokenGuesses
) -> list[Middleware]:
    return [
        Middleware(RefusalMiddleware, refusals),
        Middleware(GuessDelayMiddleware, guesses),
        Middleware(HostMiddleware, policy),
        Middleware(AuthenticationMiddleware, authenticator, guesses),
        Middleware(RevocationMiddleware, authenticator),
        Middleware(BodyLimitMiddleware),
        Middleware(CsrfMiddleware),
    ]


class _HttpMiddleware:
    """A middleware that handles only HTTP requests, not the server's start and end."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        handle = self.handle if scope["type"] == "http" else self.app
        await handle(scope, receive, send)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise NotImplementedError


class RefusalMiddleware(_HttpMiddleware):
    """Answers a refused request in JSON, or with a page in a browser, and logs it."""

    def __init__(self, app: ASGIApp, refusals: RefusalLog) -> None:
        super().__init__(app)
        self._refusals = refusals

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self.app(scope, receive, send)
        except Refused as refused:
            why, accept = refused.why, dict(scope["headers"]).get(b"accept", b"")
            if why.status >= 400:
                self._refusals.add(why.error)
            response = refusal_response(why, scope["path"])
            if why.status == 404 and b"text/html" in accept and not scope["path"].startswith(PATH):
                response = bare_page(Request(scope), "not_found.html", status=404, message=why.message)
            await response(scope, receive, send)


class GuessDelayMiddleware(_HttpMiddleware):
    """Delays requests from an address that has sent many wrong tokens."""

    def __init__(self, app: ASGIApp, guesses: TokenGuesses) -> None:
        super().__init__(app)
        self._guesses = guesses

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = scope.get("state", {}).get(CONNECTION)
        if connection is None or not connection.was_admitted or scope["path"] == SIGN_IN:
            seconds = self._guesses.delay_seconds(_address(scope))
            if seconds:
                await sleep(seconds)
        await self.app(scope, receive, send)


class HostMiddleware(_HttpMiddleware):
    """Refuses unknown hosts, origins, paths and methods."""

    def __init__(self, app: ASGIApp, policy: AccessPolicy) -> None:
        super().__init__(app)
        self._policy = policy

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        why = refusal(self._policy, scope["method"], scope["path"], dict(scope["headers"]))
        if why is not None:
            raise Refused(why)
        await self.app(scope, receive, send)


class AuthenticationMiddleware(_HttpMiddleware):
    """Identifies the sender of a request. Unknown senders get only public paths."""

    def __init__(self, app: ASGIApp, authenticator: Authenticator, guesses: TokenGuesses) -> None:
        super().__init__(app)
        self._authenticator = authenticator
        self._guesses = guesses

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, headers = scope["path"], with_bearer(scope["path"], dict(scope["headers"]))
        try:
            found = await self._authenticator.of_request(scope, headers, cookies=not is_mcp(path))
        except RecollectError as error:
            raise Refused(Refusal(503, "store_unavailable", str(error), {"retry-after": "5"})) from error
        state = scope.setdefault("state", {})
        if found is None:
            # A request without a token is not a guess.
            if headers.get(b"authorization"):
                self._guesses.add(_address(scope))
            query = scope.get("query_string", b"").decode("latin-1")
            why = anonymous_refusal(scope["method"], path, query, headers)
            if why is not None:
                raise Refused(why)
        else:
            if CONNECTION in state:
                state[CONNECTION].was_admitted = True
            state[IDENTITY], state[CALLER] = found, found.caller
        state[CSRF] = None if found is None or found.session is None else found.session.csrf
        await self.app(scope, receive, send)


class RevocationMiddleware(_HttpMiddleware):
    """Ends a running response, such as an event stream, once its token is revoked."""

    def __init__(self, app: ASGIApp, authenticator: Authenticator) -> None:
        super().__init__(app)
        self._authenticator = authenticator

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        found: Identity | None = scope["state"].get(IDENTITY)
        is_over = False

        async def send_while_valid(message: Message) -> None:
            nonlocal is_over
            if is_over:
                return
            if found is not None and message.get("more_body") and await self._is_revoked(found):
                is_over = True
                message = {"type": "http.response.body", "body": b""}
            await send(message)

        await self.app(scope, receive, send_while_valid)

    async def _is_revoked(self, found: Identity) -> bool:
        try:
            return await self._authenticator.identify_credential(found.credential) is None
        except RecollectError:  # the store is unavailable; the next request is refused
            return False


class BodyLimitMiddleware(_HttpMiddleware):
    """Reads the whole body within the limits of size and time before passing a request on."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        declared = dict(scope["headers"]).get(b"content-length", b"")
        if declared.isdigit() and int(declared) > LARGEST_REQUEST:
            raise Refused(TOO_LARGE)
        body = bytearray()
        with anyio.move_on_after(BODY_SECONDS) as deadline:
            more = True
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return
                body += message.get("body", b"")
                if len(body) > LARGEST_REQUEST:
                    raise Refused(TOO_LARGE)
                more = message.get("more_body", False)
        if deadline.cancelled_caught:
            raise Refused(TOO_SLOW)
        await self.app(scope, replay_body(bytes(body), receive), send)


class CsrfMiddleware(_HttpMiddleware):
    """Refuses changes that another site's page may have sent through the user's browser.

    Browsers send cookies with every request, and a server without a token accepts any local request. A
    request with a token needs no check: no other site knows the token. MCP accepts no cookies.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        found: Identity | None = scope["state"].get(IDENTITY)
        needs_check = found is None or found.session is not None or found.credential == ANYONE
        if scope["method"] not in SAFE_METHODS and needs_check and not is_mcp(scope["path"]):
            headers = dict(scope["headers"])
            is_ours = is_same_origin(headers)
            has_session = found is not None and found.session is not None and scope["path"] != SIGN_IN
            if is_ours is False or (has_session and not is_ours):
                raise Refused(FOREIGN_PAGE)
            if found is not None and found.session is not None and has_session:
                # `BodyLimitMiddleware` delivers the body in one piece.
                body = (await receive())["body"]
                csrf = headers.get(b"x-csrf-token", b"").decode("latin-1")
                csrf = csrf or await _csrf_field(scope, headers, body)
                if not hmac.compare_digest(csrf.encode(), found.session.csrf.encode()):
                    raise Refused(NO_CSRF)
                receive = replay_body(body, receive)
        await self.app(scope, receive, send)


async def _csrf_field(scope: Scope, headers: dict[bytes, bytes], body: bytes) -> str:
    kind = headers.get(b"content-type", b"").lower()
    if not kind.startswith((b"application/x-www-form-urlencoded", b"multipart/form-data")):
        return ""
    try:
        # Copy the scope, so that the handler does not get the parsed form.
        async with Request({**scope}, replay_body(body, client_gone)).form() as form:
            given = form.get(CSRF)
            return given if isinstance(given, str) else ""
    except HTTPException:  # the handler reports the error
        return ""


def _address(scope: Scope) -> str:
    return str((scope.get("client") or ("",))[0])


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a receiver that delivers the body, then further messages."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


async def client_gone() -> Message:
    return {"type": "http.disconnect"}
