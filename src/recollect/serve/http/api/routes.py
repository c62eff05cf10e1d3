"""The REST API: which path calls what."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from starlette.routing import Route

from recollect.serve.http.api.docs_page import docs_page
from recollect.serve.http.api.endpoints import ROOT
from recollect.serve.http.api.handler import ApiHandler
from recollect.serve.http.api.openapi import openapi_response
from recollect.serve.http.api.probes import Probes

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from recollect.serve.http.face import Face


def api_routes(face: Face) -> list[BaseRoute]:
    probes, handler = Probes(face), ApiHandler(face)
    return [
        Route("/healthz", probes.live),
        Route("/readyz", probes.ready),
        Route("/metrics", probes.metrics),
        Route("/openapi.json", openapi_response),
        Route("/docs", partial(docs_page, face)),
        Route(ROOT, handler),
        Route(f"{ROOT}/{{rest:path}}", handler),
    ]
