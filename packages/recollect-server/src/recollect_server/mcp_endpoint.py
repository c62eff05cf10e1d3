"""MCP over HTTP: the library's endpoint, with refusals in our words and an end for what a client left."""

from __future__ import annotations

import json

import mcp_types as types
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.types import Message, Receive, Scope, Send

from recollect.mcp.server import MemoryServer
from recollect_server.access_policy import LARGEST_REQUEST, NO_HANDSHAKE, PATH, Refused, library_refusal
from recollect_server.authentication import IDENTITY
from recollect_server.middleware import client_gone, replay_body

_MOST_SESSIONS = 1_000
_SESSION_IDLE_SECONDS = 30 * 60.0
# The header that names a session.
_SESSION = b"mcp-session-id"


def library_app(server: MemoryServer, host: str) -> Starlette:
    return server.server().streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=LARGEST_REQUEST,
        session_idle_timeout=_SESSION_IDLE_SECONDS,
        max_sessions=_MOST_SESSIONS,
        # `HostMiddleware` checks hosts and origins, and says what to do about them.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        host=host,
    )


class McpEndpoint:
    """Passes a request to the library; the middlewares have read its body and its sender."""

    def __init__(self, library: Starlette) -> None:
        self._library = library

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The library lets a session be used by this user alone.
        credential = scope["state"][IDENTITY].credential
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=credential, scopes=[]))
        if scope["method"] != "POST":
            await self._answer(scope, receive, send)
            return
        body = (await receive())["body"]
        headers = dict(scope["headers"])
        if _opens_no_session(headers, body):
            raise Refused(NO_HANDSHAKE)
        if _SESSION in headers:
            await self._answer_or_cancel(scope, body, receive, send)
        else:
            await self._answer(scope, replay_body(body, receive), send)

    async def _answer_or_cancel(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Cancel what a session asked for when its client goes, since nobody can fetch the answer later.

        Newer revisions of the protocol have no sessions, and the library does the same for them.
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
        """Return whether the answer came to its end.

        The library refuses in plain text; that is said in our words. A stream that it leaves open when the
        server ends is closed.
        """
        is_open = False
        status: int | None = None
        refused: Refused | None = None

        async def send_in_our_words(message: Message) -> None:
            nonlocal is_open, status, refused
            if message["type"] == "http.response.start" and _is_plain_refusal(message):
                status = message["status"]
            elif status is None:
                is_open = message["type"] == "http.response.start" or bool(message.get("more_body"))
                await send(message)
            elif not message.get("more_body"):  # such a body comes in one piece
                refused = Refused(
                    library_refusal(status, message.get("body", b"").decode("utf-8", "replace"))
                )

        await self._library(scope, receive, send_in_our_words)
        if refused is not None:
            raise refused
        if is_open:
            await send({"type": "http.response.body", "body": b""})
        return not is_open


async def _drop_message(message: Message) -> None:
    """The answer to a message that the server sent itself."""


def _cancellation(body: bytes) -> bytes | None:
    """The message that cancels this request; None for another kind of message."""
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


def _is_plain_refusal(message: Message) -> bool:
    kind = dict(message["headers"]).get(b"content-type", b"")
    return message["status"] >= 400 and not kind.startswith(b"application/json")
