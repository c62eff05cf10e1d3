"""Sign in to the dashboard with a token or a one-time link, and sign out."""

from __future__ import annotations

import json
from http.client import HTTPConnection, HTTPException

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from recollect.domain.errors import InvalidInput, RecollectError
from recollect_server.access_policy import SIGN_IN, AccessPolicy, local_path
from recollect_server.authentication import (
    ANYONE,
    SERVER_CREDENTIAL,
    Authenticator,
    TokenGuesses,
    cookie_in,
    cookie_name,
    is_secure,
    proof_of,
)
from recollect_server.runner import MemoryRunner
from recollect_server.web.templating import SECURITY_HEADERS, bare_page

# Pages

ONCE = "/sign-in/once"
"""The path where a program that knows the server's token gets a one-time sign-in link."""
CHALLENGE, PROOF = "x-recollect-challenge", "x-recollect-proof"
"""The headers that prove knowledge of the token."""
_MAX_TOKEN_LENGTH = 1_000
_NO_STORE = {"cache-control": "no-store"}
_NOT_VALID = (
    "That token is not valid here. `recollect serve --http` prints the server's token, and `recollect "
    "token create NAME` makes another."
)
_USED_LINK = (
    "This link was used before, or is older than five minutes. Run `recollect ui` for another, or sign in "
    "with a token."
)
_WRONG_FIELDS = "This page accepts only the fields `token` and `next`."


class SignIn:
    def __init__(self, authenticator: Authenticator, guesses: TokenGuesses, runner: MemoryRunner) -> None:
        self._authenticator = authenticator
        self._guesses = guesses
        self._runner = runner

    def routes(self) -> list[BaseRoute]:
        return [
            Route(SIGN_IN, self._show, methods=["GET"]),
            Route(SIGN_IN, self._sign_in, methods=["POST"]),
            Route(ONCE, self._make_link, methods=["POST"]),
            Route("/sign-out", self._sign_out, methods=["POST"]),
        ]

    async def _show(self, request: Request) -> Response:
        next_ = local_path(request.query_params.get("next", "/"))
        code = request.query_params.get("once")
        # A HEAD request leaves the link valid.
        if code is not None and request.method == "GET":
            credential = self._authenticator.sessions.redeem(code)
            if credential is None or await self._authenticator.identify_credential(credential) is None:
                return _page(request, next_, _USED_LINK, 400)
            return self._start_session(request, credential, "/")
        if not self._authenticator.asks_for_token:
            return RedirectResponse(next_, 303)
        return _page(request, next_)

    async def _sign_in(self, request: Request) -> Response:
        async with request.form(max_files=0, max_fields=8) as form:
            token, next_ = form.get("token"), form.get("next")
            if not isinstance(token, str) or not isinstance(next_, str | None):
                return _page(request, "/", _WRONG_FIELDS, 400)
            where = local_path(next_ or "/")
            try:
                found = await self._authenticator.identify_token(token.strip()[:_MAX_TOKEN_LENGTH])
            except RecollectError as error:
                return _page(request, where, str(error), 503)
        if found is None:
            self._guesses.add(request.client.host if request.client else "")
            return _page(request, where, _NOT_VALID, 401)
        return self._start_session(request, found.credential, where)

    def _start_session(self, request: Request, credential: str, where: str) -> Response:
        """Redirect with a new session, and end the browser's former one."""
        headers = dict(request.scope["headers"])
        self._end_session(request)
        answer = RedirectResponse(where, 303, SECURITY_HEADERS)
        key, secure = self._authenticator.sessions.open(credential), is_secure(request.scope, headers)
        name = cookie_name(request.scope, headers)
        answer.set_cookie(name, key, path="/", secure=secure, httponly=True, samesite="strict")
        return answer

    async def _make_link(self, request: Request) -> Response:
        """Make a one-time link for `recollect ui`, if it proves that it knows the server's token."""
        credential = SERVER_CREDENTIAL if self._authenticator.asks_for_token else ANYONE
        if credential == SERVER_CREDENTIAL and not self._knows_token(request):
            return JSONResponse({"challenge": self._authenticator.sessions.challenge()}, 401, _NO_STORE)
        store = await self._runner.calls.in_thread(lambda: self._runner.memory().upkeep.store_state().id)
        code = self._authenticator.sessions.link(credential)
        return JSONResponse({"link": one_time_path(code), "store": store}, headers=_NO_STORE)

    def _knows_token(self, request: Request) -> bool:
        challenge, proof = (request.headers.get(name, "") for name in (CHALLENGE, PROOF))
        port = (request.scope.get("server") or ("", 0))[1]
        return self._authenticator.sessions.proves(challenge, proof, self._runner.policy.token or "", port)

    async def _sign_out(self, request: Request) -> Response:
        self._end_session(request)
        answer = RedirectResponse(SIGN_IN, 303, {**SECURITY_HEADERS, "clear-site-data": '"cache"'})
        headers = dict(request.scope["headers"])
        name, secure = cookie_name(request.scope, headers), is_secure(request.scope, headers)
        answer.delete_cookie(name, path="/", secure=secure, httponly=True, samesite="strict")
        return answer

    def _end_session(self, request: Request) -> None:
        key = cookie_in(request.scope, dict(request.scope["headers"]))
        if key:
            self._authenticator.sessions.end(key)


def one_time_path(code: str) -> str:
    return f"{SIGN_IN}?once={code}"


def _page(request: Request, next_: str, problem: str = "", status: int = 200) -> Response:
    return bare_page(request, "sign_in.html", status=status, next=next_, problem=problem)


# The client of one-time links, for `recollect ui`

_TIMEOUT_SECONDS = 10.0
_MAX_ANSWER_BYTES = 10_000


def link_of_running_server(policy: AccessPolicy, store: str) -> str | None:
    """Return a one-time sign-in link of the server at the policy's port; None if nothing listens there.

    The server must serve the store with this id, and prove that it knows our token. The token is not sent,
    because another program may listen on that port.
    """
    connection = HTTPConnection(policy.host, policy.port, timeout=_TIMEOUT_SECONDS)
    try:
        connection.connect()
    except OSError:
        return None
    try:
        answer = _request_link(connection, {})
        if "challenge" in answer:
            challenge = str(answer["challenge"])
            proof = proof_of(policy.token or "", challenge, policy.port)
            answer = _request_link(connection, {CHALLENGE: challenge, PROOF: proof})
    except (OSError, HTTPException, ValueError):
        answer = {}
    finally:
        connection.close()
    if answer.get("store") != store or "link" not in answer:
        raise InvalidInput(
            f"Something else listens on port {policy.port}: another program, a server of another memory, or "
            "one with another token. Name another port with --port."
        )
    return policy.url(policy.port, str(answer["link"]))


def _request_link(connection: HTTPConnection, headers: dict[str, str]) -> dict[str, object]:
    connection.request("POST", ONCE, headers=headers)
    answer = json.loads(connection.getresponse().read(_MAX_ANSWER_BYTES))
    return answer if isinstance(answer, dict) else {}
