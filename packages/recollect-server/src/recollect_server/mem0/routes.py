"""mem0's routes: which path calls what, for every version of its clients."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from recollect import Engine
from recollect.domain.errors import (
    Conflict,
    InvalidInput,
    ModelUnavailable,
    NotFound,
    RecollectError,
    StoreUnavailable,
)
from recollect.domain.lazy_dataclass import dataclass
from recollect_server.mem0.notes import Mem0Notes, delete_entity, entities, reset
from recollect_server.mem0.requests import (
    AddRequest,
    BatchRequest,
    DeleteAllRequest,
    FeedbackRequest,
    ListRequest,
    SearchRequest,
    UpdateRequest,
    body_of,
    parameters_of,
    request_of,
)
from recollect_server.runner import Caller, Forbidden, MemoryRunner, Right, TookTooLong, caller_of

MEM0_PATH = "/mem0"
_VERSIONS = ("v1", "v2", "v3")
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_STATUSES: tuple[tuple[type[RecollectError], int], ...] = (
    (InvalidInput, 400),
    (Forbidden, 403),
    (NotFound, 404),
    (Conflict, 409),
    (StoreUnavailable, 503),
    (ModelUnavailable, 503),
    (TookTooLong, 504),
)
_ACCOUNT = "recollect"
# Of a project; here there are none.
_INSTRUCTIONS = ("custom_instructions", "custom_categories")
# What the platform has and its own server has not.
_ELSEWHERE = ("exports", "summary", "profiles", "webhooks", "orgs", "events")


@dataclass(frozen=True, slots=True)
class Mem0Call:
    """A request below `/mem0`, taken apart."""

    method: str
    version: str | None
    parts: tuple[str, ...]
    parameters: Mapping[str, Any]
    body: Mapping[str, Any]

    @property
    def given(self) -> dict[str, Any]:
        return {**self.parameters, **self.body}


def mem0_routes(runner: MemoryRunner) -> list[BaseRoute]:
    async def answer(request: Request) -> Response:
        try:
            call = await _call_of(request)
            right, work = _work(call, caller_of(request))
            return _json(await runner.run(request, work, right=right), 200)
        except RecollectError as error:
            status = next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)
            return _json({"detail": str(error)}, status)

    return [Route(f"{MEM0_PATH}{{path:path}}", answer, methods=list(_METHODS))]


def _json(said: object, status: int) -> Response:
    # In ASCII: what a caller sent may hold half of a surrogate pair, and be quoted.
    return Response(json.dumps(said), status, media_type="application/json")


async def _call_of(request: Request) -> Mem0Call:
    # Taken apart before it is decoded: a user's id may hold a slash.
    path = request.scope.get("raw_path", request.url.path.encode()).decode("latin-1").partition("?")[0]
    parts = [unquote(part) for part in path.split("/")[2:] if part]
    if parts[:1] == ["api"]:
        parts = parts[1:]
    version = parts.pop(0) if parts[:1] and parts[0] in _VERSIONS else None
    return Mem0Call(
        request.method,
        version,
        tuple(parts),
        parameters_of(request.query_params),
        body_of(await request.body()),
    )


def _work(call: Mem0Call, caller: Caller) -> tuple[Right, Callable[[Engine], Any]]:  # noqa: PLR0911  # one for each route
    """The right that a call needs, and what to do."""

    def notes(memory: Engine) -> Mem0Notes:
        return Mem0Notes(caller, memory)

    match (call.method, *call.parts):
        case ("POST", "memories", "add") | ("POST", "memories") if _adds(call):
            new = request_of(AddRequest, call.given)
            return Right.WRITE, lambda memory: notes(memory).add(new)
        case ("GET" | "POST", "memories"):
            listed = request_of(ListRequest, call.given)
            return Right.READ, lambda memory: notes(memory).list_page(listed)
        case ("POST", "search") | ("POST", "memories", "search"):
            sought = request_of(SearchRequest, call.given)
            return Right.READ, lambda memory: notes(memory).search(sought)
        case ("DELETE", "memories"):
            gone = request_of(DeleteAllRequest, call.given)
            return Right.WRITE, lambda memory: notes(memory).delete_all(gone)
        case ("GET", "memories", id_):
            return Right.READ, lambda memory: notes(memory).get(id_)
        case ("PUT" | "PATCH", "memories", id_):
            changed = request_of(UpdateRequest, call.body)
            clears = "expiration_date" in call.body and call.body["expiration_date"] is None
            return Right.WRITE, lambda memory: notes(memory).update(id_, changed, clears_expiry=clears)
        case ("DELETE", "memories", id_):
            return Right.WRITE, lambda memory: notes(memory).delete(id_)
        case ("GET", "memories", id_, "history"):
            return Right.READ, lambda memory: notes(memory).history(id_)
        case ("PUT" | "DELETE", "batch"):
            batch = request_of(BatchRequest, call.body)
            if call.method == "PUT":
                return Right.WRITE, lambda memory: notes(memory).update_batch(batch)
            return Right.WRITE, lambda memory: notes(memory).delete_batch(batch)
        case ("POST", "feedback"):
            graded = request_of(FeedbackRequest, call.body)
            return Right.WRITE, lambda memory: notes(memory).feedback(graded)
        case _:
            return _of_the_whole(call, caller)


def _of_the_whole(  # noqa: PLR0911  # one for each route
    call: Mem0Call, caller: Caller
) -> tuple[Right, Callable[[Engine], Any]]:
    match (call.method, *call.parts):
        case ("GET",) | ("GET", "ping"):
            # Without these two, the client does not start.
            return Right.READ, lambda _: {"status": "ok", "org_id": _ACCOUNT, "project_id": _ACCOUNT}
        case ("GET", "orgs", "organizations", _, "projects", _):
            return Right.READ, lambda _: {"id": _ACCOUNT, "name": _ACCOUNT, **dict.fromkeys(_INSTRUCTIONS)}
        case ("GET", "entities" | "users"):
            return Right.READ, lambda memory: entities(caller, memory)
        # mem0's client resets by deleting one entity after another, so that one of them needs what all do.
        case ("DELETE", "entities", kind, name):
            return Right.ADMIN, lambda memory: delete_entity(caller, memory, kind, name)
        case ("POST", "reset"):
            return Right.ADMIN, lambda memory: reset(caller, memory)
        case ("GET", "configure"):
            return Right.READ, _configuration
        case ("POST", "configure"):
            message = "Nothing was changed: Recollect has settings of its own (`recollect --help`)."
            return Right.ADMIN, lambda _: {"message": message, "ignored": sorted(call.body)}
        case (_, first, *_) if first in _ELSEWHERE or call.parts[-1] == "profile":
            raise NotFound(
                f"{first!r} is of mem0's hosted platform, and not here; the page on mem0 says what there is."
            )
        case _:
            raise NotFound(
                f"mem0 has no {call.method} /{'/'.join(call.parts)[:80]} here; there are memories, search, "
                "entities, batch, feedback, reset and configure."
            )


def _adds(call: Mem0Call) -> bool:
    """To a path that lists in newer versions, and adds in older ones and on mem0's own server."""
    return call.parts[-1] == "add" or call.version in {None, "v1"}


def _configuration(memory: Engine) -> dict[str, Any]:
    model = memory.model
    return {
        "version": "v1.1",
        "embedder": {"provider": "recollect", "config": {"model": None if model is None else model.name}},
    }
