"""The REST API: which path calls what."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.routing import BaseRoute, Match, NoMatchFound, Route

from recollect.serve.http.api.docs_page import docs_page
from recollect.serve.http.api.endpoints import ROOT
from recollect.serve.http.api.handler import ApiHandler
from recollect.serve.http.api.openapi import openapi_response
from recollect.serve.http.api.probes import Probes

if TYPE_CHECKING:
    from starlette.datastructures import URLPath
    from starlette.types import Receive, Scope, Send

    from recollect.serve.http.face import Face


def api_routes(face: Face) -> list[BaseRoute]:
    probes, handler = Probes(face), ApiHandler(face)
    return [
        Route("/healthz", probes.live),
        Route("/readyz", probes.ready),
        Route("/metrics", probes.metrics),
        Route("/openapi.json", openapi_response),
        Route("/docs", partial(docs_page, face)),
        _Below(handler),
    ]


class _Below(BaseRoute):
    """Whatever comes under `/v1`. A path of Starlette's ends at a line break, and a name may have one."""

    def __init__(self, handler: ApiHandler) -> None:
        self._handler = handler

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        path = scope.get("path", "")
        fits = scope["type"] == "http" and (path == ROOT or path.startswith(f"{ROOT}/"))
        return (Match.FULL if fits else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._handler(scope, receive, send)

    def url_path_for(self, name: str, /, **path_params: Any) -> URLPath:
        raise NoMatchFound(name, path_params)
