"""Finds the endpoint of a request, by its path as it was sent."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from recollect.serve.http.api.endpoints import ENDPOINTS, ROOT, Endpoint
from recollect.serve.http.problems import ProblemDetails, ProblemFound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request


def match(request: Request) -> tuple[Endpoint, Mapping[str, str]]:
    """The endpoint, and what its path names.

    In the path as it was sent, a name may have a slash in it, written as %2F.
    """
    raw = request.scope.get("raw_path") or request.url.path.encode()
    parts = [unquote(part) for part in raw.decode("latin-1").partition("?")[0].split("/")[2:]]
    found = [each for each in _templates(len(parts)) if _fits(each[1], parts)]
    # A word stands before a name: nothing else could be meant by it.
    found.sort(key=lambda each: [part.startswith("{") for part in each[1]])
    method = "GET" if request.method == "HEAD" else request.method
    for endpoint, template in found:
        if endpoint.method == method:
            named = zip(template, parts, strict=True)
            return endpoint, {name[1:-1]: part for name, part in named if name.startswith("{")}
    if not found:
        raise ProblemFound(
            ProblemDetails(
                404, "not-found", f"The API has nothing at this path; /openapi.json lists what {ROOT} has."
            )
        )
    allowed = ", ".join(sorted({endpoint.method for endpoint, _ in found}))
    raise ProblemFound(
        ProblemDetails(
            405, "method-not-allowed", f"This path takes {allowed}.", headers=(("Allow", allowed),)
        )
    )


def _fits(template: Sequence[str], parts: Sequence[str]) -> bool:
    return all(
        bool(part) if name.startswith("{") else name == part
        for name, part in zip(template, parts, strict=True)
    )


@cache
def _templates(length: int) -> list[tuple[Endpoint, Sequence[str]]]:
    every = [(each, each.path.split("/")[1:]) for each in ENDPOINTS]
    return [(each, template) for each, template in every if len(template) == length]
