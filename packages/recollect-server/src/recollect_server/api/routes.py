"""Routes of the REST API, its page at `/docs`, the probes and the metrics."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import anyio
from markupsafe import Markup, escape
from starlette.datastructures import URLPath
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Match, NoMatchFound, Route
from starlette.types import Receive, Scope, Send

from recollect import Engine
from recollect.domain.errors import RecollectError
from recollect.domain.lazy_dataclass import dataclass
from recollect.plugin import Internals
from recollect_server.api.endpoints import ROOT
from recollect_server.api.handler import SCOPE_PARAMETERS, ApiHandler
from recollect_server.api.openapi import openapi, openapi_response
from recollect_server.metrics import METRICS_TYPE, gauge
from recollect_server.problems import TITLES, problem_of
from recollect_server.runner import MemoryRunner, TookTooLong, caller_of
from recollect_server.web.templating import Screen

# The page at `/docs`


async def docs_page(runner: MemoryRunner, request: Request) -> Response:
    info, tags = _page_contents()
    base = str(request.base_url).rstrip("/")
    return await Screen(runner, request).page(
        "docs.html", info=info, tags=tags, scopes=SCOPE_PARAMETERS, base=base, code=_mark_code
    )


def _mark_code(text: str) -> Markup:
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704  # it was escaped


@cache
def _page_contents() -> tuple[dict[str, str], dict[str, list[dict[str, Any]]]]:
    document = openapi()
    tags: dict[str, list[dict[str, Any]]] = {tag["name"]: [] for tag in document["tags"]}
    for each in _operations(document):
        tags[each["tag"]].append(each)
    return document["info"], tags


def _operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path, methods in document["paths"].items():
        for method, made in methods.items():
            body = _resolved(document, _schema(made.get("requestBody")))
            example = body.get("examples", [{}])[0]
            yield {
                "id": made["operationId"],
                "tag": made["tags"][0],
                "method": method.upper(),
                "path": path,
                "title": made["summary"],
                "text": made.get("description", ""),
                "parameters": [
                    {
                        "required": False,
                        "description": "",
                        **each,
                        "kind": _kind(document, each["schema"]),
                        "is_list": each["schema"].get("type") == "array",
                    }
                    for each in (_resolved(document, one) for one in made["parameters"])
                ],
                "fields": [
                    {
                        "name": name,
                        "kind": _kind(document, field),
                        "required": name in body.get("required", ()),
                        "words": field.get("description", ""),
                    }
                    for name, field in body.get("properties", {}).items()
                ],
                "example": json.dumps(example, indent=2, ensure_ascii=False),
                "command": partial(_command, method.upper(), path, example if body else None),
            }


def _command(method: str, path: str, body: Any, base: str) -> str:
    parts = ["curl", "-s"] + (["-X", method] if method not in {"GET", "POST"} else [])
    parts += [shlex.quote(f"{base}{path}"), '-H "Authorization: Bearer $TOKEN"']
    if body is not None:
        parts += ["--json", shlex.quote(json.dumps(body, ensure_ascii=False))]
    return " ".join(parts)


def _schema(body: dict[str, Any] | None) -> dict[str, Any]:
    if body is None:
        return {}
    schema: dict[str, Any] = body["content"]["application/json"]["schema"]
    return schema


def _resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    found: Any = document
    for part in schema["$ref"].split("/")[1:]:
        found = found[part]
    return dict(found)


def _kind(document: dict[str, Any], schema: dict[str, Any]) -> str:
    match _resolved(document, schema):
        case {"enum": list(words)}:
            return " or ".join(map(str, words))
        case {"anyOf": list(forms)}:
            kinds = (_kind(document, form) for form in forms if form != {"type": "null"})
            return " or ".join(dict.fromkeys(kinds))
        case {"type": "array", "items": dict(items)}:
            return f"list of {_kind(document, items)}"
        case {"type": "object", "properties": dict(fields)}:
            return f"object of {', '.join(fields)}"
        case {"format": "date-time"}:
            return "time"
        case found:
            return str(found.get("type", "any"))


# Probes and metrics

# Few probes wait longer for an answer.
_READY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Probes:
    runner: MemoryRunner

    async def live(self, request: Request) -> Response:  # noqa: ARG002  # the same for all requests
        return JSONResponse({"status": "ok"})

    async def ready(self, request: Request) -> Response:  # noqa: ARG002  # the same for all requests
        """Report whether the store answers. The endpoint is public, so it reveals no path and no details."""
        try:
            with anyio.fail_after(_READY_SECONDS):
                await self.runner.calls.in_thread(lambda: Internals(self.runner.memory()).version())
        except TimeoutError:
            problem = problem_of(TookTooLong(""))
        except RecollectError as error:
            problem = problem_of(error)
        else:
            return JSONResponse({"status": "ready"})
        return JSONResponse(
            {"status": "not ready", "reason": f"{TITLES[problem.kind]}; `recollect doctor` shows more."},
            503,
            {"Retry-After": "5"},
        )

    async def metrics(self, request: Request) -> Response:
        is_bound = caller_of(request).scope is not None
        try:
            sizes = await self.runner.run(request, lambda memory: list(_sizes(memory, own=is_bound)))
        except RecollectError as error:
            return problem_of(error).response()
        text = "\n".join([*self.runner.metrics.lines(), *sizes]) + "\n"
        return Response(text, media_type=METRICS_TYPE)


def _sizes(memory: Engine, *, own: bool) -> Iterator[str]:
    """Yield sizes of the store; with `own`, of the caller's scope only."""
    if own:
        kinds = {str(kind): count for kind, count in Internals(memory).count_memories().items()}
        scope = Internals(memory).count_in_scope()
        rows = {**kinds, "observation": scope.observations, "relation": scope.relations}
        due, vectors, forgotten = scope.due, scope.vectors, scope.forgotten
        sessions = len(memory.sessions.list())
    else:
        counts = memory.counts()
        rows = {
            "entity": counts.entities,
            "note": counts.notes,
            "message": counts.messages,
            "observation": counts.observations,
            "relation": counts.relations,
        }
        due, vectors, forgotten = counts.due, counts.vectors, counts.forgotten
        sessions = Internals(memory).count_sessions()
        lag = memory.upkeep.store_state().replica_lag_seconds
        yield from gauge("recollect_store_bytes", "Size of the store in bytes.", [({}, counts.bytes)])
        yield from gauge("recollect_scopes", "Owners and agents with a memory.", [({}, counts.scopes)])
        if lag is not None:
            yield from gauge("recollect_replica_lag_seconds", "The replica's lag in seconds.", [({}, lag)])
    yield from gauge(
        "recollect_rows", "Current rows, by kind.", [({"kind": kind}, n) for kind, n in sorted(rows.items())]
    )
    yield from gauge("recollect_forgotten", "Memories that `restore` could bring back.", [({}, forgotten)])
    yield from gauge("recollect_vectors", "Texts with a vector.", [({}, vectors)])
    yield from gauge("recollect_vectors_pending", "Texts that wait for a vector.", [({}, due)])
    yield from gauge("recollect_sessions", "Conversations.", [({}, sessions)])


# Routes


def api_routes(runner: MemoryRunner) -> list[BaseRoute]:
    probes, handler = Probes(runner), ApiHandler(runner)
    return [
        Route("/healthz", probes.live),
        Route("/readyz", probes.ready),
        Route("/metrics", probes.metrics),
        Route("/openapi.json", openapi_response),
        Route("/docs", partial(docs_page, runner)),
        _ApiRoute(handler),
    ]


class _ApiRoute(BaseRoute):
    """A route for all paths below `/v1`. Starlette's path patterns do not match line breaks."""

    def __init__(self, handler: ApiHandler) -> None:
        self._handler = handler

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        path = scope.get("path", "")
        fits = scope["type"] == "http" and (path == ROOT or path.startswith(f"{ROOT}/"))
        return (Match.FULL if fits else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._handler(scope, receive, send)

    def url_path_for(self, name: str, /, **path_params: Any) -> URLPath:
        raise NoMatchFound(name, path_params)
