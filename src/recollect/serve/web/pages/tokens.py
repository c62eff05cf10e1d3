"""Tokens: who may use this server over HTTP; made here they are shown once, and revoked with a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.engine.tokens import RIGHTS
from recollect.errors import NotFound
from recollect.records import Scope
from recollect.serve.http.caller import Right
from recollect.serve.http.face import caller_of
from recollect.serve.web.forms import form_fields
from recollect.serve.web.pages.health import TABS
from recollect.serve.web.templating import page, redirect

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from recollect.serve.http.face import Face

_MEANS = {
    "read": "search and look around",
    "write": "also remember, correct and forget",
    "admin": "also tokens, tuning, purging, imports and backups",
}


async def tokens_screen(face: Face, request: Request) -> Response:
    return await _shown(face, request)


async def make_token(face: Face, request: Request) -> Response:
    """Show the new token on this very page: it goes into no cookie, no address and no other page."""
    caller_of(request).require(Right.STORE)
    fields = await form_fields(request)
    name, right = fields.get("name", ""), fields.get("right", "")
    owner, agent = fields.get("owner", ""), fields.get("agent", "")
    sees = Scope(owner, agent or None) if owner or agent else None
    token = await face.run(
        request, lambda memory: memory.tokens.create(name, right=right, sees=sees), right=Right.STORE
    )
    return await _shown(face, request, made=name, token=token)


async def withdraw_token(face: Face, request: Request) -> Response:
    caller_of(request).require(Right.STORE)
    name = (await form_fields(request)).get("name", "")
    await face.run(request, lambda memory: memory.tokens.revoke(name), right=Right.STORE)
    return redirect(request, "/tokens", f"Revoked {name}: whoever uses it is refused within seconds.")


async def _shown(face: Face, request: Request, **made: Any) -> Response:
    caller_of(request).require(Right.STORE)
    tokens = await face.run(request, lambda memory: memory.tokens.list(), right=Right.STORE)
    asked = request.query_params.get("revoke")
    if asked is not None and asked not in {each.name for each in tokens}:
        raise NotFound(f"There is no token {asked[:80]!r}; it may have been revoked already.")
    values = {"made": None, "token": None, **made}
    rights = {right: _MEANS[right] for right in RIGHTS}
    return await page(
        face,
        request,
        "tokens.html",
        tabs=TABS,
        here="/health",
        tokens=tokens,
        rights=rights,
        revoking=asked,
        **values,
    )
