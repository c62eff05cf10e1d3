"""The endpoints of the REST API, which the operations declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from starlette.requests import Request

from recollect.operations.catalogue import interfaces
from recollect.operations.operation import Endpoint
from recollect_server.problems import ProblemFound

ROOT = "/v1"
ENDPOINTS = tuple(Endpoint(**each) for each in interfaces()["endpoints"])
_TEMPLATES = [(each, each.path.split("/")[1:]) for each in ENDPOINTS]


def match(request: Request) -> tuple[Endpoint, Mapping[str, str]]:
    """Find the endpoint of a request and its path parameters.

    Split the raw path before decoding, so that a name may contain a slash, written as %2F.
    """
    raw = request.scope.get("raw_path") or request.url.path.encode()
    parts = [unquote(part) for part in raw.decode("latin-1").partition("?")[0].split("/")[2:]]
    found = [each for each in _TEMPLATES if _fits(each[1], parts)]
    # Fixed words take precedence over parameters.
    found.sort(key=lambda each: [part.startswith("{") for part in each[1]])
    method = "GET" if request.method == "HEAD" else request.method
    for endpoint, template in found:
        if endpoint.method == method:
            named = zip(template, parts, strict=True)
            return endpoint, {name[1:-1]: part for name, part in named if name.startswith("{")}
    if not found:
        raise ProblemFound(
            404, "not-found", f"The API has no such path; /openapi.json lists the paths of {ROOT}."
        )
    allowed = ", ".join(sorted({endpoint.method for endpoint, _ in found}))
    raise ProblemFound(
        405, "method-not-allowed", f"This path accepts only {allowed}.", headers=(("Allow", allowed),)
    )


def _fits(template: Sequence[str], parts: Sequence[str]) -> bool:
    return len(template) == len(parts) and all(
        bool(part) if name.startswith("{") else name == part
        for name, part in zip(template, parts, strict=True)
    )
