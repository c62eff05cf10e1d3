"""Problem details (RFC 9457): what a client of the API gets instead of an answer."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from recollect.errors import (
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
from recollect.lazy_dataclass import dataclass
from recollect.serve.http.caller import Forbidden
from recollect.serve.http.face import TookTooLong
from recollect.serve.operations.validation_errors import InvalidArguments
from recollect.text.untrusted import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.serve.http.access_policy import Refusal

PROBLEM_TYPE = "application/problem+json"
_RETRY_SECONDS = 5
# The first that fits.
_KINDS: tuple[tuple[type[RecollectError], int, str], ...] = (
    (NotFound, 404, "not-found"),
    (Conflict, 409, "conflict"),
    (Forbidden, 403, "forbidden"),
    (InvalidInput, 422, "invalid-input"),
    (TookTooLong, 504, "took-too-long"),
    (StoreUnavailable, 503, "store-unavailable"),
    # The caller asks for a model that this server does not have: trying again would not help.
    (ModelUnavailable, 409, "model-unavailable"),
    (ExtractionFailed, 503, "extraction-failed"),
    (StoreDamaged, 503, "store-damaged"),
    (NotAStore, 503, "not-a-store"),
)
TITLES: Mapping[str, str] = {
    "not-found": "It is not there",
    "conflict": "It contradicts what the store holds",
    "forbidden": "The token does not allow it",
    "invalid-input": "The arguments are wrong",
    "took-too-long": "It took too long",
    "store-unavailable": "The store cannot be used now",
    "model-unavailable": "The model cannot be used",
    "extraction-failed": "Nothing could be drawn out of the messages",
    "store-damaged": "The store is damaged",
    "not-a-store": "This is not a store",
    "bad-request": "The request cannot be read",
    "method-not-allowed": "The path has no such method",
    "precondition-failed": "It was changed since you read it",
    "unsupported-media-type": "The body is not JSON",
    "unexpected": "It failed unexpectedly",
}
"""A few words for each kind of problem."""


@dataclass(frozen=True, slots=True)
class ProblemDetails:
    """What went wrong, and what to do next."""

    status: int
    kind: str
    detail: str
    errors: tuple[Mapping[str, str], ...] = ()
    """What is wrong with single arguments: a `detail`, and a JSON `pointer` to each."""
    headers: tuple[tuple[str, str], ...] = ()

    def fields(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "type": f"urn:recollect:problem:{self.kind}",
            "title": TITLES.get(self.kind) or HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": visible(self.detail),
        }
        return {**told, "errors": list(self.errors)} if self.errors else told

    def response(self, **more: str) -> Response:
        return Response(
            json_bytes({**self.fields(), **more}), self.status, dict(self.headers), media_type=PROBLEM_TYPE
        )


class ProblemFound(Exception):
    """A request that is answered with a problem."""

    def __init__(self, problem: ProblemDetails) -> None:
        super().__init__(problem.detail)
        self.problem = problem


UNEXPECTED = ProblemDetails(500, "unexpected", "It failed unexpectedly; the server's log has the reason.")


def problem_of(error: RecollectError) -> ProblemDetails:
    """The problem that an error of ours is to a client."""
    for form, status, kind in _KINDS:
        if isinstance(error, form):
            waits = status == HTTPStatus.SERVICE_UNAVAILABLE
            headers = (("Retry-After", str(_RETRY_SECONDS)),) if waits else ()
            return ProblemDetails(status, kind, str(error), _wrong(error), headers)
    return ProblemDetails(422, "invalid-input", str(error))


def _wrong(error: RecollectError) -> tuple[Mapping[str, str], ...]:
    if isinstance(error, InvalidArguments):
        return tuple(
            {"detail": visible(each.problem), "pointer": _pointer(each.path)} for each in error.wrong
        )
    return ({"detail": visible(str(error))},) if isinstance(error, InvalidInput) else ()


def _pointer(path: tuple[str | int, ...]) -> str:
    """A JSON pointer (RFC 6901), as a part of a URI."""
    return "#" + "".join(f"/{visible(str(part))[:80].replace('~', '~0').replace('/', '~1')}" for part in path)


def refusal_response(why: Refusal) -> Response:
    """A refusal at the door, with the two fields that clients of MCP read."""
    problem = ProblemDetails(
        why.status, why.error.replace("_", "-"), why.message, headers=tuple(why.headers.items())
    )
    return problem.response(error=why.error, message=why.message)


def json_bytes(data: object) -> bytes:
    """JSON; half of a surrogate pair, which UTF-8 cannot say, becomes a question mark."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
