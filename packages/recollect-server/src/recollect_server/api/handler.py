"""Answers a request of the API: reads its arguments, calls the operation, writes the answer."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Mapping
from typing import Any, NoReturn
from urllib.parse import quote, urlencode

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from recollect import Engine
from recollect.domain.errors import NotFound, Outdated, RecollectError
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Memory
from recollect.operations.catalogue import http_operations
from recollect.operations.operation import Endpoint, Operation, Resource
from recollect.operations.paging import row_id
from recollect.operations.schema import Schema, plain_schema
from recollect.plugin import Internals, memory_version
from recollect.stores.port import Progress
from recollect_server.api.endpoints import ROOT, match
from recollect_server.problems import UNEXPECTED, ProblemDetails, ProblemFound, json_bytes, problem_of
from recollect_server.progress import EVENT_STREAM, EventStream, cancel_on_disconnect
from recollect_server.runner import MemoryRunner, right_for

# Arguments

KEEP_GOING = "keep_going"
"""The field in the body of a batch that says whether to leave out entries that cannot be stored."""
SCOPE_PARAMETERS = ("owner", "agent")
"""Query parameters of every endpoint, which select an owner and an agent."""
# Longer texts are not parsed as numbers; the operation refuses them.
_LONGEST_NUMBER = 40


async def given_arguments(
    request: Request, endpoint: Endpoint, schema: Schema, path: Mapping[str, str]
) -> dict[str, Any]:
    fields = schema["properties"]
    given = _from_query(request, endpoint, fields)
    if endpoint.takes_body:
        given.update(await _from_body(request))
    for parameter, text in path.items():
        name = endpoint.arguments[parameter]
        if name in given:
            raise _bad(f"The path contains `{name}`; leave it out of the body and the query.")
        field = fields[name]
        is_list = field.get("type") == "array"
        value = _value(text, field["items"] if is_list else field)
        given[name] = [value] if is_list else value
    return given


def pop_keep_going(given: dict[str, Any]) -> bool:
    """Remove `keep_going` from the arguments and return it: the operation takes it separately."""
    asked = given.pop(KEEP_GOING, None)
    if asked is not None and not isinstance(asked, bool):
        errors = ({"detail": "true or false", "pointer": f"#/{KEEP_GOING}"},)
        detail = f"`{KEEP_GOING}` is true or false; nothing was done."
        raise ProblemFound(422, "invalid-input", detail, errors=errors)
    return bool(asked)


def _from_query(request: Request, endpoint: Endpoint, fields: Mapping[str, Schema]) -> dict[str, Any]:
    query = request.query_params
    for name in SCOPE_PARAMETERS:
        if len(query.getlist(name)) > 1:
            raise _bad(f"`{name}` is given twice; give it once.")
    names = [name for name in dict.fromkeys(query) if name not in SCOPE_PARAMETERS]
    if names and not endpoint.takes_query:
        where = "in the JSON body" if endpoint.takes_body else "in the path"
        raise _bad(
            f"There is no query parameter {names[0][:80]!r}; the query takes owner and agent, and the "
            f"arguments go {where}."
        )
    given: dict[str, Any] = {}
    for name in names:
        field, texts = fields.get(name, {}), query.getlist(name)
        if field.get("type") == "array":
            given[name] = [_value(text, field["items"]) for text in texts]
        elif len(texts) > 1:
            raise _bad(f"`{name[:80]}` is given {len(texts)} times; give it once.")
        else:
            given[name] = _value(texts[0], field)
    return given


def _value(text: str, field: Schema) -> Any:
    """Convert a text to the schema's type. Texts that do not fit stay, for the operation to refuse."""
    match field.get("type"):
        case "boolean":
            return {"true": True, "false": False}.get(text, text)
        case "integer" | "number" as kind if len(text) <= _LONGEST_NUMBER:
            try:
                return int(text) if kind == "integer" else float(text)
            except ValueError:
                return text
        case _:
            return text


async def _from_body(request: Request) -> dict[str, Any]:
    body = await request.body()
    if not body.strip():
        return {}
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        detail = "The body must be JSON; send the header `Content-Type: application/json`."
        raise ProblemFound(415, "unsupported-media-type", detail)
    try:
        given = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise _bad("The body is not valid JSON in UTF-8; nothing was done.") from None
    if not isinstance(given, dict):
        raise _bad("The body must be a JSON object with the arguments as its fields; nothing was done.")
    return given


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _bad(detail: str) -> ProblemFound:
    return ProblemFound(400, "bad-request", detail)


# Entity tags

_TAG = re.compile(r'(W/)?"([^"]*)"')
_MAX_HEADER = 2_000


def named_memory(engine: Engine, resource: Resource, name: str) -> Memory:
    """Return the memory that the path names by its id, or as an entity by its name."""
    id_ = row_id(name) if resource == "memory" else Internals(engine).entity_id(name)
    memory = None if id_ is None else engine.get(id_)
    if memory is None:
        raise NotFound(f"There is no memory {name[:80]}.")
    return memory


def require_version(engine: Engine, resource: Resource, name: str, if_match: str) -> Engine:
    """Return an engine whose next change fails if the version differs. A weak tag matches no version."""
    found = list(_TAG.finditer(if_match[:_MAX_HEADER]))
    is_any = if_match.strip() == "*"
    if not found and not is_any:
        raise _bad(
            "`If-Match` takes the ETag of an earlier answer, with its quotation marks, or *. "
            "Nothing was done."
        )
    memory = named_memory(engine, resource, name)
    versions = tuple(each[2].partition("-")[0] for each in found if not each[1])
    return engine if is_any else Internals(engine).expecting(memory.id, versions)


# Answers

_log = logging.getLogger(__name__)
_LONGEST_KEY = 200
# The client has disconnected.
_DISCONNECTED = Response(status_code=499)


@dataclass(frozen=True, slots=True)
class ApiHandler:
    runner: MemoryRunner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request with any method, so that an error can list the allowed ones."""
        answer = await self._answer(Request(scope, receive))
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response | EventStream:
        try:
            call = await _read_call(request)
        except ProblemFound as error:
            return error.problem.response()
        if EVENT_STREAM in request.headers.get("accept", ""):

            async def run_operation(progress: Progress) -> Mapping[str, Any] | ProblemDetails:
                done = await self._outcome(request, call, progress=progress)
                return done if isinstance(done, ProblemDetails) else done.result

            return EventStream(run_operation, stops=call.operation.read_only)
        done: ProblemDetails | _Outcome | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(cancel_on_disconnect, request.receive, group.cancel_scope)
            done = await self._outcome(request, call)
            group.cancel_scope.cancel()
        if done is None:
            return _DISCONNECTED
        return done.response() if isinstance(done, ProblemDetails) else _response(request, call, done)

    async def _outcome(self, request: Request, call: _Call, **more: Any) -> _Outcome | ProblemDetails:
        """Return the result or a problem; it raises nothing."""
        operation, endpoint = call.operation, call.endpoint
        more |= {"latencies": self.runner.metrics.latencies, "key": call.key, "keep_going": call.keep_going}

        def work(memory: Engine) -> _Outcome:
            arguments = operation.parse(call.given)
            version = None
            if endpoint.resource is not None and operation.read_only:
                # Read before the memory, so that a concurrent change makes the ETag outdated, never wrong.
                version = memory_version(named_memory(memory, endpoint.resource, call.resource_name))
            elif endpoint.resource is not None and call.if_match is not None:
                memory = require_version(memory, endpoint.resource, call.resource_name, call.if_match)
            return _Outcome(operation.answer(memory, arguments, **more).result, version)

        try:
            with self.runner.metrics.timed(operation.name):
                return await self.runner.run(
                    request, work, right=right_for(operation), reads=operation.read_only
                )
        except ProblemFound as error:
            return error.problem
        except Outdated as error:
            if call.if_match is None:
                return problem_of(error)
            return ProblemDetails(412, "precondition-failed", str(error))
        except RecollectError as error:
            return problem_of(error)
        except Exception:  # noqa: BLE001  # the client gets an answer in any case
            _log.exception("%s failed", operation.name)
            return UNEXPECTED


@dataclass(frozen=True, slots=True)
class _Call:
    endpoint: Endpoint
    operation: Operation
    given: Mapping[str, Any]
    resource_name: str
    """The first path parameter, if any."""
    key: str | None
    if_match: str | None
    keep_going: bool


@dataclass(frozen=True, slots=True)
class _Outcome:
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
        operation.keeps_going and pop_keep_going(given),
    )


def _key(request: Request, endpoint: Endpoint, operation: Operation) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is None or operation.idempotent:  # repeating it does no harm
        return None
    if not endpoint.takes_key:
        raise _bad(
            f"`{endpoint.method} {ROOT}{endpoint.path}` takes no `Idempotency-Key`: a retry might do it "
            "twice. Leave the header out, and check whether it was done before you try again."
        )
    if not 0 < len(key) <= _LONGEST_KEY:
        raise _bad(f"An `Idempotency-Key` has 1 to {_LONGEST_KEY} characters; nothing was done.")
    return key


def _if_match(request: Request, endpoint: Endpoint, operation: Operation) -> str | None:
    if_match = request.headers.get("if-match")
    if if_match is None or operation.read_only:
        return None
    if endpoint.resource is None:
        raise _bad("The resource of this path has no ETag; leave `If-Match` out. Nothing was done.")
    return if_match


def _response(request: Request, call: _Call, done: _Outcome) -> Response:
    body, headers, status = json_bytes(done.result), {"cache-control": "no-store"}, 200
    if done.version is not None:
        # The version that an edit must match, and a digest of the body. The body can change without the
        # version: an entity includes its relations.
        tag = f'"{done.version}-{hashlib.blake2b(body, digest_size=8).hexdigest()}"'
        headers = {"etag": tag, "cache-control": "private, no-cache"}
        known = request.headers.get("if-none-match", "")
        if known.strip() == "*" or tag in {f'"{each[2]}"' for each in _TAG.finditer(known)}:
            return Response(status_code=304, headers=headers)
    if call.endpoint.location is not None and done.result.get("created", True):
        status = 201
        place = call.endpoint.location.format(
            **{name: quote(str(value), safe="") for name, value in done.result.items()}
        )
        scope = [each for each in request.query_params.multi_items() if each[0] in SCOPE_PARAMETERS]
        headers["location"] = _with_query(f"{ROOT}{place}", scope)
    cursor = done.result.get("cursor")
    if cursor is not None and call.endpoint.takes_query:
        query = [each for each in request.query_params.multi_items() if each[0] != "cursor"]
        path = request.scope.get("raw_path", request.url.path.encode()).decode("latin-1")
        headers["link"] = f'<{_with_query(path, [*query, ("cursor", str(cursor))])}>; rel="next"'
    return Response(body, status, headers, media_type="application/json")


def _with_query(path: str, query: list[tuple[str, str]]) -> str:
    return f"{path}?{urlencode(query)}" if query else path
