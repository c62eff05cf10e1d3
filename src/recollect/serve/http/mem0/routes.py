"""mem0's routes: which path calls what."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from recollect.serve.http.face import Face


def mem0_routes(face: Face) -> list[BaseRoute]:  # noqa: ARG001
    return []
