"""Signing in to the dashboard with a token or a link that works once, and signing out."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse
from starlette.routing import Route

from recollect.errors import RecollectError
from recollect.serve.http.access_policy import local_path
from recollect.serve.http.authentication import (
    IDENTITY,
    Authenticator,
    Identity,
    cookie_in,
    cookie_name,
    is_secure,
)

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from recollect.serve.http.face import Face
    from recollect.serve.http.token_guesses import TokenGuesses

SIGN_IN = "/sign-in"
ONCE = "/sign-in/once"
"""Where a program that shows a token gets a link that signs a browser in once."""
CSRF = "csrf"
"""The form field, and under this name a request's `state` has what belongs there; empty without a session."""
_LONGEST_TOKEN = 1_000
_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "script-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    # Not `no-referrer`: browsers would send the form with the origin `null`.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
_WRONG = (
    "That token is not valid here. `recollect serve --http` prints the server's own; `recollect token create "
    "NAME` makes another."
)
_USED = (
    "This link was used before, or is older than five minutes. Run `recollect ui` for another, or sign in "
    "with a token."
)
_TOO_MANY = "Only a form with the fields `token` and `next` is taken here."


class SignIn:
    """The pages of signing in and out."""

    def __init__(self, authenticator: Authenticator, guesses: TokenGuesses, face: Face) -> None:
        self._authenticator = authenticator
        self._guesses = guesses
        self._face = face

    def routes(self) -> list[BaseRoute]:
        return [
            Route(SIGN_IN, self._show, methods=["GET"]),
            Route(SIGN_IN, self._sign_in, methods=["POST"]),
            Route(ONCE, self._make_link, methods=["POST"]),
            Route("/sign-out", self._sign_out, methods=["POST"]),
        ]

    async def _show(self, request: Request) -> Response:
        next_ = local_path(request.query_params.get("next", "/"))
        word = request.query_params.get("once")
        # Whoever only looks whether it is there does not use it up.
        if word is not None and request.method == "GET":
            credential = self._authenticator.sessions.redeem(word)
            if credential is None or await self._authenticator.of_credential(credential) is None:
                return _page(next_, _USED, 400)
            return self._signed_in(request, credential, "/")
        if not self._authenticator.asks_for_token:
            return RedirectResponse(next_, 303)
        return _page(next_)

    async def _sign_in(self, request: Request) -> Response:
        async with request.form(max_files=0, max_fields=8) as form:
            token, next_ = form.get("token"), form.get("next")
            if not isinstance(token, str) or not isinstance(next_, str | None):
                return _page("/", _TOO_MANY, 400)
            where = local_path(next_ or "/")
            try:
                found = await self._authenticator.of_token(token.strip()[:_LONGEST_TOKEN])
            except RecollectError as error:
                return _page(where, str(error), 503)
        if found is None:
            self._guesses.add(request.client.host if request.client else "")
            return _page(where, _WRONG, 401)
        return self._signed_in(request, found.credential, where)

    def _signed_in(self, request: Request, credential: str, where: str) -> Response:
        """With a new session; one that the browser had before ends."""
        headers = dict(request.scope["headers"])
        self._end(request)
        answer = RedirectResponse(where, 303, _HEADERS)
        answer.set_cookie(
            cookie_name(request.scope, headers),
            self._authenticator.sessions.open(credential),
            path="/",
            secure=is_secure(request.scope, headers),
            httponly=True,
            samesite="strict",
        )
        return answer

    async def _make_link(self, request: Request) -> Response:
        """For `recollect ui`, where a server runs already. A session makes no further ones."""
        found: Identity | None = getattr(request.state, IDENTITY, None)
        if found is None or found.session is not None:
            message = "Send the header `Authorization: Bearer TOKEN` for a link that signs a browser in."
            return JSONResponse({"error": "unauthorized", "message": message}, 401)
        store = await self._face.run(request, lambda memory: memory.upkeep.store_id())
        word = self._authenticator.sessions.link(found.credential)
        return JSONResponse({"link": once_path(word), "store": store}, headers={"cache-control": "no-store"})

    async def _sign_out(self, request: Request) -> Response:
        self._end(request)
        answer = RedirectResponse(SIGN_IN, 303, {**_HEADERS, "clear-site-data": '"cache"'})
        headers = dict(request.scope["headers"])
        answer.delete_cookie(
            cookie_name(request.scope, headers),
            path="/",
            secure=is_secure(request.scope, headers),
            httponly=True,
            samesite="strict",
        )
        return answer

    def _end(self, request: Request) -> None:
        key = cookie_in(request.scope, dict(request.scope["headers"]))
        if key:
            self._authenticator.sessions.end(key)


def once_path(word: str) -> str:
    return f"{SIGN_IN}?once={word}"


def _page(next_: str, problem: str = "", status: int = 200) -> Response:
    text = _templates().get_template("sign_in.html").render(next=next_, problem=problem, csrf="")
    return HTMLResponse(text, status, _HEADERS)


@cache
def _templates() -> Environment:
    import jinja2  # noqa: PLC0415  # few requests sign in

    loader: Any = jinja2.PackageLoader("recollect.serve.web")
    return jinja2.Environment(loader=loader, autoescape=True)
