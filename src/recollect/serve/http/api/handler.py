"""Answers a request of the API: finds its endpoint, calls the operation, and tells the result."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import anyio
from starlette.requests import Request
from starlette.responses import Response

from recollect.errors import Outdated, RecollectError
from recollect.lazy_dataclass import dataclass
from recollect.serve.http.api.arguments import SCOPE_PARAMETERS, given_arguments, keeps_going, takes_query
from recollect.serve.http.api.endpoints import ROOT
from recollect.serve.http.api.entity_tags import entity_tag, expecting, is_known, version_of
from recollect.serve.http.api.events import EVENT_STREAM, EventStream, cancel_when_gone
from recollect.serve.http.api.matching import match
from recollect.serve.http.face import right_for
from recollect.serve.http.problems import UNEXPECTED, ProblemDetails, ProblemFound, json_bytes, problem_of
from recollect.serve.operations.catalogue import http_operations
from recollect.serve.operations.schema import plain_schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import Receive, Scope, Send

    from recollect.engine.engine import Engine
    from recollect.ports import Progress
    from recollect.serve.http.api.endpoints import Endpoint
    from recollect.serve.http.face import Face
    from recollect.serve.operations.operation import Operation

_log = logging.getLogger(__name__)
_LONGEST_KEY = 200
# Nobody reads it: the client has gone.
_GONE = Response(status_code=499)


@dataclass(frozen=True, slots=True)
class ApiHandler:
    """Answers whatever comes under `/v1`."""

    face: Face

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """An application, not a function: a route passes it every method, and it says which a path has."""
        answer = await self._answer(Request(scope, receive))
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response | EventStream:
        try:
            call = await _read_call(request)
        except ProblemFound as error:
            return error.problem.response()
        if EVENT_STREAM in request.headers.get("accept", ""):

            async def worked(progress: Progress) -> Mapping[str, Any] | ProblemDetails:
                done = await self._done(request, call, progress=progress)
                return done if isinstance(done, ProblemDetails) else done.result

            return EventStream(worked, stops=call.operation.read_only)
        done: ProblemDetails | _Done | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(cancel_when_gone, request.receive, group.cancel_scope)
            done = await self._done(request, call)
            group.cancel_scope.cancel()
        if done is None:
            return _GONE
        return done.response() if isinstance(done, ProblemDetails) else _response(request, call, done)

    async def _done(self, request: Request, call: _Call, **more: Any) -> _Done | ProblemDetails:
        """The result, or what is to be said instead; it raises nothing."""
        operation, endpoint = call.operation, call.endpoint
        right = right_for(operation)
        more["latencies"] = self.face.metrics.latencies
        if call.key is not None:
            more["key"] = call.key
        more["keep_going"] = call.keep_going

        def work(memory: Engine) -> _Done:
            arguments = operation.parse(call.given)
            version = None
            if endpoint.resource is not None and operation.read_only:
                # Read before what it is a version of: a change meanwhile makes it old, never wrong.
                version = version_of(memory, endpoint.resource, call.resource_name)
            elif endpoint.resource is not None and call.if_match is not None:
                memory = expecting(memory, endpoint.resource, call.resource_name, call.if_match)
            return _Done(operation.answer(memory, arguments, **more).result, version)

        try:
            with self.face.metrics.timed(operation.name):
                return await self.face.run(request, work, right=right, reads=operation.read_only)
        except ProblemFound as error:
            return error.problem
        except Outdated as error:
            if call.if_match is None:
                return problem_of(error)
            return ProblemDetails(412, "precondition-failed", str(error))
        except RecollectError as error:
            return problem_of(error)
        except Exception:  # noqa: BLE001  # whatever it is, the client gets an answer and the others go on
            _log.exception("%s failed", operation.name)
            return UNEXPECTED


@dataclass(frozen=True, slots=True)
class _Call:
    """A request that was read."""

    endpoint: Endpoint
    operation: Operation[Any]
    given: Mapping[str, Any]
    resource_name: str
    """What the path names, where it names something."""
    key: str | None
    if_match: str | None
    keep_going: bool


@dataclass(frozen=True, slots=True)
class _Done:
    result: Mapping[str, Any]
    version: str | None


async def _read_call(request: Request) -> _Call:
    endpoint, path = match(request)
    operation = http_operations()[endpoint.operation]
    given = await given_arguments(request, endpoint, plain_schema(operation.arguments), path)
    return _Call(
        endpoint,
        operation,
        given,
        next(iter(path.values()), ""),
        _key(request, endpoint, operation),
        _if_match(request, endpoint, operation),
        operation.keeps_going and keeps_going(given),
    )


def _key(request: Request, endpoint: Endpoint, operation: Operation[Any]) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is None or operation.idempotent:  # again is as once
        return None
    if not endpoint.takes_key:
        detail = (
            f"`{endpoint.method} {ROOT}{endpoint.path}` takes no `Idempotency-Key`: a retry might do it "
            "twice. Leave the header out, and look whether it was done before you try again."
        )
        raise ProblemFound(ProblemDetails(400, "bad-request", detail))
    if not 0 < len(key) <= _LONGEST_KEY:
        detail = f"An `Idempotency-Key` has 1 to {_LONGEST_KEY} characters; nothing was done."
        raise ProblemFound(ProblemDetails(400, "bad-request", detail))
    return key


def _if_match(request: Request, endpoint: Endpoint, operation: Operation[Any]) -> str | None:
    if_match = request.headers.get("if-match")
    if if_match is None or operation.read_only:
        return None
    if endpoint.resource is None:
        detail = "What this path changes has no ETag; leave `If-Match` out. Nothing was done."
        raise ProblemFound(ProblemDetails(400, "bad-request", detail))
    return if_match


def _response(request: Request, call: _Call, done: _Done) -> Response:
    body, headers = json_bytes(done.result), dict[str, str]()
    if done.version is not None:
        headers["etag"] = entity_tag(done.version, body)
        headers["cache-control"] = "private, no-cache"
        if is_known(request.headers.get("if-none-match"), headers["etag"]):
            return Response(status_code=304, headers=headers)
    else:
        headers["cache-control"] = "no-store"
    status = 200
    if call.endpoint.location is not None and done.result.get("created", True):
        status = 201
        place = call.endpoint.location.format(
            **{name: quote(str(value), safe="") for name, value in done.result.items()}
        )
        headers["location"] = _with_query(f"{ROOT}{place}", _scope(request))
    cursor = done.result.get("cursor")
    if cursor is not None and takes_query(call.endpoint):
        query = [each for each in request.query_params.multi_items() if each[0] != "cursor"]
        path = request.scope.get("raw_path", request.url.path.encode()).decode("latin-1")
        headers["link"] = f'<{_with_query(path, [*query, ("cursor", str(cursor))])}>; rel="next"'
    return Response(body, status, headers, media_type="application/json")


def _scope(request: Request) -> list[tuple[str, str]]:
    return [each for each in request.query_params.multi_items() if each[0] in SCOPE_PARAMETERS]


def _with_query(path: str, query: list[tuple[str, str]]) -> str:
    return f"{path}?{urlencode(query)}" if query else path
