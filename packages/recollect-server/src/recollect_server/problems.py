"""Problem details (RFC 9457) for clients of the API, and the log of refused requests."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import JSONResponse, Response

from recollect.domain.errors import (
    Conflict,
    ExtractionFailed,
    InvalidInput,
    ModelUnavailable,
    NotAStore,
    NotFound,
    RecollectError,
    StoreDamaged,
    StoreUnavailable,
)
from recollect.domain.lazy_dataclass import dataclass
from recollect.operations.schema import InvalidArguments
from recollect.text.phrases import visible
from recollect_server.access_policy import Refusal, is_api, is_mem0
from recollect_server.runner import Forbidden, TookTooLong

# Problem details

PROBLEM_TYPE = "application/problem+json"
_RETRY_SECONDS = 5
# The first entry with a class of the error counts.
_KINDS: tuple[tuple[type[RecollectError], int, str], ...] = (
    (NotFound, 404, "not-found"),
    (Conflict, 409, "conflict"),
    (Forbidden, 403, "forbidden"),
    (InvalidInput, 422, "invalid-input"),
    (TookTooLong, 504, "took-too-long"),
    (StoreUnavailable, 503, "store-unavailable"),
    # Retrying does not help: this server does not have the model.
    (ModelUnavailable, 409, "model-unavailable"),
    (ExtractionFailed, 503, "extraction-failed"),
    (StoreDamaged, 503, "store-damaged"),
    (NotAStore, 503, "not-a-store"),
)
TITLES: Mapping[str, str] = {
    "not-found": "Not found",
    "conflict": "It conflicts with the contents of the store",
    "forbidden": "The token does not allow it",
    "invalid-input": "The arguments are wrong",
    "took-too-long": "It took too long",
    "store-unavailable": "The store cannot be used now",
    "model-unavailable": "The model cannot be used",
    "extraction-failed": "Nothing could be extracted from the messages",
    "store-damaged": "The store is damaged",
    "not-a-store": "This is not a store",
    "bad-request": "The request cannot be read",
    "method-not-allowed": "The path has no such method",
    "precondition-failed": "It has changed since you read it",
    "unsupported-media-type": "The body is not JSON",
    "unexpected": "The server failed unexpectedly",
}


@dataclass(frozen=True, slots=True)
class ProblemDetails:
    status: int
    kind: str
    detail: str
    errors: tuple[Mapping[str, str], ...] = ()
    """Errors of single arguments, each with a `detail` and a JSON `pointer`."""
    headers: tuple[tuple[str, str], ...] = ()

    def fields(self) -> dict[str, Any]:
        return {
            "type": f"urn:recollect:problem:{self.kind}",
            "title": TITLES.get(self.kind) or HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": visible(self.detail),
            **({"errors": list(self.errors)} if self.errors else {}),
        }

    def response(self, **more: str) -> Response:
        return Response(
            json_bytes({**self.fields(), **more}), self.status, dict(self.headers), media_type=PROBLEM_TYPE
        )


class ProblemFound(Exception):
    """Raised to answer a request with a problem."""

    def __init__(self, status: int, kind: str, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.problem = ProblemDetails(status, kind, detail, **more)


UNEXPECTED = ProblemDetails(500, "unexpected", "The server failed unexpectedly; its log has the reason.")


def problem_of(error: RecollectError) -> ProblemDetails:
    for class_, status, kind in _KINDS:
        if isinstance(error, class_):
            waits = status == HTTPStatus.SERVICE_UNAVAILABLE
            headers = (("Retry-After", str(_RETRY_SECONDS)),) if waits else ()
            return ProblemDetails(status, kind, str(error), _argument_errors(error), headers)
    return ProblemDetails(422, "invalid-input", str(error))


def _argument_errors(error: RecollectError) -> tuple[Mapping[str, str], ...]:
    if isinstance(error, InvalidArguments):
        return tuple(
            {"detail": visible(each.problem), "pointer": _pointer(each.path)} for each in error.wrong
        )
    return ({"detail": visible(str(error))},) if isinstance(error, InvalidInput) else ()


def _pointer(path: tuple[str | int, ...]) -> str:
    """Return a JSON pointer (RFC 6901) as URI fragment."""
    return "#" + "".join(f"/{visible(str(part))[:80].replace('~', '~0').replace('/', '~1')}" for part in path)


def refusal_response(why: Refusal, path: str) -> Response:
    """Build the response: fields for MCP clients, problem details for the API, `detail` for mem0."""
    fields = {"error": why.error, "message": why.message}
    if is_api(path):
        headers = tuple(why.headers.items())
        problem = ProblemDetails(why.status, why.error.replace("_", "-"), why.message, headers=headers)
        return problem.response(**fields)
    if is_mem0(path):
        fields["detail"] = why.message
    return JSONResponse(fields, why.status, why.headers)


def json_bytes(data: object) -> bytes:
    """Encode JSON. A lone surrogate, which UTF-8 cannot encode, becomes a question mark."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


# The log of refusals

_log = logging.getLogger(__name__)
EVERY_SECONDS = 60.0
"""Minimum seconds between two lines of the same kind. The second line has the count."""


class RefusalLog:
    """A log of refusals with at most one line per kind and minute, so that floods do not fill it."""

    def __init__(
        self, write: Callable[[str], None] = _log.warning, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._write = write
        self._clock = clock
        self._logged_at: dict[str, float] = {}
        self._skipped: dict[str, int] = {}

    def add(self, kind: str) -> None:
        """Add a refusal. Use few kinds, without data from clients, because kinds are never dropped."""
        now = self._clock()
        last = self._logged_at.get(kind)
        if last is not None and now - last < EVERY_SECONDS:
            self._skipped[kind] = self._skipped.get(kind, 0) + 1
            return
        self._logged_at[kind] = now
        more = self._skipped.pop(kind, 0)
        since = f" ({more:,} more since the last message)" if more else ""
        self._write(f"Refused a request: {kind}.{since}")


class OncePerKind(logging.Filter):
    """A filter that sends the web server's warnings about malformed requests to the log of refusals."""

    def __init__(self, refusals: RefusalLog) -> None:
        super().__init__()
        self._refusals = refusals

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno != logging.WARNING:
            return True
        self._refusals.add("bad_request")
        return False
