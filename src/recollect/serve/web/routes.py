"""The dashboard: which path calls what."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from recollect.serve.http.face import Face


def web_routes(face: Face) -> list[BaseRoute]:  # noqa: ARG001
    return []
